"""What is known after an iteration of learning, and what there is to say besides numbers, such as how little it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.learn import Learner
from umdp.learn.learner import Alarm, in_lines
from umdp.learn.tied import Tied
from umdp.learning.behaviour import BehaviourValue
from umdp.learning.candidates.candidate import reached_states
from umdp.learning.candidates.guaranteed import GuaranteedBound
from umdp.learning.validation import return_of
from umdp.model import MDP, Graph, IntervalMDP, Policy
from umdp.model.policy import taken_choices
from umdp.solver import Bracket, Solution, Status, evaluate
from umdp.solver.objective import assumed, objective_of
from umdp.solver.prepared import PolicyValues
from umdp.solver.proof.certificate import Certificate
from umdp.source.observed_graph import STAY, UNKNOWN
from umdp.source.source import Source, process_of
from umdp.spec import Spec
from umdp.statements import DiagnosticCode, Statement, say, stated
from umdp.statements.diagnostics import SHIFTS
from umdp.statements.guarantee import Guarantee
from umdp.statements.text import facts_html, nouns

__all__ = ["FEW", "Snapshot", "diagnostics_of", "parameters_in_words"]

Mask = NDArray[np.bool_]

SHOWN = 5  # classes that are spoken of
FEW = 10  # times that a choice should be seen before what was seen of it is taken for all it can do


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
    behaviour : what doing as in the log is worth, where that was asked for
    recorded : whether others collected the data, as with a log
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
    evidence: GuaranteedBound | None = field(default=None, repr=False)
    alarms: tuple[Alarm, ...] = field(default=(), repr=False)
    learner: Learner | None = field(default=None, repr=False)
    values: PolicyValues | None = field(default=None, repr=False)
    behaviour: BehaviourValue | None = None
    recorded: bool = False

    def __getstate__(self) -> dict[str, Any]:
        self.guarantee  # noqa: B018 - how to work it out cannot be carried along
        return self.__dict__

    @property
    def bracket(self) -> Bracket:
        """Bounds on the worst-case value of the learned model."""
        return self.robust.bracket

    @property
    def rises(self) -> bool:
        """Whether larger values are better."""
        return self.robust.spec.rises

    @property
    def bound(self) -> float:
        """The end of the bracket that counts: what the policy keeps at least, or at most, on the learned model."""
        return self.bracket.lower if self.rises else self.bracket.upper

    @property
    def parameters(self) -> dict[str, dict[str, Any]] | None:
        """The ends of every parameter of a program, and how many samples say so; None without parameters."""
        return None if self.learner is None else self.learner.parameters()

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
    def promise(self) -> GuaranteedBound | None:
        """The answer: the better of what the learned model and what playing candidates promise; None where neither does."""
        found, played = None, self.evidence
        if self.guarantee.holds:
            found = GuaranteedBound(self.bound, self.rises, self.robust.policy, self.guarantee)
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
        return estimate - kept if self.rises else kept - estimate

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
        from umdp.learning.candidates.guaranteed import prove_played
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
            **(self._of_log() if self.recorded else {}),
            **({"alarms": [alarm.as_dict() for alarm in fresh]} if fresh else {}),
        }  # fmt: skip

    @property
    def improvement(self) -> float | None:
        """By how much the policy is better than doing as in the log, at least, at the level of the guarantee; None if unknown.

        It is negative where the policy is not shown to be better.
        """
        if self.behaviour is None or not self.guarantee.holds:
            return None
        return self.behaviour.improvement(self.bound, rises=self.rises)

    def _of_log(self) -> dict[str, Any]:
        """Return which state a row of a log is about, and what doing as in the log is worth."""
        told = None if self.behaviour is None else self.behaviour.as_dict()
        start = self.model.state_name(self.model.initial)
        return {"initial": start, "behaviour": told, "improvement": self.improvement}

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


def diagnostics_of(source: Source, spec: Spec, snapshot: Snapshot) -> list[Statement]:
    """Return what the user should know about a run as it is shown by a snapshot, a statement each.

    Parameters
    ----------
    source : where the data come from
    spec : the property, as it was asked
    snapshot : what is known
    """
    process = process_of(source)
    own = spec.aim in ("discounted", "average")  # rewards are taken as the process pays them: no word on shifts
    report = [each for each in map(stated, source.report()) if not (own and each.code in SHIFTS)]
    notes = [*in_lines(snapshot.alarms), *report, *_reset_note(source.graph, spec), *assumed(source.graph, spec)]
    if process.env is not None:
        from umdp.source.environments.time_limit import cut_note

        entry = process.graph.interface is not None and process.graph.interface.entry
        cut = cut_note(process.env, process.name, spec, entry=entry, remembers=source.product is not None)
        notes += [] if cut is None else [cut]
    if source.closed:
        notes.append(_seldom_seen(source.graph, snapshot))
    if (parameters := snapshot.parameters) is not None:
        return [*notes, *parameters_in_words(parameters)]
    return [*notes, *_of_behaviour(snapshot), *_class_notes(snapshot)]


def _of_behaviour(snapshot: Snapshot) -> list[Statement]:
    told, start = snapshot.behaviour, snapshot.model.initial
    return (
        []
        if told is None
        else told.in_words(snapshot.model.state_name(start), snapshot.improvement, rises=snapshot.rises)
    )


def parameters_in_words(given: Mapping[str, Mapping[str, Any]]) -> list[Statement]:
    """Return what is known of every parameter, a line each, rounded outwards.

    Examples
    --------
    >>> parameters_in_words({"p": {"lower": 0.89312, "upper": 0.90651, "samples": 12345}})
    ['p in [0.893, 0.907] after 12,345 samples']
    """
    kept = ("lower", "upper", "samples")
    return [say(DiagnosticCode.PARAMETER, name=name, **{k: each[k] for k in kept}) for name, each in given.items()]


def _class_notes(snapshot: Snapshot) -> list[Statement]:
    """Say what was learned of classes of choices, the largest first."""
    learner = snapshot.learner
    if not isinstance(learner, Tied) or snapshot.counts is None:
        return []
    tying, lower, upper = learner.tying, learner.own_lower, learner.own_upper
    visits = np.where(learner.feeds, learner.per_choice(snapshot.counts), 0)
    samples = np.bincount(tying.choice_class, visits, tying.classes)
    several = np.flatnonzero(tying.sizes > 1)
    notes = []
    for k in several[np.argsort(-tying.sizes[several], kind="stable")][:SHOWN]:
        own = range(tying.outcome_ptr[k], tying.outcome_ptr[k + 1])
        bounds = [(tying.outcome_names[o], float(lower[o]), float(upper[o])) for o in own]
        of = {"name": tying.names[k], "choices": int(tying.sizes[k]), "samples": int(samples[k])}
        notes.append(say(DiagnosticCode.TIED_CLASS, **of, bounds=bounds))
    if several.size > SHOWN:
        notes.append(say(DiagnosticCode.MORE_CLASSES, more=several.size - SHOWN))
    return notes


def _reset_note(graph: Graph, spec: Spec) -> list[Statement]:
    """Say that the reset is a step where a bound on steps counts it."""
    asked = spec.steps(graph)
    if not asked or graph.interface is None or not graph.interface.entry:
        return []
    return [say(DiagnosticCode.RESET_COUNTS, steps=asked)]


def _seldom_seen(graph: Graph, snapshot: Snapshot) -> Statement:
    """Say that what was never seen is taken for impossible, and how many choices of the policy were hardly tried."""
    assert snapshot.learner is not None
    learner = None if snapshot.learner.discovers else snapshot.learner.name
    if snapshot.counts is None or not snapshot.trajectories:  # exploration does not count how often it saw something
        return say(DiagnosticCode.SELDOM_SEEN, learner=learner, few=None, taken=0, often=FEW)
    taken = _taken(graph, snapshot, _final(graph, snapshot.robust.spec))
    few = int((taken & (np.add.reduceat(snapshot.counts, graph.choice_ptr[:-1]) < FEW)).sum())
    return say(DiagnosticCode.SELDOM_SEEN, learner=learner, few=few, taken=int(taken.sum()), often=FEW)


def _final(graph: Graph, spec: Spec) -> Mask:
    """Return the states (S,) after which nothing counts any more."""
    asked = objective_of(graph, spec)
    nowhere = np.zeros(graph.states, dtype=np.bool_)
    return nowhere if asked.absorbing is None else asked.absorbing


def _taken(graph: Graph, snapshot: Snapshot, final: Mask) -> Mask:
    """Return the choices (C,) that the policy takes, at whatever step, in states that it may reach."""
    wanted = taken_choices(snapshot.policy)
    # Nobody took the one choice of a state that was never left.
    alone = np.flatnonzero(np.diff(graph.state_ptr) == 1)
    own = [c for c in graph.state_ptr[alone].tolist() if graph.action_name(c) in (STAY, UNKNOWN)]
    wanted[own] = False
    wanted &= ~final[graph.choice_state]
    return wanted & reached_states(graph, wanted)[graph.choice_state]
