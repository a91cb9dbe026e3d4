"""What is fixed for a whole run, and its state by now as one value: all that what it does next depends on; its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.automata.product import product_of
from umdp.learn import Learner
from umdp.learning.candidates.scheduler import CandidateScheduler
from umdp.model import Graph
from umdp.solver import Solution
from umdp.solver.graph.unseen import unseen_staying, unseen_support
from umdp.source import Source
from umdp.source.source import Batch
from umdp.spec import Spec
from umdp.statements.conditions import Asked

__all__ = ["LearningState", "RunSettings", "checkpoint", "restored"]


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

    def options(self, starts: dict[str, Any], name: str) -> dict[str, Any]:
        """Return the options of a solve that starts from what was kept under a name."""
        return {
            "precision": self.precision, "method": self.method, "start": starts.get(name), "before": starts.get(f"{name} values"),
        }  # fmt: skip


Array = NDArray[Any]


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
    >>> other = state.copy()
    >>> state.see(Batch(np.array([4, 6, 0]), 10, 10))
    >>> state == other, state.trajectories, state.completed().iteration, other.trajectories
    (False, 10, 1, 0)
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

    def copy(self) -> LearningState:
        """Return a state that goes its own way."""
        return replace(
            self,
            learner=self.learner.clone(),
            starts=dict(self.starts),
            candidates=None if self.candidates is None else self.candidates.copy(),
        )

    def as_data(self) -> dict[str, Any]:
        """Return the state as numbers, lists, arrays and dictionaries of them; `restore` takes it back."""
        state: dict[str, Any] = {
            "iteration": self.iteration, "trajectories": self.trajectories, "steps": self.steps, "ended": self.ended,
            "since": list(self.since), "counts": self.counts, "pending": self.pending if self.pending.any() else None,
            "learner": self.learner.state(), "starts": dict(self.starts),
        }  # fmt: skip
        return state if self.candidates is None else {**state, "evidence": self.candidates.state()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LearningState) and _same(self.as_data(), other.as_data())

    __hash__ = None  # type: ignore[assignment]


def _same(one: Any, other: Any) -> bool:
    """Whether two values of plain data are equal to the last digit."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple) and len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return one is not None and other is not None and np.array_equal(one, other)
    return bool(one == other)


def checkpoint(state: LearningState, source: Source) -> dict[str, Any]:
    """Return everything a continued run needs: numbers, lists, arrays and dictionaries of them."""
    return {**state.as_data(), "source": source.state()}


def restored(state: LearningState, source: Source, saved: Mapping[str, Any]) -> LearningState:
    """Return the state that a checkpoint holds, and bring the source to where it was; `state` is one of the same run."""
    trajectories, steps = int(saved["trajectories"]), int(saved["steps"])
    since = saved.get("since", (trajectories, steps))
    counts = np.array(saved["counts"], dtype=np.int64)
    pending = saved.get("pending")
    state = state.copy()
    state.learner.restore(saved["learner"])
    source.restore(saved["source"])
    if state.candidates is not None:
        state.candidates.restore(saved["evidence"])
    return LearningState(
        state.learner, counts, np.zeros_like(counts) if pending is None else np.array(pending, dtype=np.int64),
        int(saved["iteration"]), trajectories, steps, (int(since[0]), int(since[1])), bool(saved["ended"]),
        {name: np.array(found) for name, found in saved["starts"].items()}, state.candidates,
    )  # fmt: skip
