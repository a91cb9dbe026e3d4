"""Trajectories of a policy that depends on the step, drawn in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["simulate_by_step"]

Array = NDArray[Any]


@kernel
def simulate_by_step(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    edges: Array,
    initial: int,
    weight: Array,
    halt: Array,
    horizon: int,
    quota: Array,
    trajectories: int,
    random: Array,
    counts: Array,
    taken: Array,
) -> tuple[int, int, bool]:
    """Draw trajectories until `trajectories` or a quota is reached; return (how many, steps, whether a quota was).

    `weight` (K, C) is the probability of every choice within its state at each of the first steps; the last row is for all that
    follow. Everything else is as for `simulate`, and two numbers are drawn for every step.
    """
    a, b, c, d = random[0], random[1], random[2], random[3]
    drawn, steps, full = 0, 0, False
    while drawn < trajectories and not full:
        s, length = initial, 0
        while length < horizon and not halt[s]:
            row = weight[min(length, weight.shape[0] - 1)]
            choice = state_ptr[s]
            u = 0.0
            for draw in range(2):  # one number for the choice, and one for nature
                x = a + d
                r = ((x << np.uint64(23)) | (x >> np.uint64(41))) + a
                t = b << np.uint64(17)
                c ^= a
                d ^= b
                b ^= c
                a ^= d
                c ^= t
                d = (d << np.uint64(45)) | (d >> np.uint64(19))
                u = float(r >> np.uint64(11)) * 1.1102230246251565e-16
                if draw == 0:
                    last = state_ptr[s + 1] - 1
                    while last > choice and row[last] <= 0.0:  # rounding must not lead to a choice that is not taken
                        last -= 1
                    u -= row[choice]
                    while u >= 0.0 and choice < last:
                        choice += 1
                        u -= row[choice]
            i = choice_ptr[choice]
            while u >= edges[i]:
                i += 1
            counts[i] += 1
            taken[choice] += 1
            if taken[choice] == quota[choice]:
                full = True
            s = successor[i]
            length += 1
        steps += length
        drawn += 1
    random[0], random[1], random[2], random[3] = a, b, c, d
    return drawn, steps, full
