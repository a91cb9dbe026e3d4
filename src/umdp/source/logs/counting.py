"""Counting recorded rows until an order is met."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.source.logs.row_decoding import Rows
from umdp.source.lookup import Lookup
from umdp.source.source import Batch, SamplingRequest

__all__ = ["RowCounter"]

Array = NDArray[Any]

WINDOW = 1_024  # rows looked at first; an early order must not cost a look at a whole chunk


class RowCounter:
    """Transition counts of the rows taken for one order: whole trajectories, until one of the order's limits is reached.

    What is recorded does not follow an exploration policy, so weights, halting states and horizon do not matter. A
    trajectory of more than `longest` rows is given in pieces, over several batches.

    Parameters
    ----------
    longest : rows of one trajectory after which a batch ends in the middle of it
    starts : (S,) the transition by which a trajectory that begins in a state is counted; None where none is

    Attributes
    ----------
    counts : (T,) how often each transition was counted
    trajectories : how many were begun
    rows, steps : how many rows were taken, and how many of them counted
    """

    def __init__(self, lookup: Lookup, order: SamplingRequest, longest: int, starts: Array | None = None) -> None:
        self.counts: Array = np.zeros(lookup.graph.transitions, dtype=np.int64)
        self.trajectories = self.rows = self.steps = 0
        self._choice_of = lookup.choice_of
        self._taken = np.zeros(lookup.graph.choices, dtype=np.int64)
        self._order = order
        self._limited = bool((order.quota > 0).any())
        self._full = False
        self._run = 0  # rows since the trajectory, or the batch, began
        self._longest = longest
        self._start, self._starts = lookup.start, starts

    def take(self, rows: Rows, start: int, stop: int | None = None) -> tuple[int, bool]:
        """Count rows from `start` on; return the first that was not taken, and whether the order is met there."""
        size, window = rows.transition.size if stop is None else stop, WINDOW
        while start < size:
            end = min(start + window, size)
            stop = self._stop(rows, start, end)
            self._count(rows, start, stop)
            if stop < end:
                return stop, True
            start, window = stop, 2 * window
        # A trajectory that says it is over need not be followed by another to be known whole.
        met = self._full or self.trajectories >= self._order.trajectories
        return size, bool(size and met and rows.last[size - 1])

    def batch(self, *, ended: bool) -> Batch:
        """Return what was counted."""
        return Batch(self.counts, self.trajectories, self.steps, ended)

    def _stop(self, rows: Rows, start: int, end: int) -> int:
        """Return the first row from `start` on that belongs to the next batch, at most `end`."""
        begins = start + np.flatnonzero(rows.begins[start:end])
        open_to = 0 if self._full else self._order.trajectories - self.trajectories
        stop = int(begins[open_to]) if begins.size > open_to else end
        since = np.concatenate([[start - self._run], begins])
        long = np.flatnonzero(np.append(begins, end) - since > self._longest)
        if long.size:
            stop = min(stop, int(since[long[0]]) + self._longest)
        reached = self._quota_reached(rows.transition[start:stop])
        if reached >= 0:
            self._full = True
            later = begins[begins > start + reached]
            stop = min(stop, int(later[0])) if later.size else stop
        return stop

    def _quota_reached(self, transition: Array) -> int:
        """Return the row with which a choice has been taken as often as ordered, -1 if there is none."""
        rows = np.flatnonzero(transition >= 0)
        choice = self._choice_of[transition[rows]]
        if not self._limited or not self._crosses(choice):
            return -1
        _, times = np.unique(choice, return_counts=True)
        order = np.argsort(choice, kind="stable")
        firsts = np.cumsum(times) - times
        ordinal = np.empty_like(order)
        ordinal[order] = np.arange(order.size) - np.repeat(firsts, times) + 1
        reached = self._taken[choice] + ordinal == self._order.quota[choice]
        return int(rows[np.argmax(reached)])

    def _crosses(self, choice: Array) -> bool:
        quota, taken = self._order.quota, self._taken
        if quota.size <= 4 * choice.size:
            times = np.bincount(choice, minlength=quota.size)
        else:
            seen, times = np.unique(choice, return_counts=True)
            quota, taken = quota[seen], taken[seen]
        return bool(((taken < quota) & (taken + times >= quota)).any())

    def _count(self, rows: Rows, start: int, stop: int) -> None:
        transition = rows.transition[start:stop]
        if self._starts is not None:
            first = transition[rows.begins[start:stop]]
            _add(self.counts, self._starts[self._start[first[first >= 0]]])
        transition = transition[transition >= 0]
        _add(self.counts, transition)
        _add(self._taken, self._choice_of[transition])
        begins = np.flatnonzero(rows.begins[start:stop])
        self.trajectories += int(begins.size)
        self.rows += stop - start
        self.steps += int(transition.size)
        self._run = stop - start - int(begins[-1]) if begins.size else self._run + stop - start


def _add(counts: Array, index: Array) -> None:
    """Add 1 to a count for each time it is named; over all of them where that is faster."""
    if counts.size <= 4 * index.size:
        counts += np.bincount(index, minlength=counts.size)
    else:
        np.add.at(counts, index, 1)
