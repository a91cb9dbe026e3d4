"""Whole lines of text as they become available: from a file, or from standard input."""

from __future__ import annotations

import gzip
import os
import select
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from umdp.errors import FormatError
from umdp.source.logs.encodings import UTF_8, RecodedFile, Recoder, find_encoding, known_encoding
from umdp.source.logs.prefix import Prefix

__all__ = ["BLOCK", "Feed", "FileFeed", "GzipFeed", "PipeFeed", "blocks", "opened"]

BLOCK = 1 << 20
LONGEST_LINE = 1 << 26
LONGEST_HEADER = 4 * BLOCK
PATIENCE = 0.05


class Feed(ABC):
    """A stream of bytes, cut into blocks of whole lines.

    Attributes
    ----------
    name : what it is called in messages
    offset, line : the byte at which the next block starts, and the number of lines before it
    over : no more will come
    encoding : of what is read; blocks are in UTF-8 in any case, and so is what is counted and summed
    found : whether that was found out, and is not UTF-8
    prefix : the checksum of what its reader has taken
    """

    name: str

    def __init__(self) -> None:
        self.offset = self.line = 0
        self.over = False
        self.encoding, self.found = UTF_8, False
        self.prefix = Prefix()
        self._held = b""

    def decide(self, encoding: str | None, beginning: Iterable[bytes]) -> None:
        """Take what is read for text in an encoding, or find out from its beginning; before anything was taken."""
        decided = find_encoding(beginning, self.name) if encoding is None else known_encoding(encoding)
        self.found = encoding is None and decided != UTF_8
        if decided != UTF_8:
            self.encoding = decided
            self._recode()

    @abstractmethod
    def _recode(self) -> None:
        """Have what was held, and what will be read, be recoded."""

    @abstractmethod
    def seek(self, offset: int, line: int, known: Mapping[str, Any] | None = None) -> None:
        """Go on after that many bytes and lines, which have a checksum that is known, if they were read before."""

    def evidence(self) -> dict[str, Any]:
        """Return the checksum of what its reader has taken."""
        return self.prefix.state()

    @abstractmethod
    def more(self, limit: int) -> bytes:
        """Return at most `limit` bytes that follow what was returned before; none if there are none now."""

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Wait for more to come, for about so long."""

    def has_first(self) -> bool:
        """Whether the first line has arrived, or nothing will."""
        if b"\n" not in self._held and not self.over:
            self._held += self.more(BLOCK)
            if len(self._held) > LONGEST_HEADER and b"\n" not in self._held:
                raise FormatError(
                    f"the first line has more than {LONGEST_HEADER} bytes; is this CSV?", path=self.name, line=1
                )
        return self.over or b"\n" in self._held

    def first_block(self) -> bytes:
        """Return what has arrived of the first lines, as it was found; it stays to be read."""
        return self._held

    def first(self) -> bytes:
        """Return the first line, which stays to be read; waits for it where it has not arrived."""
        while not self.has_first():
            self.wait(PATIENCE)
        cut = self._held.find(b"\n") + 1
        return self._held[:cut] if cut else self._held

    def lines(self, block: int = BLOCK) -> bytes:
        """Return the next whole lines, about `block` bytes of them, and move on; none if no line is complete.

        The last line of data that is over needs no newline.
        """
        held = self._held
        cut = held.rfind(b"\n") + 1
        while not cut:
            data = self.more(block)
            if not data:
                break
            cut = data.rfind(b"\n") + 1
            cut += len(held) if cut else 0
            held += data
            if len(held) > LONGEST_LINE and not cut:
                raise FormatError(
                    f"the line has more than {LONGEST_LINE} bytes; is this a file of lines?",
                    path=self.name,
                    line=self.line + 1,
                )
        if self.over and not cut:
            cut = len(held)
        whole, self._held = held[:cut], held[cut:]
        self.offset += cut
        self.line += whole.count(b"\n") + (cut > 0 and not whole.endswith(b"\n"))
        return whole

    @abstractmethod
    def close(self) -> None:
        """Let go of what was opened."""


class FileFeed(Feed):
    """The lines of a file, which may be growing.

    Parameters
    ----------
    path : path
    follow : bool
        Whether to expect more after the end of the file. A last line without newline is then left until it is complete.
    """

    def __init__(self, path: Path, *, follow: bool = False) -> None:
        super().__init__()
        self.name, self._path, self._follow = str(path), path, follow
        self._file: BinaryIO | None = None

    def _recode(self) -> None:
        """Read from the beginning again."""
        self.close()
        self._held = b""

    def everything(self) -> Iterator[bytes]:
        """Yield all bytes of the file as it stands, a block at a time, and go back to its beginning."""
        file = self._open()
        file.seek(0)
        while data := file.read(BLOCK):
            yield data
        file.seek(0)

    def seek(self, offset: int, line: int, known: Mapping[str, Any] | None = None) -> None:
        """Go on after that many bytes and lines; a file that is shorter or begins otherwise is not the one it was."""
        self.offset, self.line, self.over, self._held = offset, line, False, b""
        file = self._open()
        self._check_size(file, offset)
        if known is None or self.prefix.offset != offset or self.prefix.digest != known["prefix"]:
            file.seek(0)
            self.prefix = Prefix.of(blocks(file, offset))
            if known is not None:
                self.prefix.compare(known, self.name)
        file.seek(offset)

    def more(self, limit: int) -> bytes:
        """Return what follows in the file."""
        data = self._open().read(limit)
        if not data:
            self.over = not self._follow
            self._check_in_place()
        return data

    def wait(self, seconds: float) -> None:
        """Wait so long; files do not tell when they grow."""
        time.sleep(seconds)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> BinaryIO:
        if self._file is None:
            file = self._as_it_is()
            recoded = self.encoding != UTF_8
            self._file = cast(BinaryIO, RecodedFile(file, self.encoding, growing=self._follow)) if recoded else file
        return self._file

    def _as_it_is(self) -> BinaryIO:
        return opened(self._path)

    def _check_size(self, file: BinaryIO, offset: int) -> None:
        size = os.fstat(file.fileno()).st_size
        if size < offset and self.encoding == UTF_8:  # elsewhere text has another length, and the checksum tells
            raise FormatError(
                f"the file has {size} bytes, but {offset} had been read from it; give the file the run began with",
                path=self.name,
            )

    def _check_in_place(self) -> None:
        """Raise `FormatError` if another file has taken the place of this one, or it was cut."""
        if not self._follow:
            return
        file = self._open()
        here = os.fstat(file.fileno())
        there = os.stat(self._path) if self._path.exists() else None
        if there is None or (here.st_ino, here.st_dev) != (there.st_ino, there.st_dev) or here.st_size < file.tell():
            raise FormatError(
                f"the file was cut or replaced after {self.offset} bytes had been read, so records may be missing; let "
                "its writer append only, and start again",
                path=self.name,
            )


class GzipFeed(FileFeed):
    """The lines of a file compressed by gzip; what is counted and summed is the text, not the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)

    def _as_it_is(self) -> BinaryIO:
        return cast(BinaryIO, gzip.GzipFile(fileobj=opened(self._path)))

    def everything(self) -> Iterator[bytes]:
        """Yield all of the text."""
        with self._damage():
            yield from super().everything()

    def _check_size(self, file: BinaryIO, offset: int) -> None:
        """Leave it to the checksum: how long the text is is not known before its end."""

    def seek(self, offset: int, line: int, known: Mapping[str, Any] | None = None) -> None:
        """Go on after that many bytes and lines of text."""
        with self._damage():
            super().seek(offset, line, known)

    def more(self, limit: int) -> bytes:
        """Return what follows in the text."""
        with self._damage():
            return super().more(limit)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FormatError(f"the file is not what gzip wrote, or was cut: {error}", path=self.name) from None


class PipeFeed(Feed):
    """The lines of standard input or another pipe, which can be read only once.

    To go on after a kill, the same data must be sent again from the beginning: as many lines as were read before are then
    passed over.

    Parameters
    ----------
    file : binary file
    follow : bool
        Whether `lines` returns nothing where none has arrived, instead of waiting.
    """

    def __init__(self, file: BinaryIO, *, follow: bool = False, name: str = "standard input") -> None:
        super().__init__()
        self.name, self._file, self._follow = name, file, follow
        self._skip, self._lost = 0, False
        self._known: Mapping[str, Any] | None = None
        self._descriptor = _descriptor(file)
        self._recoder: Recoder | None = None

    def _recode(self) -> None:
        """Recode what has arrived."""
        self._recoder = Recoder(self.encoding)
        self._held = self._recoder.take(self._held, final=self.over)

    def seek(self, offset: int, line: int, known: Mapping[str, Any] | None = None) -> None:
        """Pass over so many lines; what has been read is lost to this process, and so is whatever comes after it."""
        if line != self.line and self.line:
            self._lost = True
        elif line != self.line:
            self._skip, self._known = line, known

    def more(self, limit: int) -> bytes:
        """Return what has arrived."""
        if self._follow and not self._arrived(0.0):
            return b""
        data: bytes = self._file.read(limit) if self._descriptor is None else os.read(self._descriptor, limit)
        self.over = not data
        return data if self._recoder is None else self._recoder.take(data, final=self.over)

    def lines(self, block: int = BLOCK) -> bytes:
        """Return the next whole lines that have not been read in an earlier life."""
        if self._lost:
            raise FormatError(
                "what was read cannot be read again; start the run anew, or resume it and send the same data again",
                path=self.name,
            )
        whole = super().lines(block)
        while self._skip and whole:
            count = whole.count(b"\n") + (not whole.endswith(b"\n"))
            passed = 0
            for _ in range(min(count, self._skip)):
                passed = whole.find(b"\n", passed) + 1 or len(whole)
            self.prefix.extend(whole[:passed])
            self._skip -= min(count, self._skip)
            whole = whole[passed:]
            if not self._skip and self._known is not None:
                self.prefix.compare(self._known, self.name)
            if not whole:
                whole = super().lines(block)
        if self._skip and self.over:
            raise FormatError(
                f"it ended {self._skip} lines before the point at which the run was stopped; send the same data again",
                path=self.name,
            )
        return whole

    def evidence(self) -> dict[str, Any]:
        """Return the checksum of what was taken; until that has been sent again, what is known of it."""
        if self._skip and self._known is not None:
            return {name: self._known[name] for name in ("prefix", "points")}
        return super().evidence()

    def wait(self, seconds: float) -> None:
        """Wait until something arrives, at most so long."""
        if not self.over:
            self._arrived(seconds)

    def close(self) -> None:
        """Leave the pipe to whoever opened it."""

    def _arrived(self, seconds: float) -> bool:
        """Whether reading would not wait; True where that cannot be told."""
        if self._descriptor is None or os.name != "posix":
            return True
        return bool(select.select([self._descriptor], [], [], seconds)[0])


def blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the next `size` bytes of a file, a block at a time."""
    while size > 0 and (data := file.read(min(size, BLOCK))):
        size -= len(data)
        yield data


def opened(path: Path) -> BinaryIO:
    """Return a file open for reading; a missing or unreadable one raises `FormatError`."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise FormatError("there is no such file; check its name and folder", path=path) from None
    except IsADirectoryError:
        raise FormatError("this is a folder; name a file in it", path=path) from None
    except OSError as error:
        raise FormatError(f"the file cannot be read: {error.strerror}", path=path) from None


def _descriptor(file: Any) -> int | None:
    try:
        return int(file.fileno())
    except (OSError, ValueError, AttributeError):
        return None
