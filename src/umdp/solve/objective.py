"""From a property and a model to an objective: who decides what, over which states, at what price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Rewards
from umdp.solve.qualitative import Decided, Edges, decide
from umdp.solve.shape import Shape
from umdp.spec import Direction, Globally, Reach, Spec, Until

if TYPE_CHECKING:
    from umdp.model import Graph

__all__ = ["Analysis", "Gated", "analyse", "bounds_of", "gate", "players", "reward_of", "sets"]

Array = NDArray[Any]
Mask = NDArray[np.bool_]
NOTHING: Array = np.empty(0)


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


def sets(model: Graph, spec: Spec) -> tuple[Mask, Mask]:
    """Return (goal, left) of an until, or (safe, all) of a globally, or (goal, all) of a reachability reward."""
    every = np.ones(model.states, dtype=np.bool_)
    formula = spec.formula
    if isinstance(formula, Until):
        return formula.right.evaluate(model), formula.left.evaluate(model)
    if isinstance(formula, Globally | Reach):
        return formula.operand.evaluate(model), every
    raise spec.error("this property has no goal")


def reward_of(model: Graph, spec: Spec) -> Rewards:
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


@dataclass(frozen=True, eq=False)
class Gated:
    """A model whose rewards are all on choices: those on transitions moved to extra states in between."""

    shape: Shape
    lower: Array
    upper: Array
    reward: Array


def gate(model: MDP | IntervalMDP, rewards: Rewards) -> Gated:
    """Move all rewards to choices.

    On a row without freedom, or with the same reward on all transitions, the expectation is known. Elsewhere a
    transition with a reward leads through a state of its own, so that the reward takes part in nature's choice.
    """
    lower, upper = bounds_of(model)
    shape = Shape.of(model)
    reward = np.zeros(shape.choices)
    if rewards.state is not None:
        reward += rewards.state[shape.choice_state]
    if rewards.choice is not None:
        reward += rewards.choice
    paid = rewards.transition
    if paid is None or not paid.any():
        return Gated(shape, lower, upper, reward)
    starts, sizes = shape.choice_ptr[:-1], np.diff(shape.choice_ptr)
    row = np.repeat(np.arange(shape.choices), sizes)
    fixed = np.logical_and.reduceat(lower >= upper, starts)
    same = np.minimum.reduceat(paid, starts) == np.maximum.reduceat(paid, starts)
    sums = np.add.reduceat(lower, starts)
    expected = np.add.reduceat(lower * paid, starts) / np.where(sums > 0, sums, 1)
    reward += np.where(same, paid[starts], np.where(fixed, expected, 0))
    gated = np.flatnonzero(~(fixed | same)[row] & (paid > 0))
    if gated.size == 0:
        return Gated(shape, lower, upper, reward)
    pairs, which = np.unique(
        np.stack([shape.successor[gated].astype(np.float64), paid[gated]], axis=1), axis=0, return_inverse=True
    )
    successor = shape.successor.copy()
    successor[gated] = shape.states + which.ravel()
    gates = np.arange(1, len(pairs) + 1)
    return Gated(
        Shape(
            np.concatenate([shape.state_ptr, shape.choices + gates]),
            np.concatenate([shape.choice_ptr, shape.transitions + gates]),
            np.concatenate([successor, pairs[:, 0].astype(np.int32)]),
        ),
        np.concatenate([lower, np.ones(len(pairs))]),
        np.concatenate([upper, np.ones(len(pairs))]),
        np.concatenate([reward, pairs[:, 1]]),
    )


@dataclass(frozen=True, eq=False)
class Analysis:
    """An objective on a graph with bounds: goal, reward, edges. What the graph alone decides is kept in `memo`."""

    shape: Shape
    edges: Edges
    lower: Array
    upper: Array
    reward: Array
    goal: Array
    left: Array
    memo: dict[Any, Any]

    def decided(self, kind: str, reach_max: bool) -> Decided:
        """Return what the graph decides when the goal is to be reached more (or less) often."""
        key = ("decided", kind, reach_max)
        if key not in self.memo:
            self.memo[key] = decide(self.edges, kind, reach_max, self.goal, self.left)
        decided: Decided = self.memo[key]
        return decided


def analyse(model: MDP | IntervalMDP, spec: Spec) -> Analysis:
    """Return what is asked of a model; models that share a graph, as learned ones do, share what it decides."""
    graph = model.__dict__.get("graph")
    shared = graph.__dict__.setdefault("_analyses", {}) if graph is not None else {}
    key = (spec.kind, str(spec.formula), spec.reward)
    lower, upper = bounds_of(model)
    if key in shared:
        known: Analysis = shared[key]
        return replace(known, lower=lower, upper=upper)
    target, left = sets(model, spec)
    # G safe is one minus the probability of ever being unsafe; the players keep their directions.
    goal = ~target if isinstance(spec.formula, Globally) else target
    shape, reward = Shape.of(model), NOTHING
    keep = True
    if spec.kind == "R":
        rewards = reward_of(model, spec)
        gated = gate(model, rewards)
        keep = rewards.transition is None  # which transitions need a state of their own depends on the bounds
        shape, lower, upper, reward = gated.shape, gated.lower, gated.upper, gated.reward
        extra = shape.states - model.states
        goal = np.concatenate([goal, np.zeros(extra, dtype=np.bool_)])
        left = np.concatenate([left, np.ones(extra, dtype=np.bool_)])
    found = Analysis(shape, Edges(shape), lower, upper, reward, goal, left, {})
    if keep:
        shared[key] = found
    return found
