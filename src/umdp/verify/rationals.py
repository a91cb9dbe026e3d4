"""Exact numbers: how a certificate writes them, and vectors of them over one denominator."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeGuard

from umdp.errors import FormatError

__all__ = ["Number", "Vector", "double", "exact", "is_count", "is_double", "is_integer", "number", "vector", "written"]

Number = Fraction | float  # a float is always infinite
LONGEST = 40_000  # characters of one number
WIDEST = 400_000  # bits of the common denominator of a vector
ALL_BITS = 1 << 32  # of a vector: 512 MiB
LARGEST = 1.7976931348623157e308
_INTEGER = re.compile(r"[0-9]+")
_DYADIC = re.compile(r"([0-9]+)p([+-]?[0-9]{1,5})")
_RATIO = re.compile(r"([0-9]+)/([0-9]+)")


def is_double(given: Any, least: float = -LARGEST, most: float = LARGEST) -> bool:
    """Whether something read from JSON is a number in the range of doubles, and between two of them.

    Integers are compared as they are: one of 400 digits has no double.

    Examples
    --------
    >>> is_double(0.5), is_double(10**400), is_double(True), is_double(float("inf")), is_double(2, 0, 1)
    (True, False, False, False, False)
    """
    return type(given) in (int, float) and least <= given <= most


def is_integer(given: Any, least: int, most: int) -> TypeGuard[int]:
    """Whether something read from JSON is an integer between two others; a truth value is none."""
    return type(given) is int and least <= given <= most


def is_count(given: Any) -> TypeGuard[int]:
    """Whether something read from JSON is a number of samples, or of something else that was counted."""
    return is_integer(given, 0, (1 << 53) - 1)


def _integer(digits: str) -> int:
    """Return a decimal integer of any length; Python refuses to convert more than 4300 digits at once."""
    value = 0
    for start in range(0, len(digits), 4000):
        part = digits[start : start + 4000]
        value = value * 10 ** len(part) + int(part)
    return value


def number(given: Any, place: str, *, signed: bool = False) -> Number:
    """Return a number at least 0 (with `signed`, of any sign), exactly as it is written.

    A JSON number is the double nearest to it; a string is an integer, ``"3p-4"`` (3 times 2 to the -4), ``"1/3"`` or ``"inf"``.

    Examples
    --------
    >>> number(0.5, "here"), number("3p-4", "here"), number("1/3", "here"), number("inf", "here")
    (Fraction(1, 2), Fraction(3, 16), Fraction(1, 3), inf)
    >>> number(-0.5, "here", signed=True), number("-1/3", "here", signed=True)
    (Fraction(-1, 2), Fraction(-1, 3))
    """
    if signed and isinstance(given, str) and given.startswith("-"):
        return -number(given[1:], place)
    if signed and is_double(given) and given < 0:
        return -number(-given, place)
    if isinstance(given, str) and len(given) <= LONGEST:
        if given == "inf":
            return math.inf
        if _INTEGER.fullmatch(given):
            return Fraction(_integer(given))
        if match := _DYADIC.fullmatch(given):
            mantissa, exponent = _integer(match[1]), int(match[2])
            return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
        if (match := _RATIO.fullmatch(given)) and (below := _integer(match[2])) > 0:
            return Fraction(_integer(match[1]), below)
    elif is_double(given, 0):
        return Fraction(given)
    shown = repr(given) if isinstance(given, float | str) else f"a {type(given).__name__}"
    shown = shown if len(shown) < 60 else f"{shown[:57]}..."
    wanted = "number" if signed else "number at least 0"
    raise FormatError(f'{place}: {shown} is not a {wanted} (a double, "3p-4", "1/3" or "inf")')


def written(value: Number) -> str | float:
    """Return how a number is written: as a double where it is one, as a string otherwise.

    Examples
    --------
    >>> written(Fraction(1, 4)), written(Fraction(1, 3)), written(Fraction(1, 2**1100)), written(math.inf)
    (0.25, '1/3', '1p-1100', 'inf')
    >>> written(Fraction(-1, 3))
    '-1/3'
    """
    if value < 0:
        found = written(-value)
        return f"-{found}" if isinstance(found, str) else -found
    if not isinstance(value, Fraction):
        return "inf"
    below = value.denominator
    dyadic = below & (below - 1) == 0
    if dyadic and value.numerator.bit_length() <= 1024 and below.bit_length() <= 1075:
        near = double(value, up=False)
        if near == value:
            return near
    if dyadic:
        return f"{Decimal(value.numerator)}p-{below.bit_length() - 1}"
    return f"{Decimal(value.numerator)}/{Decimal(below)}"


def exact(value: float) -> Number:
    """Return the number that a double is."""
    return value if math.isinf(value) else Fraction(value)


def double(value: Number, *, up: bool) -> float:
    """Return the nearest double at most (or, with `up`, at least) as large as a number: a bound that is shown is still one.

    Examples
    --------
    >>> double(Fraction(1, 3), up=False) < Fraction(1, 3) < double(Fraction(1, 3), up=True)
    True
    >>> double(Fraction(2) ** 2000, up=False), double(Fraction(2) ** 2000, up=True)
    (1.7976931348623157e+308, inf)
    """
    if not isinstance(value, Fraction):
        return value
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    if math.isfinite(near) and Fraction(near) == value:
        return near
    if up:
        return near if near > value else math.nextafter(near, math.inf)
    return near if near < value else math.nextafter(near, -math.inf)


@dataclass(frozen=True)
class Vector:
    """Numbers over one denominator: entry `i` is ``top[i] / below``, infinite where `top` is None."""

    top: list[int | None]
    below: int

    def __getitem__(self, index: int) -> Number:
        top = self.top[index]
        return math.inf if top is None else Fraction(top, self.below)

    def finite(self, index: int) -> int:
        """Return the numerator of a value that is known to be finite."""
        top = self.top[index]
        assert top is not None
        return top


def vector(values: Sequence[Number], place: str, unit: int = 1) -> Vector:
    """Return numbers over one denominator, a multiple of `unit`."""
    below = unit
    for value in values:
        if isinstance(value, Fraction) and below % value.denominator:
            below = math.lcm(below, value.denominator)
            if below.bit_length() > WIDEST:
                raise FormatError(f"{place}: the numbers have no common denominator of {WIDEST} bits")
    if len(values) * below.bit_length() > ALL_BITS:
        raise FormatError(
            f"{place}: {len(values)} numbers over a denominator of {below.bit_length()} bits are too large"
        )
    tops = [v.numerator * (below // v.denominator) if isinstance(v, Fraction) else None for v in values]
    return Vector(tops, below)
