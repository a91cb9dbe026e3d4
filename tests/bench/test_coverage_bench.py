"""What `bench.coverage` counts: the adversary goes for what is nearest to a miss, and false promises are found."""

from __future__ import annotations

import numpy as np
import pytest
from bench.adversary import Adversary, EveryTrajectory, best_way, nearness
from bench.coverage import ERROR_RATE, Case, cases, every_promise, false_promises, make, piece, table
from scipy.stats import binom

from umdp import MDP, ClopperPearson, ConfidenceSequence, Spec
from umdp.explore import Optimism, View
from umdp.learning.loop import LearningRun
from umdp.source.simulator import Simulator

# Two coins in the first state, one behind it.
TWO = MDP(
    [0, 2, 3, 4, 5], [0, 2, 4, 6, 7, 8], [1, 2, 1, 3, 2, 3, 2, 3], [0.5, 0.5, 0.2, 0.8, 0.4, 0.6, 1, 1],
    labels={"goal": [2]},
)  # fmt: skip
GOAL = Spec.parse('Pmax=? [ F "goal" ]')


def view(lower: list[float], upper: list[float]) -> View:
    before = View.before(TWO)
    bounds = np.array([*lower, 1.0, 1.0]), np.array([*upper, 1.0, 1.0])
    return View(TWO.graph, before.counts, *bounds, before.matters)


def test_near_is_meant_relative_to_the_width() -> None:
    seen = view([0.4, 0.4, 0.1, 0.5, 0.39, 0.2], [0.6, 0.6, 0.5, 0.9, 0.8, 0.61])
    room = nearness(TWO, seen)
    assert room[:3] == pytest.approx([0.5, 0.25, 0.01 / 0.41])
    assert np.isinf(room[3:]).all()  # one successor: nothing to miss


def test_ends_that_exclude_nothing_are_not_near() -> None:
    assert np.isinf(nearness(TWO, view([0.0] * 6, [1.0] * 6))).all()
    uniform = Adversary(TWO).weight(view([0.0] * 6, [1.0] * 6))
    assert uniform.tolist() == [0.5, 0.5, 1, 1, 1]


def test_it_goes_there_and_takes_it() -> None:
    seen = view([0.4, 0.4, 0.1, 0.5, 0.39, 0.2], [0.6, 0.6, 0.5, 0.9, 0.8, 0.61])
    assert Adversary(TWO, xi=1.0).weight(seen).tolist() == [
        1,
        0,
        1,
        1,
        1,
    ]  # the way to the second state, by the better coin
    assert best_way(TWO, 3)[:2].tolist() == [False, True]


def run(learner, seed: int, kind=LearningRun, explorer=None) -> LearningRun:
    return kind(Simulator(TWO), GOAL, learner, explorer or Optimism(0.5), seed)


def test_it_is_looked_at_after_every_trajectory() -> None:
    assert false_promises(run(ConfidenceSequence(0.05), 1, EveryTrajectory), 40)[2] == 41


@pytest.mark.slow
def test_bounds_for_one_look_miss_when_looked_at_often_and_sequences_do_not() -> None:
    """The same runs, the same error rate: what is proved for one look fails at many, and the test can tell."""
    runs = 25
    missed = {
        kind: sum(false_promises(run(kind(0.2), seed, EveryTrajectory, Adversary(TWO)), 100)[1] for seed in range(runs))
        for kind in (ClopperPearson, ConfidenceSequence)
    }
    assert missed[ConfidenceSequence] <= binom.ppf(0.999, runs, 0.2)
    assert missed[ClopperPearson] > binom.ppf(0.999, runs, 0.2)


def test_solving_only_where_something_was_missed_finds_the_same() -> None:
    found = [
        [follow(run(ClopperPearson(0.8), seed), 60) for seed in range(12)] for follow in (false_promises, every_promise)
    ]
    assert found[0] == found[1]
    assert 0 < sum(false for false, _, _ in found[0]) < sum(missed for _, missed, _ in found[0])


def test_cases_and_their_table() -> None:
    assert [case.environment for case in cases("tied,optimism")][:3] == ["chain", "aircraft", "grid"]
    assert not cases("bandit,tied")  # its arms have nothing in common
    case = Case("aircraft", "untied", "adversary")
    row = piece((case, 5, 2, 20))
    assert (row["first"], row["runs"]) == (5, 2)
    head, _, line = table([row])
    assert "false promises" in head
    assert line.startswith("| aircraft | untied | adversary | 2 |")
    assert make(case, 5).learner.error_rate == ERROR_RATE  # type: ignore[attr-defined]
