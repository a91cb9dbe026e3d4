"""Certificates of totals: vectors as for rewards until an end, with ranks and trap levels that say where something is paid."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from umdp.solver.proof.outward import move_outward
from umdp.solver.proof.reaching import reaching_bounds
from umdp.verify.document import Bound, Model
from umdp.verify.graph import ByGraph, SearchGraph, decide
from umdp.verify.inductive import Arena, Refused
from umdp.verify.numbers import vector
from umdp.verify.objective import Question
from umdp.verify.total import Placing, TotalArena

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["total_bounds"]


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
