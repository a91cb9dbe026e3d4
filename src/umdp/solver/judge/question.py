"""What is put to the judge, read from the model and the objective alone; and what vectors that pass say of what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.solver.judge.graph import JudgedQuestion
from umdp.solver.judge.rows import ModelRows, TwoPart
from umdp.solver.judge.width import as_probabilities, as_rewards

if TYPE_CHECKING:
    from umdp.model import MDP, IntervalMDP
    from umdp.solver.objective import Objective

__all__ = ["JudgedObjective", "answer_of", "case_of", "one_minus", "rounded_sum", "rows_of"]

Array = NDArray[Any]
ALL = slice(None)
NOTHING: Array = np.empty(0)
NOTHING.flags.writeable = False


class JudgedObjective(NamedTuple):
    """What the judge is asked: rows and objective of the model as given.

    Attributes
    ----------
    rows, asked : what `inductive.examine` takes
    safety : whether one minus it is what was asked
    complement : whether vectors are those of reaching, less 1
    """

    rows: ModelRows
    asked: JudgedQuestion
    safety: bool
    complement: bool


def rows_of(model: MDP | IntervalMDP, objective: Objective) -> ModelRows:
    """Return the rows of a model as given, with what an objective pays on them."""
    from umdp.solver.objective import bounds_of

    paid = [NOTHING] * 3
    if objective.rewards is not None:
        parts = (objective.rewards.state, objective.rewards.choice, objective.rewards.transition)
        paid = [NOTHING if part is None else part for part in parts]
    return ModelRows(model.state_ptr, model.choice_ptr, model.successor, *bounds_of(model), *paid)


def case_of(
    model: MDP | IntervalMDP, objective: Objective, agent_max: bool, nature_max: bool, *, complement: bool
) -> JudgedObjective:
    """Return the question that bounds of a property answer."""
    reward, total = objective.kind == "R", objective.aim == "total"
    if objective.safety:
        agent_max, nature_max = not agent_max, not nature_max
    goal = np.zeros_like(objective.goal) if total else np.array(objective.goal)
    through = np.ones_like(goal) if reward else np.array(objective.through)
    top = 0.0 if reward or complement else 1.0
    asked = JudgedQuestion(reward, total, goal, through, nature_max, not agent_max, agent_max, top)
    return JudgedObjective(rows_of(model, objective), asked, objective.safety, complement)


def answer_of(case: JudgedObjective, low: TwoPart, high: TwoPart, states: Array | slice = ALL) -> tuple[Array, Array]:
    """Return what two vectors that passed say of some states, as bounds on what was asked, rounded outwards."""
    least = rounded_sum(low.base[states], low.offset[states], up=False)
    most = rounded_sum(high.base[states], high.offset[states], up=True)
    if case.complement:  # of reaching, less 1
        least, most = -most, -least
    if case.complement != case.safety:
        least, most = one_minus(least, most)
    return as_rewards(least, most) if case.asked.reward else as_probabilities(least, most)


def rounded_sum(base: Array, offset: Array, up: bool) -> Array:
    """Return ``base + offset``, rounded up or down where it is not a number itself."""
    with np.errstate(invalid="ignore"):
        total = base + offset
        shift = total - base
        lost = (base - (total - shift)) + (offset - shift)
        off = lost > 0 if up else lost < 0
    return np.where(off, np.nextafter(total, np.inf if up else -np.inf), total)


def one_minus(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the bounds of one minus a probability, rounded outwards; 0 and 1 stay what they are."""
    return (
        np.where((high == 0) | (high == 1), 1 - high, np.maximum(np.nextafter(1 - high, -1), 0.0)),
        np.where((low == 0) | (low == 1), 1 - low, np.minimum(np.nextafter(1 - low, 2), 1.0)),
    )
