"""Nature's answer over all choices of a model: the best one, and the one that was solved with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.rounding import EPS, excess
from umdp.solver.kernels.rows import fill, sort_row
from umdp.solver.kernels.structs import ChoiceRows, SystemRows

__all__ = ["respond", "slack_of_choices", "transfer", "unsettled"]

Array = NDArray[Any]


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
    choice_ptr, successor, lower, upper = model.choice_ptr, model.successor, model.lower, model.upper
    widest = 1
    for q in range(row.size):
        widest = max(widest, choice_ptr[origin[row[q]] + 1] - choice_ptr[origin[row[q]]])
    met = np.full(row.size + 2, -1, np.int64)  # the unknown whose row led to a target last
    given = np.empty(row.size + 2)
    first, last = np.empty(row.size + 2, np.int64), np.empty(row.size + 2, np.int64)
    following = np.empty(widest, np.int64)
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
        begin, end = choice_ptr[c], choice_ptr[c + 1]
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
            continue
        for t in range(begin, end):
            if rest > 0.0 and index[successor[t]] == q:
                take = min(upper[t] - prob[t], rest)
                prob[t] += take
                rest -= take
        for t in range(begin, end):
            if rest > 0.0:
                take = min(upper[t] - prob[t], rest)
                prob[t] += take
                rest -= take
