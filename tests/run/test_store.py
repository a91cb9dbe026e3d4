"""A snapshot and the state after it are committed together, or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from umdp import LUI, MDP, ModelError, Snapshot, anytime
from umdp.run import Store

COIN = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})


def two() -> tuple[Snapshot, Snapshot]:
    first, second, *_ = anytime(COIN, 'Pmax=? [ F "heads" ]', LUI(), trajectories=1)
    return first, second


def committed(path: Path) -> tuple[list[int], object]:
    """Return what another process would find."""
    with Store.open(path) as store:
        return [row["iterations"] for row in store.snapshots()], store.state()


def test_a_state_that_cannot_be_kept_leaves_no_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    first, second = two()
    with Store.create(path, {}) as store:
        with pytest.raises(ModelError, match="cannot be kept"):
            store.keep(first, {"source": object()})
        assert committed(path) == ([], None)
        store.keep(first, {"n": 0})
        with pytest.raises(ModelError, match="cannot be kept"):
            store.keep(second, {"source": object()})
        assert committed(path) == ([0], {"n": 0})
        store.keep(second, {"n": 1})
    assert committed(path) == ([0, 1], {"n": 1})


def test_a_snapshot_that_cannot_be_kept_leaves_the_state_before(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    first, second = two()
    with Store.create(path, {}) as store:
        store.keep(first, {"n": 0})
        with pytest.raises(ModelError, match="cannot be kept"):
            store.keep(replace(second, reason=object()), {"n": 1})  # type: ignore[arg-type]
        assert committed(path) == ([0], {"n": 0})


def test_a_writer_that_dies_between_the_two_leaves_neither(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    first, second = two()
    with Store.create(path, {}) as store:
        store.keep(first, {"n": 0})
        seen: list[tuple[list[int], object]] = []
        store._db.set_trace_callback(lambda statement: seen.append(committed(path)))
        store.keep(second, {"n": 1})
        store._db.set_trace_callback(None)
    # Whenever another process looks, before every statement, it finds one or the other.
    assert len(seen) >= 3
    assert all(each in (([0], {"n": 0}), ([0, 1], {"n": 1})) for each in seen)
    assert seen[0] == ([0], {"n": 0})
    assert committed(path) == ([0, 1], {"n": 1})
