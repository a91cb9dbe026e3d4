"""The way of a process through its product with an automaton: what is remembered goes along with what happens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from umdp.automata.product import Product

__all__ = ["ProductTracker"]


class ProductTracker:
    """Follows trajectories of a process through a product, transition by transition.

    Parameters
    ----------
    product : Product
    listed : (T,) for each transition of the process the one of the product's model, -1 where it has none; optional, where
        they are the same

    Attributes
    ----------
    product : the product
    graph : its graph
    origin : (C,) the choice of the process that each choice stands for, -1 where only the memory changes
    over : (S,) where nothing is remembered that could still change
    state : (S,) the state of the process

    Examples
    --------
    >>> from umdp import MDP, solve
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 0, 0], [0.5, 0.5, 1, 1], labels={"heads": [1], "tails": [2]})
    >>> walk = ProductTracker(solve(coin, 'Pmax=? [ (F "heads") & (F "tails") ]').product)
    >>> first = walk.along(0, 0)  # heads, by the first choice
    >>> walk.graph.state_name(int(walk.graph.successor[first]))
    '(state=1,memory=1)'
    """

    def __init__(self, product: Product, listed: NDArray[np.int64] | None = None) -> None:
        self.product, self.graph = product, product.model.graph
        self.origin: list[int] = product.origin.tolist()
        self.over = product.reading.automaton.sinks[product.memory]
        self.state: list[int] = product.state.tolist()
        self._listed = None if listed is None else listed.tolist()
        self._shift: list[int] = (
            self.graph.choice_ptr[:-1] - product.base.choice_ptr[np.maximum(product.origin, 0)]
        ).tolist()

    def along(self, choice: int, transition: int) -> int:
        """Return the transition of the product's choice that one of the process stands for, -1 where it has none."""
        own = transition if self._listed is None else self._listed[transition]
        return -1 if own < 0 else own + self._shift[choice]
