"""Learning from counts: interrupted anywhere, it goes on as if it had not been; step by step, nothing has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from umdp import LUI, ConfidenceSequence
from umdp.benchmark import BENCHMARKS
from umdp.explore import Optimism
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.run.codec import pack, unpack
from umdp.source.simulator import Simulator


def begun(name: str, sampling: str, learner: Any = LUI, **options: Any) -> LearningRun:
    bench = BENCHMARKS[name]
    source = Simulator(bench.build(), sampling=sampling)
    return LearningRun(source, bench.spec, learner(), Optimism(), 5, bench.horizon, **options)


def every(number: int) -> Callable[[], bool]:
    """Return something that says stop the first time and every so often."""
    asked = iter(range(10**9))
    return lambda: next(asked) % number == number - 1


@pytest.mark.parametrize(
    ("name", "sampling", "trajectories"),
    [
        pytest.param("grid", "auto", 60_000, marks=pytest.mark.slow),
        ("grid", "counts", 200),
        ("chain", "auto", 100_000),
        pytest.param("betting-favourable", "counts", 1000, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_interrupted_all_the_time_is_the_run_that_was_not(
    name: str, sampling: str, trajectories: int
) -> None:
    limits = StoppingCriteria(trajectories=trajectories)
    whole = list(proceed(begun(name, sampling), limits))
    run, seen = begun(name, sampling), []
    for _ in range(10**6):
        seen += [snapshot for snapshot in proceed(run, limits, every(3)) if not snapshot.partial]
        if run.trajectories >= trajectories:
            break
        other = begun(name, sampling)  # another process, which is told where to go on
        other.restore(unpack(pack(run.checkpoint())))
        run = other
    last = {snapshot.iteration: snapshot for snapshot in seen}
    assert len(last) > 20
    for snapshot in whole:
        if snapshot.partial:
            continue
        again = last[snapshot.iteration]
        assert (again.trajectories, again.steps) == (snapshot.trajectories, snapshot.steps)
        np.testing.assert_array_equal(again.counts, snapshot.counts)
    np.testing.assert_array_equal(run.state.pending, begun_until(name, sampling, limits).state.pending)


def begun_until(name: str, sampling: str, limits: StoppingCriteria) -> LearningRun:
    run = begun(name, sampling)
    for _ in proceed(run, limits):
        pass
    return run


def test_a_run_saved_before_there_was_a_choice_goes_on_step_by_step() -> None:
    run = begun("chain", "steps")
    for _ in proceed(run, StoppingCriteria(trajectories=500)):
        pass
    state = run.checkpoint()
    assert set(state["source"]) == {"random", "done", "steps"}
    auto = begun("chain", "auto")
    auto.restore(state)  # and may be taken further in the other way
    for _ in proceed(auto, StoppingCriteria(trajectories=1000)):
        pass
    assert auto.trajectories == 1000


def test_fewest_trajectories_and_budgets_of_steps_are_kept() -> None:
    run = begun("grid", "counts", per_solve=500)
    numbers = [
        snapshot.trajectories for snapshot in proceed(run, StoppingCriteria(trajectories=5000)) if not snapshot.partial
    ]
    assert (np.diff(numbers[:-1]) >= 500).all()
    run = begun("grid", "counts")
    last = [snapshot.steps for snapshot in proceed(run, StoppingCriteria(steps=100_000))][-1]
    assert 100_000 <= last < 100_000 + 200


@pytest.mark.parametrize("sampling", [pytest.param(each, marks=pytest.mark.slow) for each in ("counts", "auto")])
def test_what_is_promised_is_kept(sampling: str) -> None:
    """The bounds of a confidence sequence contain the truth, and are those of as much data."""
    for name in ("chain", "bandit"):
        run = begun(name, sampling, ConfidenceSequence)
        truth = run.source.truth
        assert truth is not None
        snapshots = list(proceed(run, StoppingCriteria(trajectories=3 * 10**4)))
        assert snapshots[-1].trajectories == 3 * 10**4
        assert snapshots[-1].guarantee.holds
        for snapshot in snapshots:
            assert (snapshot.model.lower <= truth.probability).all()
            assert (truth.probability <= snapshot.model.upper).all()
