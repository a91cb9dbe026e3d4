"""Trajectories of a policy that depends on the step, drawn in compiled code."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.source.simulator.draws import uniform

__all__ = ["simulate_by_step"]

Array = NDArray[Any]


@kernel(allocates=False)
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
    drawn, steps, full = 0, 0, False
    while drawn < trajectories and not full:
        s, length = initial, 0
        while length < horizon and not halt[s]:
            row = weight[min(length, weight.shape[0] - 1)]
            choice, last = state_ptr[s], state_ptr[s + 1] - 1
            while last > choice and row[last] <= 0.0:  # rounding must not lead to a choice that is not taken
                last -= 1
            u = uniform(random) - row[choice]
            while u >= 0.0 and choice < last:
                choice += 1
                u -= row[choice]
            u = uniform(random)
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
    return drawn, steps, full
