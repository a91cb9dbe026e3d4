"""One row of the model as given: which distributions it allows, and what nature collects there, with every rounding bounded.

A row allows ``lower / sum(lower)`` where the lower bounds sum to 1 or more, ``upper / sum(upper)`` where the upper bounds sum to
1 or less, and else all distributions between the bounds. Sums are compared with 1 exactly. A transition that no such distribution
can use is not there: it is not *possible*.

Notation: ``EPS = 2**-53``; a rounded operation is off by at most EPS, relatively, or `LEAST`, absolutely.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = [
    "EPS",
    "FREE",
    "LEAST",
    "LOWER",
    "ModelRows",
    "exact_excess",
    "excess",
    "fixed",
    "possible",
    "read_row",
    "respond",
]

Array = NDArray[Any]
EPS = 2.0**-53
LEAST = 5e-324
LOWER, UPPER, FREE = 0, 1, 2
CLOSE = 1e-9  # a sum that is this close to 1 is compared with it exactly
FEW = 12  # entries up to which insertion is the quickest sort


class ModelRows(NamedTuple):
    """The arrays of a model as given; rewards may be empty.

    Attributes
    ----------
    state_ptr, choice_ptr, successor : (S+1,), (C+1,), (T,)
    lower, upper : (T,) bounds; the same array where nature has no choice
    state_reward, choice_reward, paid : (S,), (C,), (T,) what states, choices and transitions earn, or empty
    """

    state_ptr: Array
    choice_ptr: Array
    successor: Array
    lower: Array
    upper: Array
    state_reward: Array
    choice_reward: Array
    paid: Array


class TwoPart(NamedTuple):
    """A value for every state, as the exact sum of two numbers: ``base + offset``, (S,) each."""

    base: Array
    offset: Array


@kernel
def excess(begin: int, end: int, values: Array) -> float:
    """Return ``sum(values[begin:end]) - 1``, with the right sign and accurate to 2 EPS relative to itself.

    Each addition's rounding is found exactly (Knuth) and summed as well; what that sum loses is summed too, and where it may
    matter everything is added up without rounding.
    """
    high, rest, lost = -1.0, 0.0, 0.0
    for t in range(begin, end):
        v = values[t]
        total = high + v
        shift = total - high
        error = (high - (total - shift)) + (v - shift)
        high = total
        total = rest + error
        shift = total - rest
        lost += abs((rest - (total - shift)) + (error - shift))
        rest = total
    if lost > 0.0 and abs(high + rest) < 2.0**60 * lost:
        return float(exact_excess(begin, end, values))
    return float(high + rest)


@kernel
def exact_excess(begin: int, end: int, values: Array) -> float:
    """Add up without rounding (Shewchuk's expansions: a sum as numbers that do not overlap), then round."""
    partial = np.empty(end - begin + 1)
    partial[0], count = -1.0, 1
    for t in range(begin, end):
        v, kept = values[t], 0
        for i in range(count):
            y = partial[i]
            if abs(v) < abs(y):
                v, y = y, v
            total = v + y
            error = y - (total - v)
            if error != 0.0:
                partial[kept] = error
                kept += 1
            v = total
        partial[kept] = v
        count = kept + 1
    total = 0.0
    for i in range(count):
        total += partial[i]
    return float(total)


@kernel(forceinline=True)
def read_row(begin: int, end: int, lower: Array, upper: Array) -> tuple[int, float]:
    """Return which distributions a row allows (LOWER, UPPER: the one its bounds are proportional to; or FREE), and its slack."""
    least, most, moves = 0.0, 0.0, False
    for t in range(begin, end):
        least += lower[t]
        most += upper[t]
        moves = moves or lower[t] < upper[t]
    if not moves:
        return LOWER, 0.0
    # Sums of n numbers of at least 0 are off by n EPS relative to themselves: less than CLOSE around 1.
    if end - begin < 2**20 and least < 1.0 - CLOSE and most > 1.0 + CLOSE:
        return FREE, 1.0 - least
    slack = -excess(begin, end, lower)
    if slack <= 0.0:
        return LOWER, 0.0
    if excess(begin, end, upper) <= 0.0:
        return UPPER, 0.0
    return FREE, slack


@kernel(forceinline=True)
def possible(t: int, kind: int, lower: Array, upper: Array) -> bool:
    """Whether some distribution of the row uses a transition: where bounds leave room, all that have an upper bound above 0."""
    return bool(lower[t] > 0.0 if kind == LOWER else upper[t] > 0.0)


@kernel(forceinline=True)
def fixed(
    begin: int,
    end: int,
    rows: ModelRows,
    kind: int,
    x: TwoPart,
    here: tuple[float, float],
    factor: float,
    earned: float,
    sign: float,
) -> tuple[float, float]:
    """Return what a row without freedom collects, times the sum of its bounds, and a bound on the error; 0 if all is exactly 0.

    The exact number is ``earned + sum p (factor (x_j - here) + paid) / sum p``; times the sum it has the same sign. A difference
    takes at most five roundings, each of at most the sum of its parts' sizes, and is moved outwards (up if `sign` is 1) by more.
    Products and sums of n terms of sizes a_i are off by at most (n + 1) EPS sum a_i, the sum of n bounds by n EPS, and this
    bound itself is rounded: (2 n + 10) EPS covers all of it. An infinite value that is possible makes it infinite.
    """
    bound = rows.lower if kind == LOWER else rows.upper
    gain, size, whole, moves, pays = 0.0, 0.0, 0.0, earned != 0.0, rows.paid.size > 0
    for t in range(begin, end):
        p = bound[t]
        if p <= 0.0:
            continue
        whole += p
        base = x.base[rows.successor[t]]
        if base == np.inf:
            return np.inf, 0.0
        far, near = factor * (base - here[0]), factor * (x.offset[rows.successor[t]] - here[1])
        paid = rows.paid[t] if pays else 0.0
        part = abs(far) + abs(near) + abs(paid)
        if part != 0.0:
            gain += p * (((far + near) + paid) + sign * 8.0 * EPS * part)
            size += p * part
            moves = True
    gain += earned * whole
    size += abs(earned) * whole
    return gain, (2.0 * (end - begin) + 10.0) * (EPS * size + LEAST) if moves else 0.0


@kernel
def sort_keys(n: int, key: Array, order: Array, largest: bool) -> None:
    """Write the entries of a row into `order`, those that nature prefers first: inserted, or runs of 1, 2, 4, ... merged."""
    sign = 1.0 if largest else -1.0
    for i in range(n):
        order[i] = i
    if n <= FEW:
        for i in range(1, n):
            j, worth = i, sign * key[i]
            while j > 0 and sign * key[order[j - 1]] < worth:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
        return
    run = 1
    while run < n:
        for first in range(0, n - run, 2 * run):
            middle, last = first + run, min(first + 2 * run, n)
            if sign * key[order[middle - 1]] >= sign * key[order[middle]]:
                continue
            i, j, k = first, middle, n + first
            while i < middle or j < last:
                if j == last or (i < middle and sign * key[order[i]] >= sign * key[order[j]]):
                    order[k] = order[i]
                    i += 1
                else:
                    order[k] = order[j]
                    j += 1
                k += 1
            for i in range(first, last):
                order[i] = order[n + i]
        run *= 2


@kernel
def left_for(begin: int, n: int, bounds: tuple[Array, Array], order: Array, at: int) -> tuple[float, float, float]:
    """Return what is left of 1 for one entry, those before it served in full: the sum of two numbers, and how far off it may be.

    The rounding of each subtraction is known exactly (Knuth) and summed; the roundings of that sum are, too, and bound the error.
    """
    lower, upper = bounds
    high, tail, lost = 1.0, 0.0, 0.0
    for i in range(n):
        if i != at:
            p = upper[begin + order[i]] if i < at else lower[begin + order[i]]
            total = high - p
            shift = total - high
            error = (high - (total - shift)) + (-p - shift)
            high = total
            total = tail + error
            shift = total - tail
            lost += abs((tail - (total - shift)) + (error - shift))
            tail = total
    return high, tail, 2.0 * lost


@kernel
def respond(
    begin: int, end: int, bounds: tuple[Array, Array], slack: float, key: Array, order: Array, largest: bool, one: bool
) -> tuple[float, float]:
    """Return nature's optimum of ``sum p key`` in a free row, and a bound on the error; 0 where all is exactly 0.

    *Duality.* For every k, with p at its upper bound where nature prefers the key to key_k, at its lower bound where it prefers
    key_k, and ``p_k = 1 - sum of the others``, the number ``sum p key`` bounds the optimum: for a minimum,
    ``min = max_t t + sum_i lower_i (key_i - t)+ - upper_i (t - key_i)+``, and t = key_k gives this number. So it bounds what
    *all* distributions collect, whichever k is taken. If ``lower_k <= p_k <= upper_k``, it is what *one* distribution collects.
    If p_k misses that by d, moving d to others changes the sum by at most d times the range of the keys, which is added with
    `one`.

    p_k is the sum of two numbers, off by what `left_for` says, and by EPS relative to itself in products.
    """
    n = end - begin
    lower, upper = bounds
    sort_keys(n, key, order, largest)
    rest, at = slack, n - 1
    for i in range(n):
        room = upper[begin + order[i]] - lower[begin + order[i]]
        if room >= rest:
            at = i
            break
        rest -= room
    high, tail, off = left_for(begin, n, bounds, order, at)
    over, under = (high - upper[begin + order[at]]) + tail, (lower[begin + order[at]] - high) - tail
    if (over > 0.0 and at + 1 < n) or (under > 0.0 and at > 0):  # rounding has chosen the wrong one of two
        at += 1 if over > 0.0 else -1
        high, tail, off = left_for(begin, n, bounds, order, at)
        over, under = (high - upper[begin + order[at]]) + tail, (lower[begin + order[at]] - high) - tail
    gain, size, span, moves = 0.0, 0.0, 0.0, False
    for i in range(n):
        k = order[i]
        p = high + tail if i == at else upper[begin + k] if i < at else lower[begin + k]
        gain += p * key[k]
        size += abs(p * key[k])
        span = max(span, abs(key[k]))
        moves = moves or (key[k] != 0.0 and (p != 0.0 or (i == at and off > 0.0)))
    error = (2.0 * n + 8.0) * EPS * size + off * abs(key[order[at]])
    if one and span > 0.0:
        lack = max(over + 2.0 * EPS * abs(over), under + 2.0 * EPS * abs(under)) + off
        error += max(lack, 0.0) * 4.0 * span
    if moves:
        error += (2.0 * n + 8.0) * LEAST
    return gain, error
