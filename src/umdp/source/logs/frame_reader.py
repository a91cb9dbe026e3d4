"""Reading rows from a table in memory: a data frame of polars or pandas, a table of Arrow, or a mapping of columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from umdp.errors import FormatError
from umdp.source.logs.prefix import Prefix
from umdp.source.logs.reader import SLICE, TRIPLE, SlicedReader, choose_columns, missing
from umdp.source.logs.rejected import Cause, Fault
from umdp.source.logs.row_decoding import Chunk
from umdp.source.logs.trajectory_ends import FINAL, RecordingEnds, flag, over_and_final

__all__ = ["FrameReader", "is_frame"]


def is_frame(given: Any) -> bool:
    """Whether something has named columns.

    Examples
    --------
    >>> is_frame({"state": ["a"], "action": ["go"], "next": ["b"]}), is_frame(["a"]), is_frame("log.csv")
    (True, False, False)
    """
    return isinstance(given, Mapping) or hasattr(given, "collect_schema") or hasattr(given, "columns")


class FrameReader(SlicedReader):
    """Rows of a table in memory, in order; rows with a missing value are malformed.

    Parameters
    ----------
    frame : data frame
        What has named columns: a frame of polars (also a lazy one) or pandas, a table of Arrow, or a mapping of sequences.
    columns : mapping of str to str or None
        The names of the columns trajectory, state, action, next and end, where they have others.
    block : int or None
        How many rows are read at a time.
    """

    name = "the data frame"

    def __init__(self, frame: Any, columns: Mapping[str, str] | None, block: int | None) -> None:
        if hasattr(frame, "collect"):
            frame = frame.collect()
        names = list(frame) if isinstance(frame, Mapping) else list(getattr(frame, "column_names", frame.columns))
        self.header: Sequence[str] = [str(name) for name in names]
        self.columns = choose_columns(columns, self.header, self.name)
        self._frame, self._key = frame, dict(zip(self.header, names, strict=True))
        self._values: dict[str, list[Any]] = {}
        self._rows = len(self._column(self.columns["state"]))
        self._block, self._row = block or SLICE, 0
        for column in self.columns.values():
            if len(self._column(column)) != self._rows:
                raise FormatError(f'the column "{column}" has another length than the others', path=self.name)
        self._final = [role for role in FINAL if role in self.columns]
        self._strict = [role for role in self._final if role == "end" or role in (columns or {})]
        self.names_trajectories = "trajectory" in self.columns
        self.ends = RecordingEnds.of(self.columns)

    def _column(self, name: str) -> list[Any]:
        """Return what a column holds, as plain values: text, numbers, or None where a value is missing."""
        if name not in self._values:
            found = self._frame[self._key[name]]
            plain = next(
                (getattr(found, each) for each in ("to_list", "to_pylist", "tolist") if hasattr(found, each)), None
            )
            self._values[name] = list(map(_plain, found if plain is None else plain()))
        return self._values[name]

    @cached_property
    def _prefix(self) -> Prefix:
        return Prefix.of(repr(self._column(column)).encode() for column in self.columns.values())

    def read(self) -> Chunk | None:
        """Return the next slice of rows."""
        if self.over:
            return None
        first, self._row = self._row, min(self._row + self._block, self._rows)

        def cut(column: str) -> list[Any]:
            return self._column(column)[first : self._row]

        roles = {role: list(map(_name, cut(column))) for role, column in self.columns.items()}
        size, malformed = self._row - first, dict[int, Fault]()
        for row in range(size):
            fault = self._fault({role: values[row] for role, values in roles.items()})
            if fault is not None:
                malformed[row] = fault
        well = [row for row in range(size) if row not in malformed]
        flags = {role: np.array([flag(roles[role][row]) or False for row in well], np.bool_) for role in self._final}
        over, final = over_and_final(flags, len(well))
        return Chunk(
            size,
            np.array(well, np.int64),
            [(roles["state"][row], roles["action"][row], roles["next"][row]) for row in well],
            [roles["trajectory"][row] for row in well] if self.names_trajectories else None,
            over,
            final,
            malformed,
            [[values[row] for row in well] for values in map(cut, self._extra)],
            lambda row: (f"row {first + row + 1}", None),
            lambda row: {column: self._column(column)[first + row] for column in self.columns.values()},
            lambda taken: {"row": first + taken},
        )

    def _fault(self, row: Mapping[str, Any]) -> Fault | None:
        """Return what is wrong with a row, by role; None if nothing is."""
        if any(row[role] is None for role in TRIPLE):
            return missing(row)
        wrong = [role for role in self._strict if flag(row[role]) is None]
        said = f"the {wrong[0]} is {row[wrong[0]]!r}; it is true or false, 1 or 0" if wrong else ""
        return Fault(said, Cause.FLAG, str(row[wrong[0]])) if wrong else None

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a row says."""
        return {role: str(raw[self.columns[role]]) for role in TRIPLE if raw[self.columns[role]] is not None}


def _name(value: Any) -> Any:
    """Return what a state, an action or a trajectory is called."""
    return value if value is None or type(value) in (str, int) else str(value)


def _plain(value: Any) -> Any:
    """Return a value as text or a number; whole numbers are whole, also where a table holds them as others; None if missing."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return None if math.isnan(number) else int(number) if number.is_integer() else number
    return None if value != value else str(value)  # noqa: PLR0124 - what is missing differs from itself
