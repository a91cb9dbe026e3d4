"""Objectives: a property, lowered to what the solver knows: who decides what, over which states, at what price.

A formula says of itself how it is a matter of reachability; whatever comes later reads the arrays of an `Objective`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Rewards
from umdp.spec import Direction, Spec

if TYPE_CHECKING:
    from umdp.model import Graph

__all__ = ["Objective", "bounds_of", "objective_of", "players"]

Array = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Objective:
    """Reachability, safety or an expected reward, over sets of states.

    Without a step bound, what counts is reaching `goal` through `through`: how often, or at what price. A `safety` objective
    asks for one minus the probability of that. With a step bound, values go backwards from `final`, and `absorbing`
    states keep theirs.

    Attributes
    ----------
    kind : "P" for a probability, "R" for an expected reward
    steps : the step bound, None without one
    goal, through : (S,) the states to reach, and those that may be passed on the way
    safety : whether `goal` is to be avoided, and staying away from it is what is asked for
    final : (S,) the values with no step left to go
    absorbing : (S,) states that keep their value in a step
    rewards : what is paid, None for probabilities
    """

    kind: Literal["P", "R"]
    steps: int | None
    goal: Mask
    through: Mask
    safety: bool = False
    final: Array | None = None
    absorbing: Mask | None = None
    rewards: Rewards | None = None

    @property
    def paid(self) -> Array:
        """What transitions earn, shape (T,), or an empty array."""
        paid = None if self.rewards is None else self.rewards.transition
        return np.empty(0) if paid is None else paid


def objective_of(model: Graph, spec: Spec) -> Objective:
    """Return the objective a property stands for on a model, or raise `SpecError` where it names what is not there."""
    asked, steps = spec.formula.reachability(), spec.steps(model)
    goal, through = asked.goal.evaluate(model), asked.through.evaluate(model)
    absorbing = np.zeros(model.states, dtype=np.bool_) if asked.exact else goal | ~through
    if spec.kind == "R":
        return Objective(
            "R", steps, goal, through, final=np.zeros(model.states), absorbing=absorbing, rewards=_rewards(model, spec)
        )
    final = (~goal if asked.safety else goal).astype(np.float64)
    return Objective("P", steps, goal, through, asked.safety, final, absorbing)


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


def _rewards(model: Graph, spec: Spec) -> Rewards:
    """Return the reward structure a property means; negative rewards are refused."""
    name = spec.resolve_reward(list(model.rewards))
    rewards = model.rewards[name]
    for part in ("state", "choice", "transition"):
        array = getattr(rewards, part)
        if array is not None and (array < 0).any():
            where = int(np.flatnonzero(array < 0)[0])
            raise spec.error(
                f'reward "{name}" is {array[where]} on {part} {where}',
                "expected rewards are defined here for rewards of at least 0; turn the sign and the direction around",
            )
    return rewards
