"""Certificates of totals and of discounted sums.

Totals: vectors as for rewards until an end, with ranks and trap levels that say where something is paid. Discounted sums: the
solver's values, refined in integers until a step proves the claim.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.proof.outward import move_outward
from umdp.solver.proof.vectors import reaching_bounds
from umdp.verify.document import Bound, Model
from umdp.verify.induction import Arena, Refused
from umdp.verify.one_step import OneStep, Placing, TotalArena
from umdp.verify.property import Question
from umdp.verify.qualitative import ByGraph, SearchGraph, decide
from umdp.verify.rationals import Vector, vector

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["discounted_bound", "total_bounds"]


def total_bounds(solution: Solution, model: Model, asked: Question, content: dict[str, Any]) -> dict[str, Bound]:
    """Return vectors that prove the sides of a total, by the names they have in a file; what could not be found is missing.

    A minimal total is the reward until a state in which the total is nothing. For a maximal one the solver knows where it is
    infinite.
    """
    nothing = (solution.upper == 0).tolist()
    if asked.agent_max:
        endless = (solution.lower == float("inf")).tolist()
        decided = ByGraph(nothing, [False] * model.states, endless, [True] * model.choices)
    else:
        decided = decide(SearchGraph(model), "R", False, nothing, asked.left)
    arena = Arena(model, asked, decided, content.get("policy"))
    if asked.agent_max:
        tried = {lower: move_outward(arena, solution, lower=lower) for lower in (True, False)}
        found = {lower: bound for lower, bound in tried.items() if bound is not None}
    else:
        as_reaching = Arena(model, replace(asked, aim="reach", goal=nothing), decided, content.get("policy"))
        found = reaching_bounds(as_reaching, solution, content)
    own = TotalArena(model, asked, content.get("policy"))
    sides = {}
    if True in found:
        sides["lower"] = _placed(own, found[True])
    if False in found:
        sides["upper"] = found[False]
    return sides


def _placed(arena: TotalArena, bound: Bound) -> Bound:
    """Return a lower bound with ranks where its inequalities are tight, and trap levels where it is infinite."""
    trap, rank = _levels(arena, bound)
    x = vector(bound.value, "proof", arena.unit)
    waiting = [s for s, top in enumerate(x.top) if top is not None and top != 0]
    ranks = [-1] * arena.model.states
    turn = 0
    while waiting:
        trial = [turn if r < 0 else r for r in ranks]  # of those without a rank nobody is nearer
        fresh = [s for s in waiting if _rises(arena, s, x.top[s] or 0, x, trial)]
        if not fresh:
            break
        for s in fresh:
            ranks[s] = turn
        waiting = [s for s in waiting if ranks[s] < 0]
        turn += 1
    return Bound(bound.value, [r if level < 0 else k for r, k, level in zip(ranks, rank, trap, strict=True)], trap)


def _rises(arena: TotalArena, state: int, top: int, x: Any, rank: list[int]) -> bool:
    try:
        rows = arena.rows(state, not arena.objective.agent_max, "proof")
        return all(arena.rises(state, top, c, x, rank) for c in rows)
    except Refused:
        return False


def _levels(arena: TotalArena, bound: Bound) -> tuple[list[int], list[int]]:
    """Return a trap level and a rank for every infinite state, -1 where none was found."""
    size = arena.model.states
    trap, rank = [-1] * size, [-1] * size
    left = {s for s in range(size) if bound.value[s] == float("inf")}
    level = 0
    while left:
        found = _level(arena, left, trap)
        if not found:
            break
        for s, r in found.items():
            trap[s], rank[s] = level, r
        left -= set(found)
        level += 1
    return trap, rank


def _level(arena: TotalArena, left: set[int], trap: list[int]) -> dict[int, int]:
    """Return the largest set of states that makes one more level, each with its rank."""
    held = set(left)
    while True:
        ranked: dict[int, int] = {}
        turn = 0
        while True:

            def place(t: int, held: set[int] = held, ranked: dict[int, int] = ranked) -> Placing:
                if trap[t] >= 0:
                    return Placing.BELOW
                if t not in held:
                    return Placing.OUTSIDE
                return Placing.NEARER if t in ranked else Placing.LEVEL

            fresh = [
                s
                for s in held
                if s not in ranked
                and all(arena.goes_on(c, place) for c in arena.rows(s, not arena.objective.agent_max, "proof"))
            ]
            if not fresh:
                break
            ranked |= dict.fromkeys(fresh, turn)
            turn += 1
        if len(ranked) == len(held):
            return ranked
        held = set(ranked)


Array = NDArray[Any]
ROUNDS = 40
DIGITS = 60  # binary places behind those of the width that is to be proved


class _Refinement:
    """Values as integers over a power of two, on the states that count, and what one exact step changes of them."""

    def __init__(self, step: OneStep, guess: Array, width: Fraction) -> None:
        self.step = step
        model = step.model
        bits = DIGITS + max(0, 1 - _log2(width))
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
            for c in step.rows(s):
                total, below, given = step.backup(c, self.x, self.discount)
                found.append((-(-total // below) if step.upper else total // below, c, given))
            value, c, given = best(found, key=lambda each: each[0])
            here = self.x.top[s]
            assert here is not None
            change.append(value - here)
            picks.append((c, given))
        return change, picks

    def matrix(self, picks: list[tuple[int, list[int]]]) -> Any:
        """Return one minus the discounted chain of the picks, in floating point."""
        import scipy.sparse as sp

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
        return (sp.csr_matrix((entry, (source, target)), shape=(size, size)) + sp.identity(size, format="csr")).tocsc()

    def move(self, by: Array, scale: int) -> None:
        """Add corrections, given in parts of `scale` over the unit."""
        for s, part in zip(self.states, by.tolist(), strict=True):
            here = self.x.top[s]
            assert here is not None
            self.x.top[s] = here + (int(part * 2.0**60) * scale >> 60)


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
        last, kept = worst, list(work.x.top)
        work.move(_solved(work.matrix(picks), change, worst), worst)
        change, picks = work.look()
        if max(map(abs, change)) > worst:  # strategies that answer each other in turn: a plain step never leads away
            work.x.top[:] = kept
            change, picks = work.look()
            work.move(np.array([c / worst for c in change]), worst)
            change, picks = work.look()
    least = Fraction(extreme(change)) / (1 - step.asked.discount)
    shift = math.ceil(least) if step.upper else math.floor(least)
    return _bound(work, shift)


def _solved(matrix: Any, change: list[int], worst: int) -> Array:
    from scipy.sparse.linalg import splu

    scaled = np.array([float((c << 60) // worst) * 2.0**-60 for c in change])
    try:
        found: Array = splu(matrix).solve(scaled)
    except (RuntimeError, MemoryError):
        return np.zeros(len(change))
    return found if bool((np.abs(found) < 1e200).all()) else np.zeros(len(change))


def _bound(work: _Refinement, shift: int) -> Bound:
    model = work.step.model
    values = [Fraction(0)] * model.states
    for s in work.states:
        here = work.x.top[s]
        assert here is not None
        values[s] = Fraction(here + shift, work.unit)
    none = [-1] * model.states
    return Bound(list(values), none, none)


def _log2(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()
