"""The loop of the paper's figure 1, written once: a generator of snapshots, for whoever looks and for whoever does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from umdp.learning.candidates.point_estimate import PointEstimate
from umdp.learning.procedure import LearningRun
from umdp.learning.sampling import explore, play
from umdp.learning.snapshot import Snapshot
from umdp.learning.stopping import StoppingCriteria, reason_to_end

__all__ = ["proceed"]


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
