"""Writing a run while it goes on: snapshots in batches, by the clock, each batch all or nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from umdp.learning.snapshot import Snapshot
from umdp.run.codec import pack
from umdp.run.store import Store

__all__ = ["RunWriter"]

SECONDS = 0.2  # between two batches: what a run that is killed may lose, and draw again when it is resumed


class RunWriter:
    """Writes snapshots of a run to a store, together with the state to go on from after the last of them.

    The first snapshot and the last are written at once, others when the last batch is some time ago; whoever is done flushes.
    Of what is replaced by the next snapshot, nothing is serialised before it is written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from umdp import LUI, benchmark, anytime
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.run"
    >>> with Store.create(path, {"model": "bandit"}) as store:
    ...     writer = RunWriter(store)
    ...     for snapshot in anytime(benchmark.bandit(), 'Rmax=? [ F "goal" ]', LUI(), trajectories=100):
    ...         writer.keep(snapshot, {"n": snapshot.iteration})
    ...     len(store.snapshots()) == snapshot.iteration + 1, store.state() == {"n": snapshot.iteration}
    (True, True)
    """

    def __init__(self, store: Store, seconds: float = SECONDS) -> None:
        self.store, self.seconds = store, seconds
        self._rows: list[tuple[int, bytes]] = []
        self._last: tuple[Snapshot, Mapping[str, Any], tuple[str, ...]] | None = None
        self._due = 0.0

    def keep(self, snapshot: Snapshot, state: Mapping[str, Any], report: tuple[str, ...] = ()) -> None:
        """Take a snapshot in, with the state to go on from and what the source said; write if it is time to."""
        self._rows.append((snapshot.iteration, pack(snapshot.row())))
        self._last = snapshot, state, report
        if snapshot.reason is not None or time.monotonic() >= self._due:
            self.flush()

    def write_if_due(self) -> None:
        """Write what is waiting if it has waited long enough."""
        if self._rows and time.monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        if self._last is None or not self._rows:
            return
        rows, self._rows = self._rows, []
        self.store.write(rows, *self._last)
        self._due = time.monotonic() + self.seconds
