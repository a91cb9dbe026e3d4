"""Sensitivity: by how much the worst-case value would move if one bound of one transition were tighter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph

__all__ = ["Sensitivity", "sensitivity", "visits_of"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
CLOSE = 1e-12  # a probability is at its bound if it is no farther from it


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """By how much the promise would move, for every bound of every transition, at first order.

    Attributes
    ----------
    visits : (C,) how often each choice is taken in expectation
    lower, upper : (T,) what the promise gains for every unit by which the bound were tighter; 0 where the bound does not bind
    difference : (T,) the value of the successor less that of the one that gives way, 0 where no bound binds
    """

    visits: Floats
    lower: Floats
    upper: Floats
    difference: Floats

    @property
    def gain(self) -> Floats:
        """What the promise gains for every unit of the bound that binds, shape (T,)."""
        return np.maximum(self.lower, self.upper)


def visits_of(graph: Graph, prob: Array, choice: Array, stop: Array) -> Floats:
    """Return how often a policy of choices (S,) takes each choice (C,) before it stops: one sparse linear system.

    Where it may never stop, what comes after is not counted: nothing that is done there can matter.

    Examples
    --------
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> visits_of(graph, np.array([0.75, 0.25, 1.0]), np.array([0, 1]), np.array([False, True])).tolist()
    [4.0, 0.0]
    """
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.csgraph import breadth_first_order
    from scipy.sparse.linalg import spsolve

    visits = np.zeros(graph.choices)
    if stop[graph.initial]:
        return visits
    first, sizes = graph.choice_ptr[choice], np.where(stop, 0, np.diff(graph.choice_ptr)[choice])
    ends = np.cumsum(sizes)
    entry = np.arange(int(ends[-1])) - np.repeat(ends - sizes - first, sizes)
    origin, chance, successor = np.repeat(np.arange(graph.states), sizes), prob[entry], graph.successor[entry]
    kept = chance > 0
    shape = (graph.states, graph.states)
    step = csr_array((chance[kept], (origin[kept], successor[kept])), shape=shape)
    ahead = np.zeros(graph.states, np.bool_)
    ahead[breadth_first_order(step, graph.initial, return_predecessors=False)] = True
    # All that stops is one place more, from which everything that may stop is found backwards.
    final = np.flatnonzero(stop & ahead)
    back = csr_array(
        (np.ones(kept.sum() + final.size),
         (np.concatenate((successor[kept], np.full(final.size, graph.states))), np.concatenate((origin[kept], final)))),
        shape=(graph.states + 1, graph.states + 1),
    )  # fmt: skip
    ends_somewhere = np.zeros(graph.states + 1, np.bool_)
    ends_somewhere[breadth_first_order(back, graph.states, return_predecessors=False)] = True
    inside = np.flatnonzero(ahead & ends_somewhere[:-1] & ~stop)
    if not inside.size or not ends_somewhere[graph.initial]:
        return visits
    place = np.searchsorted(inside, graph.initial)
    begin = np.zeros(inside.size)
    begin[place] = 1.0
    found = spsolve((eye_array(inside.size) - step[inside][:, inside].T).tocsc(), begin)
    visits[choice[inside]] = np.maximum(np.nan_to_num(found, nan=0.0, posinf=0.0), 0.0)
    return visits


def sensitivity(
    graph: Graph, lower: Array, upper: Array, prob: Array, worth: Array, visits: Array, *, nature_max: bool
) -> Sensitivity:
    """Return what tighter bounds are worth, where nature answers with probabilities (T,) to what successors are worth (T,).

    A lower bound that binds can be raised at the cost of the successor nature likes least of those it serves; an upper bound
    that binds lowered to the good of the one it likes best of those it does not serve in full.

    Examples
    --------
    >>> graph = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2])
    >>> low, high, answer = np.array([0.25, 0.5, 1, 1]), np.array([0.5, 0.75, 1, 1]), np.array([0.25, 0.75, 1, 1])
    >>> worth = np.array([1.0, 0.0, 0.0, 0.0])
    >>> found = sensitivity(graph, low, high, answer, worth, np.array([2.0, 0, 0]), nature_max=False)
    >>> found.lower.tolist(), found.upper.tolist()
    ([2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0])
    """
    sizes = np.diff(graph.choice_ptr)
    key = -worth if nature_max else worth  # nature wants it small
    free = upper - lower > CLOSE
    served, room = prob > lower + CLOSE, prob < upper - CLOSE
    donor = np.repeat(np.maximum.reduceat(np.where(served, key, -np.inf), graph.choice_ptr[:-1]), sizes)
    taker = np.repeat(np.minimum.reduceat(np.where(room, key, np.inf), graph.choice_ptr[:-1]), sizes)
    taken = np.repeat(visits, sizes)
    with np.errstate(invalid="ignore"):
        raised = np.where(free & ~served & np.isfinite(donor) & (taken > 0), key - donor, 0.0)
        lowered = np.where(free & ~room & np.isfinite(taker) & (taken > 0), taker - key, 0.0)
        raised, lowered = np.maximum(np.nan_to_num(raised), 0.0), np.maximum(np.nan_to_num(lowered), 0.0)
    difference = np.where(raised >= lowered, raised, -lowered)
    return Sensitivity(visits, taken * raised, taken * lowered, -difference if nature_max else difference)
