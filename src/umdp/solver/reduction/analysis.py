"""Analysis of an objective on a model: rewards moved to choices, edges to search, what the graph decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Rewards
from umdp.solver.graph.decided import Decided, Edges, Shape, decide, decide_total
from umdp.solver.objective import bounds_of, objective_of
from umdp.spec import Spec

__all__ = ["Analysis", "Gated", "analyse", "gate"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)


@dataclass(frozen=True, eq=False)
class Gated:
    """A model whose rewards are all on choices: those on transitions moved to extra states in between.

    Rewards are the model's up to a factor in ``[1 - error, 1 + error]``.
    """

    shape: Shape
    lower: Array
    upper: Array
    reward: Array
    error: float = 0.0


def gate(model: MDP | IntervalMDP, rewards: Rewards) -> Gated:
    """Move all rewards to choices.

    On a row without freedom, or with the same reward on all transitions, the expectation is known. Elsewhere a
    transition with a reward leads through a state of its own, so that the reward takes part in nature's choice. So does one
    whose share of an expectation might underflow. Adding up is rounded once a sum, an expectation as a row is.
    """
    from umdp.solver.kernels.rounding import EPS, compose, row_error

    lower, upper = bounds_of(model)
    shape = Shape.of(model)
    reward, error = np.zeros(shape.choices), 0.0
    if rewards.state is not None:
        reward += rewards.state[shape.choice_state]
    if rewards.choice is not None:
        error = EPS if reward.any() and rewards.choice.any() else 0.0
        with np.errstate(over="ignore"):
            reward += rewards.choice
    paid = rewards.transition
    if paid is None or not paid.any():
        return Gated(shape, lower, upper, reward, error)
    starts, sizes = shape.choice_ptr[:-1], np.diff(shape.choice_ptr)
    row = np.repeat(np.arange(shape.choices), sizes)
    with np.errstate(under="ignore"):
        earned = lower * paid
    faint = (lower > 0) & (paid > 0) & (earned < 1e-290)
    fixed = np.logical_and.reduceat((lower >= upper) & ~faint, starts)
    same = np.minimum.reduceat(paid, starts) == np.maximum.reduceat(paid, starts)
    sums = np.add.reduceat(lower, starts)
    expected = np.add.reduceat(earned, starts) / np.where(sums > 0, sums, 1)
    with np.errstate(over="ignore"):
        reward += np.where(same, paid[starts], np.where(fixed, expected, 0))
    error = float(compose(error, row_error(int(sizes[fixed & ~same].max(initial=1)))))
    gated = np.flatnonzero(~(fixed | same)[row] & (paid > 0))
    if gated.size == 0:
        return Gated(shape, lower, upper, reward, error)
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
        error,
    )


@dataclass(frozen=True, eq=False)
class Analysis:
    """An objective on a graph with bounds: goal, reward, edges. `memo` has what the graph alone decides, `kept` for the next."""

    shape: Shape
    edges: Edges
    lower: Array
    upper: Array
    reward: Array
    goal: Array
    left: Array
    memo: dict[Any, Any]
    safety: bool = False
    reward_error: float = 0.0
    kept: bool = False
    total: bool = False

    def decided(self, kind: str, reach_max: bool) -> Decided:
        """Return what the graph decides when the goal is to be reached more (or less) often."""
        key = ("decided", kind, reach_max)
        if key not in self.memo:
            self.memo[key] = (
                decide_total(self.edges, self.reward, reach_max)
                if self.total
                else decide(self.edges, kind, reach_max, self.goal, self.left)
            )
        decided: Decided = self.memo[key]
        return decided


def analyse(model: MDP | IntervalMDP, spec: Spec, *, fresh: bool = False) -> Analysis:
    """Return what is asked of a model; models that share a graph, as learned ones do, share what it decides unless `fresh`."""
    graph = None if fresh else model.__dict__.get("graph")
    shared = graph.__dict__.setdefault("_analyses", {}) if graph is not None else {}
    key = (spec.kind, spec.formula, spec.reward)
    lower, upper = bounds_of(model)
    if key in shared:
        known: Analysis = shared[key]
        return replace(known, lower=lower, upper=upper)
    objective = objective_of(model, spec)
    goal, left = objective.goal, objective.through
    shape, reward, error = Shape.of(model), NOTHING, 0.0
    keep = True
    if objective.rewards is not None:
        gated = gate(model, objective.rewards)
        paid = objective.rewards.transition
        keep = paid is None or not paid.any()  # which transitions need a state of their own depends on the bounds
        shape, lower, upper, reward, error = gated.shape, gated.lower, gated.upper, gated.reward, gated.error
        extra = shape.states - model.states
        goal = np.concatenate([goal, np.zeros(extra, dtype=np.bool_)])
        left = np.concatenate([left, np.ones(extra, dtype=np.bool_)])
    found = Analysis(
        shape,
        Edges(shape),
        lower,
        upper,
        reward,
        goal,
        left,
        {},
        objective.safety,
        error,
        total=objective.aim == "total",
    )
    if keep and not found.total:
        found = shared[key] = replace(found, kept=True)
    return found
