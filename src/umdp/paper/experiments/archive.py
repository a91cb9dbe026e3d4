"""Finished runs on disk: each is committed once and never done again."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Self

from umdp.errors import FormatError, ModelError
from umdp.run.codec import pack, unpack

__all__ = ["Archive"]


class Archive:
    """One SQLite file of finished runs, by the digest of their trial. What is committed survives being killed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with Archive.open(Path(tempfile.mkdtemp()) / "runs.db") as archive:
    ...     archive.keep("a", {"x": 1})
    ...     archive.keys(), archive.get("a")
    ({'a'}, {'x': 1})
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, or start it."""
        try:
            connection = sqlite3.connect(path, timeout=60.0)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection as db:
                db.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
        except sqlite3.DatabaseError as error:
            raise FormatError(
                f"this is not an archive of runs ({error}); remove it or choose another folder", path=path
            ) from None
        return cls(connection)

    def keys(self) -> set[str]:
        """Return the digests of the trials that are done."""
        return {key for (key,) in self._db.execute("SELECT key FROM runs")}

    def keep(self, key: str, found: dict[str, Any]) -> None:
        """Commit what a trial found."""
        with self._db as db:
            db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", (key, pack(found)))

    def get(self, key: str) -> dict[str, Any]:
        """Return what a trial found."""
        row = self._db.execute("SELECT value FROM runs WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise ModelError("this run is not in the archive; sweep the experiment first")
        found: dict[str, Any] = unpack(row[0])
        return found

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
