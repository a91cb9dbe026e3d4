"""What nature collects in a row of the model as given, one step ahead, with every rounding bounded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.ambiguity import EPS, FREE, LEAST, LOWER, read_row, two_sum
from umdp.solver.judge.question import ModelRows, TwoPart

__all__ = ["RowReading", "collect", "listed_order", "row_gain", "space_for", "unanswered"]

Array = NDArray[Any]
Pair = tuple[Array, Array]
Ends = tuple[float, float]
Range = tuple[int, int]
FEW = 8  # entries up to which insertion is the quickest sort


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


class RowAnswer(NamedTuple):
    """Which distributions a row allows, and nature's answer: entries are served in an order, one of them in part.

    Attributes
    ----------
    kind, slack : what `read_row` says
    at : the entry that is served in part, in the order; -1 where nothing is known of an answer
    high, tail : what is left for it, as a sum
    absolute_error, lack : how far off that may be, and by how much beyond its bounds, if positive
    """

    kind: int
    slack: float
    at: int
    high: float
    tail: float
    absolute_error: float
    lack: float


@kernel(forceinline=True, allocates=False)
def unanswered(c: int, rows: ModelRows) -> RowAnswer:
    """Return what is known of the row of a choice before nature has answered."""
    kind, slack = LOWER, 0.0
    if rows.lower is not rows.upper:
        kind, slack = read_row(rows.choice_ptr[c], rows.choice_ptr[c + 1], rows.lower, rows.upper)
    return RowAnswer(kind, slack, -1, 0.0, 0.0, 0.0, 0.0)


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

    What each subtraction loses is summed; what that sum loses bounds the error.
    """
    high, tail, lost = 1.0, 0.0, 0.0
    for i in range(n):
        if i != at:
            high, error = two_sum(high, -(upper[begin + place[i]] if i < at else lower[begin + place[i]]))
            tail, error = two_sum(tail, error)
            lost += abs(error)
    return high, tail, 2.0 * lost


@kernel(forceinline=True, allocates=False)
def respond(begin: int, n: int, lower: Array, upper: Array, slack: float, place: Array) -> RowAnswer:
    """Return the answer of nature in a free row, to entries in the order of their worth."""
    rest, at = slack, 0
    while at + 1 < n and upper[begin + place[at]] - lower[begin + place[at]] < rest:
        rest -= upper[begin + place[at]] - lower[begin + place[at]]
        at += 1
    high, tail, absolute_error = left_for(begin, n, lower, upper, place, at)
    over, under = (high - upper[begin + place[at]]) + tail, (lower[begin + place[at]] - high) - tail
    if (over > 0.0 and at + 1 < n) or (under > 0.0 and at > 0):  # rounding has chosen the wrong one of two
        at += 1 if over > 0.0 else -1
        high, tail, absolute_error = left_for(begin, n, lower, upper, place, at)
        over, under = (high - upper[begin + place[at]]) + tail, (lower[begin + place[at]] - high) - tail
    lack = max(over + 2.0 * EPS * abs(over), under + 2.0 * EPS * abs(under)) + absolute_error
    return RowAnswer(FREE, slack, at, high, tail, absolute_error, lack)


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


@kernel
def space_for(rows: ModelRows, states: Range) -> Pair:
    """Return room for the worths and the order of entries of any row of some states, and for merging them."""
    most = 1
    if rows.lower is not rows.upper:
        for c in range(rows.state_ptr[states[0]], rows.state_ptr[states[1]]):
            most = max(most, rows.choice_ptr[c + 1] - rows.choice_ptr[c])
    return np.empty(2 * most), np.empty(2 * most, np.int64)


@kernel(forceinline=True, allocates=False)
def worth_along(t: int, own: Ends, rows: ModelRows, x: TwoPart, side: RowReading) -> float:
    """Return what a step along a transition of a free row is worth to nature.

    Where something is rounded it is moved outwards: nature's optimum is then on the far side of that for what is meant.
    """
    j, factor, here, rest = rows.successor[t], side.factor, own[0], own[1]
    pay = rows.paid[t] if side.pays and rows.paid.size > 0 else 0.0
    far, near = factor * (x.base[j] - here), factor * (x.offset[j] - rest)
    worth: float = ((far + near) + pay) + side.sign * 8.0 * EPS * (abs(far) + abs(near) + abs(pay))
    if factor != 1.0 and (x.base[j] != here or x.offset[j] != rest):
        worth += side.sign * 4.0 * LEAST  # products next to 0 may vanish
    return worth if side.nature_max else -worth


@kernel(forceinline=True, allocates=False)
def free_gain(
    begin: int, n: int, own: Ends, answer: RowAnswer, rows: ModelRows, x: TwoPart, side: RowReading, place: Array
) -> tuple[float, float, bool]:
    """Return ``sum p worth`` for an answer of nature, a bound on the error, and whether an infinite value is possible.

    *Duality.* For every k, with p at its upper bound where the worth is larger than that of k, at its lower bound where it is
    smaller, and ``p_k = 1 - sum of the others``, the number ``sum p worth`` bounds what *all* distributions collect, whichever k
    is taken: ``max = min_t t + sum_i upper_i (worth_i - t)+ - lower_i (t - worth_i)+``, and t = worth_k gives this number.
    Whatever the worths, it is what *one* distribution collects if ``lower_k <= p_k <= upper_k``. If p_k misses that by d, moving
    d to others changes the sum by at most d times the range of the worths, which is added where one answer is enough.

    p_k is the sum of two numbers, off by what `left_for` says, and by EPS relative to itself in products. Where all is exactly 0,
    so are sum and error.
    """
    gain, size, parts, largest, infinite, error = 0.0, 0.0, 0.0, 0.0, False, 0.0
    for i in range(n):
        t = begin + place[i]
        p, worth = rows.upper[t] if i < answer.at else rows.lower[t], worth_along(t, own, rows, x, side)
        if i == answer.at:
            p, error = answer.high + answer.tail, answer.absolute_error * abs(worth)
        infinite = infinite or (x.base[rows.successor[t]] == np.inf and rows.upper[t] > 0.0)
        gain += p * worth
        size += abs(p * worth)
        largest = max(largest, abs(worth))
        if p != 0.0 or (i == answer.at and answer.absolute_error > 0.0):
            parts += abs(worth)
    error += (2.0 * n + 8.0) * EPS * size
    if side.nature_max == (side.sign < 0.0):  # one answer of nature is enough
        error += max(answer.lack, 0.0) * 4.0 * largest
    if parts > 0.0:
        error += (2.0 * n + 8.0) * LEAST
    return (gain if side.nature_max else -gain), error, infinite


@kernel(forceinline=True, allocates=False)
def fixed_gain(
    c: int, kind: int, own: Ends, earned: float, rows: ModelRows, x: TwoPart, side: RowReading
) -> tuple[float, float, bool]:
    """Return what the one distribution of a row gains, a bound on the error, and whether it leads to an infinite value."""
    base, offset, successor, paid, (here, rest) = x.base, x.offset, rows.successor, rows.paid, own
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    factor, pays, n = side.factor, side.pays and paid.size > 0, end - begin
    gain, size, whole, parts, infinite = 0.0, 0.0, 0.0, abs(earned), False
    for t in range(begin, end):
        p = rows.lower[t] if kind == LOWER else rows.upper[t]
        if p > 0.0:
            j = successor[t]
            infinite = infinite or base[j] == np.inf
            gap, small, pay = base[j] - here, offset[j] - rest, paid[t] if pays else 0.0
            far, near = factor * gap, factor * small
            gain += p * ((far + near) + pay)
            size += p * (abs(far) + abs(near) + abs(pay))
            whole += p
            parts += abs(gap) + abs(small) + abs(pay)
    gain += earned * whole
    size += abs(earned) * whole
    absolute_error = (2.0 * n + 20.0) * (EPS * size + LEAST) if parts > 0.0 else 0.0
    if not side.scaled:
        gain /= whole
        if absolute_error > 0.0:
            absolute_error = absolute_error / whole * (1.0 + 1e-9) + (2.0 * n + 4.0) * EPS * abs(gain) + LEAST
    return gain, absolute_error, infinite


@kernel(forceinline=True, allocates=False)
def row_gain(
    s: int, c: int, answer: RowAnswer, rows: ModelRows, x: TwoPart, more: Array, side: RowReading, space: Pair
) -> tuple[float, float, RowAnswer]:
    """Return what a step by one row gains, a bound on the error of that, as `collect` writes them, and nature's answer.

    `space` has room for worths, and the entries in an order near to that which nature prefers. They are sorted, unless an answer
    is given: then it is taken, which is allowed where one answer is enough.
    """
    begin, n, sign = rows.choice_ptr[c], rows.choice_ptr[c + 1] - rows.choice_ptr[c], side.sign
    own = (x.base[s], x.offset[s]) if side.relative else (0.0, 0.0)
    earned, size = 0.0, 0.0
    if more.size > 0:
        earned, size = more[s], abs(more[s])
    if side.pays and rows.state_reward.size > 0:
        earned += rows.state_reward[s]
        size += abs(rows.state_reward[s])
    if side.pays and rows.choice_reward.size > 0:
        earned += rows.choice_reward[c]
        size += abs(rows.choice_reward[c])
    earned += sign * 6.0 * EPS * size
    if answer.kind != FREE:
        gain, absolute_error, infinite = fixed_gain(c, answer.kind, own, earned, rows, x, side)
        return (np.inf if infinite else gain), (0.0 if infinite else absolute_error), answer
    if answer.at < 0:
        worth, place = space
        for i in range(n):
            worth[i] = worth_along(begin + place[i], own, rows, x, side)
        sort_entries(n, worth, place)
        answer = respond(begin, n, rows.lower, rows.upper, answer.slack, place)
    gain, absolute_error, infinite = free_gain(begin, n, own, answer, rows, x, side, space[1])
    gain += earned
    if earned != 0.0:
        absolute_error += 4.0 * EPS * (abs(earned) + abs(gain))
    return (np.inf if infinite else gain), (0.0 if infinite else absolute_error), answer


@kernel
def collect(
    rows: ModelRows, counted: Array, x: TwoPart, more: Array, side: RowReading, states: Range, order: Array, out: Pair
) -> None:
    """Write what a step by each counted row of some states gains, and a bound on the error of that, (C,) each.

    That is ``more + reward + sum p (factor (x_j - x_s) + paid)`` for nature's answer; `more` (S,) may be empty. An infinite value
    that is possible makes it infinite: it has positive probability, or the graph says so. Where all terms are exactly 0, so are
    gain and error. `order` (T,) has the entries of each row in an order near to that which nature prefers, and is updated.

    *Roundings.* A difference takes at most five, each of at most the sum of its parts' sizes. Where nature has a choice, it is
    moved outwards by more than that. Else products and sums of n terms of sizes a_i are off by at most (n + 1) EPS sum a_i, the
    sum of n bounds by n EPS, and this bound itself is rounded: (2 n + 20) EPS covers all of it.
    """
    space = space_for(rows, states)
    place = space[1]
    for s in range(states[0], states[1]):
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            if not counted[c]:
                continue
            answer, begin, n = unanswered(c, rows), rows.choice_ptr[c], rows.choice_ptr[c + 1] - rows.choice_ptr[c]
            if answer.kind == FREE:
                for i in range(n):
                    place[i] = order[begin + i]
            out[0][c], out[1][c], _ = row_gain(s, c, answer, rows, x, more, side, space)
            if answer.kind == FREE:
                for i in range(n):
                    order[begin + i] = place[i]
