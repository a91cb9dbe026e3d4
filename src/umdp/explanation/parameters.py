"""Parameters that hold a promise back, where a program with unknown constants is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from umdp.explanation.worst_case import WorstCase
from umdp.learn.parametric_learner import Parametric
from umdp.model import IntervalMDP

if TYPE_CHECKING:
    from umdp.learn import Learner

__all__ = ["HeldParameter", "held_parameters"]


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
