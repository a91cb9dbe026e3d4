"""The judge of sums without an end: discounted sums and long-run averages, rewards of any sign.

*Discounted.* With T one step backwards, u >= T u leads down to the value, l <= T l up to it: T shrinks distances. In difference
form, ``reward - (1 - d) x_s + sum p (d (x_j - x_s) + paid)``.

*Averages*, where nature cannot cut transitions. Let components be sets of states with one gain g each. Call a row *staying*
if all it may lead to lies in the component of its state. Let every row that counts satisfy

    staying        reward + sum p (x_j - x_s) <= g_s        (>= from below)
    not staying    sum p g_j <= g_s                         (>= from below)

and let there be an order of components and single states in which every row that counts and does not stay may lead to an
earlier one. Then a set of rows in which a play can remain for ever consists of staying rows of one component: look at its
earliest state. So every play ends up in one, where it earns g a step at most, and g never rises on the way, in expectation: the
average is at most g_s. From below likewise. (Ties of g need no h: Puterman's multichain inequalities with a bias for each
component.)

One row a state is enough on the side that the agent wants: the policy's. On the other all rows count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.graph import may_cut
from umdp.solver.judge.rows import (
    EPS,
    LEAST,
    LOWER,
    ModelRows,
    RowReading,
    TwoPart,
    collect,
    listed_order,
    possible,
    read_row,
)

__all__ = ["GainVectors", "Play", "examine_average", "examine_discounted", "span"]

Array = NDArray[Any]


class Play(NamedTuple):
    """Who plays: whether nature maximises, whether all rows count, the policy (S,), and how likely each choice is (C,), or empty.

    With weights, a state takes all of its rows at once.
    """

    nature_max: bool
    every: bool
    choice: Array
    weight: Array


class GainVectors(NamedTuple):
    """GainVectors (S,), values inside components (S,), and the component of every state, -1 for a state of its own."""

    gain: TwoPart
    value: Array
    component: Array


def span(rows: ModelRows) -> tuple[float, float]:
    """Return what a step earns at least, and at most: no average is beyond that. Sums of three rewards are rounded twice."""
    owner = np.repeat(np.arange(rows.choice_ptr.size - 1), np.diff(rows.choice_ptr))
    state = np.repeat(np.arange(rows.state_ptr.size - 1), np.diff(rows.state_ptr))
    total, size = np.zeros(owner.size), np.zeros(owner.size)
    with np.errstate(over="ignore", invalid="ignore"):
        for reward, place in ((rows.paid, None), (rows.choice_reward, owner), (rows.state_reward, state[owner])):
            if reward.size > 0:
                part = reward if place is None else reward[place]
                total, size = total + part, size + np.abs(part)
        least, most = float(np.min(total - 8.0 * EPS * size)), float(np.max(total + 8.0 * EPS * size))
    return least if np.isfinite(least) else -np.inf, most if np.isfinite(most) else np.inf


@kernel
def examine_discounted(
    rows: ModelRows, play: Play, discount: float, off: float, x: TwoPart, sign: float, fails: Array
) -> int:
    """Return how many states a vector does not pass in, as a bound from above if `sign` is 1; mark them in `fails` (S,).

    Each reward may be off by `off`.
    """
    states, choices = fails.size, rows.choice_ptr.size - 1
    lost, counted, whole, left = np.empty(states), np.ones(choices, np.bool_), play.weight.size > 0, 0
    for s in range(states):
        lost[s] = -(1.0 - discount) * x.base[s] - (1.0 - discount) * x.offset[s]
        size = (1.0 - discount) * (abs(x.base[s]) + abs(x.offset[s]))
        lost[s] += sign * (8.0 * EPS * size + 2.0 * off)
        if x.base[s] != 0.0 or x.offset[s] != 0.0:
            lost[s] += sign * 4.0 * LEAST
        if not play.every and not whole:
            for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
                counted[c] = c == play.choice[s]
    gain, error = np.empty(choices), np.empty(choices)
    side = RowReading(sign, play.nature_max, discount, True, True, not whole)
    collect(rows, counted, x, lost, side, (0, states), listed_order(rows), gain, error)
    for s in range(states):
        first, last = rows.state_ptr[s], rows.state_ptr[s + 1]
        fails[s] = not play.every and not whole and not first <= play.choice[s] < last
        if whole:
            total, wrong, weight = 0.0, 0.0, 0.0
            for c in range(first, last):
                total += play.weight[c] * gain[c]
                wrong += play.weight[c] * error[c] + (2.0 * (last - first) + 8.0) * EPS * abs(play.weight[c] * gain[c])
                wrong += 4.0 * LEAST if gain[c] != 0.0 or error[c] != 0.0 else 0.0  # products next to 0 may vanish
                weight += play.weight[c]
            fails[s] = not (weight > 0.0 and sign * total + wrong <= 0.0)
        else:
            for c in range(first, last):
                if counted[c]:
                    fails[s] = fails[s] or not (sign * gain[c] + error[c] <= 0.0)
        left += fails[s]
    return left


@kernel(allocates=False)
def _stays(c: int, rows: ModelRows, component: Array, home: int) -> bool:
    """Whether all that a row may lead to lies in one component."""
    if home < 0:
        return False
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind = LOWER if rows.lower is rows.upper else read_row(begin, end, rows.lower, rows.upper)[0]
    for t in range(begin, end):
        if possible(t, kind, rows.lower, rows.upper) and component[rows.successor[t]] != home:
            return False
    return True


@kernel(allocates=False)
def _leads_back(c: int, rows: ModelRows, settled: Array) -> bool:
    """Whether a row may lead to a settled state."""
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind = LOWER if rows.lower is rows.upper else read_row(begin, end, rows.lower, rows.upper)[0]
    for t in range(begin, end):  # noqa: SIM110 - compiled
        if settled[rows.successor[t]] and possible(t, kind, rows.lower, rows.upper):
            return True
    return False


@kernel
def examine_average(rows: ModelRows, play: Play, off: float, found: GainVectors, sign: float, fails: Array) -> int:
    """Return how many states gains do not pass in, as bounds from above if `sign` is 1; mark them in `fails` (S,).

    Each reward may be off by `off`.
    """
    states = fails.size
    if may_cut(rows):
        fails[:] = True
        return states
    gain, component = found.gain, found.component
    value = TwoPart(found.value, np.zeros(states))
    first_of = np.full(states, -1, np.int64)  # the first state of each component
    for s in range(states):
        fails[s] = False
        k = component[s]
        if k >= states:
            fails[s] = True
        elif k >= 0:
            if first_of[k] < 0:
                first_of[k] = s
            fails[s] = gain.base[s] != gain.base[first_of[k]] or gain.offset[s] != gain.offset[first_of[k]]
        if not play.every and not rows.state_ptr[s] <= play.choice[s] < rows.state_ptr[s + 1]:
            fails[s] = True
    choices = rows.choice_ptr.size - 1
    staying, leaving, rate = np.zeros(choices, np.bool_), np.zeros(choices, np.bool_), np.empty(states)
    for s in range(states):
        rate[s] = -gain.base[s] - gain.offset[s]
        rate[s] += sign * (8.0 * EPS * (abs(gain.base[s]) + abs(gain.offset[s])) + 2.0 * off)
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            if not fails[s] and (play.every or c == play.choice[s]):
                staying[c] = _stays(c, rows, component, component[s])
                leaving[c] = not staying[c]
    more, wrong, order = np.empty(choices), np.empty(choices), listed_order(rows)
    earning = RowReading(sign, play.nature_max, 1.0, True, True, True)
    moving = RowReading(sign, play.nature_max, 1.0, True, False, True)
    collect(rows, staying, value, rate, earning, (0, states), order, more, wrong)
    collect(rows, leaving, gain, rate[:0], moving, (0, states), order, more, wrong)
    for s in range(states):
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            if staying[c] or leaving[c]:
                fails[s] = fails[s] or not (sign * more[c] + wrong[c] <= 0.0)
    # The order: a component, or a single state, is settled once all its rows that do not stay may lead to a settled one.
    settled, grown = np.zeros(states, np.bool_), True
    while grown:
        grown = False
        ready = np.ones(states, np.bool_)
        for i in range(states):
            s = states - 1 - i
            if settled[s]:
                continue
            first, last = (
                (rows.state_ptr[s], rows.state_ptr[s + 1]) if play.every else (play.choice[s], play.choice[s] + 1)
            )
            leads = not fails[s]
            for c in range(first, last):
                leads = leads and (_stays(c, rows, component, component[s]) or _leads_back(c, rows, settled))
            if 0 <= component[s] < states:
                ready[component[s]] = ready[component[s]] and leads
            elif leads:
                settled[s] = grown = True
        for s in range(states):
            if not settled[s] and 0 <= component[s] < states and ready[component[s]]:
                settled[s] = grown = True
    left = 0
    for s in range(states):
        fails[s] = fails[s] or not settled[s]
        left += fails[s]
    return left
