"""The judge of sums: over a number of steps, discounted, and averaged in the long run; rewards of any sign.

*Steps.* The induction once more, every backup rounded outwards: a bound on the values with k steps to go gives one with k + 1,
since T, one step backwards, is monotone. Nothing else is needed, and nothing is kept.

*Discounted.* u >= T u leads down to the value, l <= T l up to it: T shrinks distances. In difference
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

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.model.structure import read_only
from umdp.solver.judge.ambiguity import EPS, LEAST, counted_rows, may_cut, may_lead, may_leave
from umdp.solver.judge.bellman import RowReading, collect, listed_order
from umdp.solver.judge.question import NOTHING, ModelRows, TwoPart, as_probabilities, as_rewards, sure_where

if TYPE_CHECKING:
    from umdp.solver.objective import Objective

__all__ = ["GainVectors", "Play", "bounds_of_steps", "examine_average", "examine_discounted", "span", "step_back"]

Array = NDArray[Any]
Own = tuple[Array | None, Array | None]
NOWHERE: Array = np.empty(0, np.int64)
NOBODY: Own = (None, None)
MOST = 1.7976931348623157e308
OFTEN = 16  # steps after which the clock is looked at


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
    rows: ModelRows, play: Play, discount: float, reward_error: float, x: TwoPart, sign: float, fails: Array
) -> int:
    """Return how many states a vector does not pass in, as a bound from above if `sign` is 1; mark them in `fails` (S,).

    Each reward may be off by `reward_error`.
    """
    states, choices = fails.size, rows.choice_ptr.size - 1
    lost, counted, whole, left = np.empty(states), np.ones(choices, np.bool_), play.weight.size > 0, 0
    for s in range(states):
        lost[s] = -(1.0 - discount) * x.base[s] - (1.0 - discount) * x.offset[s]
        size = (1.0 - discount) * (abs(x.base[s]) + abs(x.offset[s]))
        lost[s] += sign * (8.0 * EPS * size + 2.0 * reward_error)
        if x.base[s] != 0.0 or x.offset[s] != 0.0:
            lost[s] += sign * 4.0 * LEAST
        if not play.every and not whole:
            for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
                counted[c] = c == play.choice[s]
    gain, error = np.empty(choices), np.empty(choices)
    side = RowReading(sign, play.nature_max, discount, True, True, not whole)
    collect(rows, counted, x, lost, side, (0, states), listed_order(rows), (gain, error))
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


@kernel
def check_gains(rows: ModelRows, play: Play, found: GainVectors, fails: Array) -> None:
    """Mark states (S,) whose gain is not that of their component, or where the policy has no choice."""
    gain, component, states = found.gain, found.component, fails.size
    first_of = np.full(states, -1, np.int64)  # the first state of each component
    for s in range(states):
        k = component[s]
        fails[s] = k >= states or not (play.every or rows.state_ptr[s] <= play.choice[s] < rows.state_ptr[s + 1])
        if 0 <= k < states:
            if first_of[k] < 0:
                first_of[k] = s
            even = gain.base[s] == gain.base[first_of[k]] and gain.offset[s] == gain.offset[first_of[k]]
            fails[s] = fails[s] or not even


@kernel
def settle_components(rows: ModelRows, play: Play, component: Array, staying: Array, fails: Array) -> int:
    """Mark states (S,) that are not in order; return how many have failed in all.

    A component, or a single state, is settled once all its rows that do not stay (C,) may lead to a settled one.
    """
    states, grown = fails.size, True
    proved = np.zeros(states, np.bool_)
    while grown:
        grown = False
        ready = np.ones(states, np.bool_)
        for i in range(states):
            s = states - 1 - i
            if proved[s]:
                continue
            first, last = counted_rows(s, rows, play.every, play.choice)
            leads = not fails[s]
            for c in range(first, last):
                leads = leads and (staying[c] or may_lead(c, rows, proved))
            if 0 <= component[s] < states:
                ready[component[s]] = ready[component[s]] and leads
            elif leads:
                proved[s] = grown = True
        for s in range(states):
            if not proved[s] and 0 <= component[s] < states and ready[component[s]]:
                proved[s] = grown = True
    fails |= ~proved
    return int(np.count_nonzero(fails))


@kernel
def examine_average(
    rows: ModelRows, play: Play, reward_error: float, found: GainVectors, sign: float, fails: Array
) -> int:
    """Return how many states gains do not pass in, as bounds from above if `sign` is 1; mark them in `fails` (S,).

    Each reward may be off by `reward_error`.
    """
    states, choices, gain, component = fails.size, rows.choice_ptr.size - 1, found.gain, found.component
    if may_cut(rows):
        fails[:] = True
        return states
    check_gains(rows, play, found, fails)
    staying, leaving, rate = np.zeros(choices, np.bool_), np.zeros(choices, np.bool_), np.empty(states)
    for s in range(states):
        rate[s] = -gain.base[s] - gain.offset[s]
        rate[s] += sign * (8.0 * EPS * (abs(gain.base[s]) + abs(gain.offset[s])) + 2.0 * reward_error)
        if not fails[s]:
            first, last = counted_rows(s, rows, play.every, play.choice)
            for c in range(first, last):
                staying[c] = component[s] >= 0 and not may_leave(c, rows, component, component[s])
                leaving[c] = not staying[c]
    more, wrong, order = np.empty(choices), np.empty(choices), listed_order(rows)
    earning = RowReading(sign, play.nature_max, 1.0, True, True, True)
    moving = RowReading(sign, play.nature_max, 1.0, True, False, True)
    value, everywhere = TwoPart(found.value, np.zeros(states)), (0, states)
    collect(rows, staying, value, rate, earning, everywhere, order, (more, wrong))
    collect(rows, leaving, gain, rate[:0], moving, everywhere, order, (more, wrong))
    for s in range(states):
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            if staying[c] or leaving[c]:
                fails[s] = fails[s] or not (sign * more[c] + wrong[c] <= 0.0)
    return int(settle_components(rows, play, component, staying, fails))


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
    collect(rows, counted, TwoPart(x, np.zeros(x.size)), value[:0], side, (0, x.size), order, (value, error))
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
                if np.isnan(found):  # what is no number bounds nothing
                    found = sign * np.inf
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
        if np.isnan(best):
            best = sign * np.inf
        out[s] = min(best, MOST) if sign < 0.0 else max(best, -MOST)  # a sum beyond all numbers is not infinite


def bounds_of_steps(
    rows: ModelRows, asked: Objective, players: tuple[bool, bool], own: Own, given: bool, late: Callable[[], bool]
) -> tuple[Array, Array]:
    """Return bounds (S,) on a step-bounded property, as wide as can be where time runs out.

    `own` are a policy's choices (S,) or (K, S), else its weights (C,) or (K, C). On the side that the agent wants, they are
    bounds of what this policy is worth; if it was `given`, on both.
    """
    agent_max, nature_max = players
    if own[0] is None and own[1] is None:
        raise ValueError("there is no policy")
    below = _induct(rows, asked, players, own if given or agent_max else NOBODY, -1.0, late)
    above = _induct(rows, asked, players, own if given or not agent_max else NOBODY, 1.0, late)
    if asked.kind == "P":
        below, above = as_probabilities(below, above)
        if bool((above == 1.0).any()) and not late():
            # Where the opposite is exactly 0, this is exactly 1.
            assert asked.final is not None
            turned = replace(asked, final=1.0 - asked.final, safety=not asked.safety)
            others = (not agent_max, not nature_max)
            missed = _induct(rows, turned, others, own if given or agent_max else NOBODY, 1.0, late)
            below = sure_where(missed, below)
        return below, above
    below, above = np.where(np.isnan(below), -np.inf, below), np.where(np.isnan(above), np.inf, above)
    return (below, above) if asked.signed else as_rewards(below, above)


def _induct(
    rows: ModelRows, asked: Objective, players: tuple[bool, bool], own: Own, sign: float, late: Callable[[], bool]
) -> Array:
    """Return bounds from one side (S,), of a policy where there is one; infinite where time runs out."""
    assert asked.steps is not None and asked.final is not None  # noqa: PT018 - what a step bound comes with
    x = np.array(asked.final, dtype=np.float64)
    out, order = np.empty_like(x), listed_order(rows)
    choices, weights = own
    free = choices is None and weights is None
    least, most = -np.inf if asked.signed else 0.0, 1.0 if asked.kind == "P" else np.inf
    for k in range(asked.steps - 1, -1, -1):
        if k % OFTEN == OFTEN - 1 and late():
            return np.full(x.size, sign * np.inf)
        choice, weight = NOWHERE, NOTHING
        if choices is not None:
            choice = np.array(choices if choices.ndim == 1 else choices[k], dtype=np.int64)
        elif weights is not None:
            weight = np.array(weights if weights.ndim == 1 else weights[k])
        decided, worth = asked.kept(k)
        worth = read_only(np.asarray(worth, dtype=np.float64))
        play = Play(players[1], free, choice, weight)
        step_back(rows, play, players[0], decided, worth, x, sign, order, out)
        np.clip(out, least, most, out=out)
        x, out = out, x
    return x
