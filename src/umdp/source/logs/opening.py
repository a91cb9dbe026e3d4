"""Which files a log is made of, and which reader they take: told by endings, or by the first bytes of a stream."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

from umdp.errors import FormatError
from umdp.source.logs.line_reader import LineReader
from umdp.source.logs.line_stream import Feed, FileFeed, GzipFeed
from umdp.source.logs.reader import Reader
from umdp.source.resolve import MINARI

__all__ = ["ENDINGS", "OBJECTS", "files_of", "line_reader", "open_reader"]

TABLES, OBJECTS, PARQUET = (".csv", ".tsv"), (".jsonl", ".ndjson"), ".parquet"
ENDINGS = (*TABLES, *OBJECTS, *(f"{ending}.gz" for ending in (*TABLES, *OBJECTS)), PARQUET)
WILD = "*?["


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
) -> Reader:
    """Return the reader for a log: a file, a folder, a pattern, ``minari:NAME`` or a Minari data set."""
    minari = isinstance(path, str) and path.startswith(MINARI)
    if minari or not isinstance(path, str | os.PathLike):
        from umdp.source.logs.minari_reader import MinariReader

        return MinariReader(path.removeprefix(MINARI) if minari else path, state_of)
    files = files_of(str(path))
    if files is None:
        return _of_file(Path(path), columns, block)
    if len(files) == 1:
        return _of_file(files[0], columns, block)
    from umdp.source.logs.multi_file_reader import SeveralReader

    return SeveralReader(str(path), files, lambda each: _of_file(each, columns, block))


def _of_file(path: Path, columns: Mapping[str, str] | None, block: int | None) -> Reader:
    name = path.name.lower()
    if not name.endswith(ENDINGS):
        raise FormatError(f"a log has one of the endings {_listed()}, or is minari:NAME", path=path)
    size = {} if block is None else {"block": block}
    if name.endswith(PARQUET):
        from umdp.source.logs.parquet_reader import ParquetReader

        return ParquetReader(path, columns, **size)
    feed = GzipFeed(path) if name.endswith(".gz") else FileFeed(path)
    kind = _objects if name.removesuffix(".gz").endswith(OBJECTS) else _table
    return kind(feed, columns, size)


def line_reader(feed: Feed, columns: Mapping[str, str] | None = None, block: int | None = None) -> LineReader:
    """Return the reader of a stream: CSV if its first line could name three columns, otherwise JSON.

    The first line is waited for.
    """
    feed.seek(0, 0)
    first = feed.first().removeprefix(b"\xef\xbb\xbf")
    for magic, what in (
        (b"PAR1", "Parquet cannot be read as a stream; name the file"),
        (b"\x1f\x8b", "unpack it: zcat"),
    ):
        if first.startswith(magic):
            raise FormatError(f"this is not text; {what}", path=feed.name)
    size = {} if block is None else {"block": block}
    named = b"{" not in first and max(map(first.count, (b",", b";", b"\t", b"|"))) >= 2
    return (_table if named else _objects)(feed, columns, size)


def _objects(feed: Feed, columns: Mapping[str, str] | None, size: Mapping[str, int]) -> LineReader:
    from umdp.source.logs.json_reader import JsonReader

    return JsonReader(feed, columns, **size)


def _table(feed: Feed, columns: Mapping[str, str] | None, size: Mapping[str, int]) -> LineReader:
    from umdp.source.logs.csv_reader import CsvReader

    return CsvReader(feed, columns, **size)


def _listed() -> str:
    return ", ".join(ENDINGS)
