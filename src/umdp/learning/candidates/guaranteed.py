"""What a run promises by now: of a policy, a bound on its value, and whether the model or playing it stands behind that.

A promise by playing has a certificate of its own: the policy, how often it was played, and what the error rate was spent on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from umdp.errors import ModelError
from umdp.model import Policy
from umdp.solver import Solution
from umdp.solver.proof.certificate import Certificate, skeleton
from umdp.statements.guarantee import Guarantee
from umdp.statements.text import nouns, safe_bound
from umdp.verify.checker import verify_content
from umdp.verify.document import digest

__all__ = ["GuaranteedBound", "prove_played"]

LESS = 2.0**-46  # a bound is claimed a little weaker than it was found, for whoever computes with other digits


@dataclass(frozen=True, eq=False)
class GuaranteedBound:
    """The promise that is the answer of a run: the better of that of the learned model and that of playing a policy.

    Attributes
    ----------
    bound : what is promised of the policy: that its value is at least, or at most, this
    at_least : which of the two
    policy : the policy that the promise is about
    guarantee : how sure that is, and on which conditions
    by : "model", where it follows from the learned model, or "evidence", where it follows from playing the policy
    plays, hits : how often it was played, and what that counted for, of 1 each; 0 for a promise by the model
    spent : the part of the error rate that each candidate got, in the order in which they came
    rank : which of them it is, from 0
    prior : what the mixture puts on each of its parts, a row (weight, a, b) for a Beta distribution; see `lower_end`
    most : the most that a trajectory counts for
    rate : the error rate of all bounds from playing together
    """

    bound: float
    at_least: bool
    policy: Policy
    guarantee: Guarantee
    by: Literal["model", "evidence"] = "model"
    plays: int = 0
    hits: float = 0.0
    spent: tuple[float, ...] = field(default=(), repr=False)
    rank: int = 0
    prior: tuple[tuple[float, float, float], ...] = field(default=(), repr=False)
    most: float = 1.0
    rate: float = field(default=0.0, repr=False)

    @property
    def how(self) -> str:
        """What stands behind the bound, in words.

        Examples
        --------
        >>> from umdp import Graph
        >>> policy = Policy(Graph([0, 1], [0, 1], [0]), [0])
        >>> print(GuaranteedBound(0.3, True, policy, Guarantee("any-time", 0.99), "evidence", 1600, 540.0).how)
        by playing this policy 1,600 times, with probability 99 %, whenever you stop
        """
        return f"{self.source}, {self.guarantee}"

    @property
    def source(self) -> str:
        """What was looked at, in words."""
        if self.by == "model":
            return "by the learned model"
        return f"by playing this policy {self.plays:,} {nouns(self.plays, 'time')}"

    @property
    def holds(self) -> bool:
        """Whether anything is promised that is not clear anyway."""
        return self.guarantee.holds and (self.bound > 0 if self.at_least else self.bound < self.most)

    def beats(self, other: GuaranteedBound | None) -> bool:
        """Whether this one promises more."""
        return other is None or (self.bound > other.bound if self.at_least else self.bound < other.bound)

    def __str__(self) -> str:
        safe = safe_bound(self.bound, 6, at_least=self.at_least)
        return f"{'at least' if self.at_least else 'at most'} {safe:.6g} {self.how}"

    def as_dict(self) -> dict[str, Any]:
        """Return what is promised by name, for JSON; without the policy."""
        return {
            "bound": self.bound, "side": "at least" if self.at_least else "at most", "by": self.by, "plays": self.plays,
            "hits": self.hits, "candidate": self.rank + 1, "candidates": len(self.spent),
            "spent": list(self.spent), "error_rate": self.rate,
            "guarantee": self.guarantee.as_dict(), "text": self.how,
        }  # fmt: skip


def prove_played(promise: GuaranteedBound, solution: Solution) -> Certificate:
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
