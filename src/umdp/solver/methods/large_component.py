"""Large components: sweeps while values settle fast, Newton's method where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.structs import chain_of
from umdp.solver.kernels.sweeps import ENCLOSE, GIVE_UP, TRIES, assess, reach
from umdp.solver.kernels.value_iteration import FOLLOW, GOAL, START, keep
from umdp.solver.methods.component import Component
from umdp.solver.methods.linear_system import Chain
from umdp.solver.methods.newton import newton, prove
from umdp.solver.methods.workspace import Bounds

if TYPE_CHECKING:
    from umdp.solver.methods.workspace import Workspace

__all__ = ["solve_large"]

Array = NDArray[Any]


def solve_large(workspace: Workspace, number: int, *, swept: bool) -> bool:
    """Solve one component: its values, relative errors, rows and nature's answer; `swept` if sweeps have been tried.

    Return whether sweeps were enough.
    """
    component = Component(workspace, number)
    inner, x, row, n = component.inner, workspace.x, workspace.row, component.end - component.begin
    inherited, wanted = workspace.inherited(number), workspace.wanted
    bounds = Bounds(np.zeros(n), np.full(n, workspace.ceiling))
    enough = workspace.past is not None and not swept and _iterate_values(component, wanted, bounds, cold=False)
    if not (enough or swept):
        if workspace.past is not None:
            # From far away values settle evenly, which can be made use of; from nearby that may take longer.
            workspace.start_over(inner)
        enough = _iterate_values(component, wanted, bounds, cold=True)
    if not (enough or component.options.is_late() or _eliminate(component, wanted, bounds)):
        component.read(workspace.above)
        safe = None if workspace.safe is None else workspace.safe[inner]
        with np.errstate(all="ignore"):  # it proposes; what overflows or is no number does not pass
            newton(component, x, workspace.tail, row, workspace.prob, wanted, safe, bounds)
    if bounds.rows is not None:
        row[inner] = bounds.rows
    low, high = bounds.low, bounds.high
    if bounds.low_rest is not None and bounds.high_rest is not None:
        low, high = workspace.show(number, bounds, inherited)
    keep(component.begin, component.end, low, high, workspace.ceiling, inherited, x, workspace.rel)
    component.answer(x, workspace.tail, row, workspace.prob)
    workspace.tail[inner] = 0.0
    workspace.rest[inner] = 0.0
    return enough


def _eliminate(component: Component, wanted: float, bounds: Bounds) -> bool:
    """Eliminate the states of a component in which nobody has a choice; whether that is cheap, and bounds are narrow enough.

    These need no inductive vector, and values may agree in more digits than any number has.
    """
    workspace, rows = component.workspace, component.problem.rows
    if component.rows.stop - component.rows.start > component.end - component.begin or component.has_freedom:
        return False
    chain = Chain(chain_of(rows, rows.row_ptr, rows.lower), component.begin, component.end)
    eliminated = chain.eliminate()
    found = None if eliminated is None else eliminated.values(workspace.x, workspace.task.blur)
    component.options.statistics.iterations += 1
    if found is None or not float(found[1].max()) <= wanted / 2:
        return False
    x, rel = found
    with np.errstate(over="ignore"):
        bounds.low = np.where(x > 0.0, np.nextafter(x * (1.0 - rel), 0.0), 0.0)
        bounds.high = np.where(x > 0.0, np.nextafter(x * (1.0 + rel), np.inf), 0.0)
    workspace.row[component.inner] = rows.row_ptr[component.begin : component.end]
    _make_inductive(component, chain, x, wanted, bounds)
    return True


def _make_inductive(component: Component, chain: Chain, values: Array, wanted: float, bounds: Bounds) -> None:
    """Take an inductive vector near values that elimination found instead of them, where there is one."""
    workspace, inner = component.workspace, component.inner
    proved = Bounds(bounds.low, bounds.high, workspace.row[inner].copy())
    workspace.x[inner] = values
    component.read(workspace.above)
    with np.errstate(all="ignore"):
        prove(component, chain, workspace.x, workspace.tail, workspace.row, wanted, proved)
    if proved.width <= wanted:
        bounds.low, bounds.high, bounds.rows = proved.low, proved.high, proved.rows
        bounds.low_rest, bounds.high_rest = proved.low_rest, proved.high_rest


def _iterate_values(component: Component, wanted: float, bounds: Bounds, *, cold: bool) -> bool:
    """Sweep until values settle and can be enclosed, as `iterate_values` does; False once that promises to take too long.

    If `cold`, nothing is known of the values.
    """
    workspace, n = component.workspace, component.end - component.begin
    x, row = workspace.x, workspace.row
    free = component.has_freedom
    if workspace.heads_out and cold:
        component.read(workspace.above)
        rewards = component.problem.rows.reward[component.rows]
        workspace.above[component.inner] = (1.0 + float(rewards.max(initial=0.0))) * np.arange(1, n + 1)
        component.sweep(workspace.above, row)
    if workspace.safe is not None and cold:
        for _ in range(START // 8):
            component.answer(x, workspace.tail, row, workspace.prob)
            if component.follow(x, row, workspace.prob, 8) < 1e-2 or component.options.is_late():
                break
    pace = np.array([GOAL * wanted, np.inf, 1.0, 1.0, 0.0])
    chances = 3
    while not component.options.statistics.stopped:
        change, switched = component.sweep(x, row)
        pace[4] += 1
        verdict = assess(pace, change, switched, n)
        if verdict == GIVE_UP:
            return False
        if verdict == ENCLOSE:
            if component.surround(wanted, bounds, TRIES):
                return True
            chances -= 1
            if chances == 0:
                return False
            pace[0] /= 8
            pace[3] = 1
            continue
        steps = FOLLOW if pace[4] > 1 else 0
        if steps:
            if free:
                component.answer(x, workspace.tail, row, workspace.prob)
            component.follow(x, row, workspace.prob, steps, extrapolate=reach(change, switched, n))
        pace[3] = 1 + steps
        pace[4] += steps
        component.options.tell("value iteration", change)
    return False
