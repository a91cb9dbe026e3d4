"""One step backwards for rewards of any sign, with a bound on its rounding; `methods.signed` has the derivation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.rounding import EPS, excess, row_error, underflow
from umdp.solver.kernels.rows import fill, sort_row
from umdp.solver.kernels.structs import Players, RowSpace, StepRows, Steps

__all__ = ["difference", "normal_rows"]

Array = NDArray[Any]


@kernel
def normal_rows(ptr: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return lower bounds and slack per row; rows without freedom are normalised distributions with slack 0."""
    low = lower.copy()
    slack = np.empty(ptr.size - 1)
    for c in range(ptr.size - 1):
        begin, end = ptr[c], ptr[c + 1]
        below, above = excess(begin, end, lower), excess(begin, end, upper)
        slack[c] = max(-below, 0.0)
        if below >= 0.0 or above <= 0.0:
            whole = 1.0 + (below if below >= 0.0 else above)
            slack[c] = 0.0
            for t in range(begin, end):
                low[t] = (lower[t] if below >= 0.0 else upper[t]) / whole
    return low, slack


@kernel(allocates=False)
def difference(
    rows: StepRows,
    size_of_reward: Array,
    discount: float,
    space: RowSpace,
    active: Array,
    usable: Array,
    weight: Array,
    players: Players,
    x: Array,
    into: Steps,
) -> None:
    """Write what a step changes of `x`, and by how much that may be off, for every active state.

    The best choice is taken (the one of before where it is as good as any), with nature's answer on it. `weight` (C,) is a policy
    to evaluate, or empty; then nature's answer is written on all choices it takes.
    """
    state_ptr, choice_ptr, successor, lower, upper = (
        rows.state_ptr,
        rows.choice_ptr,
        rows.successor,
        rows.lower,
        rows.upper,
    )
    slack, reward, paid, order, key, probe = rows.slack, rows.reward, rows.paid, rows.order, space.key, space.share
    agent_max, nature_max = players.agent_max, players.nature_max
    out, error, choice, prob = into.change, into.error, into.choice, into.prob
    for s in range(state_ptr.size - 1):
        if not active[s]:
            continue
        own = x[s]
        rest = (1.0 - discount) * own
        best = -np.inf if agent_max else np.inf
        taken, worst, mixed, whole = -1, 0.0, 0.0, 0.0
        mixed_size, own_off = 0.0, 0.0
        limit = best
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if not usable[c] or (weight.size > 0 and weight[c] == 0.0):
                continue
            lo, hi = choice_ptr[c], choice_ptr[c + 1]
            size = hi - lo
            largest, spread = 0.0, 0.0
            for i in range(size):
                step = discount * (x[successor[lo + i]] - own)
                key[i] = step
                bulk = abs(step)
                if paid.size > 0:
                    key[i] += paid[lo + i]
                    bulk += abs(paid[lo + i])
                largest = max(largest, bulk)
                probe[i] = lower[lo + i]
            blur = 0.0
            if slack[c] > 0.0:
                sort_row(lo, size, key, order, nature_max)
                blur = fill(lo, size, lower, upper, slack[c], order, probe)
            value = reward[c] - rest if reward.size > 0 else -rest
            total = 0.0
            for i in range(size):
                total += probe[i] * key[i]
                bulk = abs(discount * (x[successor[lo + i]] - own))
                if paid.size > 0:
                    bulk += abs(paid[lo + i])
                spread += probe[i] * bulk
            value += total
            scale = abs(rest) + spread + (size_of_reward[c] if reward.size > 0 else 0.0)
            off = row_error(size) * scale + size * blur * largest
            if paid.size > 0:
                off += 8.0 * EPS * slack[c] * largest
            if scale > 0.0 or largest > 0.0:
                off += underflow(size) * (1.0 + largest)
            worst = max(worst, off)
            if weight.size > 0:
                mixed += weight[c] * value
                mixed_size += weight[c] * (abs(value) + off)
                whole += weight[c]
                for i in range(size):
                    prob[lo + i] = probe[i]
                continue
            # The best choice may be another one than it seems, but not better than this.
            limit = max(limit, value + off) if agent_max else min(limit, value - off)
            if taken < 0 or ((value > best) if agent_max else (value < best)) or (value == best and c == choice[s]):
                best = value
                taken = c
                own_off = off
                for i in range(size):
                    prob[lo + i] = probe[i]
        if weight.size > 0:
            best = mixed / whole
            worst += row_error(state_ptr[s + 1] - state_ptr[s]) * mixed_size / whole
        else:
            choice[s] = taken
            worst = max(own_off, abs(limit - best)) + 4.0 * EPS * (abs(limit) + abs(best))
        out[s] = best
        error[s] = worst
