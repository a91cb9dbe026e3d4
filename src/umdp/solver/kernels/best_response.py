"""Nature's inner problem: the distribution within the bounds that serves successors in a given order, in a row and in all.

`respond` writes the best one on all choices of a model, `transfer` the one that was solved with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.rounding import EPS, excess, share_error, two_sum
from umdp.solver.kernels.structs import ChoiceRows, RowSpace, SystemRows

__all__ = [
    "fill",
    "hand_out",
    "respond",
    "slack_of_choices",
    "sort_row",
    "transfer",
    "unsettled",
]

Array = NDArray[Any]
MOVES = 16  # by which each entry of a row may be moved, on average, before it is merged


@kernel
def merge_row(begin: int, size: int, sign: float, key: Array, order: Array) -> None:
    """Do what `sort_row` does, in n log n comparisons whatever the order was: runs of 1, 2, 4, ... entries are merged."""
    other = np.empty(size, order.dtype)
    run = 1
    while run < size:
        for first in range(0, size - run, 2 * run):
            middle, last = first + run, min(first + 2 * run, size)
            if not sign * key[order[begin + middle - 1]] < sign * key[order[begin + middle]]:
                continue
            for i in range(first, middle):
                other[i] = order[begin + i]
            i, j, k = first, middle, first
            while i < middle and j < last:
                if sign * key[other[i]] < sign * key[order[begin + j]]:
                    order[begin + k] = order[begin + j]
                    j += 1
                else:
                    order[begin + k] = other[i]
                    i += 1
                k += 1
            while i < middle:
                order[begin + k] = other[i]
                i += 1
                k += 1
        run *= 2


@kernel(forceinline=True, allocates=False)
def sort_row(begin: int, size: int, key: Array, order: Array, descending: bool) -> None:
    """Sort ``order[begin:begin+size]`` by `key` (one key per entry of the row, in the row's own order).

    Equal keys stay as they are. Entries are inserted one after the other as long as `MOVES` moves an entry will do, as in a row
    that is not wide, or an order that is almost right.
    """
    sign, moves = 1.0 if descending else -1.0, MOVES * size
    for i in range(1, size):
        moved = order[begin + i]
        value = sign * key[moved]
        j = i - 1
        while j >= 0 and sign * key[order[begin + j]] < value:
            order[begin + j + 1] = order[begin + j]
            j -= 1
        order[begin + j + 1] = moved
        moves -= i - 1 - j
        if moves < 0:
            merge_row(begin, size, sign, key, order)
            return


@kernel(inline="always")
def fill(begin: int, size: int, lower: Array, upper: Array, slack: float, order: Array, probe: Array) -> float:
    """Write into `probe` the distribution that hands the slack out in the order given.

    Each entry is accurate relative to itself (`rounding.row_error`): where less than half of the slack is left for the last
    entry served, or hardly less than it has room for, the sums are done again in twice the working precision. What that may be
    off, absolutely, is returned; 0 if it was not necessary, or exact.
    """
    rest = slack
    delicate = slack < 2.0**-40
    for i in range(size):
        k = order[begin + i]
        low, room = lower[begin + k], upper[begin + k] - lower[begin + k]
        probe[k] = low
        if rest > 0.0:
            if room < rest:
                probe[k] = upper[begin + k]
                rest -= room
                delicate = delicate or rest < 0.5 * slack
            else:
                probe[k] = low + rest
                delicate = delicate or room - rest < 2.0**-30 * slack
                rest = 0.0
    if not delicate or slack <= 0.0:
        return 0.0
    high, tail, lost = 1.0, 0.0, 0.0  # 1 - sum of lower bounds, as an unevaluated sum of two numbers
    for i in range(size):
        high, error = two_sum(high, -lower[begin + i])
        tail, error = two_sum(tail, error)
        lost += abs(error)
    for i in range(size):
        k = order[begin + i]
        probe[k] = lower[begin + k]
        if high + tail <= 0.0:
            continue
        before_high, before_tail = high, tail
        for v in (-upper[begin + k], lower[begin + k]):
            high, error = two_sum(high, v)
            tail, error = two_sum(tail, error)
            lost += abs(error)
        if high + tail >= 0.0:
            probe[k] = upper[begin + k]
        else:
            probe[k] = lower[begin + k] + (before_high + before_tail)
            high, tail = 0.0, 0.0
    return share_error(size) if lost > 0.0 else 0.0


@kernel(forceinline=True, allocates=False)
def hand_out(
    begin: int, size: int, lower: Array, upper: Array, slack: float, order: Array, space: RowSpace, nature_max: bool
) -> float:
    """Write nature's best distribution for the keys of a row into `space.share`; return what `fill` does."""
    share = space.share
    if slack > 0.0 and size > 1:
        sort_row(begin, size, space.key, order, nature_max)
        return fill(begin, size, lower, upper, slack, order, share)
    for i in range(size):
        share[i] = lower[begin + i]
    return 0.0


@kernel
def respond(
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    x: Array,
    paid: Array,
    nature_max: bool,
    prob: Array,
) -> Array:
    """Write nature's best distribution against `x` into `prob` (T,); return its expectation per choice (C,).

    `paid` (T,) is what transitions earn, or empty. An infinite value that gets no probability counts as nothing.
    """
    choices = choice_ptr.size - 1
    widest = 1
    for c in range(choices):
        widest = max(widest, choice_ptr[c + 1] - choice_ptr[c])
    key = np.empty(widest)
    order = np.empty(widest, np.int32)
    expected = np.empty(choices)
    for c in range(choices):
        lo, hi = choice_ptr[c], choice_ptr[c + 1]
        size = hi - lo
        for i in range(size):
            key[i] = x[successor[lo + i]]
            if paid.size > 0:
                key[i] += paid[lo + i]
            order[i] = i
        sort_row(0, size, key, order, nature_max)
        fill(0, size, lower[lo:hi], upper[lo:hi], -excess(lo, hi, lower), order, prob[lo:hi])
        total = 0.0
        for i in range(size):
            if prob[lo + i] > 0.0:
                total += prob[lo + i] * key[i]
        expected[c] = total
    return expected


@kernel
def slack_of_choices(choice_ptr: Array, lower: Array) -> Array:
    """Return what the lower bounds of every choice leave to hand out."""
    rest = np.empty(choice_ptr.size - 1)
    for c in range(rest.size):
        rest[c] = -excess(choice_ptr[c], choice_ptr[c + 1], lower)
    return rest


@kernel
def unsettled(choice_ptr: Array, lower: Array, upper: Array, prob: Array) -> Array:
    """Return the choices for which no distribution within the bounds is known to be close to `prob`, (C,).

    Rows without freedom get their bounds. Elsewhere the sum of `prob` misses 1 by some amount, and one entry that can make
    it good while changing by no more than 8 roundings is enough.
    """
    unknown = np.zeros(choice_ptr.size - 1, np.bool_)
    for c in range(unknown.size):
        begin, end = choice_ptr[c], choice_ptr[c + 1]
        if excess(begin, end, lower) >= 0.0:
            prob[begin:end] = lower[begin:end]
            continue
        if excess(begin, end, upper) <= 0.0:
            prob[begin:end] = upper[begin:end]
            continue
        missed = excess(begin, end, prob)
        inside, close = True, missed == 0.0
        for t in range(begin, end):
            inside = inside and lower[t] <= prob[t] <= upper[t]
            # `missed` is off by two roundings, which a factor of 2 on every side makes good.
            if abs(missed) <= 4.0 * EPS * prob[t] and prob[t] > 1e-290:
                if missed > 0.0:
                    close = close or lower[t] <= prob[t] - 2.0 * missed
                else:
                    close = close or prob[t] - 2.0 * missed <= upper[t]
        unknown[c] = not (inside and close)
    return unknown


class _Targets(NamedTuple):
    """Work space of `transfer`, by target: who led there last, with what; its first and last transition, what follows each."""

    met: Array
    given: Array
    first: Array
    last: Array
    following: Array


@kernel(allocates=False)
def _serve(
    q: int,
    r: int,
    c: int,
    rows: SystemRows,
    index: Array,
    solved: Array,
    model: ChoiceRows,
    prob: Array,
    space: _Targets,
) -> None:
    """Write what the row `r` of an unknown `q` gives to its targets as probabilities of a choice's transitions."""
    entry_ptr, target, successor, lower, upper = rows.entry_ptr, rows.target, model.successor, model.lower, model.upper
    met, given, first, last, following = space.met, space.given, space.first, space.last, space.following
    begin, end = model.choice_ptr[c], model.choice_ptr[c + 1]
    # Entries were merged by target; a single entry of a longer row is one way out of an end component.
    for e in range(entry_ptr[r], entry_ptr[r + 1]):
        j = target[e]
        if met[j] != q:
            met[j], given[j], first[j] = q, 0.0, -1
        given[j] += solved[e]
    rest = 1.0
    for t in range(begin, end):
        prob[t] = lower[t]
        rest -= lower[t]
        j = index[successor[t]]
        if met[j] == q:
            if first[j] < 0:
                first[j] = t
            else:
                following[last[j] - begin] = t
            last[j] = t
            following[t - begin] = -1
    for e in range(entry_ptr[r], entry_ptr[r + 1]):
        j = target[e]
        if met[j] != q:
            continue
        met[j] = -1  # once a target
        left, t = given[j], first[j]
        if t >= 0 and t == last[j] and entry_ptr[r + 1] - entry_ptr[r] > 1:
            rest -= left - lower[t]
            prob[t] = left
            continue
        while t >= 0:
            left -= lower[t]
            t = following[t - begin]
        t = first[j]
        while t >= 0 and left > 0.0 and rest > 0.0:
            take = min(min(upper[t] - lower[t], left), rest)
            prob[t] += take
            left -= take
            rest -= take
            t = following[t - begin]
    if rest < 1e-12:  # all is handed out, up to rounding
        return
    for turn in range(2):  # what stays within the unknown is served first
        for t in range(begin, end):
            if rest > 0.0 and (turn == 1 or index[successor[t]] == q):
                take = min(upper[t] - prob[t], rest)
                prob[t] += take
                rest -= take


@kernel
def transfer(
    rows: SystemRows, origin: Array, index: Array, row: Array, solved: Array, model: ChoiceRows, prob: Array
) -> None:
    """Copy the distributions `solved` of the rows taken back to the model's transitions, within their bounds.

    `origin` (rows,) is the choice that each row stands for, `index` (S,) the unknown or exit that each state became.

    States that no row leads back to are left as they are: what answers their value best is all there is to say.

    Transitions to one target are listed, first to last, so that a row costs no more than its entries and transitions.
    """
    comp_ptr, entry_ptr, target, slack = rows.comp_ptr, rows.entry_ptr, rows.target, rows.slack
    choice_ptr, lower, upper = model.choice_ptr, model.lower, model.upper
    widest = 1
    for q in range(row.size):
        widest = max(widest, choice_ptr[origin[row[q]] + 1] - choice_ptr[origin[row[q]]])
    n = row.size + 2
    space = _Targets(
        np.full(n, -1, np.int64), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(widest, np.int64)
    )
    component = -1  # where q is
    for q in range(row.size):
        while q >= comp_ptr[component + 1]:
            component += 1
        r = row[q]
        c = origin[r]
        if comp_ptr[component + 1] - comp_ptr[component] == 1 and slack[r] > 0.0:
            loops = False
            for e in range(entry_ptr[r], entry_ptr[r + 1]):
                loops = loops or target[e] == q
            if not loops:
                continue
        free = False
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            if upper[t] > lower[t]:
                free = True
        if not free or (slack[r] <= 0.0 and entry_ptr[r + 1] - entry_ptr[r] > 1):
            continue
        _serve(q, r, c, rows, index, solved, model, prob, space)
