"""The loop of the paper's figure 1, written once: a generator of snapshots; its step that draws trajectories; what ends it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.explore.policies import least_trajectories
from umdp.learning.candidates.point_estimate import PointEstimate
from umdp.learning.procedure import LearningRun
from umdp.learning.snapshot import Snapshot
from umdp.source import SamplingRequest, Source
from umdp.spec import Threshold
from umdp.statements.text import nouns

__all__ = ["StoppingCriteria", "closed", "explore", "play", "proceed", "reached", "reason_to_end"]

Array = NDArray[Any]
PATIENCE = 0.05  # seconds between looks at what may stop a run
MANY = 2**40


@dataclass(frozen=True)
class StoppingCriteria:
    """What ends a run: a threshold that is reached, or a budget.

    Attributes
    ----------
    until : the threshold
    trajectories, steps : the most of them, over the whole run; the last trajectory is never cut
    seconds : of this sitting, from the first answer on: what is compiled for it does not count
    exhaust : whether to use up the budget even where nothing more can be learned, so that curves have equal lengths
    gap : how far the promise may be from the best case
    """

    until: Threshold | None = None
    trajectories: int | None = None
    steps: int | None = None
    seconds: float | None = None
    exhaust: bool = False
    gap: float | None = None

    def most(self, trajectories: int, steps: int, horizon: int) -> int:
        """Return how many more trajectories cannot pass a budget, at least 1.

        That depends on what has been seen alone, so that a run ends with the same trajectory however it was cut into pieces.

        Examples
        --------
        >>> StoppingCriteria(trajectories=10).most(4, 0, 100), StoppingCriteria(steps=1000).most(4, 10, 100)
        (6, 9)
        >>> StoppingCriteria(steps=50).most(4, 10, 100)
        1
        """
        left = MANY
        if self.trajectories is not None:
            left = min(left, self.trajectories - trajectories)
        if self.steps is not None:
            left = min(left, (self.steps - steps) // horizon)
        return max(left, 1)

    def spent(self, trajectories: int, steps: int) -> str | None:
        """Return which budget is used up, in words; None if there is some left."""
        if self.trajectories is not None and trajectories >= self.trajectories:
            return f"{self.trajectories} {nouns(self.trajectories, 'trajectory')} {_have(self.trajectories)} been seen"
        if self.steps is not None and steps >= self.steps:
            return f"{self.steps} {nouns(self.steps, 'step')} {_have(self.steps)} been seen"
        return None


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


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
        reason = reason_to_end(run, snapshot, criteria, halted or over())  # good enough, or all there is?
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
        batch = source.collect(SamplingRequest(weight, run.halt, horizon, left, most))
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


def reason_to_end(run: LearningRun, snapshot: Snapshot, criteria: StoppingCriteria, over: str | None) -> str | None:
    """Return why a run ends with a snapshot, None if it does not; `over` is what was said from outside."""
    reason, ended = None, run.state.ended
    if run.settings.decided and not _unread(run.source, ended):
        reason = "the graph decides the value: there is nothing to learn"
    elif ended:
        reason = "there is no more data"
    else:
        reason = criteria.spent(snapshot.trajectories, snapshot.steps) or over
        if reason is None and not criteria.exhaust and not run.can_learn():
            reason = "exploration reaches nothing from which more could be learned"
    # Within an iteration a threshold ends nothing, so that where a run was interrupted does not decide how it goes on.
    if reason is None and snapshot.partial:
        return reason
    wanted = criteria.until or run.spec.threshold
    return reached(snapshot, wanted) or closed(snapshot, criteria.gap, lambda: run.gap(snapshot)) or reason


def reached(snapshot: Snapshot, wanted: Threshold | None) -> str | None:
    """Return that a threshold is reached, in words; None if it is not, or there is none."""
    if wanted is None:
        return None
    promise = snapshot.promise
    if promise is not None and promise.by == "evidence":
        ends = (promise.bound, math.inf) if promise.at_least else (-math.inf, promise.bound)
        if wanted.holds(*ends):
            return f"{wanted.operator} {wanted.value:g} is certified by playing the policy"
    # Where playing candidates is to prove something, what is not proved ends nothing.
    if snapshot.evidence is not None and snapshot.evidence.guarantee.holds and not snapshot.guarantee.holds:
        return None
    if not wanted.holds(snapshot.bracket.lower, snapshot.bracket.upper):
        return None
    proved = "is certified" if snapshot.guarantee.holds else "is reached on the learned model"
    return f"{wanted.operator} {wanted.value:g} {proved}"


def closed(snapshot: Snapshot, tolerance: float | None, gap: Callable[[], float]) -> str | None:
    """Return that the promise is as close to the best case as was asked for, in words; None if it is not known to be.

    The best case that exploration follows has no proof: it may say that the gap is too wide, and never that it is not.
    """
    if tolerance is None or snapshot.partial:
        return None
    rough, ends = snapshot.optimistic, snapshot.promised
    if rough is not None and not any(abs(rough - end) <= 2 * tolerance for end in (ends.lower, ends.upper)):
        return None
    if not gap() <= tolerance:
        return None
    proved = "is certified to be" if snapshot.guarantee.holds else "is, on the learned model,"
    return f"the policy {proved} within {tolerance:g} of the optimum"


def _unread(source: Source, ended: bool) -> bool:
    """Whether a log that decides the value was not read to its end: how much stands behind it, and what is wrong with it."""
    if source.interactive or ended:
        return False
    return source.closed or source.provenance().graph == "observed"
