"""Components of a single state that no row leads back to: one step by each row is their value, up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.best_response import sort_row
from umdp.solver.kernels.elimination import best_response_apart
from umdp.solver.kernels.rounding import LEAST, MOST, around, compose, row_error
from umdp.solver.kernels.structs import Players, RowSpace, SingleOptions, SystemRows, Unknowns
from umdp.solver.kernels.sweeps import BEST_FIRST, FAINT, faint

__all__ = ["solve_singles"]

Array = NDArray[Any]
UP, DOWN = True, False
FAIR = 2.0**-10  # of the slack: a share that is at least this does not notice a rounding of it


@kernel(allocates=False)
def losses(begin: int, end: int, target: Array, x: Array) -> float:
    """Return what a row may be off because its probabilities are below the normal numbers."""
    whole = 0.0
    for t in range(begin, end):
        whole += x[target[t]]
    return 2.0 * (end - begin) * LEAST * whole


@kernel(forceinline=True, allocates=False)
def first_best(worth: Array, count: int, best: float, same: float, agent_max: bool) -> int:
    """Return the first of the values that differs from the best by no more than `same`, relatively; 0 if none is a number."""
    for i in range(count):
        if worth[i] >= best * (1.0 - same) if agent_max else worth[i] <= best * (1.0 + same):
            return i
    return 0


@kernel
def solve_singles(
    first: int,
    stop: int,
    rows: SystemRows,
    space: RowSpace,
    found: Unknowns,
    players: Players,
    options: SingleOptions,
) -> int:
    """Solve the components `first` to `stop` as long as they are such states; return the index of the first that is not.

    Each row gives a bound from below and one from above, and the state has the better of each, for the agent. It takes the first
    row whose value is the best, up to rounding and a relative difference of `tie`, and that row gives the bound on the agent's
    side. Bounds that are further apart than `wanted`, relatively, end it too.

    With `subnormal` probabilities may have lost digits, each of them at most `LEAST`, to divisions: that counts times the values
    they lead to.
    """
    comp_ptr, row_ptr, entry_ptr, target, lower = rows.comp_ptr, rows.row_ptr, rows.entry_ptr, rows.target, rows.lower
    upper, slack, reward, order = rows.upper, rows.slack, rows.reward, rows.order
    key, size_of, x, relative_error, choice = space.key, space.size, found.x, found.relative_error, found.row
    agent_max, nature_max = players.agent_max, players.nature_max
    wanted, tie, ceiling, subnormal = options.wanted, options.tie, options.ceiling, options.subnormal
    k = first
    plain = order.size == 0
    worth, end = np.empty(8), np.empty(8)  # the value of every row, and its bound on the agent's side
    while k < stop and comp_ptr[k + 1] - comp_ptr[k] == 1:
        s = comp_ptr[k]
        inherited, loops = 0.0, False
        taken = row_ptr[s]
        lo = entry_ptr[taken]
        if row_ptr[s + 1] - taken > worth.size:
            worth, end = np.empty(2 * (row_ptr[s + 1] - taken)), np.empty(2 * (row_ptr[s + 1] - taken))
        if plain:
            best, lost = 0.0, 0.0
            for row in range(row_ptr[s], row_ptr[s + 1]):
                hi = entry_ptr[row + 1]
                value = reward[row]
                for t in range(lo, hi):
                    j = target[t]
                    value += lower[t] * x[j]
                    inherited, loops = max(inherited, relative_error[j]), loops or j == s
                if value < FAINT:
                    value = faint(row, rows, x, value, UP)
                if subnormal and value > 0.0:
                    lost = max(lost, losses(lo, hi, target, x) / value)
                worth[row - taken] = value
                if row == taken or (value > best if agent_max else value < best):
                    best = value
                lo = hi
            if loops:
                break
            same = max(tie, row_error(lo - entry_ptr[taken]))
            own = row_error(lo - entry_ptr[taken]) + same + lost
            i = first_best(worth, row_ptr[s + 1] - taken, best, same, agent_max)
            best, taken = worth[i], taken + i
            x[s], relative_error[s] = (best, compose(inherited, own)) if best <= MOST else (MOST, np.inf)
            choice[s] = taken
            k += 1
            continue
        for t in range(lo, entry_ptr[row_ptr[s + 1]]):
            inherited, loops = max(inherited, relative_error[target[t]]), loops or target[t] == s
        if loops:
            break
        low = -np.inf if agent_max else np.inf
        high, best, finite = low, 0.0, True
        for row in range(row_ptr[s], row_ptr[s + 1]):
            hi = entry_ptr[row + 1]
            value, unsure = reward[row], 0.0
            general = slack[row] > 0.0
            if not general:
                for t in range(lo, hi):
                    value += lower[t] * x[target[t]]
            elif hi - lo == 2:  # the better of two first, without a sort
                one = lo if (x[target[lo]] >= x[target[lo + 1]]) == nature_max else lo + 1
                two = 2 * lo + 1 - one
                order[lo], order[lo + 1] = one - lo, two - lo
                room, rest = upper[one] - lower[one], slack[row]
                give = min(room, rest)
                left = rest - give
                close = abs(room - rest) < 1e-12 * rest  # rounding decides whether the other gets anything
                general = (close and lower[two] < FAIR * rest) or (
                    left > 0.0 and abs(upper[two] - lower[two] - left) < 1e-12 * rest
                )
                if not general:
                    first_value, second_value = x[target[one]], x[target[two]]
                    value += (lower[one] + give) * first_value
                    value += (lower[two] + min(upper[two] - lower[two], left)) * second_value
                    unsure = rest * (max(first_value, second_value) if left > 0.0 or close else first_value)
            if general:
                for i in range(hi - lo):
                    key[i] = x[target[lo + i]] if nature_max else -x[target[lo + i]]
                sort_row(lo, hi - lo, key, order, BEST_FIRST)
                total, rest, delicate, close = 0.0, slack[row], False, False
                for i in range(hi - lo):
                    j = order[lo + i]
                    room = upper[lo + j] - lower[lo + j]
                    delicate = delicate or (close and lower[lo + j] < FAIR * slack[row])
                    if rest > 0.0 or close:
                        unsure = max(unsure, slack[row] * abs(key[j]))
                    close = rest > 0.0 and abs(room - rest) < 1e-12 * slack[row]
                    give = min(room, rest)
                    total += (lower[lo + j] + give) * key[j]
                    rest -= give
                value += total if nature_max else -total
                if delicate:  # hand out in twice the working precision
                    for i in range(hi - lo):
                        key[i] = x[target[lo + i]]
                        size_of[i] = key[i]
                    value, unsure = best_response_apart(row, rows, space, nature_max)
                    unsure = max(unsure - value, 0.0)
            absolute_error = row_error(hi - lo) * (value + unsure)
            under, over = value - absolute_error, value + absolute_error
            if value < FAINT:
                under = faint(row, rows, x, under, DOWN)
                over = faint(row, rows, x, over, UP)
            if subnormal and over > 0.0:
                lost = losses(lo, hi, target, x)
                under, over = under - lost, over + lost
            finite = finite and -np.inf < under and over < np.inf
            worth[row - taken] = value
            if row == taken or (value > best if agent_max else value < best):
                best = value
            if agent_max:
                high, end[row - taken] = max(high, over), under
            else:
                low, end[row - taken] = min(low, under), over
            lo = hi
        same = max(tie, row_error(lo - entry_ptr[taken]))
        i = first_best(worth, row_ptr[s + 1] - taken, best, same, agent_max)
        low, high, taken = (end[i], high, taken + i) if agent_max else (low, end[i], taken + i)
        if not (finite and (high == low or high - low <= wanted * high)):
            break
        top = min(high, ceiling)
        x[s], own = around(min(max(low, 0.0), top), top)
        relative_error[s] = compose(inherited, own)
        choice[s] = taken
        k += 1
    return k
