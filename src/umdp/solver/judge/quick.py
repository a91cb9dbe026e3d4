"""The quick look: which rows hold, strictly or with equality, from below and from above, seen at once; it leaves others open.

Nothing depends on it but time: what it says of a row is so, with every rounding bounded, and what it leaves open is judged by
`rows.collect`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.graph import JudgedQuestion
from umdp.solver.judge.rows import EPS, FREE, LEAST, LOWER, ModelRows, TwoPart, left_for, read_row, sort_entries, widest

__all__ = ["FAILS", "OPEN", "STRICT", "TIES", "counts", "is_above", "is_below", "look"]

Array = NDArray[Any]
OPEN, FAILS, TIES, STRICT = (
    -1,
    0,
    1,
    2,
)  # what is known of a row's inequality: nothing, it fails, there is equality, it holds


@kernel(forceinline=True, allocates=False)
def is_below(base: float, offset: float, level: float) -> bool:
    """Whether a value is surely at most `level`: a difference of two numbers has the right sign, and is off by EPS."""
    away = base - level
    return bool((away <= 0.0 and offset <= 0.0) or away + offset <= -4.0 * EPS * abs(away))


@kernel(forceinline=True, allocates=False)
def is_above(base: float, offset: float, level: float) -> bool:
    """Whether a value is surely at least `level`."""
    return bool(is_below(-base, -offset, -level))


@kernel(forceinline=True, allocates=False)
def counts(base: float, offset: float, sign: float, end: float) -> bool:
    """Whether there is anything to show of a bound, from above if `sign` is 1: not if it is infinite, or at its trivial end."""
    trivial = is_above(base, offset, end) if sign > 0.0 else is_below(base, offset, end)
    return bool(base < np.inf and not trivial)


@kernel
def look(
    rows: ModelRows,
    asked: JudgedQuestion,
    low: TwoPart,
    high: TwoPart,
    choice: Array,
    below: tuple[Array, Array],
    above: tuple[Array, Array],
) -> None:
    """Write whether rows hold, from below and from above (C,), and the worst of each state (S,), as far as that is seen at once.

    The rows that count are all of a state, or the policy's (S,); none where the bound is a trivial one. Others hold.

    On one side all answers of nature count: from above if it maximises. There its optimum is that of `rows.respond`, for values
    of what a step is *worth* to it. On the other side one answer is enough, and the one just found is one. Roundings are those
    of `rows.collect`.
    """
    goal, through, nature_max = asked.goal, asked.through, asked.nature_max
    all_below, all_above = asked.all_below, asked.all_above
    bottom, top = (0.0, np.inf) if asked.reward else (asked.top - 1.0, asked.top)
    low_base, low_offset, high_base, high_offset = low.base, low.offset, high.base, high.offset
    down, up, worst_down, worst_up = below[0], above[0], below[1], above[1]
    state_ptr, choice_ptr, successor = rows.state_ptr, rows.choice_ptr, rows.successor
    lower, upper, state_reward, choice_reward = rows.lower, rows.upper, rows.state_reward, rows.choice_reward
    intervals, by_state, by_choice = rows.lower is not rows.upper, state_reward.size > 0, choice_reward.size > 0
    # Of all answers, of one.
    sign, x, y, x_rest, y_rest = 1.0, high.base, low.base, high.offset, low.offset
    if not nature_max:
        sign, x, y, x_rest, y_rest = -1.0, low.base, high.base, low.offset, high.offset
    paid, pays = rows.paid, rows.paid.size > 0
    more = pays or low.offset.any() or high.offset.any()
    room = widest(rows, (0, goal.size)) if intervals else 1
    worth, place = np.empty(2 * room), np.empty(2 * room, np.int64)
    for s in range(goal.size):
        here, there, here_rest, there_rest = x[s], y[s], x_rest[s], y_rest[s]
        inner = not goal[s] and through[s]
        show_low = inner and counts(low_base[s], low_offset[s], -1.0, bottom)
        show_high = inner and counts(high_base[s], high_offset[s], 1.0, top)
        worst_down[s] = worst_up[s] = STRICT
        for c in range(state_ptr[s], state_ptr[s + 1]):
            down[c] = up[c] = STRICT
            from_below, from_above = (
                show_low and (all_below or choice[s] == c),
                show_high and (all_above or choice[s] == c),
            )
            if not (from_below or from_above):
                continue
            begin, end = choice_ptr[c], choice_ptr[c + 1]
            kind, slack, n = LOWER, 0.0, end - begin
            if intervals and n > 1:
                kind, slack = read_row(begin, end, lower, upper)
            earned = 0.0
            if by_state:
                earned = state_reward[s]
            if by_choice:
                earned += choice_reward[c]
            all_, one, size, other, whole, lost, off = 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0
            if n == 1:  # one distribution, whatever the bounds say
                j, pay = successor[begin], paid[begin] if pays else 0.0
                far, away, near, close = x[j] - here, y[j] - there, x_rest[j] - here_rest, y_rest[j] - there_rest
                all_, size = sign * ((far + near) + pay), abs(far) + abs(near) + abs(pay)
                one, other = (away + close) + pay, abs(away) + abs(close) + abs(pay)
            elif kind != FREE:
                whole = 0.0
                for t in range(begin, end):
                    p, j = lower[t] if kind == LOWER else upper[t], successor[t]
                    if p > 0.0:
                        far, away = x[j] - here, y[j] - there
                        all_ += p * far
                        size += p * abs(far)
                        one += p * away
                        other += p * abs(away)
                        whole += p
                for t in range(begin, end if more else begin):
                    p, j = lower[t] if kind == LOWER else upper[t], successor[t]
                    if p > 0.0:
                        near, close, pay = x_rest[j] - here_rest, y_rest[j] - there_rest, paid[t] if pays else 0.0
                        all_ += p * (near + pay)
                        size += p * (abs(near) + abs(pay))
                        one += p * (close + pay)
                        other += p * (abs(close) + abs(pay))
                all_ *= sign
            else:
                for i in range(n):
                    t = begin + i
                    j = successor[t]
                    far, near, pay = x[j] - here, x_rest[j] - here_rest, paid[t] if pays else 0.0
                    part = abs(far) + abs(near) + abs(pay)
                    worth[i], place[i] = sign * ((far + near) + pay) + 8.0 * EPS * part, i
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
                    j = successor[t]
                    away, close, pay = y[j] - there, y_rest[j] - there_rest, paid[t] if pays else 0.0
                    part = abs(away) + abs(close) + abs(pay)
                    all_ += p * worth[i]
                    size += abs(p * worth[i])
                    one += p * ((away + close) + pay)
                    other += abs(p) * part
                    span = max(span, part)
                lost, off = 5.0 * (lack + off) * span, 2.0 * off * abs(worth[at])
            bound, found, second = 2.0 * n + 20.0, OPEN, OPEN
            error = bound * (EPS * (size + abs(earned) * whole) + LEAST)
            if all_ + sign * earned * whole + off + error < 0.0:
                found = STRICT
            error = bound * (EPS * (other + abs(earned) * whole) + LEAST)
            if -sign * (one + earned * whole) + lost + error < 0.0:
                second = STRICT
            if earned == 0.0 and size * other == 0.0 and not pays:  # is all that is possible worth the same?
                even, also = found == OPEN, second == OPEN
                for t in range(begin, end):
                    j = successor[t]
                    if n == 1 or (lower[t] > 0.0 if kind == LOWER else upper[t] > 0.0):
                        even = even and x[j] == here and x_rest[j] == here_rest
                        also = also and y[j] == there and y_rest[j] == there_rest
                found, second = TIES if even else found, TIES if also else second
            if from_below:
                down[c] = second if nature_max else found
                worst_down[s] = min(worst_down[s], down[c])
            if from_above:
                up[c] = found if nature_max else second
                worst_up[s] = min(worst_up[s], up[c])
