"""Compiled passes of exploration: weights and quotas, and looks ahead; tests have the latter in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["earnings", "is_met", "prefer", "quotas", "visits"]

Array = NDArray[Any]
TAIL = 1e-4  # what may still come is not looked at where it is less than this, relative to what came


@kernel
def visits(
    choice_ptr: Array, successor: Array, prob: Array, choice: Array, halt: Array, initial: int, steps: int
) -> Array:
    """Return how often a policy of choices (S,) is in each state (S,) within some steps, until hardly anything is on its way."""
    now, following = np.zeros(halt.size), np.empty(halt.size)
    now[initial] = 1.0
    total = now.copy()
    for _ in range(steps - 1):
        following[:] = 0.0
        for s in range(halt.size):
            if halt[s] or now[s] == 0.0:
                continue
            for t in range(choice_ptr[choice[s]], choice_ptr[choice[s] + 1]):
                following[successor[t]] += prob[t] * now[s]
        now, following = following, now
        left = 0.0
        for s in range(halt.size):
            total[s] += now[s]
            if not halt[s]:
                left += now[s]
        if left <= TAIL:
            break
    return total


@kernel
def earnings(
    state_ptr: Array, choice_ptr: Array, successor: Array, prob: Array, earned: Array, halt: Array, steps: int
) -> Array:
    """Return what each choice (C,) earns with the best ones behind it, within some steps, as far as these still move it."""
    ahead, worth = np.zeros(halt.size), earned.copy()
    for _ in range(steps):
        for c in range(worth.size):
            # The first and the sum of the others, as NumPy does it: choices that are alike there are alike here.
            begin, others = choice_ptr[c], 0.0
            for t in range(begin + 1, choice_ptr[c + 1]):
                others += prob[t] * ahead[successor[t]]
            worth[c] = earned[c] + (prob[begin] * ahead[successor[begin]] + others)
        moved = most = 0.0
        for s in range(halt.size):
            new = 0.0
            if not halt[s]:
                new = worth[state_ptr[s]]
                for c in range(state_ptr[s] + 1, state_ptr[s + 1]):
                    new = max(new, worth[c])
            moved, most = max(moved, abs(new - ahead[s])), max(most, new)
            ahead[s] = new
        if moved <= TAIL * most:
            break
    return worth


@kernel
def prefer(state_ptr: Array, choice: Array, xi: float) -> Array:
    """Return weights (C,): `xi` on a choice (S,) of every state, the rest evenly on the others; 1 on the only one there is."""
    weight = np.empty(state_ptr[-1])
    for s in range(choice.size):
        size = state_ptr[s + 1] - state_ptr[s]
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if size == 1:
                weight[c] = 1.0
            else:
                weight[c] = xi if c == choice[s] else (1.0 - xi) / (size - 1)
    return weight


@kernel
def quotas(choice_ptr: Array, counts: Array, growth: float) -> Array:
    """Return `growth` times as many as each choice was taken, at least 1, (C,); -1 for choices of one successor."""
    quota = np.empty(choice_ptr.size - 1, np.int64)
    for c in range(quota.size):
        quota[c] = -1
        if choice_ptr[c + 1] - choice_ptr[c] > 1:
            seen = 0
            for t in range(choice_ptr[c], choice_ptr[c + 1]):
                seen += counts[t]
            quota[c] = max(int(np.ceil(growth * seen)), 1)
    return quota


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
