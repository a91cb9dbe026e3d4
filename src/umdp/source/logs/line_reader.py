"""What readers of lines of text share: blocks of whole lines, their positions, and the checksum of what was read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.source.logs.encodings import UTF_8, UTF_8_MARK, unreadable_word
from umdp.source.logs.line_stream import BLOCK, Feed
from umdp.source.logs.reader import Reader
from umdp.source.logs.rejected import Cause, Fault
from umdp.source.logs.row_decoding import Chunk, Triple
from umdp.source.logs.trajectory_ends import over_and_final
from umdp.statements import DiagnosticCode, Statement, say

__all__ = ["LineReader", "Lines", "RowColumns"]

Array = NDArray[Any]


class Lines:
    """Whole lines of text, as bytes, and where they stand.

    Attributes
    ----------
    text : the lines
    count : how many
    """

    def __init__(self, text: bytes, feed: Feed) -> None:
        self.text = text
        self.count = text.count(b"\n") + (not text.endswith(b"\n"))
        self._offset, self._line = feed.offset - len(text), feed.line - self.count

    @property
    def plain(self) -> bytes:
        """The same, each with one character at its end."""
        plain = self.text.replace(b"\r\n", b"\n") if b"\r" in self.text else self.text
        return plain if plain.endswith(b"\n") else plain + b"\n"

    @cached_property
    def _ends(self) -> Array:
        return np.flatnonzero(np.frombuffer(self.text, dtype=np.uint8) == ord("\n")) + 1

    def end(self, lines: int) -> int:
        """Return where the first `lines` lines end."""
        if lines == 0:
            return 0
        return int(self._ends[lines - 1]) if lines <= self._ends.size else len(self.text)

    def where(self, row: int) -> tuple[str, int]:
        """Return what a line is called, and its number."""
        return f"line {self._line + row + 1}", self._line + row + 1

    def raw(self, row: int) -> str:
        """Return a line, without its newline."""
        return self.text[self.end(row) : self.end(row + 1)].decode(errors="replace").rstrip("\r\n")

    def position(self, taken: int) -> dict[str, int]:
        """Return the position after that many lines."""
        return {"offset": self._offset + self.end(taken), "line": self._line + taken}


class RowColumns(NamedTuple):
    """What rows say: their triples, the names of their trajectories, the flags that say that these are over, other columns."""

    triples: Iterable[Triple]
    names: Sequence[Any] | None
    flags: Mapping[str, Array]
    extra: Sequence[Sequence[Any]]


class LineReader(Reader):
    """A reader of rows that are lines of text.

    All lines of a block are read at once where that is safe, otherwise each by itself.
    """

    def __init__(self, feed: Feed, block: int | None) -> None:
        self.name, self._feed, self._block = feed.name, feed, block or BLOCK
        self.encoding = feed.encoding
        self._at_hand = b""
        self._start = 0

    @abstractmethod
    def _plain(self, lines: Lines) -> list[Any] | None:
        """Return what all of some lines hold, if none of them needs a second look."""

    @abstractmethod
    def _row(self, line: bytes) -> list[Any] | Fault:
        """Return what a line holds, or what is wrong with it."""

    @abstractmethod
    def _columns(self, held: list[Any]) -> RowColumns:
        """Return what lines that are rows say, by what they hold."""

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

    def read(self) -> Chunk | None:
        """Return the rows of the next whole lines."""
        prefix = self._feed.prefix
        prefix.extend(memoryview(self._at_hand)[max(prefix.offset - self._start, 0) :])
        self._at_hand = self._feed.lines(self._block)
        self._start = self._feed.offset - len(self._at_hand)
        text = self._at_hand
        if self._start == 0 and text.startswith(UTF_8_MARK):
            text = text.replace(UTF_8_MARK, b" " * len(UTF_8_MARK), 1)
        return self._parse(Lines(text, self._feed)) if text else None

    def _parse(self, lines: Lines) -> Chunk:
        """Return what some lines say."""
        index: Sequence[int] = range(lines.count)
        held, malformed = self._plain(lines), dict[int, Fault]()
        if held is None:
            index, held = [], []
            for number, line in enumerate(lines.text.split(b"\n")):
                if not line.strip():
                    continue
                row = self._row(line)
                if isinstance(row, Fault):
                    malformed[number] = row
                else:
                    index.append(number)
                    held += row
        said = self._columns(held)
        over, final = over_and_final(said.flags, len(index))
        return Chunk(
            lines.count, np.asarray(index, dtype=np.int64), said.triples, said.names, over, final, malformed, said.extra,
            lines.where, lines.raw, lines.position,
        )  # fmt: skip

    def _not_text(self, line: bytes) -> Fault:
        """Return that a line cannot be read, and the word for which it cannot."""
        name = "UTF-8" if self._feed.encoding == UTF_8 else self._feed.encoding
        return Fault(f"the line is not text in {name}", Cause.ENCODING, unreadable_word(line))

    def notes(self) -> list[Statement]:
        """Return in which encoding the text is, where nobody said so and it is not UTF-8."""
        if not self._feed.found:
            return []
        return [say(DiagnosticCode.ENCODING, name=self.name, encoding=self.encoding)]

    def wait(self, seconds: float) -> None:
        """Wait for more lines."""
        self._feed.wait(seconds)

    def close(self) -> None:
        """Close the file."""
        self._feed.close()
