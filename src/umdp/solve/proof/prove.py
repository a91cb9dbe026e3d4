"""From a solution to its certificate: vectors, ranks and trap levels, each checked before it is written."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from umdp.solve.proof.certificate import Certificate, skeleton
from umdp.solve.proof.chain import solve_exactly
from umdp.solve.proof.game import Game
from umdp.verify.document import Bound, make_model, parse
from umdp.verify.graph import Graph, decide
from umdp.verify.inductive import Arena, Refused
from umdp.verify.numbers import Number, vector, written
from umdp.verify.objective import Objective, objective
from umdp.verify.verdict import verify_content

if TYPE_CHECKING:
    from umdp.solve.result import Solution

__all__ = ["prove"]

EXACT = 48  # undecided states up to which values are found in rationals


def prove(solution: Solution) -> Certificate:
    """Return the certificate of a solution; where less can be proved than was found, that is what it claims."""
    content = skeleton(solution.model, solution.spec)
    model = make_model(content["model"])
    asked = objective(model, solution.spec)
    choice = solution.policy.choice
    if choice is not None:
        content["policy"] = choice.tolist()
    lower, upper = solution.bracket.lower, solution.bracket.upper
    content["claim"] = {"lower": written(_exact(lower)), "upper": written(_exact(upper)), "policy": choice is not None}
    content["claim"]["status"] = solution.status.name.lower()
    content["claim"]["level"] = None
    if asked.steps is not None:
        return _settle(content, ())
    return _unbounded(solution, content, model, asked)


def _exact(value: float) -> Number:
    return value if math.isinf(value) else Fraction(value)


def _unbounded(solution: Solution, content: dict[str, Any], model: Any, asked: Objective) -> Certificate:
    decided = decide(Graph(model), asked.kind, asked.agent_max, asked.goal, asked.left)
    policy = content.get("policy")
    arena = Arena(model, asked, decided, policy)
    whole = sum(arena.open)
    if whole > EXACT:
        raise NotImplementedError
    best = Game(arena, solve_exactly).run()
    below = above = best
    if policy is not None and all(decided.usable[c] for s, c in enumerate(policy) if arena.open[s]):
        own = Game(arena, solve_exactly, policy).run()
        below, above = (own, best) if asked.agent_max else (best, own)
    low = Bound(below.value, [-1] * model.states, below.trap)
    high = Bound(above.value, [-1] * model.states, above.trap)
    low, high = replace(low, rank=_ranks(arena, low, lower=True)), replace(high, rank=_ranks(arena, high, lower=False))
    content["lower"], content["upper"] = _written(low), _written(high)
    return _settle(content, ())


def _written(bound: Bound) -> dict[str, Any]:
    part: dict[str, Any] = {"value": [written(value) for value in bound.value]}
    if any(rank >= 0 for rank in bound.rank):
        part["rank"] = bound.rank
    if any(level >= 0 for level in bound.trap):
        part["trap"] = bound.trap
    return part


def _ranks(arena: Arena, bound: Bound, *, lower: bool) -> list[int]:
    """Return ranks for the states whose inequality is tight: the round in which a smaller rank comes into reach."""
    model, asked = arena.model, arena.objective
    rank = [-1] * model.states
    if lower == (asked.kind == "R"):
        return rank
    x = vector(bound.value, "proof", arena.unit)
    all_rows = asked.agent_max != lower
    favour = asked.nature_max == lower
    waiting = [s for s in range(model.states) if arena.open[s] and x.top[s] not in (None, 0 if lower else None)]
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
            return rank
        for s in fresh:
            rank[s], ranked[s] = step, True
        waiting = [s for s in waiting if not ranked[s]]
        step += 1
    return rank


def _settle(content: dict[str, Any], notes: tuple[str, ...]) -> Certificate:
    """Return the certificate if it passes the checker; otherwise claim what does."""
    certificate = Certificate(content, notes)
    return certificate
