"""Large components: sweeps while values settle fast, Newton's method where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solve.newton import newton
from umdp.solve.part import Bounds, Part
from umdp.solve.rounding import around, compose
from umdp.solve.settle import FOLLOW, GOAL, START
from umdp.solve.sweeps import ENCLOSE, GIVE_UP, TRIES, judge, reach

if TYPE_CHECKING:
    from umdp.solve.desk import Desk

__all__ = ["solve_large"]

Array = NDArray[Any]


def solve_large(desk: Desk, component: int, *, swept: bool) -> None:
    """Solve one component: its values, relative errors, rows and nature's answer; `swept` if sweeps have been tried."""
    part = Part(desk, component)
    inner, x, row, n = part.inner, desk.x, desk.row, part.end - part.begin
    inherited, wanted = desk.inherited(component), desk.wanted
    bounds = Bounds(np.zeros(n), np.full(n, desk.ceiling))
    if swept or not _settle(part, wanted, bounds):
        part.read(desk.above)
        newton(part, x, desk.tail, row, desk.prob, wanted, None if desk.safe is None else desk.safe[inner], bounds)
    if bounds.rows is not None:
        row[inner] = bounds.rows
    keep(part.begin, part.end, bounds.low, bounds.high, desk.ceiling, inherited, x, desk.rel)
    part.answer(x, desk.tail, row, desk.prob)
    desk.tail[inner] = 0.0
    desk.rest[inner] = 0.0


@kernel
def keep(begin: int, end: int, low: Array, high: Array, ceiling: float, inherited: float, x: Array, rel: Array) -> None:
    """Write the middle of two bounds and its relative error, that of the exits included."""
    for s in range(begin, end):
        top = min(high[s - begin], ceiling)
        x[s], own = around(min(max(low[s - begin], 0.0), top), top)
        rel[s] = compose(inherited, own)


def _settle(part: Part, wanted: float, bounds: Bounds) -> bool:
    """Sweep until values settle and can be enclosed, as `settle` does; False once that promises to take too long."""
    desk, n = part.desk, part.end - part.begin
    x, row = desk.x, desk.row
    free = part.has_freedom
    if desk.heads_out:
        part.read(desk.above)
        rewards = part.problem.reward[part.rows]
        desk.above[part.inner] = (1.0 + float(rewards.max(initial=0.0))) * np.arange(1, n + 1)
        part.sweep(desk.above, row)
    if desk.safe is not None:
        for _ in range(START // 8):
            part.answer(x, desk.tail, row, desk.prob)
            if part.follow(x, row, desk.prob, 8) < 1e-2:
                break
    pace = np.array([GOAL * wanted, np.inf, 1.0, 1.0, 0.0])
    chances = 3
    while not part.effort.stopped:
        change, switched = part.sweep(x, row)
        pace[4] += 1
        verdict = judge(pace, change, switched, n)
        if verdict == GIVE_UP:
            return False
        if verdict == ENCLOSE:
            if part.surround(wanted, bounds, TRIES):
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
                part.answer(x, desk.tail, row, desk.prob)
            part.follow(x, row, desk.prob, steps, extrapolate=reach(change, switched, n))
        pace[3] = 1 + steps
        pace[4] += steps
        part.effort.tell("value iteration", change)
    return False
