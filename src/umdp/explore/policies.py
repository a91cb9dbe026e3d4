"""Exploration policies: how to move while learning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import Graph, Policy

__all__ = ["Explorer", "Follow", "Optimism", "Uniform"]

Array = NDArray[Any]


class Explorer(ABC):
    """Decides how to move while learning.

    Attributes
    ----------
    optimistic : whether it needs the optimistic policy of the learned model
    """

    optimistic: bool = False

    @abstractmethod
    def weight(self, graph: Graph, choice: Array | None) -> NDArray[np.float64]:
        """Return the probability of every choice within its state (C,), given the optimistic choice of every state (S,)."""


@dataclass(frozen=True)
class Optimism(Explorer):
    """Optimism in the face of uncertainty: with probability `xi` what is best in the best case, else any other choice.

    Examples
    --------
    >>> graph = Graph([0, 3, 4], [0, 1, 2, 3, 4], [0, 1, 1, 1])
    >>> Optimism(xi=0.9).weight(graph, [2, 3]).round(2).tolist()
    [0.05, 0.05, 0.9, 1.0]
    """

    xi: float = 1.0
    optimistic = True

    def __post_init__(self) -> None:
        if not 0 <= self.xi <= 1:
            raise ModelError(f"xi is the weight on the optimistic action and must lie between 0 and 1, not {self.xi}")

    def weight(self, graph: Graph, choice: Array | None) -> NDArray[np.float64]:
        """Put weight `xi` on the optimistic choice and spread the rest evenly over the others."""
        assert choice is not None
        sizes = np.diff(graph.state_ptr)
        weight = np.repeat((1 - self.xi) / np.maximum(sizes - 1, 1), sizes)
        weight[choice] = np.where(sizes > 1, self.xi, 1.0)
        return weight


@dataclass(frozen=True)
class Uniform(Explorer):
    """Every choice of a state is equally likely.

    Examples
    --------
    >>> Uniform().weight(Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1]), None).tolist()
    [0.5, 0.5, 1.0]
    """

    def weight(self, graph: Graph, choice: Array | None) -> NDArray[np.float64]:
        """Spread weight evenly."""
        sizes = np.diff(graph.state_ptr)
        return np.repeat(1.0 / sizes, sizes)


@dataclass(frozen=True)
class Follow(Explorer):
    """Always the same policy, deterministic or randomised.

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1])
    >>> Follow(Policy(graph, [1, 2])).weight(graph, None).tolist()
    [0.0, 1.0, 1.0]
    """

    policy: Policy

    def weight(self, graph: Graph, choice: Array | None) -> NDArray[np.float64]:
        """Return the policy's own weights."""
        if not np.array_equal(self.policy.graph.state_ptr, graph.state_ptr):
            raise ModelError("the policy to explore with is for a model with other states and choices")
        if self.policy.steps is not None:
            raise ModelError("the policy to explore with depends on the step; only memoryless ones can be followed")
        return self.policy.weights()
