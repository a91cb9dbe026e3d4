"""Steps backwards over all states, for step-bounded properties."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.clock import is_up
from umdp.solver.kernels.rounding import LEAST, MOST, underflow
from umdp.solver.kernels.rows import fill, sort_row
from umdp.solver.kernels.structs import RowSpace, StepOptions, StepRows

__all__ = ["step_back", "steps_back"]

Array = NDArray[Any]


@kernel(allocates=False)
def step_back(
    rows: StepRows, space: RowSpace, options: StepOptions, x: Array, out: Array, choice: Array
) -> tuple[float, float]:
    """One step backwards over all states, from `x` to `out` (S,); `choice` (S,) receives the choices.

    Nothing positive becomes 0, and nothing infinite. Returns the largest value, infinity if it had to be capped, and the largest
    absolute error of a row.
    """
    state_ptr, choice_ptr, successor, lower, upper = (
        rows.state_ptr,
        rows.choice_ptr,
        rows.successor,
        rows.lower,
        rows.upper,
    )
    slack, reward, paid, order, key, probe = rows.slack, rows.reward, rows.paid, rows.order, space.key, space.share
    frozen, weight, tie = options.frozen, options.weight, options.tie
    agent_max, nature_max = options.players.agent_max, options.players.nature_max
    top, off = 0.0, 0.0
    for s in range(state_ptr.size - 1):
        if frozen[s]:
            out[s] = x[s]
            continue
        best = -np.inf if agent_max else np.inf
        mixed = 0.0
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if weight.size > 0 and weight[c] == 0.0:
                continue
            lo, hi = choice_ptr[c], choice_ptr[c + 1]
            size = hi - lo
            rest = slack[c] if size > 1 else 0.0
            value, whole = reward[c] if reward.size > 0 else 0.0, 0.0
            blur, delicate = 0.0, False
            if rest <= 0.0 and paid.size == 0:
                for t in range(lo, hi):
                    whole += x[successor[t]]
                    value += lower[t] * x[successor[t]]
            else:
                for i in range(size):
                    key[i] = x[successor[lo + i]]
                    if paid.size > 0:
                        key[i] += paid[lo + i]
                        top = max(top, key[i])
                        key[i] = min(key[i], MOST)
                    whole += key[i]
                if rest > 0.0:
                    sort_row(lo, size, key, order, nature_max)
                # What is left to hand out is off by a few roundings of all that is handed out. That is little for the one share
                # it decides if that is as large, and changes nothing for others unless it comes close to what they take. Where
                # it may matter, shares are found in twice the working precision.
                delicate = 0.0 < rest < 2.0**-40
                for i in range(size):
                    k = order[lo + i] if slack[c] > 0.0 else i
                    share = lower[lo + k]
                    if rest > 0.0:
                        room = upper[lo + k] - share
                        if room < rest:
                            share = upper[lo + k]
                            rest -= room
                            delicate = delicate or rest < 2.0**-30 * slack[c]
                        else:
                            share += rest
                            delicate = delicate or share < 0.5 * slack[c] or room - rest < 2.0**-30 * slack[c]
                            rest = 0.0
                    value += share * key[k]
                if delicate:
                    blur = fill(lo, size, lower, upper, slack[c], order, probe)
                    value = reward[c] if reward.size > 0 else 0.0
                    for i in range(size):
                        value += probe[i] * key[i]
            positive = value > 0.0 or (blur > 0.0 and whole > 0.0)
            if not positive and whole > 0.0:  # all products may have underflowed
                if slack[c] > 0.0 and size > 1:
                    blur = fill(lo, size, lower, upper, slack[c], order, probe)
                    positive = blur > 0.0
                for i in range(size):
                    share = probe[i] if slack[c] > 0.0 and size > 1 else lower[lo + i]
                    worth = x[successor[lo + i]] + (paid[lo + i] if paid.size > 0 else 0.0)
                    positive = positive or (share > 0.0 and worth > 0.0)
            if positive:
                value = max(value, LEAST)
                off = max(off, blur * whole + underflow(size) * (1.0 + whole))
            if weight.size > 0:
                mixed += weight[c] * value
                if value > 0.0:
                    mixed = max(mixed, LEAST)
            elif value > best * (1 + tie) if agent_max else value < best * (1 - tie):
                best = value
                choice[s] = c
        found = mixed if weight.size > 0 else best
        top = max(top, found)
        out[s] = min(found, MOST)
    return top, off


@kernel(allocates=False)
def steps_back(
    count: int,
    rows: StepRows,
    space: RowSpace,
    options: StepOptions,
    x: Array,
    out: Array,
    choice: Array,
    kept: Array,
    watch: Array,
) -> tuple[int, float, float]:
    """Make up to `count` steps, fewer where time is up; (how many, the largest value, what absolute errors add up to).

    The values are in `out` after an odd number of steps, else in `x`, and in the other those before the last step. `kept`
    (count, S) receives the choices, those of the last step first, unless it is empty.
    """
    top, off, done = 0.0, 0.0, 0
    while done < count and not is_up(watch):
        one, other = (x, out) if done % 2 == 0 else (out, x)
        most, lost = step_back(rows, space, options, one, other, choice)
        top, off = max(top, most), 1.0000001 * (off + lost)
        done += 1
        if kept.shape[0] > 0:
            for s in range(choice.size):
                kept[count - done, s] = choice[s]
    return done, top, off
