"""Where trajectories come from: the contract of all sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, Graph

__all__ = ["Batch", "Order", "Source"]


@dataclass(frozen=True, eq=False)
class Order:
    """What to collect next.

    Attributes
    ----------
    weight : (C,) how to explore: the probability of every choice within its state
    halt : (S,) states at which a trajectory ends, because their value is known
    horizon : steps after which a trajectory ends in any case
    quota : (C,) the batch ends after the trajectory in which some choice has been taken this often; negative: never
    trajectories : the most trajectories to collect, at least 1
    """

    weight: NDArray[np.float64]
    halt: NDArray[np.bool_]
    horizon: int
    quota: NDArray[np.int64]
    trajectories: int


@dataclass(frozen=True, eq=False)
class Batch:
    """What was collected.

    Attributes
    ----------
    counts : (T,) how often each transition was seen
    trajectories, steps : how many; trajectories count when they begin
    ended : no more will come; a batch that is empty and not the last means that nothing has come yet
    """

    counts: NDArray[np.int64]
    trajectories: int
    steps: int
    ended: bool = False


class Source(ABC):
    """Gives trajectories through one graph, in batches of whole trajectories.

    Attributes
    ----------
    graph : what is known of the process
    interactive : whether it follows the exploration policy; a log does not
    eager : whether to learn from every batch at once, as from a stream, and not only when counts have doubled
    """

    graph: Graph
    interactive: ClassVar[bool] = True
    eager: bool = False

    @property
    def truth(self) -> MDP | None:
        """The process itself where it is known, as it is now; to measure by, never to learn from."""
        return None

    @abstractmethod
    def begin(self, seed: int) -> None:
        """Start from the beginning; equal seeds give equal batches."""

    @abstractmethod
    def collect(self, order: Order) -> Batch:
        """Collect trajectories until the order is met or nothing more comes."""

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on from here: numbers, text, lists and arrays."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:  # noqa: B027 - a source without state has nothing to do
        """Go on from a state; the source must have begun."""

    def report(self) -> list[str]:
        """Return what the user should know about the data so far, a line each."""
        return []

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of files and environments."""
