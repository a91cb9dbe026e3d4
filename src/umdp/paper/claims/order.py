"""How much the order of actions matters: the basic experiment beside the same with actions in random order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from umdp.paper.claims.measures import Evidence, significance
from umdp.paper.claims.verdict import count
from umdp.paper.results import Results

__all__ = ["HEAD", "OrderEffect", "orders"]

Floats = NDArray[np.float64]
HEAD = ("environment", "learner", "as listed", "random order", "p")


@dataclass(frozen=True)
class OrderEffect:
    """When a learner reaches an optimal policy in an environment, with actions in the paper's order and in random order.

    Attributes
    ----------
    environment, learner : title and label
    listed, shuffled : the median over seeds of the first number of trajectories with a policy within 1 % of the optimum
    significance : the p-value of Mann and Whitney's test that the order makes no difference
    """

    environment: str
    learner: str
    listed: float
    shuffled: float
    significance: float

    def row(self) -> list[str]:
        """Return the values as text."""
        return [self.environment, self.learner, count(self.listed), count(self.shuffled), f"{self.significance:.2g}"]


def orders(results: Sequence[Results], published: bool) -> list[OrderEffect]:
    """Return the comparison for every learner and environment that both experiments have, if both were run in this mode.

    Runs of different lengths are compared as far as the shorter ones go.
    """
    found = {each.name: each for each in results if each.published is published and not each.own}
    if "basic" not in found or "ties" not in found:
        return []
    basic, ties = Evidence(found["basic"]), Evidence(found["ties"])
    length = min(basic.trajectories, ties.trajectories)
    compared = []
    for cell in ties.cells:
        ours, listed = ties.runs(cell), basic.of(cell.environment, cell.learner)
        assert ours is not None
        if listed is not None:
            first, second = (_within(runs.first_reach(), length) for runs in (listed, ours))
            medians = (float(np.median(first)), float(np.median(second)))
            compared.append(OrderEffect(ours.problem.title, cell.learner, *medians, significance(first, second)))
    return compared


def _within(reach: Floats, length: int) -> Floats:
    return np.where(reach <= length, reach, np.inf)
