"""`umdp certify`: play the policy of a run, and promise what it shows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from umdp.analysis.monte_carlo import certify_fitted
from umdp.cli.simulate import Playing
from umdp.cli.terminal import say, say_json
from umdp.learning.validation import check_budgets, check_until, threshold
from umdp.spec import Spec

__all__ = ["Certify"]


@dataclass(frozen=True, kw_only=True)
class Certify(Playing):
    """Play a policy, and promise what it shows: a bound on its own value that holds whenever you stop.

    Nothing but the episodes is used, so that the promise is the same whichever learner found the policy. Of several policies
    of which the best is taken, each needs its share of the error: two at 0.975 make 0.95.

    Exit status: 0 played, 1 --until was not reached, 2 bad input or usage, 130 interrupted.

    Options
    -------
    trajectories : N
        How many to play at most.
    confidence : 0.95
        The probability with which the promise holds; by default 0.95.
    until : ">=0.3"
        Stop when this is promised.
    seconds : SECONDS
        Stop after this time.
    most : REWARD
        The most that an episode can earn or cost, for an expected reward.
    horizon : N
        The most steps of an episode; longer ones count as the worst.
    property : PROPERTY
        What to promise, if not what the policy was found for.

    Examples
    --------
    # a promise for the policy of a run
    umdp certify grid.run --trajectories 2000
    # until enough is promised
    umdp certify grid.run --until '>=0.1' --confidence 0.99
    """

    trajectories: int = 10000
    confidence: Decimal | None = None
    until: str | None = None
    seconds: float | None = None
    most: float | None = None
    horizon: int | None = None
    property: str | None = None

    def run(self) -> int:
        """Play the policy and print what is promised of it; 0, or 1 where --until was not reached."""
        check_budgets(prefix="--", trajectories=self.trajectories, seconds=self.seconds)
        wanted = None if self.until is None else threshold(self.until)
        rate = float(1 - (self.confidence or Decimal("0.95")))
        subject = self.subject()
        asked = Spec.parse(subject.counted)
        try:
            if wanted is not None:
                check_until(asked, wanted, "--until")
            found = certify_fitted(
                subject.policy, subject.process, asked, error_rate=rate, episodes=self.trajectories, until=wanted,
                seconds=self.seconds, most=self.most, seed=self.seed, horizon=self.horizon,
            )  # fmt: skip
        finally:
            subject.close()
        ends = (found.bound, math.inf) if found.at_least else (-math.inf, found.bound)
        reached = wanted is None or wanted.holds(*ends)
        before = None if subject.promised is None else subject.promised[0 if found.at_least else 1]
        if self.json:
            about = {"property": subject.question, "model": subject.name, "seed": self.seed}
            say_json({**about, **found.as_dict(), "learned": before})
            return 0 if reached else 1
        say(
            f"{subject.question} with the policy of {self.policy}, in {subject.name}",
            *(f"  {line}" for line in found.lines()),
        )
        if before is not None and subject.guarantee is not None:
            side = "at least" if found.at_least else "at most"
            say(f"  learned   {side} {before:.4g}, {subject.guarantee.get('text', '')}")
        if not reached:
            say(f"  {self.until} was not reached; more trajectories may")
        return 0 if reached else 1
