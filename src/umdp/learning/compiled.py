"""Compiled passes over the arrays of a run, one call an iteration each."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["is_met", "mean_distance"]

Array = NDArray[Any]


@kernel(allocates=False)
def is_met(choice_ptr: Array, seen: Array, quota: Array) -> bool:
    """Whether some choice was taken as often as its quota (C,) says; `seen` (T,) are counts, a negative quota is never met."""
    for c in range(quota.size):
        if quota[c] < 0:
            continue
        taken = 0
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            taken += seen[t]
        if taken >= quota[c]:
            return True
    return False


@kernel(allocates=False)
def mean_distance(probability: Array, lower: Array, upper: Array) -> float:
    """Return the mean, over probabilities (T,) other than 0 and 1, of the distance to the farther bound; 0 if there are none."""
    total, count = 0.0, 0
    for t in range(probability.size):
        if 0.0 < probability[t] < 1.0:
            total += max(abs(probability[t] - lower[t]), abs(upper[t] - probability[t]))
            count += 1
    return total / count if count > 0 else 0.0
