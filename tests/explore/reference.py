"""The kernels of `umdp.explore.ahead` once more in plain NumPy: what the compiled ones are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.explore.ahead import TAIL

Array = NDArray[Any]


def visits(
    choice_ptr: Array, successor: Array, prob: Array, choice: Array, halt: Array, initial: int, steps: int
) -> Array:
    """Return how often a policy of choices (S,) is in each state (S,) within some steps, until hardly anything is on its way."""
    sizes = np.where(halt, 0, np.diff(choice_ptr)[choice])
    ends = np.cumsum(sizes)
    entry = np.arange(int(ends[-1])) - np.repeat(ends - sizes - choice_ptr[choice], sizes)
    origin, chance, target = np.repeat(np.arange(halt.size), sizes), prob[entry], successor[entry]
    now: Array = np.zeros(halt.size)
    now[initial] = 1.0
    total = now.copy()
    for _ in range(steps - 1):
        now = np.bincount(target, chance * now[origin], halt.size)
        total += now
        if now[~halt].sum() <= TAIL:
            break
    return total


def earnings(
    state_ptr: Array, choice_ptr: Array, successor: Array, prob: Array, earned: Array, halt: Array, steps: int
) -> Array:
    """Return what each choice (C,) earns with the best ones behind it, within some steps, as far as these still move it."""
    ahead: Array = np.zeros(halt.size)
    worth = earned
    for _ in range(steps):
        worth = earned + np.add.reduceat(prob * ahead[successor], choice_ptr[:-1])
        new = np.where(halt, 0.0, np.maximum.reduceat(worth, state_ptr[:-1]))
        moved, ahead = float(np.abs(new - ahead).max()), new
        if moved <= TAIL * float(ahead.max()):
            break
    return worth
