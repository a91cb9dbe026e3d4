"""The judge of step-bounded properties: the induction once more, every backup rounded outwards.

A bound on the values with k steps to go gives one with k + 1: T is monotone. Nothing else is needed, and nothing is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.rows import EPS, LEAST, ModelRows, RowReading, TwoPart, collect
from umdp.solver.judge.sums import Play

__all__ = ["step_back"]

Array = NDArray[Any]


@kernel
def step_back(
    rows: ModelRows,
    play: Play,
    agent_max: bool,
    decided: Array,
    worth: Array,
    x: Array,
    sign: float,
    order: Array,
    out: Array,
) -> None:
    """Write bounds (S,) on values with one step more to go; `decided` states (S,) have theirs in `worth` (S,).

    With `play.every`, the agent's best row counts, else the policy's, or all of its rows with their weights.
    """
    choices, weighted = rows.choice_ptr.size - 1, play.weight.size > 0
    counted, value, error = np.empty(choices, np.bool_), np.empty(choices), np.empty(choices)
    for s in range(x.size):
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            counted[c] = not decided[s] and (play.weight[c] > 0.0 if weighted else play.every or c == play.choice[s])
    side = RowReading(sign, play.nature_max, 1.0, False, True, False)
    collect(rows, counted, TwoPart(x, np.zeros(x.size)), value[:0], side, (0, x.size), order, value, error)
    for s in range(x.size):
        if decided[s]:
            out[s] = worth[s]
            continue
        first, last = rows.state_ptr[s], rows.state_ptr[s + 1]
        best, total, whole = -np.inf if agent_max else np.inf, 0.0, 0.0
        for c in range(first, last):
            if counted[c]:
                found = value[c]
                if error[c] > 0.0:
                    found += sign * (error[c] + 2.0 * EPS * abs(found) + LEAST)
                if weighted:
                    part = play.weight[c] * found
                    total += part + sign * (4.0 * (last - first) + 8.0) * EPS * abs(part)
                    total += sign * (LEAST if found != 0.0 else 0.0)  # a product next to 0 may vanish
                    whole += play.weight[c]
                best = max(best, found) if agent_max else min(best, found)
        if weighted:  # weights sum to 1 up to rounding, and are meant to do so exactly
            best = total / whole
            best += sign * ((4.0 * (last - first) + 8.0) * EPS * abs(best) + (LEAST if best != 0.0 else 0.0))
        elif not (play.every or first <= play.choice[s] < last):
            best = sign * np.inf
        out[s] = best
