"""What all readers of recorded rows share: columns, positions, chunks."""

from __future__ import annotations

import difflib
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.source.logs.faults import Fault
from umdp.source.logs.line_stream import Feed
from umdp.source.logs.row_decoding import Chunk
from umdp.source.logs.trajectory_ends import FINAL, RecordingEnds
from umdp.source.lookup import Memo

__all__ = [
    "COLUMNS",
    "LineReader",
    "Outcome",
    "Parsed",
    "Reader",
    "Triple",
    "choose_columns",
    "extra_columns",
    "meant",
]

Array = NDArray[Any]
Triple = tuple[Any, Any, Any]
Outcome = tuple[Any, ...]

COLUMNS = ("trajectory", "state", "action", "next", *FINAL)
OPTIONAL = ("trajectory", *FINAL)


class Reader(ABC):
    """A reader of recorded rows, a chunk at a time, from any position on.

    Attributes
    ----------
    name : what the data is called in messages
    noun : what a row is called, such as "line"
    header : the names of all columns, None where rows differ
    spoilt : where the first malformed row of `outcomes` is, and what is wrong with it; None without one
    ends : what the rows of `outcomes` say of how recordings end; None where no column does
    names_trajectories : whether rows say to which trajectory they belong
    """

    name: str
    noun: str = "row"
    header: Sequence[str] | None = None
    spoilt: tuple[str, Fault] | None = None
    ends: RecordingEnds | None = None
    names_trajectories: bool = True

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
    def read(self, memo: Memo) -> Chunk | None:
        """Return the next rows; None if there are none now."""

    @abstractmethod
    def outcomes(self, extra: Sequence[str] = ()) -> Iterable[Outcome]:
        """Return (state, action, next state, whether it is said to be final, ...) of the rows that follow; not of malformed ones.

        What some other columns say follows. Those that are alike may be returned once, unless other columns are asked for.
        """

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


class Parsed:
    """The well-formed rows of some lines: triples, trajectories, ends of recordings and for good, others; what is malformed."""

    def __init__(
        self,
        index: Sequence[int] | Array,
        triples: Iterable[Triple],
        trajectories: Sequence[Any] | None,
        over: Sequence[bool] | Array | None = None,
        malformed: Mapping[int, Fault] | None = None,
        extra: Sequence[Sequence[Any]] = (),
        final: Array | None = None,
    ) -> None:
        self.index: Array = np.asarray(index, dtype=np.int64)
        self.triples, self.trajectories = triples, trajectories
        self.over: Array = (
            np.zeros(self.index.size, dtype=np.bool_) if over is None else np.asarray(over, dtype=np.bool_)
        )
        self.final = self.over if final is None else final
        self.malformed = {} if malformed is None else malformed
        self.extra = extra


class LineReader(Reader):
    """A reader of rows that are lines of text; what a line means is left to `parse`."""

    noun = "line"

    def __init__(self, feed: Feed, block: int) -> None:
        self.name, self._feed, self._block = feed.name, feed, block
        self._at_hand = b""
        self._start = 0
        self._extra: tuple[Any, ...] = ()

    @abstractmethod
    def _look_at(self, extra: Sequence[str]) -> None:
        """Have `parse` return what some other columns say, too."""

    @abstractmethod
    def parse(self, block: bytes) -> Parsed:
        """Return what some lines say."""

    @property
    def over(self) -> bool:
        """Whether no more will come."""
        return self._feed.over

    def begin(self) -> dict[str, int]:
        """Go to the first line."""
        return self._begin(0, 0)

    def _begin(self, offset: int, line: int) -> dict[str, int]:
        self._feed.seek(offset, line)
        self._at_hand, self._start = b"", offset
        return {"offset": offset, "line": line}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on after a number of bytes and lines."""
        offset = int(position["offset"])
        self._feed.seek(offset, int(position["line"]), position)
        self._at_hand, self._start = b"", offset

    def evidence(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checksum of what was read up to a position."""
        prefix = self._feed.prefix
        taken = int(position["offset"]) - self._start
        prefix.extend(memoryview(self._at_hand)[prefix.offset - self._start : taken])
        return self._feed.evidence()

    def read(self, memo: Memo) -> Chunk | None:
        """Return the rows of the next whole lines."""
        prefix = self._feed.prefix
        prefix.extend(memoryview(self._at_hand)[max(prefix.offset - self._start, 0) :])
        self._at_hand, self._start = b"", prefix.offset
        block = self._feed.lines(self._block)
        if not block:
            return None
        self._at_hand, self._start = block, self._feed.offset - len(block)
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        offset, line = self._feed.offset - len(block), self._feed.line - lines
        parsed = self.parse(block)
        size = parsed.index.size
        names, text = parsed.trajectories, _Text(block)
        codes = np.fromiter(map(memo.__getitem__, parsed.triples), np.int64, size)
        if names is None:
            named, changes = np.zeros(size, np.bool_), np.zeros(max(size - 1, 0), np.bool_)
        else:
            named = (
                np.fromiter((name is not None for name in names), np.bool_, size)
                if None in names
                else np.ones(size, np.bool_)
            )
            changes = np.fromiter(map(operator.ne, names[1:], names), np.bool_, max(size - 1, 0))
        return Chunk(
            lines,
            parsed.index,
            codes,
            changes,
            named,
            parsed.over,
            parsed.malformed,
            lambda rows: [None] * len(rows) if names is None else [names[row] for row in rows],
            lambda row: (f"line {line + row + 1}", line + row + 1),
            text.line,
            lambda taken: {"offset": offset + text.end(taken), "line": line + taken},
        )

    def outcomes(self, extra: Sequence[str] = ()) -> Iterable[Outcome]:
        """Return the outcomes of the lines that follow."""
        self._look_at(extra)
        while block := self._feed.lines(self._block):
            parsed = self.parse(block)
            if self.spoilt is None and parsed.malformed:
                first = min(parsed.malformed)
                before = self._feed.line - block.count(b"\n") - (not block.endswith(b"\n"))
                self.spoilt = f"{self.name}, line {before + first + 1}", parsed.malformed[first]
            triples, final = list(parsed.triples), parsed.final.tolist()
            if self.ends is not None:
                torn = np.searchsorted(parsed.index, sorted(parsed.malformed)) - 1
                self.ends.take(parsed.trajectories, triples, final, set(torn.tolist()))
            rows = zip(triples, final, *parsed.extra, strict=True)
            yield from ((*triple, *more) for triple, *more in rows)
        if self.ends is not None:
            self.ends.finish()
        self._look_at(())

    def wait(self, seconds: float) -> None:
        """Wait for more lines."""
        self._feed.wait(seconds)

    def close(self) -> None:
        """Close the file."""
        self._feed.close()


def choose_columns(
    given: Mapping[str, str] | None, present: Sequence[str] | None, name: object, roles: Sequence[str] = COLUMNS
) -> dict[str, str]:
    """Return the name of every column to be read; those not `given` are called what they are.

    The columns of trajectories and of ends may be missing unless they are given. `present` is None where rows differ.

    Examples
    --------
    >>> choose_columns({"next": "to"}, ["state", "action", "to"], "log.csv")
    {'state': 'state', 'action': 'action', 'next': 'to'}
    """
    given = given or {}
    for role in given:
        if role not in roles:
            raise FormatError(
                f"the columns are {', '.join(roles)}; there is no role {role}{meant(role, roles)}", path=name
            )
    columns = {role: role for role in roles} | dict(given)
    taken: dict[str, str] = {}
    for role in sorted(roles, key=lambda role: role not in given):
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


def meant(given: str, known: Iterable[str]) -> str:
    """Return the question whether the nearest of some names was meant; nothing where none is near.

    Examples
    --------
    >>> meant("unt", ["unit", "after"]), meant("zzz", ["unit"])
    ("; did you mean 'unit'?", '')
    """
    close = difflib.get_close_matches(given, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


class _Text:
    """Finds single lines in a block, which is rarely asked for."""

    def __init__(self, block: bytes) -> None:
        self._block = block

    @cached_property
    def _ends(self) -> Array:
        return np.flatnonzero(np.frombuffer(self._block, dtype=np.uint8) == ord("\n")) + 1

    def end(self, lines: int) -> int:
        """Return where the first `lines` lines end."""
        if lines == 0:
            return 0
        return int(self._ends[lines - 1]) if lines <= self._ends.size else len(self._block)

    def line(self, number: int) -> str:
        """Return a line, without its newline."""
        return self._block[self.end(number) : self.end(number + 1)].decode(errors="replace").rstrip("\r\n")
