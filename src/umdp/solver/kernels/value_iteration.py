"""Compiled loop over components of middle size: sweeps until values settle, then bounds from both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.clock import is_up
from umdp.solver.kernels.rounding import around, compose
from umdp.solver.kernels.singles import solve_singles
from umdp.solver.kernels.sweeps import ENCLOSE, GIVE_UP, TRIES, assess, enclose, follow, reach, sweep
from umdp.solver.kernels.two_part import chain_of

__all__ = ["FOLLOW", "GOAL", "MARGIN", "START", "inherit", "iterate_values", "keep", "longest", "read"]

Array = NDArray[Any]
START, FOLLOW = 32, 4  # sweeps over the rows given, to begin with; over the rows taken, between sweeps over all

GOAL, MARGIN = 0.15, 0.45  # shares of what bounds may be apart: the error of settled values, the first guess at a bound


@kernel
def longest(comp_ptr: Array, row_ptr: Array, entry_ptr: Array, target: Array) -> int:
    """Return the largest number of components with edges within on a path."""
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


@kernel(inline="always")
def inherit(begin: int, end: int, row_ptr: Array, entry_ptr: Array, target: Array, rel: Array) -> tuple[float, bool]:
    """Return the largest error of the values a component reads, and whether it has edges within."""
    inherited, loops = 0.0, False
    for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[end]]):
        j = target[t]
        if begin <= j < end:
            loops = True
        else:
            inherited = max(inherited, rel[j])
    return inherited, loops


@kernel(inline="always")
def read(begin: int, end: int, row_ptr: Array, entry_ptr: Array, target: Array, x: Array, bound: Array) -> None:
    """Copy into `bound` the values a component reads."""
    for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[end]]):
        if target[t] < begin or target[t] >= end:
            bound[target[t]] = x[target[t]]


@kernel
def iterate_values(
    first: int,
    stop: int,
    most: int,
    comp_ptr: Array,
    row_ptr: Array,
    entry_ptr: Array,
    target: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    reward: Array,
    order: Array,
    key: Array,
    prob: Array,
    choice: Array,
    x: Array,
    rel: Array,
    agent_max: bool,
    nature_max: bool,
    proper: bool,
    heads_out: bool,
    wanted: float,
    ceiling: float,
    above: Array,
    below: Array,
    tail: Array,
    proof: Array,
    counts: Array,
    watch: Array,
) -> int:
    """Solve the components `first` to `stop`, in order; return the index of the first that needs something else.

    That is one with more than `most` states, or whose values do not settle in time, or any once time is up by `watch`. Bounds are
    `wanted` apart, relatively, or closer. With `proper` the rows in `choice` are those of a policy to start from; with
    `heads_out` better ones are looked for. No value exceeds `ceiling`.
    """
    pace = np.empty(5)
    plain = order.size == 0
    k = first
    while k < stop:
        begin, end = comp_ptr[k], comp_ptr[k + 1]
        n = end - begin
        if n > most:
            return k
        if n == 1:
            solved = solve_singles(
                k, stop, comp_ptr, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, key, choice, x,
                rel, agent_max, nature_max, wanted, 0.0, ceiling, n < 0,
            )  # fmt: skip
            if solved > k:
                k = solved
                continue
        inherited, loops = inherit(begin, end, row_ptr, entry_ptr, target, rel)
        free = False
        if not plain:
            for row in range(row_ptr[begin], row_ptr[end]):
                if slack[row] > 0.0:
                    free = True
        if heads_out:
            # From below, staying looks cheap for long. Start from rows that lead to small numbers, where the exits are.
            most_paid = 0.0
            for row in range(row_ptr[begin], row_ptr[end]):
                most_paid = max(most_paid, reward[row])
            read(begin, end, row_ptr, entry_ptr, target, x, above)
            for s in range(begin, end):
                above[s] = (1.0 + most_paid) * (s - begin + 1.0)
            sweep(
                begin, end, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, key, above, choice,
                agent_max, nature_max,
            )  # fmt: skip
        if proper:
            for _ in range(START // 8):
                if free:
                    chain_of(
                        begin, end, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, key, x, tail,
                        choice, nature_max, prob,
                    )  # fmt: skip
                if follow(begin, end, 8, entry_ptr, target, prob, reward, x, choice, above, plain, 0.0) < 1e-2:
                    break
        pace[0], pace[1], pace[2], pace[3], pace[4] = GOAL * wanted, np.inf, 1.0, 1.0, 0.0
        chances = 3
        done = False
        while not done and chances > 0 and not is_up(watch):
            change, switched = sweep(
                begin, end, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, key, x, choice, agent_max,
                nature_max,
            )  # fmt: skip
            pace[4] += 1.0
            verdict = assess(pace, change, switched, n) if loops else ENCLOSE
            if verdict == GIVE_UP:
                break
            if verdict == ENCLOSE:
                chances -= 1
                done = True
                for from_above in (True, False):
                    bound = above if from_above else below
                    margin = MARGIN * wanted if from_above else -MARGIN * wanted
                    read(begin, end, row_ptr, entry_ptr, target, x, bound)
                    for s in range(begin, end):
                        bound[s] = x[s] + margin * x[s]
                        proof[s] = choice[s]
                    moved = 1
                    for _ in range(TRIES):
                        pace[4] += 1.0
                        moved = enclose(
                            begin, end, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, key, bound,
                            proof, agent_max, nature_max, from_above,
                        )  # fmt: skip
                        if moved == 0:
                            break
                    if moved > 0:
                        done = False
                        break
                    if from_above != agent_max:
                        for s in range(begin, end):
                            choice[s] = proof[s]
                if done:
                    for s in range(begin, end):
                        if not above[s] - below[s] <= wanted * above[s]:
                            done = False
                pace[0] /= 8.0
                pace[3] = 1.0
                continue
            steps = FOLLOW if pace[1] < np.inf and pace[4] > 1.0 else 0
            if steps > 0:
                if free:
                    chain_of(
                        begin, end, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, key, x, tail,
                        choice, nature_max, prob,
                    )  # fmt: skip
                follow(
                    begin,
                    end,
                    steps,
                    entry_ptr,
                    target,
                    prob,
                    reward,
                    x,
                    choice,
                    above,
                    plain,
                    reach(change, switched, n),
                )
            pace[3] = 1.0 + steps
            pace[4] += steps
        if loops:
            counts[0] += int(pace[4])
        if not done:
            return k
        for s in range(begin, end):
            high = min(above[s], ceiling)
            low = min(max(below[s], 0.0), high)
            x[s], own = around(low, high)
            rel[s] = compose(inherited, own)
        if free:
            chain_of(
                begin, end, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, key, x, tail, choice,
                nature_max, prob,
            )  # fmt: skip
        k += 1
    return stop


@kernel
def keep(begin: int, end: int, low: Array, high: Array, ceiling: float, inherited: float, x: Array, rel: Array) -> None:
    """Write the middle of two bounds and its relative error, that of the exits included."""
    for s in range(begin, end):
        top = min(high[s - begin], ceiling)
        x[s], own = around(min(max(low[s - begin], 0.0), top), top)
        rel[s] = compose(inherited, own)
