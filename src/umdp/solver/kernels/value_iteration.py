"""Compiled loop over components of middle size: sweeps until values settle, then bounds from both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.clock import is_up
from umdp.solver.kernels.rounding import around, compose
from umdp.solver.kernels.singles import solve_singles
from umdp.solver.kernels.structs import (
    Section,
    SingleOptions,
    Sweeping,
    SystemRows,
    chain_of,
    inherit,
    read,
)
from umdp.solver.kernels.sweeps import ENCLOSE, GIVE_UP, GO_ON, TRIES, assess, enclose, follow, reach, sweep
from umdp.solver.kernels.two_part import answer

__all__ = ["GOAL", "MARGIN", "iterate_values", "keep", "longest", "set_out", "settle_once"]

Array = NDArray[Any]
START, FOLLOW = 32, 4  # sweeps over the rows given, to begin with; over the rows taken, between sweeps over all

GOAL, MARGIN = 0.15, 0.45  # shares of what bounds may be apart: the error of settled values, the first guess at a bound


@kernel
def longest(rows: SystemRows) -> int:
    """Return the largest number of components with edges within on a path."""
    comp_ptr, row_ptr, entry_ptr, target = rows.comp_ptr, rows.row_ptr, rows.entry_ptr, rows.target
    n = row_ptr.size - 1
    level = np.empty(n + 2, np.int32)
    level[n] = level[n + 1] = 0
    most = 0
    for k in range(comp_ptr.size - 1):
        begin, end = comp_ptr[k], comp_ptr[k + 1]
        deepest, loops = 0, 0
        for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[end]]):
            if target[t] < begin or target[t] >= end:
                deepest = max(deepest, level[target[t]])
            else:
                loops = 1
        deepest += loops
        for s in range(begin, end):
            level[s] = deepest
        most = max(most, deepest)
    return most


@kernel(allocates=False)
def iterate_values(first: int, stop: int, most: int, work: Sweeping) -> int:
    """Solve the components `first` to `stop`, in order; return the index of the first that needs something else.

    That is one with more than `most` states, or whose values do not settle in time, or any once time is up.
    """
    rows, found, space = work.rows, work.found, work.space
    comp_ptr, row_ptr, slack = rows.comp_ptr, rows.row_ptr, rows.slack
    above, below, wanted, ceiling = space.above, space.below, work.options.wanted, work.options.ceiling
    single = SingleOptions(wanted, 0.0, ceiling, first < 0)
    k = first
    while k < stop:
        begin, end = comp_ptr[k], comp_ptr[k + 1]
        if end - begin > most:
            return k
        if end - begin == 1:
            solved = solve_singles(k, stop, rows, space.row, found, work.players, single)
            if solved > k:
                k = solved
                continue
        inherited, loops = inherit(begin, end, rows, found.relative_error)
        free = False
        if rows.order.size > 0:
            for row in range(row_ptr[begin], row_ptr[end]):
                free = free or slack[row] > 0.0
        set_out(begin, end, work, free)
        if not _settle(begin, end, work, free, loops):
            return k
        keep(begin, end, below[begin:end], above[begin:end], ceiling, inherited, found.x, found.relative_error)
        _answer(Section(begin, end, rows, space.row, work.players), work, free)
        k += 1
    return stop


@kernel(allocates=False)
def _answer(part: Section, work: Sweeping, free: bool) -> None:
    """Write nature's best distributions against the values, where it is `free` to choose."""
    if free:
        answer(part, work.found.x, work.space.tail, work.found.row, work.found.prob)


@kernel(allocates=False)
def set_out(begin: int, end: int, work: Sweeping, free: bool) -> None:
    """Look for rows and values to start from."""
    rows, found, above = work.rows, work.found, work.space.above
    part = Section(begin, end, rows, work.space.row, work.players)
    if work.options.heads_out:
        # From below, staying looks cheap for long. Start from rows that lead to small numbers, where the exits are.
        most_paid = 0.0
        for row in range(rows.row_ptr[begin], rows.row_ptr[end]):
            most_paid = max(most_paid, rows.reward[row])
        read(begin, end, rows, found.x, above)
        for s in range(begin, end):
            above[s] = (1.0 + most_paid) * (s - begin + 1.0)
        sweep(part, above, found.row)
    if work.options.proper:
        chain = chain_of(rows, found.row, found.prob)
        for _ in range(START // 8):
            _answer(part, work, free)
            if follow(begin, end, 8, chain, found.x, above, rows.order.size == 0, 0.0) < 1e-2:
                break


@kernel(allocates=False)
def settle_once(begin: int, end: int, work: Sweeping, pace: Array, free: bool, loops: bool) -> tuple[int, float]:
    """Sweep a component once, and then its strategies alone if it goes on; return what to do next, and the change.

    `pace` is as in `assess`.
    """
    rows, found = work.rows, work.found
    part = Section(begin, end, rows, work.space.row, work.players)
    change, switched = sweep(part, found.x, found.row)
    pace[4] += 1.0
    verdict = assess(pace, change, switched, end - begin) if loops else ENCLOSE
    if verdict == GO_ON:
        steps = FOLLOW if pace[1] < np.inf and pace[4] > 1.0 else 0
        if steps > 0:
            _answer(part, work, free)
            chain, far = chain_of(rows, found.row, found.prob), reach(change, switched, end - begin)
            follow(begin, end, steps, chain, found.x, work.space.above, rows.order.size == 0, far)
        pace[3] = 1.0 + steps
        pace[4] += steps
    return verdict, change


@kernel
def _settle(begin: int, end: int, work: Sweeping, free: bool, loops: bool) -> bool:
    """Sweep a component until its values settle, then bounds; return whether these prove themselves and are narrow enough."""
    pace = np.array([GOAL * work.options.wanted, np.inf, 1.0, 1.0, 0.0])
    chances, done = 3, False
    while not done and chances > 0 and not is_up(work.space.watch):
        verdict, _ = settle_once(begin, end, work, pace, free, loops)
        if verdict == GIVE_UP:
            break
        if verdict == ENCLOSE:
            chances -= 1
            done = _surround(begin, end, work, pace)
            pace[0] /= 8.0
            pace[3] = 1.0
    if loops:
        work.space.counts[0] += int(pace[4])
    return done


@kernel(allocates=False)
def _surround(begin: int, end: int, work: Sweeping, pace: Array) -> bool:
    """Sweep bounds a little above and below the values; return whether both prove themselves in time, and are narrow enough."""
    rows, found, players, space, wanted = work.rows, work.found, work.players, work.space, work.options.wanted
    part = Section(begin, end, rows, space.row, players)
    x, above, below, proof = found.x, space.above, space.below, space.proof
    for from_above in (True, False):
        bound = above if from_above else below
        margin = MARGIN * wanted if from_above else -MARGIN * wanted
        read(begin, end, rows, x, bound)
        for s in range(begin, end):
            bound[s] = x[s] + margin * x[s]
            proof[s] = found.row[s]
        moved = 1
        for _ in range(TRIES):
            pace[4] += 1.0
            moved = enclose(part, bound, proof, from_above)
            if moved == 0:
                break
        if moved > 0:
            return False
        if from_above != players.agent_max:
            for s in range(begin, end):
                found.row[s] = proof[s]
    narrow = True
    for s in range(begin, end):
        narrow = narrow and above[s] - below[s] <= wanted * above[s]
    return narrow


@kernel(allocates=False)
def keep(
    begin: int, end: int, low: Array, high: Array, ceiling: float, inherited: float, x: Array, relative_error: Array
) -> None:
    """Write the middle of two bounds and its relative error, that of the exits included."""
    for s in range(begin, end):
        top = min(high[s - begin], ceiling)
        x[s], own = around(min(max(low[s - begin], 0.0), top), top)
        relative_error[s] = compose(inherited, own)
