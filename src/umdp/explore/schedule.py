"""When an iteration ends: the doubling schedule of the paper's algorithm 1, and how much is collected for one solve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph

__all__ = ["doubling", "least_trajectories"]

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
