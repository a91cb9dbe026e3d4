"""Numbers in a column of text: with a decimal point or a decimal comma, which is given, or found out from all of them."""

from __future__ import annotations

import math
import re
from typing import Any

from umdp.errors import FormatError

__all__ = ["SIGNS", "DecimalSign", "check_decimal", "finite"]

SIGNS = (",", ".")
GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
SWAPPED = str.maketrans(",.", ".,")


def check_decimal(given: str | None) -> None:
    """Raise `FormatError` unless a sign is one that stands before decimals."""
    if given is not None and given not in SIGNS:
        raise FormatError(f'what stands before decimals is "," or ".", not {given!r} (decimal=",", or --decimal ,)')


class DecimalSign:
    """Reads numbers, and finds out which sign stands before their decimals, where it is not given.

    Only all numbers of a column can tell. Those that read alike either way say nothing, and those that read differently
    (``1,234``) are read as the others are written. Where numbers of both kinds stand in one column, or none that tells, it is an
    error: nothing is guessed.

    Parameters
    ----------
    given : "," or ".", optional
        What stands before decimals. The other one may then stand between thousands.

    Examples
    --------
    >>> sign = DecimalSign()
    >>> [sign.number(text) for text in ("2,5", "1.234,5", "7", "n/a")], sign.sign("log.csv", "cost")
    ([2.5, 1234.5, 7.0, None], ',')
    >>> DecimalSign(".").number("1,234")
    1234.0
    """

    def __init__(self, given: str | None = None) -> None:
        check_decimal(given)
        self.given = given
        self.first = dict.fromkeys(SIGNS, "")  # the first number that can only be read so
        self._either = dict.fromkeys(SIGNS, "")  # the first in which it stands, and that can be read both ways

    def number(self, value: Any) -> float | None:
        """Return a finite number, None for what is none."""
        if not isinstance(value, str):
            return finite(value)
        text = value.strip()
        if self.given is not None:
            return _with_point(text.translate(SWAPPED) if self.given == "," else text)
        if "," not in text and self.first["."]:
            return finite(text)
        point, comma = _with_point(text), _with_point(text.translate(SWAPPED))
        if point is None or comma is None or point == comma:
            sign = "," if point is None else "."
            if point != comma and not self.first[sign]:
                self.first[sign] = text
            return comma if point is None else point
        sign = "," if "," in text else "."
        self._either[sign] = self._either[sign] or text
        return comma if sign == "," else point

    def sign(self, name: str, column: str) -> str:
        """Return what stands before decimals in a column, or raise `FormatError` if numbers do not tell."""
        if self.given is not None:
            return self.given
        comma, point = (self.first[sign] or self._either[sign] for sign in SIGNS)
        if not comma:
            return "."
        if self.first[","] and not point:
            return ","
        doubt = f"{comma!r} and {point!r}" if point else f"{comma!r}"
        raise FormatError(
            f'the column "{column}" holds {doubt}, which do not tell whether a comma or a point stands before decimals; say so '
            'with decimal="," (or --decimal ,), or decimal="." where commas stand between thousands',
            path=name,
        )


def _with_point(text: str) -> float | None:
    if "," in text:
        return finite(text.replace(",", "")) if GROUPED.fullmatch(text) else None
    return finite(text)


def finite(given: Any) -> float | None:
    """Return a finite number, None for what is none."""
    if isinstance(given, bool) or given is None:
        return None
    try:
        found = float(given)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None
