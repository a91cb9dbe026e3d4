"""The tables in PRISM's explicit files: a header, then lines of numbers; large ones are read by compiled code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.io.files import (
    check_below,
    check_count,
    check_order,
    decode_text,
    floats,
    intervals,
    ints,
    is_large,
    load,
    show,
)

if TYPE_CHECKING:
    from umdp.io.columns import Columns

__all__ = ["Names", "Table"]

_ABOVE = re.compile(rb"(?:[^\S\n]*(?:#[^\n]*)?\n)*")  # blank lines and comments
_COUNTS = {2: "STATES TRANSITIONS", 3: "STATES CHOICES TRANSITIONS"}

Names = tuple[NDArray[np.int32], list[bytes]]
"""The number of each line's name, and the names."""


@dataclass
class Table:
    """The non-empty lines of a file, split at white space, and where they stand."""

    path: Path
    rows: list[list[bytes]]
    lines: list[int]
    comments: list[str]

    @classmethod
    def load(cls, path: Path) -> Table:
        """Return the table in a file."""
        data = load(path).removeprefix(b"\xef\xbb\xbf")
        if is_large(data):
            scanned = _scanned(data, path)
            if scanned is not None:
                return scanned
        if b"[" in data and any(gap in data for gap in (b", ", b" ,", b"[ ", b" ]")):
            data = re.sub(rb"\[\s*([^\s,\]]+)\s*,\s*([^\s,\]]+)\s*\]", rb"[\1,\2]", data)
        raw = data.split(b"\n")
        fields = [line.split() for line in raw]
        kept = [(row, i) for i, row in enumerate(fields, 1) if row and not row[0].startswith(b"#")]
        comments = [decode_text(line, path).strip() for line in raw if line.startswith(b"#")]
        return cls(path, [row for row, _ in kept], [i for _, i in kept], comments)

    @property
    def size(self) -> int:
        """The number of lines, the header no longer counted once it was taken off."""
        return len(self.rows)

    @property
    def first(self) -> list[bytes]:
        """The first line, split; empty where there is none."""
        return self.rows[0] if self.rows else []

    def take_first(self) -> None:
        """Take off the first line."""
        del self.rows[0], self.lines[0]

    def line(self, row: int) -> int:
        """Return the number of a line in its file."""
        return self.lines[row]

    def text(self, row: int) -> bytes:
        """Return a line as it should appear in a message."""
        return b" ".join(self.rows[row])

    def fail(self, message: str, row: int) -> NoReturn:
        """Raise `FormatError` for a line."""
        raise FormatError(message, path=self.path, line=self.line(row))

    def header(self, sizes: tuple[int, ...]) -> list[int]:
        """Take off the first line, whose length must be one of `sizes`, and return its numbers."""
        expected = " or ".join(_COUNTS[size] for size in sizes)
        first = self.first
        if not first:
            raise FormatError(f"the header is missing; it reads {expected}", path=self.path)
        if len(first) not in sizes or not all(token.isdigit() and len(token) <= 18 for token in first):
            self.fail(f"the header {show(b' '.join(first))} should read {expected}", 0)
        self.take_first()
        return [int(token) for token in first]

    def check_lengths(self, least: int, most: int, layout: str) -> None:
        """Raise `FormatError` for the first line that has too few or too many entries."""
        lengths = np.fromiter(map(len, self.rows), dtype=np.int64, count=len(self.rows))
        wrong = np.flatnonzero((lengths < least) | (lengths > most))
        if wrong.size:
            row = int(wrong[0])
            self.fail(f"{show(self.text(row))} should read {layout}", row)

    def check_count(self, what: str, declared: int) -> None:
        """Raise `FormatError` unless there are as many lines as the header says."""
        check_count(what, declared, self.size, self.path)

    def ints(self, column: int, what: str, below: int) -> NDArray[np.int64] | NDArray[np.int32]:
        """Return a column of numbers from 0 to `below` - 1."""
        return ints([row[column] for row in self.rows], self.lines, what, self.path, below)

    def floats(self, column: int, what: str) -> NDArray[np.float64]:
        """Return a column of finite numbers."""
        return floats([row[column] for row in self.rows], self.lines, what, self.path)

    def intervals(self, column: int, what: str) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return a column of numbers, or their lower and upper ends where some are intervals."""
        return intervals([row[column] for row in self.rows], self.lines, what, self.path)

    def names(self, column: int) -> Names | None:
        """Return the last column, which lines may lack; None where all do."""
        index: dict[bytes, int] = {b"": 0}
        codes = [index.setdefault(row[column] if len(row) > column else b"", len(index)) for row in self.rows]
        return (np.array(codes, dtype=np.int32), list(index)) if len(index) > 1 else None


@dataclass
class _Scanned(Table):
    """A table whose lines, after the first, were read into columns."""

    columns: Columns
    data: bytes
    begin: int  # of the first line that is not a header

    @property
    def size(self) -> int:
        return len(self.rows) + self.columns.lower.size

    def take_first(self) -> None:
        del self.rows[0]

    def line(self, row: int) -> int:
        return self.lines[0] + row + (not self.rows)

    def text(self, row: int) -> bytes:
        at = self.begin
        for _ in range(row):
            at = self.data.index(b"\n", at) + 1
        return b" ".join(_fields(self.data, at))

    def check_lengths(self, least: int, most: int, layout: str) -> None:
        pass  # other lines are not read into columns

    def ints(self, column: int, what: str, below: int) -> NDArray[np.int32]:
        values: NDArray[np.int32] = self.columns.whole[column]
        check_below(values, self.line, what, self.path, below)
        return values

    def floats(self, column: int, what: str) -> NDArray[np.float64]:
        return self.columns.lower

    def intervals(self, column: int, what: str) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        lower, upper = self.columns.lower, self.columns.upper
        if upper is not None:
            check_order(lower, upper, self.line, what, self.path)
        return lower, upper

    def names(self, column: int) -> Names | None:
        return None if self.columns.codes is None else (self.columns.codes, self.columns.names)


def _fields(data: bytes, at: int) -> list[bytes]:
    """Return the line that begins at a place, split at white space."""
    end = data.find(b"\n", at)
    return data[at : len(data) if end < 0 else end].split()


def _scanned(data: bytes, path: Path) -> Table | None:
    """Return the table in a large file; None where something in it is unusual, be it right or wrong."""
    from umdp.io.columns import Columns, scan

    above = _ABOVE.match(data)
    at = above.end() if above else 0
    end = data.find(b"\n", at)
    if end < 0:
        return None
    first, number = data[at:end].split(), data.count(b"\n", 0, at) + 1
    comments = [decode_text(line, path).strip() for line in data[:at].split(b"\n") if line.startswith(b"#")]
    rewards = path.suffix != ".tra"
    wide = {b"mdp": 3, b"dtmc": 2}.get(first[0].lower(), len(first)) if path.suffix != ".srew" else 1
    if wide not in (1, 2, 3):
        return None
    what = "reward" if rewards else "probability"
    columns = scan(data, end + 1, number + 1, wide, what, path)
    if isinstance(columns, Columns):
        if rewards and (columns.upper is not None or columns.codes is not None):
            return None
        return _Scanned(path, [first], [number], comments, columns, data, end + 1)
    # What is wrong with that line is said at once: splitting a large file takes long.
    where, line = columns
    row = _fields(data, where)
    if row and not row[0].startswith(b"#") and wide < len(row) <= wide + 2 - rewards and b"[" not in row[wide]:
        alone = Table(path, [row], [line], [])
        for i in range(wide):
            alone.ints(i, "state" if i == 0 else "choice" if i == 1 and wide == 3 else "successor state", 2**31)
        alone.floats(wide, what)
    return None
