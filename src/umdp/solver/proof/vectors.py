"""Vectors for properties of reaching: in rationals where the model is small, moved outwards where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from umdp.solver.proof.game import Game
from umdp.solver.proof.outward import move_outward
from umdp.verify.document import Bound
from umdp.verify.induction import Arena, Refused
from umdp.verify.property import Question
from umdp.verify.rationals import Number, number, vector

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["reaching_bounds", "rounds"]


EXACT = 40  # undecided states up to which values are found in rationals
LAST_RESORT = 100  # and up to which they are where nothing else works


def reaching_bounds(arena: Arena, solution: Solution, content: dict[str, Any]) -> dict[str, Bound]:
    """Return vectors that prove the sides, by the names they have in a file; what could not be found is missing.

    The policy and what is claimed of it are changed where some other one proves more.
    """
    size, sides = sum(arena.open), dict[str, Bound]()
    finders: list[Callable[[bool], Bound | None]] = [lambda _: _known(arena, solution)]
    if size > EXACT:
        finders.append(lambda lower: move_outward(arena, solution, lower=lower))
    for find in finders:
        for side in ("lower", "upper"):
            bound = None if side in sides else find(side == "lower")
            if bound is not None:
                with suppress(Refused):
                    bound = _ranked(arena, bound, lower=side == "lower")
                    arena.check(bound, upper=side == "upper")
                    sides[side] = bound
    if len(sides) < 2 and size <= LAST_RESORT:
        with suppress(ArithmeticError, Refused):
            sides = _exactly(arena, content) | sides
    return sides


def _known(arena: Arena, solution: Solution) -> Bound | None:
    """Return the values of all states where the solver found them in rationals."""
    values = solution.values
    if values is None or values.task.complement != arena.asked.complement or not values.exact:
        return None
    found: list[Number] = []
    for s in range(arena.model.states):
        value: Number | None = values.exact.get(int(values.index[s]))
        if not arena.open[s]:
            value = arena.decided.value(s, arena.asked.kind)
        elif value is not None and values.task.complement:
            value = 1 - value
        if value is None:
            return None
        found.append(value)
    return Bound.unranked(found)


def _exactly(arena: Arena, content: dict[str, Any]) -> dict[str, Bound]:
    """Return both sides in rationals: the game's value on one, that of the policy on the other."""
    asked, policy = arena.asked, arena.policy
    best = Game(arena).run()
    own = None
    if policy is not None and all(arena.decided.usable[c] for s, c in enumerate(policy) if arena.open[s]):
        own = Game(arena, policy).run()
    if own is None or _falls_short(content["claim"], asked, own.value[arena.model.initial]):
        # The returned policy does not keep its side of the bracket, or is none of one choice per state: some policy does.
        known = policy if policy is not None else arena.model.state_ptr[:-1]
        arena.policy = [best.choice.get(s, c) for s, c in enumerate(known)]
        own = Game(arena, arena.policy).run()
        content["policy"], content["claim"]["policy"] = arena.policy, False
    below, above = (own, best) if asked.agent_max else (best, own)
    return {
        side: _ranked(arena, Bound.unranked(outcome.value, trap=outcome.trap), lower=side == "lower")
        for side, outcome in (("lower", below), ("upper", above))
    }


def _falls_short(claim: dict[str, Any], asked: Question, own: Number) -> bool:
    """Whether a policy's value does not reach the bound that it should prove."""
    ends = [number(claim[side], "claim") for side in ("lower", "upper")]
    if asked.complement:
        ends = [1 - ends[1], 1 - ends[0]]
    return own < ends[0] if asked.agent_max else own > ends[1]


def _ranked(arena: Arena, bound: Bound, *, lower: bool) -> Bound:
    """Return a bound with ranks where its inequality is tight: the round in which a smaller rank comes into reach."""
    asked = arena.asked
    if lower == (asked.kind == "R"):
        return bound
    x = vector(bound.value, "proof", arena.unit)
    at_end = [not is_open or (lower and top == 0) for is_open, top in zip(arena.open, x.top, strict=True)]

    def is_ready(s: int, ranked: dict[int, int]) -> bool:
        for c in arena.rows(s, asked.agent_max != lower, "proof"):
            found = arena.backup(c, x, lambda t: at_end[t] or t in ranked, asked.nature_max == lower)
            if found is not None and x.finite(s) * found[1] == found[0] and found[2] == 0:
                return False
        return True

    ranked = rounds((s for s, top in enumerate(x.top) if not at_end[s] and top is not None), is_ready)
    if not any(ranked.values()):
        return bound
    return replace(bound, rank=[ranked.get(s, -1) for s in range(arena.model.states)])


def rounds(states: Iterable[int], is_ready: Callable[[int, dict[int, int]], bool]) -> dict[int, int]:
    """Return in which round each state is ready, where that depends on which are from earlier rounds; others are left out."""
    found: dict[int, int] = {}
    waiting, turn = list(states), 0
    while fresh := [s for s in waiting if is_ready(s, found)]:
        found |= dict.fromkeys(fresh, turn)
        waiting = [s for s in waiting if s not in found]
        turn += 1
    return found
