"""Reading rows from CSV: whole blocks at once where they are plain, line by line where they are not."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.source.logs.line_reader import LineReader, Lines, RowColumns
from umdp.source.logs.line_stream import Feed
from umdp.source.logs.reader import TRIPLE, choose_columns
from umdp.source.logs.rejected import Cause, Fault
from umdp.source.logs.trajectory_ends import FINAL, FLAGS, RecordingEnds
from umdp.statements.text import nouns

__all__ = ["CsvReader", "separator"]

SEPARATORS = (",", ";", "\t", "|")


class CsvReader(LineReader):
    """Rows of CSV with a header; a row is a line, so that quoted fields have no newlines.

    What stands between fields, a comma, semicolon, tab or bar, is recognised from the header.

    Parameters
    ----------
    feed : Feed
        A file, or a stream; of a stream the first line is waited for.
    columns : mapping of str to str or None
        The names of the columns trajectory, state, action, next and end, where they have others.
    block : int or None
        How many bytes are read at a time.
    """

    def __init__(self, feed: Feed, columns: Mapping[str, str] | None, block: int | None) -> None:
        super().__init__(feed, block)
        feed.seek(0, 0)
        header = self._header(feed.first())
        chosen = choose_columns(columns, header, self.name)
        self.header: Sequence[str] = header
        self.columns = chosen
        self._width = len(header)
        self._trajectory = header.index(chosen["trajectory"]) if "trajectory" in chosen else None
        self._final = {role: header.index(chosen[role]) for role in FINAL if role in chosen}
        # A column that nobody gave and that only has the name says something where it says yes or no.
        self._strict = {role for role in self._final if role == "end" or role in (columns or {})}
        self.names_trajectories = self._trajectory is not None
        self.ends = RecordingEnds.of(chosen)
        self._triple = tuple(header.index(chosen[role]) for role in TRIPLE)

    def _header(self, line: bytes) -> list[str]:
        if not line.strip():
            raise FormatError("the file is empty; its first line must name the columns", path=self.name)
        if b"\0" in line:
            raise FormatError(
                "the first line holds a byte 0: this is not text in UTF-8; name its encoding, such as --encoding utf-16-le, or "
                "save it as UTF-8",
                path=self.name,
            )
        self._body = len(line)
        try:
            text = line.decode("utf-8-sig")
            self._delimiter = separator(text)
            return [name.strip() for name in _fields(text, self._delimiter)]
        except (UnicodeDecodeError, csv.Error) as error:
            unread = "it is not text in UTF-8; name the encoding of the file with --encoding, or save it as UTF-8"
            text = unread if isinstance(error, ValueError) else "is this CSV?"
            raise FormatError(
                f"the line that names the columns cannot be read: {text}", path=self.name, line=1
            ) from None

    def begin(self) -> dict[str, int]:
        """Go to the line after the header."""
        return self._begin(self._body, 1)

    def _columns(self, held: list[str]) -> RowColumns:
        """Return what rows say, by all of their fields, row after row."""
        width = self._width
        state, action, successor = (held[column::width] for column in self._triple)
        names = None if self._trajectory is None else held[self._trajectory :: width]
        flags = {role: _flagged(held[column::width]) for role, column in self._final.items()}
        extra = [held[self.header.index(column) :: width] for column in self._extra]
        return RowColumns(zip(state, action, successor, strict=True), names, flags, extra)

    def _sound(self, cells: list[str]) -> bool:
        """Whether no row lacks a state or an action, or has something else where it must say yes or no."""
        width, strict = self._width, [self._final[role] for role in self._strict]
        full = all("" not in cells[column::width] for column in self._triple[:2])
        return full and all({cell.strip().lower() for cell in set(cells[at::width])} <= FLAGS.keys() for at in strict)

    def _plain(self, lines: Lines) -> list[str] | None:
        """Return all fields, row after row, if no line needs a second look: the same number in each, and no quotes."""
        if b'"' in lines.text or b"\0" in lines.text:
            return None
        block = lines.plain
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
        return cells if self._sound(cells) else None

    def _row(self, line: bytes) -> list[str] | Fault:
        """Return the fields of a line, or what is wrong with it."""
        if b"\0" in line:
            return Fault("the line holds a byte 0, which is no text", Cause.ZERO)
        try:
            fields = _fields(line.decode(), self._delimiter)
        except UnicodeDecodeError:
            return self._not_text(line)
        except csv.Error:
            return Fault("a quotation mark is not closed on the line", Cause.QUOTE)
        if len(fields) != self._width:
            return self._misfit(fields)
        wrong = [role for role in self._strict if fields[self._final[role]].strip().lower() not in FLAGS]
        if wrong:
            said = fields[self._final[wrong[0]]][:60]
            return Fault(f"the {wrong[0]} is {said!r}; it is true or false, 1 or 0", Cause.FLAG, said)
        empty = [role for role, column in zip(TRIPLE[:2], self._triple, strict=False) if not fields[column].strip()]
        return Fault(f"the line has no {' and no '.join(empty)}", Cause.EMPTY) if empty else fields

    def _misfit(self, fields: Sequence[str]) -> Fault:
        """Return what is wrong with a line that has not as many fields as the header has names."""
        few = f"the line has {len(fields)} {nouns(len(fields), 'field')}, but the header names {self._width} columns"
        roles = {*self._triple, self._trajectory, *self._final.values()}
        if len(fields) == self._width + 1 and self._delimiter == ",":
            whole, rest = re.compile(r"\s*[-+]?\d+"), re.compile(r"\d+\s*")
            for column in range(self._width):
                if column not in roles and whole.fullmatch(fields[column]) and rest.fullmatch(fields[column + 1]):
                    number = f"{fields[column].strip()},{fields[column + 1].strip()}"
                    shown = f"{few}: {number} seems to be a number with a decimal comma"
                    return Fault(shown, Cause.DECIMAL, self.header[column])
        return Fault(few, Cause.FIELDS)

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a line says as far as it can be read; one that may have been cut says nothing."""
        fields = [field.strip().strip('"') for field in str(raw).split(self._delimiter)]
        if len(fields) < self._width:
            return {}
        return {role: fields[column] for role, column in zip(TRIPLE, self._triple, strict=True) if fields[column]}


def separator(header: str) -> str:
    r"""Return what stands between the fields of a line: whichever makes the most of them.

    Examples
    --------
    >>> separator("state;action;next"), separator("state\taction\tnext"), separator("state")
    (';', '\t', ',')
    """
    return max(SEPARATORS, key=lambda each: len(_fields(header, each)))


def _flagged(cells: Sequence[str]) -> NDArray[np.bool_]:
    """Return which cells say yes, each different one looked up once."""
    said = {cell: FLAGS.get(cell.strip().lower(), False) for cell in set(cells)}
    return np.fromiter(map(said.__getitem__, cells), np.bool_, len(cells))


def _fields(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter, strict=True), [])
