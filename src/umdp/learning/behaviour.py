"""What the behaviour in a log is worth: how often its trajectories, as they were, satisfied the property.

Whatever decided the actions, trajectories that begin alike and do not depend on each other are samples of one number: the
probability with which doing as was done satisfies the property. A confidence sequence on their share bounds it at all times, from
both sides, without a model. A trajectory that was cut off before that was decided counts as failed from below, as satisfied from
above. A recording without names of trajectories is cut into pieces: each begins with a visit of the initial state, the next one
only after the one before was decided.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel, read_only
from umdp.learn import ConfidenceSequence, Learner
from umdp.learning.candidates.evaluation_settings import ERROR_RATE, set_aside
from umdp.model import Graph
from umdp.solver import Bracket
from umdp.solver.objective import objective_of
from umdp.source import Source
from umdp.source.source import process_of
from umdp.spec import Spec
from umdp.statements.guarantee import Guarantee

__all__ = ["SHARE", "Behaviour", "BehaviourValue", "behaviour_of", "is_told"]

Array = NDArray[Any]
SHARE = 0.1  # of the error rate: one number takes fewer samples than all transitions
FOREVER = np.iinfo(np.int64).max
OPEN, STEP, COUNT, HELD, UNDECIDED = range(5)
UNKNOWN = 2


class Flow(NamedTuple):
    """What is asked of trajectories, and where transitions lead.

    Attributes
    ----------
    source, successor : (T,) the states in which a transition begins and ends
    goal, through : (S,) what is to be reached, through which states
    stays : (S,) states that are never left, of which that is known
    lost : (S,) where a step leads of which nobody knows where it led
    initial : where a trajectory must begin
    steps, wait : steps after which nothing counts any more, and before which nothing does
    exact : whether only the last step counts
    safety : whether the goal is to be avoided
    anywhere : whether trajectories begin in different states, to each of which a first step leads
    """

    source: Array
    successor: Array
    goal: Array
    through: Array
    stays: Array
    lost: Array
    initial: int
    steps: int
    wait: int
    exact: bool
    safety: bool
    anywhere: bool


@kernel(allocates=False)
def verdict(s: int, step: int, flow: Flow) -> int:
    """Return whether a trajectory that is in a state after so many steps satisfies what is asked; -1 while that is open."""
    over, at = step >= flow.steps, step
    if flow.stays[s] and not over:
        over, at = True, max(step, flow.wait) if flow.through[s] else step
    if not (over or flow.exact):
        over = not flow.through[s] or (step >= flow.wait and flow.goal[s])
    return int((flow.goal[s] and at >= flow.wait) != flow.safety) if over else -1


@kernel(allocates=False)
def account(transition: Array, begins: Array, flow: Flow, alone: bool, seen: Array) -> None:
    """Count what rows decide, in order; `seen` has whether a trajectory is open, its steps, and what came of those before.

    With `alone`, a trajectory counts once, where it begins; otherwise also its pieces from later visits of the initial state.
    """
    for i in range(transition.size):
        t, found = transition[i], -1
        if seen[OPEN] and (begins[i] or t < 0):  # nobody will know how it went on
            close(UNKNOWN, seen)
        if t < 0:
            continue
        if not seen[OPEN]:
            if not (begins[i] or not alone) or not (flow.anywhere or flow.source[t] == flow.initial):
                continue
            seen[OPEN], seen[STEP] = 1, int(flow.anywhere)
            found = verdict(flow.source[t], seen[STEP], flow)
        if found < 0:
            seen[STEP] += 1
            found = UNKNOWN if flow.lost[flow.successor[t]] else verdict(flow.successor[t], seen[STEP], flow)
        if found >= 0:
            close(found, seen)


@kernel(allocates=False)
def close(found: int, seen: Array) -> None:
    """Count a trajectory that satisfied what is asked (1), did not (0), or of which nobody knows (2)."""
    seen[OPEN] = 0
    seen[COUNT] += 1
    seen[HELD] += found == 1
    seen[UNDECIDED] += found == UNKNOWN


@dataclass(frozen=True)
class BehaviourValue:
    """What doing as in the log is worth.

    Attributes
    ----------
    bracket : bounds from both sides, at all times at once
    trajectories : how many say so, and how many of them were cut off before that was decided
    """

    bracket: Bracket
    trajectories: int
    undecided: int

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        bounds = {"lower": self.bracket.lower, "upper": self.bracket.upper}
        return {**bounds, "trajectories": self.trajectories, "undecided": self.undecided}

    def improvement(self, bound: float, *, rises: bool) -> float:
        """Return by how much a policy that is worth at least (at most) so much is better than the behaviour, at least."""
        return bound - self.bracket.upper if rises else self.bracket.lower - bound


@dataclass(eq=False)
class Behaviour:
    """Accounts for the trajectories of a log while they are read.

    Attributes
    ----------
    flow : what is asked of them
    rate : the error rate of its bounds
    level : the probability with which they hold, and what the learner claims
    seen : (5,) see `account`

    Examples
    --------
    >>> from umdp import MDP
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
    >>> flow = flow_of(coin.graph, Spec.parse('Pmax=? [ F "heads" ]'))
    >>> behaviour = Behaviour(flow, 0.05, 0.95)
    >>> behaviour.take(np.array([0, 1, 0, 0]), np.ones(4, bool), named=True)
    >>> behaviour.seen[COUNT], behaviour.seen[HELD]
    (4, 3)
    """

    flow: Flow
    rate: float
    level: float
    seen: Array = field(default_factory=lambda: np.zeros(5, np.int64))

    def take(self, transition: Array, begins: Array, *, named: bool) -> None:
        """Account for rows: the transition of each, -1 for none, whether a trajectory begins, and whether they are named."""
        account(transition, begins, self.flow, named or self.flow.anywhere, self.seen)

    def value(self) -> BehaviourValue:
        """Return what doing as in the log is worth."""
        count, held, open_ = (int(self.seen[which]) for which in (COUNT, HELD, UNDECIDED))
        sequence = ConfidenceSequence(self.rate)

        def least(hits: int) -> float:
            ends = sequence.ends(np.array([float(hits)]), np.array([float(count - hits)]), self.rate)
            return float(ends[0])

        # The mixture is of both sides: either end of what was decided, and what was not moves them outwards.

        low, high = least(held), 1.0 - least(count - held - open_)
        return BehaviourValue(Bracket(low, min(float(np.nextafter(high, 2.0)), 1.0)), count, open_)

    def claimed(self, claim: Guarantee) -> Guarantee:
        """Return what a learner claims, with the probability that it and these bounds hold."""
        return replace(claim, level=self.level) if claim.holds else claim

    def state(self) -> list[int]:
        """Return what a continued run needs."""
        return [int(each) for each in self.seen]

    def restore(self, state: list[int]) -> None:
        """Go on from a saved state."""
        self.seen[:] = state


def behaviour_of(source: Source, spec: Spec, learner: Learner) -> tuple[Learner, Behaviour | None]:
    """Return the learner with what is left to it of its error rate, and the account of a log's behaviour with the rest.

    There is no account where nobody tells what was recorded, one after another, or that does not say what the property asks.
    """
    process, claim, rate = process_of(source), learner.claim, ERROR_RATE
    flow = None if source.product is not None else flow_of(process.graph, spec, drawn=process.draws_start)
    level, left = 1.0 - rate, learner
    if claim.holds and claim.level is not None:
        less = set_aside(learner, SHARE)
        if less is None:
            return learner, None
        (left, rate), level = less, claim.level
    if flow is None:
        return learner, None
    behaviour = Behaviour(flow, rate, level)
    return (left, behaviour) if process.follow(behaviour) else (learner, None)


def is_told(spec: Spec) -> bool:
    """Whether trajectories say whether they satisfy a property."""
    return spec.kind == "P" and spec.aim in ("reach", "bounded") and spec.filter is None


def flow_of(graph: Graph, spec: Spec, *, drawn: bool = False) -> Flow | None:
    """Return what a property asks of trajectories of a graph; None where they do not say whether they satisfy it.

    `drawn`: whether they begin in different states, to each of which a first step leads.
    """
    if not is_told(spec):
        return None
    asked, exact = objective_of(graph, spec), spec.formula.reachability().exact
    owner = np.repeat(graph.choice_state, np.diff(graph.choice_ptr))
    stays = np.logical_and.reduceat(graph.successor == owner, graph.choice_ptr[graph.state_ptr[:-1]])
    lost = np.zeros(graph.states, np.bool_)
    if graph.rest is not None:
        lost[graph.rest] = True
    return Flow(
        read_only(owner),
        read_only(graph.successor),
        read_only(asked.goal),
        read_only(asked.through),
        stays,
        lost,
        graph.initial,
        FOREVER if asked.steps is None else asked.steps,
        asked.wait,
        exact,
        asked.safety,
        drawn,
    )
