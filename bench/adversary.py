"""An exploration that wants the learner to be wrong: it knows the truth, and samples what is nearest to a miss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp import MDP, Graph
from umdp.explore import Explorer, View
from umdp.explore.policies import even
from umdp.learning.loop import LearningRun

__all__ = ["Adversary", "EveryTrajectory"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Adversary(Explorer):
    """Goes to the choice of which an end of an interval is nearest to excluding the true probability, and takes it.

    Near is meant relative to the width: 1/2 in the middle of an interval, 0 at its end; ends that are still 0 or 1 exclude
    nothing. In a share `xi` of its steps it does anything, or it would never leave the first choice.
    """

    truth: MDP
    xi: float = 0.9

    def weight(self, view: View) -> NDArray[np.float64]:
        """Return the weights (C,): on the way to the choice nearest to a miss, and there that one."""
        graph = self.truth.graph
        anything = even(graph, np.ones(graph.choices))
        room = nearness(self.truth, view)
        target = int(np.argmin(room))
        if not np.isfinite(room[target]):
            return anything
        towards = even(graph, best_way(self.truth, int(graph.choice_state[target])))
        own = slice(*graph.state_ptr[graph.choice_state[target] : graph.choice_state[target] + 2])
        towards[own] = 0.0
        towards[target] = 1.0
        weight: NDArray[np.float64] = self.xi * towards + (1 - self.xi) * anything
        return weight


def nearness(truth: MDP, view: View) -> NDArray[np.float64]:
    """Return how near to a miss each choice is, (C,): the smaller the nearer; infinite where nothing is claimed."""
    p, width = truth.probability, np.maximum(view.upper - view.lower, 1e-300)
    low = np.where(view.lower > 0, (p - view.lower) / width, np.inf)
    high = np.where(view.upper < 1, (view.upper - p) / width, np.inf)
    room = np.minimum.reduceat(np.minimum(low, high), truth.choice_ptr[:-1])
    return np.where(view.matters & (truth.sizes > 1), room, np.inf)


def best_way(truth: MDP, target: int) -> NDArray[np.bool_]:
    """Return the choices (C,) that most often lead one step nearer to a state; all where none does."""
    distance = _distances(truth, target)
    nearer = distance[truth.successor] < np.repeat(distance[truth.choice_state], truth.sizes)
    luck = np.add.reduceat(np.where(nearer, truth.probability, 0.0), truth.choice_ptr[:-1])
    most = np.repeat(np.maximum.reduceat(luck, truth.state_ptr[:-1]), np.diff(truth.state_ptr))
    return np.asarray(luck >= most)


def _distances(graph: Graph, target: int) -> NDArray[np.float64]:
    """Return the number of steps that it takes at least from every state to one of them, (S,)."""
    distance = np.full(graph.states, np.inf)
    distance[target] = 0
    state = np.repeat(graph.choice_state, graph.sizes)
    while True:
        shorter = distance.copy()
        np.minimum.at(shorter, state, distance[graph.successor] + 1)
        if np.array_equal(shorter, distance):
            return distance
        distance = shorter


class EveryTrajectory(LearningRun):
    """A run that is looked at after every single trajectory: no schedule of looks makes it harder to be right."""

    def quota(self) -> Array:
        """Return 1 for every choice from which something is learned."""
        return np.where(self.source.graph.sizes > 1, 1, -1)
