"""What holds a promise back: transitions, choices and classes, ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.analysis.forecast import Forecast, forecast
from umdp.analysis.worst_case import WorstCase
from umdp.learn import Learner
from umdp.learn.parametric_learner import Parametric
from umdp.learn.tied import Tied
from umdp.model import IntervalMDP
from umdp.solver import Solution
from umdp.spec import Spec, Threshold
from umdp.statements.guarantee import Guarantee

__all__ = [
    "Explained",
    "Explanation",
    "HeldChoice",
    "HeldClass",
    "HeldParameter",
    "HeldTransition",
    "explained",
    "held_parameters",
]

Array = NDArray[Any]
NOTHING = 1e-12  # what holds back less than this, relative to the promise, is rounding


@dataclass(frozen=True)
class HeldTransition:
    """A bound that holds the promise back.

    Attributes
    ----------
    state, action, successor : the transition, by names
    transition : its number
    bound : "lower" or "upper", whichever nature makes use of
    lower, upper : the bounds
    samples : how often its choice was taken, of its class if it is tied; None where nobody counted
    visits : how often the choice is taken in expectation, by the robust policy in the worst case
    difference : the value of the successor less that of the one that gives way where the bound moves
    gain : what the promise gains for every unit by which the bound is tighter: visits times difference
    holds_back : gain times the width of the interval
    """

    state: str
    action: str
    successor: str
    transition: int
    bound: str
    lower: float
    upper: float
    samples: int | None
    visits: float
    difference: float
    gain: float
    holds_back: float


@dataclass(frozen=True)
class HeldChoice:
    """A choice behind what lies between the promise and what counts suggest.

    Attributes
    ----------
    state, action : the choice, by names
    choice : its number
    samples : how often it was taken; None where nobody counted
    visits : how often it is taken in expectation, as counts suggest
    holds_back : how much of the difference is due to it; over all choices they sum to it, if it is finite
    """

    state: str
    action: str
    choice: int
    samples: int | None
    visits: float
    holds_back: float


@dataclass(frozen=True)
class HeldClass:
    """A class of choices that share their distribution, and an outcome of it.

    Attributes
    ----------
    name, outcome : of the class and its outcome
    choices : how many choices of the class the policy takes
    lower, upper : the bounds of the outcome
    samples : how often the class was seen where its outcomes can be told apart
    gain, holds_back : the sums of those of all transitions along which the outcome leads
    """

    name: str
    outcome: str
    choices: int
    lower: float
    upper: float
    samples: int
    gain: float
    holds_back: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """What holds a promise back, and how much more a target would take.

    Attributes
    ----------
    spec : the property, with nature
    promise : the worst case: the lower bound of what is to be large, the upper one of what is to be small; whether it is promised
        of the process is said by `guarantee`
    estimate : what the same policy is worth with the probabilities that counts suggest
    basis : "worst case", or "estimate" where the worst case is decided before any single bound can matter
    transitions, choices, classes, parameters : ranked, what holds back most first; classes where choices are tied, parameters
        where a program has unknown constants
    forecast : how much more a target would take, if one was asked for: an estimate
    rises : whether larger values are better
    played : what is promised by playing a policy, where that is more; otherwise None
    guarantee : what stands behind the promise, for the process; None for a model that was not learned

    Examples
    --------
    >>> from umdp import IntervalMDP, explain
    >>> model = IntervalMDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1],
    ...                     labels={"goal": [1]})
    >>> found = explain(model, 'Pmaxmin=? [ F "goal" ]')
    >>> round(found.promise, 6), round(found.estimate, 6), found.transitions[0].successor, found.transitions[0].gain
    (0.2, 0.35, '1', 1.0)
    """

    spec: Spec
    promise: float
    estimate: float
    basis: str
    transitions: tuple[HeldTransition, ...]
    choices: tuple[HeldChoice, ...]
    classes: tuple[HeldClass, ...]
    forecast: Forecast | None = None
    rises: bool = True
    guarantee: Guarantee | None = None
    played: str | None = None
    parameters: tuple[HeldParameter, ...] = ()

    @property
    def promised(self) -> bool:
        """Whether the worst case is promised of the process, and not only of the model."""
        return self.guarantee is not None and self.guarantee.holds

    @property
    def sentence(self) -> str:
        """What holds the promise back, in one sentence."""
        if not self.choices and not self.transitions:
            return "nothing holds it back that could be learned: the graph decides the value, or the bounds are tight"
        if np.isinf(self.promise) or self.basis == "estimate":
            return (
                "in the worst case nothing is reached where a single bound could matter; ranked by what would matter if things "
                "were as counts suggest"
            )
        return f"of the {abs(self.estimate - self.promise):.4g} between the two, what holds back most comes first"

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as numbers, texts and lists; infinity is the string "inf"."""
        wanted = self.forecast
        return {
            "property": str(self.spec), "promise": _plain(self.promise), "estimate": _plain(self.estimate),
            "guarantee": None if self.guarantee is None else self.guarantee.as_dict(),
            "played": self.played, "basis": self.basis, "explanation": self.sentence,
            "transitions": [_fields(each) for each in self.transitions],
            "choices": [_fields(each) for each in self.choices], "classes": [_fields(each) for each in self.classes],
            "parameters": [_fields(each) for each in self.parameters],
            "forecast": None if wanted is None else {**_fields(wanted), "target": str(wanted.target), "estimate": True},
        }  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, float) and np.isinf(value):
        return "inf"
    return value


def _fields(thing: Any) -> dict[str, Any]:
    return {name: _plain(value) for name, value in vars(thing).items()}


@dataclass(frozen=True, eq=False)
class Explained:
    """What is to be explained: a model and a property, and what was seen where it was learned.

    Attributes
    ----------
    model, spec : the model, and the property with nature
    counts : (T,) how often each transition was seen, in so many `trajectories`
    learner : as it is now; None if it is not known
    solution : of the model, where it is solved already
    until : what a run was to reach
    guarantee, played : what stands behind the promise, and what is promised by playing a policy, where that is more
    """

    model: IntervalMDP
    spec: Spec
    counts: Array | None = None
    trajectories: int = 0
    learner: Learner | None = None
    solution: Solution | None = None
    until: Threshold | None = None
    guarantee: Guarantee | None = None
    played: str | None = None


def explained(about: Explained, target: Threshold | None = None, top: int = 10) -> Explanation:
    """Return what holds the promise of a subject back; see `umdp.explain`."""
    model, counts, learner = about.model, about.counts, about.learner
    likely = counts if counts is None or learner is None else learner.sightings(counts)
    worst = WorstCase.of(model, about.spec, likely, about.solution)
    seen = None if counts is None else np.add.reduceat(counts, model.choice_ptr[:-1])
    pooled: Array | None = seen
    classes: tuple[HeldClass, ...] = ()
    if seen is not None and isinstance(learner, Tied):
        kinds, visits = learner.tying.choice_class, np.where(learner.feeds, seen, 0)
        fed = np.bincount(kinds, visits, learner.tying.classes).astype(np.int64)
        pooled, classes = fed[kinds], _classes(worst, learner, fed, top)
    wanted = None
    if target is not None and counts is not None:
        wanted = forecast(worst, target, counts, about.trajectories, learner)
    return Explanation(
        worst.solution.spec, worst.promise, worst.estimate, worst.basis, _transitions(worst, model, pooled, top),
        _choices(worst, model, seen, top), classes, wanted, worst.rises, about.guarantee, about.played,
        held_parameters(worst, learner)[:top],
    )  # fmt: skip


def _ranked(score: Array, scale: float, top: int) -> Array:
    """Return the numbers of what holds back most; equal ones in their order."""
    order = np.argsort(-score, kind="stable")[:top]
    found: Array = order[score[order] > NOTHING * max(scale, 1.0)]
    return found


def _scale(worst: WorstCase) -> float:
    return abs(worst.promise) if np.isfinite(worst.promise) else 1.0


def _transitions(worst: WorstCase, model: IntervalMDP, samples: Array | None, top: int) -> tuple[HeldTransition, ...]:
    found, about = [], worst.sensitivity
    sizes = np.diff(model.choice_ptr)
    owner = np.repeat(np.arange(model.choices), sizes)
    # Of two successors one bound is the other's: it is listed once, by the one that nature is kept from.
    mirrored = (sizes[owner] == 2) & (about.upper > about.lower)
    score = np.where(mirrored, 0.0, about.gain * (model.upper - model.lower))
    for t in _ranked(score, _scale(worst), top).tolist():
        c = int(owner[t])
        found.append(
            HeldTransition(
                model.state_name(int(model.choice_state[c])), model.action_name(c),
                model.state_name(int(model.successor[t])), t, "lower" if about.lower[t] >= about.upper[t] else "upper",
                float(model.lower[t]), float(model.upper[t]), None if samples is None else int(samples[c]),
                float(about.visits[c]), float(about.difference[t]), float(about.gain[t]), float(score[t]),
            )
        )  # fmt: skip
    return tuple(found)


def _choices(worst: WorstCase, model: IntervalMDP, samples: Array | None, top: int) -> tuple[HeldChoice, ...]:
    return tuple(
        HeldChoice(
            model.state_name(int(model.choice_state[c])), model.action_name(c), c,
            None if samples is None else int(samples[c]), float(worst.visits[c]), float(worst.loss[c]),
        )
        for c in _ranked(worst.loss, _scale(worst), top).tolist()
    )  # fmt: skip


def _classes(worst: WorstCase, learner: Any, fed: Array, top: int) -> tuple[HeldClass, ...]:
    """Return the outcomes of classes whose bounds hold back most: all transitions along which each of them leads, together."""
    tying = learner.tying
    times = np.diff(tying.transition_ptr)
    gain = np.bincount(tying.transition_outcome, np.repeat(worst.sensitivity.gain, times), tying.outcomes)
    total = gain * (learner.own_upper - learner.own_lower)
    owner = np.repeat(np.arange(tying.classes), np.diff(tying.outcome_ptr))
    taken = np.bincount(tying.choice_class[worst.sensitivity.visits > 0], minlength=tying.classes)
    return tuple(
        HeldClass(
            tying.names[int(owner[o])], tying.outcome_names[o], int(taken[owner[o]]), float(learner.own_lower[o]),
            float(learner.own_upper[o]), int(fed[owner[o]]), float(gain[o]), float(total[o]),
        )
        for o in _ranked(total, _scale(worst), top).tolist()
    )  # fmt: skip


@dataclass(frozen=True)
class HeldParameter:
    """A parameter, and what the promise would gain if it were known better.

    Attributes
    ----------
    name : of the parameter
    lower, upper : its ends
    samples : how many samples of choices that depend on it were seen
    holds_back : twice what the promise gains, at first order, where the interval is halved around its middle
    """

    name: str
    lower: float
    upper: float
    samples: int
    holds_back: float


def held_parameters(worst: WorstCase, learner: Learner | None) -> tuple[HeldParameter, ...]:
    """Return all parameters, what holds back most first; none where nothing has any."""
    model = worst.solution.model
    if not isinstance(learner, Parametric) or not isinstance(model, IntervalMDP):
        return ()
    program, tying, about = learner.program, learner.tying, worst.sensitivity
    found = []
    for i, (name, known) in enumerate(learner.parameters().items()):
        lower, upper = learner.box_lower.copy(), learner.box_upper.copy()
        quarter = (upper[i] - lower[i]) / 4
        lower[i], upper[i] = lower[i] + quarter, upper[i] - quarter
        least, most = (each[program.outcome_function] for each in program.ranges(lower, upper))
        raised = np.maximum(model.lower, tying.along(np.maximum(learner.own_lower, least)))
        lowered = np.minimum(model.upper, tying.along(np.minimum(learner.own_upper, most)))
        gained = about.lower * (raised - model.lower) + about.upper * (model.upper - lowered)
        # Of two successors one bound is the other's, and both move together.
        two = np.repeat(np.diff(model.choice_ptr) == 2, np.diff(model.choice_ptr))
        gained = np.where(two & (about.upper > about.lower), 0.0, gained)
        found.append(HeldParameter(name, known["lower"], known["upper"], known["samples"], 2 * float(gained.sum())))
    return tuple(sorted(found, key=lambda each: -each.holds_back))
