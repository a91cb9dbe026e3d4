"""Compiled distance of a learned model to the process itself, where that is known."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["mean_distance"]

Array = NDArray[Any]


@kernel(allocates=False)
def mean_distance(probability: Array, lower: Array, upper: Array) -> float:
    """Return the mean, over probabilities (T,) other than 0 and 1, of the distance to the farther bound; 0 if there are none."""
    total, count = 0.0, 0
    for t in range(probability.size):
        if 0.0 < probability[t] < 1.0:
            total += max(abs(probability[t] - lower[t]), abs(upper[t] - probability[t]))
            count += 1
    return total / count if count > 0 else 0.0
