"""When an iteration ends: the doubling schedule of the paper's algorithm 1, how much is collected for one solve.

And whether exploration can still teach anything: whether the way it moves ever reaches an uncertain choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph

__all__ = ["doubling", "least_trajectories", "reaches"]

Array = NDArray[Any]


def doubling(graph: Graph, counts: Array, growth: float = 1.0) -> NDArray[np.int64]:
    """Return how often each choice must be taken for an iteration to end, (C,): as often as ever before, at least once.

    With another `growth` it is that many times as often. Choices with one successor have nothing to learn and never end an
    iteration (-1).

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1])
    >>> doubling(graph, np.array([3, 1, 0, 0, 7])).tolist()
    [4, 1, -1]
    >>> doubling(graph, np.array([3, 1, 0, 0, 7]), 0.25).tolist()
    [1, 1, -1]
    """
    from umdp.explore.ahead import quotas

    return quotas(graph.choice_ptr, counts, growth)


def least_trajectories(graph: Graph, pace: float, trajectories: int, steps: int) -> int:
    """Return how many trajectories an iteration takes at least, for collecting and solving to share the time.

    A solve costs about as much as so many steps as the graph has transitions, times the `pace` of the source. How long
    trajectories are is known from those before, so that the number depends on the run alone and not on the clock.

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1])
    >>> least_trajectories(graph, 0.0, 100, 1000), least_trajectories(graph, 40.0, 100, 1000)
    (1, 20)
    """
    if not trajectories or not steps:
        return 1
    return max(1, round(pace * graph.transitions * trajectories / steps))


def reaches(graph: Graph, weight: Array, wanted: Array, halt: Array, horizon: int) -> bool:
    """Forward reachability: whether a trajectory can take a wanted choice.

    A breadth-first search along every listed transition of the choices that are taken at all, until the first wanted one.

    Parameters
    ----------
    graph : Graph
    weight : (C,) the probability of every choice within its state, or (K, C), by the step, as in an `SamplingRequest`
    wanted : (C,) the choices from which something is learned
    halt : (S,) states at which a trajectory ends
    horizon : the longest a trajectory may be

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 1, 3, 4], [1, 0, 1, 1])
    >>> wanted, halt = np.diff(graph.choice_ptr) > 1, np.array([False, True])
    >>> reaches(graph, np.array([1.0, 0.0, 1.0]), wanted, halt, 10), reaches(graph, np.array([0.9, 0.1, 1.0]), wanted, halt, 10)
    (False, True)
    """
    first = slice(*graph.state_ptr[graph.initial : graph.initial + 2])
    begun = weight if weight.ndim == 1 else weight[0]
    if not halt[graph.initial] and bool((wanted[first] & (begun[first] > 0)).any()):
        return True  # most often there is nothing to search for
    taken = np.atleast_2d(weight) > 0
    reached = np.zeros(graph.states, dtype=np.bool_)
    reached[graph.initial] = len(taken) == 1
    frontier = np.array([graph.initial])
    for step in range(horizon):
        frontier = frontier[~halt[frontier]]
        choices = _members(graph.state_ptr, frontier)
        choices = choices[taken[min(step, len(taken) - 1), choices]]
        if wanted[choices].any():
            return True
        ahead = np.unique(graph.successor[_members(graph.choice_ptr, choices)])
        # What was reached before the last of the first steps may be left in other ways later.
        frontier = ahead[~reached[ahead]] if step + 2 >= len(taken) else ahead
        if not frontier.size:
            return False
        reached[frontier] |= step + 2 >= len(taken)
    return False


def _members(ptr: Array, rows: Array) -> Array:
    """Return the indices of everything the given rows own, in order."""
    first, sizes = ptr[rows], ptr[rows + 1] - ptr[rows]
    ends = np.cumsum(sizes)
    members: Array = np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - sizes - first, sizes)
    return members
