"""What trajectories of a policy count for, read off how often each transition was seen in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import Graph, Policy
from umdp.model.policy import taken_choices
from umdp.solver.graph.decided import Edges, Shape
from umdp.solver.objective import objective_of, rewards_of_choices
from umdp.source.observed_graph import STAY
from umdp.source.source import Batch, SamplingRequest, Source
from umdp.spec import Spec

__all__ = ["Role", "Tally", "paid"]

Array = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Role:
    """How a policy is played, and what shows what came of it.

    Attributes
    ----------
    weight : (C,) or (K, C) the policy, as an order has it
    halt : (S,) where nothing that happens later counts
    good : (T,) the transitions after which a trajectory is certain to have a good end
    """

    weight: Array
    halt: Mask
    good: Mask


class Tally:
    """Counts what trajectories are worth to whoever wants the property's best: from 0, the worst, to 1.

    For a probability that is 1 where the property, or for a smallest probability its opposite, is certain to hold when the
    trajectory ends; for a reward the share of `most` that was earned, or saved. What was cut off, by the horizon or by an
    environment, before that was certain, counts as the worst. So the mean is at least what it is for the policy itself, whatever
    is known of the process otherwise: only that the goal can no longer be reached is taken from the graph.

    Attributes
    ----------
    at_least : whether the value is bounded from below
    most : the most that a trajectory counts for
    wants_goal : whether a good end is that the goal is reached; otherwise that it no longer can be, or what was earned
    rewarded : whether it is a reward that counts
    one_by_one : whether trajectories must be looked at one by one, because what a batch has seen in all does not say enough
    """

    def __init__(self, source: Source, spec: Spec, horizon: int, most: float | None) -> None:
        graph = source.graph
        self.graph, self._spec = graph, spec
        self._objective = objective = objective_of(graph, spec)
        asked = spec.formula.reachability()
        if objective.wait:
            raise spec.error(
                "what counts only after some steps cannot be shown by playing yet",
                "leave evidence out, or ask for F<=k",
            )
        self.at_least = spec.rises
        self.wants_goal = self.at_least != objective.safety and objective.rewards is None
        self._exact = asked.exact
        self.steps = objective.steps
        self.horizon = horizon if self.steps is None else min(horizon, max(self.steps, 1))
        self._whole = self.steps is not None and self.horizon >= self.steps  # who is not cut before has done all steps
        self._paid = None if objective.rewards is None else paid(graph, spec)
        self.rewarded = self._paid is not None
        self.most = _most(spec, most, paid=self._paid is not None)
        self._into = graph.successor
        # A simulated trajectory ends where it is told to; in an environment it may end anywhere, and nobody is told.
        self._sure = source.simulates
        # Of a graph that was only observed nothing is known but that episodes have ended where they end.
        self._trusted = source.provenance().graph == "given"
        self.one_by_one = self._paid is not None or (self.steps is not None and not self.wants_goal and not self._sure)
        self._edges = Edges(Shape.of(graph))

    def role(self, policy: Policy) -> Role:
        """Return how to play a policy."""
        objective, weights, taken = self._objective, policy.weights(), taken_choices(policy)
        goal, nowhere = objective.goal, np.zeros(self.graph.states, dtype=np.bool_)
        if self._exact:
            return Role(weights, nowhere, goal[self._into] if self.wants_goal else ~goal[self._into])
        if self._paid is not None:
            over = goal | self._spent(taken) if self.steps is not None else goal
            return Role(weights, over, over[self._into])
        left = ~objective.through & ~goal
        if self._trusted:
            away = ~self._edges.attract(goal, objective.through & ~goal, taken, every=False)[0]
        else:
            away = left | (self._ended() & ~goal)
        return Role(weights, goal | away, (goal if self.wants_goal else away)[self._into])

    def play(self, source: Source, role: Role, trajectories: int) -> tuple[Batch, float]:
        """Play a policy so often, or less; return what was seen, and what it counts for in all."""
        order = SamplingRequest(
            role.weight, role.halt, self.horizon, np.full(self.graph.choices, -1, dtype=np.int64), trajectories
        )
        batch = source.collect(order)
        return batch, self.worth(batch, role)

    def worth(self, batch: Batch, role: Role) -> float:
        """Return what the trajectories of a batch count for in all; of one trajectory where they count one by one.

        It is not a number where one cost more than the most that was said.
        """
        arrived = float(batch.counts[role.good].sum())
        if self._paid is not None:
            return self._earned(batch, arrived > 0)
        if self.wants_goal or self.steps is None:
            return min(arrived, float(batch.trajectories))
        if self._exact:
            return min(arrived, float(batch.trajectories))
        if self._sure and self._whole:
            return float(batch.trajectories) - float(batch.counts[self._objective.goal[self._into]].sum())
        missed = not batch.counts[self._objective.goal[self._into]].any()
        lasted = self._whole and int(batch.counts.sum()) == self.steps
        return float(missed and (arrived > 0 or lasted) and batch.trajectories == 1)

    def _earned(self, batch: Batch, over: bool) -> float:
        assert self._paid is not None
        if batch.trajectories != 1:
            return 0.0
        earned = float(batch.counts @ self._paid)
        if self.at_least:
            return min(earned / self.most, 1.0) * (1 - 2.0**-40)
        if not (over or (self._whole and int(batch.counts.sum()) == self.steps)):
            return 0.0
        if earned > self.most:
            return math.nan
        return max(1.0 - earned / self.most - 2.0**-40, 0.0)

    def value(self, share: float) -> float:
        """Return the value that a mean stands for, as a bound that is not too good; a lower end of the mean is given."""
        if self.at_least:
            return float(np.nextafter(self.most * share, 0.0)) if share > 0 else 0.0
        return float(np.nextafter(self.most * (1.0 - share), np.inf)) if share > 0 else self.most

    def share(self, value: float) -> float:
        """Return the mean that a value stands for."""
        part = min(max(value / self.most, 0.0), 1.0)
        return part if self.at_least else 1.0 - part

    def _spent(self, taken: Mask) -> Mask:
        """Return the states (S,) from which nothing more is paid, whatever happens, if only these choices are taken."""
        assert self._paid is not None
        pays = np.add.reduceat(self._paid > 0, self.graph.choice_ptr[:-1]) > 0
        paying = np.zeros(self.graph.states, dtype=np.bool_)
        paying[self.graph.choice_state[pays & taken]] = True
        if not self._trusted:
            return self._ended() & ~paying
        every = np.ones(self.graph.states, dtype=np.bool_)
        return ~self._edges.attract(paying, every, taken, every=False)[0]

    def _ended(self) -> Mask:
        """Return the states (S,) in which an environment's episodes end."""
        graph = self.graph
        single = np.diff(graph.state_ptr) == 1
        first = graph.state_ptr[:-1]
        stays = np.array([graph.action_name(int(c)) == STAY for c in first]) & single
        own = graph.successor[graph.choice_ptr[first]] == np.arange(graph.states)
        alone = np.diff(graph.choice_ptr)[first] == 1
        ended: Mask = stays & own & alone & (np.arange(graph.states) != (-1 if graph.rest is None else graph.rest))
        return ended


def paid(graph: Graph, spec: Spec) -> Array:
    """Return what every transition (T,) pays."""
    rewards = objective_of(graph, spec).rewards
    assert rewards is not None
    total: Array = np.repeat(rewards_of_choices(graph, rewards), graph.sizes)
    return total if rewards.transition is None else total + rewards.transition


def _most(spec: Spec, most: float | None, *, paid: bool) -> float:
    """Return the most that a trajectory counts for; `ModelError` where nobody knows."""
    if not paid:
        if most is not None:
            raise ModelError("most is for an expected reward; a probability is at most 1 anyway")
        return 1.0
    if most is None:
        raise ModelError(
            f"{spec} has no bound that playing alone can prove: a trajectory that was never seen may count for anything. Say the "
            "most that one can earn or cost: CandidateEvaluation(most=...) (--most)"
        )
    return float(most)
