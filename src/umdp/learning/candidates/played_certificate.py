"""Certificates of promises by evidence: the policy, how often it was played, and what the error rate was spent on."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from umdp.errors import ModelError
from umdp.solver.proof.certificate import Certificate, skeleton
from umdp.verify.checker import verify_content
from umdp.verify.document import digest

if TYPE_CHECKING:
    from umdp.learning.candidates.guaranteed import Promised
    from umdp.solver import Solution

__all__ = ["prove_played"]

LESS = 2.0**-46  # a bound is claimed a little weaker than it was found, for whoever computes with other digits


def prove_played(promise: Promised, solution: Solution) -> Certificate:
    """Return the certificate of a promise by evidence; `solution` says for which model and property.

    Raises
    ------
    ModelError
        Where the checker does not confirm the bound.
    """
    content = skeleton(solution.model, replace(solution.spec, nature=None))  # nobody asks what is worst
    for name in ("lower", "upper"):  # nothing is claimed of the model but its states and choices
        content["model"].pop(name, None)
    slack = LESS * promise.most
    bound = max(promise.bound - slack, 0.0) if promise.at_least else min(promise.bound + slack, promise.most)
    rate, level = Fraction(promise.rate), Fraction(promise.guarantee.level or 0.0)
    shown = float(min(level, 1 - rate))
    evidence: dict[str, Any] = {
        "plays": promise.plays, "hits": promise.hits, "most": promise.most, "rank": promise.rank,
        "spent": list(promise.spent), "error_rate": promise.rate, "mixture": [list(part) for part in promise.prior],
        "assumptions": list(map(str, promise.guarantee.reasons)),
        "assumption_codes": [code.value for code in promise.guarantee.codes],
    }  # fmt: skip
    content |= {
        "claim": {"bound": bound, "level": shown if Fraction(shown) <= 1 - rate else math.nextafter(shown, 0.0)},
        "policy": None if promise.policy.choice is None else promise.policy.choice.tolist(),
        "evidence": evidence,
    }  # fmt: skip
    content["digest"] = digest(content)
    verdict = verify_content(content)
    if not verdict.valid:
        raise ModelError(f"what playing has shown cannot be proved: {verdict.reason}")
    return Certificate(content)
