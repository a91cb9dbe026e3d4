"""Newton's method on the strategies, for components whose values settle slowly.

Linear solvers only propose. What is returned has passed `certify`: an upper vector that one step does not
raise and a lower vector that one step does not lower, rounding included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.rounding import underflow
from umdp.solver.kernels.structs import chain_of
from umdp.solver.methods.component import Component
from umdp.solver.methods.linear_system import Chain
from umdp.solver.methods.workspace import Bounds

__all__ = ["newton", "prove"]

Array = NDArray[Any]
FAINT = 1e-290  # below this, underflow may matter
ROUNDS = 200  # linear systems before giving up
RELAXATIONS = 32  # sweeps that may be spent on making one bound inductive
HOPES = 4  # sweeps that may be spent on hoping that plain bounds will do
LOADED = 16  # linear systems, after that
FAR = 500  # how many times as much makes a bound unlikely to become inductive


def newton(component: Component, wanted: float, safe: Array | None, bounds: Bounds) -> None:
    """Alternate between solving the chain of the strategies at hand and improving them, until bounds can be proved.

    Values are kept to twice the working precision: where one can linger almost for ever, they differ by less than
    their own rounding. Systems are solved for what is still missing, first roughly, then to the last digit.
    """
    workspace, inner, options = component.workspace, component.inner, component.options
    x, tail, row, prob = workspace.x, workspace.tail, workspace.row, workspace.prob
    tolerance, sweeps, idle = 1e-2, 1, 0
    chain = Chain(chain_of(component.problem.rows, row, prob), component.begin, component.end, watch=options.watch)
    for turn in range(ROUNDS):
        component.answer(x, tail, row, prob)
        chain = chain.again(row, prob)
        step = chain.solve(chain.residual(x, tail), tolerance, _scale(x[inner]))
        options.statistics.iterations += 1
        if options.is_late():
            return
        if step is None or not bool((x[inner] + step >= 0.0).all()):
            # The strategies at hand cannot leave (yet): start over from some that can, or sweep on.
            tail[inner] = 0.0
            if safe is not None:
                x[inner], row[inner], safe = 0.0, safe, None
                continue
            change = max((component.sweep(x, row)[0] for _ in range(sweeps) if not options.is_late()), default=0.0)
            if change == 0.0 or sweeps > 10_000:
                return
            sweeps *= 2
            continue
        _add(x, tail, inner, step)
        moved = _relative(step, x[inner])
        if turn > 12 and moved > 1e-9 and component.agent_max != component.nature_max:
            tolerance = 1e-10  # moving both players at once may go round in circles: let nature answer in full first
            continue
        if moved > 1e-6 and turn <= 12:  # far from the end: sweeps spread better strategies faster
            before = row[inner].copy()
            for _ in range(2):
                component.sweep(x, row)
            tail[inner] = 0.0
            switched = int(np.count_nonzero(row[inner] != before))
        else:
            switched = component.improve(x, tail, row)
        options.tell("policy iteration", moved)
        if moved < 1e-3 and (switched == 0 or (moved < wanted and turn % 4 == 0)):
            if tolerance <= 1e-8 and component.surround(wanted, bounds, HOPES):
                return
            prove(component, chain, wanted, bounds)
            if bounds.width <= wanted:
                return
        if options.statistics.stopped:
            return
        idle = idle + 1 if switched == 0 and moved < 1e-14 else 0
        if idle > (0 if bounds.width < np.inf else 2):
            return
        tolerance = 1e-8 if switched == 0 or moved < 1e-5 else 1e-3


def _scale(values: Array) -> Array:
    """Return positive units for values: their own size, the smallest positive one where they are 0."""
    least = float(values.min(where=values > 0.0, initial=np.inf))
    return np.where(values > 0.0, values, least if least < np.inf else 1.0)


def _relative(step: Array, values: Array) -> float:
    """Return the largest relative size of a step."""
    with np.errstate(over="ignore"):
        return float((np.abs(step) / np.maximum(np.abs(values), 1e-300)).max(initial=0.0))


def _add(x: Array, tail: Array, inner: slice, step: Array) -> None:
    """Add `step` to ``x + tail`` and keep the sum in two parts."""
    step = step + tail[inner]
    total = x[inner] + step
    tail[inner] = step - (total - x[inner])
    x[inner] = total


def _clamp(x: Array, tail: Array, inner: slice) -> None:
    """Raise values below 0 to 0: no value is, and what was inductive from below remains so."""
    negative = x[inner] + tail[inner] < 0.0
    x[inner][negative] = 0.0
    tail[inner][negative] = 0.0


def prove(component: Component, chain: Chain, wanted: float, bounds: Bounds) -> None:
    """Add to the values what a small load accumulates to under the strategies at hand, and see whether that is proof."""
    workspace, inner = component.workspace, component.inner
    values = workspace.x[inner]
    tight = component.loads(workspace.x, workspace.tail)
    lift = _lift(component, chain, values)
    # An even load is easier on iterative solvers; a tight one leaves alone the states where one can linger.
    even = workspace.below
    with np.errstate(over="ignore"):
        even[inner] = np.maximum(tight[inner], _relative(tight[inner], values) * values)
    lingers = chain.direct or _lingers(chain, tight[inner], even[inner], values)
    for load in (tight, even) if lingers else (even, tight):
        shift = chain.solve(load[inner], 1e-3, _scale(values))
        if shift is None or _relative(shift, values) > wanted / 4:
            continue
        given = component, chain, load, np.maximum(shift, 0.0)
        low, low_row = _inductive(*given, lift, wanted, from_above=False)
        # What is exactly 0 must not be lifted, what is 0 by underflow must be.
        none = np.zeros(values.size)
        high, high_row = _inductive(*given, none, wanted, from_above=True)
        if high is None and lift.any():
            high, high_row = _inductive(*given, lift, wanted, from_above=True)
        if low is not None and (below := _relative(sum(low) - values, values)) < bounds.below:
            (bounds.low, bounds.low_rest), bounds.below = low, below
            bounds.rows = low_row if component.agent_max else bounds.rows
        if high is not None and (above := _relative(sum(high) - values, values)) < bounds.above:
            (bounds.high, bounds.high_rest), bounds.above = high, above
            bounds.rows = bounds.rows if component.agent_max else high_row
        if bounds.width <= wanted or component.options.is_late():
            return


def _lingers(chain: Chain, tight: Array, even: Array, values: Array) -> bool:
    """Whether an even load adds up to far more than a tight one; not looked at where that would take long."""
    if not chain.eliminates:
        return False
    one, other = (chain.solve(load, 1e-3, _scale(values)) for load in (tight, even))
    return one is not None and other is not None and _relative(other, values) > FAR * _relative(one, values)


def _lift(component: Component, chain: Chain, values: Array) -> Array:
    """Return what underflow may add up to where values come close to the smallest number there is; nothing elsewhere."""
    if values.min() > FAINT:
        return np.zeros(values.size)
    steps = chain.solve(np.ones(values.size), 1e-3, np.ones(values.size))
    if steps is None or not float(steps.max()) < 1e12:
        return np.zeros(values.size)
    return 8.0 * float(underflow(component.problem.widest)) * np.maximum(steps, 1.0)


def _inductive(
    component: Component, chain: Chain, load: Array, shift: Array, lift: Array, wanted: float, *, from_above: bool
) -> tuple[tuple[Array, Array] | None, Array]:
    """Return an inductive vector on one side of the values in two parts, or None, and the rows to prove it.

    The `shift` is what the load accumulates to under the strategies at hand.
    """
    workspace, inner = component.workspace, component.inner
    x, tail, row = workspace.x, workspace.tail, workspace.row
    bound, rest, proof = workspace.above, workspace.rest, workspace.proof
    bound[inner], rest[inner], proof[inner] = x[inner], tail[inner], row[inner]
    # Scaling the values gives every row slack in proportion to what it collects, whichever strategy it belongs to.
    away = 2.0 * shift + 0.125 * wanted * x[inner] + lift
    _add(bound, rest, inner, away if from_above else -away)
    _clamp(bound, rest, inner)
    for attempt in range(RELAXATIONS):
        # The longer one can linger, the more the load adds up to; growth must stay slow, or it feeds on itself.
        if component.relax(bound, rest, load, 0.25 * 1.01**attempt, from_above=from_above) == 0:
            break
        if component.options.is_late():
            return None, proof[inner].copy()
    if component.passes(bound, rest, proof, from_above=from_above):
        return (bound[inner].copy(), rest[inner].copy()), proof[inner].copy()
    # Where strategies are nearly as good as others, what the load adds up to must be that of the strategy for which it
    # is most: the optimal one of the problem that pays the load.
    enough = min(0.125 * wanted / max(_relative(shift, x[inner]), 1e-300), 1e9)
    extra = (enough if from_above else -enough) * load[inner]
    bound[inner], rest[inner] = x[inner], tail[inner]
    taken, prob = row.copy(), np.array(component.problem.rows.lower)
    for _ in range(LOADED):
        component.answer(bound, rest, taken, prob)
        chain = chain.again(taken, prob)
        step = chain.solve(chain.residual(bound, rest) + extra, 1e-3, _scale(x[inner]))
        if step is None or component.options.is_late():
            break
        _add(bound, rest, inner, step)
        _clamp(bound, rest, inner)
        proof[inner] = taken[inner]
        if component.passes(bound, rest, proof, from_above=from_above):
            return (bound[inner].copy(), rest[inner].copy()), proof[inner].copy()
        if component.improve(bound, rest, taken) == 0:
            extra = 4.0 * extra
    return None, proof[inner].copy()
