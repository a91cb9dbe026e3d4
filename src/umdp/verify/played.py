"""Certificates by evidence: that a bound follows from how often a policy was played, and what that counted for."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from umdp.errors import FormatError
from umdp.spec import Direction, Spec
from umdp.statements import Premise, Refusal, Statement
from umdp.verify.checker import Verdict
from umdp.verify.document import Model, digest, has_sign, make_model, shown, text_of
from umdp.verify.formulas import check_formulas
from umdp.verify.induction import Refused
from umdp.verify.premise import assume, file_sentences, plain
from umdp.verify.property import objective
from umdp.verify.rationals import is_count, is_double, is_integer
from umdp.verify.statistics import mixture_rules_out

__all__ = ["judge_played"]

PARTS = 100  # of a mixture


def judge_played(content: dict[str, Any]) -> Verdict:
    """Return whether the bound that a certificate by evidence claims follows from its counts, at its level."""
    text = text_of(content, "property")
    spec = Spec.parse(text)
    model = _graph(content, spec)
    given, claim = content.get("evidence"), content.get("claim")
    if not isinstance(given, dict) or not isinstance(claim, dict):
        raise FormatError('"evidence" and "claim" must be objects')
    at_least = spec.deciding().agent is not Direction.MIN
    bound, level = _number(claim, "bound"), _number(claim, "level")
    plays, most = given.get("plays"), _number(given, "most")
    if not is_count(plays):
        raise FormatError("evidence, plays: not a whole number")
    hits, rate = _number(given, "hits"), _number(given, "error_rate")
    spent = [_checked(each, "evidence, spent") for each in _list(given, "spent")]
    rank = given.get("rank")
    if not is_integer(rank, 0, len(spent) - 1):
        raise FormatError("evidence, rank: not the number of a candidate")
    if len(_list(given, "mixture")) > PARTS:
        raise FormatError(f"evidence, mixture: more than {PARTS} distributions")
    mixture = [_distribution(part) for part in _list(given, "mixture")]
    assumed = [assume(Premise.PLAYS), assume(Premise.COUNTED), assume(Premise.CANDIDATES)]
    if spec.kind != "P":
        assumed.append(assume(Premise.RANGE, most=repr(float(most))))
    assumed += file_sentences(given, "evidence")
    refused: Statement | None = None
    try:
        if content.get("digest") != digest(content):
            raise Refused(Refusal.CHANGED)
        _check_policy(content.get("policy"), model)
        if spec.kind == "P" and most != 1:
            raise Refused(Refusal.MOST)
        if not (0 <= hits <= plays) or most <= 0:
            raise Refused(Refusal.PLAYED_HITS)
        if sum(spent, Fraction(0)) > rate:
            raise Refused(Refusal.PLAYED_RATE)
        if not 0 < spent[rank] < 1 or level > 1 - rate:
            raise Refused(Refusal.PLAYED_LEVEL)
        if any(not (w >= 0 and a > 0 and b > 0) for w, a, b in mixture) or sum(part[0] for part in mixture) > 1:
            raise Refused(Refusal.MIXTURE)
        mean = bound / most if at_least else 1 - bound / most
        if not mixture_rules_out(mean, hits, plays, spent[rank], mixture):
            raise Refused(Refusal.PLAYED_BOUND)
    except Refused as refusal:
        refused = refusal.said
    side = f"at least {float(bound)!r}" if at_least else f"at most {float(bound)!r}"
    said = (
        f"with probability at least {float(level)!r} over the data, the value of the policy in the file for {plain(text)} is "
        f"{side}: it was played {plays:,} times, which counted for {float(hits):g} of {float(plays * most):g}, as candidate "
        f"{rank + 1} of {len(spent)}"
    )
    lower, upper = (float(bound), float(most)) if at_least else (0.0, float(bound))
    upper = math.inf if spec.kind == "R" and at_least else upper
    return Verdict(
        refused is None, plain(text), lower, upper, True, float(level), refused, at_least, said, tuple(assumed)
    )  # fmt: skip


def _graph(content: dict[str, Any], spec: Spec) -> Model:
    """Return the states and choices of a certificate, after checking that its property speaks of what is in them."""
    given = content.get("model")
    if not isinstance(given, dict) or not isinstance(given.get("successor"), list):
        raise FormatError("model: not a graph")
    size = len(given["successor"])
    listed = {name: each for name, each in given.items() if name != "probability"}
    model = make_model({**listed, "lower": [0.0] * size, "upper": [1.0] * size}, signed=has_sign(spec))
    check_formulas(content["property"], model.formulas, model.states)
    decided = spec.deciding()
    objective(model, replace(decided, agent=decided.agent or Direction.MAX, nature=Direction.MIN))
    return model


def _check_policy(policy: Any, model: Model) -> None:
    """Refuse a policy that takes a choice which is not one of its state's."""
    if not isinstance(policy, list):
        raise FormatError("policy: not a choice for each of the states")
    for row in policy if policy and isinstance(policy[0], list) else [policy]:
        if not isinstance(row, list) or len(row) != model.states:
            raise Refused(Refusal.POLICY_STATES)
        for state, choice in enumerate(row):
            if type(choice) is not int or choice not in model.of(state):
                raise Refused(Refusal.POLICY_CHOICE, state=state, choice=shown(choice))


def _number(given: dict[str, Any], name: str) -> Fraction:
    return _checked(given.get(name), name)


def _checked(found: Any, place: str) -> Fraction:
    if not is_double(found, 0, 1e15):
        raise FormatError(f"{place}: {shown(found)} is not a number from 0 to 1e15")
    return Fraction(found)


def _list(given: dict[str, Any], name: str) -> list[Any]:
    found = given.get(name)
    if not isinstance(found, list) or not 0 < len(found) < 10_000:
        raise FormatError(f"evidence, {name}: not a list")
    return found


def _distribution(part: Any) -> tuple[Fraction, Fraction, Fraction]:
    if not isinstance(part, list) or len(part) != 3:
        raise FormatError("evidence, mixture: not a list of (weight, a, b)")
    weight, a, b = (_checked(each, "evidence, mixture") for each in part)
    return weight, a, b
