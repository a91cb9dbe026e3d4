"""Compiled iterations of learning: what `leap` drives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.learn.updates import update
from umdp.model.bounds import are_feasible
from umdp.model.interval import ROUNDING
from umdp.solver.confirm.witness import assemble
from umdp.solver.judge.graph import JudgedQuestion
from umdp.solver.judge.inductive import examine
from umdp.solver.judge.rows import ModelRows, TwoPart
from umdp.solver.kernels.elimination import evaluate
from umdp.solver.kernels.structs import Block, ChainRows, eliminated
from umdp.solver.methods.repetition import renew, resolve
from umdp.source.simulator.kernels import follow, simulate
from umdp.source.simulator.sampling import sample

__all__ = ["appraise", "leap"]

Array = NDArray[Any]
Arrays = tuple[Any, ...]
FAINT = 1e-290  # values that it takes a closer look to tell from 0


@kernel
def appraise(
    n: int,
    index: int,
    origin: Array,
    choice_state: Array,
    choice: Array,
    exits: Array,
    equations: Arrays,
    a: Array,
    work: Array,
    row: Array,
    x: Array,
) -> float:
    """Return what a policy (S,) is worth in the state of an unknown where nature has no choice; nan where it never leaves.

    `equations` are those of the process itself; `row` (n) and `x` (n + 2) are work space.
    """
    comp_ptr, row_ptr, entry_ptr, target, prob, reward = (
        equations[0], equations[1], equations[2], equations[3], equations[4], equations[7]
    )  # fmt: skip
    chain, made = ChainRows(entry_ptr, target, reward, row, prob), eliminated(a, work)
    x[n], x[n + 1] = exits[0], exits[1]
    never = np.zeros(2, np.int64)
    for q in range(n):
        row[q] = -1
        for r in range(row_ptr[q], row_ptr[q + 1]):
            if choice[choice_state[origin[r]]] == origin[r]:
                row[q] = r
        if row[q] < 0:
            return np.nan
    for k in range(comp_ptr.size - 1):
        begin, size = comp_ptr[k], comp_ptr[k + 1] - comp_ptr[k]
        if size == 1:
            total = reward[row[begin]]
            for t in range(entry_ptr[row[begin]], entry_ptr[row[begin] + 1]):
                if target[t] == begin:
                    return np.nan
                total += prob[t] * x[target[t]]
            x[begin] = total
            continue
        if not evaluate(Block(begin, size, 0), chain, x, made, never):
            return np.nan
        for i in range(size):
            x[begin + i] = made.value[i]
    return float(x[index])


@kernel
def _reaches(graph: Arrays, initial: int, weight: Array, halt: Array, horizon: int) -> bool:
    """Do what `explore.reaches` does: whether a trajectory can take a choice of several successors."""
    state_ptr, choice_ptr, successor = graph[0], graph[1], graph[2]
    reached = np.zeros(halt.size, np.bool_)
    frontier, ahead = np.empty(halt.size, np.int64), np.empty(halt.size, np.int64)
    frontier[0], count = initial, 1
    reached[initial] = True
    for _ in range(horizon):
        new = 0
        for i in range(count):
            s = frontier[i]
            if halt[s]:
                continue
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if weight[c] <= 0.0:
                    continue
                if choice_ptr[c + 1] - choice_ptr[c] > 1:
                    return True
                j = successor[choice_ptr[c]]
                if not reached[j]:
                    reached[j] = True
                    ahead[new] = j
                    new += 1
        if new == 0:
            return False
        frontier, ahead, count = ahead, frontier, new
    return False


@kernel
def is_judged(
    rows: ModelRows,
    asked: JudgedQuestion,
    about: Arrays,
    taken: Array,
    x: Array,
    rel: Array,
    parts: tuple[Array, Array],
    shown: tuple[int, float, float],
    sides: tuple[TwoPart, TwoPart, Array, Array],
) -> bool:
    """Whether the judge confirms the values of a solve, and what is shown: a state, its value and the relative error of that.

    `about` has the unknown of every state, the infinite ones, the levels of traps, and whether values are those of not reaching.
    """
    index, infinite, trap, complement = about
    low, high, open_below, open_above = sides
    assemble(index, infinite, complement, x, rel, parts, low, high)
    below, above = examine(rows, asked, low, high, taken, trap, open_below, open_above)
    if below > 0 or above > 0:
        return False
    state, value, away = shown
    least, most = low.base[state] + low.offset[state], high.base[state] + high.offset[state]
    if complement:
        least, most = -most, -least
    # What is shown is rounded outwards by 8 EPS (`rounding.ends`), or exact: that makes good the roundings here.
    return bool(value * (1.0 - away) <= least and most <= value * (1.0 + away))


@kernel
def leap(
    length: int,
    kind: int,
    factor: Array,
    settings: Array,
    first: Array,
    second: Array,
    clock: Array,
    lower: Array,
    upper: Array,
    counts: Array,
    pending: Array,
    so_far: Array,
    most: int,
    patience: int,
    exhaust: bool,
    xi: float,
    halt: Array,
    horizon: int,
    edges: Array,
    how: int,
    random: Array,
    course: Array | None,
    initial: int,
    truth: Array,
    uncertain: Array,
    precision: float,
    by_graph: Array,
    index: int,
    agent_max: bool,
    nature_max: bool,
    careful: bool,
    undecided: Array,
    fixed: Arrays,
    more: Arrays,
    about: Arrays,
    equations: Arrays,
    space: Arrays,
    true_origin: Array,
    true_equations: Arrays,
    robust_start: Array,
    robust_values: Array,
    best_start: Array,
    best_values: Array,
    known: Array,
    lowers: Array,
    uppers: Array,
    seen: Array,
    chosen: Array,
    numbers: Array,
    marks: Array,
    rewards: tuple[Array, Array, Array],
    asked: JudgedQuestion,
    judged: Arrays,
) -> int:
    """Do up to `length` iterations; return how many were done, the last of which may be incomplete (`pending` is not 0).

    An iteration begins with what a snapshot has to say: `lowers`, `uppers` and `seen` (T), `chosen` (S), `numbers` (value and
    relative error, best case, performance, model error) and `marks` (iteration, trajectories, steps, evaluations). It is not
    begun where the trajectories are used up, nothing more can be learned, or a solve needs more than elimination.

    `known` says whether there is something to start from: robust choices, values, the same in the best case. `so_far` counts
    iterations, trajectories, steps and those of the last iteration; none is begun that seems to lead beyond `patience` steps.
    Other arguments are those of `update`, `simulate` or `sample` (where there is a `course`), `renew`, `resolve` and `is_judged`.
    """
    n, states = fixed[0], halt.size
    state_ptr, choice_ptr, successor = fixed[4], fixed[5], fixed[6]
    choices = choice_ptr.size - 1
    found, taken = np.empty(2 * n + 4 + equations[3].size), np.empty(n + states, np.int64)
    weight, share, only = np.empty(choices), np.empty(choices), np.empty(states, np.int64)
    quota, tally, evaluations = np.empty(choices, np.int64), np.empty(choices, np.int64), np.zeros(2, np.int64)
    row, x = np.empty(n, np.int64), np.empty(n + 2)
    worth, valued = np.nan, False
    rows = ModelRows(state_ptr, choice_ptr, successor, lower, upper, rewards[0], rewards[1], rewards[2])
    low, high = TwoPart(np.empty(states), np.empty(states)), TwoPart(np.empty(states), np.empty(states))
    sides = (low, high, np.empty(states, np.bool_), np.empty(states, np.bool_))
    for made in range(length):
        if so_far[1] >= most or so_far[2] + 2 * so_far[3] > patience:
            return made
        if not are_feasible(choice_ptr, lower, upper, ROUNDING):
            return made
        if renew(undecided, fixed, lower, upper, more):
            return made
        evaluations[0] = 0
        begin = robust_start if known[0] else (by_graph if careful else robust_start[:0])
        before = robust_values if known[1] else robust_values[:0]
        if not resolve(
            about, begin, by_graph, before, precision / 2, equations, agent_max, nature_max, precision / 4, space, found, taken,
            evaluations,
        ):  # fmt: skip
            return made
        value, error = found[index], found[n + 2 + index]
        if value < FAINT:
            return made
        parts = (space[7], space[8])
        shown = (initial, value, error)
        if not is_judged(rows, asked, judged, taken[n:], found[: n + 2], found[n + 2 : 2 * n + 4], parts, shown, sides):
            return made
        same = valued
        for s in range(states):
            same = same and robust_start[s] == taken[n + s]
            chosen[made, s] = taken[n + s]
        for q in range(n):
            robust_values[q] = found[q]
        if not same:  # what was appraised before is another policy
            worth = appraise(
                n, index, true_origin, about[3], taken[n:], about[1], true_equations, space[0], space[1], row, x
            )
            valued = True
        for s in range(states):
            robust_start[s] = taken[n + s]
        known[0] = known[1] = True
        optimistic = np.nan
        if xi >= 0.0:
            begin = best_start if known[2] else (by_graph if careful else best_start[:0])
            before = best_values if known[3] else best_values[:0]
            if not resolve(
                about, begin, by_graph, before, np.inf, equations, agent_max, agent_max, np.inf, space, found, taken,
                evaluations,
            ):  # fmt: skip
                return made
            optimistic = found[index]
            for s in range(states):
                best_start[s] = taken[n + s]
            for q in range(n):
                best_values[q] = found[q]
            known[2] = known[3] = True
        for s in range(states):
            size = state_ptr[s + 1] - state_ptr[s]
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if xi < 0.0 or size == 1:
                    weight[c] = 1.0 / size
                else:
                    weight[c] = xi if c == best_start[s] else (1.0 - xi) / (size - 1)
        if not exhaust and not _reaches((state_ptr, choice_ptr, successor), initial, weight, halt, horizon):
            return made
        missed, uncertainties = 0.0, 0
        for t in range(lower.size):
            lowers[made, t], uppers[made, t], seen[made, t] = lower[t], upper[t], counts[t]
            if uncertain[t]:
                missed += max(abs(truth[t] - lower[t]), abs(upper[t] - truth[t]))
                uncertainties += 1
        numbers[made, 0], numbers[made, 1], numbers[made, 2], numbers[made, 3] = value, error, optimistic, worth
        numbers[made, 4] = missed / uncertainties if uncertainties > 0 else 0.0
        marks[made, 0], marks[made, 1], marks[made, 2], marks[made, 3] = (
            so_far[0], so_far[1], so_far[2], evaluations[0]
        )  # fmt: skip

        follow(state_ptr, weight, share, only)
        for c in range(choices):
            total = 0
            for t in range(choice_ptr[c], choice_ptr[c + 1]):
                total += counts[t]
            quota[c] = max(total, 1) if choice_ptr[c + 1] - choice_ptr[c] > 1 else -1
            tally[c] = 0
        if course is None:  # decided when it is compiled, so that who goes step by step does not wait for the rest
            drawn, walked, full = simulate(
                state_ptr, choice_ptr, successor, edges, initial, only, share, halt, horizon, quota, most - so_far[1], random,
                pending, tally,
            )  # fmt: skip
        else:
            drawn, walked, full = sample(
                how, state_ptr, choice_ptr, successor, edges, truth, initial, weight, only, share, halt, horizon, quota,
                most - so_far[1], 2**62, random, course, pending, tally,
            )  # fmt: skip
        so_far[1] += drawn
        so_far[2] += walked
        so_far[3] = walked
        if not full:
            return made + 1
        update(kind, choice_ptr, pending, lower, upper, first, second, clock, factor, settings)
        for t in range(counts.size):
            counts[t] += pending[t]
            pending[t] = 0
        so_far[0] += 1
    return length
