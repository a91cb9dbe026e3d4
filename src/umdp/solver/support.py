"""The support of a model: a transition that no distribution within the bounds can use is not there.

Where the lower bounds of the other successors sum to 1, nothing is left for it, whatever its upper bound says. The intervals rule
over the graph here; where they leave a transition any room, the graph rules over the intervals: it has positive probability.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy, Rewards
from umdp.solver.result import Solution, mdp_of

__all__ = ["possible_transitions", "with_transitions", "without_transitions"]

Mask = NDArray[np.bool_]
CLOSE = 1e-6  # a sum this close to 1 is looked at without rounding


def possible_transitions(model: IntervalMDP) -> Mask | None:
    """Return which transitions (T,) some distribution can use; None where all are."""
    empty = model.lower <= 0.0
    if not empty.any():
        return None
    first = model.choice_ptr[:-1]
    sums = np.add.reduceat(model.lower, first)
    rows = np.flatnonzero(np.logical_or.reduceat(empty, first) & (sums >= 1.0 - CLOSE))
    if rows.size == 0:
        return None
    from umdp.solver.judge.rows import excess

    used = np.ones(model.transitions, dtype=np.bool_)
    for c in rows.tolist():
        begin, end = int(model.choice_ptr[c]), int(model.choice_ptr[c + 1])
        if excess(begin, end, model.lower) >= 0.0:
            used[begin:end] = model.lower[begin:end] > 0.0
    return None if used.all() else used


def without_transitions(model: IntervalMDP, used: Mask) -> IntervalMDP:
    """Return the model with the transitions `used` (T,) alone."""
    sizes = np.add.reduceat(used.astype(np.int64), model.choice_ptr[:-1])

    def paid(rewards: Rewards) -> Rewards:
        return rewards if rewards.transition is None else rewards.with_transition(rewards.transition[used])

    return IntervalMDP(
        model.state_ptr, np.concatenate([[0], np.cumsum(sizes)]), model.successor[used], model.lower[used], model.upper[used],
        initial=model.initial, labels=model.labels, rewards={name: paid(each) for name, each in model.rewards.items()},
        actions=model.actions, state_names=model.state_names, variables=model.variables, constants=model.constants,
        formulas=model.formulas,
    )  # fmt: skip


def with_transitions(solution: Solution, model: IntervalMDP, used: Mask) -> Solution:
    """Return a solution of `without_transitions` as one of the model itself."""

    def policy() -> Policy:
        found = solution.policy
        return found if solution.product is not None else Policy(model, found.choice, found.weight)

    def nature() -> MDP:
        prob = np.zeros(model.transitions)
        prob[used] = solution.nature.probability
        return mdp_of(model, prob)

    if solution.product is not None:  # everything is about the product, whose model is its own
        return solution
    return replace(
        solution, model=model, _policy=policy, _nature=nature, unknowns=None, values=None, ends=None,
    )  # fmt: skip
