"""One SQLite file per run: configuration, every snapshot, and the state to go on from, committed together."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import msgspec

from umdp.errors import FormatError
from umdp.run.codec import pack, unpack
from umdp.snapshot import Snapshot

__all__ = ["COLUMNS", "Store"]

VERSION = 1
COLUMNS = (
    "iteration", "trajectories", "steps", "lower", "upper", "optimistic", "status", "guarantee", "performance",
    "estimation_error", "model_error", "reason",
)  # fmt: skip


class Store:
    """A run on disk. What is committed survives being killed; readers do not disturb the writer.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.run"
    >>> with Store.create(path, {"model": "grid"}) as store:
    ...     store.config
    {'model': 'grid'}
    >>> Store.open(path).snapshots()
    []
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._db = path, connection

    @classmethod
    def create(cls, path: str | Path, config: dict[str, Any]) -> Self:
        """Start a new file; one that is there already is an error."""
        path = Path(path)
        if path.exists():
            raise FormatError("this file is there already; choose another name, or `umdp resume` it", path=path)
        if not path.parent.is_dir():
            raise FormatError(f"the folder {path.parent} does not exist; create it first", path=path)
        store = cls(path, _connect(path))
        with store._db as db:
            db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
            db.execute(
                "CREATE TABLE snapshots (iteration INTEGER PRIMARY KEY, trajectories INTEGER, steps INTEGER, lower REAL, "
                "upper REAL, optimistic REAL, status TEXT, guarantee TEXT, performance REAL, estimation_error REAL, "
                "model_error REAL, reason TEXT, seconds REAL)"
            )
            db.execute("CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), value BLOB NOT NULL)")
            for key, value in (("format", VERSION), ("config", config)):
                db.execute("INSERT INTO meta VALUES (?, ?)", (key, msgspec.json.encode(value)))
        return store

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a run that is there, for reading and going on; another process may be writing it."""
        path = Path(path)
        if not path.is_file():
            raise FormatError("there is no such run; `umdp learn ... --out RUN` makes one", path=path)
        store = cls(path, _connect(path))
        try:
            found = store._meta("format")
        except sqlite3.DatabaseError as error:
            raise FormatError(f"this is not a run of umdp ({error})", path=path) from None
        if found != VERSION:
            raise FormatError(f"this run has format {found}; this version reads format {VERSION}", path=path)
        return store

    def _meta(self, key: str) -> Any:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else msgspec.json.decode(row[0])

    @property
    def config(self) -> dict[str, Any]:
        """What was asked for."""
        config: dict[str, Any] = self._meta("config")
        return config

    def keep(self, snapshot: Snapshot, state: dict[str, Any]) -> None:
        """Commit a snapshot and the state after it, both or neither."""
        with self._db as db:
            db.execute(
                f"INSERT OR REPLACE INTO snapshots VALUES ({', '.join('?' * (len(COLUMNS) + 1))})",
                (*_row(snapshot), time.time()),
            )
            db.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (pack(state),))

    def state(self) -> dict[str, Any] | None:
        """Return the state to go on from, None before the first snapshot."""
        row = self._db.execute("SELECT value FROM state").fetchone()
        return None if row is None else unpack(row[0])

    def snapshots(self) -> list[dict[str, Any]]:
        """Return all snapshots as rows, oldest first."""
        return list(self._rows("ORDER BY iteration"))

    def last(self) -> dict[str, Any] | None:
        """Return the newest snapshot as a row."""
        return next(self._rows("ORDER BY iteration DESC LIMIT 1"), None)

    def _rows(self, which: str) -> Iterator[dict[str, Any]]:
        for row in self._db.execute(f"SELECT {', '.join(COLUMNS)} FROM snapshots {which}"):
            found = dict(zip(COLUMNS, row, strict=True))
            yield found | {"guarantee": msgspec.json.decode(found["guarantee"])}

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _connect(path: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, timeout=30.0)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.DatabaseError as error:
        raise FormatError(f"this is not a run of umdp ({error})", path=path) from None
    return connection


def _row(snapshot: Snapshot) -> tuple[Any, ...]:
    """Return a snapshot's row in the order of `COLUMNS`, the guarantee as JSON."""
    row = snapshot.row()
    row |= {"iteration": row["iterations"], "guarantee": msgspec.json.encode(row["guarantee"]).decode()}
    return tuple(row[name] for name in COLUMNS)
