"""Compiled sweeps: values settle from any start, and what has settled is enclosed from both sides.

Kernels take the rows of a system and a range of states. `order` keeps, for every row, the order of its entries by
value from the last sweep, so that sorting a row again costs one comparison per entry once values have settled. Rows
are worked out in place: a call per row would cost more than the row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.best_response import sort_row
from umdp.solver.kernels.rounding import row_error, underflow
from umdp.solver.kernels.structs import ChainRows, Section, SystemRows

__all__ = ["ENCLOSE", "FAINT", "GIVE_UP", "GO_ON", "TRIES", "assess", "enclose", "faint", "follow", "reach", "sweep"]

Array = NDArray[Any]
GO_ON, ENCLOSE, GIVE_UP = 0, 1, 2
PATIENCE = 400  # sweeps worth waiting for
REMAINING = 100  # of those, once strategies have settled
PARALLEL = 0.998  # squared cosine of steps that count as parallel
FAINT = 1e-280  # below this products may underflow; there are no such probabilities where bounds are swept
BEST_FIRST = True  # keys are values as nature likes them
TRIES = 24  # sweeps in which a bound must become inductive


@kernel(allocates=False)
def sweep(part: Section, x: Array, choice: Array) -> tuple[float, int]:
    """Update `x` in place over some states (Gauss-Seidel); `choice` receives the first best rows.

    Returns the largest relative change of a value and the number of states that changed their row.
    """
    begin, end, rows, space, players = part
    row_ptr, entry_ptr, target, lower, upper = rows.row_ptr, rows.entry_ptr, rows.target, rows.lower, rows.upper
    slack, reward, order, key = rows.slack, rows.reward, rows.order, space.key
    agent_max, nature_max = players.agent_max, players.nature_max
    change, switched, plain = 0.0, 0, order.size == 0
    for s in range(begin, end):
        best = -np.inf if agent_max else np.inf
        taken = choice[s]
        lo = entry_ptr[row_ptr[s]]
        for row in range(row_ptr[s], row_ptr[s + 1]):
            hi = entry_ptr[row + 1]
            value = reward[row]
            rest = 0.0 if plain else slack[row]
            if rest <= 0.0:
                while lo < hi:
                    value += lower[lo] * x[target[lo]]
                    lo += 1
            elif hi - lo == 2:  # the better of two first, without a sort
                one = lo if (x[target[lo]] >= x[target[lo + 1]]) == nature_max else lo + 1
                two = 2 * lo + 1 - one
                give = min(upper[one] - lower[one], rest)
                value += (lower[one] + give) * x[target[one]]
                value += (lower[two] + min(upper[two] - lower[two], rest - give)) * x[target[two]]
            else:
                size = hi - lo
                for i in range(size):
                    key[i] = x[target[lo + i]] if nature_max else -x[target[lo + i]]
                sort_row(lo, size, key, order, BEST_FIRST)
                total = 0.0
                for i in range(size):
                    k = order[lo + i]
                    give = min(upper[lo + k] - lower[lo + k], rest)
                    total += (lower[lo + k] + give) * key[k]
                    rest -= give
                value += total if nature_max else -total
            lo = hi
            if (value > best) if agent_max else (value < best):
                best = value
                taken = row
        if taken != choice[s]:
            choice[s] = taken
            switched += 1
        moved_by = abs(best - x[s])
        x[s] = best
        if moved_by > change * max(best, 1e-300):
            change = moved_by / max(best, 1e-300)
    return change, switched


@kernel(allocates=False)
def faint(row: int, rows: SystemRows, x: Array, value: float, from_above: bool) -> float:
    """Move a row's value outwards by what its products may have lost to underflow; nothing if all of them are exactly 0.

    Nature has handed out the slack in the kept order.
    """
    target, lower, upper, order, rest = rows.target, rows.lower, rows.upper, rows.order, rows.slack[row]
    begin, end = rows.entry_ptr[row], rows.entry_ptr[row + 1]
    positive = rows.reward[row] > 0.0 or value > 0.0
    for i in range(end - begin):
        t = begin + i if rest <= 0.0 else begin + order[begin + i]
        give = min(upper[t] - lower[t], rest) if rest > 0.0 else 0.0
        positive = positive or (lower[t] + give > 0.0 and x[target[t]] > 0.0)
        if rest > 0.0:
            rest = rest - give
            if rest <= 0.0:  # the remaining ones are looked at in the row's own order: all of them, once more
                for u in range(begin, end):
                    positive = positive or (lower[u] > 0.0 and x[target[u]] > 0.0)
                break
    if not positive:
        return value
    return float(value + underflow(end - begin) if from_above else max(value - underflow(end - begin), 0.0))


@kernel(allocates=False)
def enclose(part: Section, x: Array, choice: Array, from_above: bool) -> int:
    """Sweep once more, every value rounded outwards; return how many values moved outwards.

    When none did, `x` is inductive. Take it from above: each value was replaced by at least what a step from the values
    of that moment gives, and values have only come down since, so that a step from all of them gives no more. `choice`
    receives the rows that gave the values. Probabilities may be off by 64 roundings, relative to themselves; what nature
    has left to hand out is off relative to all that it hands out. A step that overflows, or gives no number, proves nothing:
    it counts as outwards.
    """
    begin, end, rows, space, players = part
    row_ptr, entry_ptr, target, lower, upper = rows.row_ptr, rows.entry_ptr, rows.target, rows.lower, rows.upper
    slack, reward, order, key = rows.slack, rows.reward, rows.order, space.key
    agent_max, nature_max = players.agent_max, players.nature_max
    outwards, plain = 0, order.size == 0
    sign = 1.0 if from_above else -1.0
    for s in range(begin, end):
        best = -np.inf if agent_max else np.inf
        finite = True
        taken = choice[s]
        lo = entry_ptr[row_ptr[s]]
        for row in range(row_ptr[s], row_ptr[s + 1]):
            hi = entry_ptr[row + 1]
            size = hi - lo
            value = reward[row]
            rest, unsure = 0.0 if plain else slack[row], 0.0
            if rest <= 0.0:
                while lo < hi:
                    value += lower[lo] * x[target[lo]]
                    lo += 1
            else:
                for i in range(size):
                    key[i] = x[target[lo + i]] if nature_max else -x[target[lo + i]]
                sort_row(lo, size, key, order, BEST_FIRST)
                total = 0.0
                for i in range(size):
                    k = order[lo + i]
                    room = upper[lo + k] - lower[lo + k]
                    if rest > 0.0:
                        unsure = max(unsure, slack[row] * abs(key[k]))
                        if abs(room - rest) < 1e-12 * slack[row]:  # rounding decides whether others get anything
                            unsure = slack[row] * max(abs(key[order[lo]]), abs(key[order[hi - 1]]))
                    give = min(room, rest)
                    total += (lower[lo + k] + give) * key[k]
                    rest -= give
                value += total if nature_max else -total
            lo = hi
            value += sign * row_error(size) * (value + unsure)
            if value < FAINT:
                value = faint(row, rows, x, value, from_above)
            finite = finite and -np.inf < value < np.inf
            if (value > best) if agent_max else (value < best):
                best = value
                taken = row
        choice[s] = taken
        if not (finite and (best <= x[s] if from_above else best >= x[s])):
            outwards += 1
        x[s] = best
    return outwards


@kernel(allocates=False)
def follow(
    begin: int, end: int, times: int, chain: ChainRows, x: Array, step: Array, plain: bool, extrapolate: float
) -> float:
    """Sweep `times` times over the states of a Markov chain; return the last largest relative change.

    The steps of the last two sweeps are compared. Where they are parallel, one kind of error is left, which shrinks by
    the same factor in every sweep: if it is less than `extrapolate`, the sum of that series is added. `step` is work
    space. With `plain` there are no self-loops.
    """
    entry_ptr, target, reward, choice, prob = chain.entry_ptr, chain.target, chain.reward, chain.row, chain.prob
    change, along, before, after = 0.0, 0.0, 0.0, 0.0
    for k in range(times):
        change = 0.0
        compare = extrapolate > 0.0 and k >= times - 2
        last = k == times - 1
        for s in range(begin, end):
            row = choice[s]
            total, stay = reward[row], 0.0
            if plain:
                for t in range(entry_ptr[row], entry_ptr[row + 1]):
                    total += prob[t] * x[target[t]]
            else:
                for t in range(entry_ptr[row], entry_ptr[row + 1]):
                    if target[t] == s:
                        stay += prob[t]
                    else:
                        total += prob[t] * x[target[t]]
                if stay > 0.0 and stay < 1.0:
                    total /= 1.0 - stay
            moved = total - x[s]
            x[s] = total
            if abs(moved) > change * max(total, 1e-300):
                change = abs(moved) / max(total, 1e-300)
            if compare:
                if last and total > 0.0:
                    weight = 1.0 / (total * total)
                    along += weight * moved * step[s]
                    before += weight * step[s] * step[s]
                    after += weight * moved * moved
                step[s] = moved
    if 0.0 < along < extrapolate * before and along * along > PARALLEL * before * after:
        factor = along / (before - along)
        for s in range(begin, end):
            x[s] = max(x[s] + factor * step[s], 0.0)
    return change


@kernel(allocates=False)
def reach(change: float, switched: int, states: int) -> float:
    """Return how slowly errors may shrink for `follow` to extrapolate: while strategies switch, slow is unsure."""
    if change > 0.1:
        return 0.0
    return 0.999 if switched <= 1e-3 * states else 0.9


@kernel(allocates=False)
def assess(pace: Array, change: float, switched: int, states: int) -> int:
    """Return what to do after a sweep: GO_ON, ENCLOSE the values, or GIVE_UP on sweeps.

    `pace` holds the error to come down to, the change of the sweep before, the factor by which a sweep reduced it then,
    the sweeps since then, and all sweeps.
    """
    goal, before, since, done = pace[0], pace[1], pace[3], pace[4]
    rate = 1.0
    if change == 0.0:
        rate = 0.0
    elif change < before < np.inf:
        rate = (change / before) ** (1.0 / since)
    lately = min(rate, pace[2])
    pace[1], pace[2] = change, rate
    if change < 0.1 and change * rate <= goal * (1.0 - rate):
        return ENCLOSE
    # On small components the alternatives cost as much as many sweeps.
    spare = min(float(states) * states, 2.5e5 / states)
    if done > PATIENCE + spare:
        return GIVE_UP
    # Strategies that keep switching need sweeps; values that creep towards those of one strategy need a linear solver.
    creeps = math.log(change / goal) > (1.0 - lately) * (REMAINING + spare)
    return GIVE_UP if creeps and done > 12 and switched <= 1e-3 * states else GO_ON
