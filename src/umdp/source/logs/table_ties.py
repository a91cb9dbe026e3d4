"""Ties in a table of what can happen: a column that names the class of a choice, and one that names outcomes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from umdp.errors import FormatError
from umdp.source.logs.extra_columns import Triple
from umdp.source.logs.log import table_of
from umdp.source.logs.opening import open_reader

__all__ = ["tie_of_table"]


def tie_of_table(
    path: str | os.PathLike[str], names: tuple[str, str], columns: Mapping[str, str] | None = None
) -> Callable[[str, str, str], Any]:
    """Return a function for `Tying.of`, as the columns `names` of a table of state, action and next state say.

    A choice whose class is empty is not tied. Where several outcomes lead to one state, the table has a row for each of them.
    """
    found = table_of(lambda named: _read(path, names, named), columns)
    return lambda state, action, successor: found.get((state, action, successor))


def _read(
    path: str | os.PathLike[str], names: tuple[str, str], columns: Mapping[str, str] | None
) -> dict[Triple, tuple[str, list[str]]]:
    reader = open_reader(path, columns)
    found: dict[Triple, tuple[str, list[str]]] = {}
    try:
        reader.begin()
        for state, action, successor, _, kind, outcome in reader.outcomes(names):
            triple = (str(state).strip(), str(action).strip(), str(successor).strip())
            named, happened = (str("" if each is None else each).strip() for each in (kind, outcome))
            if not all(triple) or not named:
                continue
            if not happened:
                raise FormatError(
                    f'the column "{names[1]}" is empty for state {triple[0]}, action {triple[1]}, to {triple[2]}, of class '
                    f"{named}; name the outcome",
                    path=reader.name,
                )
            before = found.setdefault(triple, (named, []))
            if before[0] != named:
                raise FormatError(
                    f'the column "{names[0]}" names two classes, {before[0]} and {named}, for state {triple[0]}, action '
                    f"{triple[1]}; a choice is in one class",
                    path=reader.name,
                )
            if happened not in before[1]:
                before[1].append(happened)
    finally:
        reader.close()
    return found
