"""Where trajectories of a log begin: how many not in the initial state, and whether the order of rows can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.source.lookup import Lookup
from umdp.statements import Code, Statement, say

__all__ = ["Beginnings"]

Array = NDArray[Any]

FEWEST = 20  # rows that could be followed, below which their order is not judged
SURE = (
    4.0  # standard deviations above chance from which on rows are in order; by chance in 1 of 30,000 logs of any order
)


class Beginnings:
    """Counts where trajectories begin, and how often a row starts where the one before it ended.

    Without names of trajectories these are read off the order of rows. Rows that were shuffled, or sorted by something else,
    begin a trajectory nearly everywhere. Then a row is followed by one that starts where it led as often as chance has it:
    as often as any row starts there.

    Parameters
    ----------
    lookup : of the graph
    left : (S,) which states are left by some row
    """

    def __init__(self, lookup: Lookup, left: Array) -> None:
        self._lookup, self._left = lookup, left
        self.begin()

    def begin(self) -> None:
        """Start with no rows."""
        self.begun = self.elsewhere = self._followed = 0
        self._starts: Array = np.zeros(self._lookup.graph.states, np.int64)
        self._led: Array = np.zeros(self._lookup.graph.states, np.int64)

    def take(self, transition: Array, begins: Array) -> None:
        """Take in rows, in order: the transition of each (-1: none), and whether a trajectory begins with it."""
        graph, start = self._lookup.graph, self._lookup.start
        first = transition[begins & (transition >= 0)]
        self.begun += int(first.size)
        self.elsewhere += int(np.count_nonzero(start[first] != graph.initial))
        pairs = (transition[:-1] >= 0) & (transition[1:] >= 0)
        led, then = graph.successor[transition[:-1][pairs]], start[transition[1:][pairs]]
        left = self._left[led]
        self._followed += int(np.count_nonzero(led[left] == then[left]))
        self._led += np.bincount(led[left], minlength=graph.states)
        self._starts += np.bincount(then, minlength=graph.states)

    def disorder(self) -> Statement | None:
        """Return that the order of rows says nothing of where trajectories begin; None where it does, or cannot be judged."""
        rows, states = int(self._led.sum()), np.count_nonzero(self._starts)
        if rows < FEWEST or states < 2:
            return None
        chance = float((self._led @ self._starts) / (rows * self._starts.sum()))
        if self._followed > rows * chance + SURE * np.sqrt(rows * chance * (1 - chance)):
            return None
        return say(Code.DISORDER, rows=rows, followed=self._followed)

    # -- going on --------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs."""
        counts = np.concatenate([self._starts, self._led])
        return {"begun": [self.begun, self.elsewhere, self._followed], "begun_counts": counts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state; of a run of an older version nothing is known until then."""
        self.begin()
        if "begun" in state:
            self.begun, self.elsewhere, self._followed = (int(each) for each in state["begun"])
            counts = np.array(state["begun_counts"], dtype=np.int64)
            self._starts, self._led = counts[: self._starts.size], counts[self._starts.size :]
