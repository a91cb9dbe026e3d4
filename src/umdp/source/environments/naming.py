"""Environments by name, as typed: ``gym:FrozenLake-v1,map_name=8x8``, ``my_module:Maze-v0``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from umdp.errors import ModelError
from umdp.source.resolve import GYM

__all__ = ["Named", "argument", "importing_here", "named"]

WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


class Named(NamedTuple):
    """What the name of an environment says: its id, the module that registers it, and arguments."""

    id: str
    module: str | None
    options: dict[str, Any]


def named(text: str) -> Named:
    """Return what the name of an environment says.

    Examples
    --------
    >>> named("gym:FrozenLake-v1,map_name=8x8,is_slippery=false")
    Named(id='FrozenLake-v1', module=None, options={'map_name': '8x8', 'is_slippery': False})
    >>> named('gym:mine:Maze-v0,walls=[1,2]')
    Named(id='mine:Maze-v0', module='mine', options={'walls': [1, 2]})
    """
    first, *rest = _split(text.removeprefix(GYM))
    if not first:
        raise ModelError(f"{text}: write the id of an environment behind gym:, such as gym:FrozenLake-v1")
    options: dict[str, Any] = {}
    for each in rest:
        name, value = argument(each, text)
        if name in options:
            raise ModelError(f"{text}: {name} is given twice")
        options[name] = value
    module, colon, _ = first.partition(":")
    return Named(first, module if colon else None, options)


def argument(text: str, where: str = "--env-arg") -> tuple[str, Any]:
    """Return the name and value of an argument such as ``size=3``: true, false, a number, a list, or else a word.

    Examples
    --------
    >>> argument("size=3"), argument("map_name=8x8"), argument("slippery=true"), argument('rows=["SF", "HG"]')
    (('size', 3), ('map_name', '8x8'), ('slippery', True), ('rows', ['SF', 'HG']))
    """
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not name.isidentifier():
        raise ModelError(
            f"{where}: {text!r} is no argument; write NAME=VALUE, such as map_name=8x8 or is_slippery=false"
        )
    if value in WORDS:
        return name, WORDS[value]
    try:
        return name, json.loads(value, parse_constant=str)
    except (ValueError, RecursionError):
        if value[:1] in ("[", "{", '"'):
            raise ModelError(
                f'{where}: {value!r} is not complete; lists are written like [1, 2] or ["a", "b"], within quotes of the shell'
            ) from None
        return name, value


@contextmanager
def importing_here() -> Iterator[None]:
    """While entered, modules in the current folder are found first; afterwards last, for what is imported later."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
        if here not in sys.path:
            sys.path.append(here)


def _split(text: str) -> list[str]:
    """Return the parts between commas that are in no brackets or quotes."""
    parts, depth, quoted = [""], 0, False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif not quoted:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth <= 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
