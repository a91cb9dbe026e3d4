"""What is fixed for a whole run, what ends it, and its state by now as one value: all that what it does next depends on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.automata.product import product_of
from umdp.learn import Learner
from umdp.learning.candidates.point_estimate import PointEstimate
from umdp.learning.candidates.scheduler import CandidateScheduler
from umdp.learning.snapshot import Snapshot
from umdp.model import Graph, IntervalMDP
from umdp.solver import Bracket, Solution, UncertifiedSolution
from umdp.solver.graph.unseen import unseen_staying, unseen_support
from umdp.source import Source
from umdp.source.source import Batch
from umdp.spec import Spec, Threshold
from umdp.statements.conditions import Asked
from umdp.statements.text import nouns

__all__ = ["LearningState", "RunSettings", "Solved", "StoppingCriteria", "restored"]

Array = NDArray[Any]
MANY = 2**40


@dataclass(frozen=True, eq=False)
class RunSettings:
    """What is fixed for a whole run.

    Attributes
    ----------
    graph : what is known of the process
    spec : the property, as it is asked
    worst, best : the property as it is meant in the worst case and in the best
    asked : what kind of property it is
    decided : whether the graph decides the value, so that there is nothing to learn
    favoured : whether what the graph decides may rest on transitions that were never seen
    halt : (S,) states at which trajectories end, because their value is known
    horizon : the longest a trajectory may be
    seed : of the run
    precision, method : of solves
    """

    graph: Graph
    spec: Spec
    worst: Spec
    best: Spec
    asked: Asked
    decided: bool
    favoured: bool
    halt: NDArray[np.bool_]
    horizon: int
    seed: int
    precision: float
    method: str

    @cached_property
    def reward(self) -> str | None:
        """The name of the reward that is asked for; None for a probability."""
        return self.spec.resolve_reward(list(self.graph.rewards)) if self.spec.kind == "R" else None

    def unseen(self, seen: NDArray[np.int64], solution: Solution | None) -> int:
        """Return how many transitions were never `seen` (T,), though what the graph decides for a policy rests on them."""
        product, found = product_of(self.graph), 0
        assert solution is not None
        if self.favoured:
            found += unseen_support(self.graph, self.worst, solution.policy, seen)
        return found if product is None else found + unseen_staying(self.graph, product.stay, solution.policy, seen)

    def is_unread(self, source: Source, ended: bool) -> bool:
        """Whether a log that decides the value was not read to its end: how much stands behind it, and what is wrong with it."""
        if source.interactive or ended:
            return False
        return source.closed or source.provenance().graph == "observed"

    def options(self, starts: dict[str, Any], name: str) -> dict[str, Any]:
        """Return the options of a solve that starts from what was kept under a name."""
        return {
            "precision": self.precision, "method": self.method, "start": starts.get(name), "before": starts.get(f"{name} values"),
        }  # fmt: skip


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

    def reached(self, snapshot: Snapshot, otherwise: Threshold | None) -> str | None:
        """Return that the threshold is reached, in words; None if it is not, or there is none: the one given, or another."""
        wanted, promise = self.until or otherwise, snapshot.promise
        if wanted is None:
            return None
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

    def closed(self, snapshot: Snapshot, gap: Callable[[], float]) -> str | None:
        """Return that the promise is as close to the best case as was asked for, in words; None if it is not known to be.

        The best case that exploration follows has no proof: it may say that the gap is too wide, and never that it is not.
        """
        if self.gap is None or snapshot.partial:
            return None
        rough, ends = snapshot.optimistic, snapshot.promised
        if rough is not None and not any(abs(rough - end) <= 2 * self.gap for end in (ends.lower, ends.upper)):
            return None
        if not gap() <= self.gap:
            return None
        proved = "is certified to be" if snapshot.guarantee.holds else "is, on the learned model,"
        return f"the policy {proved} within {self.gap:g} of the optimum"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


@dataclass(eq=False)
class LearningState:
    """What a run has learned and seen. Arrays in it are never written to, only replaced.

    Attributes
    ----------
    learner : holds the bounds
    counts : (T,) how often each transition was seen in complete iterations
    pending : (T,) and since then
    iteration : the number of complete iterations
    trajectories, steps : how many were seen, with those pending
    since : trajectories and steps seen when the iteration began
    ended : the source has no more data
    starts : choices and values that solves start from, by name: saved, so that a continued run repeats them
    candidates : who is played as evidence, and when; None without

    Examples
    --------
    >>> from umdp import LUI, Graph
    >>> from umdp.source.source import Batch
    >>> state = LearningState.before(LUI().bind(Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])))
    >>> state.see(Batch(np.array([4, 6, 0]), 10, 10))
    >>> state.trajectories, state.iteration, state.completed().iteration
    (10, 0, 1)
    """

    learner: Learner
    counts: NDArray[np.int64]
    pending: NDArray[np.int64]
    iteration: int = 0
    trajectories: int = 0
    steps: int = 0
    since: tuple[int, int] = (0, 0)
    ended: bool = False
    starts: dict[str, Array] = field(default_factory=dict)
    candidates: CandidateScheduler | None = None

    @classmethod
    def before(cls, learner: Learner, candidates: CandidateScheduler | None = None) -> LearningState:
        """Return the state before any data."""
        none = np.zeros(learner.graph.transitions, dtype=np.int64)
        return cls(learner, none, none, candidates=candidates)

    @property
    def begins(self) -> bool:
        """Whether an iteration begins here, with nothing seen since the last."""
        return self.trajectories == self.since[0]

    def is_candidates_turn(self, settings: RunSettings) -> bool:
        """Whether the next trajectories are a candidate's; where an iteration begins it is asked now and then who that is."""
        if self.candidates is None:
            return False
        if self.begins and self.candidates.is_asked:
            # Limits do not count: where a run is stopped must not decide how it goes on.
            wanted = None if settings.spec.threshold is None else settings.spec.threshold.value
            self.candidates.consider(PointEstimate.of(self.learner, self.counts, settings.worst), wanted)
        return self.candidates.owed > 0

    def see(self, batch: Batch) -> None:
        """Take note of a batch; it is pending until the iteration is complete."""
        self.pending, self.ended = self.pending + batch.counts, batch.ended
        self.trajectories, self.steps = self.trajectories + batch.trajectories, self.steps + batch.steps

    def completed(self, starts: Mapping[str, Array] | None = None) -> LearningState:
        """Return the state after the learner has taken in what is pending, which completes an iteration."""
        learner = self.learner.clone()  # one that fails half-way must not leave half an update behind
        learner.update(self.pending)
        return LearningState(
            learner, self.counts + self.pending, np.zeros_like(self.counts), self.iteration + 1, self.trajectories, self.steps,
            (self.trajectories, self.steps), self.ended, self.starts if starts is None else dict(starts), self.candidates,
        )  # fmt: skip

    def as_data(self) -> dict[str, Any]:
        """Return the state as numbers, lists, arrays and dictionaries of them; `restore` takes it back."""
        state: dict[str, Any] = {
            "iteration": self.iteration, "trajectories": self.trajectories, "steps": self.steps, "ended": self.ended,
            "since": list(self.since), "counts": self.counts, "pending": self.pending if self.pending.any() else None,
            "learner": self.learner.state(), "starts": dict(self.starts),
        }  # fmt: skip
        return state if self.candidates is None else {**state, "evidence": self.candidates.state()}


@dataclass(eq=False)
class Solved:
    """What was worked out for the model of one iteration, each at most once."""

    starts: dict[str, Array]
    model: IntervalMDP | None = None
    robust: Solution | None = None
    optimistic: UncertifiedSolution | None = None
    weight: NDArray[np.float64] | None = None
    quota: Array | None = None
    ceiling: Bracket | None = None


def restored(state: LearningState, source: Source, saved: Mapping[str, Any]) -> LearningState:
    """Return the state that a checkpoint holds, and bring the source to where it was; `state` is one of the same run."""
    trajectories, steps = int(saved["trajectories"]), int(saved["steps"])
    since = saved.get("since", (trajectories, steps))
    counts = np.array(saved["counts"], dtype=np.int64)
    pending = saved.get("pending")
    learner, candidates = state.learner.clone(), None if state.candidates is None else state.candidates.copy()
    learner.restore(saved["learner"])
    source.restore(saved["source"])
    if candidates is not None:
        candidates.restore(saved["evidence"])
    return LearningState(
        learner, counts, np.zeros_like(counts) if pending is None else np.array(pending, dtype=np.int64),
        int(saved["iteration"]), trajectories, steps, (int(since[0]), int(since[1])), bool(saved["ended"]),
        {name: np.array(found) for name, found in saved["starts"].items()}, candidates,
    )  # fmt: skip
