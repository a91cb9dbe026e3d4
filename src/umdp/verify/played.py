"""Certificates by evidence: that a bound follows from how often a policy was played, and what that counted for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from umdp.errors import FormatError
from umdp.spec import Direction, Spec
from umdp.verify.document import digest
from umdp.verify.inductive import Refused
from umdp.verify.statistics import mixture_rules_out
from umdp.verify.verdict import Verdict

__all__ = ["judge_played"]

TRUST = (
    "taken on trust: that these are the counts of this policy, of all its trajectories since it was fixed, each of which began "
    "alike and did not depend on the others"
)


def judge_played(content: dict[str, Any]) -> Verdict:
    """Return whether the bound that a certificate by evidence claims follows from its counts, at its level."""
    text = content.get("property")
    if not isinstance(text, str) or len(text) > 100_000:
        raise FormatError('"property" is missing or not a text')
    spec = Spec.parse(text)
    given, claim = content.get("evidence"), content.get("claim")
    if not isinstance(given, dict) or not isinstance(claim, dict):
        raise FormatError('"evidence" and "claim" must be objects')
    at_least = spec.deciding().agent is not Direction.MIN
    bound, level = _number(claim, "bound"), _number(claim, "level")
    plays, most = _number(given, "plays"), _number(given, "most")
    if plays.denominator != 1:
        raise FormatError("evidence, plays: not a whole number")
    hits, rate = _number(given, "hits"), _number(given, "error_rate")
    spent = [_checked(each, "evidence, spent") for each in _list(given, "spent")]
    rank = given.get("rank")
    if type(rank) is not int or not 0 <= rank < len(spent):
        raise FormatError("evidence, rank: not the number of a candidate")
    mixture = [tuple(_checked(each, "evidence, mixture") for each in _three(part)) for part in _list(given, "mixture")]
    reason = ""
    try:
        if content.get("digest") != digest(content):
            raise Refused("digest: the file has been changed since it was written")
        _check_policy(content)
        if spec.kind == "P" and most != 1:
            raise Refused("evidence, most: a trajectory counts for 1 at most where a probability is asked for")
        if not (0 <= hits <= plays) or most <= 0:
            raise Refused("evidence, hits: more than there were plays, or less than none")
        if sum(spent, Fraction(0)) > rate:
            raise Refused("evidence, spent: candidates have more than the error rate, all together")
        if not 0 < spent[rank] < 1 or level > 1 - rate:
            raise Refused("claim, level: more is claimed than the error rate leaves")
        if any(not (w >= 0 and a > 0 and b > 0) for w, a, b in mixture) or sum(part[0] for part in mixture) > 1:
            raise Refused("evidence, mixture: not a mixture of distributions")
        mean = bound / most if at_least else 1 - bound / most
        if not mixture_rules_out(mean, hits, int(plays), spent[rank], [(w, a, b) for w, a, b in mixture]):
            raise Refused("claim, bound: the counts do not carry it")
    except Refused as refusal:
        reason = str(refusal)
    side = f"at least {float(bound)!r}" if at_least else f"at most {float(bound)!r}"
    said = (
        f"with probability at least {float(level)!r} over the data, the value of the policy in the file for {text} is {side}: it "
        f"was played {int(plays):,} times, which counted for {float(hits):g} of {float(plays * most):g}, as candidate {rank + 1} "
        f"of {len(spent)}; {TRUST}"
    )
    lower, upper = (float(bound), float(most)) if at_least else (0.0, float(bound))
    upper = math.inf if spec.kind == "R" and at_least else upper
    return Verdict(not reason, text, lower, upper, True, float(level), reason, at_least, said)


def _check_policy(content: dict[str, Any]) -> None:
    """Refuse a policy that takes a choice which is not one of its state's."""
    model, policy = content.get("model"), content.get("policy")
    pointers = model.get("state_ptr") if isinstance(model, dict) else None
    if (
        not isinstance(pointers, list)
        or any(type(each) is not int for each in pointers)
        or not isinstance(policy, list)
    ):
        raise FormatError("model and policy: not a graph with a choice for each of its states")
    rows = policy if policy and isinstance(policy[0], list) else [policy]
    for row in rows:
        if not isinstance(row, list) or len(row) != len(pointers) - 1:
            raise Refused("policy: not a choice for every state")
        for state, choice in enumerate(row):
            if type(choice) is not int or not pointers[state] <= choice < pointers[state + 1]:
                raise Refused(f"policy, state {state}: choice {str(choice)[:20]} is not one of its own")


def _number(given: dict[str, Any], name: str) -> Fraction:
    return _checked(given.get(name), name)


def _checked(found: Any, place: str) -> Fraction:
    if type(found) not in (int, float) or not math.isfinite(found) or not 0 <= found < 1e15:
        raise FormatError(f"{place}: {str(found)[:40]!r} is not a number at least 0")
    return Fraction(found)


def _list(given: dict[str, Any], name: str) -> list[Any]:
    found = given.get(name)
    if not isinstance(found, list) or not 0 < len(found) < 10_000:
        raise FormatError(f"evidence, {name}: not a list")
    return found


def _three(part: Any) -> list[Any]:
    if not isinstance(part, list) or len(part) != 3:
        raise FormatError("evidence, mixture: not a list of (weight, a, b)")
    return part
