"""Compiled passes over the transitions of a model: merging of equal successors, and a look at bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["are_feasible", "merge", "repeats"]

Array = NDArray[Any]
NARROW = 8  # successors up to which each is compared with each


@kernel
def repeats(choice_ptr: Array, successor: Array, states: int) -> bool:
    """Whether some choice lists a successor twice."""
    stamp = np.empty(0, np.int64)  # the last choice that listed a state
    for c in range(choice_ptr.size - 1):
        begin, end = choice_ptr[c], choice_ptr[c + 1]
        if end - begin <= NARROW:
            for t in range(begin + 1, end):
                for u in range(begin, t):
                    if successor[u] == successor[t]:
                        return True
            continue
        if stamp.size == 0:
            stamp = np.full(states, -1, np.int64)
        for t in range(begin, end):
            if stamp[successor[t]] == c:
                return True
            stamp[successor[t]] = c
    return False


@kernel
def merge(choice_ptr: Array, successor: Array, states: int, keep: Array) -> tuple[Array, Array, Array]:
    """Return new pointers, the old index of every new transition, and the new index of every old one, -1 where dropped.

    Transitions not in `keep` are dropped (none where it is empty), equal successors of a choice become one, the first.
    """
    stamp = np.full(states, -1, np.int64)
    ptr = np.empty(choice_ptr.size, np.int64)
    first = np.empty(successor.size, np.int64)
    group = np.empty(successor.size, np.int64)
    count = 0
    for c in range(choice_ptr.size - 1):
        ptr[c] = count
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            if keep.size > 0 and not keep[t]:
                group[t] = -1
                continue
            j = successor[t]
            if stamp[j] < ptr[c]:
                stamp[j] = count
                first[count] = t
                count += 1
            group[t] = stamp[j]
    ptr[choice_ptr.size - 1] = count
    return ptr, first[:count].copy(), group


@kernel
def are_feasible(choice_ptr: Array, lower: Array, upper: Array, rounding: float) -> bool:
    """Whether bounds (T,) are ``0 <= lower <= upper <= 1`` with no upper bound 0, and every choice has a distribution.

    Sums may miss 1 by `rounding`, a little less to be sure. False says that somebody has to look more closely.
    """
    for c in range(choice_ptr.size - 1):
        low, high = 0.0, 0.0
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            if not (0.0 <= lower[t] <= upper[t] <= 1.0) or upper[t] <= 0.0:
                return False
            low += lower[t]
            high += upper[t]
        if low > 1.0 + 0.5 * rounding or high < 1.0 - 0.5 * rounding:
            return False
    return True
