"""Leaps: many iterations in compiled code are the iterations one after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp import (
    LUI,
    MAP,
    MDP,
    PAC,
    UCRL2,
    ConfidenceSequence,
    Graph,
    Learner,
    Snapshot,
    Spec,
    anytime,
    evaluate,
)
from umdp.benchmark import BENCHMARKS
from umdp.explore import Explorer, Optimism, Uniform
from umdp.learn import LEARNERS
from umdp.learn.kinds import parameters
from umdp.learn.updates import update
from umdp.learning.leap import PATIENCE, Leaper
from umdp.learning.loop import proceed
from umdp.learning.run import LearningRun
from umdp.learning.stopping import StoppingCriteria
from umdp.source.simulator import Simulator, switch

ENVIRONMENTS = [name for name in BENCHMARKS if name != "chain-switched"]
PAPERS = {"lui": LUI, "pac": PAC, "map": MAP, "ucrl2": UCRL2}


def begun(name: str, learner: Learner, explorer: Explorer, seed: int = 3, sampling: str = "steps") -> LearningRun:
    bench = BENCHMARKS[name]
    return LearningRun(Simulator(bench.build(), sampling=sampling), bench.spec, learner, explorer, seed, bench.horizon)


def both(run: Any, **limits: Any) -> tuple[list[Snapshot], list[Snapshot]]:
    """Return the snapshots of a run that leaps, and of one that does not."""
    budget = StoppingCriteria(**limits)
    return list(proceed(run(), budget, leap=True)), list(proceed(run(), budget))


def alike(leapt: list[Snapshot], walked: list[Snapshot]) -> None:
    assert len(leapt) == len(walked)
    for one, two in zip(leapt, walked, strict=True):
        assert (one.iteration, one.trajectories, one.steps, one.partial, one.reason) == (
            two.iteration, two.trajectories, two.steps, two.partial, two.reason,
        )  # fmt: skip
        np.testing.assert_array_equal(one.policy.choice, two.policy.choice)
        np.testing.assert_array_equal(one.counts, two.counts)
        np.testing.assert_allclose(one.model.lower, two.model.lower, rtol=1e-13)
        np.testing.assert_allclose(one.model.upper, two.model.upper, rtol=1e-13)
        assert one.bracket.lower <= two.bracket.upper
        assert two.bracket.lower <= one.bracket.upper
        assert one.guarantee == two.guarantee
        assert one.status is two.status
        assert (one.optimistic is None) == (two.optimistic is None)
        if one.optimistic is not None:
            assert one.optimistic == pytest.approx(two.optimistic, rel=1e-9)
        assert one.performance == pytest.approx(two.performance, rel=1e-6)
        assert one.model_error == pytest.approx(two.model_error, rel=1e-12)


@pytest.mark.parametrize("learner", PAPERS)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_leap_is_one_iteration_after_another(name: str, learner: str) -> None:
    kind = PAPERS[learner]
    alike(*both(lambda: begun(name, kind(), Optimism(0.9)), trajectories=300))
    alike(*both(lambda: begun(name, kind(), Uniform()), trajectories=60))


@pytest.mark.parametrize("sampling", ["counts", "auto"])
@pytest.mark.parametrize(
    "name", [n if n in ("chain", "bandit") else pytest.param(n, marks=pytest.mark.slow) for n in ENVIRONMENTS]
)
def test_a_leap_draws_counts_as_one_iteration_after_another_does(name: str, sampling: str) -> None:
    alike(*both(lambda: begun(name, LUI(), Optimism(), sampling=sampling), trajectories=3000))
    alike(*both(lambda: begun(name, LUI(), Optimism(0.9), sampling=sampling), trajectories=500))


@pytest.mark.parametrize("after", [1, 150, *(pytest.param(after, marks=pytest.mark.slow) for after in (40, 100))])
@pytest.mark.parametrize(
    "learner",
    [LUI(strength_bound=(20, 30)), *(pytest.param(each, marks=pytest.mark.slow) for each in (LUI(), MAP(), UCRL2()))],
)
def test_a_process_that_changes_does_so_within_the_same_iteration(learner: Learner, after: int) -> None:
    for name, later in (("chain", "chain-switched"), ("betting-favourable", "betting-unfavourable")):
        bench, other = BENCHMARKS[name], BENCHMARKS[later]

        def run(bench: Any = bench, other: Any = other) -> LearningRun:
            process = switch(bench.build(), other.build(), after)
            return LearningRun(process, bench.spec, learner, Optimism(0.9), 5, bench.horizon)

        assert Leaper.of(run(), StoppingCriteria(trajectories=200)) is not None
        alike(*both(run, trajectories=200))
        alike(*both(run, trajectories=100))


def test_it_is_taken_and_ends_where_a_leap_would() -> None:
    run = begun("chain", PAC(), Optimism())
    leaper = Leaper.of(run, StoppingCriteria(trajectories=2000))
    assert leaper is not None
    leaper.length = 7
    first = list(leaper.snapshots())
    assert [snapshot.iteration for snapshot in first] == list(range(7))
    assert run.iteration == 7
    second = list(leaper.snapshots())
    assert second[0].iteration == 7
    walked = list(proceed(begun("chain", PAC(), Optimism()), StoppingCriteria(trajectories=2000)))
    alike(first + second, walked[:14])


@pytest.mark.parametrize("limits", [{"trajectories": 57}, {"trajectories": 1}, {"trajectories": 400, "exhaust": True}])
def test_budgets_end_it_with_the_same_trajectory(limits: dict[str, Any]) -> None:
    for learner in (LUI, MAP):
        alike(*both(lambda kind=learner: begun("grid", kind(), Optimism()), **limits))
        alike(*both(lambda kind=learner: begun("betting-favourable", kind(), Optimism()), **limits))


def test_a_threshold_ends_it_at_the_first_snapshot_that_reaches_it() -> None:
    bench = BENCHMARKS["bandit"]
    options: dict[str, Any] = {"horizon": bench.horizon, "trajectories": 5000, "seed": 1, "until": ">=0.5"}
    leapt = list(anytime(bench.build(), bench.spec, LUI(), **options))
    walked = list(anytime(bench.build(), bench.spec, LUI(), stop=lambda: False, **options))
    alike(leapt, walked)
    assert leapt[-1].reason == ">= 0.5 is reached on the learned model"
    assert all(snapshot.bracket.lower < 0.5 for snapshot in leapt[:-1])


def test_nobody_waits_for_what_nobody_looks_at() -> None:
    """Without a budget an iteration is as long as all before it: a leap must not go on until it is full."""
    run = begun("grid", LUI(), Optimism())
    shown = 0
    for snapshot in proceed(run, StoppingCriteria(), leap=True):
        assert run.steps - snapshot.steps <= 2 * PATIENCE
        shown += 1
        if snapshot.steps > 3 * PATIENCE:
            break
    assert shown > 200


def test_what_a_leap_left_out_can_still_be_asked_for() -> None:
    bench = BENCHMARKS["grid"]
    run = anytime(bench.build(), bench.spec, LUI(), horizon=bench.horizon, trajectories=100)
    snapshots = list(run)
    for snapshot in (snapshots[3], snapshots[-4]):
        solution = snapshot.robust
        assert solution.at(solution.model.initial) == solution.bracket
        assert snapshot.model.contains(solution.nature, tolerance=1e-12)
        own = evaluate(solution.nature, bench.spec, snapshot.policy).value
        assert own == pytest.approx(solution.value, rel=1e-5)


def test_where_more_is_needed_nobody_leaps() -> None:
    limits = StoppingCriteria(trajectories=100)
    assert Leaper.of(begun("chain", LUI(), Optimism()), limits) is not None
    assert Leaper.of(begun("chain", ConfidenceSequence(), Optimism()), limits) is None
    assert Leaper.of(begun("chain", PAC(around="mean"), Optimism()), limits) is None
    assert Leaper.of(begun("chain", LUI(), Optimism(spread=True)), limits) is None
    assert Leaper.of(begun("chain", LUI(), Optimism()), StoppingCriteria(seconds=1.0)) is None
    assert Leaper.of(begun("chain", LUI(), Optimism()), StoppingCriteria(steps=100)) is None
    coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"goal": [1]})
    chain = LearningRun(Simulator(coin), Spec.parse('Pmax=? [ F "goal" ]'), LUI())
    assert Leaper.of(chain, limits) is None  # nature decides alone, either way


# -- updates -------------------------------------------------------------------------------------------------

FAN = Graph(
    [0, 3, 4, 5, 6, 7], [0, 2, 5, 6, 10, 11, 12, 13], [1, 2, 1, 2, 3, 4, 0, 1, 2, 3, 2, 3, 4]
)  # choices of two, three, one and four successors
SETTINGS: list[Any] = [
    LUI(), LUI(strength_bound=(20, 40)), LUI(prior=(0.05, 0.9)), PAC(), PAC(error_rate=0.3, prior=2), MAP(),
    MAP(strength_bound=60), MAP(prior=1.001), UCRL2(), UCRL2(prior=1.5, strength_bound=30),
]  # fmt: skip
batches = st.lists(st.lists(st.integers(0, 50), min_size=13, max_size=13), min_size=1, max_size=5)


@pytest.mark.parametrize("number", range(len(SETTINGS)))
@given(batches)
def test_compiled_updates_are_those_of_the_learners(number: int, given: list[list[int]]) -> None:
    learner = SETTINGS[number].bind(FAN)
    found = parameters(learner)
    assert found is not None
    kind, factor, settings = found
    names = ("strength_lower", "strength_upper") if kind == 0 else ("excess", "samples")
    lower, upper = learner.lower.copy(), learner.upper.copy()
    first, second = (getattr(learner, name).astype(np.float64) for name in names)
    clock = np.zeros(1, np.int64)
    for counts in given:
        batch = np.array(counts, np.int64)
        learner.update(batch)
        update(kind, FAN.choice_ptr, batch, lower, upper, first, second, clock, factor, settings)
        for mine, theirs in ((lower, learner.lower), (upper, learner.upper), (first, getattr(learner, names[0]))):
            np.testing.assert_allclose(mine, theirs, rtol=1e-14, atol=0)
        np.testing.assert_allclose(second, getattr(learner, names[1]), rtol=1e-14)


def test_other_learners_have_no_compiled_update() -> None:
    class Mine(LUI):
        """As LUI, but it may do anything."""

    assert parameters(Mine().bind(FAN)) is None
    assert parameters(ConfidenceSequence().bind(FAN)) is None
    assert set(PAPERS) < set(LEARNERS)
    assert math.isinf(parameters(LUI().bind(FAN))[2][0])  # type: ignore[index]
