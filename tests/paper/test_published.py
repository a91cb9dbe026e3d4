"""As published: the rules by hand, the priors to eight digits, and the curves by a two-sample test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from bench import agreement
from umdp import Graph
from umdp.paper.experiments.archive import Archive
from umdp.paper.experiments.experiment import Experiment
from umdp.paper.experiments.published import PublishedLUI, PublishedMAP, PublishedPAC, PublishedUCRL2, _sweeps
from umdp.paper.experiments.sweep import processes
from umdp.paper.experiments.trial import build

COIN = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
PAIR = Graph([0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1])


# -- the rules -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent_max", [True, False])
def test_values_are_compared_strictly(agent_max: bool) -> None:
    """Of two actions that differ in the last digit alone the better number wins, though it is listed last."""
    more, less = 1.0 + 2**-52, 1.0
    paid = np.array([less, more, 0.0] if agent_max else [more, less, 0.0])
    ones, fixed = np.ones(3), np.array([False, True])
    graph = (np.array([0, 2, 3]), np.arange(4), np.array([1, 1, 1]))
    assert _sweeps(*graph, ones, ones, paid, fixed, np.zeros(2), agent_max, not agent_max)[0] == 1


def test_lui_takes_one_successor_for_a_conflict_above_and_two_for_one_below() -> None:
    prior, strength = (0.2, 0.7), (5, 10)
    both = PublishedLUI(prior, strength).bind(COIN).learn([4, 6, 0])
    assert np.allclose(both.lower, [(5 * 0.2 + 4) / 15, (5 * 0.2 + 6) / 15, 1])  # by the paper there is no conflict
    assert np.allclose(both.upper, [(10 * 0.7 + 4) / 20, (10 * 0.7 + 6) / 20, 1])
    one = PublishedLUI(prior, strength).bind(COIN).learn([10, 0, 3])
    assert np.allclose(one.lower, [(10 * 0.2 + 10) / 20, (10 * 0.2) / 20, 1])
    assert np.allclose(one.upper, [(5 * 0.7 + 10) / 15, (5 * 0.7) / 15, 1])


def test_bounds_that_pass_each_other_change_places() -> None:
    learner = PublishedLUI(prior=(0.1, 0.5), strength=(1, 1000)).bind(COIN).learn([90, 10, 0])
    # Two successors were seen: the lower bound, in conflict, moves fast; the upper one hardly moves.
    assert np.allclose(learner.lower[0], (1000 * 0.5 + 90) / 1100)
    assert np.allclose(learner.upper[0], (1 * 0.1 + 90) / 101)


def test_both_strengths_are_capped_by_the_lower_bound() -> None:
    learner = PublishedLUI(strength_bound=(20, 30)).bind(COIN).learn([4, 6, 0])
    assert (learner.strength_lower[0], learner.strength_upper[0]) == (15, 20)
    learner.learn([100, 100, 0])
    assert (learner.strength_lower[0], learner.strength_upper[0]) == (20, 20)


def test_pac_also_divides_by_the_number_of_actions_and_counts_the_prior() -> None:
    learner = PublishedPAC(error_rate=0.04).bind(PAIR).learn([300, 100, 0, 0, 0])
    width = math.sqrt(math.log(2 / (0.04 / 4 / 2)) / (2 * (400 + 20)))
    assert np.allclose(learner.lower[:2], [309 / 418 - width, 109 / 418 - width])
    before = math.sqrt(math.log(2 / (0.04 / 4 / 2)) / (2 * 20))
    assert np.allclose(learner.upper[2:4], [0.5 + before] * 2)
    assert (PublishedPAC(error_rate=1e-9).bind(PAIR).upper[:4] == 1 - 1e-8).all()


def test_ucrl2_counts_the_prior_everywhere() -> None:
    learner = PublishedUCRL2().bind(PAIR).learn([30_000, 10_000, 0, 0, 0])
    total = 40_000 + 20 + 20 + 10
    width = math.sqrt(14 * 2 * math.log(2 * 2 * total / 0.01) / (40_000 + 20))
    assert np.allclose(learner.lower[:2], [30_009 / 40_018 - width, 10_009 / 40_018 - width])
    assert learner.lower[2] == pytest.approx(1e-8)


def test_the_largest_parameter_is_bounded() -> None:
    learner = PublishedMAP(strength_bound=30).bind(COIN).learn([50, 1, 0])  # 60, 11 -> 30, ceil(5.5) = 6
    assert np.allclose(learner.lower[:2], [29 / 34, 5 / 34])
    learner.learn([1000, 0, 0])  # 1030, 6 -> 30, 2
    assert np.allclose(learner.lower[:2], [29 / 30, 1 / 30])


@pytest.mark.parametrize("learner", ["LUI", "PAC", "MAP", "UCRL2"])
@pytest.mark.parametrize("environment", list(Experiment.load("basic").problems()))
def test_before_any_data_everything_is_as_in_the_published_run(environment, learner) -> None:
    trials = Experiment.load("basic").cut(seeds=1).as_published().trials()
    (trial,) = (t for t in trials if (t.cell.environment, t.cell.learner) == (environment, learner))
    run = build(trial)
    row, snapshot = agreement.published()[environment, learner][0][0], run.snapshot()
    assert snapshot.model_error == pytest.approx(row.model_error, abs=1e-8)
    if row.performance < agreement.CUT:
        assert snapshot.performance == pytest.approx(row.performance, rel=1e-4)
    if snapshot.optimistic is not None:
        assert snapshot.optimistic == pytest.approx(row.optimistic, abs=2e-8 * max(row.optimistic, 1))


def test_exploration_is_one_update_late() -> None:
    (trial,) = (
        t for t in Experiment.load("basic").cut(seeds=1, trajectories=50).as_published().trials()
        if (t.cell.environment, t.cell.learner) == ("bandit", "LUI")
    )  # fmt: skip
    run = build(trial)
    assert run.horizon == 101
    from umdp.learning.loop import StoppingCriteria, explore

    headings = []
    for _ in range(6):
        of_model = run.solve_optimistic(run.learner.model).policy
        headings.append((run.direct() > 0.5, of_model.weights() > 0.5))  # the optimistic action has weight 0.9
        assert explore(run, StoppingCriteria(trajectories=50), lambda: None) == (True, None)
        run.update()
    assert np.array_equal(headings[0][0], headings[0][1])
    for (followed, _), (_, earlier) in zip(headings[1:], headings, strict=False):
        assert np.array_equal(followed, earlier)


def test_counters_restart_at_a_change() -> None:
    (trial, *_) = (
        t for t in Experiment.load("change").cut(seeds=1, trajectories=400).as_published().trials()
        if (t.cell.environment, t.cell.learner, t.cell.after) == ("chain", "LUI", 100)
    )  # fmt: skip
    from umdp.learning.loop import StoppingCriteria, explore

    run = build(trial)
    limits = StoppingCriteria(trajectories=400)
    while run.trajectories < 100:
        assert run.quota().max() == max(np.add.reduceat(run.state.counts, run.source.graph.choice_ptr[:-1]).max(), 1)
        explore(run, limits, lambda: None)
        run.update()
    assert run.quota().max() == 1


# -- the curves ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_as_published_agrees_with_the_published_code(tmp_path) -> None:
    with Archive.open(tmp_path / "runs.db") as archive:
        processes(agreement.experiment().trials(), archive)
        ours: dict[tuple[str, str], list[dict[str, np.ndarray]]] = {}
        for trial in agreement.experiment().trials():
            ours.setdefault((trial.cell.environment, trial.cell.learner), []).append(archive.get(trial.key))
    compared = agreement.compare(ours)
    assert len(compared) == 24 * 3 * 2
    # Only on chain are values cut: early, or of learners that never get far.
    cut = [each for each in compared if each.p is None]
    assert {each.environment for each in cut} == {"chain"}
    assert len(cut) <= 9
    tested = [each for each in compared if each.p is not None]
    differ = [each for each in tested if each.p is not None and each.p < agreement.LEVEL / len(tested)]
    assert not differ


def test_a_difference_is_found() -> None:
    """The comparison is not deaf: half the model error, or another optimum, is noticed."""
    ours = {
        key: [
            {"trajectories": np.array([0, *rows]), "performance": np.zeros(5), "model_error": np.zeros(5)}
            for rows in [[1, 10, 100, 1000]] * 100
        ]
        for key in agreement.published()
    }
    compared = agreement.compare(ours)
    tested = [each for each in compared if each.p is not None]
    differ = [each for each in tested if each.p is not None and each.p < agreement.LEVEL / len(tested)]
    assert len(differ) > 120


def test_the_significance_is_exact() -> None:
    assert agreement.significance([1.0] * 100, [1.0] * 4 + [2.0]) == pytest.approx(5 / 105)
    assert agreement.significance([1.0] * 100, [2.0] * 5) == pytest.approx(1 / math.comb(105, 5))
    assert agreement.significance([1.0] * 7, [1.0] * 3) == 1.0
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.normal(size=9).tolist(), rng.normal(1, size=4).tolist()
        assert agreement.significance(a, b) == pytest.approx(mannwhitneyu(a, b, method="exact").pvalue)


def test_rows_are_thinned_as_in_the_published_tables() -> None:
    every = list(range(1001))
    points = [every[agreement.kept(every[: at + 1], at)] for at in range(100)]
    # From a published run that iterated after every trajectory: PAC on chain, seed 3.
    assert sorted({agreement.kept(every, at) for at in range(60)}) == [
        0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 23, 29, 36, 45, 56,
    ]  # fmt: skip
    assert points == list(range(100))  # the last row is always kept
