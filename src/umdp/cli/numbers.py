"""Numbers as they are typed."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import typer

from umdp.learning.validation import LARGEST

__all__ = ["integer", "number", "share"]


def number(text: str) -> float:
    """Return the number that a text stands for."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a number') from None


def integer(text: str) -> int:
    """Return the whole number that a text stands for; ``1e6`` is one.

    Examples
    --------
    >>> integer("1e6"), integer("-3")
    (1000000, -3)
    """
    try:
        value = Decimal(str(text).strip())  # a default comes as the number it is
        if not value.is_finite():
            raise ValueError
        if abs(value) > LARGEST:
            raise typer.BadParameter(f'"{_short(text)}" is more than 64 bits hold; give at most {LARGEST}')
        if value != int(value):
            raise ValueError
    except (InvalidOperation, ValueError):
        raise typer.BadParameter(f'"{_short(text)}" is not a whole number') from None
    return int(value)


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
    if 1 - value < Decimal("1e-9"):
        raise typer.BadParameter(f"{text} is more than any data would show; give at most 0.999999999")
    return value


def _short(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:27]}..."
