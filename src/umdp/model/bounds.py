"""Compiled look at the bounds of an interval model: what is right most often is seen in one pass."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["are_feasible"]

Array = NDArray[Any]


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
