"""Objectives: a property, lowered to what the solver knows: who decides what, over which states, at what price.

A formula says of itself how it is a matter of reachability; whatever comes later reads the arrays of an `Objective`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Rewards
from umdp.model.reward_units import own_rewards
from umdp.spec import Direction, Discounted, Instantaneous, Spec

if TYPE_CHECKING:
    from umdp.model import Graph

__all__ = ["Objective", "bounds_of", "objective_of", "players"]

Array = NDArray[Any]
Mask = NDArray[np.bool_]


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
    off : by how much each reward may be off
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
    off: float = 0.0
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


def objective_of(model: Graph, spec: Spec) -> Objective:
    """Return the objective a property stands for on a model, or raise `SpecError` where it names what is not there.

    This is the one place where formulas become what the solver knows.
    """
    asked, steps, aim = spec.formula.reachability(), spec.steps(model), spec.aim
    goal, through = asked.goal.evaluate(model), asked.through.evaluate(model)
    none, every = np.zeros(model.states, dtype=np.bool_), np.ones(model.states, dtype=np.bool_)
    if spec.kind == "S":  # the share of time is what a step earns where earning means being there
        return Objective("P", None, none, every, rewards=Rewards(state=goal.astype(np.float64)), aim=aim)
    absorbing = none if asked.exact else goal | ~through
    if spec.kind == "R":
        rewards = _rewards(model, spec, any_sign=aim in ("bounded", "discounted", "average"))
        if isinstance(spec.formula, Instantaneous):
            final = np.zeros(model.states) if rewards.state is None else rewards.state
            return Objective("R", steps, goal, through, final=final, absorbing=absorbing, aim=aim)
        off = 0.0
        if aim in ("discounted", "average"):
            rewards, off = own_rewards(model, rewards)
        discount = spec.formula.factor(model) if isinstance(spec.formula, Discounted) else 1.0
        return Objective(
            "R", steps, goal, through, final=np.zeros(model.states), absorbing=absorbing, rewards=rewards, aim=aim,
            discount=discount, off=off,
        )  # fmt: skip
    final = (~goal if asked.safety else goal).astype(np.float64)
    wait = 0 if asked.wait is None else asked.wait.steps(model)[0]
    return Objective("P", steps, goal, through, asked.safety, final, absorbing, aim=aim, wait=wait)


def bounds_of(model: MDP | IntervalMDP) -> tuple[Array, Array]:
    """Return the lower and upper bounds of a model; those of an MDP coincide."""
    return (model.lower, model.upper) if isinstance(model, IntervalMDP) else (model.probability, model.probability)


def players(model: MDP | IntervalMDP, spec: Spec, *, policy_given: bool = False) -> tuple[bool, bool]:
    """Return (agent maximises, nature maximises), or raise `SpecError` where the property leaves it open."""
    lower, upper = bounds_of(model)
    uncertain = lower is not upper and bool((lower < upper).any())
    choice = not model.is_chain and not policy_given
    spec = spec.deciding()
    if spec.agent is None:
        if uncertain or choice:
            who = "nature" if not choice else "the policy"
            first, second = (f"{spec.kind}{d}" for d in ("max", "min"))
            raise spec.error(
                f"the model leaves {'both the policy and nature' if choice and uncertain else who} a choice, "
                f"but the property does not say which way",
                f"write {first}min or {second}max" if choice and uncertain else f"write {first} or {second}",
            )
        return True, True
    agent = spec.agent is Direction.MAX
    if spec.nature is not None:
        return agent, spec.nature is Direction.MAX
    if uncertain and choice:
        raise spec.error(
            "the model has intervals, so the property must say what nature does",
            f"write {spec.kind}{spec.agent.value}{spec.agent.flipped.value} for the worst case or "
            f"{spec.kind}{spec.agent.value}{spec.agent.value} for the best case",
        )
    # Without uncertainty nature has nothing to say; on an interval chain the one direction is nature's.
    return agent, agent


def _rewards(model: Graph, spec: Spec, *, any_sign: bool) -> Rewards:
    """Return the reward structure a property means; negative rewards are refused where a sum may go on for ever."""
    name = spec.resolve_reward(list(model.rewards))
    rewards = model.rewards[name]
    for part in ("state", "choice", "transition"):
        array = getattr(rewards, part)
        if array is not None and not any_sign and (array < 0).any():
            where = int(np.flatnonzero(array < 0)[0])
            raise spec.error(
                f'reward "{name}" is {array[where]} on {part} {where}, and a sum without a last step need not have a value '
                "where gains and losses may go on for ever",
                "give rewards of at least 0 (turn the sign and the direction around), or ask for a number of steps (C<=100), a "
                "discounted sum (Cdiscount=0.95) or the long-run average (S)",
            )
    return rewards
