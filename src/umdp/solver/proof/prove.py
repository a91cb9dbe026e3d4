"""From a solution to its certificate: vectors, ranks and trap levels, each checked before it is written."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from umdp.solver.objective import objective_of
from umdp.solver.proof.certificate import Certificate, skeleton
from umdp.solver.proof.chain import solve_exactly
from umdp.solver.proof.game import Game
from umdp.solver.proof.outward import move_outward
from umdp.spec import Instantaneous
from umdp.verify.bounded import induct
from umdp.verify.document import Bound, Model, digest, make_model
from umdp.verify.graph import SearchGraph, decide
from umdp.verify.inductive import Arena, Refused
from umdp.verify.numbers import Number, number, vector, written
from umdp.verify.objective import Question, objective
from umdp.verify.verdict import verify_content

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["prove"]

EXACT = 40  # undecided states up to which values are found in rationals
LAST_RESORT = 100  # and up to which they are where nothing else works


def prove(solution: Solution) -> Certificate:
    """Return the certificate of a solution; where less can be proved than was found, that is what it claims."""
    _refuse(solution)
    content = skeleton(solution.model, solution.spec)
    model = make_model(content["model"])
    asked = objective(model, solution.spec)
    choice = solution.policy.choice
    if choice is not None:
        content["policy"] = choice.tolist()
    bracket = solution.bracket
    content["claim"] = {
        "lower": written(_exact(bracket.lower)),
        "upper": written(_exact(bracket.upper)),
        "policy": choice is not None,
        "status": solution.status.name.lower(),
        "level": None,
    }
    if asked.steps is None:
        _prove_unbounded(solution, content, model, asked)
    return _settle(content, model, asked)


def _refuse(solution: Solution) -> None:
    """Raise `SpecError` where the checker has no rule for what is asked."""
    spec = solution.spec
    if spec.aim not in ("reach", "bounded") or isinstance(spec.formula, Instantaneous):
        what = "totals, discounted sums, rewards at one time and long-run averages"
    elif objective_of(solution.model, spec).signed:
        what = "negative rewards"
    else:
        return
    raise spec.error(
        f"there is no certificate for {what} yet", "the bracket is certified all the same: ask without one"
    )


def _exact(value: float) -> Number:
    return value if math.isinf(value) else Fraction(value)


def _prove_unbounded(solution: Solution, content: dict[str, Any], model: Model, asked: Question) -> None:
    """Add the vectors, and the policy that goes with them."""
    decided = decide(SearchGraph(model), asked.kind, asked.agent_max, asked.goal, asked.left)
    policy = content.get("policy")
    arena = Arena(model, asked, decided, policy)
    size = sum(arena.open)
    sides: dict[bool, Bound] = {}
    if size > EXACT:
        for lower in (True, False):
            bound = move_outward(arena, solution, lower=lower)
            if bound is not None:
                bound = replace(bound, rank=_ranks(arena, bound, lower=lower))
                if _holds(arena, bound, lower=lower):
                    sides[lower] = bound
    if len(sides) < 2 and size <= LAST_RESORT:
        with suppress(ArithmeticError, Refused):
            sides = _exactly(arena, content) | sides
    for lower, name in ((True, "lower"), (False, "upper")):
        if lower in sides:
            content[name] = _written(sides[lower])


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


def _settle(content: dict[str, Any], model: Model, asked: Question) -> Certificate:
    """Return the certificate if it passes the checker; otherwise one that claims what does."""
    notes: list[str] = []
    for _ in range(6):
        signed = {**content, "digest": digest(content)}
        verdict = verify_content(signed)
        if verdict.valid:
            return Certificate(signed, tuple(notes))
        notes.append(_weaken(content, model, asked, verdict.reason))
    raise ArithmeticError(f"the certificate does not pass: {verdict.reason}")


def _weaken(content: dict[str, Any], model: Model, asked: Question, reason: str) -> str:
    """Claim less, for a reason; return it in words."""
    claim = content["claim"]
    if reason.startswith("policy"):
        claim["policy"] = False
        return "nothing is claimed of the policy itself"
    side = reason.split(" ", maxsplit=1)[0].strip(",:")
    if "bound:" not in reason:  # the vector itself does not hold
        content.pop(side, None)
        if asked.complement:
            side = {"lower": "upper", "upper": "lower"}[side]
    computed = {"lower": "upper", "upper": "lower"}[side] if asked.complement else side
    if asked.steps is not None:
        policy = content.get("policy") if claim["policy"] and asked.agent_max == (computed == "lower") else None
        found: Number = induct(model, asked, up=computed == "upper", policy=policy, bits=1300)
    elif computed in content:
        found = number(content[computed]["value"][model.initial], "proof")
    else:
        found = Fraction(0) if computed == "lower" else math.inf if asked.kind == "R" else Fraction(1)
    found = 1 - found if asked.complement else found
    claim[side] = written(_rounded(found, up=side == "upper"))
    return f"the {side} bound claimed is {claim[side]}, which is what could be proved"


def _rounded(value: Number, *, up: bool) -> Number:
    """Return the nearest double on the safe side."""
    if not isinstance(value, Fraction):
        return value
    try:
        double = float(value)
    except OverflowError:
        return math.inf if up else Fraction(math.nextafter(math.inf, 0))
    if Fraction(double) < value if up else Fraction(double) > value:
        double = math.nextafter(double, math.inf if up else 0)
    return _exact(double)
