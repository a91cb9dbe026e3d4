"""Choices repeated until every state has as many: for formats that know actions only as a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from umdp.io.files import Model
from umdp.model import Graph, IntervalMDP

__all__ = ["padded_choices", "padded_rows"]


def padded_choices(graph: Graph) -> tuple[NDArray[np.int64], int]:
    """Return the choices of all states in turn, the last of each repeated until all states have as many; and how many.

    Who decides gains nothing by a choice that is there twice, so the values stay what they are.

    Examples
    --------
    >>> from umdp import Graph
    >>> padded_choices(Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1]))
    (array([0, 1, 2, 2]), 2)
    """
    counts = np.diff(graph.state_ptr)
    most = int(counts.max())
    within = np.minimum(np.arange(most)[None, :], counts[:, None] - 1)
    return (graph.state_ptr[:-1, None] + within).ravel().astype(np.int64), most


def padded_rows(
    model: Model, choice: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Return the sizes of choices in turn, and the successors, in order, and bounds of their transitions.

    Examples
    --------
    >>> from umdp import MDP
    >>> padded_rows(MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.25, 0.75, 1]), np.array([1, 0]))[:2]
    (array([1, 2]), array([1, 0, 1], dtype=int32))
    """
    sizes = np.diff(model.choice_ptr)[choice]
    # Where each choice begins less where it is put, and how far all before it go.
    entry = np.repeat(model.choice_ptr[choice] - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(sizes.sum())
    entry = entry[np.lexsort((model.successor[entry], np.repeat(np.arange(choice.size), sizes)))]
    low, high = (model.lower, model.upper) if isinstance(model, IntervalMDP) else (model.probability, model.probability)
    return sizes, model.successor[entry], low[entry], high[entry]
