"""One SQLite file per run: what it is, every snapshot, and the state to go on from, committed together and checksummed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from umdp.errors import FormatError, ModelError, UmdpError
from umdp.learning.snapshot import Snapshot
from umdp.model import Graph, IntervalMDP, Policy
from umdp.run import format1
from umdp.run.access import APPLICATION, SIDES, Opened, connect, format_of, look
from umdp.run.codec import pack, unpack
from umdp.run.graph_data import graph_from_data, graph_to_data
from umdp.run.lock import Lock, Writer
from umdp.statements import codes_of, stated

__all__ = ["VERSION", "Learned", "Store", "WriteError"]

VERSION = 2
Rows = Sequence[tuple[int, bytes]]
TABLES = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL, digest BLOB NOT NULL)",
    "snapshots": "CREATE TABLE snapshots (key INTEGER PRIMARY KEY, value BLOB NOT NULL, digest BLOB NOT NULL)",
    "latest": "CREATE TABLE latest (key TEXT PRIMARY KEY, value BLOB NOT NULL, digest BLOB NOT NULL)",
}
LARGEST = 1 << 24  # decisions of a policy that depends on the step, above which it is not kept
NO_MODEL = "this run has format 1, which does not hold its model; `umdp resume` brings it up to date"
RUN_IS_THERE = "this file is there already; choose another name, say --force, or `umdp resume` it"
NOTHING = "nothing has been learned in this run yet; `umdp resume` it"
DAMAGED = "this run is damaged: {what}; what is in it cannot be relied on. Use a copy of it, or start a new run"


class WriteError(UmdpError):
    """A run could not be written; what was committed before is as it was."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What the newest snapshot has learned.

    Attributes
    ----------
    model : the interval MDP
    policy : the policy that the promise is about, or the robust one; None where it was too large to be kept
    report : what the source said about the data, a line each
    """

    model: IntervalMDP
    policy: Policy | None
    report: tuple[str, ...] = ()


class Store:
    """A run on disk. What is committed survives being killed; readers neither disturb the writer nor change a byte.

    Everything that is read is checked against its checksum and decoded as data: opening a run executes nothing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.run"
    >>> with Store.create(path, {"model": "grid"}) as store:
    ...     store.config, str(store.writer()).split()[0]
    ({'model': 'grid'}, 'process')
    >>> with Store.open(path) as store:
    ...     store.snapshots(), store.writer()
    ([], None)
    """

    def __init__(self, path: Path, opened: Opened, version: int, lock: Lock | None = None) -> None:
        self.path, self.version = path, version
        self._opened, self._lock = opened, lock
        self._db = opened.connection

    # -- opening ---------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, path: str | Path, config: Mapping[str, Any], graph: Graph | None = None, force: bool = False, **more: Any
    ) -> Self:
        """Start a new file, under its name only once it is whole; one that is there already is an error, unless told.

        `config` is plain data; `more` is what else to keep of the run: property, fingerprint, truth. With `force` it takes the
        place of a file that is there, but not of a run that is being written.
        """
        path = Path(path)
        there = FormatError(RUN_IS_THERE, path=path)
        if not force and (path.exists() or path.is_symlink()):
            raise there
        if not path.parent.is_dir():
            raise FormatError(f"the folder {path.parent} does not exist; create it first", path=path)
        lock = Lock.acquire(path)
        new = path.with_name(f"{path.name}-new")
        try:
            _remove(new, *(Path(f"{new}{side}") for side in SIDES))
            _write(new, {"config": dict(config), "graph": None if graph is None else graph_to_data(graph), **more})
            _remove(*(Path(f"{path}{side}") for side in SIDES))  # left of a run of this name
            try:
                (os.replace if force else os.link)(new, path)
            except FileExistsError:
                raise there from None
            except OSError:  # a file system without links; nobody else of ours is here
                os.rename(new, path)
            _remove(new)
            return cls(path, Opened(connect(path)), VERSION, lock)
        except (sqlite3.Error, OSError) as error:
            lock.release()
            raise WriteError(f"{path}: the run could not be started ({error})") from None
        except BaseException:
            lock.release()
            raise
        finally:
            with contextlib.suppress(OSError):
                _remove(new, *(Path(f"{new}{side}") for side in SIDES))

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a run for reading; another process may be writing it."""
        path = Path(path)
        version = _version(path)
        with _damage(path):
            store = cls(path, look(path), version)
        return store._checked()

    @classmethod
    def resume(cls, path: str | Path) -> Self:
        """Open a run for going on with it; nobody else can meanwhile."""
        path = Path(path)
        version = _version(path)
        lock = Lock.acquire(path)
        try:
            with _damage(path):
                store = cls(path, Opened(connect(path)), version, lock)
            return store._checked()
        except BaseException:
            lock.release()
            raise

    def _checked(self) -> Self:
        """Return this store if its tables are those of a run and hold together."""
        try:
            with _damage(self.path):
                rows = self._db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
                if (self.version == VERSION and dict(rows) != TABLES) or len(dict(rows)) != len(rows):
                    raise FormatError("this run has tables that are not those of a run", path=self.path)
                (found,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
                if found != "ok":
                    raise FormatError(DAMAGED.format(what=" ".join(str(found).split())), path=self.path)
        except BaseException:
            self.close()
            raise
        return self

    def writer(self) -> Writer | None:
        """Return who is writing this run now, None if nobody is."""
        return Lock.holder(self.path)

    # -- what the run is -------------------------------------------------------------------------------------

    @property
    def config(self) -> dict[str, Any]:
        """What was asked for."""
        config: dict[str, Any] = format1.config(self._db) if self.version == 1 else self._get("meta", "config")
        return config

    def fingerprint(self) -> dict[str, str] | None:
        """Return a digest of every part the answer depends on; None in a run of format 1."""
        found: dict[str, str] | None = None if self.version == 1 else self._get("meta", "fingerprint")
        return found

    @property
    def question(self) -> str | None:
        """The property; None in a run of format 1."""
        found: str | None = None if self.version == 1 else self._find("meta", "property")
        return found

    def truth(self) -> Any:
        """Return the true probabilities, shape (T,), where they were known when the run began; otherwise None."""
        return None if self.version == 1 else self._find("meta", "truth")

    def graph(self) -> Graph:
        """Return what was known of the process."""
        data = None if self.version == 1 else self._find("meta", "graph")
        if data is None:
            raise FormatError(NO_MODEL, path=self.path)
        return graph_from_data(data)

    # -- what it has learned ---------------------------------------------------------------------------------

    def snapshots(self) -> list[dict[str, Any]]:
        """Return all snapshots as rows, oldest first."""
        if self.version == 1:
            return format1.rows(self._db)
        with _damage(self.path):
            keys = [key for (key,) in self._db.execute("SELECT key FROM snapshots ORDER BY key")]
        if keys != list(range(len(keys))):
            raise FormatError(DAMAGED.format(what="a row of the table snapshots is missing"), path=self.path)
        return [self._get("snapshots", key) for key in keys]

    def last(self) -> dict[str, Any] | None:
        """Return the newest snapshot as a row."""
        if self.version == 1:
            return next(iter(format1.rows(self._db)[::-1]), None)
        with _damage(self.path):
            (key,) = self._db.execute("SELECT max(key) FROM snapshots").fetchone()
            (states,) = self._db.execute("SELECT count(*) FROM latest WHERE key = 'state'").fetchone()
        row: dict[str, Any] | None = None if key is None else self._get("snapshots", key)
        if (row is None) != (states == 0):
            raise FormatError(DAMAGED.format(what="snapshots and state do not belong together"), path=self.path)
        return row

    def state(self) -> dict[str, Any] | None:
        """Return the state to go on from, None before the first snapshot."""
        state: dict[str, Any] | None = format1.state(self._db) if self.version == 1 else self._find("latest", "state")
        if state is None and self.last() is not None:
            raise FormatError(DAMAGED.format(what="its state is missing"), path=self.path)
        return state

    def learned(self) -> Learned:
        """Return the learned model and the policy of the newest snapshot."""
        graph = self.graph()
        found = self._find("latest", "learned")
        if found is None:
            raise FormatError(NOTHING, path=self.path)
        try:
            model = graph.with_bounds(found["lower"], found["upper"])
            policy = None if found["choice"] is None else Policy(graph, found["choice"])
            codes = found.get("report_codes") or [None] * len(found["report"])  # older runs have none
            report = tuple(stated(str(text), code) for text, code in zip(found["report"], codes, strict=True))
            return Learned(model, policy, report)
        except (ModelError, KeyError, TypeError, ValueError) as error:
            raise FormatError(
                f"what was learned in this run does not fit its graph ({error})", path=self.path
            ) from None

    # -- writing ---------------------------------------------------------------------------------------------

    def keep(self, snapshot: Snapshot, state: Mapping[str, Any], report: tuple[str, ...] = ()) -> None:
        """Commit a snapshot, what it has learned and the state to go on from: all of them or none."""
        self.write([(snapshot.iteration, pack(snapshot.row()))], snapshot, state, report)

    def write(self, rows: Rows, snapshot: Snapshot, state: Mapping[str, Any], report: tuple[str, ...] = ()) -> None:
        """Commit packed rows by their numbers, what the last snapshot has learned and the state to go on from: all or none."""
        choice = snapshot.policy.choice
        learned = {
            "lower": snapshot.model.lower, "upper": snapshot.model.upper,
            "choice": None if choice is None or choice.size > max(LARGEST, snapshot.model.states) else choice,
            "report": list(map(str, report)), "report_codes": [code.value for code in codes_of(report)],
        }  # fmt: skip
        with self._transaction() as db:
            for number, row in rows:
                _put(db, "snapshots", number, row)
            _put(db, "latest", "learned", pack(learned))
            _put(db, "latest", "state", pack(dict(state)))

    def amend(self, config: Mapping[str, Any]) -> None:
        """Replace the configuration: a run that goes on has other limits."""
        with self._transaction() as db:
            _put(db, "meta", "config", pack(dict(config)))

    def upgrade(self, config: Mapping[str, Any], graph: Graph, **more: Any) -> None:
        """Turn a run of format 1 into one of this format, with what that did not hold."""
        if self.version == VERSION:
            return
        rows, state = format1.rows(self._db), format1.state(self._db)
        meta = {"config": dict(config), "graph": graph_to_data(graph), **more}
        with self._transaction() as db:
            for table in ("meta", "snapshots", "state"):
                db.execute(f"DROP TABLE {table}")
            _fill(db, meta)
            for row in rows:
                _put(db, "snapshots", row["iterations"], pack(row))
            if state is not None:
                _put(db, "latest", "state", pack(state))
        self.version = VERSION

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if self._lock is None:
            raise ModelError("this run was opened for reading")
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except BaseException as error:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise WriteError(
                    f"{self.path}: the run could not be written ({error}); what was written before is safe: make room, and "
                    f"`umdp resume {shlex.quote(str(self.path))}`"
                ) from None
            raise

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(sqlite3.Error):
            self._opened.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- reading a value -------------------------------------------------------------------------------------

    def _get(self, table: str, key: str | int) -> Any:
        found = self._find(table, key)
        if found is None:
            raise FormatError(DAMAGED.format(what=f"there is no {key!r} in the table {table}"), path=self.path)
        return found

    def _find(self, table: str, key: str | int) -> Any:
        """Return a value, None if it is not there; a checksum that does not fit is named."""
        with _damage(self.path):
            row = self._db.execute(f"SELECT value, digest FROM {table} WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        value, digest = row
        if not isinstance(value, bytes) or digest != _digest(table, key, value):
            what = f"{key!r} in the table {table} does not have its checksum"
            raise FormatError(DAMAGED.format(what=what), path=self.path)
        try:
            return unpack(value)
        except FormatError as error:
            raise FormatError(f"{error}, for {key!r} in the table {table}", path=self.path) from None


def _version(path: Path) -> int:
    """Return the format of a run that this version can read."""
    if not path.is_file():
        raise FormatError("there is no such run; `umdp learn ... --out RUN` makes one", path=path)
    found = format_of(path)
    if found is None:
        raise FormatError("this is not a run of umdp; `umdp learn ... --out RUN` makes one", path=path)
    if found > VERSION:
        raise FormatError(
            f"this run has format {found}, made by a newer version of umdp; this one reads up to format {VERSION}: install "
            "the newer version",
            path=path,
        )
    return found


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn what SQLite finds wrong with a file into a message."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise FormatError(DAMAGED.format(what=error), path=path) from None


def _write(path: Path, meta: Mapping[str, Any]) -> None:
    """Write a new file with nothing learned in it, all the way to the disk."""
    db = connect(path, new=True)
    try:
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN")
        _fill(db, meta)
        db.execute("COMMIT")
    finally:
        db.close()


def _fill(db: sqlite3.Connection, meta: Mapping[str, Any]) -> None:
    for statement in TABLES.values():
        db.execute(statement)
    for key, value in meta.items():
        if value is not None:
            _put(db, "meta", key, pack(value))
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def _put(db: sqlite3.Connection, table: str, key: str | int, value: bytes) -> None:
    db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", (key, value, _digest(table, key, value)))


def _digest(table: str, key: str | int, value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=16, key=f"{table} {key}".encode()[:64]).digest()


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
