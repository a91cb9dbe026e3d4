"""Reading rows from a stream whose format is told by its first line, once that has arrived."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from umdp.source.logs.line_reader import LineReader
from umdp.source.logs.line_stream import Feed
from umdp.source.logs.opening import line_reader
from umdp.source.logs.reader import Reader
from umdp.source.logs.row_decoding import Chunk

__all__ = ["SniffingReader"]


class SniffingReader(Reader):
    """Rows of a stream, which is CSV or JSON lines: nobody waits for its first line but whoever reads.

    Parameters
    ----------
    feed : Feed
    columns : mapping of str to str, optional
        The names of the columns trajectory, state, action, next and end, where they have others.
    block : int
        How many bytes are read at a time.
    """

    def __init__(self, feed: Feed, columns: Mapping[str, str] | None, block: int) -> None:
        self.name, self._feed, self._columns, self._block = feed.name, feed, columns, block
        self._inner: LineReader | None = None
        self._sought: Mapping[str, Any] | None = None

    @property
    def over(self) -> bool:
        """Whether no more will come."""
        return self._feed.over

    def begin(self) -> dict[str, int]:
        """Go to the first row."""
        self._sought = None
        return {"offset": 0, "line": 0} if self._inner is None else self._inner.begin()

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on after a number of bytes and lines."""
        if self._inner is None:
            self._sought = position if int(position["line"]) else None
        elif int(position["line"]) == 0:
            self._inner.begin()
        else:
            self._inner.seek(position)

    def evidence(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checksum of what was read up to a position."""
        if self._inner is not None:
            return self._inner.evidence(position)
        return self._feed.evidence() if self._sought is None else {k: self._sought[k] for k in ("prefix", "points")}

    def read(self) -> Chunk | None:
        """Return the rows of the next whole lines."""
        if self._inner is None:
            if not self._feed.has_first():
                return None
            self._inner = line_reader(self._feed, self._columns, self._block)
            self._inner.begin()
            if self._sought is not None:
                self._inner.seek(self._sought)
        return self._inner.read()

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a line says as far as it can be read."""
        return {} if self._inner is None else self._inner.cells(raw)

    def wait(self, seconds: float) -> None:
        """Wait for more lines."""
        self._feed.wait(seconds)

    def close(self) -> None:
        """Close the file."""
        self._feed.close()
