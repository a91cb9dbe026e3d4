"""What an explorer sees: everything learned so far, as arrays over the graph; and where it asks, the worst and the best case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph

__all__ = ["ValueEstimate", "ValueEstimates", "View"]


class ValueEstimate(NamedTuple):
    """The values of all states, shape (S,), and the choices (S,) of the policy that has them, in the worst or best case."""

    values: NDArray[np.float64]
    choice: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ValueEstimates:
    """What may come of what is known; every function solves something, at most once an iteration.

    Attributes
    ----------
    worst : returns the values of the robust policy against the worst probabilities
    best : returns the values of the optimistic policy with the best ones; None where nothing is there to follow it
    plan : returns the best choices (S,) for probabilities (T,)
    rises : whether larger values are better
    seen : (T,) how often an outcome of each transition was seen, wherever it counts for it
    paid : (T,) what transitions earn, or empty
    halt : (S,) states at which trajectories end
    horizon : the longest a trajectory may be
    seed, iteration : of the run, for explorers that draw numbers
    group : (C,) which choices share their distribution and so their samples; None if none do
    feeds : (C,) the choices whose samples count for their group; None if all do
    """

    worst: Callable[[], ValueEstimate]
    best: Callable[[], ValueEstimate | None]
    plan: Callable[[Array], Array]
    rises: bool
    seen: NDArray[np.int64]
    paid: NDArray[np.float64]
    halt: NDArray[np.bool_]
    horizon: int
    seed: int = 0
    iteration: int = 0
    group: NDArray[np.int64] | None = None
    feeds: NDArray[np.bool_] | None = None

    def pooled(self, per_choice: Array, *, fed: bool = False) -> Array:
        """Return, for every choice, the sum over all that share its distribution, shape (C,); `fed`: of those that feed it."""
        if self.group is None:
            return per_choice
        counted = per_choice if self.feeds is None or not fed else np.where(self.feeds, per_choice, 0)
        return np.bincount(self.group, counted, int(self.group.max(initial=-1)) + 1)[self.group]


Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class View:
    """What is known when exploration is decided: counts, bounds and, where it was asked for, the optimistic choice.

    Attributes
    ----------
    graph : what is known of the process
    counts : (T,) how often each transition has been seen
    lower, upper : (T,) the learned bounds
    matters : (C,) whether the probabilities of a choice can matter for the property
    optimistic : (S,) the choice that is best in the best case, None unless the explorer asks for it
    tied : (C,) the choices that are as good as that one, None unless ties are to be spread
    estimate : returns the worst and the best case, solved where they are asked for; None without a run

    Examples
    --------
    >>> view = View.before(Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1]))
    >>> view.visits.tolist(), view.width.tolist()
    ([0, 0, 0], [1.0, 1.0, 0.0, 0.0])
    """

    graph: Graph
    counts: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    matters: NDArray[np.bool_]
    optimistic: NDArray[np.int64] | None = None
    tied: NDArray[np.bool_] | None = None
    estimate: Callable[[], ValueEstimates] | None = None

    @classmethod
    def before(cls, graph: Graph, optimistic: Any = None) -> View:
        """Return the view before any data, with bounds that say nothing."""
        sizes = np.diff(graph.choice_ptr)
        sure = np.repeat(sizes == 1, sizes)
        chosen = None if optimistic is None else np.asarray(optimistic, dtype=np.int64)
        counts = np.zeros(graph.transitions, dtype=np.int64)
        return cls(graph, counts, np.where(sure, 1.0, 0.0), np.ones(graph.transitions), sizes > 1, chosen)

    @cached_property
    def estimates(self) -> ValueEstimates | None:
        """The worst and the best case, solved where they are asked for; None without a run."""
        return None if self.estimate is None else self.estimate()

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each choice has been taken, shape (C,)."""
        return np.add.reduceat(self.counts, self.graph.choice_ptr[:-1])

    @property
    def width(self) -> NDArray[np.float64]:
        """The distance between the bounds of each transition, shape (T,)."""
        return self.upper - self.lower
