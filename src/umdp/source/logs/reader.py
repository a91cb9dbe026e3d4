"""What all readers of recorded rows share: columns, positions, chunks."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from umdp.errors import FormatError
from umdp.source.logs.prefix import Prefix
from umdp.source.logs.rejected import FEW, Cause, Fault
from umdp.source.logs.row_decoding import Chunk, Outcome
from umdp.source.logs.trajectory_ends import FINAL, RecordingEnds
from umdp.statements import Statement

__all__ = [
    "COLUMNS",
    "SLICE",
    "TRIPLE",
    "Reader",
    "SlicedReader",
    "choose_columns",
    "extra_columns",
    "meant",
    "missing",
]

COLUMNS = ("trajectory", "state", "action", "next", *FINAL)
TRIPLE = ("state", "action", "next")
OPTIONAL = ("trajectory", *FINAL)
SLICE = 1 << 17  # rows at a time
MANY = 0.25  # of the rows, from which on it is not rows that are written wrongly, but the file


class Reader(ABC):
    """A reader of recorded rows, a chunk at a time, from any position on.

    Attributes
    ----------
    name : what the data is called in messages
    header : the names of all columns, None where rows differ
    spoilt : where the first malformed row of `outcomes` is, and what is wrong with it; None without one
    ends : what the rows of `outcomes` say of how recordings end; None where no column does
    names_trajectories : whether rows say to which trajectory they belong
    columns : the names of the columns that are read, by their roles
    encoding : of text; None where there is no text, or each file has its own
    """

    name: str
    header: Sequence[str] | None = None
    spoilt: tuple[str, Fault] | None = None
    ends: RecordingEnds | None = None
    names_trajectories: bool = True
    columns: Mapping[str, str] = MappingProxyType({})
    encoding: str | None = None
    _extra: Sequence[str] = ()

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether no more will come."""

    @abstractmethod
    def begin(self) -> dict[str, int]:
        """Go to the first row and return its position."""

    @abstractmethod
    def seek(self, position: Mapping[str, Any]) -> None:
        """Go to a position; raises `FormatError` if the data is not what it was."""

    @abstractmethod
    def read(self) -> Chunk | None:
        """Return the next rows; None if there are none now."""

    def look_at(self, extra: Sequence[str]) -> None:
        """Have chunks hold what some other columns say, too."""
        self._extra = extra if self.header is None else extra_columns(extra, self.header, self.name)

    def outcomes(self, extra: Sequence[str] = ()) -> Iterable[Outcome]:
        """Return (state, action, next state, whether it is said to be final, ...) of the rows that follow; not of malformed ones.

        What some other columns say follows. Those that are alike may be returned once, unless other columns are asked for.
        """
        self.look_at(extra)
        rows = commas = 0
        while (chunk := self.read()) is not None:
            rows += chunk.size
            commas += sum(fault.cause is Cause.DECIMAL for fault in chunk.malformed.values())
            if self.spoilt is None and chunk.malformed:
                first = min(chunk.malformed)
                self.spoilt = f"{self.name}, {chunk.where(first)[0]}", chunk.malformed[first]
            steps = chunk.steps()
            if self.ends is not None:
                torn = np.searchsorted(chunk.index, sorted(chunk.malformed)) - 1
                self.ends.take(chunk.names, steps, chunk.final.tolist(), set(torn.tolist()))
            yield from chunk.outcomes(steps)
        if commas > max(FEW, MANY * rows):
            raise FormatError(
                f"in {commas:,} of {rows:,} rows a number has a decimal comma, and commas separate fields, too; save the file "
                "with semicolons between fields, or put such numbers in quotation marks",
                path=self.name,
            )
        if self.ends is not None:
            self.ends.finish()
        self.look_at(())

    def described(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the names of the columns that are read, by their roles, and those of others."""
        read = dict(self.columns)
        return read, tuple(each for each in self.header or () if each not in read.values())

    def notes(self) -> list[Statement]:
        """Return what was found out of how the data are written."""
        return []

    def evidence(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Return what tells, at a later `seek`, whether the data up to there is the same; positions only grow."""
        return {}

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a row as it was found (`Chunk.raw`) says of state, action and next, as far as it can be read."""
        return {}

    def wait(self, seconds: float) -> None:  # noqa: B027 - only what grows is worth waiting for
        """Wait for more to come, for about so long."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of files."""


class SlicedReader(Reader):
    """A reader of a table of which all is there: so many rows at a time, by their numbers."""

    _row: int = 0
    _rows: int = 0

    @property
    def over(self) -> bool:
        """Whether all rows have been read."""
        return self._row >= self._rows

    def begin(self) -> dict[str, int]:
        """Go to the first row."""
        self._row = 0
        return {"row": 0}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go to a row."""
        self._prefix.compare(position, self.name)
        self._row = int(position["row"])

    def evidence(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checksum of all that is read."""
        return self._prefix.state()

    @property
    @abstractmethod
    def _prefix(self) -> Prefix:
        """The checksum of all that is read."""


def choose_columns(given: Mapping[str, str] | None, present: Sequence[str] | None, name: object) -> dict[str, str]:
    """Return the name of every column to be read; those not `given` are called what they are.

    The columns of trajectories and of ends may be missing unless they are given. `present` is None where rows differ.

    Examples
    --------
    >>> choose_columns({"next": "to"}, ["state", "action", "to"], "log.csv")
    {'state': 'state', 'action': 'action', 'next': 'to'}
    """
    given = given or {}
    for role in given:
        if role not in COLUMNS:
            raise FormatError(
                f"the columns are {', '.join(COLUMNS)}; there is no role {role}{meant(role, COLUMNS)}", path=name
            )
    columns = {role: role for role in COLUMNS} | dict(given)
    taken: dict[str, str] = {}
    for role in sorted(COLUMNS, key=lambda role: role not in given):
        other = taken.setdefault(columns[role], role)
        if other == role:
            continue
        if role not in OPTIONAL or role in given:
            raise FormatError(
                f'the column "{columns[role]}" cannot be both the {other} and the {role}; say which column holds the {role} with '
                f"--columns {role}=NAME",
                path=name,
            )
        del columns[role]  # a name that was given goes before what a column is usually called
    if present is None:
        return columns
    if not any(present):
        raise FormatError("the first line names no columns; is this a log?", path=name)
    for role, column in list(columns.items()):
        if present.count(column) > 1:
            raise FormatError(f'there are {present.count(column)} columns "{column}"; rename one', path=name)
        if column in present:
            continue
        if role in OPTIONAL and role not in given:
            del columns[role]
            continue
        raise FormatError(
            f'there is no column "{column}"; the columns are {", ".join(present)}{meant(column, present) or "."} Say which one '
            f'holds the {role}, such as columns={{"{role}": "{present[0]}"}}, or --columns {role}={present[0]}',
            path=name,
        )
    return columns


def extra_columns(wanted: Sequence[str], present: Sequence[str], name: object) -> Sequence[str]:
    """Return columns that are asked for if they are there, each once."""
    for column in wanted:
        if present.count(column) != 1:
            there = f"there are {present.count(column)} columns" if column in present else "there is no column"
            raise FormatError(
                f'{there} "{column}"; the columns are {", ".join(present)}{meant(column, present)}', path=name
            )
    return wanted


def missing(row: Mapping[str, Any]) -> Fault:
    """Return which of state, action and next state a row does not have."""
    return Fault(f"the row has no {' and no '.join(role for role in TRIPLE if row[role] is None)}", Cause.EMPTY)


def meant(given: str, known: Iterable[str]) -> str:
    """Return the question whether the nearest of some names was meant; nothing where none is near.

    Examples
    --------
    >>> meant("unt", ["unit", "after"]), meant("zzz", ["unit"])
    ("; did you mean 'unit'?", '')
    """
    close = difflib.get_close_matches(given, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""
