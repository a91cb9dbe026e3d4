"""Undefined constants of a program: their values, as given on the command line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from umdp.errors import FormatError
from umdp.parametric.ranges import above, below

__all__ = ["Constant", "format_constants", "parse_constants", "parse_unknown"]

Constant = int | float | bool

_NAME = re.compile(r"[A-Za-z_]\w*")


def parse_constants(given: str | Mapping[str, Constant]) -> dict[str, Constant]:
    """Return the constants named in a text such as ``K=2,err=.2,flag=true``; a mapping is checked and copied.

    Numbers without a point or exponent are integers; a quotient such as ``1/3`` is a number too.

    Examples
    --------
    >>> parse_constants("K=2, err=.2, flag=true")
    {'K': 2, 'err': 0.2, 'flag': True}
    >>> parse_constants("K")
    Traceback (most recent call last):
    ...
    umdp.errors.FormatError: constants: "K" has no value; write K=VALUE
    """
    if not isinstance(given, str):
        return {_name(str(name)): _checked(str(name), value) for name, value in given.items()}
    if not given.strip():
        return {}
    constants: dict[str, Constant] = {}
    for part in given.split(","):
        text = part.strip()
        if not text:
            raise FormatError(f'there is an empty entry in "{given}"; write NAME=VALUE,NAME=VALUE', path="constants")
        name, equals, value = (piece.strip() for piece in text.partition("="))
        if not equals:
            raise FormatError(f'"{text}" has no value; write {text}=VALUE', path="constants")
        if _name(name) in constants:
            raise FormatError(f"{name} is given twice; give it once", path="constants")
        constants[name] = _value(name, value)
    return constants


def format_constants(constants: Mapping[str, Constant]) -> str:
    """Return the text `parse_constants` reads, exact to the last digit."""
    return ",".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else repr(value)}" for name, value in constants.items()
    )


def parse_unknown(given: str | Iterable[str] | Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return the constants that are unknown, each with the ends between which it lies; 0 and 1 where none are given.

    Examples
    --------
    >>> parse_unknown("p=0.5:1, q")
    {'p': (0.5, 1.0), 'q': (0.0, 1.0)}
    >>> parse_unknown("p=0.5")
    Traceback (most recent call last):
    ...
    umdp.errors.FormatError: unknown: "p=0.5" gives p one value; write p=LOWER:UPPER for what it lies between, or p alone
    """
    if isinstance(given, Mapping):
        return {
            _name(str(name), "unknown"): _ordered(str(name), ends[0], ends[1], str(ends))
            for name, ends in given.items()
        }
    found: dict[str, tuple[float, float]] = {}
    for part in given.split(",") if isinstance(given, str) else given:
        text = part.strip()
        name, equals, ends = (piece.strip() for piece in text.partition("="))
        if _name(name, "unknown") in found:
            raise FormatError(f"{name} is given twice; give it once", path="unknown")
        lower, colon, upper = ends.partition(":")
        if equals and not colon:
            raise FormatError(
                f'"{text}" gives {name} one value; write {name}=LOWER:UPPER for what it lies between, or {name} alone',
                path="unknown",
            )
        found[name] = _ordered(name, lower, upper, text) if equals else (0.0, 1.0)
    return found


def _ordered(name: str, first: float | str, second: float | str, text: str) -> tuple[float, float]:
    """Return ends as floats, rounded to the outside; `text` is what was given."""
    try:
        lower, upper = Fraction(first), Fraction(second)
        if not lower < upper:
            raise FormatError(f"{name} lies between nothing: {lower} is not below {upper}", path="unknown")
        ends = below(lower), above(upper)
    except (ValueError, ZeroDivisionError):
        raise FormatError(f'"{text}" has ends that are no numbers; write {name}=0.5:1', path="unknown") from None
    except OverflowError:  # of what is infinite, or beyond all floats
        ends = -math.inf, math.inf
    if not all(map(math.isfinite, ends)):
        raise FormatError(f"the ends of {name} must be finite", path="unknown")
    return ends


def _name(name: str, path: str = "constants") -> str:
    if not _NAME.fullmatch(name):
        wanted = "NAME=VALUE" if path == "constants" else "NAME or NAME=LOWER:UPPER"
        raise FormatError(f'"{name}" is not the name of a constant; write {wanted}', path=path)
    return name


def _checked(name: str, value: object) -> Constant:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str):
        return _value(name, value)
    raise FormatError(f"{name} is {value!r}; a value is a finite number, true or false", path="constants")


def _value(name: str, text: str) -> Constant:
    if text in ("true", "false"):
        return text == "true"
    if "_" not in text:
        try:
            return int(text)
        except ValueError:
            pass
        numerator, slash, denominator = text.partition("/")
        try:
            number = float(numerator) / float(denominator) if slash else float(text)
        except (ValueError, ZeroDivisionError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    shown = f'"{text}"' if text else "empty"
    raise FormatError(f"the value of {name} is {shown}; a value is a finite number, true or false", path="constants")
