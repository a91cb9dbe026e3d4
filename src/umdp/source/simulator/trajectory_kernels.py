"""The compiled simulator: xoshiro256++ and a walk, in one loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["cumulative", "follow", "simulate"]

Array = NDArray[Any]
NARROW = 4  # successors of a choice that are compared without a branch


@kernel(allocates=False)
def cumulative(ptr: Array, values: Array, out: Array) -> None:
    """Write the cumulative distribution of every range of `ptr` into `out`, each for itself.

    Sums are compensated (Neumaier) and divided by their range's total, so that an entry's share is right to about 1e-16
    wherever it stands; that of the last positive entry ends at 1, and the last entry of a range is above any number drawn.
    """
    for row in range(ptr.size - 1):
        total, lost = 0.0, 0.0
        for i in range(ptr[row], ptr[row + 1]):
            value = values[i]
            next_total = total + value
            if total >= value:
                lost += (total - next_total) + value
            else:
                lost += (value - next_total) + total
            total = next_total
            out[i] = total + lost
        whole = total + lost
        for i in range(ptr[row], ptr[row + 1]):
            out[i] /= whole
        out[ptr[row + 1] - 1] = 2.0


@kernel(allocates=False)
def follow(state_ptr: Array, weight: Array, share: Array, only: Array) -> None:
    """Write how to choose: cumulative weights (C,), and the choice that a state (S,) takes for sure, -1 where it draws one."""
    cumulative(state_ptr, weight, share)
    for s in range(only.size):
        only[s] = -1
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if weight[c] >= 1.0:
                only[s] = c


@kernel(allocates=False)
def _simulate_any(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    edges: Array,
    initial: int,
    only: Array,
    share: Array,
    halt: Array,
    horizon: int,
    quota: Array,
    trajectories: int,
    random: Array,
    counts: Array,
    taken: Array,
) -> tuple[int, int, bool]:
    """Draw trajectories until `trajectories` or a quota is reached; return (how many, steps, whether a quota was).

    A trajectory ends in a state of `halt` or after `horizon` steps. `edges` (T,) and `share` (C,) are cumulative
    probabilities within choices and states, the last above 1. `random` is the state of the generator; `counts` (T,) and `taken`
    (C,) are added to.
    """
    a, b, c, d = random[0], random[1], random[2], random[3]
    eleven = np.uint64(11)
    drawn, steps, full = 0, 0, False
    while drawn < trajectories and not full:
        s = initial
        length = 0
        while length < horizon and not halt[s]:
            choice = only[s]
            first, last = 1 if choice >= 0 else 0, 2
            u = 0.0
            for draw in range(first, last):  # one number for the choice, where there is one to make, and one for nature
                x = a + d
                r = ((x << np.uint64(23)) | (x >> np.uint64(41))) + a
                t = b << np.uint64(17)
                c ^= a
                d ^= b
                b ^= c
                a ^= d
                c ^= t
                d = (d << np.uint64(45)) | (d >> np.uint64(19))
                u = float(r >> eleven) * 1.1102230246251565e-16
                if draw == 0:
                    choice = state_ptr[s]
                    while u >= share[choice]:
                        choice += 1
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


@kernel
def _simulate_narrow(
    choice_ptr: Array,
    successor: Array,
    edges: Array,
    initial: int,
    only: Array,
    halt: Array,
    horizon: int,
    quota: Array,
    trajectories: int,
    random: Array,
    counts: Array,
    taken: Array,
) -> tuple[int, int, bool]:
    """Do what `_simulate_any` does where every state has one choice to take, of at most `NARROW` successors.

    Which of them comes next is a sum of comparisons, without a branch that nobody can predict: half the time a step takes.
    """
    states = only.size
    edge, to = np.empty(NARROW * states), np.empty(NARROW * states, np.int64)
    hits, visits, goal = np.zeros(NARROW * states, np.int64), np.empty(states, np.int64), np.empty(states, np.int64)
    for s in range(states):
        choice = only[s]
        visits[s], goal[s] = taken[choice], quota[choice]
        first, size = choice_ptr[choice], choice_ptr[choice + 1] - choice_ptr[choice]
        for k in range(NARROW):
            edge[NARROW * s + k], to[NARROW * s + k] = 2.0, -1
            if k < size:
                t = first + k
                edge[NARROW * s + k] = edges[t]
                to[NARROW * s + k] = -1 if halt[successor[t]] else successor[t]
    a, b, c, d = random[0], random[1], random[2], random[3]
    drawn, steps, full = 0, 0, False
    start = -1 if halt[initial] else initial
    while drawn < trajectories and not full:
        s, length = start, 0
        while s >= 0 and length < horizon:
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
            at = NARROW * s
            k = at + int(u >= edge[at]) + int(u >= edge[at + 1]) + int(u >= edge[at + 2])
            hits[k] += 1
            visits[s] += 1
            if visits[s] == goal[s]:
                full = True
            s = to[k]
            length += 1
        steps += length
        drawn += 1
    random[0], random[1], random[2], random[3] = a, b, c, d
    for s in range(states):
        choice = only[s]
        taken[choice] = visits[s]
        for k in range(choice_ptr[choice + 1] - choice_ptr[choice]):
            counts[choice_ptr[choice] + k] += hits[NARROW * s + k]
    return drawn, steps, full


@kernel(allocates=False)
def simulate(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    edges: Array,
    initial: int,
    only: Array,
    share: Array,
    halt: Array,
    horizon: int,
    quota: Array,
    trajectories: int,
    random: Array,
    counts: Array,
    taken: Array,
) -> tuple[int, int, bool]:
    """Draw trajectories until `trajectories` or a quota is reached; return (how many, steps, whether a quota was).

    A trajectory ends in a state of `halt` or after `horizon` steps. `edges` (T,) and `share` (C,) are cumulative
    probabilities within choices and states, the last above 1. `random` is the state of the generator; `counts` (T,) and `taken`
    (C,) are added to.
    """
    narrow = trajectories * horizon > 4 * only.size
    for s in range(only.size):
        narrow = narrow and only[s] >= 0 and choice_ptr[only[s] + 1] - choice_ptr[only[s]] <= NARROW
    if narrow:
        return _simulate_narrow(
            choice_ptr, successor, edges, initial, only, halt, horizon, quota, trajectories, random, counts, taken
        )
    return _simulate_any(
        state_ptr, choice_ptr, successor, edges, initial, only, share, halt, horizon, quota, trajectories, random, counts,
        taken,
    )  # fmt: skip
