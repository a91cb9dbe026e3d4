"""Which files a log is made of, and which reader they take: told by endings, or by the first bytes of a stream."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

from umdp.errors import FormatError
from umdp.source.logs.csv_reader import CsvReader
from umdp.source.logs.encodings import UTF_8, UTF_8_MARK, known_encoding
from umdp.source.logs.json_reader import JsonReader
from umdp.source.logs.line_reader import LineReader
from umdp.source.logs.line_stream import Feed, FileFeed, GzipFeed
from umdp.source.logs.reader import Reader
from umdp.source.logs.row_decoding import Chunk
from umdp.source.resolve import MINARI
from umdp.statements import Statement

__all__ = ["ENDINGS", "OBJECTS", "SniffingReader", "files_of", "open_reader", "told"]

TABLES, OBJECTS, PARQUET, EVENTS = (".csv", ".tsv"), (".jsonl", ".ndjson"), ".parquet", ".xes"
ENDINGS = (*TABLES, *OBJECTS, *(f"{ending}.gz" for ending in (*TABLES, *OBJECTS)), PARQUET, EVENTS, f"{EVENTS}.gz")
WILD = "*?["
NO_TEXT = "this is no text, which would have an encoding; leave out encoding=... (--encoding)"


def files_of(name: str) -> list[Path] | None:
    """Return the files of a folder or pattern, in order; None for the name of one file."""
    path = Path(name)
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.is_file() and each.name.lower().endswith(ENDINGS))
        if not found:
            raise FormatError(f"there is no log in this folder; a log has one of the endings {_listed()}", path=name)
    elif any(sign in name for sign in WILD) and not path.exists():
        found = sorted(map(Path, glob.glob(name, recursive=True)))
        if not found:
            raise FormatError("no file fits this pattern; check its folder and ending", path=name)
    else:
        return None
    if 0 < sum(each.suffix.lower() == PARQUET for each in found) < len(found):
        raise FormatError("files of Parquet and of text cannot be one log; name those of one kind", path=name)
    return found


def open_reader(
    path: Any,
    columns: Mapping[str, str] | None = None,
    state_of: Callable[[Any], Hashable] | None = None,
    block: int | None = None,
    encoding: str | None = None,
) -> Reader:
    """Return the reader for a log: a file, a folder, a pattern, ``minari:NAME``, a Minari data set or a data frame.

    The encoding of text is found out, file by file, where none is given. A reader is what it is.
    """
    if isinstance(path, Reader):
        return path
    minari = isinstance(path, str) and path.startswith(MINARI)
    if minari or not isinstance(path, str | os.PathLike):
        from umdp.source.logs.frame_reader import FrameReader, is_frame
        from umdp.source.logs.minari_reader import MinariReader

        if encoding is not None:
            raise FormatError(NO_TEXT, path=path if minari else type(path).__name__)
        if not minari and is_frame(path):
            return FrameReader(path, columns, block)
        if not minari and not hasattr(path, "total_episodes"):
            raise FormatError(
                f"{type(path).__name__} is no log: give a file's name, a data frame, a mapping of columns, or a Minari data set"
            )
        return MinariReader(path.removeprefix(MINARI) if minari else path, state_of)
    files = files_of(str(path))
    if files is None:
        return _of_file(Path(path), columns, block, encoding)
    if len(files) == 1:
        return _of_file(files[0], columns, block, encoding)
    from umdp.source.logs.multi_file_reader import SeveralReader

    return SeveralReader(str(path), files, lambda each: _of_file(each, columns, block, encoding))


def _of_file(path: Path, columns: Mapping[str, str] | None, block: int | None, encoding: str | None) -> Reader:
    name = path.name.lower()
    if not name.endswith(ENDINGS):
        raise FormatError(f"a log has one of the endings {_listed()}, or is minari:NAME", path=path)
    if name.endswith(PARQUET):
        from umdp.source.logs.parquet_reader import ParquetReader

        if encoding is not None:
            raise FormatError(NO_TEXT, path=path)
        return ParquetReader(path, columns, block)
    feed = GzipFeed(path) if name.endswith(".gz") else FileFeed(path)
    if name.removesuffix(".gz").endswith(EVENTS):
        from umdp.source.logs.xes_reader import XesReader

        feed.decide(encoding or UTF_8, ())  # XML declares its own, where nobody knows better
        return XesReader(feed, columns, block, recoded=encoding is not None)
    feed.decide(encoding, feed.everything())
    kind = JsonReader if name.removesuffix(".gz").endswith(OBJECTS) else CsvReader
    return kind(feed, columns, block)


def told(feed: Feed, encoding: str | None) -> type[CsvReader | JsonReader]:
    """Return the reader of a stream whose first line has arrived: CSV if that could name three columns, otherwise JSON.

    What has arrived tells the encoding, where none is given.
    """
    for magic, what in (
        (b"PAR1", "Parquet cannot be read as a stream; name the file"),
        (b"\x1f\x8b", "unpack it: zcat"),
    ):
        if feed.first().startswith(magic):
            raise FormatError(f"this is not text; {what}", path=feed.name)
    feed.decide(encoding, [feed.first_block()])
    first = feed.first().removeprefix(UTF_8_MARK)
    named = b"{" not in first and max(map(first.count, (b",", b";", b"\t", b"|"))) >= 2
    return CsvReader if named and not feed.name.lower().endswith(OBJECTS) else JsonReader


def _listed() -> str:
    return ", ".join(ENDINGS)


class SniffingReader(Reader):
    """Rows of a stream, which is CSV or JSON lines: nobody waits for its first line but whoever reads.

    Parameters
    ----------
    feed : Feed
    columns : mapping of str to str, optional
        The names of the columns trajectory, state, action, next and end, where they have others.
    block : int
        How many bytes are read at a time.
    encoding : str, optional
        Of the text; without it, what the lines that come first tell.
    """

    def __init__(
        self, feed: Feed, columns: Mapping[str, str] | None, block: int | None, encoding: str | None = None
    ) -> None:
        self.name, self._feed, self._columns, self._block = feed.name, feed, columns, block
        self.encoding = None if encoding is None else known_encoding(encoding)
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
            return {**self._inner.evidence(position), "encoding": self._feed.encoding}
        known = self._feed.evidence() if self._sought is None else self._sought
        return {name: known[name] for name in ("prefix", "points", "encoding") if name in known}

    def notes(self) -> list[Statement]:
        """Return what was found out of how the data are written."""
        return [] if self._inner is None else self._inner.notes()

    def read(self) -> Chunk | None:
        """Return the rows of the next whole lines."""
        if self._inner is None:
            if not self._feed.has_first():
                return None
            before = None if self._sought is None else self._sought.get("encoding", UTF_8)
            self._inner = told(self._feed, self.encoding or before)(self._feed, self._columns, self._block)
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
