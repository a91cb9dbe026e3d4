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
    "RowReading",
    "TwoPart",
    "collect",
    "ends_of",
    "exact_excess",
    "excess",
    "left_for",
    "listed_order",
    "possible",
    "read_row",
    "sort_entries",
    "widest",
]

Array = NDArray[Any]
EPS = 2.0**-53
LEAST = 5e-324
LOWER, UPPER, FREE = 0, 1, 2
CLOSE = 1e-9  # a sum that is this close to 1 is compared with it exactly
FEW = 8  # entries up to which insertion is the quickest sort


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


class RowReading(NamedTuple):
    """How rows are read.

    Attributes
    ----------
    sign : 1 for bounds from above, -1 for bounds from below
    nature_max : whether nature maximises
    factor : what values after the step are multiplied with
    relative : whether values are meant less that of the row's own state
    pays : whether rewards count
    scaled : whether only the sign matters, so that a row without freedom need not be divided by the sum of its bounds
    """

    sign: float
    nature_max: bool
    factor: float
    relative: bool
    pays: bool
    scaled: bool


@kernel(allocates=False)
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


@kernel(forceinline=True, allocates=False)
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


@kernel(forceinline=True, allocates=False)
def possible(t: int, kind: int, lower: Array, upper: Array) -> bool:
    """Whether some distribution of the row uses a transition: where bounds leave room, all that have an upper bound above 0."""
    return bool(lower[t] > 0.0 if kind == LOWER else upper[t] > 0.0)


@kernel(forceinline=True, allocates=False)
def sort_entries(n: int, worth: Array, place: Array) -> None:
    """Sort entries by their worth, the largest first: a few by insertion, which are then merged. Sorted ones cost n steps."""
    for first in range(0, n, FEW):
        for i in range(first + 1, min(first + FEW, n)):
            w, p, j = worth[i], place[i], i
            while j > first and worth[j - 1] < w:
                worth[j], place[j] = worth[j - 1], place[j - 1]
                j -= 1
            worth[j], place[j] = w, p
    run = FEW
    while run < n:
        for first in range(0, n - run, 2 * run):
            j, last = first + run, min(first + 2 * run, n)
            if worth[j - 1] >= worth[j]:
                continue
            for i in range(run):
                worth[n + i], place[n + i] = worth[first + i], place[first + i]
            i, k = n, first
            while i < n + run:
                if j == last or worth[i] >= worth[j]:
                    worth[k], place[k] = worth[i], place[i]
                    i += 1
                else:
                    worth[k], place[k] = worth[j], place[j]
                    j += 1
                k += 1
        run *= 2


@kernel(forceinline=True, allocates=False)
def left_for(begin: int, n: int, lower: Array, upper: Array, place: Array, at: int) -> tuple[float, float, float]:
    """Return what is left of 1 for one entry, those before it served in full: the sum of two numbers, and how far off it may be.

    The rounding of each subtraction is known exactly (Knuth) and summed; the roundings of that sum are, too, and bound the error.
    """
    high, tail, lost = 1.0, 0.0, 0.0
    for i in range(n):
        if i != at:
            p = upper[begin + place[i]] if i < at else lower[begin + place[i]]
            total = high - p
            shift = total - high
            error = (high - (total - shift)) + (-p - shift)
            high = total
            total = tail + error
            shift = total - tail
            lost += abs((tail - (total - shift)) + (error - shift))
            tail = total
    return high, tail, 2.0 * lost


@kernel(forceinline=True, allocates=False)
def respond(
    begin: int, n: int, lower: Array, upper: Array, slack: float, worth: Array, place: Array, one: bool
) -> tuple[float, float]:
    """Return the largest ``sum p worth`` of a free row, and a bound on the error; 0 where all is exactly 0.

    Entries are sorted; `place` says which transition each is. *Duality.* For every k, with p at its upper bound where the worth
    is larger than that of k, at its lower bound where it is smaller, and ``p_k = 1 - sum of the others``, the number
    ``sum p worth`` is a bound: ``max = min_t t + sum_i upper_i (worth_i - t)+ - lower_i (t - worth_i)+``, and t = worth_k gives
    this number. So it bounds what *all* distributions collect, whichever k is taken. If ``lower_k <= p_k <= upper_k``, it is what
    *one* distribution collects. If p_k misses that by d, moving d to others changes the sum by at most d times the range of the
    worths, which is added with `one`.

    p_k is the sum of two numbers, off by what `left_for` says, and by EPS relative to itself in products.
    """
    rest, at = slack, 0
    while at + 1 < n and upper[begin + place[at]] - lower[begin + place[at]] < rest:
        rest -= upper[begin + place[at]] - lower[begin + place[at]]
        at += 1
    high, tail, off = left_for(begin, n, lower, upper, place, at)
    over, under = (high - upper[begin + place[at]]) + tail, (lower[begin + place[at]] - high) - tail
    if (over > 0.0 and at + 1 < n) or (under > 0.0 and at > 0):  # rounding has chosen the wrong one of two
        at += 1 if over > 0.0 else -1
        high, tail, off = left_for(begin, n, lower, upper, place, at)
        over, under = (high - upper[begin + place[at]]) + tail, (lower[begin + place[at]] - high) - tail
    gain, size, parts = 0.0, 0.0, 0.0
    for i in range(n):
        p = high + tail if i == at else upper[begin + place[i]] if i < at else lower[begin + place[i]]
        gain += p * worth[i]
        size += abs(p * worth[i])
        if p != 0.0 or (i == at and off > 0.0):
            parts += abs(worth[i])
    error = (2.0 * n + 8.0) * EPS * size + off * abs(worth[at])
    if one:
        lack = max(over + 2.0 * EPS * abs(over), under + 2.0 * EPS * abs(under)) + off
        error += max(lack, 0.0) * 4.0 * max(abs(worth[0]), abs(worth[n - 1]))
    if parts > 0.0:
        error += (2.0 * n + 8.0) * LEAST
    return gain, error


@kernel(allocates=False)
def rounded(base: float, offset: float, end: float) -> float:
    """Return the sum of two numbers, rounded towards an end, plus or minus infinity, where it is not a number itself."""
    total = base + offset
    shift = total - base
    lost = (base - (total - shift)) + (offset - shift)
    return float(np.nextafter(total, end) if lost * end > 0.0 else total)


@kernel(allocates=False)
def ends_of(low: TwoPart, high: TwoPart, s: int, negated: bool) -> tuple[float, float]:
    """Return the bounds of one state, rounded outwards, of vectors that may be negated ones."""
    least, most = rounded(low.base[s], low.offset[s], -np.inf), rounded(high.base[s], high.offset[s], np.inf)
    return (-most, -least) if negated else (least, most)


@kernel
def listed_order(rows: ModelRows) -> Array:
    """Return the entries of each row in the order in which they are listed, (T,); empty where nature has no choice."""
    if rows.lower is rows.upper:
        return np.empty(0, np.int32)
    order = np.empty(rows.successor.size, np.int32)
    for c in range(rows.choice_ptr.size - 1):
        for t in range(rows.choice_ptr[c], rows.choice_ptr[c + 1]):
            order[t] = t - rows.choice_ptr[c]
    return order


@kernel(allocates=False)
def widest(rows: ModelRows, states: tuple[int, int]) -> int:
    """Return the largest number of entries in a row of some states."""
    most = 1
    for c in range(rows.state_ptr[states[0]], rows.state_ptr[states[1]]):
        most = max(most, rows.choice_ptr[c + 1] - rows.choice_ptr[c])
    return most


@kernel
def collect(
    rows: ModelRows,
    counted: Array,
    x: TwoPart,
    more: Array,
    side: RowReading,
    states: tuple[int, int],
    order: Array,
    gain: Array,
    error: Array,
) -> None:
    """Write what a step by each counted row of some states gains, and a bound on the error of that, (C,) each.

    That is ``more + reward + sum p (factor (x_j - x_s) + paid)`` for nature's answer; `more` (S,) may be empty. An infinite value
    that is possible makes it infinite: it has positive probability, or the graph says so. Where all terms are exactly 0, so are
    gain and error. `order` (T,) has the entries of each row in an order near to that which nature prefers, and is updated.

    *Roundings.* A difference takes at most five, each of at most the sum of its parts' sizes. Where nature has a choice, it is
    moved outwards by more than that: nature's optimum for what is computed is then on the far side of that for what is meant.
    Else products and sums of n terms of sizes a_i are off by at most (n + 1) EPS sum a_i, the sum of n bounds by n EPS, and this
    bound itself is rounded: (2 n + 20) EPS covers all of it.
    """
    state_ptr, choice_ptr, successor = rows.state_ptr, rows.choice_ptr, rows.successor
    lower, upper, paid, base, offset = rows.lower, rows.upper, rows.paid, x.base, x.offset
    state_reward, choice_reward = rows.state_reward, rows.choice_reward
    sign, factor, intervals = side.sign, side.factor, rows.lower is not rows.upper
    by_state, by_choice = side.pays and state_reward.size > 0, side.pays and choice_reward.size > 0
    pays, adds = side.pays and paid.size > 0, more.size > 0
    room = widest(rows, states) if intervals else 1
    worth, place, prefers = np.empty(2 * room), np.empty(2 * room, np.int64), 1.0 if side.nature_max else -1.0
    for s in range(states[0], states[1]):
        here, rest = (base[s], offset[s]) if side.relative else (0.0, 0.0)
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if not counted[c]:
                continue
            begin, end = choice_ptr[c], choice_ptr[c + 1]
            kind, slack = LOWER, 0.0
            if intervals:
                kind, slack = read_row(begin, end, lower, upper)
            earned, size = 0.0, 0.0
            if adds:
                earned, size = more[s], abs(more[s])
            if by_state:
                earned += state_reward[s]
                size += abs(state_reward[s])
            if by_choice:
                earned += choice_reward[c]
                size += abs(choice_reward[c])
            earned += sign * 6.0 * EPS * size
            sum_, off, endless, n = 0.0, 0.0, False, end - begin
            if kind == FREE:
                for i in range(n):
                    t = begin + order[begin + i]
                    j = successor[t]
                    endless = endless or (base[j] == np.inf and upper[t] > 0.0)
                    far, near, pay = factor * (base[j] - here), factor * (offset[j] - rest), paid[t] if pays else 0.0
                    key = ((far + near) + pay) + sign * 8.0 * EPS * (abs(far) + abs(near) + abs(pay))
                    if factor != 1.0 and (base[j] != here or offset[j] != rest):
                        key += sign * 4.0 * LEAST  # products next to 0 may vanish
                    worth[i], place[i] = prefers * key, t - begin
                if not endless:
                    sort_entries(n, worth, place)
                    one = side.nature_max == (sign < 0.0)  # one answer of nature is enough
                    sum_, off = respond(begin, n, lower, upper, slack, worth, place, one)
                    sum_ = prefers * sum_ + earned
                    if earned != 0.0:
                        off += 4.0 * EPS * (abs(earned) + abs(sum_))
                    for i in range(n):
                        order[begin + i] = place[i]
            else:
                whole, parts, size = 0.0, abs(earned), 0.0
                for t in range(begin, end):
                    p = lower[t] if kind == LOWER else upper[t]
                    if p > 0.0:
                        j = successor[t]
                        endless = endless or base[j] == np.inf
                        gap, small, pay = base[j] - here, offset[j] - rest, paid[t] if pays else 0.0
                        far, near = factor * gap, factor * small
                        sum_ += p * ((far + near) + pay)
                        size += p * (abs(far) + abs(near) + abs(pay))
                        whole += p
                        parts += abs(gap) + abs(small) + abs(pay)
                sum_ += earned * whole
                size += abs(earned) * whole
                if parts > 0.0:
                    off = (2.0 * n + 20.0) * (EPS * size + LEAST)
                if not side.scaled:
                    sum_ /= whole
                    if off > 0.0:
                        off = off / whole * (1.0 + 1e-9) + (2.0 * n + 4.0) * EPS * abs(sum_) + LEAST
            gain[c], error[c] = (np.inf, 0.0) if endless else (sum_, off)
