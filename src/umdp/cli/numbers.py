"""Numbers as they are typed."""

from __future__ import annotations

import typer

__all__ = ["integer", "number"]


def number(text: str) -> float:
    """Return the number that a text stands for."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a number') from None


def integer(text: str) -> int:
    """Return the whole number that a text stands for."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a whole number') from None
