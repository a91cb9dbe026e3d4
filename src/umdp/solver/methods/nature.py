"""Nature's answer to given values, over all choices of a model."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.certification.rounding import EPS, excess
from umdp.solver.certification.row import fill, sort_row

if TYPE_CHECKING:
    from umdp.solver.task import Task, Values

__all__ = ["BLUR", "answer", "feasible", "respond", "spread"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)


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
def _slack(choice_ptr: Array, lower: Array) -> Array:
    """Return what the lower bounds of every choice leave to hand out."""
    rest = np.empty(choice_ptr.size - 1)
    for c in range(rest.size):
        rest[c] = -excess(choice_ptr[c], choice_ptr[c + 1], lower)
    return rest


@kernel
def _settled(choice_ptr: Array, lower: Array, upper: Array, prob: Array) -> Array:
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


BLUR = 24.0 * EPS  # 8 roundings as above, twice because rows are divided by their sum, and to spare


def feasible(task: Task, prob: Array) -> Array:
    """Return probabilities close to `prob` (T,) that are, up to `BLUR` relative to each, a choice of nature's.

    Where that is not plain to see, the row is worked out in rationals.
    """
    prob = np.array(prob)
    ptr = task.graph.choice_ptr
    for c in np.flatnonzero(_settled(ptr, task.lower, task.upper, prob)):
        span = slice(int(ptr[c]), int(ptr[c + 1]))
        prob[span] = vertex(task.lower[span], task.upper[span], prob[span])
    return prob


def vertex(lower: Array, upper: Array, prob: Array) -> list[float]:
    """Return the distribution of a row that serves successors in the order in which `prob` does, each rounded once."""
    low, high = [Fraction(float(p)) for p in lower], [Fraction(float(p)) for p in upper]
    rest = 1 - sum(low, Fraction(0))
    with np.errstate(invalid="ignore", divide="ignore"):
        served = np.where(upper > lower, (prob - lower) / (upper - lower), 0.0)
    for i in np.argsort(-served, kind="stable"):
        take = min(rest, high[i] - low[i])
        low[i] += take
        rest -= take
    return [float(p) for p in low]


def spread(task: Task) -> Array:
    """Return a distribution inside the bounds of every choice that gives every listed transition a share, shape (T,)."""
    ptr = task.graph.choice_ptr
    room = task.upper - task.lower
    rest = _slack(ptr, task.lower)
    total = np.add.reduceat(room, ptr[:-1])
    share = np.where((total > 0) & (rest > 0), rest / np.where(total > 0, total, 1.0), 0.0)
    mixed: Array = task.lower + np.repeat(share, np.diff(ptr)) * room
    return mixed


def answer(task: Task, values: Values) -> Array:
    """Return nature's probabilities for the whole model (T,): those the rows were solved with, else the best response."""
    graph = task.graph
    prob = np.empty(graph.transitions)
    respond(graph.choice_ptr, graph.successor, task.lower, task.upper, values.x, NOTHING, task.nature_max, prob)
    problem, row, solved = values.problem, values.row, values.prob
    if problem is not None and row is not None and solved is not None:
        _transfer(
            np.diff(problem.comp_ptr), row, problem.origin, problem.slack, problem.entry_ptr, problem.target, solved,
            problem.index,
            graph.choice_ptr, graph.successor, task.lower, task.upper, graph.choice_state, prob,
        )  # fmt: skip
    return prob


@kernel
def _transfer(
    comp_size: Array,
    row: Array,
    origin: Array,
    slack: Array,
    entry_ptr: Array,
    target: Array,
    solved: Array,
    index: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    choice_state: Array,
    prob: Array,
) -> None:
    """Copy the distributions of the rows taken back to the model's transitions, within their bounds.

    States that no row leads back to are left as they are: what answers their value best is all there is to say.

    Transitions to one target are listed, first to last, so that a row costs no more than its entries and transitions.
    """
    widest = 1
    for q in range(row.size):
        widest = max(widest, choice_ptr[origin[row[q]] + 1] - choice_ptr[origin[row[q]]])
    met = np.full(row.size + 2, -1, np.int64)  # the unknown whose row led to a target last
    given = np.empty(row.size + 2)
    first, last = np.empty(row.size + 2, np.int64), np.empty(row.size + 2, np.int64)
    following = np.empty(widest, np.int64)
    component, ends = -1, 0  # where q is, and the first unknown behind it
    for q in range(row.size):
        while q >= ends:
            component += 1
            ends += comp_size[component]
        r = row[q]
        c = origin[r]
        if comp_size[component] == 1 and slack[r] > 0.0:
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
