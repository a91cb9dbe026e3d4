"""From a solution to its certificate: vectors, ranks and trap levels, each checked before it is written.

That of what was learned has the counts and levels behind the bounds, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from umdp.errors import ModelError
from umdp.model.beginnings import initial_states
from umdp.solver.proof.certificate import Certificate, skeleton
from umdp.solver.proof.gain import average_bound
from umdp.solver.proof.total import discounted_bound, total_bounds
from umdp.solver.proof.vectors import reaching_bounds
from umdp.spec import Spec
from umdp.spec.evaluate import nested_in
from umdp.statements import DiagnosticCode, Statement, codes_of, say
from umdp.statements.checking import OF_CLAIM, OF_POLICY
from umdp.verify.checker import possible, verify_content
from umdp.verify.document import Bound, Model, digest, has_sign, make_model
from umdp.verify.induction import Arena
from umdp.verify.one_step import OneStep
from umdp.verify.property import Question, objective
from umdp.verify.rationals import Number, double, exact, number, written
from umdp.verify.step_bounded import induct

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["prove", "prove_learned"]


def prove(solution: Solution) -> Certificate:
    """Return the certificate of a solution; where less can be proved than was found, that is what it claims."""
    if solution.spec.filter is not None:
        several = initial_states(solution.model).size > 1
        remedy = "give a model with one" if several else "ask without the filter"
        raise solution.spec.error("a certificate is about the value of the one initial state", remedy)
    if next(nested_in(Spec.parse(str(solution.spec)).formula), None) is not None:  # answered, but only here
        raise solution.spec.error(
            "there is no certificate for a property with others inside",
            "the bracket is certified all the same: ask without one",
        )
    content = skeleton(solution.model, solution.spec)
    model = make_model(content["model"], signed=has_sign(solution.spec))
    asked = objective(model, solution.spec)
    choice = solution.policy.choice
    if choice is not None:
        content["policy"] = choice.tolist()
    bracket = solution.bracket
    content["claim"] = {
        "lower": written(exact(bracket.lower)),
        "upper": written(exact(bracket.upper)),
        "policy": choice is not None,
        "status": solution.status.name.lower(),
        "level": None,
    }
    if asked.steps is None:
        content |= {side: _written(bound) for side, bound in _bounds(solution, content, model, asked).items()}
    return _settle(content, model, asked)


def _bounds(solution: Solution, content: dict[str, Any], model: Model, asked: Question) -> dict[str, Bound]:
    """Return vectors that prove the sides, by the names they have in a file; what could not be found is missing."""
    if asked.aim == "total":
        return total_bounds(solution, model, asked, content)
    if asked.aim == "reach":
        return reaching_bounds(Arena.of(model, asked, content.get("policy")), solution, content)
    bracket, found = solution.bracket, dict[str, Bound]()
    width = max(Fraction(bracket.width) if math.isfinite(bracket.width) else Fraction(1), Fraction(1, 2**200))
    for side, end in (("lower", bracket.lower), ("upper", bracket.upper)):
        if math.isinf(end):
            continue
        step = OneStep(model, asked, content.get("policy"), upper=side == "upper")
        if asked.aim == "discounted":
            with np.errstate(invalid="ignore"):
                middle = solution.lower + 0.5 * (solution.upper - solution.lower)
            found[side] = discounted_bound(step, middle, width)
        elif solution.ends is not None:
            found[side] = average_bound(step, solution.ends)
    if asked.aim == "average" and not found:
        why = (
            "of a given policy, or one that rests on what nature may cut"
            if solution.ends is None
            else "that stayed unproved"
        )
        raise solution.spec.error(
            f"there is no certificate for a long-run average {why}",
            "the bracket is certified all the same: ask without one",
        )
    return found


def _written(bound: Bound) -> dict[str, Any]:
    part: dict[str, Any] = {"value": [written(value) for value in bound.value]}
    if bound.gain:
        part["gain"] = [written(value) for value in bound.gain]
    if any(rank >= 0 for rank in bound.rank):
        part["rank"] = bound.rank
    if any(level >= 0 for level in bound.trap):
        part["trap"] = bound.trap
    return part


def _settle(content: dict[str, Any], model: Model, asked: Question) -> Certificate:
    """Return the certificate if it passes the checker; otherwise one that claims what does."""
    notes: list[Statement] = []
    for _ in range(6):
        signed = {**content, "digest": digest(content)}
        verdict = verify_content(signed)
        if verdict.refused is None:
            return Certificate(signed, tuple(notes))
        if verdict.refused.code not in OF_POLICY and "side" not in verdict.refused.data:
            break  # claiming less does not help
        notes.append(_weaken(content, model, asked, verdict.refused))
    raise ArithmeticError(f"the certificate does not pass: {verdict.reason}")


def _weaken(content: dict[str, Any], model: Model, asked: Question, refused: Statement) -> Statement:
    """Claim less, where something is refused of the policy or of a side; return what."""
    claim = content["claim"]
    if refused.code in OF_POLICY:
        claim["policy"] = False
        return say(DiagnosticCode.POLICY_NOT_CLAIMED)
    side = refused.data["side"]
    if refused.code not in OF_CLAIM:  # the vector itself does not hold
        content.pop(side, None)
        side = asked.side(upper=side == "upper")
    computed = asked.side(upper=side == "upper")  # of what is computed, one minus which may have been asked
    if asked.steps is not None:
        policy = content.get("policy") if claim["policy"] and asked.agent_max == (computed == "lower") else None
        found: Number = induct(model, asked, up=computed == "upper", policy=policy, bits=1300)
    elif computed in content:
        signed, values = has_sign(Spec.parse(content["property"])), content[computed]
        found = number(values.get("gain", values["value"])[model.initial], "proof", signed=signed)
    else:
        found = possible(asked)[computed == "upper"]
    found = 1 - found if asked.complement else found
    claim[side] = written(exact(double(found, up=side == "upper")))
    return say(DiagnosticCode.CLAIMED_LESS, side=side, bound=claim[side])


LESS = 1 - 2.0**-50  # levels are written a little smaller, so that they add up to no more than the error rate
ARRAYS = ("lower_hits", "lower_samples", "upper_hits", "upper_samples", "lower_levels", "upper_levels")
BOX = ("own_lower", "own_upper", "prior_lower", "prior_upper", "box_lower", "box_upper", "outcome_function")
EVENTS = ("event_ptr", "event_outcome", "own_lower", "own_upper")
CLASSES = ("class_ptr", "transition_ptr", "transition_outcome")
BY_GRAPH = {"listed": (), "tied": CLASSES, "events": CLASSES + EVENTS, "parametric": CLASSES + BOX}


def prove_learned(
    solution: Solution, ledger: Mapping[str, Any] | None, assumptions: tuple[str, ...] = ()
) -> Certificate:
    """Return a solution's certificate with a learner's ledger, which proves the level too."""
    if ledger is None:
        raise ModelError(
            "there is no level to prove: nothing is promised of what was learned, or this learner keeps no ledger from which its "
            "bounds can be computed again; confidence-sequence and clopper-pearson do"
        )
    kind = ledger.get("graph", "listed")
    if kind not in BY_GRAPH:
        raise ModelError("certificates are for graphs that were given; this one was found in the data")
    base = prove(solution)
    content = dict(base.content)
    learning: dict[str, Any] = {name: ledger[name] for name in ("method", "error_rate", "prior")}
    for name in ARRAYS:
        array = ledger[name] * LESS if name.endswith("levels") else ledger[name]
        learning[name] = array.tolist()
    if kind != "listed":
        learning["graph"] = kind
    learning |= {name: np.asarray(ledger[name]).tolist() for name in BY_GRAPH[kind]}
    if kind == "parametric":
        learning |= {name: ledger[name] for name in ("parameters", "functions", "weights")}
    learning["assumptions"] = list(map(str, assumptions))
    learning["assumption_codes"] = [code.value for code in codes_of(assumptions)]
    content["learning"] = learning
    content["claim"] = {**content["claim"], "level": double(1 - Fraction(float(ledger["error_rate"])), up=False)}
    content["digest"] = digest(content)
    verdict = verify_content(content)
    if not verdict.valid:
        raise ModelError(f"what was learned cannot be proved: {verdict.reason}")
    return Certificate(content, base.notes)
