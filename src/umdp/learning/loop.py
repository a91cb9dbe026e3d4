"""The loop of the paper's figure 1, written once: a generator of snapshots; and its step that draws trajectories."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.explore.schedule import least_trajectories
from umdp.learning.candidates.point_estimate import PointEstimate
from umdp.learning.procedure import LearningRun
from umdp.learning.snapshot import Snapshot
from umdp.learning.stopping import StoppingCriteria, reason_to_end
from umdp.source import Order

__all__ = ["explore", "play", "proceed"]


def proceed(
    run: LearningRun,
    criteria: StoppingCriteria,
    stop: Callable[[], bool] | None = None,
    keep: Callable[[Snapshot], None] | None = None,
) -> Iterator[Snapshot]:
    """Yield snapshots of a run from where it is; `keep` is called with each before it is shown."""
    deadline, halted = np.inf, None
    if criteria.seconds is not None:
        run.snapshot()  # its solves are kept for the first turn; what is compiled for them is not time spent
        deadline = time.monotonic() + criteria.seconds

    def over() -> str | None:
        if time.monotonic() >= deadline:
            return "the time is up"
        return "stopped" if stop is not None and stop() else None

    while True:
        snapshot = run.snapshot()  # robust policy computation
        prospects = run.prospects(snapshot)
        # Good enough, or all there is?
        reason = reason_to_end(snapshot, criteria, run.spec.threshold, prospects, halted or over())
        snapshot = snapshot if reason is None else replace(snapshot, reason=reason)
        if keep is not None:
            keep(snapshot)
        yield snapshot
        if reason is not None:
            return
        # If not: let a candidate show what it is worth, or look where there is most to learn.
        complete, halted = (play if _is_candidates_turn(run) else explore)(run, criteria, over)
        if complete:
            run.update()  # update the intervals


def _is_candidates_turn(run: LearningRun) -> bool:
    """Whether the next trajectories are a candidate's; where an iteration begins it is asked now and then who that is."""
    state, spec = run.state, run.spec
    if state.candidates is None:
        return False
    if state.begins and state.candidates.is_asked:
        # Limits do not count: where a run is stopped must not decide how it goes on.
        wanted = None if spec.threshold is None else spec.threshold.value
        state.candidates.consider(PointEstimate.of(state.learner, state.counts, run.settings.worst), wanted)
    return state.candidates.owed > 0


Array = NDArray[Any]
PATIENCE = 0.05  # seconds between looks at what may stop a run
MANY = 2**40


def explore(run: LearningRun, criteria: StoppingCriteria, over: Callable[[], str | None]) -> tuple[bool, str | None]:
    """Explore until some choice has been taken as often as ever before; return whether it was, or what `over` said.

    Where steps are slow or `per_solve` says so, it takes at least a number of trajectories that depends on the run alone.
    """
    from umdp.explore.ahead import is_met

    state, source, candidates = run.state, run.source, run.state.candidates
    quota, weight, horizon = run.wanted(), run.direct(), run.settings.horizon
    least = run.per_solve or least_trajectories(source.graph, source.pace, *state.since)
    choice_ptr, left = source.graph.choice_ptr, quota
    while True:
        begun = time.perf_counter()
        missing = 0 if least <= 1 else max(least - (state.trajectories - state.since[0]), 0)
        if missing:
            left = np.full_like(quota, -1)
        elif not state.begins:
            left = np.where(quota < 0, -1, np.maximum(quota - np.add.reduceat(state.pending, choice_ptr[:-1]), 0))
            if not left.all():
                return True, None
        chunk = MANY if source.eager or source.whole else run.chunk
        free = MANY if candidates is None else candidates.free
        most = min(chunk, criteria.most(state.trajectories, state.steps, horizon), missing or MANY, free)
        batch = source.collect(Order(weight, run.halt, horizon, left, most))
        state.see(batch)
        if candidates is not None and candidates.explore(batch.trajectories):  # it is a candidate's turn
            return True, None
        if source.eager and batch.steps > 0:
            return True, None
        if missing <= batch.trajectories and is_met(choice_ptr, state.pending, quota):
            return True, None
        if state.ended or criteria.spent(state.trajectories, state.steps):
            return False, None
        if (why := over()) is not None:
            return False, why
        if batch.trajectories == chunk and time.perf_counter() - begun < PATIENCE:
            run.chunk = min(2 * chunk, MANY)


def play(run: LearningRun, criteria: StoppingCriteria, over: Callable[[], str | None]) -> tuple[bool, str | None]:
    """Play the candidate until its turn is over or a look is due; return whether it is, or what `over` said."""
    state, source, candidates = run.state, run.source, run.state.candidates
    assert candidates is not None
    chunk = MANY if source.whole else 1
    while True:
        begun = time.perf_counter()
        most = min(chunk, criteria.most(state.trajectories, state.steps, candidates.horizon))
        state.see(candidates.play(source, most))
        if candidates.is_over():
            return True, None
        if state.ended or criteria.spent(state.trajectories, state.steps):
            return False, None
        if (why := over()) is not None:
            return False, why
        if time.perf_counter() - begun < PATIENCE:
            chunk = min(2 * chunk, MANY)
