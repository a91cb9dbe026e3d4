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
from umdp.solver.judge.rows import EPS, FREE, LEAST, LOWER, ModelRows, TwoPart, fixed, possible, read_row, respond

__all__ = ["GainVectors", "Play", "examine_average", "examine_discounted"]

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


@kernel
def collect(
    s: int,
    c: int,
    rows: ModelRows,
    play: Play,
    factor: float,
    x: TwoPart,
    paying: bool,
    more: float,
    sign: float,
    one: bool,
    buffers: tuple[Array, Array],
) -> tuple[float, float]:
    """Return ``reward + more + sum p (factor (x_j - x_s) + paid)`` for nature's answer, and a bound on the error.

    Differences are moved outwards by their rounding, as in `inductive.weigh`; `more` by 4 EPS. Rewards count if `paying`.
    """
    key, order = buffers
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind, slack = LOWER, 0.0
    if rows.lower is not rows.upper:
        kind, slack = read_row(begin, end, rows.lower, rows.upper)
    earned, size = more, abs(more)
    if paying and rows.state_reward.size > 0:
        earned += rows.state_reward[s]
        size += abs(rows.state_reward[s])
    if paying and rows.choice_reward.size > 0:
        earned += rows.choice_reward[c]
        size += abs(rows.choice_reward[c])
    here = x.base[s], x.offset[s]
    faint = 0.0  # what products next to 0 lose: they may vanish
    if factor < 1.0:
        for t in range(begin, end):
            if x.base[rows.successor[t]] != here[0] or x.offset[rows.successor[t]] != here[1]:
                faint = 4.0 * LEAST
    earned += sign * (8.0 * EPS * size + faint)
    if not paying and rows.paid.size > 0:  # gains alone: what transitions pay does not count
        rows = ModelRows(
            rows.state_ptr, rows.choice_ptr, rows.successor, rows.lower, rows.upper, rows.state_reward, rows.choice_reward,
            rows.paid[:0],
        )  # fmt: skip
    if kind != FREE:
        gain, error = fixed(begin, end, rows, kind, x, here, factor, earned, sign)
        whole = 0.0
        for t in range(begin, end):
            whole += rows.lower[t] if kind == LOWER else rows.upper[t]
        gain, error = gain / whole, error / whole * (1.0 + 1e-9)
        return gain, error + (2.0 * (end - begin) + 4.0) * EPS * abs(gain) if error > 0.0 else 0.0
    for t in range(begin, end):
        j = rows.successor[t]
        paid = rows.paid[t] if rows.paid.size > 0 else 0.0
        far, near = factor * (x.base[j] - here[0]), factor * (x.offset[j] - here[1])
        key[t - begin] = ((far + near) + paid) + sign * 8.0 * EPS * (abs(far) + abs(near) + abs(paid))
    gain, error = respond(begin, end, (rows.lower, rows.upper), slack, key, order, play.nature_max, one)
    if earned != 0.0:
        gain += earned
        error += 4.0 * EPS * (abs(earned) + abs(gain))
    return gain, error


@kernel
def _space(rows: ModelRows) -> tuple[Array, Array]:
    widest = 1
    for c in range(rows.choice_ptr.size - 1):
        widest = max(widest, rows.choice_ptr[c + 1] - rows.choice_ptr[c])
    return np.empty(widest), np.empty(2 * widest, np.int64)


@kernel
def examine_discounted(
    rows: ModelRows, play: Play, discount: float, off: float, x: TwoPart, sign: float, fails: Array
) -> int:
    """Return how many states a vector does not pass in, as a bound from above if `sign` is 1; mark them in `fails` (S,).

    Each reward may be off by `off`.
    """
    buffers = _space(rows)
    one = play.nature_max == (sign < 0.0)
    left = 0
    for s in range(fails.size):
        lost = -(1.0 - discount) * x.base[s] - (1.0 - discount) * x.offset[s]
        size = (1.0 - discount) * (abs(x.base[s]) + abs(x.offset[s]))
        lost += sign * (8.0 * EPS * size + 2.0 * off)
        if x.base[s] != 0.0 or x.offset[s] != 0.0:
            lost += sign * 4.0 * LEAST
        first, last = rows.state_ptr[s], rows.state_ptr[s + 1]
        if not play.every and play.weight.size == 0:
            if not first <= play.choice[s] < last:
                fails[s] = True
                left += 1
                continue
            first, last = play.choice[s], play.choice[s] + 1
        fails[s] = False
        total, error, whole = 0.0, 0.0, 0.0
        for c in range(first, last):
            gain, wrong = collect(s, c, rows, play, discount, x, True, lost, sign, one, buffers)
            if play.weight.size > 0:
                total += play.weight[c] * gain
                error += play.weight[c] * wrong + (2.0 * (last - first) + 8.0) * EPS * abs(play.weight[c] * gain)
                error += 4.0 * LEAST if gain != 0.0 or wrong != 0.0 else 0.0  # products next to 0 may vanish
                whole += play.weight[c]
            elif not (sign * gain + wrong <= 0.0):
                fails[s] = True
        if play.weight.size > 0:
            fails[s] = not (whole > 0.0 and sign * total + error <= 0.0)
        left += fails[s]
    return left


@kernel
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


@kernel
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
    buffers = _space(rows)
    one = play.nature_max == (sign < 0.0)
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
    for s in range(states):
        if fails[s]:
            continue
        first, last = (rows.state_ptr[s], rows.state_ptr[s + 1]) if play.every else (play.choice[s], play.choice[s] + 1)
        for c in range(first, last):
            if _stays(c, rows, component, component[s]):
                rate = -gain.base[s] - gain.offset[s]
                rate += sign * (8.0 * EPS * (abs(gain.base[s]) + abs(gain.offset[s])) + 2.0 * off)
                more, wrong = collect(s, c, rows, play, 1.0, value, True, rate, sign, one, buffers)
            else:
                more, wrong = collect(s, c, rows, play, 1.0, gain, False, 0.0, sign, one, buffers)
            fails[s] = fails[s] or not (sign * more + wrong <= 0.0)
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
