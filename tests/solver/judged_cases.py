"""Random cases for the judge, whose verdicts `judged` works out: vectors that hold with room, or nearly, or are a lie."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

from solver.judged import Arrays, Case


def draw_row(rng: Generator, states: int, simple: bool) -> tuple[list[int], list[float], list[float]]:
    """Draw a row with bounds in sixteenths: one distribution, an interval around one, or with transitions that nature may cut."""
    n = int(rng.choice([1, 1, 2, 2, 3]))
    successor = sorted(rng.choice(states, min(n, states), replace=False).tolist())
    n = len(successor)
    cuts = np.sort(rng.choice(np.arange(1, 16), n - 1, replace=False))
    p = np.diff(np.concatenate([[0], cuts, [16]])) / 16
    if n == 1 or simple:
        return successor, p.tolist(), p.tolist()
    kind = rng.random()
    lower, upper = p.copy(), p.copy()
    if kind < 0.7:
        lower = np.maximum(p - rng.integers(0, 5, n) / 16, 1 / 16)
        upper = np.minimum(p + rng.integers(0, 5, n) / 16, 1.0)
    if 0.4 < kind < 0.7:
        gone = int(rng.integers(n))
        lower[gone] = 0.0
        if rng.random() < 0.6:
            upper[(gone + 1) % n] = 1.0
    elif kind > 0.9 and n > 1:  # upper bounds that sum to 1: they are the distribution, whatever the lower ones are
        lower[int(rng.integers(n))] = 0.0
    elif kind > 0.85:  # listed, but without room
        gone = int(rng.integers(n))
        lower[(gone + 1) % n] += lower[gone]
        upper[(gone + 1) % n] = min(lower[(gone + 1) % n] + (1 / 16 if rng.random() < 0.5 else 0), 1.0)
        lower[gone], upper[gone] = 0.0, float(rng.choice([0.0, p[gone]]))
    return successor, lower.tolist(), upper.tolist()


def draw_arrays(rng: Generator, *, signed: bool = False, pays: bool = True, sink: bool = False) -> Arrays:
    """Draw a model of two to five states; the last one earns nothing and is never left if it is to be a sink."""
    states = int(rng.integers(2, 6))
    simple = rng.random() < 0.35
    state_ptr, choice_ptr = [0], [0]
    successor: list[int] = []
    lower: list[float] = []
    upper: list[float] = []
    for s in range(states):
        last = sink and s == states - 1
        for _ in range(1 if last else int(rng.choice([1, 1, 2, 3]))):
            to, low, high = ([s], [1.0], [1.0]) if last else draw_row(rng, states, simple)
            successor += to
            lower += low
            upper += high
            choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    low_bounds = np.array(lower)
    same = simple and rng.random() < 0.5

    def drawn(count: int) -> Any:
        if not pays or rng.random() < 0.5:
            return np.empty(0)
        found = np.where(rng.random(count) < 0.5, 0.0, rng.integers(1, 9, count) / 4)
        found[-1] = 0.0 if sink else found[-1]
        return found * rng.choice([-1.0, 1.0], count) if signed else found

    return Arrays(
        np.array(state_ptr), np.array(choice_ptr), np.array(successor), low_bounds, low_bounds if same else np.array(upper),
        drawn(states), drawn(len(choice_ptr) - 1), drawn(len(successor)),
    )  # fmt: skip


def iterate(case: Case, below: bool, cost: float) -> Any:
    """Return roughly the vector that a step by the rows that count leads to itself, less (plus) a cost a step."""
    x = np.zeros(case.arrays.states) + (0.0 if case.reward else case.top - 1.0)
    x[np.asarray(case.goal)] = case.top
    worst = min if below else max
    lines = [
        [
            (np.array(line.successor), np.array(line.points, float), np.array(line.paid, float), float(line.earned))
            for line in case.rows(s, below)
        ]
        for s in range(x.size)
    ]
    best = np.max if case.nature_max else np.min
    for _ in range(60):
        for s in range(x.size):
            if not case.goal[s] and case.through[s] and lines[s]:
                found = worst(earned + float(best(points @ (x[to] + paid))) for to, points, paid, earned in lines[s])
                x[s] = max(found - cost, case.bottom) if below else found + cost
                if not case.reward:
                    x[s] = min(x[s], case.top)
    return np.where(x > 1e3 if below else x > 60.0 / max(cost, 0.1), np.inf, x) if case.reward else x


def draw_case(rng: Generator, name: str = "") -> Case:
    """Draw all that `examine` is shown: vectors that hold with room, or nearly, or are a lie in one state."""
    kind = str(rng.choice(["P", "P less 1", "R", "C"], p=[0.35, 0.15, 0.3, 0.2]))
    reward = kind in "RC"
    arrays = draw_arrays(rng, pays=reward, sink=kind == "C" and bool(rng.random() < 0.8))
    states = arrays.states
    goal = rng.random(states) < 0.3
    goal[-1] = True
    if kind == "C":
        goal[:] = False
    through = np.ones(states, np.bool_) if reward else rng.random(states) < 0.85
    agent = int(rng.integers(5))
    all_below, all_above = ((True, False), (False, True), (True, False), (False, True), (False, False))[agent]
    choice = arrays.state_ptr[:-1] + rng.integers(0, np.diff(arrays.state_ptr))
    top = 1.0 if kind == "P" else 0.0
    nature_max = bool(rng.random() < (0.35 if kind == "R" else 0.5))
    nothing = np.zeros(states)
    case = Case(
        arrays, reward, kind == "C", goal, through, nature_max, all_below, all_above, top,
        (nothing, nothing), (nothing, nothing), choice, np.full(states, -1), name,
    )  # fmt: skip
    vectors = []
    for below in (True, False):
        cost = float(rng.choice([0.0, 0.0, 1 / 8, 1 / 64]))
        base = iterate(case, below, cost)
        grid = float(rng.choice([2.0**8, 2.0**14]))
        with np.errstate(invalid="ignore"):
            base = np.where(np.isinf(base), base, np.round(base * grid) / grid)
        offset = np.zeros(states)
        lie, s = rng.random(), int(rng.integers(states))
        if lie < 0.35:
            base[s] = float(
                rng.choice([0.0, 0.5, 1.0, top, top - 1.0, base[rng.integers(states)], np.inf if reward else 0.25])
            )
        elif lie < 0.6 and not np.isinf(base[s]):
            base[s] += float(rng.choice([0.25, 2.0**-6, 2.0**-20, 2.0**-45])) * float(rng.choice([-1, 1]))
        elif lie < 0.75:
            base = np.where(
                rng.random(states) < 0.7, float(rng.choice([0.5, 1.0, 2.0, top, np.inf if reward else top])), base
            )
        if rng.random() < 0.4:  # the same numbers, or nearly, as sums of two
            part = float(rng.choice([0.5, 2.0**-10, 2.0**-60])) * rng.choice([-1.0, 0.0, 1.0], states)
            part[np.isinf(base)] = 0.0
            base, offset = base - part, offset + part
        vectors.append((base, offset))
    trap = np.full(states, -1)
    if rng.random() < 0.85:
        trap = draw_trap(rng, replace(case, low=vectors[0], high=vectors[1]))
    if rng.random() < 0.04:
        choice = choice.copy()
        wrong = int(rng.integers(states))
        choice[wrong] = int(rng.choice([arrays.state_ptr[wrong] - 1, arrays.state_ptr[wrong + 1]]))
    return replace(case, low=vectors[0], high=vectors[1], choice=choice, trap=trap)


def draw_trap(rng: Generator, case: Case) -> Any:
    """Draw levels; of several drafts, the one with the fewest states that are wrong, or any."""
    from_above = case.reward and not case.total
    drafts: list[tuple[int, int, Any]] = []
    for _ in range(12):
        trap = rng.integers(-1, 3, size=case.arrays.states)
        wanted = case.low[0] == math.inf if case.reward else case.high[0] < case.top
        if rng.random() < 0.7:
            trap = np.where(
                wanted & ~np.asarray(case.goal), np.maximum(trap, 0), np.where(rng.random(trap.size) < 0.7, -1, trap)
            )
        draft = replace(case, trap=trap)
        every = case.all_below if case.reward else case.all_above
        if case.total:
            wrong = sum(trap[s] >= 0 and s not in draft.rich() for s in range(trap.size))
        else:
            wrong = sum(bool(trap[s] >= 0 and (case.goal[s] or not draft.held(s, every))) for s in range(trap.size))
        missing = int((wanted & (trap < 0)).sum()) if from_above or case.total else 0
        drafts.append((wrong + missing, len(drafts), trap))
    drafts.sort()
    return drafts[0 if rng.random() < 0.7 else int(rng.integers(len(drafts)))][2]


@cache
def cases(count: int, seed: int = 11) -> list[Case]:
    """Return cases, the verdicts of which are worked out: every other one passes on a side, or fails in one state alone."""
    out: list[Case] = []
    number = 0
    while len(out) < count:
        case = draw_case(np.random.default_rng([seed, number]), f"case {number}")
        number += 1
        must, may = case.must_refuse, case.may_refuse
        telling = any(len(a) == 1 or (len(b) == 0) for a, b in zip(must, may, strict=True))
        if telling or number % 4 == 0:
            out.append(case)
    return out


PREPARED = (lambda: cases(1200),)
