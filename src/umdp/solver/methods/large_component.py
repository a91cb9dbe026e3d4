"""Large components: sweeps while values settle fast, Newton's method where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.structs import chain_of
from umdp.solver.kernels.sweeps import ENCLOSE, GIVE_UP, TRIES
from umdp.solver.kernels.value_iteration import GOAL, set_out, settle_once
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
    inner, n, wanted = component.inner, component.end - component.begin, workspace.wanted
    bounds = Bounds(np.zeros(n), np.full(n, workspace.ceiling))
    enough = workspace.past is not None and not swept and _iterate_values(component, wanted, bounds, cold=False)
    if not (enough or swept):
        if workspace.past is not None:
            # From far away values settle evenly, which can be made use of; from nearby that may take longer.
            workspace.start_over(inner)
        enough = _iterate_values(component, wanted, bounds, cold=True)
    if not (enough or component.options.is_late()):
        eliminated = _eliminate(component, wanted)
        if eliminated is not None:
            bounds = eliminated
        else:
            component.read(workspace.above)
            safe = None if workspace.safe is None else workspace.safe[inner]
            with np.errstate(all="ignore"):  # it proposes; what overflows or is no number does not pass
                newton(component, wanted, safe, bounds)
    component.write(bounds)
    return enough


def _eliminate(component: Component, wanted: float) -> Bounds | None:
    """Eliminate the states of a component in which nobody has a choice; None where that is not cheap, or not precise enough.

    These bounds need no inductive vector, and values may agree in more digits than any number has. Where there is an inductive
    vector near them, it takes their place.
    """
    workspace, rows, inner = component.workspace, component.problem.rows, component.inner
    if component.rows.stop - component.rows.start > component.end - component.begin or component.has_freedom:
        return None
    chain = Chain(chain_of(rows, rows.row_ptr, rows.lower), component.begin, component.end)
    eliminated = chain.eliminate()
    found = None if eliminated is None else eliminated.values(workspace.x, workspace.task.perturbation)
    component.options.statistics.iterations += 1
    if found is None or not float(found[1].max()) <= wanted / 2:
        return None
    x, relative_error = found
    with np.errstate(over="ignore"):
        low = np.where(x > 0.0, np.nextafter(x * (1.0 - relative_error), 0.0), 0.0)
        high = np.where(x > 0.0, np.nextafter(x * (1.0 + relative_error), np.inf), 0.0)
    workspace.row[inner] = rows.row_ptr[component.begin : component.end]
    workspace.x[inner] = x
    component.read(workspace.above)
    proved = Bounds(low, high, workspace.row[inner].copy())
    with np.errstate(all="ignore"):
        prove(component, chain, wanted, proved)
    return proved if proved.width <= wanted else Bounds(low, high)


def _iterate_values(component: Component, wanted: float, bounds: Bounds, *, cold: bool) -> bool:
    """Sweep until values settle and can be enclosed, as `iterate_values` does; False once that promises to take too long.

    If `cold`, nothing is known of the values.
    """
    free, options = component.has_freedom, component.options
    span, work = (component.begin, component.end), component.workspace.sweeping(cold=cold)
    set_out(*span, work, free)
    options.statistics.iterations += work.options.heads_out
    pace = np.array([GOAL * wanted, np.inf, 1.0, 1.0, 0.0])
    chances = 3
    while chances > 0 and not options.statistics.stopped:
        verdict, change = settle_once(*span, work, pace, free, True)
        options.statistics.iterations += 1
        if verdict == GIVE_UP:
            return False
        if verdict == ENCLOSE:
            if component.surround(wanted, bounds, TRIES):
                return True
            chances -= 1
            pace[0] /= 8
            pace[3] = 1
        else:
            options.tell("value iteration", change)
    return False
