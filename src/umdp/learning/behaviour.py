"""What the behaviour in a log is worth: how often its trajectories, as they were, satisfied the property.

Whatever decided the actions, trajectories that begin alike and do not depend on each other are samples of one number: the
probability with which doing as was done satisfies the property. A confidence sequence on their share bounds it at all times, from
both sides, without a model. A trajectory that was cut off before that was decided counts as failed from below, as satisfied from
above. A recording without names of trajectories is cut into pieces: each begins with a visit of the initial state, the next one
only after the one before was decided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.learn import ConfidenceSequence, Learner
from umdp.learning.candidates.evaluation_settings import ERROR_RATE, set_aside
from umdp.model import Graph
from umdp.model.structure import read_only
from umdp.solver import Bracket
from umdp.solver.objective import objective_of
from umdp.source import Source
from umdp.source.source import process_of
from umdp.spec import Spec
from umdp.statements import DiagnosticCode, Statement, say
from umdp.statements.guarantee import Guarantee
from umdp.statements.text import safe_bound

if TYPE_CHECKING:
    from umdp.learning.behaviour_kernels import Flow

__all__ = ["SHARE", "BehaviourValue", "LoggedBehaviour", "behaviour_of", "is_told"]

Array = NDArray[Any]
SHARE = 0.1  # of the error rate: one number takes fewer samples than all transitions
FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class BehaviourValue:
    """What doing as in the log is worth.

    Attributes
    ----------
    bracket : bounds from both sides, at all times at once
    trajectories, undecided : how many say so, and how many of them were cut off before that was decided
    level : the probability with which they hold, together with what the learner claims
    """

    bracket: Bracket
    trajectories: int
    undecided: int
    level: float

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        bounds = {"lower": self.bracket.lower, "upper": self.bracket.upper}
        return {**bounds, "trajectories": self.trajectories, "undecided": self.undecided, "level": self.level}

    def improvement(self, bound: float, *, rises: bool) -> float:
        """Return by how much a policy that is worth at least (at most) so much is better than the behaviour, at least."""
        return bound - self.bracket.upper if rises else self.bracket.lower - bound

    def in_words(self, initial: str, improvement: float | None, *, rises: bool) -> list[Statement]:
        """Return what the behaviour is worth, and whether the policy is better, by how much at least; None: nobody can tell."""
        ends = _shown(self.bracket.lower, at_least=True), _shown(self.bracket.upper, at_least=False)
        seen = {"trajectories": self.trajectories, "undecided": self.undecided, "initial": initial, "level": self.level}
        notes = [say(DiagnosticCode.BEHAVIOUR, lower=ends[0], upper=ends[1], **seen)]
        if improvement is not None and improvement > 0.0:
            return [*notes, say(DiagnosticCode.BETTER, by=_shown(improvement, at_least=True), smaller=not rises)]
        return notes if improvement is None else [*notes, say(DiagnosticCode.NOT_BETTER)]


def _shown(value: float, *, at_least: bool) -> float:
    """Return a number with the digits that matter, rounded to the safe side."""
    places = 2 - math.floor(math.log10(value)) if value > 0.0 else 0
    return safe_bound(value, max(places, 3), at_least=at_least)


@dataclass(eq=False)
class LoggedBehaviour:
    """Accounts for the trajectories of a log while they are read.

    Attributes
    ----------
    flow : what is asked of them
    rate : the error rate of its bounds
    level : the probability with which they hold, and what the learner claims
    seen : (5,) see `umdp.learning.behaviour_kernels`

    Examples
    --------
    >>> from umdp import MDP
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
    >>> flow = flow_of(coin.graph, Spec.parse('Pmax=? [ F "heads" ]'))
    >>> behaviour = LoggedBehaviour(flow, 0.05, 0.95)
    >>> behaviour.take(np.array([0, 1, 0, 0]), np.ones(4, bool), named=True)
    >>> behaviour.seen.tolist()
    [0, 1, 4, 3, 0]
    """

    flow: Flow
    rate: float
    level: float
    seen: Array = field(default_factory=lambda: np.zeros(5, np.int64))

    def take(self, transition: Array, begins: Array, *, named: bool) -> None:
        """Account for rows: the transition of each, -1 for none, whether a trajectory begins, and whether they are named."""
        from umdp.learning.behaviour_kernels import account

        account(transition, begins, self.flow, named or self.flow.anywhere, self.seen)

    def value(self) -> BehaviourValue:
        """Return what doing as in the log is worth."""
        _, _, count, held, open_ = self.state()
        sequence = ConfidenceSequence(self.rate)

        def least(hits: int) -> float:
            ends = sequence.ends(np.array([float(hits)]), np.array([float(count - hits)]), self.rate)
            return float(ends[0])

        # The mixture is of both sides: either end of what was decided, and what was not moves them outwards.
        low, high = least(held), 1.0 - least(count - held - open_)
        return BehaviourValue(Bracket(low, min(float(np.nextafter(high, 2.0)), 1.0)), count, open_, self.level)

    def claimed(self, claim: Guarantee) -> Guarantee:
        """Return what a learner claims, with the probability that it and these bounds hold."""
        return replace(claim, level=self.level) if claim.holds else claim

    def state(self) -> list[int]:
        """Return what a continued run needs."""
        return [int(each) for each in self.seen]

    def restore(self, state: list[int]) -> None:
        """Go on from a saved state."""
        self.seen[:] = state


def behaviour_of(
    source: Source, spec: Spec, learner: Learner, *, wanted: bool
) -> tuple[Learner, LoggedBehaviour | None]:
    """Return the learner with what is left to it of its error rate, and the account of a log's behaviour with the rest.

    There is no account unless it is `wanted`, nor where nobody tells what was recorded, one after another, or where that does not
    say what the property asks. The account that an earlier run of the same source kept ends in any case.
    """
    process, claim, rate = process_of(source), learner.claim, ERROR_RATE
    process.follow(None)
    told = wanted and source.product is None
    flow = flow_of(process.graph, spec, drawn=process.draws_start) if told else None
    level, left = 1.0 - rate, learner
    if flow is not None and claim.holds and claim.level is not None:
        less = set_aside(learner, SHARE)
        if less is None:
            return learner, None
        (left, rate), level = less, claim.level
    if flow is None:
        return learner, None
    behaviour = LoggedBehaviour(flow, rate, level)
    return (left, behaviour) if process.follow(behaviour) else (learner, None)


def is_told(spec: Spec) -> bool:
    """Whether trajectories say whether they satisfy a property."""
    return spec.kind == "P" and spec.aim in ("reach", "bounded") and spec.filter is None


def flow_of(graph: Graph, spec: Spec, *, drawn: bool = False) -> Flow | None:
    """Return what a property asks of trajectories of a graph; None where they do not say whether they satisfy it.

    `drawn`: whether they begin in different states, to each of which a first step leads.
    """
    from umdp.learning.behaviour_kernels import Flow

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
