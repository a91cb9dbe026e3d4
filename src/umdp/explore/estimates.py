"""What may come of what is known: the worst and the best case, worked out only where an explorer asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ValueEstimate", "ValueEstimates"]

Array = NDArray[Any]


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
