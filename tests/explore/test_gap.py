"""Exploration towards the gap, posterior sampling, and the end of a run whose gap is closed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from umdp import LUI, MDP, ConfidenceSequence, Graph, ModelError, Spec, anytime, benchmark, solve
from umdp.cli import run as command
from umdp.explore import Explorer, Gap, Optimism, Posterior, Uniform, View
from umdp.explore.gap import estimate, expected_visits
from umdp.explore.policies import best, even
from umdp.learn.tied import Tied
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.learning.value_estimates import distance
from umdp.run.codec import pack, unpack
from umdp.solver import Bracket
from umdp.source.simulator import Simulator

GRID = benchmark.grid(4, 3, traps=[(1, 1)])
SPEC = benchmark.BENCHMARKS["grid"].spec
COIN = MDP(
    [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1], "end": [1, 2]},
    rewards={"cost": {"transition": [1, 4, 0, 0]}},
)  # fmt: skip


@settings(max_examples=40)
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.9))
def test_visits_are_those_of_a_linear_system(back: float, stay: float) -> None:
    """A walk over three states that goes back to the start: (I - P^T)^-1 is worked out by hand and by a solver."""
    graph = Graph([0, 1, 2, 3], [0, 2, 4, 5], [0, 1, 0, 2, 2])
    prob = np.array([stay, 1 - stay, back, 1 - back, 1.0])
    found = expected_visits(graph, prob, np.arange(3), np.array([False, False, True]), 10**6)
    inside = np.array([[stay, 1 - stay], [back, 0.0]])
    exact = np.linalg.solve(np.eye(2) - inside.T, [1.0, 0.0])
    if exact.max() < 50:  # it looks a thousand steps ahead
        np.testing.assert_allclose(found, [*exact, 0.0], rtol=1e-2)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 30), min_size=5, max_size=5))
def test_what_counts_suggest_is_a_distribution_within_bounds(counts: list[int]) -> None:
    graph = Graph([0, 1, 2, 3], [0, 2, 4, 5], [0, 1, 0, 2, 2])
    learner = ConfidenceSequence(0.05).bind(graph).learn(np.array(counts))
    guess = estimate(graph, np.array(counts), learner.lower, learner.upper)
    np.testing.assert_allclose(np.add.reduceat(guess, graph.choice_ptr[:-1]), 1.0)
    assert (guess >= learner.lower - 1e-12).all()
    assert (guess <= learner.upper + 1e-12).all()


def begun(explorer: Explorer, mdp: MDP = GRID, spec: Spec = SPEC, seed: int = 3) -> LearningRun:
    return LearningRun(Simulator(mdp), spec, ConfidenceSequence(0.05), explorer, seed, 100)


@pytest.mark.parametrize("explorer", [Gap(), Posterior()])
def test_weights_are_probabilities_and_runs_that_are_continued_explore_as_they_would_have(explorer: Explorer) -> None:
    run, limits = begun(explorer), StoppingCriteria(trajectories=80)
    whole = []
    for snapshot in proceed(run, limits):
        np.testing.assert_allclose(np.add.reduceat(run.direct(), GRID.state_ptr[:-1]), 1.0)
        whole.append((snapshot.trajectories, snapshot.steps, snapshot.bracket.lower))
    state, taken_over = pack(begun(explorer).checkpoint()), []
    while not taken_over or taken_over[-1] != whole[-1]:
        run = begun(explorer)
        run.restore(unpack(state))
        loop = proceed(run, limits)
        snapshot = next(loop)
        taken_over.append((snapshot.trajectories, snapshot.steps, snapshot.bracket.lower))
        if snapshot.reason is None:
            next(loop)
        state = pack(run.checkpoint())
    assert taken_over == whole


def test_posterior_sampling_depends_on_seed_and_iteration() -> None:
    first, again, other = (begun(Posterior(), seed=seed).direct() for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()
    run = begun(Posterior())
    drawn = [run.direct() for _ in zip(proceed(run, StoppingCriteria(trajectories=30)), range(6), strict=False)]
    assert len({each.tobytes() for each in drawn}) > 1


def test_both_need_a_run() -> None:
    for explorer in (Gap(), Posterior()):
        with pytest.raises(ModelError, match="needs a run"):
            explorer.weight(View.before(GRID.graph, GRID.state_ptr[:-1]))
    with pytest.raises(ModelError, match="above 0"):
        Posterior(0)


def test_samples_go_where_they_are_worth_most() -> None:
    """Two coins in a row, of which the second decides: tossing the first is worth nothing, its outcome is known to be the same.

    The choice at the start leads to the coin that matters or to one whose sides lead to the same value: the gap is due to the
    first alone, and whatever optimism thinks of the other, nothing is gained there.
    """
    graph = [0, 2, 3, 4, 5, 6]
    mdp = MDP(
        graph, [0, 1, 2, 4, 6, 7, 8], [1, 2, 3, 4, 3, 4, 3, 4], [1, 1, 0.7, 0.3, 0.1, 0.9, 1, 1],
        labels={"goal": [3]}, actions=["left", "right", "toss", "toss", "stay", "stay"],
    )  # fmt: skip
    found = {}
    for explorer in (Gap(), Uniform()):
        run = LearningRun(Simulator(mdp), Spec.parse('Pmax=? [ F "goal" ]'), ConfidenceSequence(0.05), explorer, 0, 10)
        *_, last = proceed(run, StoppingCriteria(gap=0.1, trajectories=10**6))
        found[type(explorer)] = last.trajectories
        assert "within 0.1" in str(last.reason)
        seen = np.add.reduceat(run.state.counts, mdp.choice_ptr[:-1])
        if isinstance(explorer, Gap):
            assert seen[2] > 10 * seen[3]  # the better coin
    assert found[Gap] < found[Uniform]


def test_tied_choices_earn_together() -> None:
    """A class is seen wherever it feeds: the way is towards a choice that feeds it, not to where outcomes cannot be told."""
    bench = benchmark.BENCHMARKS["grid"]
    assert bench.tie is not None
    mdp = bench.build()
    learner = Tied(ConfidenceSequence(0.05), bench.tie(mdp.graph))
    found = {}
    for explorer in (Gap(), Optimism()):
        run = LearningRun(Simulator(mdp), bench.spec, learner, explorer, 0, bench.horizon)
        *_, last = proceed(run, StoppingCriteria(gap=0.05, trajectories=20_000))
        assert last.reason == "the policy is certified to be within 0.05 of the optimum"
        found[type(explorer)] = last.trajectories
    assert found[Gap] <= 2 * found[Optimism]


@pytest.mark.parametrize(
    ("mdp", "asked"),
    [
        (COIN, 'Pmax=? [ F "heads" ]'),
        (COIN, 'Pmin=? [ F "heads" ]'),
        (COIN, 'R{"cost"}min=? [ F "end" ]'),
        (COIN, 'R{"cost"}max=? [ F "end" ]'),
        (COIN, 'Pmax=? [ F<=1 "heads" ]'),
        (GRID, str(SPEC)),
    ],
)
@pytest.mark.parametrize("explorer", [Gap(), Optimism(), Uniform(), Posterior()])
def test_a_gap_that_ends_a_run_is_proved(mdp: MDP, asked: str, explorer: Explorer) -> None:
    """The distance is measured again, on the model that was learned, and the true optimum lies within it."""
    if isinstance(explorer, Posterior) and mdp is GRID:
        pytest.skip("it follows what is likely to be best, and leaves open what the rest may be worth")
    *_, last = anytime(
        mdp, asked, ConfidenceSequence(0.05), explorer=explorer, gap=0.3, horizon=100, trajectories=10**5
    )
    assert last.reason == "the policy is certified to be within 0.3 of the optimum"
    spec = Spec.parse(asked)
    worst, best = solve(last.model, spec.robust()).bracket, solve(last.model, spec.optimistic()).bracket
    rises = "max" in asked.partition("=")[0]
    gap = best.upper - worst.lower if rises else worst.upper - best.lower
    assert 0 <= gap <= 0.3 + 1e-6
    optimum = solve(mdp, spec).value
    assert abs(optimum - last.performance) <= 0.3


def test_what_playing_proves_counts_for_the_gap() -> None:
    """The best case is the model's; the promise is the better of both, and nearer to it than what the model alone promises."""
    bench = benchmark.BENCHMARKS["aircraft"]
    *_, last = anytime(
        bench.build(), bench.spec, ConfidenceSequence(0.05), gap=0.8, evidence=0.5, trajectories=3_000,
        horizon=bench.horizon,
    )  # fmt: skip
    assert last.reason == "the policy is certified to be within 0.8 of the optimum"
    assert last.promise is not None
    assert last.promise.by == "evidence"
    best = solve(last.model, bench.spec.optimistic()).bracket
    assert best.upper - last.promise.bound <= 0.8 < best.upper - last.bracket.lower
    assert bench.optimum - last.performance <= 0.8


def test_what_playing_proves_is_not_compared_with_a_model_that_promises_nothing() -> None:
    *_, last = anytime(COIN, 'Pmax=? [ F "heads" ]', LUI(), evidence=0.5, trajectories=300)
    assert last.promise is not None
    assert last.promise.by == "evidence"
    assert last.promised == last.bracket


def test_without_a_guarantee_the_gap_is_that_of_the_learned_model() -> None:
    *_, last = anytime(COIN, 'Pmax=? [ F "heads" ]', LUI(), gap=0.3, trajectories=1000)
    assert last.reason == "the policy is, on the learned model, within 0.3 of the optimum"


@pytest.mark.parametrize("gap", [0, -1, math.nan, math.inf, "a"])
def test_a_gap_is_a_number_above_zero(gap: object) -> None:
    with pytest.raises(ModelError, match="gap must be a finite number"):
        next(anytime(COIN, 'Pmax=? [ F "heads" ]', LUI(), gap=gap))  # type: ignore[arg-type]


ENDS = st.floats(0, 1e6) | st.just(math.inf)


@settings(max_examples=200)
@given(ENDS, ENDS, ENDS, ENDS)
def test_the_distance_is_rounded_up(a: float, b: float, c: float, d: float) -> None:
    from fractions import Fraction

    worst, best = Bracket(*sorted((a, b))), Bracket(*sorted((c, d)))
    found = distance(worst, best)
    if math.isfinite(found):
        pairs = [(best.upper, worst.lower), (worst.upper, best.lower)]
        exact = [Fraction(x) - Fraction(y) for x, y in pairs if math.isfinite(x) and math.isfinite(y)]
        assert all(Fraction(found) >= each for each in exact)


class NearestMiss(Explorer):
    """An adversary: take, in every state, the choice whose bounds are nearest to missing what is true."""

    def __init__(self, truth: MDP) -> None:
        self.truth = truth

    def weight(self, view: View) -> np.ndarray:
        near = np.minimum(self.truth.probability - view.lower, view.upper - self.truth.probability)
        slack = np.minimum.reduceat(np.where(view.width > 0, near, 1.0), view.graph.choice_ptr[:-1])
        return even(view.graph, slack <= -best(view.graph, -slack))


COINS = MDP(
    [0, 2, 3, 4, 5, 6], [0, 1, 2, 4, 6, 7, 8], [1, 2, 3, 4, 3, 4, 3, 4], [1, 1, 0.7, 0.3, 0.6, 0.4, 1, 1],
    labels={"goal": [3]},
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("explorer", [Gap(), Posterior(), NearestMiss(COINS)], ids=lambda each: type(each).__name__)
def test_false_promises_are_as_rare_as_promised(explorer: Explorer) -> None:
    """Runs of which some snapshot ever promised more than is true, or that ended too far from the optimum: 5 % at most.

    A binomial tail of 1e-4 is allowed for the test's own error.
    """
    runs, wrong, rate = 400, 0, 0.05
    spec = Spec.parse('Pmax=? [ F "goal" ]')
    for seed in range(runs):
        run = LearningRun(Simulator(COINS), spec, ConfidenceSequence(rate), explorer, seed, 10)
        failed = False
        for snapshot in proceed(run, StoppingCriteria(gap=0.2, trajectories=2000)):
            assert snapshot.performance is not None
            failed |= snapshot.bracket.lower > snapshot.performance + 1e-9
        closed = snapshot.reason is not None and "certified" in snapshot.reason
        wrong += failed or (closed and 0.7 - snapshot.performance > 0.2)
    assert wrong <= binom.isf(1e-4, runs, rate)


def test_a_gap_that_says_nothing_is_refused_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["learn", "bandit", "--gap", "0"]) == 2
    assert "--gap must be a finite number, more than 0" in capsys.readouterr().err
