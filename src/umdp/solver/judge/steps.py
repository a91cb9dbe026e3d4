"""The judge of step-bounded properties: the induction once more, every backup rounded outwards.

A bound on the values with k steps to go gives one with k + 1: T is monotone. Nothing else is needed, and nothing is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.rows import EPS, FREE, LEAST, LOWER, ModelRows, TwoPart, fixed, read_row, respond
from umdp.solver.judge.sums import Play

__all__ = ["step_back"]

Array = NDArray[Any]


@kernel
def worth_of(
    s: int, c: int, rows: ModelRows, play: Play, x: TwoPart, sign: float, buffers: tuple[Array, Array]
) -> float:
    """Return a bound, from above if `sign` is 1, on what a step by a row is worth if `x` (S,) is one on what comes after.

    A row without freedom collects ``sum(p key) / sum(p)``, a quotient that is rounded once more.
    """
    key, order = buffers
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind, slack = LOWER, 0.0
    if rows.lower is not rows.upper:
        kind, slack = read_row(begin, end, rows.lower, rows.upper)
    if kind == FREE:
        for t in range(begin, end):
            key[t - begin] = x.base[rows.successor[t]]
            if rows.paid.size > 0 and rows.paid[t] != 0.0:
                key[t - begin] += rows.paid[t]
                key[t - begin] += sign * 2.0 * EPS * abs(key[t - begin])
        value, error = respond(
            begin, end, (rows.lower, rows.upper), slack, key, order, play.nature_max, play.nature_max == (sign < 0.0)
        )
    else:
        value, error = fixed(begin, end, rows, kind, x, (0.0, 0.0), 1.0, 0.0, sign)
        whole = 0.0
        for t in range(begin, end):
            whole += rows.lower[t] if kind == LOWER else rows.upper[t]
        value = value / whole
        if error > 0.0:
            error = error / whole * (1.0 + 1e-9) + (2.0 * (end - begin) + 4.0) * EPS * abs(value) + LEAST
    if error > 0.0:
        value += sign * (error + 2.0 * EPS * abs(value) + LEAST)
    for earned in (
        rows.state_reward[s] if rows.state_reward.size > 0 else 0.0,
        rows.choice_reward[c] if rows.choice_reward.size > 0 else 0.0,
    ):
        if earned != 0.0:
            value += earned
            value += sign * 2.0 * EPS * abs(value)
    return value


@kernel
def step_back(
    rows: ModelRows, play: Play, agent_max: bool, decided: Array, worth: Array, x: Array, sign: float, out: Array
) -> None:
    """Write bounds (S,) on values with one step more to go; `decided` states (S,) have theirs in `worth` (S,).

    With `play.every`, the agent's best row counts, else the policy's, or all of its rows with their weights.
    """
    widest = 1
    for c in range(rows.choice_ptr.size - 1):
        widest = max(widest, rows.choice_ptr[c + 1] - rows.choice_ptr[c])
    buffers = np.empty(widest), np.empty(2 * widest, np.int64)
    after = TwoPart(x, np.zeros(x.size))
    for s in range(x.size):
        if decided[s]:
            out[s] = worth[s]
            continue
        first, last = rows.state_ptr[s], rows.state_ptr[s + 1]
        if play.weight.size > 0:
            total, whole = 0.0, 0.0
            for c in range(first, last):
                if play.weight[c] > 0.0:
                    found = worth_of(s, c, rows, play, after, sign, buffers)
                    part = play.weight[c] * found
                    total += part + sign * (4.0 * (last - first) + 8.0) * EPS * abs(part)
                    total += sign * (LEAST if found != 0.0 else 0.0)  # a product next to 0 may vanish
                    whole += play.weight[c]
            # Weights sum to 1 up to rounding, and are meant to do so exactly.
            out[s] = total / whole
            out[s] += sign * ((4.0 * (last - first) + 8.0) * EPS * abs(out[s]) + (LEAST if out[s] != 0.0 else 0.0))
            continue
        if not play.every:
            if not first <= play.choice[s] < last:
                out[s] = sign * np.inf
                continue
            first, last = play.choice[s], play.choice[s] + 1
        best = -np.inf if agent_max else np.inf
        for c in range(first, last):
            found = worth_of(s, c, rows, play, after, sign, buffers)
            best = max(best, found) if agent_max else min(best, found)
        out[s] = best
