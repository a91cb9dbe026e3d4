"""Long-run averages inside end components: strategies are improved in turn, and one step backwards brackets the gain.

Let T be a step backwards by the choices that stay in an end component, without discount, and D = T x - x for any x. T is
monotone, and adding a constant to all values adds it to all that come of it. So n steps from x lead at least ``n min D`` up and
at most ``n max D``, and what a step earns in the long run lies between ``min D`` and ``max D``, from every state of it.
The choices taken keep their side of that, because they are the ones that D was computed of.

That the bracket closes is another matter, and nothing rests on it: in an end component whose edges nature cannot cut the agent
gets from everywhere to everywhere, so that the best gain is one number. Sweeps go only part of the way (``x + t D``), so that
they settle in components with a period too.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.backward import Steps
from umdp.solver.methods.discounted import solve_discounted
from umdp.solver.methods.pair import chain_of, solver_of
from umdp.solver.methods.signed import Signed
from umdp.solver.objective import SolveOptions, SolveStatistics

__all__ = ["Gains", "solve_gains"]

Array = NDArray[Any]
PART = 0.7  # of a step that is gone
SWEEPS = 40  # between attempts at a linear system
TRIES = 12  # linear systems in a row that may not help
FEW = 4  # of these, before discounts are tried
MOST = 2000  # rounds
IDLE = 60  # of these, in which no bracket became narrower by a third
LOOKS = 40  # at brackets of a discounted sum, which is but a place to go on from


@dataclass(frozen=True, eq=False)
class Gains:
    """What a step earns in the long run in each end component.

    Attributes
    ----------
    lower, upper : (M,) certified bounds
    x : (S,) the values that a step was taken from
    choice : (S,) the choices taken in the components
    """

    lower: Array
    upper: Array
    x: Array
    choice: Array


def solve_gains(
    signed: Signed, component: Array, count: int, stays: Array, options: SolveOptions, start: Array | None = None
) -> Gains:
    """Return bounds on the gain of every end component, to the precision asked for or as good as could be found.

    Parameters
    ----------
    signed : Signed
        The model, without discount.
    component : (S,) the end component of every state, -1 elsewhere
    count : int
        How many there are.
    stays : (C,) the choices that stay in their state's component
    options : SolveOptions
    start : (S,), optional
        Choices to prefer.
    """
    active = component >= 0
    states = np.flatnonzero(active)
    owner = component[states]
    x, into = np.zeros(signed.shape.states), signed.begin(start)
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    kept_x, choice = x, into.choice.copy()
    unit, spent = signed.largest_reward, 0
    game = signed.agent_max != signed.nature_max
    nested, failures, narrow, idle = False, 0, np.inf, 0
    seeds = [1.0 - 2.0**-40, 1.0 - 2.0**-30, 1.0 - 2.0**-20, 1.0 - 2.0**-10]

    def look() -> tuple[Array, Array]:
        signed.step(x, into, active=active, usable=stays)
        options.statistics.iterations += 1
        bottom, top = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(bottom, owner, (into.change - into.error)[states])
        np.maximum.at(top, owner, (into.change + into.error)[states])
        known = np.isfinite(bottom) & np.isfinite(top)
        return np.where(known, bottom, -np.inf), np.where(known, top, np.inf)

    while True:
        bottom, top = look()
        # The bounds of one step stand for its choices: components are taken over one by one, as a whole.
        better = top - bottom < high - low
        low, high = np.where(better, bottom, low), np.where(better, top, high)
        taken = active & np.isin(component, np.flatnonzero(better))
        kept_x, choice = np.where(taken, x, kept_x), np.where(taken, into.choice, choice)
        open_ = high - low > 0.01 * options.precision * np.maximum(np.maximum(np.abs(low), np.abs(high)), unit)
        noise = (high - low)[open_] <= 8.0 * float(into.error[states].max(initial=0.0))
        span = float((high - low).max(initial=0.0))
        options.tell("long-run average", span / unit if unit > 0 else 0.0)
        if not open_.any() or noise.all() or options.statistics.stopped or spent >= MOST:
            break
        spent += 1
        done = not (high - low > options.precision * np.maximum(np.maximum(np.abs(low), np.abs(high)), unit)).any()
        if done and span > 0.7 * narrow:
            break
        # Linear systems give the values of a pair of strategies, if these make one recurrent class of every component. On the
        # way brackets may widen: those of the narrowest are kept.
        failures, idle = (failures + 1, idle + 1) if span > 0.7 * narrow else (0, 0)
        if idle > IDLE and not seeds:
            break
        narrow = min(narrow, span) if span <= 0.7 * narrow else narrow
        nested = nested or (game and failures > 3)
        if failures <= (FEW if seeds else TRIES):
            improved = _improved(signed, x, into, component, stays, options, nested=nested)
            if improved is not x:
                x = improved
                continue
        if seeds and failures > FEW:  # strategies that are best for a discount near 1 are a better place to go on from
            x, failures = _discounted(signed, active, stays, component, seeds.pop(), options), 0
            continue
        x, failures = (kept_x, TRIES // 2) if failures > TRIES else (x, failures)
        for _ in range(SWEEPS):
            bottom, top = look()
            middle = np.where(np.isfinite(top - bottom), 0.5 * (bottom + top), 0.0)
            moved = np.zeros(x.size)
            moved[states] = PART * (into.change[states] - middle[owner])
            x = x + moved
            if float((top - bottom).max()) <= 0.5 * options.precision * unit or options.is_late():
                break
    return Gains(low, high, kept_x, choice)


def _discounted(
    signed: Signed, active: Array, stays: Array, component: Array, discount: float, options: SolveOptions
) -> Array:
    """Return values of the strategies that are best with a discount near 1, relative to one state of each component.

    With a discount the system of a pair of strategies has one solution, whatever classes they make.
    """
    other = copy(signed)
    other.discount, other.every, other.usable = discount, active, stays
    spent = replace(
        options, precision=1e-9, progress=None, statistics=SolveStatistics(stopped=options.statistics.stopped)
    )
    first = int(np.flatnonzero(active)[0])
    found = solve_discounted(other, spent, first, looks=LOOKS, spread=False).x
    options.statistics.stopped = spent.statistics.stopped
    members, owner = np.flatnonzero(active), component[active]
    x = np.zeros(found.size)
    x[members] = found[members] - found[members[_first_of_each(owner)[owner]]]
    return x


def _first_of_each(owner: Array) -> Array:
    """Return the first place at which each component stands, as a table by component."""
    first = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    first[owner[::-1]] = np.arange(owner.size)[::-1]
    return first


def _improved(
    signed: Signed, x: Array, into: Steps, component: Array, stays: Array, options: SolveOptions, *, nested: bool
) -> Array:
    """Return values whose step earns the same everywhere in a component under the strategies at hand; `x` if none are found.

    One value of a component can be anything: that of its reference state stays. Without that state the system is solved
    twice, for what is earned on the way to it and for how long that takes; one by the other is the gain.
    """
    from scipy.sparse import identity

    active = component >= 0
    states = np.flatnonzero(active)
    size, owner = states.size, component[states]
    reference = _first_of_each(owner)
    rest = np.ones(size, dtype=np.bool_)
    rest[reference] = False
    weight = np.zeros(signed.shape.choices)
    weight[into.choice[states]] = 1.0
    for _ in range(8 if nested else 1):
        chain = chain_of(signed, into, states)
        change = into.change[states]
        earned, took = np.zeros(size), np.zeros(size)
        if rest.any():
            left = identity(int(rest.sum()), format="csr") - chain[rest][:, rest]
            solve = solver_of(left.tocsr(), options.watch.left)
            first, second = solve(change[rest]), solve(np.ones(int(rest.sum())))
            if first is None or second is None:
                return x
            earned[rest], took[rest] = first, second
        with np.errstate(all="ignore"):
            gain = (change[reference] + chain[reference] @ earned) / (1.0 + chain[reference] @ took)
        found = earned - gain[owner] * took
        if not bool(np.isfinite(found).all()):
            return x
        before = float(np.ptp(change))
        x = x.copy()
        x[states] += found
        if not nested or options.is_late():
            break
        signed.step(x, into, active=active, usable=stays, weight=weight)
        if not float(np.ptp(into.change[states])) < 0.5 * before:
            break
    return x
