"""`umdp certify`: play the policy of a run, and promise what it shows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal

from umdp.cli.simulate import Simulate
from umdp.cli.terminal import say
from umdp.spec import Spec

__all__ = ["Certify"]


@dataclass(frozen=True)
class Certify:
    """One call of `umdp certify`, as typed."""

    played: Simulate
    confidence: Decimal
    trajectories: int
    until: str | None = None
    seconds: float | None = None
    most: float | None = None

    def run(self) -> int:
        """Play the policy and print what is promised of it; 0, or 1 where --until was not reached."""
        from umdp.analysis.direct_evidence import certify_fitted
        from umdp.cli.live import plain
        from umdp.learning.validation import check_budgets, check_until, threshold

        check_budgets(prefix="--", trajectories=self.trajectories, seconds=self.seconds)
        given = self.played
        wanted = None if self.until is None else threshold(self.until)
        subject = given.subject()
        asked = Spec.parse(subject.counted)
        try:
            if wanted is not None:
                check_until(asked, wanted, "--until")
            found = certify_fitted(
                subject.policy, subject.process, asked, error_rate=float(1 - self.confidence), episodes=self.trajectories,
                until=wanted, seconds=self.seconds, most=self.most, seed=given.seed, horizon=given.horizon,
            )  # fmt: skip
        finally:
            subject.close()
        best = (found.bound, float("inf")) if found.at_least else (float("-inf"), found.bound)
        reached = wanted is None or wanted.holds(*best)
        if given.json:
            row = {name: plain(value) for name, value in found.as_dict().items()}
            before = None if subject.promised is None else subject.promised[0 if found.at_least else 1]
            say(json.dumps({"property": subject.question, "model": subject.name, "seed": given.seed, **row,
                              "learned": plain(before)}))  # fmt: skip
            return 0 if reached else 1
        say(f"{subject.question} with the policy of {given.policy}, in {subject.name}")
        for line in found.lines():
            say(f"  {line}")
        if subject.promised is not None and subject.guarantee is not None:
            bound = subject.promised[0 if found.at_least else 1]
            say(
                f"  learned   {'at least' if found.at_least else 'at most'} {bound:.4g}, {subject.guarantee.get('text', '')}"
            )
        if not reached:
            say(f"  {self.until} was not reached; more trajectories may")
        return 0 if reached else 1
