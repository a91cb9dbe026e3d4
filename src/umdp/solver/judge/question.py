"""What is put to the judge, read from the model and the objective alone; and what its answer says."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Rewards
from umdp.model.structure import read_only

__all__ = [
    "JudgedObjective",
    "JudgedQuestion",
    "ModelRows",
    "Objective",
    "Status",
    "TwoPart",
    "Witness",
    "answer_of",
    "as_probabilities",
    "as_rewards",
    "bounds_of",
    "case_of",
    "consistent",
    "is_narrow",
    "one_minus",
    "plausible",
    "plausible_end",
    "rounded_sum",
    "rows_of",
    "status_of",
    "sure_where",
]

Array = NDArray[Any]
Mask = NDArray[np.bool_]
ALL = slice(None)
NOTHING: Array = np.empty(0)


class Status(enum.Enum):
    """What stands behind a bracket; the value is a sentence for people."""

    CERTIFIED = "certified to the precision asked for"
    IMPRECISE = "certified, but wider than the precision asked for: rounding leaves no room for a tighter bound"
    OPEN_GAME = (
        "certified, but wider than asked for: lower bounds of 0 let nature cut transitions, and the bound on the "
        "optimum did not close; the policy's own value is bracketed to the precision"
    )
    OPEN_ENDS = (
        "certified, but wider than asked for: lower bounds of 0 let nature decide where the process can stay for ever; the "
        "policy keeps the bound that it wants"
    )
    STOPPED = "certified, but wider than the precision asked for: stopped at the limit on time or iterations"

    @property
    def is_precise(self) -> bool:
        """Whether the precision asked for is met."""
        return self is Status.CERTIFIED


@dataclass(frozen=True, eq=False)
class Objective:
    """What the solver is asked: one of a few aims, over sets of states, at given prices.

    *reach*: reaching `goal` through `through`, how often, or at what price. *bounded*: values go a number of steps backwards.
    *total*: all that is ever earned. *discounted*: the same, later steps counting less. *average*: what a step earns in the long
    run.

    Without a step bound, what counts is reaching `goal` through `through`: how often, or at what price. A `safety` objective
    asks for one minus the probability of that. With a step bound, values go backwards from `final`, and `absorbing`
    states keep theirs.

    Attributes
    ----------
    aim : which of these it is
    kind : "P" for a probability, "R" for an expected reward
    steps : the step bound, None without one
    goal, through : (S,) the states to reach, and those that may be passed on the way
    safety : whether `goal` is to be avoided, and staying away from it is what is asked for
    final : (S,) the values with no step left to go
    absorbing : (S,) states that keep their value in a step
    rewards : what is paid, None for probabilities
    wait : so many steps from the beginning nothing is reached yet; whoever leaves `through` then has failed
    discount : what a step later counts, 1 but for discounted sums
    reward_error : by how much each reward may be off
    """

    kind: Literal["P", "R"]
    steps: int | None
    goal: Mask
    through: Mask
    safety: bool = False
    final: Array | None = None
    absorbing: Mask | None = None
    rewards: Rewards | None = None
    aim: str = "reach"
    discount: float = 1.0
    reward_error: float = 0.0
    wait: int = 0

    def kept(self, step: int) -> tuple[Mask, Array]:
        """Return the states (S,) that are decided at a step whatever comes, and what (S,) they are worth then."""
        assert self.absorbing is not None and self.final is not None  # noqa: PT018 - what a step bound comes with
        return (self.absorbing, self.final) if step >= self.wait else self._failed

    @cached_property
    def _failed(self) -> tuple[Mask, Array]:
        return ~self.through, np.full(self.through.size, float(self.safety))

    @property
    def signed(self) -> bool:
        """Whether some reward is negative, or some value to begin with."""
        some = self.rewards is not None and any(
            part is not None and bool((part < 0).any())
            for part in (self.rewards.state, self.rewards.choice, self.rewards.transition)
        )
        return some or (self.final is not None and bool((self.final < 0).any()))

    @property
    def paid(self) -> Array:
        """What transitions earn, shape (T,), or an empty array."""
        paid = None if self.rewards is None else self.rewards.transition
        return np.empty(0) if paid is None else paid


class ModelRows(NamedTuple):
    """The arrays of a model as given; rewards may be empty.

    Attributes
    ----------
    state_ptr, choice_ptr, successor : (S+1,), (C+1,), (T,)
    lower, upper : (T,) bounds; the same array where nature has no choice
    state_reward, choice_reward, paid : (S,), (C,), (T,) what states, choices and transitions earn, or empty
    """

    state_ptr: Array
    choice_ptr: Array
    successor: Array
    lower: Array
    upper: Array
    state_reward: Array
    choice_reward: Array
    paid: Array

    @classmethod
    def of(cls, *arrays: Array) -> Self:
        """Return the rows as kernels are given them; what is one array stays one."""
        shown = {id(each): read_only(each) for each in arrays}
        return cls(*(shown[id(each)] for each in arrays))


class TwoPart(NamedTuple):
    """A value for every state, as the exact sum of two numbers: ``base + offset``, (S,) each."""

    base: Array
    offset: Array


class JudgedQuestion(NamedTuple):
    """What the vectors are bounds of.

    Attributes
    ----------
    reward : whether it is an expected reward, not a probability
    total : whether the reward is all that is ever earned, and not what is earned until the goal is reached
    goal, through : (S,) what is to be reached, through which states; the goal itself aside
    nature_max : whether nature maximises
    all_below, all_above : whether all rows of a state count for the bound from below (above), or the policy's alone
    top : where the goal lies: 1 for probabilities, 0 for rewards and for probabilities less 1
    """

    reward: bool
    total: bool
    goal: Array
    through: Array
    nature_max: bool
    all_below: bool
    all_above: bool
    top: float


class Witness(NamedTuple):
    """What is shown to the judge: bounds from below and above, the policy (S,), and levels of traps (S,), -1 elsewhere."""

    low: TwoPart
    high: TwoPart
    choice: Array
    trap: Array


class JudgedObjective(NamedTuple):
    """What the judge is asked: rows and objective of the model as given.

    Attributes
    ----------
    rows, asked : what `reachability.examine` takes
    safety : whether one minus it is what was asked
    complement : whether vectors are those of reaching, less 1
    """

    rows: ModelRows
    asked: JudgedQuestion
    safety: bool
    complement: bool


def bounds_of(model: MDP | IntervalMDP) -> tuple[Array, Array]:
    """Return the lower and upper bounds of a model; those of an MDP coincide."""
    return (model.lower, model.upper) if isinstance(model, IntervalMDP) else (model.probability, model.probability)


def rows_of(model: MDP | IntervalMDP, objective: Objective) -> ModelRows:
    """Return the rows of a model as given, with what an objective pays on them."""
    paid = [NOTHING] * 3
    if objective.rewards is not None:
        parts = (objective.rewards.state, objective.rewards.choice, objective.rewards.transition)
        paid = [NOTHING if part is None else part for part in parts]
    return ModelRows.of(model.state_ptr, model.choice_ptr, model.successor, *bounds_of(model), *paid)


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
    with np.errstate(invalid="ignore", over="ignore"):
        total = base + offset
        shift = total - base
        lost = (base - (total - shift)) + (offset - shift)
        outside = lost > 0 if up else lost < 0
        return np.where(outside, np.nextafter(total, np.inf if up else -np.inf), total)


def one_minus(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the bounds of one minus a probability, rounded outwards; 0 and 1 stay what they are."""
    return (
        np.where((high == 0) | (high == 1), 1 - high, np.maximum(np.nextafter(1 - high, -1), 0.0)),
        np.where((low == 0) | (low == 1), 1 - low, np.minimum(np.nextafter(1 - low, 2), 1.0)),
    )


def as_probabilities(low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds of probabilities, none of which is below 0 or above 1."""
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def as_rewards(low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds of sums of rewards that are at least 0."""
    return np.maximum(low, 0.0), high


def plausible(kind: str, low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds within what is possible at all for a property of this kind, just that where they contradict each other."""
    if kind == "P":
        return consistent(*as_probabilities(low, high), 0.0, 1.0)
    return consistent(*as_rewards(low, high), 0.0)


def plausible_end(kind: str, low: float, high: float) -> tuple[float, float]:
    """Return `plausible` bounds of one state."""
    most = 1.0 if kind == "P" else math.inf
    low, high = max(low, 0.0), min(high, most)
    return (low, high) if low <= high else (0.0, most)


def consistent(low: Array, high: Array, least: float = -np.inf, most: float = np.inf) -> tuple[Array, Array]:
    """Return bounds, in the place of those that contradict each other what is possible at all: they say nothing."""
    absurd = ~(low <= high)
    return np.where(absurd, least, low), np.where(absurd, most, high)


def sure_where(missed: Array, low: Array) -> Array:
    """Return lower bounds that are 1 where the opposite has no probability at all."""
    return np.where(missed == 0.0, 1.0, low)


def is_narrow(lower: float, upper: float, precision: float, unit: float = 0.0) -> bool:
    """Whether two bounds coincide, or are no further apart than `precision`, relative to the larger in size or to `unit`."""
    if lower == upper:
        return True
    size = max(abs(lower), abs(upper), unit)
    return size < math.inf and 0.0 <= upper - lower <= precision * size


def status_of(lower: float, upper: float, precision: float, otherwise: Status, unit: float = 0.0) -> Status:
    """Return what stands behind a bracket; its width counts relative to it, or to `unit`, and then it must be finite."""
    finite = unit == 0.0 or math.isfinite(lower)
    return Status.CERTIFIED if finite and is_narrow(lower, upper, precision, unit) else otherwise
