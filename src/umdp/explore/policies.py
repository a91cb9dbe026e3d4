"""Exploration policies: how to move while learning, and when an iteration ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.explore.view import View
from umdp.model import Graph, Policy
from umdp.model.structure import entries_of, mask_of

__all__ = [
    "Explorer", "Follow", "Optimism", "Uniform", "best", "directions", "doubling", "even", "least_trajectories", "reaches",
]  # fmt: skip

Array = NDArray[Any]
LONG = 10**7  # the most weights, of all choices in all steps


class Explorer(ABC):
    """Exploration policy: decides how to move while learning, from everything learned so far.

    To write one, return a weight per choice from what a `View` shows: counts, bounds and, if `optimistic` is set, the choice
    of every state that is best in the best case. It is asked once before every iteration; equal views must give equal weights,
    so that a run that is continued explores as it would have.

    Attributes
    ----------
    optimistic : whether it needs the optimistic choice, which costs a solve

    Examples
    --------
    >>> class Widest(Explorer):
    ...     def weight(self, view):
    ...         widest = np.maximum.reduceat(view.width, view.graph.choice_ptr[:-1])
    ...         return even(view.graph, widest >= best(view.graph, widest))
    >>> Widest().weight(View.before(Graph([0, 2, 3], [0, 1, 3, 4], [0, 0, 1, 1]))).tolist()
    [0.0, 1.0, 1.0]
    """

    optimistic: bool = False

    @abstractmethod
    def weight(self, view: View) -> NDArray[np.float64]:
        """Return the probability of every choice within its state, shape (C,)."""

    def spreads_ties(self, environment: bool) -> bool:
        """Whether to be shown which choices are as good as the optimistic one; `environment` says whether one is played."""
        return False


def best(graph: Graph, score: Array) -> Array:
    """Return, for every choice, the largest score in its state, shape (C,)."""
    return np.repeat(np.maximum.reduceat(score, graph.state_ptr[:-1]), np.diff(graph.state_ptr))


def even(graph: Graph, among: Array) -> NDArray[np.float64]:
    """Return weights that are equal among the chosen choices (C,) of every state, 0 elsewhere."""
    chosen = among.astype(np.float64)
    weight: NDArray[np.float64] = chosen / np.repeat(
        np.add.reduceat(chosen, graph.state_ptr[:-1]), np.diff(graph.state_ptr)
    )
    return weight


def directions(explorer: Explorer, view: View, choice: Array | None) -> NDArray[np.float64]:
    """Return weights (C,); or where the optimistic choice depends on the step, shape (K, S), those of the first steps, (K, C).

    Where that were too many, the first is for all of them. `view` is that of the first step. Ties are known for that one only:
    in another step the choices that are tied with the optimistic one are so in states where that one is among those of the first.

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1])
    >>> directions(Optimism(), View.before(graph), np.array([[0, 2], [0, 2], [1, 2]])).tolist()
    [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    if choice is None or choice.ndim == 1:
        return explorer.weight(view)
    sizes = np.diff(view.graph.state_ptr)
    weight: list[NDArray[np.float64]] = []
    for step, now in enumerate(choice if len(choice) * view.graph.choices <= LONG else choice[:1]):
        if step and np.array_equal(now, choice[step - 1]):
            weight.append(weight[-1])
            continue
        tied = view.tied
        if tied is not None:
            tied = np.where(np.repeat(tied[now], sizes), tied, mask_of(now, view.graph.choices))
        weight.append(explorer.weight(replace(view, optimistic=now, tied=tied)))
    return np.array(weight)


@dataclass(frozen=True)
class Optimism(Explorer):
    """Optimism in the face of uncertainty: with probability `xi` what is best in the best case, else any other choice.

    Of choices that are equally good, the first is taken, as in the paper. As long as the best case is the same everywhere that
    learns nothing of the others, so with `spread` the least tried ones among them are; None: with environments.

    Examples
    --------
    >>> graph = Graph([0, 3, 4], [0, 1, 2, 3, 4], [0, 1, 1, 1])
    >>> Optimism(xi=0.9).weight(View.before(graph, optimistic=[2, 3])).round(2).tolist()
    [0.05, 0.05, 0.9, 1.0]
    """

    xi: float = 1.0
    spread: bool | None = None
    optimistic = True

    def __post_init__(self) -> None:
        if not 0 <= self.xi <= 1:
            raise ModelError(f"xi is the weight on the optimistic action and must lie between 0 and 1, not {self.xi}")

    def weight(self, view: View) -> NDArray[np.float64]:
        """Put weight `xi` on the optimistic choice and spread the rest evenly over the others."""
        assert view.optimistic is not None
        if view.tied is None:
            from umdp.explore.ahead import prefer

            return prefer(view.graph.state_ptr, view.optimistic, self.xi)
        tried = np.where(view.tied, view.visits, np.iinfo(np.int64).max)
        least = -best(view.graph, -tried)
        chosen = view.tied & (tried <= 2 * least)  # the least tried: none more than twice as often as another
        return self.xi * even(view.graph, chosen) + (1 - self.xi) * even(view.graph, np.ones(view.graph.choices))

    def spreads_ties(self, environment: bool) -> bool:
        """Whether equally good choices take turns; by default where an environment is played."""
        return environment if self.spread is None else self.spread


@dataclass(frozen=True)
class Uniform(Explorer):
    """Every choice of a state is equally likely.

    Examples
    --------
    >>> Uniform().weight(View.before(Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1]))).tolist()
    [0.5, 0.5, 1.0]
    """

    def weight(self, view: View) -> NDArray[np.float64]:
        """Spread weight evenly."""
        return even(view.graph, np.ones(view.graph.choices))


@dataclass(frozen=True)
class Follow(Explorer):
    """Always the same policy, deterministic or randomised.

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1])
    >>> Follow(Policy(graph, [1, 2])).weight(View.before(graph)).tolist()
    [0.0, 1.0, 1.0]
    """

    policy: Policy

    def weight(self, view: View) -> NDArray[np.float64]:
        """Return the policy's own weights."""
        if not np.array_equal(self.policy.graph.state_ptr, view.graph.state_ptr):
            raise ModelError("the policy to explore with is for a model with other states and choices")
        if self.policy.steps is not None:
            raise ModelError("the policy to explore with depends on the step; only memoryless ones can be followed")
        return self.policy.weights()


# -- when an iteration ends ----------------------------------------------------------------------------------


def doubling(graph: Graph, counts: Array, growth: float = 1.0) -> NDArray[np.int64]:
    """Return how often each choice must be taken for an iteration to end, (C,): as often as ever before, at least once.

    With another `growth` it is that many times as often. Choices with one successor have nothing to learn and never end an
    iteration (-1).

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1])
    >>> doubling(graph, np.array([3, 1, 0, 0, 7])).tolist()
    [4, 1, -1]
    >>> doubling(graph, np.array([3, 1, 0, 0, 7]), 0.25).tolist()
    [1, 1, -1]
    """
    from umdp.explore.ahead import quotas

    return quotas(graph.choice_ptr, counts, growth)


def least_trajectories(graph: Graph, pace: float, trajectories: int, steps: int) -> int:
    """Return how many trajectories an iteration takes at least, for collecting and solving to share the time.

    A solve costs about as much as so many steps as the graph has transitions, times the `pace` of the source. How long
    trajectories are is known from those before, so that the number depends on the run alone and not on the clock.

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1])
    >>> least_trajectories(graph, 0.0, 100, 1000), least_trajectories(graph, 40.0, 100, 1000)
    (1, 20)
    """
    if not trajectories or not steps:
        return 1
    return max(1, round(pace * graph.transitions * trajectories / steps))


def reaches(graph: Graph, weight: Array, wanted: Array, halt: Array, horizon: int) -> bool:
    """Forward reachability: whether a trajectory can take a wanted choice.

    A breadth-first search along every listed transition of the choices that are taken at all, until the first wanted one.

    Parameters
    ----------
    graph : Graph
    weight : (C,) the probability of every choice within its state, or (K, C), by the step, as in an `SamplingRequest`
    wanted : (C,) the choices from which something is learned
    halt : (S,) states at which a trajectory ends
    horizon : the longest a trajectory may be

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 1, 3, 4], [1, 0, 1, 1])
    >>> wanted, halt = np.diff(graph.choice_ptr) > 1, np.array([False, True])
    >>> reaches(graph, np.array([1.0, 0.0, 1.0]), wanted, halt, 10), reaches(graph, np.array([0.9, 0.1, 1.0]), wanted, halt, 10)
    (False, True)
    """
    first = slice(*graph.state_ptr[graph.initial : graph.initial + 2])
    begun = weight if weight.ndim == 1 else weight[0]
    if not halt[graph.initial] and bool((wanted[first] & (begun[first] > 0)).any()):
        return True  # most often there is nothing to search for
    taken = np.atleast_2d(weight) > 0
    reached = np.zeros(graph.states, dtype=np.bool_)
    reached[graph.initial] = len(taken) == 1
    frontier = np.array([graph.initial])
    for step in range(horizon):
        frontier = frontier[~halt[frontier]]
        choices = entries_of(graph.state_ptr, frontier)
        choices = choices[taken[min(step, len(taken) - 1), choices]]
        if wanted[choices].any():
            return True
        ahead = np.unique(graph.successor[entries_of(graph.choice_ptr, choices)])
        # What was reached before the last of the first steps may be left in other ways later.
        frontier = ahead[~reached[ahead]] if step + 2 >= len(taken) else ahead
        if not frontier.size:
            return False
        reached[frontier] |= step + 2 >= len(taken)
    return False
