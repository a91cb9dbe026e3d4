"""What is known after an iteration of learning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.learn.learner import Alarm
from umdp.learn.parametric_learner import Parametric
from umdp.learning.candidates.guaranteed import Promised
from umdp.learning.returns import return_of
from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver import Bracket, Solution, Status, evaluate
from umdp.spec import Direction, Spec
from umdp.statements.guarantee import Guarantee
from umdp.statements.text import nouns

if TYPE_CHECKING:
    from umdp.learn import Learner
    from umdp.solver.prepared import PolicyValues
    from umdp.solver.proof.certificate import Certificate

__all__ = ["Snapshot"]


class _Lazily:
    """A field that is given as a value, or as a function that returns it when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, snapshot: Any, owner: type) -> Any:
        if snapshot is None:
            raise AttributeError(self._name)  # there is no default
        known = snapshot.__dict__
        found = known[self._name]
        if callable(found):
            found = known[self._name] = found()
        return found

    def __set__(self, snapshot: Any, value: Any) -> None:
        snapshot.__dict__[self._name] = value


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What is known after an iteration.

    Attributes
    ----------
    iteration : 0 is what is believed before any data
    trajectories, steps : how much has been seen
    robust : the robust solution: bracket, policy, nature
    optimistic : the value in the best case, without a proof; None where exploration does not need it
    guarantee : what is promised, and under which conditions; or nothing, and why
    truth : the process itself, where it is known
    reason : why the run ends here; None while it goes on
    partial : whether the iteration was cut short: by a budget, the time, a signal or the end of the data
    ledger : returns how the error rate was spent, and on which counts
    counts : (T,) how often each transition was seen
    evidence : what playing candidates promises; None where none are played
    alarms : what the learner noticed that nobody had said, such as changes of the process
    learner : as it is now
    values : evaluates policies on the process itself, where it is known
    """

    iteration: int
    trajectories: int
    steps: int
    robust: Solution
    optimistic: float | None
    guarantee: Guarantee = _Lazily()  # type: ignore[assignment]
    truth: MDP | None = None
    reason: str | None = None
    partial: bool = False
    ledger: Callable[[], dict[str, Any] | None] | None = field(default=None, repr=False)
    counts: NDArray[np.int64] | None = field(default=None, repr=False)
    evidence: Promised | None = field(default=None, repr=False)
    alarms: tuple[Alarm, ...] = field(default=(), repr=False)
    learner: Learner | None = field(default=None, repr=False)
    values: PolicyValues | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        self.guarantee  # noqa: B018 - how to work it out cannot be carried along
        return self.__dict__

    @property
    def bracket(self) -> Bracket:
        """Bounds on the worst-case value of the learned model."""
        return self.robust.bracket

    @property
    def parameters(self) -> dict[str, dict[str, Any]] | None:
        """The ends of every parameter of a program, and how many samples say so; None without parameters."""
        return self.learner.parameters() if isinstance(self.learner, Parametric) else None

    @property
    def status(self) -> Status:
        """What stands behind the bracket."""
        return self.robust.status

    @property
    def model(self) -> IntervalMDP:
        """The learned interval MDP."""
        assert isinstance(self.robust.model, IntervalMDP)
        return self.robust.model

    @property
    def returns(self) -> tuple[float, float] | None:
        """The bracket as bounds on the return, where rewards were turned around or shifted; otherwise None."""
        return return_of(self.robust.model, self.robust.spec, self.bracket.lower, self.bracket.upper)

    @cached_property
    def promise(self) -> Promised | None:
        """The answer: the better of what the learned model and what playing candidates promise; None where neither does."""
        rises, found = _rises(self.robust.spec), None
        bound = self.bracket.lower if rises else self.bracket.upper
        if self.guarantee.holds:
            found = Promised(bound, rises, self.robust.policy, self.guarantee)
        played = self.evidence
        return played if played is not None and played.holds and played.beats(found) else found

    @property
    def promised(self) -> Bracket:
        """What is proved of the policy: the bracket on the learned model, or the bound by playing where that is better.

        Playing counts only beside a model that promises something itself: what is compared with it rests on both.
        """
        promise = self.promise
        if promise is None or promise.by != "evidence" or not self.guarantee.holds:
            return self.bracket
        return Bracket(promise.bound, promise.bound)

    @property
    def policy(self) -> Policy:
        """The policy that the promise is about; the robust policy, where there is none."""
        if self.evidence is None or self.promise is None:  # the model promises something of its own policy
            return self.robust.policy
        return self.promise.policy

    @cached_property
    def performance(self) -> float | None:
        """The value of the policy on the process itself; None where that is not known."""
        return None if self.truth is None else self._worth(self.truth, self.policy)

    def _worth(self, truth: MDP, policy: Policy) -> float:
        """Return the value of a policy on the process."""
        found = None if self.values is None else self.values.of(truth, policy)
        return evaluate(truth, self.robust.spec, policy).value if found is None else found

    @property
    def estimation_error(self) -> float | None:
        """By how much the learned model promises more than the policy keeps; positive is misleading."""
        kept = self.performance
        if kept is None:
            return None
        if self.policy is not self.robust.policy:  # the model promises something of its own policy
            assert self.truth is not None
            kept = self._worth(self.truth, self.robust.policy)
        estimate = self.bracket.value
        if np.isinf(estimate) and np.isinf(kept):
            return 0.0
        return estimate - kept if _rises(self.robust.spec) else kept - estimate

    @cached_property
    def model_error(self) -> float | None:
        """The mean, over uncertain transitions, of the distance of the true probability to the farther bound."""
        if self.truth is None:
            return None
        from umdp.learning.model_error import mean_distance

        return mean_distance(self.truth.probability, self.model.lower, self.model.upper)

    def certificate(self) -> Certificate:
        """Return a file's worth of proof of the promise and of its level, which `umdp verify` checks in exact arithmetic.

        A promise by the model is proved by the model; one by evidence follows from counts, and these are taken on trust.
        """
        from umdp.learning.candidates.played_certificate import prove_played
        from umdp.solver.proof.prove import prove_learned

        if self.promise is not None and self.promise.by == "evidence":
            return prove_played(self.promise, self.robust)
        if not self.guarantee.holds:
            raise ModelError(f"there is nothing to certify: {self.guarantee}")
        ledger = None if self.ledger is None else self.ledger()
        if ledger is not None and self.evidence is not None and self.guarantee.level is not None:
            ledger = {**ledger, "error_rate": 1 - self.guarantee.level}  # one of two promises was chosen
        return prove_learned(self.robust, ledger, self.guarantee.reasons)

    def row(self) -> dict[str, Any]:
        """Return the snapshot as a row: the numbers, and what stands behind them; the guarantee as `Guarantee.as_dict`."""
        # The bracket of the learned model is met either way; of the process nothing is certified without a promise.
        certified = self.status is not Status.CERTIFIED or self.guarantee.holds
        status = self.status.name.lower() if certified else "solved"
        returns, fresh = self.returns, [alarm for alarm in self.alarms if alarm.fresh]
        return {
            "trajectories": self.trajectories, "steps": self.steps, "iterations": self.iteration,
            "lower": self.bracket.lower, "upper": self.bracket.upper, "optimistic": self.optimistic,
            "guarantee": self.guarantee.as_dict(), "status": status,
            "performance": self.performance, "estimation_error": self.estimation_error,
            "model_error": self.model_error, "reason": self.reason, "partial": self.partial,
            **({} if self.parameters is None else {"parameters": self.parameters}),
            **({} if returns is None else {"return_lower": returns[0], "return_upper": returns[1]}),
            **({} if self.evidence is None else self._promised()),
            **({"alarms": [alarm.as_dict() for alarm in fresh]} if fresh else {}),
        }  # fmt: skip

    def _promised(self) -> dict[str, Any]:
        """Return what is promised, and what playing alone promises, for a row of a run with evidence."""
        return {
            "promised": None if self.promise is None else self.promise.bound,
            "promise": None if self.promise is None else self.promise.as_dict(),
            "evidence": None if self.evidence is None else self.evidence.as_dict(),
        }

    def __repr__(self) -> str:
        seen = f"{self.trajectories} {nouns(self.trajectories, 'trajectory')}"
        said = f"Snapshot {self.iteration}: {self.bracket} after {seen} ({self.guarantee})"
        return said if self.evidence is None or self.promise is None else f"{said}; {self.promise}"

    def _repr_html_(self) -> str:
        from umdp.model.sketch import sketch
        from umdp.statements.text import facts_html

        trajectories, steps = nouns(self.trajectories, "trajectory"), nouns(self.steps, "step")
        facts = [
            ("property", str(self.robust.spec)), ("bracket", str(self.bracket)), ("promise", str(self.guarantee)),
            ("seen", f"{self.trajectories:,} {trajectories}, {self.steps:,} {steps}"),
        ]  # fmt: skip
        if self.returns is not None:
            facts.append(("return", f"{self.returns[0]:.6g} .. {self.returns[1]:.6g}"))
        if self.evidence is not None and self.promise is not None:
            facts.append(("promised", str(self.promise)))
        if self.optimistic is not None:
            facts.append(("optimistic value", f"{self.optimistic:.6g}"))
        if self.performance is not None:
            facts.append(("the policy's true value", f"{self.performance:.6g}"))
        if self.reason is not None:
            facts.append(("ended because", self.reason))
        return facts_html(f"Snapshot {self.iteration}", facts, drawing=sketch(self.policy))


def _rises(spec: Spec) -> bool:
    """Whether larger values are better for the agent."""
    return spec.deciding().agent is not Direction.MIN
