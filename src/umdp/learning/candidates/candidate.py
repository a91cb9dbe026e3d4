"""A candidate: a policy that was fixed before it was played, what playing it has shown, and what that proves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.learn.binomial import ULP, log_likelihood, lowest
from umdp.model import Graph, Policy
from umdp.model.policy import taken_choices
from umdp.solver.graph.decided import Shape, reachable

__all__ = ["JEFFREYS", "Candidate", "Mixture", "informed", "lower_end", "reached_states", "same"]

Mixture = tuple[tuple[float, float, float], ...]
JEFFREYS: Mixture = ((1.0, 0.5, 0.5),)


def informed(guess: float, weight: float) -> Mixture:
    """Return a mixture that is ready for anything, and half of it for a mean close to a guess that so many plays are worth.

    It must be fixed before the plays that it judges. A bad guess costs next to nothing, log 2 of what the data must say.

    Examples
    --------
    >>> informed(0.3, 100.0)
    ((0.5, 0.5, 0.5), (0.5, 30.5, 70.5))
    """
    near = min(max(guess, 0.0), 1.0)
    # Whole and half numbers, so that whoever checks the bound computes with the same numbers.
    return ((0.5, 0.5, 0.5), (0.5, 0.5 + round(weight * near), 0.5 + round(weight * (1 - near))))


def lower_end(hits: float, plays: int, level: float, mixture: Mixture = JEFFREYS) -> float:
    r"""Return the lowest mean that plays, of which each counted for 0 to 1 and all for `hits`, do not rule out; rather too low.

    A mean p is ruled out if

    .. math:: k \log p + (n-k) \log(1-p) < \log \sum_i w_i \frac{B(a_i + k, b_i + n - k)}{B(a_i, b_i)} + \log \text{level}.

    By Ville's inequality the true mean is ever ruled out with at most the probability `level`, for any weights w that sum to 1
    and were fixed before. For plays that count for something between 0 and 1 the likelihood ratio is convex in that, so that its
    mean is no more than that of coins.

    Examples
    --------
    >>> round(lower_end(540, 1600, 0.005), 4), lower_end(0, 100, 0.01)
    (0.2881, 0.0)
    >>> round(lower_end(540, 1600, 0.005, informed(0.34, 400)), 4)
    0.295
    """
    from scipy.special import betaln, gammaln

    if hits <= 0 or plays <= 0:
        return 0.0
    misses = max(plays - hits, 0.0)
    parts = []
    for weight, a, b in mixture:
        part = gammaln(a + hits) + gammaln(b + misses) - gammaln(a + b + hits + misses) - betaln(a, b)
        # The logarithms of gamma functions are known to a few units in the last place, and much of them cancels.
        size = hits + misses + a + b
        slack = 32 * ULP * size * math.log(size + 2)
        parts.append(math.log(weight) + float(part) - slack)
    top = max(parts)
    mixed = top + math.log(sum(math.exp(part - top) for part in parts)) - 16 * ULP * (1 + abs(top))
    k, m = np.array([float(hits)]), np.array([float(misses)])
    room = log_likelihood(k, m) - mixed - math.log(level)
    end = float(np.exp(lowest(k, m, room))[0])
    return math.nextafter(end, 0.0)


@dataclass(eq=False)
class Candidate:
    """A policy that is played, and what that has shown.

    Attributes
    ----------
    policy : fixed when it became a candidate
    level : its part of the error rate, fixed at the same time
    mixture : what its confidence sequence mixes, fixed at the same time
    plays, hits : how often it was played since, and what that counts for, of 1 each
    best : the plays and hits with which its bound was best when somebody looked

    Examples
    --------
    >>> one = Candidate(Policy(Graph([0, 1], [0, 1], [0]), [0]), 0.01, ((1.0, 0.5, 0.5),), plays=100, hits=60.0)
    >>> one.end(100, 60.0) < 0.6, one.bound()[1:]
    (True, (100, 60.0))
    """

    policy: Policy
    level: float
    mixture: Mixture
    plays: int = 0
    hits: float = 0.0
    best: tuple[int, float] = (0, 0.0)

    def end(self, plays: int, hits: float) -> float:
        """Return the lower end of its mean if it had so many hits in so many plays."""
        return lower_end(hits, plays, self.level, self.mixture)

    def bound(self) -> tuple[float, int, float]:
        """Return the best lower end of its mean there has been, and the plays and hits that it follows from."""
        now, then = self.end(self.plays, self.hits), self.end(*self.best)
        return (now, self.plays, self.hits) if now > then else (then, *self.best)

    def state(self) -> dict[str, Any]:
        """Return everything a continued run needs."""
        return {
            "choice": np.array(self.policy.choice), "level": self.level, "mixture": [list(part) for part in self.mixture],
            "plays": self.plays, "hits": self.hits, "best": list(self.best),
        }  # fmt: skip

    @staticmethod
    def restored(graph: Graph, state: Mapping[str, Any]) -> Candidate:
        """Return the candidate that a state was made from."""
        plays, hits = state["best"]
        return Candidate(
            Policy(graph, np.array(state["choice"])), float(state["level"]),
            tuple((float(w), float(a), float(b)) for w, a, b in state["mixture"]), int(state["plays"]),
            float(state["hits"]), (int(plays), float(hits)),
        )  # fmt: skip


def same(graph: Graph, one: Policy, other: Policy) -> bool:
    """Whether two policies do the same wherever the first can get to, so that they are worth the same.

    Examples
    --------
    >>> graph = Graph([0, 1, 3, 4], [0, 1, 2, 3, 4], [2, 0, 1, 2])
    >>> same(graph, Policy(graph, [0, 1, 3]), Policy(graph, [0, 2, 3]))
    True
    """
    mine, others = one.weights(), other.weights()
    if mine.shape != others.shape:
        return False
    where = reached_states(graph, taken_choices(one))[graph.choice_state]
    return bool(np.array_equal(mine[..., where], others[..., where]))


def reached_states(graph: Graph, taken: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the states (S,) that can be reached by choices (C,) that may be taken."""
    return reachable(Shape.of(graph).under(taken), graph.initial, np.zeros(graph.states, dtype=np.bool_))
