"""An episode and its path through a graph: the environment's own, or its product with an automaton that reads along."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import Graph
from umdp.source.source import SamplingRequest

__all__ = ["Episode"]

Chooser = Callable[[int], int]


class Episode:
    """Where an episode is, how it goes on, and which transitions it has taken.

    Parameters
    ----------
    own : Graph
        That of the environment.
    takeable : (C,) which of its choices are actions
    order : SamplingRequest
    uniform : draws numbers from 0 to 1

    Attributes
    ----------
    graph : in which the episode is followed
    place : the state of the graph
    path, choices : the transitions taken, and the choices they belong to
    """

    def __init__(
        self, own: Graph, takeable: NDArray[np.bool_], order: SamplingRequest, uniform: Callable[[], float]
    ) -> None:
        self._tracker, self._horizon = order.tracker, order.horizon
        self.graph = own if order.tracker is None else order.tracker.graph
        stuck = ~np.logical_or.reduceat(takeable, own.state_ptr[:-1])
        if order.tracker is None:
            halt, possible = order.halt | stuck, takeable
        else:
            origin = np.array(order.tracker.origin)
            halt = order.halt | order.tracker.over
            # Where nothing can be done any more, it is only remembered that nothing happens.
            possible = (origin < 0) | takeable[origin] | stuck[own.choice_state[origin]]
        self._halt, self._stuck = halt, stuck
        self._begin = self.graph.choice_ptr
        self._by_step: list[Chooser] = []
        weights = np.atleast_2d(order.weight)
        for step, weight in enumerate(weights):
            same = step > 0 and np.array_equal(weight, weights[step - 1])
            drawn = self._by_step[-1] if same else _chooser(self.graph, np.where(possible, weight, 0.0), uniform)
            self._by_step.append(drawn)
        self.begin()

    def begin(self) -> None:
        """Be at the beginning of an episode."""
        self.place = self.graph.initial
        self.path: list[int] = []
        self.choices: list[int] = []

    def choose(self) -> int:
        """Return the choice with which the episode goes on, -1 where it is over; what only changes the memory is done first."""
        while len(self.path) < self._horizon and not self._halt[self.place]:
            choice = self._by_step[min(len(self.path), len(self._by_step) - 1)](self.place)
            if self._tracker is None:
                return choice
            if self._tracker.origin[choice] >= 0:
                if self._stuck[self._tracker.state[self.place]]:
                    self.stay()
                    return -1
                return choice
            self._take(choice, int(self._begin[choice]))
        return -1

    def of_process(self, choice: int) -> int:
        """Return the choice of the environment's graph that one stands for."""
        return choice if self._tracker is None else self._tracker.origin[choice]

    def go(self, choice: int, transition: int) -> int:
        """Go along a transition of the environment's graph, -1 where it has none; return how many were counted."""
        if transition >= 0 and self._tracker is not None:
            transition = self._tracker.along(choice, transition)
        if transition < 0:
            return 0
        self._take(choice, transition)
        return 1

    def stay(self) -> None:
        """Have an automaton read on where the environment is over and nothing else will ever happen."""
        while self._tracker is not None and len(self.path) < self._horizon and not self._halt[self.place]:
            first, last = (self._begin[self.graph.state_ptr[self.place + more]] for more in (0, 1))
            here = self._tracker.state[self.place]
            if any(self._tracker.state[to] != here for to in self.graph.successor[first:last].tolist()):
                return
            choice = self._by_step[min(len(self.path), len(self._by_step) - 1)](self.place)
            transition = int(self._begin[choice])
            if self.graph.successor[transition] == self.place:
                return
            self._take(choice, transition)

    def _take(self, choice: int, transition: int) -> None:
        self.path.append(transition)
        self.choices.append(choice)
        self.place = int(self.graph.successor[transition])


def _chooser(graph: Graph, weight: NDArray[np.float64], uniform: Callable[[], float]) -> Chooser:
    """Return a function that draws a choice of a state, with probability in proportion to its weight."""
    sums: dict[int, tuple[int, list[float]]] = {}

    def choose(state: int) -> int:
        known = sums.get(state)
        if known is None:
            first, last = int(graph.state_ptr[state]), int(graph.state_ptr[state + 1])
            known = sums[state] = (first, list(accumulate(weight[first:last].tolist())))
            if known[1][-1] <= 0:
                raise ModelError(f"state {graph.state_name(state)}: no choice that can be taken has a positive weight")
        first, edges = known
        return first + bisect_right(edges, uniform() * edges[-1])

    return choose
