"""`umdp certify`: play the policy of a run, and promise what it shows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Annotated, ClassVar

from umdp.cli.live import plain
from umdp.cli.options import ENV_ARG, JSON, option, real, share, whole
from umdp.cli.simulate import MODEL, POLICY, SEED, TRUST, Simulate
from umdp.cli.terminal import say
from umdp.spec import Spec

__all__ = ["Certify"]


class _Played(Simulate):
    """The policy and where it is played, as `umdp simulate` finds them."""

    command: ClassVar[str] = "certify"


@dataclass(frozen=True)
class Certify:
    """Play a policy, and promise what it shows: a bound on its own value that holds whenever you stop.

    Nothing but the episodes is used, so that the promise is the same whichever learner found the policy. Of several policies
    of which the best is taken, each needs its share of the error: two at 0.975 make 0.95.

    Exit status: 0 played, 1 --until was not reached, 2 bad input or usage, 130 interrupted.
    """

    policy: POLICY
    model: MODEL = None
    trajectories: Annotated[int, whole("N", "How many to play at most.")] = 10_000
    confidence: Annotated[
        Decimal | None,
        option("0.95", "The probability with which the promise holds; by default 0.95.", parser=share),
    ] = None
    until: Annotated[str | None, option('">=0.3"', "Stop when this is promised.")] = None
    seconds: Annotated[float | None, real("SECONDS", "Stop after this time.")] = None
    most: Annotated[
        float | None, real("REWARD", "The most that an episode can earn or cost, for an expected reward.")
    ] = None
    seed: SEED = 0
    horizon: Annotated[int | None, whole("N", "The most steps of an episode; longer ones count as the worst.")] = None
    property: Annotated[str | None, option("PROPERTY", "What to promise, if not what the policy was found for.")] = None
    env_arg: ENV_ARG = None
    trust: TRUST = False
    json: JSON = False

    def __post_init__(self) -> None:
        """Refuse at once arguments that cannot be read."""
        _ = self._played

    @cached_property
    def _played(self) -> Simulate:
        names = ("policy", "model", "seed", "horizon", "property", "env_arg", "trust", "json")
        return _Played(**{name: getattr(self, name) for name in names})

    def run(self) -> int:
        """Play the policy and print what is promised of it; 0, or 1 where --until was not reached."""
        from umdp.analysis.monte_carlo import certify_fitted
        from umdp.learning.validation import check_budgets, check_until, threshold

        check_budgets(prefix="--", trajectories=self.trajectories, seconds=self.seconds)
        given = self._played
        wanted = None if self.until is None else threshold(self.until)
        rate = float(1 - (self.confidence or Decimal("0.95")))
        subject = given.subject()
        asked = Spec.parse(subject.counted)
        try:
            if wanted is not None:
                check_until(asked, wanted, "--until")
            found = certify_fitted(
                subject.policy, subject.process, asked, error_rate=rate, episodes=self.trajectories, until=wanted,
                seconds=self.seconds, most=self.most, seed=given.seed, horizon=given.horizon,
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
