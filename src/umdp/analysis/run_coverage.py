"""What was true in the course of one run: intervals, model and value, at some times and at all times until then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.learning.snapshot import Snapshot
from umdp.model import MDP, Policy
from umdp.solver import Bracket, evaluate, solve
from umdp.spec import Spec

__all__ = ["COLUMNS", "Judge", "follow"]

Columns = dict[str, NDArray[Any]]

COLUMNS = (
    "interval_then", "interval_always", "model_then", "model_always", "policy_then", "policy_always", "optimum_then",
    "optimum_always", "bound", "worth", "promised",
)  # fmt: skip
"""What is noted of a run, an array over the times each."""

ROUNDING = 1e-12  # of probabilities, which are doubles that nobody rounded outwards
PRECISE = 1e-9  # relative width of the brackets that promises are compared with
NEAR = 1e-4  # a value that is known to about 1e-6 decides where it is farther away than that


@dataclass(eq=False)
class Judge:
    """Compares what is learned with the truth.

    A bound counts as false where it is better than what was proved of the truth: beyond the far end of a certified bracket.

    Attributes
    ----------
    truth : the process
    spec : the property, without nature
    claimed : (T,) the transitions whose intervals are judged: one of several of their choice, where that matters
    seen : returns how often something like each transition was seen (T,), from counts (T,)
    rises : whether larger values are better
    optimum : a bracket of the best value of the process
    """

    truth: MDP
    spec: Spec
    claimed: NDArray[np.bool_]
    seen: Callable[[NDArray[np.int64]], NDArray[np.int64]]
    rises: bool = field(init=False)
    optimum: Bracket = field(init=False)

    def __post_init__(self) -> None:
        self.rises = self.spec.rises
        self.optimum = solve(self.truth, self.spec, precision=PRECISE).bracket
        self._worth: dict[bytes, Bracket] = {}

    @classmethod
    def of(cls, run: LearningRun) -> Judge:
        """Return the judge of a run at its beginning, whose process is known."""
        truth, learner = run.source.truth, run.learner
        assert truth is not None
        sizes = np.diff(truth.choice_ptr)
        return cls(truth, run.spec, np.repeat((sizes > 1) & learner.matters, sizes), learner.sightings)

    def inside(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether the true probability of every transition is within bounds, shape (T,)."""
        p = self.truth.probability
        return (lower <= p + ROUNDING) & (p <= upper + ROUNDING)

    def bound(self, snapshot: Snapshot) -> float:
        """Return the value that is said to be kept at least, or at most: the promise, or where none is made what is learned.

        Where candidates are played, theirs is the promise, and what is learned says nothing without one.
        """
        if snapshot.promise is not None:
            return snapshot.promise.bound
        if snapshot.evidence is not None:
            return -np.inf if self.rises else np.inf
        return snapshot.bound

    def worth(self, snapshot: Snapshot) -> Bracket:
        """Return a bracket of what the policy is worth on the process; once per policy."""
        key = _key(snapshot.policy)
        if key not in self._worth:
            found = evaluate(self.truth, snapshot.robust.spec, snapshot.policy, precision=PRECISE)
            self._worth[key] = found.bracket
        return self._worth[key]

    def keeps(self, snapshot: Snapshot) -> bool:
        """Whether the policy is worth what is said."""
        bound, about = self.bound(snapshot), snapshot.performance
        if about is not None and np.isfinite(about):  # known without a proof
            room = NEAR * abs(about) + 1e-300
            if abs(bound - about) > room:
                return bool(bound < about) == self.rises
        return self.not_better(bound, self.worth(snapshot))

    def not_better(self, bound: float, value: Bracket) -> bool:
        """Whether a bound is no better than a value."""
        return bound <= value.upper if self.rises else bound >= value.lower


def _key(policy: Policy) -> bytes:
    choice = policy.choice
    return policy.weights().tobytes() if choice is None else choice.tobytes()


@dataclass(eq=False)
class _State:
    """What is in force, and whether anything was ever false."""

    inside: NDArray[np.bool_]
    visited: NDArray[np.bool_]
    always: NDArray[np.bool_]
    held: dict[str, bool]
    snapshot: Snapshot


def follow(run: LearningRun, judge: Judge, times: NDArray[np.int64]) -> Columns:
    """Go through a run up to the last of some times, and return what held: `COLUMNS`, (K,) each.

    At a time, what the last complete look showed is in force. ``then`` is whether that held, ``always`` whether every look
    until then did. ``interval`` is the share of the intervals of choices that were tried; nan before anything was.
    """
    found: Columns = {name: np.full(times.size, np.nan) for name in COLUMNS}
    row, state = 0, None
    snapshots = proceed(run, StoppingCriteria(trajectories=int(times[-1])))
    for after in _states(snapshots, judge):
        while state is not None and row < times.size and times[row] < after.snapshot.trajectories:
            _note(found, row, state, judge)
            row += 1
        state = after
    assert state is not None
    for last in range(row, times.size):
        _note(found, last, state, judge)
    return found


def _states(snapshots: Iterable[Snapshot], judge: Judge) -> Iterator[_State]:
    """Yield what is in force after every look."""
    always = np.ones(judge.truth.transitions, np.bool_)
    ever: set[str] = set()  # what was false at some look
    for snapshot in snapshots:
        inside = judge.inside(snapshot.model.lower, snapshot.model.upper)
        assert snapshot.counts is not None
        begin, sizes = judge.truth.choice_ptr[:-1], np.diff(judge.truth.choice_ptr)
        visited = judge.claimed & np.repeat(np.add.reduceat(judge.seen(snapshot.counts), begin) > 0, sizes)
        always = always & inside
        now = {
            "model": bool(inside[judge.claimed].all()),
            "policy": judge.keeps(snapshot),
            "optimum": judge.not_better(judge.bound(snapshot), judge.optimum),
        }
        ever |= {name for name, holds in now.items() if not holds}
        held = {f"{name}_then": holds for name, holds in now.items()}
        held |= {f"{name}_always": name not in ever for name in now}
        yield _State(inside, visited, always, held, snapshot)


def _note(found: Columns, row: int, state: _State, judge: Judge) -> None:
    for name, holds in state.held.items():
        found[name][row] = holds
    if state.visited.any():
        found["interval_then"][row] = state.inside[state.visited].mean()
        found["interval_always"][row] = state.always[state.visited].mean()
    found["bound"][row] = judge.bound(state.snapshot)
    found["worth"][row] = judge.worth(state.snapshot).value
    found["promised"][row] = state.snapshot.promise is not None
