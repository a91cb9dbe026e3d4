"""A source without its outcome "anything else": what was listed, as if nothing else could happen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from umdp.model import REST, Graph, Rewards
from umdp.source.around import Around
from umdp.source.source import Batch, Order, Source
from umdp.statements import Statement, Unlisted, say

__all__ = ["Listed", "listed", "without_rest"]


class Listed(Around):
    """Gives the trajectories of another source, steps to "anything else" left out of counts and graph.

    For learners that promise nothing, whose bounds on what was never seen would be made up. States and choices stay; a choice
    that leads nowhere else still leads there, to a state like others.

    Attributes
    ----------
    kept : (T,) which of its transitions are left

    Examples
    --------
    >>> from umdp.model import REST
    >>> listed(Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 2, 2], labels={REST: [2]}))[0].successor
    array([1, 2, 2], dtype=int32)
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.graph, self.kept = listed(source.graph)

    def collect(self, order: Order) -> Batch:
        """Collect what the source collects."""
        batch = self.inner.collect(order)
        return replace(batch, counts=batch.counts[self.kept])

    def report(self) -> list[str]:
        """Return what the source reports, and that steps to "anything else" are left out where they would be counted."""
        return [_left_out(line) for line in self.inner.report()]


def _left_out(line: str) -> str:
    """Return what is reported of steps that a graph does not list as it is where these are left out."""
    if not isinstance(line, Statement) or line.data.get("unlisted") is not Unlisted.COUNTED:
        return line
    data = {**line.data, "unlisted": Unlisted.LEFT_OUT}
    about = data.pop("about", None)
    said = say(line.code, **data)
    return said if about is None else said.about(about)


def without_rest(source: Source) -> Source:
    """Return a source that gives what is listed and nothing else."""
    return source if source.graph.rest is None else Listed(source)


def listed(graph: Graph) -> tuple[Graph, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return a graph without transitions to "anything else", and which of its transitions (T,) are left."""
    sizes = np.diff(graph.choice_ptr)
    kept = (graph.successor != graph.rest) | np.repeat(sizes == 1, sizes)
    left = np.add.reduceat(kept.astype(np.int64), graph.choice_ptr[:-1])

    def paid(rewards: Rewards) -> Rewards:
        return rewards if rewards.transition is None else rewards.with_transition(rewards.transition[kept])

    labels = {name: members for name, members in graph.labels.items() if name != REST}
    found = Graph(
        graph.state_ptr, np.concatenate([[0], np.cumsum(left)]), graph.successor[kept], initial=graph.initial,
        labels=labels, rewards={name: paid(each) for name, each in graph.rewards.items()}, actions=graph.actions,
        state_names=graph.state_names, variables=graph.variables, constants=graph.constants, formulas=graph.formulas,
    )  # fmt: skip
    return found.with_interface(graph.interface), kept
