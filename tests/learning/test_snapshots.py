"""What a snapshot shows of every state is what the judge has confirmed of the model in that iteration."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from umdp import LUI, ConfidenceSequence, Learner, Snapshot, Status, anytime, evaluate, solve
from umdp.benchmark import BENCHMARKS

ENVIRONMENTS = [name for name in BENCHMARKS if name != "chain-switched"]


def snapshots(name: str, learner: Learner, trajectories: int = 100) -> list[Snapshot]:
    bench = BENCHMARKS[name]
    return list(anytime(bench.build(), bench.spec, learner, horizon=bench.horizon, trajectories=trajectories))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_bounds_of_all_states_are_those_of_a_solve_from_nothing(name: str) -> None:
    for snapshot in snapshots(name, LUI())[::5]:
        solution = snapshot.robust
        fresh = solve(pickle.loads(pickle.dumps(snapshot.model)), solution.spec, precision=1e-9)
        assert solution.status is Status.CERTIFIED
        assert (solution.lower <= fresh.upper).all()
        assert (solution.upper >= fresh.lower).all()
        with np.errstate(invalid="ignore"):
            wide = (solution.upper - solution.lower) > 1e-6 * np.abs(solution.upper)
        assert not wide[np.isfinite(solution.upper)].any()
        assert solution.at(solution.model.initial) == solution.bracket


def test_what_is_worked_out_later_is_that_of_the_iteration() -> None:
    found = snapshots("grid", LUI())
    for snapshot in (found[3], found[-4]):
        solution = snapshot.robust
        assert snapshot.model.contains(solution.nature, tolerance=1e-12)
        own = evaluate(solution.nature, BENCHMARKS["grid"].spec, snapshot.policy).value
        assert own == pytest.approx(solution.value, rel=1e-5)
        assert snapshot.truth is not None
        worth = evaluate(snapshot.truth, solution.spec, snapshot.policy, precision=1e-9).value
        assert snapshot.performance == pytest.approx(worth, rel=1e-8)


def test_a_guarantee_is_that_of_the_iteration_whenever_it_is_asked_for() -> None:
    bench = BENCHMARKS["bandit"]
    run = anytime(bench.build(), bench.spec, ConfidenceSequence(0.05), horizon=bench.horizon, trajectories=50)
    seen = [(snapshot, snapshot.guarantee) for snapshot in run]
    later = snapshots("bandit", ConfidenceSequence(0.05), 50)
    assert [snapshot.guarantee for snapshot in later] == [guarantee for _, guarantee in seen]
    copied = pickle.loads(pickle.dumps(later[5]))
    assert copied.guarantee == later[5].guarantee
    assert copied.bracket == later[5].bracket


def test_a_threshold_ends_a_run_at_the_first_snapshot_that_reaches_it() -> None:
    bench = BENCHMARKS["bandit"]
    options = {"horizon": bench.horizon, "trajectories": 5000, "seed": 1, "until": ">=0.5"}
    found = list(anytime(bench.build(), bench.spec, LUI(), **options))
    assert found[-1].reason == ">= 0.5 is reached on the learned model"
    assert all(snapshot.bracket.lower < 0.5 for snapshot in found[:-1])
