"""Opening SQLite files: whatever is only looked at is not changed by a byte, and nothing in it is run."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from umdp.errors import FormatError
from umdp.run.lock import Lock

__all__ = ["APPLICATION", "SIDES", "Opened", "connect", "format_of", "look"]

APPLICATION = 0x756D6470  # "umdp", in the header of the file
SIDES = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a file
NONE = "this is not a run of umdp"
FIRST = {"meta", "snapshots", "state"}  # the tables of format 1, which did not sign the header


class Opened:
    """A connection, and the folder that goes with it where a copy had to be made."""

    def __init__(self, connection: sqlite3.Connection, folder: tempfile.TemporaryDirectory[str] | None = None) -> None:
        self.connection, self._folder = connection, folder

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()
        if self._folder is not None:
            self._folder.cleanup()


def format_of(path: Path) -> int | None:
    """Return the format of the run in a file, None if it is no run. The file is read and not touched otherwise."""
    if not path.is_file():
        return None
    try:
        with _unchanged(path) as db:
            (application,) = db.execute("PRAGMA application_id").fetchone()
            if application == APPLICATION:
                return int(db.execute("PRAGMA user_version").fetchone()[0])
            if application == 0 and _tables(db) == FIRST:
                return 1
            if application != 0 or _tables(db) or not _side(path, "-wal"):
                return None
    except sqlite3.DatabaseError:
        return _signed(path)
    # A run of format 1 that was killed early is in the other file altogether.
    copied = _copied(path)
    try:
        return 1 if _tables(copied.connection) == FIRST else None
    except sqlite3.DatabaseError:
        return None
    finally:
        copied.close()


def _signed(path: Path) -> int | None:
    """Return the format by the header alone: of a file that is damaged, or half of which is still in the one beside it."""
    with path.open("rb") as file:
        header = file.read(100)
    if not header.startswith(b"SQLite format 3\x00") or int.from_bytes(header[68:72], "big") != APPLICATION:
        return None
    return int.from_bytes(header[60:64], "big")


def look(path: Path) -> Opened:
    """Open a run for reading, also while it is written, also in a folder where nothing may be written."""
    if not _side(path, "-wal") and Lock.holder(path) is None:
        return Opened(_open(path, "mode=ro&immutable=1"))
    try:
        connection = _open(path, "mode=ro")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        return _copied(path)
    return Opened(connection)


def connect(path: Path, *, new: bool = False) -> sqlite3.Connection:
    """Open a run for writing; readers are not disturbed."""
    connection = _open(path, "mode=rwc" if new else "mode=rw")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _open(path: Path, how: str) -> sqlite3.Connection:
    name = quote(os.fsencode(os.path.realpath(path).replace(os.sep, "/")))  # bytes: not every name is text
    connection = sqlite3.connect(f"file:{name}?{how}", uri=True, timeout=30.0, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


@contextlib.contextmanager
def _unchanged(path: Path) -> Iterator[sqlite3.Connection]:
    """Open any file at all, as one that nobody changes: no lock, no other file."""
    connection = _open(path, "mode=ro&immutable=1")
    try:
        yield connection
    finally:
        connection.close()


def _tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _side(path: Path, side: str) -> bool:
    beside = Path(os.path.realpath(path) + side)
    return beside.is_file() and beside.stat().st_size > 0


def _copied(path: Path) -> Opened:
    """Open a copy: what was committed lies in two files, and joining them in place would take a right to write."""
    folder = tempfile.TemporaryDirectory(prefix="umdp-")
    try:
        copy = Path(folder.name) / "a.run"
        real = os.path.realpath(path)
        shutil.copyfile(real, copy)
        if _side(path, "-wal"):
            shutil.copyfile(f"{real}-wal", f"{copy}-wal")
        return Opened(_open(copy, "mode=rw"), folder)
    except (OSError, sqlite3.DatabaseError) as error:
        folder.cleanup()
        raise FormatError(f"this run cannot be read ({error})", path=path) from None
