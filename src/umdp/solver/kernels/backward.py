"""Steps backwards over all states: of terms of at least 0, with relative errors, and of any sign, with absolute ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.best_response import fill, hand_out, sort_row
from umdp.solver.kernels.clock import is_up
from umdp.solver.kernels.rounding import EPS, LEAST, MOST, excess, row_error, underflow
from umdp.solver.kernels.structs import Players, RowSpace

__all__ = [
    "DifferenceOptions",
    "StepOptions",
    "StepRows",
    "Steps",
    "difference",
    "normal_rows",
    "step_back",
    "steps_back",
]

Array = NDArray[Any]


class StepRows(NamedTuple):
    """The choices of a model as rows of a step backwards.

    Attributes
    ----------
    state_ptr, choice_ptr, successor : (S+1,), (C+1,), (T,)
    lower, upper : (T,) bounds
    slack : (C,) what lower bounds leave to hand out, at most 0 where nature has no choice
    reward, paid : (C,) and (T,), or empty; what choices and transitions earn
    order : (T,) the entries of each row in the order in which nature served them last
    """

    state_ptr: Array
    choice_ptr: Array
    successor: Array
    lower: Array
    upper: Array
    slack: Array
    reward: Array
    paid: Array
    order: Array


class StepOptions(NamedTuple):
    """How a step backwards is made.

    Attributes
    ----------
    frozen : (S,) the states that keep their value
    weight : (C,) a policy to evaluate, or empty
    players : which way they pull
    tie : a relative difference between choices that does not count
    """

    frozen: Array
    weight: Array
    players: Players
    tie: float


class Steps(NamedTuple):
    """What a step backwards changes.

    Attributes
    ----------
    change : (S,) computed change of every value
    error : (S,) by how much each may be off
    choice : (S,) the choices taken
    prob : (T,) nature's answer on the choices taken
    """

    change: Array
    error: Array
    choice: Array
    prob: Array


class DifferenceOptions(NamedTuple):
    """How the difference that a step makes is worked out, with rewards of any sign.

    Attributes
    ----------
    active, usable : (S,) and (C,) the states to look at, the choices there are
    weight : (C,) a policy to evaluate, or empty
    size : (C,) what the rounding of rewards is relative to, or empty
    discount : what the value after a step counts
    players : which way they pull
    """

    active: Array
    usable: Array
    weight: Array
    size: Array
    discount: float
    players: Players


@kernel(forceinline=True, allocates=False)
def row_back(c: int, rows: StepRows, space: RowSpace, x: Array, nature_max: bool) -> tuple[float, float, float]:
    """Return what a choice is worth where all terms are at least 0, its absolute error, and the largest value it reads.

    Nothing positive becomes 0.
    """
    successor, lower, upper, slack, reward = rows.successor, rows.lower, rows.upper, rows.slack, rows.reward
    paid, order, key, probe = rows.paid, rows.order, space.key, space.share
    lo, hi = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    size, top = hi - lo, 0.0
    rest = slack[c] if size > 1 else 0.0
    value, whole = reward[c] if reward.size > 0 else 0.0, 0.0
    perturbation, delicate = 0.0, False
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
            perturbation = fill(lo, size, lower, upper, slack[c], order, probe)
            value = reward[c] if reward.size > 0 else 0.0
            for i in range(size):
                value += probe[i] * key[i]
    positive = value > 0.0 or (perturbation > 0.0 and whole > 0.0)
    if not positive and whole > 0.0:  # all products may have underflowed
        if slack[c] > 0.0 and size > 1:
            perturbation = fill(lo, size, lower, upper, slack[c], order, probe)
            positive = perturbation > 0.0
        for i in range(size):
            share = probe[i] if slack[c] > 0.0 and size > 1 else lower[lo + i]
            worth = x[successor[lo + i]] + (paid[lo + i] if paid.size > 0 else 0.0)
            positive = positive or (share > 0.0 and worth > 0.0)
    if not positive:
        return value, 0.0, top
    return max(value, LEAST), perturbation * whole + underflow(size) * (1.0 + whole), top


@kernel(allocates=False)
def step_back(
    rows: StepRows, space: RowSpace, options: StepOptions, x: Array, out: Array, choice: Array
) -> tuple[float, float]:
    """One step backwards over all states, from `x` to `out` (S,); `choice` (S,) receives the choices.

    Nothing positive becomes 0, and nothing infinite. Returns the largest value, infinity if it had to be capped, and the largest
    absolute error of a row.
    """
    state_ptr, frozen, weight, tie = rows.state_ptr, options.frozen, options.weight, options.tie
    agent_max, nature_max = options.players.agent_max, options.players.nature_max
    top, absolute_error = 0.0, 0.0
    for s in range(state_ptr.size - 1):
        if frozen[s]:
            out[s] = x[s]
            continue
        best = -np.inf if agent_max else np.inf
        mixed = 0.0
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if weight.size > 0 and weight[c] == 0.0:
                continue
            value, lost, largest = row_back(c, rows, space, x, nature_max)
            top, absolute_error = max(top, largest), max(absolute_error, lost)
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
    return top, absolute_error


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
    top, absolute_error, done = 0.0, 0.0, 0
    while done < count and not is_up(watch):
        one, other = (x, out) if done % 2 == 0 else (out, x)
        most, lost = step_back(rows, space, options, one, other, choice)
        top, absolute_error = max(top, most), 1.0000001 * (absolute_error + lost)
        done += 1
        if kept.shape[0] > 0:
            for s in range(choice.size):
                kept[count - done, s] = choice[s]
    return done, top, absolute_error


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


@kernel(forceinline=True, allocates=False)
def row_gain(
    c: int, own: float, rows: StepRows, options: DifferenceOptions, space: RowSpace, x: Array
) -> tuple[float, float]:
    """Return what a choice gains over the value `own` of its state, and by how much that may be off.

    Nature's answer is left in `space`.
    """
    successor, slack, reward, paid = rows.successor, rows.slack, rows.reward, rows.paid
    discount, key, probe = options.discount, space.key, space.share
    rest = (1.0 - discount) * own
    lo = rows.choice_ptr[c]
    size = rows.choice_ptr[c + 1] - lo
    largest, spread = 0.0, 0.0
    for i in range(size):
        step = discount * (x[successor[lo + i]] - own)
        key[i] = step
        bulk = abs(step)
        if paid.size > 0:
            key[i] += paid[lo + i]
            bulk += abs(paid[lo + i])
        largest = max(largest, bulk)
    perturbation = hand_out(lo, size, rows.lower, rows.upper, slack[c], rows.order, space, options.players.nature_max)
    value = reward[c] - rest if reward.size > 0 else -rest
    total = 0.0
    for i in range(size):
        total += probe[i] * key[i]
        bulk = abs(discount * (x[successor[lo + i]] - own))
        if paid.size > 0:
            bulk += abs(paid[lo + i])
        spread += probe[i] * bulk
    scale = abs(rest) + spread + (options.size[c] if reward.size > 0 else 0.0)
    absolute_error = row_error(size) * scale + size * perturbation * largest
    if paid.size > 0:
        absolute_error += 8.0 * EPS * slack[c] * largest
    if scale > 0.0 or largest > 0.0:
        absolute_error += underflow(size) * (1.0 + largest)
    return value + total, absolute_error


@kernel(allocates=False)
def difference(rows: StepRows, options: DifferenceOptions, space: RowSpace, x: Array, into: Steps) -> None:
    """Write what a step changes of `x`, of rewards of any sign, and by how much that may be off, for every active state.

    The best choice is taken (the one of before where it is as good as any), with nature's answer on it. With a `weight`,
    nature's answer is written on all choices it takes. `methods.signed` has the derivation.
    """
    state_ptr, choice_ptr, probe, choice, prob = rows.state_ptr, rows.choice_ptr, space.share, into.choice, into.prob
    active, usable, weight, agent_max = options.active, options.usable, options.weight, options.players.agent_max
    for s in range(state_ptr.size - 1):
        if not active[s]:
            continue
        best = -np.inf if agent_max else np.inf
        taken, worst, mixed, whole = -1, 0.0, 0.0, 0.0
        mixed_size, own_off = 0.0, 0.0
        limit = best
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if not usable[c] or (weight.size > 0 and weight[c] == 0.0):
                continue
            value, absolute_error = row_gain(c, x[s], rows, options, space, x)
            worst, lo = max(worst, absolute_error), choice_ptr[c]
            if weight.size > 0:
                mixed += weight[c] * value
                mixed_size += weight[c] * (abs(value) + absolute_error)
                whole += weight[c]
            else:
                # The best choice may be another one than it seems, but not better than this.
                limit = max(limit, value + absolute_error) if agent_max else min(limit, value - absolute_error)
                better = taken < 0 or ((value > best) if agent_max else (value < best))
                if not (better or (value == best and c == choice[s])):
                    continue
                best, taken, own_off = value, c, absolute_error
            for i in range(choice_ptr[c + 1] - lo):
                prob[lo + i] = probe[i]
        if weight.size > 0:
            best = mixed / whole
            worst += row_error(state_ptr[s + 1] - state_ptr[s]) * mixed_size / whole
        else:
            choice[s] = taken
            worst = max(own_off, abs(limit - best)) + 4.0 * EPS * (abs(limit) + abs(best))
        into.change[s], into.error[s] = best, worst
