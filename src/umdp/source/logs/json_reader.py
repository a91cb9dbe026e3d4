"""Reading rows from JSON, one object a line."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from umdp.errors import in_a_sentence, misfit
from umdp.source.logs.line_reader import LineReader, Lines, RowColumns
from umdp.source.logs.line_stream import Feed
from umdp.source.logs.reader import COLUMNS, choose_columns
from umdp.source.logs.rejected import Cause, Fault
from umdp.source.logs.trajectory_ends import FINAL, RecordingEnds, flag

__all__ = ["JsonReader"]

LOOKED_AT = 100  # objects, for which keys there are
NOTHING = b"\\u0000"  # as JSON writes the character 0
_triple = operator.attrgetter("state", "action", "next")
_trajectory = operator.attrgetter("trajectory")
_over, _terminated, _truncated = map(operator.attrgetter, FINAL)


class JsonReader(LineReader):
    """Rows that are JSON objects with the keys state, action and next, and optionally trajectory and end.

    Parameters
    ----------
    feed : Feed
    columns : mapping of str to str or None
        The keys trajectory, state, action, next and end, where they have other names.
    block : int or None
        How many bytes are read at a time.
    """

    def __init__(self, feed: Feed, columns: Mapping[str, str] | None, block: int | None) -> None:
        super().__init__(feed, block)
        # A role without a key of its own must not take what has been given to another.
        self._keys = {role: f"{role} (no column)" for role in COLUMNS} | choose_columns(columns, None, self.name)
        self.ends = RecordingEnds(self._keys["end"])
        self.look_at(())

    def look_at(self, extra: Sequence[str]) -> None:
        """Have rows hold what some other keys say, too."""
        cell = str | int
        self._extra = tuple(f"extra{n}" for n in range(len(extra)))
        self._type: Any = msgspec.defstruct(
            "Row",
            [
                ("state", cell),
                ("action", cell),
                ("next", cell),
                ("trajectory", cell | None, None),
                ("end", bool, False),
                ("terminated", Any, None),
                ("truncated", Any, None),
                *((name, Any, None) for name in self._extra),
            ],
            rename=self._keys | dict(zip(self._extra, extra, strict=True)),
            gc=False,
        )
        self._decoder = msgspec.json.Decoder(self._type)

    def described(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the keys that are read, by their roles, and others; as the first objects have them."""
        self.begin()
        chunk, found = self.read(), dict[str, None]()
        for row in chunk.index[:LOOKED_AT].tolist() if chunk is not None else ():
            assert chunk is not None
            found.update(dict.fromkeys(msgspec.json.decode(chunk.raw(row))))
        read = {role: key for role, key in self._keys.items() if key in found}
        return read, tuple(key for key in found if key not in read.values())

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a line says as far as it can be read."""
        try:
            said = msgspec.json.decode(str(raw))
        except (msgspec.DecodeError, RecursionError):
            return {}
        names = {role: self._keys[role] for role in ("state", "action", "next")}
        return {role: str(said[key]) for role, key in names.items() if key in said} if isinstance(said, dict) else {}

    def _columns(self, held: list[Any]) -> RowColumns:
        """Return what rows say."""
        flags = {"end": np.fromiter(map(_over, held), np.bool_, len(held))}
        for role, said in (("terminated", _terminated), ("truncated", _truncated)):
            given = list(map(said, held))
            if any(each is not None for each in given):
                flags[role] = np.array([flag(each) or False for each in given], np.bool_)
                assert self.ends is not None
                self.ends.told_apart |= role == "truncated"
                self.ends.column = self._keys["terminated"] if role == "terminated" else self.ends.column
        extra = [list(map(operator.attrgetter(name), held)) for name in self._extra]
        names = list(map(_trajectory, held))
        self.names_trajectories = self.names_trajectories and None not in names
        return RowColumns(map(_triple, held), names, flags, extra)

    def _plain(self, lines: Lines) -> list[Any] | None:
        """Return all rows, if no line needs a second look."""
        block = lines.plain
        data = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        # Whole lines at once are only safe to number if each is seen to hold one object.
        begin, end = data[np.append(0, ends[:-1] + 1)], data[ends - 1]
        if (begin != ord("{")).any() or (end != ord("}")).any() or NOTHING in block:
            return None
        try:
            rows: list[Any] = self._decoder.decode_lines(block)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return rows if len(rows) == lines.count else None

    def _row(self, line: bytes) -> list[Any] | Fault:
        """Return the row on a line, or what is wrong with it."""
        if NOTHING in line and b"\\\\u0000" not in line:
            return Fault("the line holds a character 0, which is no text", Cause.ZERO)
        try:
            return [self._decoder.decode(line)]
        except UnicodeDecodeError:
            return self._not_text(line)
        except RecursionError:
            return Fault("the object is nested too deeply", Cause.JSON)
        except msgspec.DecodeError:
            return self._fault(line)

    def _fault(self, line: bytes) -> Fault:
        """Return what is wrong with a line that is no row."""
        try:
            given = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            return Fault(f"the line is not a JSON object: {in_a_sentence(error)}", Cause.JSON)
        except RecursionError:
            return Fault("the object is nested too deeply", Cause.JSON)
        said = misfit(given, self._type, table="an object")
        if not isinstance(given, dict):
            return Fault(f"the line is not a JSON object: {said}", Cause.JSON)
        return Fault(f"the object does not fit: {said}", Cause.TYPE, said)
