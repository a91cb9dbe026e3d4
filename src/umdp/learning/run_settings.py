"""What is fixed for a whole run: the question on its graph, where trajectories end, and how solves are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.automata.product import product_of
from umdp.model import Graph
from umdp.solver import Solution
from umdp.solver.graph.unseen import unseen_staying, unseen_support
from umdp.spec import Spec
from umdp.statements.conditions import Asked

__all__ = ["RunSettings"]


@dataclass(frozen=True, eq=False)
class RunSettings:
    """What is fixed for a whole run.

    Attributes
    ----------
    graph : what is known of the process
    spec : the property, as it is asked
    worst, best : the property as it is meant in the worst case and in the best
    asked : what kind of property it is
    decided : whether the graph decides the value, so that there is nothing to learn
    favoured : whether what the graph decides may rest on transitions that were never seen
    halt : (S,) states at which trajectories end, because their value is known
    horizon : the longest a trajectory may be
    seed : of the run
    precision, method : of solves
    """

    graph: Graph
    spec: Spec
    worst: Spec
    best: Spec
    asked: Asked
    decided: bool
    favoured: bool
    halt: NDArray[np.bool_]
    horizon: int
    seed: int
    precision: float
    method: str

    @cached_property
    def reward(self) -> str | None:
        """The name of the reward that is asked for; None for a probability."""
        return self.spec.resolve_reward(list(self.graph.rewards)) if self.spec.kind == "R" else None

    def unseen(self, seen: NDArray[np.int64], solution: Solution | None) -> int:
        """Return how many transitions were never `seen` (T,), though what the graph decides for a policy rests on them."""
        product, found = product_of(self.graph), 0
        assert solution is not None
        if self.favoured:
            found += unseen_support(self.graph, self.worst, solution.policy, seen)
        return found if product is None else found + unseen_staying(self.graph, product.stay, solution.policy, seen)

    def options(self, starts: dict[str, Any], name: str) -> dict[str, Any]:
        """Return the options of a solve that starts from what was kept under a name."""
        return {
            "precision": self.precision, "method": self.method, "start": starts.get(name), "before": starts.get(f"{name} values"),
        }  # fmt: skip
