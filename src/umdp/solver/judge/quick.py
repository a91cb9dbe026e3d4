"""The quick look: which rows hold strictly, from below and from above, seen at once; what it leaves is looked at with care.

Nothing depends on it but time: a row that it passes satisfies its inequality, with every rounding bounded, and one that it does
not pass is judged by `rows.collect`. Vectors are in one part, transitions pay nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.rows import EPS, FREE, LEAST, LOWER, ModelRows, TwoPart, left_for, read_row, sort_entries, widest

__all__ = ["pass_rows"]

Array = NDArray[Any]


@kernel
def pass_rows(
    rows: ModelRows,
    nature_max: bool,
    low: TwoPart,
    high: TwoPart,
    states: tuple[int, int],
    order: Array,
    below: Array,
    above: Array,
) -> None:
    """Take the marks (C,) from rows of some states that hold strictly, from below and from above.

    On one side all answers of nature count: from above if it maximises. There its optimum is that of `rows.respond`, for values
    of what a step is *worth* to it. On the other side one answer is enough, and the one just found is one. Roundings are those
    of `rows.collect`, with fewer terms.
    """
    state_ptr, choice_ptr, successor = rows.state_ptr, rows.choice_ptr, rows.successor
    lower, upper, state_reward, choice_reward = rows.lower, rows.upper, rows.state_reward, rows.choice_reward
    intervals, by_state, by_choice = rows.lower is not rows.upper, state_reward.size > 0, choice_reward.size > 0
    sign, x, y = (1.0, high.base, low.base) if nature_max else (-1.0, low.base, high.base)  # of all answers, of one
    room = widest(rows, states) if intervals else 1
    worth, place = np.empty(2 * room), np.empty(2 * room, np.int64)
    for s in range(states[0], states[1]):
        here, there = x[s], y[s]
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if not (below[c] or above[c]):
                continue
            begin, end = choice_ptr[c], choice_ptr[c + 1]
            kind, slack, n = LOWER, 0.0, end - begin
            if intervals:
                kind, slack = read_row(begin, end, lower, upper)
            earned = 0.0
            if by_state:
                earned = state_reward[s]
            if by_choice:
                earned += choice_reward[c]
            all_, one, size, other, whole, lost, off = 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0
            if kind != FREE:
                whole = 0.0
                for t in range(begin, end):
                    p = lower[t] if kind == LOWER else upper[t]
                    if p > 0.0:
                        far, away = x[successor[t]] - here, y[successor[t]] - there
                        all_ += p * far
                        size += p * abs(far)
                        one += p * away
                        other += p * abs(away)
                        whole += p
                all_ *= sign
            else:
                for i in range(n):
                    t = begin + order[begin + i]
                    far = x[successor[t]] - here
                    worth[i], place[i] = sign * far + 2.0 * EPS * abs(far), t - begin
                sort_entries(n, worth, place)
                at, rest = 0, slack
                while at + 1 < n and upper[begin + place[at]] - lower[begin + place[at]] < rest:
                    rest -= upper[begin + place[at]] - lower[begin + place[at]]
                    at += 1
                left, tail, off = left_for(begin, n, lower, upper, place, at)
                span, t = 0.0, begin + place[at]
                over, under = (left - upper[t]) + tail, (lower[t] - left) - tail
                lack = max(over + 2.0 * EPS * abs(over), under + 2.0 * EPS * abs(under), 0.0) + off
                for i in range(n):
                    t = begin + place[i]
                    p = left + tail if i == at else upper[t] if i < at else lower[t]
                    away = y[successor[t]] - there
                    all_ += p * worth[i]
                    size += abs(p * worth[i])
                    one += p * away
                    other += abs(p * away)
                    span = max(span, abs(away))
                    order[begin + i] = place[i]
                lost, off = 5.0 * (lack + off) * span, 2.0 * off * abs(worth[at])
            bound = 2.0 * n + 20.0
            error = bound * (EPS * (size + abs(earned) * whole) + LEAST)
            if all_ + sign * earned * whole + off + error < 0.0:
                if nature_max:
                    above[c] = False
                else:
                    below[c] = False
            error = bound * (EPS * (other + abs(earned) * whole) + LEAST)
            if -sign * (one + earned * whole) + lost + error < 0.0:
                if nature_max:
                    below[c] = False
                else:
                    above[c] = False
