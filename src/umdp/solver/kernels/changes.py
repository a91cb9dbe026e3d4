"""What has changed of a system since it was solved last."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.structs import SystemRows

__all__ = ["carry", "differing", "next_stale"]

Array = NDArray[Any]


@kernel
def differing(
    choice_ptr: Array, lower: Array, upper: Array, reward: Array, old_lower: Array, old_upper: Array, old_reward: Array
) -> Array:
    """Return which choices (C,) have other bounds or another reward than before."""
    changed = np.zeros(choice_ptr.size - 1, np.bool_)
    for c in range(changed.size):
        other = reward.size > 0 and reward[c] != old_reward[c]
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            other = other or lower[t] != old_lower[t] or upper[t] != old_upper[t]
        changed[c] = other
    return changed


@kernel(allocates=False)
def next_stale(
    first: int, rows: SystemRows, origin: Array, changed: Array, x: Array, rel: Array, old_x: Array, old_rel: Array
) -> int:
    """Return the first component from `first` on with a changed row, or an exit whose value or error is not what it was."""
    comp_ptr, row_ptr, entry_ptr, target = rows.comp_ptr, rows.row_ptr, rows.entry_ptr, rows.target
    for k in range(first, comp_ptr.size - 1):
        begin, end = comp_ptr[k], comp_ptr[k + 1]
        for r in range(row_ptr[begin], row_ptr[end]):
            if changed[origin[r]]:
                return k
        for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[end]]):
            j = target[t]
            if (x[j] != old_x[j] or rel[j] != old_rel[j]) and not begin <= j < end:
                return k
    return comp_ptr.size - 1


@kernel(allocates=False)
def carry(entry_ptr: Array, prob: Array, old_ptr: Array, old_prob: Array) -> None:
    """Copy what nature answered on rows that are as long as before."""
    for r in range(entry_ptr.size - 1):
        lo, before = entry_ptr[r], old_ptr[r]
        size = entry_ptr[r + 1] - lo
        if old_ptr[r + 1] - before == size:
            for i in range(size):
                prob[lo + i] = old_prob[before + i]
