"""Compiled proofs for policy iteration: values widened a little, until one step does not lead out of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.elimination import evaluate, evaluate_again
from umdp.solver.kernels.improvement import best_response, terms
from umdp.solver.kernels.rounding import EPS, LEAST, row_error, share_error, underflow

__all__ = ["save", "widen"]

Array = NDArray[Any]


@kernel
def widen(
    begin: int,
    n: int,
    ref: int,
    row_ptr: Array,
    entry_ptr: Array,
    target: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    reward: Array,
    order: Array,
    prob: Array,
    choice: Array,
    x: Array,
    kappa: float,
    wanted: float,
    agent_max: bool,
    nature_max: bool,
    from_above: bool,
    load: Array,
    a: Array,
    work: Array,
    row_work: Array,
    alt_choice: Array,
    alt_prob: Array,
    bound: Array,
    factored: bool,
    gains: Array,
    looked: bool,
    watch: Array,
) -> tuple[bool, bool]:
    """Widen the values by `kappa` times the accumulated `load` and check that they are inductive; `bound` receives them.

    Its second and third row are the same in two parts, the value of the reference state and the difference to it.

    Where `looked` says that `gains` are those of all rows at the values themselves, rows that lose more by a step than widening
    and rounding can make good are known to pass: what nature gains by a step changes by at most twice what a value moves.

    Return whether they are, and whether `a` and `work` hold the elimination of `choice` and `prob` afterwards; `factored` says
    whether they do before.

    Each step then has a slack of `kappa` times the load, far above rounding. Where several strategies are equally good, the
    widening must be that of the strategy for which it is largest, so rows that fail are switched and the widening is computed
    again. What is returned has passed, rounding included, for every row that matters: the policy's own where one is enough, with
    the distribution it was evaluated with if both players pull the same way (that pair is known to be proper); otherwise all.
    """
    one_is_enough = agent_max != from_above
    sign = 1.0 if from_above else -1.0
    part, shifted, again = work[8], work[9], work[7]
    key, size_of, probe = row_work[0], row_work[1], row_work[2]
    for i in range(n):
        alt_choice[begin + i] = choice[begin + i]
    for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[begin + n]]):
        alt_prob[t] = prob[t]
    outside = 0.0
    if looked:
        for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[begin + n]]):
            if not begin <= target[t] < begin + n:
                outside = max(outside, x[target[t]])
    for attempt in range(24):
        if attempt > 0 or not factored:
            factored = attempt == 0
            if not evaluate(begin, n, ref, entry_ptr, target, reward, alt_prob, alt_choice, x, a, work, watch):
                return False, False
        c, e, h = work[3], work[4], work[5]
        for s in range(n):
            again[s] = load[s]
        shift = kappa * evaluate_again(n, a, work[0], work[10], again, part)
        top = work[6][0] + sign * shift
        if not (0.0 <= top < np.inf) or shift > wanted * work[6][0]:
            return False, factored  # too far away to be of use
        for s in range(n):
            shifted[s] = c[s] + sign * kappa * part[s]
        passed, moved = True, False
        looked = looked and attempt == 0
        most, size_of_values = 0.0, outside
        for s in range(n):
            most, size_of_values = max(most, part[s]), max(size_of_values, abs(c[s]))
        margin = 2.0 * (kappa * most + shift) * (1.0 + 1e-9)
        size_of_values = 8.0 * (size_of_values + kappa * most + work[6][0] + shift)
        for i in range(n):
            s = 0 if i == ref else (ref if i == 0 else i)
            first, last = row_ptr[begin + i], row_ptr[begin + i + 1]
            if one_is_enough:
                first, last = choice[begin + i], choice[begin + i] + 1
            worst = -np.inf
            for row in range(first, last):
                lo, size = entry_ptr[row], entry_ptr[row + 1] - entry_ptr[row]
                blur = 8.0 * row_error(size) * (size_of_values + abs(reward[row])) + 1e-290
                if looked and sign * gains[row] + margin + blur < 0.0:
                    continue
                terms(begin, n, ref, s, row, entry_ptr, target, x, shifted, e, h, top, key, size_of)
                whole = 0.0
                for k in range(size):
                    if size_of[k] > 0.0:
                        key[k] += sign * (8.0 * EPS * size_of[k] + 8.0 * LEAST)
                        whole += size_of[k]
                if one_is_enough and agent_max == nature_max:
                    total, scale = reward[row], abs(reward[row])
                    if slack[row] > 0.0:
                        scale += share_error(size) * whole / row_error(size)
                    for k in range(size):
                        total += prob[lo + k] * key[k]
                        scale += prob[lo + k] * size_of[k]
                        probe[k] = prob[lo + k]
                else:
                    total, scale = best_response(
                        row, entry_ptr, lower, upper, slack, reward, order, key, size_of, nature_max, probe
                    )
                excess = sign * total + row_error(size) * scale
                if whole > 0.0 or scale > 0.0:
                    excess += underflow(size) * (1.0 + whole)
                if not excess <= 0.0:
                    passed = False
                if excess > worst and excess > 0.0:
                    worst = excess
                    moved = moved or alt_choice[begin + i] != row
                    alt_choice[begin + i] = row
                    for k in range(size):
                        moved = moved or alt_prob[lo + k] != probe[k]
                        alt_prob[lo + k] = probe[k]
        if passed:
            for i in range(n):
                s = 0 if i == ref else (ref if i == 0 else i)
                other = top - e[s] * top if e[s] < 0.5 else h[s] * top
                # What was checked is that number; what is stored is on its far side.
                off = 8.0 * EPS * (abs(shifted[s]) + other)
                if shifted[s] != 0.0 or (top > 0.0 and h[s] > 0.0):
                    off += 8.0 * LEAST
                bound[0, begin + i] = max(shifted[s] + other + sign * off, 0.0)
                if e[s] < 0.5:
                    bound[1, begin + i], bound[2, begin + i] = top, shifted[s] - e[s] * top
                else:  # so far from the reference state that the difference to it has no digits to spare
                    bound[1, begin + i], bound[2, begin + i] = shifted[s] + h[s] * top, 0.0
            return True, factored
        if not moved:
            return False, factored
    return False, False


@kernel
def save(
    begin: int,
    n: int,
    row_ptr: Array,
    entry_ptr: Array,
    choice: Array,
    prob: Array,
    value: Array,
    alt_choice: Array,
    alt_prob: Array,
    last: Array,
) -> bool:
    """Keep strategies and their values, to go back to; return that there are some."""
    for i in range(n):
        alt_choice[begin + i] = choice[begin + i]
        last[i] = value[i]
    for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[begin + n]]):
        alt_prob[t] = prob[t]
    return True
