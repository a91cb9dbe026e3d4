"""Vectors for properties of reaching: in rationals where the model is small, moved outwards where it is not.

A Markov chain is solved in rationals by elimination without fractions, component by component.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from umdp.solver.proof.game import Game
from umdp.solver.proof.outward import move_outward
from umdp.verify.document import Bound
from umdp.verify.induction import Arena, Refused
from umdp.verify.property import Question
from umdp.verify.rationals import Number, number, vector

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["reaching_bounds", "solve_exactly"]


def solve_exactly(arena: Arena, picks: dict[int, tuple[int, list[int]]], value: list[Number]) -> None:
    """Write the value of every picked state into `value`; the others are known, and no picks can stay for ever."""
    for component in _components(arena, picks):
        _solve(arena, {s: picks[s] for s in component}, value)


def _solve(arena: Arena, picks: dict[int, tuple[int, list[int]]], value: list[Number]) -> None:
    states = list(picks)
    column = {s: i for i, s in enumerate(states)}
    size, model = len(states), arena.model
    rewards = arena.objective.kind == "R"
    rows = []
    for i, s in enumerate(states):
        choice, given = picks[s]
        row = model.rows[choice]
        line = [0] * size
        line[i] = row.whole
        known = model.reward[choice] * row.whole if rewards else Fraction(0)
        for k, (p, t) in enumerate(zip(given, row.target, strict=True)):
            if not p:
                continue
            if rewards and model.paid is not None:
                known += p * model.paid[model.choice_ptr[choice] + k]
            if t in column:
                line[column[t]] -= p
            else:
                there = value[t]
                if not isinstance(there, Fraction):
                    raise ArithmeticError("a choice may lead to an infinite value")
                known += p * there
        scale = known.denominator
        rows.append([v * scale for v in line] + [known.numerator])
        divisor = math.gcd(*rows[-1])
        rows[-1] = [v // divisor for v in rows[-1]]
    previous = 1
    for k in range(size):
        pivot_row, pivot = rows[k], rows[k][k]
        if pivot <= 0:
            raise ArithmeticError("the chain can stay for ever among the states to be solved")
        for i, line in enumerate(rows):
            if i == k:
                continue
            factor = line[k]
            if i < k:
                line[i] = pivot
            if factor:
                for j in range(k, size + 1):
                    line[j] = (pivot * line[j] - factor * pivot_row[j]) // previous
            elif pivot != previous:
                for j in range(k, size + 1):
                    if line[j]:
                        line[j] = pivot * line[j] // previous
        previous = pivot
    for i, s in enumerate(states):
        value[s] = Fraction(rows[i][size], previous)


def _components(arena: Arena, picks: dict[int, tuple[int, list[int]]]) -> list[list[int]]:
    """Return the strongly connected components of the chain, successors first (Tarjan, without recursion)."""
    after = {
        s: [t for p, t in zip(given, arena.model.rows[c].target, strict=True) if p and t in picks]
        for s, (c, given) in picks.items()
    }
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[list[int]] = []
    done: set[int] = set()
    for root in picks:
        if root in number:
            continue
        work = [(root, iter(after[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while work:
            s, rest = work[-1]
            for t in rest:
                if t not in number:
                    number[t] = low[t] = len(number)
                    stack.append(t)
                    work.append((t, iter(after[t])))
                    break
                if t not in done:
                    low[s] = min(low[s], number[t])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[s])
                if low[s] == number[s]:
                    group: list[int] = []
                    while not group or group[-1] != s:
                        group.append(stack.pop())
                    done.update(group)
                    found.append(group)
    return found


EXACT = 40  # undecided states up to which values are found in rationals
LAST_RESORT = 100  # and up to which they are where nothing else works


def reaching_bounds(arena: Arena, solution: Solution, content: dict[str, Any]) -> dict[bool, Bound]:
    """Return vectors that prove the lower (True) and the upper side; what could not be found is missing.

    The policy and what is claimed of it are changed where some other one proves more.
    """
    size = sum(arena.open)
    sides: dict[bool, Bound] = {}
    known = _known(arena, solution)
    if known is not None:
        bound = Bound(known, [-1] * arena.model.states, [-1] * arena.model.states)
        for lower in (True, False):
            ranked = replace(bound, rank=_ranks(arena, bound, lower=lower))
            if _holds(arena, ranked, lower=lower):
                sides[lower] = ranked
    if size > EXACT and len(sides) < 2:
        for lower in (side for side in (True, False) if side not in sides):
            moved = move_outward(arena, solution, lower=lower)
            if moved is not None:
                moved = replace(moved, rank=_ranks(arena, moved, lower=lower))
                if _holds(arena, moved, lower=lower):
                    sides[lower] = moved
    if len(sides) < 2 and size <= LAST_RESORT:
        with suppress(ArithmeticError, Refused):
            sides = _exactly(arena, content) | sides
    return sides


def _known(arena: Arena, solution: Solution) -> list[Number] | None:
    """Return the values of all states where the solver found them in rationals."""
    values = solution.values
    if values is None or values.task.complement != arena.objective.complement or not values.exact:
        return None
    decided, found = arena.decided, list[Number]()
    for s in range(arena.model.states):
        value: Number | None = values.exact.get(int(values.index[s]))
        if not arena.open[s]:
            value = (
                float("inf") if decided.infinite[s] else Fraction(int(decided.one[s] and arena.objective.kind == "P"))
            )
        elif value is not None and values.task.complement:
            value = 1 - value
        if value is None:
            return None
        found.append(value)
    return found


def _exactly(arena: Arena, content: dict[str, Any]) -> dict[bool, Bound]:
    """Return both sides in rationals: the game's value on one, that of the policy on the other."""
    asked, policy = arena.objective, arena.policy
    best = Game(arena, solve_exactly).run()
    own = None
    if policy is not None and all(arena.decided.usable[c] for s, c in enumerate(policy) if arena.open[s]):
        own = Game(arena, solve_exactly, policy).run()
    if own is None or _falls_short(content["claim"], asked, own.value[arena.model.initial]):
        # The returned policy does not keep its side of the bracket, or is none of one choice per state: some policy does.
        known = policy if policy is not None else arena.model.state_ptr[:-1]
        arena.policy = [best.choice.get(s, c) for s, c in enumerate(known)]
        own = Game(arena, solve_exactly, arena.policy).run()
        content["policy"], content["claim"]["policy"] = arena.policy, False
    below, above = (own, best) if asked.agent_max else (best, own)
    bounds = {}
    for lower, outcome in ((True, below), (False, above)):
        bound = Bound(outcome.value, [-1] * arena.model.states, outcome.trap)
        bounds[lower] = replace(bound, rank=_ranks(arena, bound, lower=lower))
    return bounds


def _falls_short(claim: dict[str, Any], asked: Question, own: Number) -> bool:
    """Whether a policy's value does not reach the bound that it should prove."""
    ends = [number(claim[side], "claim") for side in ("lower", "upper")]
    if asked.complement:
        ends = [1 - ends[1], 1 - ends[0]]
    return own < ends[0] if asked.agent_max else own > ends[1]


def _holds(arena: Arena, bound: Bound, *, lower: bool) -> bool:
    try:
        arena.check_lower(bound) if lower else arena.check_upper(bound)
    except Refused:
        return False
    return True


def _ranks(arena: Arena, bound: Bound, *, lower: bool) -> list[int]:
    """Return ranks for the states whose inequality is tight: the round in which a smaller rank comes into reach."""
    model, asked = arena.model, arena.objective
    rank = [-1] * model.states
    if lower == (asked.kind == "R"):
        return rank
    x = vector(bound.value, "proof", arena.unit)
    all_rows = asked.agent_max != lower
    favour = asked.nature_max == lower
    skipped = (None, 0) if lower else (None,)
    waiting = [s for s in range(model.states) if arena.open[s] and x.top[s] not in skipped]
    ranked = [not arena.open[s] or (lower and x.top[s] == 0) for s in range(model.states)]
    step = 0
    while waiting:
        fresh = []
        for s in waiting:
            top = x.top[s]
            assert top is not None
            for c in arena.rows(s, all_rows, "proof"):
                found = arena.backup(c, x, ranked.__getitem__, favour)
                if found is not None and top * found[1] == found[0] and found[2] == 0:
                    break
            else:
                fresh.append(s)
        if not fresh:
            break
        for s in fresh:
            rank[s], ranked[s] = step, True
        waiting = [s for s in waiting if not ranked[s]]
        step += 1
    return rank if step > 1 else [-1] * model.states
