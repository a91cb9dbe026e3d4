"""Inductive vectors: Bellman kernels for the last digits, with values in two parts and differences instead of values.

Kernels take the rows of a system and a range of states; `order` is as in `sweeps`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.best_response import hand_out, sort_row
from umdp.solver.kernels.rounding import EPS, row_error, underflow
from umdp.solver.kernels.structs import ChainRows, Section

__all__ = [
    "answer",
    "certify",
    "gain",
    "improve",
    "loads",
    "relax",
    "residual",
]

Array = NDArray[Any]


@kernel(forceinline=True, allocates=False)
def gain(s: int, row: int, part: Section, x: Array, tail: Array, sign: float) -> tuple[float, float]:
    """Return (what a step by a row gains over the value of its state, a bound on the rounding error of that).

    Values are sums of two numbers, `x` and `tail`, and the gain is ``reward + sum p (x_j - x_s)``: its error is relative to the
    differences, not to the values. `space.share` receives nature's distribution, best for these differences.

    A difference ``(x_j - x_s) + (tail_j - tail_s)`` takes three roundings, each of at most |key| + |tail_j - tail_s|: where the
    parts cancel, the error is relative to the parts. With a `sign` every difference is moved that way by its error, so that
    nature's best distribution for what is computed collects at least (at most) what any collects for what is meant. (Sums do
    not underflow: numbers below the normal ones are added exactly.)
    """
    rows, space, here, rest = part.rows, part.space, x[s], tail[s]
    target, key, probe = rows.target, space.key, space.share
    lo, size = rows.entry_ptr[row], rows.entry_ptr[row + 1] - rows.entry_ptr[row]
    total, scale, whole = rows.reward[row], abs(rows.reward[row]), 0.0
    for i in range(size):
        j = target[lo + i]
        lag = tail[j] - rest
        step = (x[j] - here) + lag
        absolute_error = 4.0 * EPS * (abs(step) + abs(lag))
        key[i] = step + sign * absolute_error if j != s else 0.0
        whole += abs(key[i])
    perturbation = hand_out(
        lo, size, rows.lower, rows.upper, rows.slack[row], rows.order, space, part.players.nature_max
    )
    for i in range(size):
        total += probe[i] * key[i]
        scale += probe[i] * abs(key[i])
    error = row_error(size) * scale + perturbation * whole
    if whole > 0.0 or scale > 0.0:
        error += underflow(size) * (1.0 + whole)
    return total, error


@kernel(allocates=False)
def certify(part: Section, x: Array, tail: Array, choice: Array, from_above: bool) -> int:
    """Count the states at which `x` is not inductive: one step must not raise (lower) it, rounding included.

    The gain of a step must be at most 0 from above and at least 0 from below, its rounding error on the unfavourable side.
    From below, all values must be at least 0. `choice` receives the row that passes where one is enough; it is not touched
    where all must.
    """
    bad, row_ptr = 0, part.rows.row_ptr
    one_is_enough = part.players.agent_max != from_above
    sign = 1.0 if from_above else -1.0
    for s in range(part.begin, part.end):
        if not from_above and x[s] == 0.0 and tail[s] == 0.0:
            continue  # nothing is ever below 0
        best, worst, passing = np.inf, -np.inf, -1
        for row in range(row_ptr[s], row_ptr[s + 1]):
            step, error = gain(s, row, part, x, tail, sign)
            excess = sign * step + error
            if excess < best:
                best, passing = excess, row
            if not excess <= worst:  # also where it is no number
                worst = excess if excess < np.inf else np.inf
        if not (best if one_is_enough else worst) <= 0.0:
            bad += 1
        elif one_is_enough:
            choice[s] = passing
    return bad


@kernel(allocates=False)
def answer(part: Section, x: Array, tail: Array, choice: Array, prob: Array) -> None:
    """Write nature's best distribution against `x` into `prob`, for the row each state takes."""
    rows, key = part.rows, part.space.key
    entry_ptr, target, lower, upper = rows.entry_ptr, rows.target, rows.lower, rows.upper
    slack, order, nature_max = rows.slack, rows.order, part.players.nature_max
    for s in range(part.begin, part.end):
        row = choice[s]
        lo, hi = entry_ptr[row], entry_ptr[row + 1]
        size = hi - lo
        rest = slack[row]
        for i in range(size):
            prob[lo + i] = lower[lo + i]
            j = target[lo + i]
            key[i] = (x[j] - x[s]) + (tail[j] - tail[s])
        if rest > 0.0 and size > 1:
            sort_row(lo, size, key, order, nature_max)
            for i in range(size):
                k = order[lo + i]
                take = min(upper[lo + k] - lower[lo + k], rest)
                prob[lo + k] += take
                rest -= take
                if rest <= 0.0:
                    break


@kernel(allocates=False)
def loads(part: Section, x: Array, tail: Array, out: Array) -> None:
    """Write, per state, twice the residual of the Bellman equation at `x` plus a multiple of rounding errors."""
    row_ptr, agent_max = part.rows.row_ptr, part.players.agent_max
    for s in range(part.begin, part.end):
        best, error_of_best = -np.inf, 0.0
        for row in range(row_ptr[s], row_ptr[s + 1]):
            step, error = gain(s, row, part, x, tail, 0.0)
            if (step if agent_max else -step) > best:
                best, error_of_best = (step if agent_max else -step), error
        out[s] = 2.0 * abs(best) + 4.0 * error_of_best + 32.0 * EPS * (EPS * abs(x[s]) + abs(tail[s]))


@kernel(allocates=False)
def improve(part: Section, x: Array, tail: Array, row_of: Array) -> int:
    """Switch every state to its best row against `x`, where that is better beyond rounding; return how many switched.

    Gains are computed from differences of values, so that their error is relative to the differences.
    """
    row_ptr, agent_max = part.rows.row_ptr, part.players.agent_max
    switched = 0
    for s in range(part.begin, part.end):
        if row_ptr[s + 1] - row_ptr[s] == 1:
            continue
        current = row_of[s]
        best, best_row, reference, unsure = -np.inf, current, -np.inf, 0.0
        for row in range(row_ptr[s], row_ptr[s + 1]):
            step, error = gain(s, row, part, x, tail, 0.0)
            if not agent_max:
                step = -step
            if row == current:
                reference = step
            if row == current or step > best:
                unsure = max(unsure, error)
            if step > best:
                best, best_row = step, row
        if best > reference + unsure + 8.0 * EPS * (EPS * abs(x[s]) + abs(tail[s])):
            row_of[s] = best_row
            switched += 1
    return switched


@kernel(allocates=False)
def residual(begin: int, end: int, chain: ChainRows, x: Array, tail: Array, out: Array) -> None:
    """Write how far ``x + tail`` is from solving the equations of a chain, computed from differences."""
    entry_ptr, target, reward, row, prob = chain.entry_ptr, chain.target, chain.reward, chain.row, chain.prob
    for s in range(begin, end):
        total = reward[row[s]]
        for t in range(entry_ptr[row[s]], entry_ptr[row[s] + 1]):
            j = target[t]
            total += prob[t] * ((x[j] - x[s]) + (tail[j] - tail[s]))
        out[s - begin] = total


@kernel(allocates=False)
def relax(part: Section, x: Array, tail: Array, from_above: bool, load: Array, boost: float) -> int:
    """Move ``x + tail`` outwards wherever `certify` would object, by the objection and `boost` times the load; return how often.

    Where strategies are equally good, what the load adds up to under one of them need not do for the other.
    """
    entry_ptr, target, share = part.rows.entry_ptr, part.rows.target, part.space.share
    moved, row_ptr = 0, part.rows.row_ptr
    one_is_enough = part.players.agent_max != from_above
    sign = 1.0 if from_above else -1.0
    for s in range(part.begin, part.end):
        if not from_above and x[s] == 0.0 and tail[s] == 0.0:
            continue
        chosen, leave = np.inf if one_is_enough else -np.inf, 1.0
        for row in range(row_ptr[s], row_ptr[s + 1]):
            step, error = gain(s, row, part, x, tail, sign)
            excess = sign * step + error
            if (excess < chosen) if one_is_enough else (excess > chosen):
                chosen, leave = excess, 0.0
                for i in range(entry_ptr[row + 1] - entry_ptr[row]):
                    if target[entry_ptr[row] + i] != s:
                        leave += share[i]
        if chosen > 0.0 and leave > 0.0:
            by = sign * (chosen + boost * load[s]) / leave + tail[s]
            total = x[s] + by
            tail[s] = by - (total - x[s])
            x[s] = total
            if not from_above and x[s] + tail[s] < 0.0:
                x[s] = tail[s] = 0.0
            moved += 1
    return moved
