"""Reading rows from CSV: whole blocks at once where they are plain, line by line where they are not."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence

import numpy as np

from umdp.errors import FormatError
from umdp.source.logs.feed import BLOCK, FileFeed
from umdp.source.logs.reader import LineReader, Parsed, choose_columns

__all__ = ["CsvReader"]

LONGEST_HEADER = 4 * BLOCK
FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}


class CsvReader(LineReader):
    """Rows of a CSV file with a header; a row is a line, so that quoted fields have no newlines.

    Parameters
    ----------
    feed : FileFeed
    columns : mapping of str to str, optional
        The names of the columns trajectory, state, action, next and end, where they have others.
    delimiter : str
        What stands between fields.
    block : int
        How many bytes are read at a time.
    """

    def __init__(
        self, feed: FileFeed, columns: Mapping[str, str] | None = None, *, delimiter: str = ",", block: int = BLOCK
    ) -> None:
        super().__init__(feed, block)
        self._delimiter = delimiter
        feed.seek(0, 0)
        header = self._header(feed)
        chosen = choose_columns(columns, header, self.name)
        self._width = len(header)
        self._trajectory = header.index(chosen["trajectory"]) if "trajectory" in chosen else None
        self._end = header.index(chosen["end"]) if "end" in chosen else None
        self._triple = tuple(header.index(chosen[role]) for role in ("state", "action", "next"))

    def _header(self, feed: FileFeed) -> list[str]:
        first = b""
        while b"\n" not in first and (data := feed.more(BLOCK)):
            first += data
            if len(first) > LONGEST_HEADER and b"\n" not in first:
                raise FormatError(
                    f"the first line has more than {LONGEST_HEADER} bytes; is this CSV?", path=self.name, line=1
                )
        if not first.strip():
            raise FormatError("the file is empty; its first line must name the columns", path=self.name)
        line = first.split(b"\n", 1)[0]
        self._body = min(len(line) + 1, len(first))
        try:
            return [name.strip() for name in _fields(line.decode("utf-8-sig"), self._delimiter)]
        except (UnicodeDecodeError, csv.Error):
            raise FormatError(
                "the line that names the columns cannot be read; is this CSV?", path=self.name, line=1
            ) from None

    def begin(self) -> dict[str, int]:
        """Go to the line after the header."""
        return self._begin(self._body, 1)

    def parse(self, block: bytes) -> Parsed:
        """Return what some lines say."""
        cells = self._plain(block)
        if cells is None:
            return self._careful(block)
        width = self._width
        state, action, successor = (cells[column::width] for column in self._triple)
        names = None if self._trajectory is None else cells[self._trajectory :: width]
        over = None
        if self._end is not None:
            ends = [cell.strip().lower() for cell in cells[self._end :: width]]
            if not FLAGS.keys() >= set(ends):
                return self._careful(block)
            over = [FLAGS[end] for end in ends]
        return Parsed(np.arange(len(state)), zip(state, action, successor, strict=True), names, over)

    def _plain(self, block: bytes) -> list[str] | None:
        """Return all fields, row after row, if no line needs a second look: the same number in each, and no quotes."""
        if b'"' in block or b"\0" in block:
            return None
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
        if not block.endswith(b"\n"):
            block += b"\n"
        data = np.frombuffer(block, dtype=np.uint8)
        borders = data[(data == ord("\n")) | (data == ord(self._delimiter))]
        if borders.size % self._width:
            return None
        ends = borders.reshape(-1, self._width) == ord("\n")
        if not ends[:, -1].all() or ends[:, :-1].any():
            return None
        try:
            text = block.decode()
        except UnicodeDecodeError:
            return None
        cells = text.replace("\n", self._delimiter).split(self._delimiter)
        cells.pop()
        return cells

    def _careful(self, block: bytes) -> Parsed:
        """Look at every line by itself."""
        index: list[int] = []
        rows: list[Sequence[str]] = []
        malformed: dict[int, str] = {}
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                fields = _fields(line.decode(), self._delimiter)
            except UnicodeDecodeError:
                malformed[number] = "the line is not text in UTF-8"
                continue
            except csv.Error:
                malformed[number] = "a quotation mark is not closed on the line"
                continue
            if len(fields) != self._width:
                malformed[number] = f"the line has {len(fields)} fields, but the header names {self._width} columns"
                continue
            if self._end is not None and fields[self._end].strip().lower() not in FLAGS:
                malformed[number] = f"the end is {fields[self._end][:60]!r}; it is true or false, 1 or 0"
                continue
            index.append(number)
            rows.append(fields)
        state, action, successor = self._triple
        names = None if self._trajectory is None else [row[self._trajectory] for row in rows]
        triples = [(row[state], row[action], row[successor]) for row in rows]
        over = None if self._end is None else [FLAGS[row[self._end].strip().lower()] for row in rows]
        return Parsed(index, triples, names, over, malformed)


def _fields(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter, strict=True), [])
