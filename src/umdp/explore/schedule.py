"""When an iteration ends: the doubling schedule of the paper's algorithm 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph

__all__ = ["doubling"]

Array = NDArray[Any]


def doubling(graph: Graph, counts: Array) -> NDArray[np.int64]:
    """Return how often each choice must be taken for an iteration to end, (C,): as often as ever before, at least once.

    Choices with one successor have nothing to learn and never end an iteration (-1).

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1])
    >>> doubling(graph, np.array([3, 1, 0, 0, 7])).tolist()
    [4, 1, -1]
    """
    seen = np.add.reduceat(counts, graph.choice_ptr[:-1])
    return np.where(np.diff(graph.choice_ptr) > 1, np.maximum(seen, 1), -1)
