"""A run that goes on from its saved state repeats every digit, also where solves depend on where they start."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from umdp import LUI, ConfidenceSequence, Learner, benchmark
from umdp.explore import Optimism
from umdp.learning.loop import SMALL, LearningRun, StoppingCriteria, proceed
from umdp.run.codec import pack, unpack
from umdp.source.simulator import Simulator

TRAPS = [(x, y) for x in range(21) for y in range(21) if (3 * x + 5 * y) % 11 == 4]
LARGE = benchmark.grid(21, 21, traps=TRAPS)
SPEC = benchmark.BENCHMARKS["grid"].spec


def pieces(fresh: Callable[[], LearningRun], limits: StoppingCriteria) -> list[tuple[float, ...]]:
    """Return the snapshots of a run for each of which a new process takes over."""
    state, found = pack(fresh().checkpoint()), []
    while True:
        run = fresh()
        run.restore(unpack(state))
        loop = proceed(run, limits)
        snapshot = next(loop)
        found.append((snapshot.trajectories, snapshot.steps, snapshot.bracket.lower, snapshot.bracket.upper))
        if snapshot.reason is not None:
            return found
        next(loop)
        state = pack(run.checkpoint())


@pytest.mark.parametrize("learner", [LUI(), ConfidenceSequence()], ids=lambda learner: learner.name)
def test_a_run_that_is_taken_over_at_every_snapshot_is_the_run_itself(learner: Learner) -> None:
    mdp = LARGE if isinstance(learner, LUI) else benchmark.grid(5, 4, traps=[(2, 0), (2, 1)])
    limits = StoppingCriteria(trajectories=7 if mdp is LARGE else 60)

    def fresh() -> LearningRun:
        return LearningRun(Simulator(mdp), SPEC, learner, Optimism(0.9), seed=3, horizon=300)

    assert LARGE.states > SMALL  # above that, what a solve finds depends on where it starts, in the last digits
    whole = [(s.trajectories, s.steps, s.bracket.lower, s.bracket.upper) for s in proceed(fresh(), limits)]
    assert len(whole) > 5
    assert pieces(fresh, limits) == whole
