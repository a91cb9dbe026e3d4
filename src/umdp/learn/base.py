"""What all learners share: they hold bounds over the transitions of one graph, and counts move them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.model import Graph, IntervalMDP

__all__ = ["Guarantee", "Learner"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Guarantee:
    """What bounds promise: nothing, something for one look after a fixed number of samples, or something at all times.

    `level` is the probability with which all of them hold at once.

    Examples
    --------
    >>> print(Guarantee("any-time", 0.99))
    with probability 99 %, whenever you stop
    >>> print(Guarantee("none"))
    no guarantee
    """

    kind: Literal["none", "fixed-N", "any-time"]
    level: float | None = None

    def __str__(self) -> str:
        if self.level is None:
            return "no guarantee"
        when = (
            "whenever you stop"
            if self.kind == "any-time"
            else "if you look once, after a number of samples fixed before"
        )
        return f"with probability {100 * self.level:.10g} %, {when}"


class Learner(ABC):
    """Learns bounds on the probabilities of a graph from counts.

    A learner is made with its settings, and bound to a graph before it is used. To write one, set `name`, define
    `guarantee`, set up arrays in `begin` and move `lower` and `upper` in `update`. Every array that is an attribute is taken
    for something learned: `bind` starts without it, and `state`, `restore` and `clone` carry it. Settings that are arrays are
    therefore kept as tuples.

    Attributes
    ----------
    graph : the graph it is bound to
    matters : (C,) whether the probabilities of a choice can matter for the specification
    lower, upper : (T,) the bounds; [1, 1] on the only transition of a choice
    """

    name: ClassVar[str]
    graph: Graph
    matters: NDArray[np.bool_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What the bounds promise."""

    @abstractmethod
    def begin(self) -> None:
        """Set `lower`, `upper` and whatever else is kept to what is believed before any data."""

    @abstractmethod
    def update(self, counts: NDArray[np.int64]) -> None:
        """Take in how often each transition was seen since the last update, shape (T,)."""

    # -- binding ---------------------------------------------------------------------------------------------

    def bind(self, graph: Graph, matters: ArrayLike | None = None) -> Self:
        """Return a learner with these settings, at its beginning, for a graph."""
        fresh = copy.copy(self)
        for name in fresh.arrays():
            del fresh.__dict__[name]
        fresh.__dict__.pop("sizes", None)
        fresh.__dict__.pop("uncertain", None)
        fresh.graph = graph.graph
        given = np.ones(graph.choices, np.bool_) if matters is None else np.asarray(matters, dtype=np.bool_)
        if given.shape != (graph.choices,):
            raise ModelError(f"matters has shape {given.shape}, but there are {graph.choices} choices")
        fresh.matters = given
        fresh.begin()
        return fresh

    def learn(self, counts: ArrayLike) -> Self:
        """Check counts, take them in, and return this learner."""
        array = np.asarray(counts)
        if array.shape != (self.graph.transitions,) or array.dtype.kind not in "iu":
            raise ModelError(f"counts must be whole numbers of shape ({self.graph.transitions},), not {array.shape}")
        if (array < 0).any():
            raise ModelError(f"transition {int(np.flatnonzero(array < 0)[0])} has a negative count")
        self.update(array.astype(np.int64, copy=False))
        return self

    # -- helpers over the graph ------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of successors of each choice, shape (C,)."""
        return np.diff(self.graph.choice_ptr)

    @cached_property
    def uncertain(self) -> NDArray[np.bool_]:
        """Which transitions are one of several of their choice, shape (T,)."""
        return np.repeat(self.sizes > 1, self.sizes)

    def per_choice(self, values: Array) -> Array:
        """Return the sums over each choice, shape (C,)."""
        return np.add.reduceat(values, self.graph.choice_ptr[:-1])

    def per_transition(self, values: Array) -> Array:
        """Repeat a value per choice for each of its transitions, shape (T,)."""
        return np.repeat(values, self.sizes)

    # -- what is kept ----------------------------------------------------------------------------------------

    @property
    def model(self) -> IntervalMDP:
        """The learned interval MDP."""
        return self.graph.with_bounds(self.lower.copy(), self.upper.copy())

    def arrays(self) -> list[str]:
        """Return the names of the arrays that make up what has been learned."""
        ours = {"matters", "sizes", "uncertain"}
        return sorted(n for n, v in self.__dict__.items() if isinstance(v, np.ndarray) and n not in ours)

    def state(self) -> dict[str, Array]:
        """Return copies of everything learned, to be given to `restore`."""
        return {name: self.__dict__[name].copy() for name in self.arrays()}

    def restore(self, state: Mapping[str, Array]) -> Self:
        """Go back to a state; the learner must be bound to the same graph."""
        if set(state) != set(self.arrays()):
            raise ModelError(f"the state has {sorted(state)}, the learner {self.arrays()}")
        for name, value in state.items():
            if value.shape != self.__dict__[name].shape:
                raise ModelError(f"{name} has shape {value.shape}, but the learner's has {self.__dict__[name].shape}")
            self.__dict__[name] = np.array(value, dtype=self.__dict__[name].dtype)
        return self

    def clone(self) -> Self:
        """Return a copy that goes its own way."""
        other = copy.copy(self)
        for name in self.arrays():
            other.__dict__[name] = self.__dict__[name].copy()
        return other
