"""The bare arrays of a graph, as the solver passes them around."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from umdp.model import Graph

__all__ = ["Shape", "sealed"]


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself where it is read-only, else a view of it that is."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class Shape:
    """State, choice and successor arrays without names, labels or checks; equal successors may stay apart.

    They are read-only, like those of a `Graph`: kernels are compiled apart for arrays that may be written to.
    """

    state_ptr: NDArray[np.int64]
    choice_ptr: NDArray[np.int64]
    successor: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name in ("state_ptr", "choice_ptr", "successor"):
            object.__setattr__(self, name, sealed(getattr(self, name)))

    @classmethod
    def of(cls, graph: Graph) -> Shape:
        """Return the arrays of a graph."""
        return cls(graph.state_ptr, graph.choice_ptr, graph.successor)

    @property
    def states(self) -> int:
        """The number of states."""
        return self.state_ptr.size - 1

    @property
    def choices(self) -> int:
        """The number of choices."""
        return self.choice_ptr.size - 1

    @property
    def transitions(self) -> int:
        """The number of transitions."""
        return self.successor.size

    @cached_property
    def choice_state(self) -> NDArray[Any]:
        """The state of every choice, shape (C,)."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.state_ptr))
