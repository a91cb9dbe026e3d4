"""Collecting and solving share the time: what an iteration takes at least, and solves that cannot say anything yet."""

from __future__ import annotations

import itertools

import gymnasium
import numpy as np
import pytest

from umdp import LUI, ConfidenceSequence, ModelError, anytime, benchmark, solve
from umdp.explore import Optimism
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.run.codec import pack, unpack
from umdp.source import Gymnasium, Simulator
from umdp.spec import Spec

CLIFF = 'R{"cost"}min=? [ F "terminated" ]'


def cliff() -> Gymnasium:
    return Gymnasium(gymnasium.make("CliffWalking-v1", is_slippery=True, disable_env_checker=True))


def test_an_iteration_takes_as_many_trajectories_as_asked_for() -> None:
    spec = benchmark.BENCHMARKS["grid"].spec
    seen = [s.trajectories for s in anytime(benchmark.grid(), spec, LUI(), trajectories=500, per_solve=40)]
    steps = np.diff(seen)
    assert (steps[:-1] >= 40).all()
    free = [s.trajectories for s in anytime(benchmark.grid(), spec, LUI(), trajectories=500)]
    assert len(free) > len(seen)
    assert seen[-1] == free[-1] == 500


def test_one_per_solve_is_the_procedure_of_the_paper() -> None:
    spec = benchmark.BENCHMARKS["grid"].spec
    first = [(s.trajectories, s.bracket) for s in anytime(benchmark.grid(), spec, LUI(), trajectories=200)]
    second = [
        (s.trajectories, s.bracket) for s in anytime(benchmark.grid(), spec, LUI(), trajectories=200, per_solve=1)
    ]
    assert first == second


def test_none_per_solve_is_refused() -> None:
    with pytest.raises(ModelError, match="per_solve must be a whole number of trajectories, at least 1, not -3"):
        next(anytime(benchmark.grid(), benchmark.BENCHMARKS["grid"].spec, LUI(), per_solve=-3))


def test_environments_are_played_for_about_as_long_as_solving_takes() -> None:
    source = cliff()
    snapshots = list(anytime(source, CLIFF, LUI(), trajectories=400))
    before, after = snapshots[-3], snapshots[-2]
    assert after.steps - before.steps > 0.3 * source.pace * source.graph.transitions


def test_a_run_cut_within_an_iteration_goes_on_as_if_it_had_not_been() -> None:
    def fresh() -> LearningRun:
        return LearningRun(cliff(), Spec.parse(CLIFF), LUI(), Optimism(), seed=5, horizon=100)

    limits = StoppingCriteria(trajectories=60)
    whole = [(s.trajectories, s.steps, s.bracket) for s in proceed(fresh(), limits)]
    run = fresh()
    for cut in (2, 3, 7, 11, 30, 60):
        for _ in proceed(run, StoppingCriteria(trajectories=cut)):
            pass
        state = unpack(pack(run.checkpoint()))
        run = fresh()
        run.restore(state)
    rest = [(s.trajectories, s.steps, s.bracket) for s in proceed(run, limits)]
    assert rest[-1] == whole[-1]
    assert len(whole) > 4


def test_a_solve_that_cannot_say_anything_yet_is_cut_short() -> None:
    """Two wells from which nature lets nobody out: 1e80 steps, which no double can prove to be finite in floating point."""
    source = Gymnasium(
        gymnasium.make("Taxi-v4", is_rainy=True, disable_env_checker=True), reward_of=lambda r: min(r, 0)
    )
    run = LearningRun(source, Spec.parse(CLIFF), LUI())
    model = run.snapshot().model
    short = solve(model, 'R{"cost"}minmax=? [ F "terminated" ]', cutoff=1e9)
    assert short.statistics.iterations < 1000  # 130 000 without
    assert short.bracket.lower == 0
    assert short.bracket.upper == np.inf


def test_a_cutoff_does_not_touch_what_is_easy_to_prove() -> None:
    chain = benchmark.chain()
    run = LearningRun(Simulator(chain), benchmark.BENCHMARKS["chain"].spec, LUI())
    model = run.snapshot().model
    spec = run.spec.robust()
    assert solve(model, spec).bracket == solve(model, spec, cutoff=1e9).bracket
    assert solve(model, spec).bracket.lower > 1e100


@pytest.mark.slow
def test_a_slippery_cliff_is_learned_with_a_guarantee() -> None:
    """Hundreds of trajectories within seconds; two dozen before solves were cut short."""
    *_, last = itertools.islice(anytime(cliff(), CLIFF, ConfidenceSequence(error_rate=0.05), trajectories=1500), 10_000)
    assert last.guarantee.holds
    assert last.bracket.upper < 200
    assert last.performance is not None
    assert last.performance <= last.bracket.upper
