"""A candidate: a policy that was fixed before it was played, and what playing it has shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from umdp.learning.candidates.mean_bound import Mixture, lower_end
from umdp.model import Graph, Policy

__all__ = ["Candidate", "same"]


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
    taken = (mine if mine.ndim == 1 else mine.max(axis=0)) > 0
    reached = np.zeros(graph.states, dtype=np.bool_)
    reached[graph.initial] = True
    of_choice = np.repeat(np.arange(graph.choices), np.diff(graph.choice_ptr))
    before = 0
    while before < (before := int(reached.sum())):
        reached[graph.successor[(taken & reached[graph.choice_state])[of_choice]]] = True
    where = reached[graph.choice_state]
    return bool(np.array_equal(mine[..., where], others[..., where]))
