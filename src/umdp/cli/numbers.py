"""Numbers as they are typed."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import typer

from umdp.asked import LARGEST

__all__ = ["integer", "number", "share"]


def number(text: str) -> float:
    """Return the number that a text stands for."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a number') from None


def integer(text: str) -> int:
    """Return the whole number that a text stands for."""
    try:
        found = int(text)
    except ValueError:
        digits = text.strip().lstrip("+-")
        if not digits.isdecimal():  # more digits than Python reads is still a number
            raise typer.BadParameter(f'"{text}" is not a whole number') from None
        found = LARGEST + 1
    if abs(found) > LARGEST:
        raise typer.BadParameter(f'"{_short(text)}" is more than 64 bits hold; give at most {LARGEST}')
    return found


def share(text: str) -> Decimal:
    """Return the probability that a text stands for, with its digits: ``0.95`` or ``95%``.

    Examples
    --------
    >>> share("0.95"), share("95 %")
    (Decimal('0.95'), Decimal('0.95'))
    """
    given = text.strip()
    try:
        value = Decimal(given.removesuffix("%").strip()) / (100 if given.endswith("%") else 1)
        fits = 0 < value < 1
    except InvalidOperation:
        raise typer.BadParameter(f'"{text}" is not a number') from None
    if not fits:
        raise typer.BadParameter(f"{text} is not between 0 and 1; give a probability such as 0.95")
    return value


def _short(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:27]}..."
