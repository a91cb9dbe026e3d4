"""A test of ties that holds at all times: whether every choice behaves like its class."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from umdp.learn.confidence_sequence import ConfidenceSequence
from umdp.model.tying import Tying

__all__ = ["Agreement"]

Floats = NDArray[np.float64]


class Agreement:
    """Watches every choice of a class alone, and names one that does not behave like its class.

    The counts of each choice have a confidence sequence of their own. Where the interval of a transition and what is learned of
    it from its class have no number in common, one of them is wrong: if the classes are right, that happens at any
    time with no more than the probability `rate`, and the one with which what is learned of the class is wrong.

    Parameters
    ----------
    tying : Tying
    matters : (C,) the choices that are watched, if they have company
    rate : float
        The probability of a false alarm.

    Examples
    --------
    >>> from umdp import Graph
    >>> graph = Graph([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], actions=["a", "b", "stay", "stay"])
    >>> coins = Tying.of(graph, lambda state, action: "coin" if state == "0" else None, lambda *where: f"side {where[2]}")
    >>> watch = Agreement(coins, np.ones(4, bool), 0.01)
    >>> watch.update(np.array([90, 10, 500, 500, 0, 0]))
    >>> watch.unlike(np.array([0.5, 0.4, 0.5, 0.4, 1, 1]), np.array([0.6, 0.5, 0.6, 0.5, 1, 1]))
    0
    """

    def __init__(self, tying: Tying, matters: NDArray[np.bool_], rate: float) -> None:
        fed = np.bincount(tying.choice_class[tying.feeds], minlength=tying.classes)
        company = tying.feeds & (fed[tying.choice_class] > 1)
        self.each = ConfidenceSequence(rate).bind(tying.graph, matters & company)

    def update(self, counts: NDArray[np.int64]) -> None:
        """Take in how often each transition was seen since the last update, (T,)."""
        self.each.update(counts)

    def unlike(self, lower: Floats, upper: Floats) -> int | None:
        """Return a transition whose own interval excludes what is learned of it, the farthest off; None without."""
        apart = np.maximum(self.each.lower - upper, lower - self.each.upper)
        worst = int(np.argmax(np.where(self.each.claimed, apart, -1.0)))
        return worst if self.each.claimed[worst] and apart[worst] > 0 else None

    def arrays(self) -> list[str]:
        """Return the names of the arrays that are kept."""
        return self.each.arrays()

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all that was seen."""
        return self.each.state()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Self:
        """Go back to a state."""
        self.each.restore(state)
        return self

    def clone(self) -> Self:
        """Return a copy that goes its own way."""
        other = copy.copy(self)
        other.each = self.each.clone()
        return other
