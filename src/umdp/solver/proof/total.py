"""Certificates of totals and of discounted sums.

Totals: vectors as for rewards until an end, with ranks and trap levels that say where something is paid. Discounted sums: the
solver's values, refined in integers until a step proves the claim.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from umdp.solver.proof.approximate import NotProved, magnitude, solve_scaled
from umdp.solver.proof.outward import move_outward
from umdp.solver.proof.vectors import reaching_bounds, rounds
from umdp.verify.document import Bound, Model
from umdp.verify.induction import Arena, Refused
from umdp.verify.one_step import OneStep
from umdp.verify.property import Question
from umdp.verify.qualitative import ByGraph
from umdp.verify.rationals import Vector, vector

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["discounted_bound", "total_bounds"]


def total_bounds(solution: Solution, model: Model, asked: Question, content: dict[str, Any]) -> dict[str, Bound]:
    """Return vectors that prove the sides of a total, by the names they have in a file; what could not be found is missing.

    A minimal total is the reward until a state in which the total is nothing. For a maximal one the solver knows where it is
    infinite.
    """
    nothing, policy = (solution.upper == 0).tolist(), content.get("policy")
    if asked.agent_max:
        infinite = (solution.lower == math.inf).tolist()
        decided = ByGraph(nothing, [False] * model.states, infinite, [True] * model.choices)
        arena = Arena(model, asked, decided, policy)
        tried = {side: move_outward(arena, solution, lower=side == "lower") for side in ("lower", "upper")}
        sides = {side: bound for side, bound in tried.items() if bound is not None}
    else:
        sides = reaching_bounds(Arena.of(model, replace(asked, aim="reach", goal=nothing), policy), solution, content)
    if "lower" in sides:
        sides["lower"] = _placed(OneStep(model, asked, policy, upper=False), sides["lower"])
    return sides


def _placed(step: OneStep, bound: Bound) -> Bound:
    """Return a lower bound with ranks where its inequalities are tight, and trap levels where it is infinite."""
    trap, rank = _levels(step, bound)
    x = vector(bound.value, "proof", step.unit)

    def is_ready(s: int, ranked: dict[int, int]) -> bool:
        try:
            return all(step.rises(s, c, x, ranked.__contains__) for c in step.counted(s))
        except Refused:
            return False

    ranked = rounds((s for s, top in enumerate(x.top) if top is not None and top != 0), is_ready)
    rank = [rank[s] if level >= 0 else ranked.get(s, -1) for s, level in enumerate(trap)]
    return Bound(bound.value, rank, trap)


def _levels(step: OneStep, bound: Bound) -> tuple[list[int], list[int]]:
    """Return a trap level and a rank for every infinite state, -1 where none was found."""
    size = step.model.states
    trap, rank = [-1] * size, [-1] * size
    left = {s for s in range(size) if bound.value[s] == math.inf}
    while found := _level(step, left, trap):
        level = max(trap) + 1
        for s, r in found.items():
            trap[s], rank[s] = level, r
        left -= set(found)
    return trap, rank


def _level(step: OneStep, left: set[int], trap: list[int]) -> dict[int, int]:
    """Return the largest set of states that makes one more level, each with its rank."""
    held = left
    while True:
        level = [max(trap) + 1 if s in held else known for s, known in enumerate(trap)]
        ranked = rounds(held, partial(_is_on_level, step, level))
        if len(ranked) == len(held):
            return ranked
        held = set(ranked)


def _is_on_level(step: OneStep, level: list[int], state: int, ranked: dict[int, int]) -> bool:
    """Whether a state stays on its level, and pays or comes nearer to where it does, whatever is chosen."""
    return all(step.goes_on(state, c, level, ranked.__contains__) for c in step.counted(state))


Array = NDArray[Any]
ROUNDS = 40
DIGITS = 60  # binary places behind those of the width that is to be proved


class _Refinement:
    """Values as integers over a power of two, on the states that count, and what one exact step changes of them."""

    def __init__(self, step: OneStep, guess: Array, width: Fraction) -> None:
        self.step = step
        model = step.model
        bits = DIGITS + max(0, 1 - magnitude(width))
        self.unit = max(1 << bits, step.unit)
        self.states = [s for s, needed in enumerate(step.reached) if needed]
        self.place = {s: i for i, s in enumerate(self.states)}
        tops = [
            round(Fraction(float(guess[s])) * self.unit) if math.isfinite(guess[s]) else 0 for s in range(model.states)
        ]
        self.x = Vector(list(tops), self.unit)
        self.discount = step.asked.discount

    def look(self) -> tuple[list[int], list[tuple[int, list[int]]]]:
        """Return what a step changes, rounded away from what is to be proved, with the choices and answers that it takes."""
        step, best = self.step, max if self.step.asked.agent_max else min
        change, picks = [], []
        for s in self.states:
            found = []
            for c in step.counted(s):
                total, below, given = step.collect(c, self.x, self.discount)
                found.append((-(-total // below) if step.upper else total // below, c, given))
            value, c, given = best(found, key=lambda each: each[0])
            change.append(value - self.x.finite(s))
            picks.append((c, given))
        return change, picks

    def solve(self, picks: list[tuple[int, list[int]]], change: list[int]) -> list[int]:
        """Return what the discounted chain of the picks makes of the changes in the end; nothing where that is not found."""
        import scipy.sparse as sp
        from scipy.sparse.linalg import splu

        source, target, entry = [], [], []
        factor = float(self.discount)
        for i, (c, given) in enumerate(picks):
            row = self.step.model.rows[c]
            for p, t in zip(given, row.target, strict=True):
                if p:
                    source.append(i)
                    target.append(self.place[t])
                    entry.append(-factor * (p / row.whole))
        size = len(self.states)
        matrix = sp.csr_matrix((entry, (source, target)), shape=(size, size)) + sp.identity(size, format="csr")
        try:
            return solve_scaled(splu(matrix.tocsc()).solve, change)
        except (RuntimeError, MemoryError, NotProved):
            return [0] * size

    def move(self, by: list[int]) -> None:
        """Add corrections, over the unit."""
        for s, part in zip(self.states, by, strict=True):
            self.x.top[s] = self.x.finite(s) + part


def discounted_bound(step: OneStep, guess: Array, width: Fraction) -> Bound:
    """Return a vector that proves the discounted sum from one side, to well within `width`.

    With D = T x - x, the vector x + min D / (1 - g) rises by a step, and x + max D / (1 - g) falls.
    """
    work = _Refinement(step, guess, width * (1 - step.asked.discount))
    extreme = max if step.upper else min
    enough = int(width * (1 - step.asked.discount) * work.unit) >> 12
    last = None
    change, picks = work.look()
    for _ in range(ROUNDS):
        worst = max(map(abs, change))
        if worst <= enough or (last is not None and 2 * worst > last):
            break
        last, before = worst, list(work.x.top)
        work.move(work.solve(picks, change))
        change, picks = work.look()
        if max(map(abs, change)) > worst:  # strategies that answer each other in turn: a plain step never leads away
            work.x.top[:] = before
            change, picks = work.look()
            work.move([int(c / worst * 2.0**60) * worst >> 60 for c in change])
            change, picks = work.look()
    least = Fraction(extreme(change)) / (1 - step.asked.discount)
    shift = math.ceil(least) if step.upper else math.floor(least)
    values = [Fraction(0)] * step.model.states
    for s in work.states:
        values[s] = Fraction(work.x.finite(s) + shift, work.unit)
    return Bound.unranked(values)
