"""One writer at a time: a lock of the operating system, which ends with the process that holds it, however that ends."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from umdp.errors import FormatError

__all__ = ["Lock", "Writer"]

TAKEN = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)  # what it is called that somebody has a lock
WAIT = 0.5  # seconds; whoever only looks whether there is a writer holds the lock for a moment
if sys.platform == "win32":  # pragma: no cover - the same thing by another name
    import msvcrt

    _FAR = 1 << 30  # a byte beyond the text, which others may read

    def _take(descriptor: int, *, shared: bool) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _take(descriptor: int, *, shared: bool) -> None:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


@dataclass(frozen=True)
class Writer:
    """Who is writing a run: the process, its machine, and since when."""

    process: int | None = None
    host: str = ""
    since: str = ""

    def __str__(self) -> str:
        who = "another process" if self.process is None else f"process {self.process}"
        return who + (f" on {self.host}" if self.host else "") + (f" since {self.since}" if self.since else "")


class Lock:
    """The right to write a run, held until it is released or the process ends.

    It is on a file beside the run (``RUN-lock``), in which the holder's name is; what counts is the lock, not the file.

    Examples
    --------
    >>> import tempfile
    >>> run = Path(tempfile.mkdtemp()) / "a.run"
    >>> lock = Lock.acquire(run)
    >>> Lock.holder(run).process == os.getpid()
    True
    >>> lock.release(), Lock.holder(run)
    (None, None)
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor

    @classmethod
    def acquire(cls, run: Path) -> Self:
        """Return the lock of a run, or raise `FormatError` that says who has it."""
        path = _beside(run)
        limit = time.monotonic() + WAIT
        while True:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                raise FormatError(f"this run cannot be written here ({error.strerror})", path=run) from None
            try:
                taken = _try(descriptor, shared=False)
            except OSError as error:
                os.close(descriptor)
                with contextlib.suppress(OSError):
                    path.unlink()
                raise FormatError(
                    f"this run cannot be written here: the file system has no locks ({error.strerror}), so that two processes "
                    "might write it at a time; choose a folder of another file system",
                    path=run,
                ) from None
            if taken:
                if _same(descriptor, path):  # else the one before removed it while we were waiting
                    break
                os.close(descriptor)
            else:
                os.close(descriptor)
                if time.monotonic() > limit:
                    raise FormatError(
                        f"this run is being written by {cls.holder(run) or Writer()}; wait until it has ended, or look at it "
                        "with `umdp show`",
                        path=run,
                    )
                time.sleep(0.02)
        name = {"process": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
        with contextlib.suppress(OSError):  # a full disk hides the name, not the lock
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps(name).encode())
        return cls(path, descriptor)

    @staticmethod
    def holder(run: Path) -> Writer | None:
        """Return who is writing a run, None if nobody is."""
        path = _beside(run)
        for pause in (0.01, 0.05, 0.1, 0.0):  # the name may be about to be written
            try:
                descriptor = os.open(path, os.O_RDONLY)
            except OSError:
                return None
            try:
                if not _is_taken(descriptor):
                    return None
                given = json.loads(os.read(descriptor, 4096))
                return Writer(int(given["process"]), str(given["host"]), str(given["since"]))
            except (OSError, ValueError, TypeError, KeyError):
                time.sleep(pause)
            finally:
                os.close(descriptor)
        return Writer()

    def release(self) -> None:
        """Let others write."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                self.path.unlink()
            os.close(self._descriptor)
            self._descriptor = -1


def _beside(run: Path) -> Path:
    real = Path(os.path.realpath(run))
    return real.with_name(f"{real.name}-lock")


def _try(descriptor: int, *, shared: bool) -> bool:
    """Take a lock, or return that somebody else has it; an `OSError` says that there are none here."""
    try:
        _take(descriptor, shared=shared)
    except OSError as error:
        if error.errno not in TAKEN:
            raise
        return False
    return True


def _is_taken(descriptor: int) -> bool:
    """Whether somebody has the lock; where there are no locks nobody has."""
    try:
        return not _try(descriptor, shared=True)
    except OSError:
        return False


def _same(descriptor: int, path: Path) -> bool:
    """Whether a descriptor is of the file that has this name now."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False
