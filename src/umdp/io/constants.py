"""Undefined constants of a program: their values, as given on the command line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from umdp.errors import FormatError

__all__ = ["Constant", "format_constants", "parse_constants"]

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


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise FormatError(f'"{name}" is not the name of a constant; write NAME=VALUE', path="constants")
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
