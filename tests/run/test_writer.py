"""Snapshots are written in batches, and each batch leaves a run that can be gone on with."""

from __future__ import annotations

from pathlib import Path

from umdp import LUI, Snapshot, anytime, benchmark
from umdp.run.store import Store
from umdp.run.writer import RunWriter

BANDIT = benchmark.BENCHMARKS["bandit"]


def snapshots() -> list[Snapshot]:
    return list(anytime(BANDIT.build(), BANDIT.spec, LUI(), horizon=BANDIT.horizon, trajectories=50))


def test_the_first_and_the_last_are_written_at_once_and_the_rest_when_it_is_time(tmp_path: Path) -> None:
    found = snapshots()
    with Store.create(tmp_path / "a.run", {"model": "bandit"}, BANDIT.build().graph) as store:
        writer = RunWriter(store, seconds=1e9)
        for number, snapshot in enumerate(found[:-1]):
            writer.keep(snapshot, {"n": number})
            assert len(store.snapshots()) == 1
            assert store.state() == {"n": 0}  # that of the last row that is there
        writer.write_if_due()
        assert len(store.snapshots()) == 1
        writer.keep(found[-1], {"n": len(found) - 1}, ("done",))
        assert [row["iterations"] for row in store.snapshots()] == [snapshot.iteration for snapshot in found]
        assert store.state() == {"n": len(found) - 1}
        assert store.learned().report == ("done",)
        writer.flush()  # there is nothing left to write


def test_whoever_is_done_flushes(tmp_path: Path) -> None:
    found = snapshots()
    with Store.create(tmp_path / "a.run", {"model": "bandit"}, BANDIT.build().graph) as store:
        writer = RunWriter(store, seconds=1e9)
        for number, snapshot in enumerate(found[:5]):
            writer.keep(snapshot, {"n": number})
        writer.flush()
        assert len(store.snapshots()) == 5
        assert store.state() == {"n": 4}


def test_without_patience_every_snapshot_is_written_at_once(tmp_path: Path) -> None:
    with Store.create(tmp_path / "a.run", {"model": "bandit"}, BANDIT.build().graph) as store:
        writer = RunWriter(store, seconds=0.0)
        for number, snapshot in enumerate(snapshots()):
            writer.keep(snapshot, {"n": number})
            assert len(store.snapshots()) == number + 1
