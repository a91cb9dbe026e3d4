"""One step backwards for rewards of any sign, with a bound on its rounding, and the steps of a bounded horizon.

A step by a choice c of state s, with discount g, changes a value by

    d  =  reward_c - (1 - g) x_s + sum_j p_j (paid_j + g (x_j - x_s)),

because probabilities sum to 1. Rounded, that is off by at most `row_error` times

    |reward_c| + (1 - g) |x_s| + sum_j p_j (|paid_j| + g |x_j - x_s|)

(`kernels.rounding`: each term is rounded a few times more than there, for which the bound has room). What nature's share
may be off absolutely, and underflow, are added. The order in which nature serves successors is that of rounded keys. Without
`paid` that is an order of the exact ones, because rounding keeps order. With `paid` a key is off by three roundings of its
terms. Let p be nature's answer to the rounded keys, q that to the exact ones: the two optima differ by at most what the keys are
off on average over p, which is counted already, plus that over ``q - p``, which is at most twice the slack times the largest
such error: 8 eps times slack times the largest term covers it. Between choices, what counts is how far the best of all may be
from the one taken: choices that are much worse do no harm, however large their numbers are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model.structure import read_only
from umdp.solver.kernels.backward import DifferenceOptions, StepRows, Steps, difference, normal_rows
from umdp.solver.kernels.rounding import EPS
from umdp.solver.kernels.structs import Players, row_space

if TYPE_CHECKING:
    from umdp.model import Rewards
    from umdp.solver.graph.decided import Shape

__all__ = ["Signed", "backward", "step_rows"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)


def step_rows(shape: Shape, lower: Array, upper: Array, reward: Array, paid: Array) -> StepRows:
    """Return the rows of a model, for steps backwards; rewards of choices and of transitions may be empty."""
    sizes = np.diff(shape.choice_ptr)
    low, slack = normal_rows(shape.choice_ptr, lower, upper)
    order = (np.arange(shape.transitions) - np.repeat(shape.choice_ptr[:-1], sizes)).astype(np.int32)
    given = (
        read_only(each)
        for each in (shape.state_ptr, shape.choice_ptr, shape.successor, low, upper, slack, reward, paid)
    )
    return StepRows._make([*given, order])


class Signed:
    """A model with rewards of any sign, ready for steps backwards.

    Parameters
    ----------
    shape : Shape
    lower, upper : (T,) bounds
    rewards : Rewards or None
    agent_max, nature_max : bool
        Which way the players pull.
    discount : float
        What the value after a step counts.
    weight : (C,), optional
        A policy to evaluate.
    """

    def __init__(
        self,
        shape: Shape,
        lower: Array,
        upper: Array,
        rewards: Rewards | None,
        *,
        agent_max: bool,
        nature_max: bool,
        discount: float = 1.0,
        weight: Array | None = None,
    ) -> None:
        self.shape, self.discount, self.lower, self.upper = shape, discount, lower, upper
        self.agent_max, self.nature_max = agent_max, nature_max
        self.reward, self.size = NOTHING, NOTHING
        self.paid: Array = NOTHING
        if rewards is not None:
            state = np.zeros(shape.states) if rewards.state is None else rewards.state
            choice = np.zeros(shape.choices) if rewards.choice is None else rewards.choice
            self.reward = state[shape.choice_state] + choice
            self.size = np.abs(state)[shape.choice_state] + np.abs(choice)
            if rewards.transition is not None and rewards.transition.any():
                self.paid = rewards.transition
        self.weight = NOTHING if weight is None else weight
        self._rows = step_rows(shape, lower, upper, self.reward, self.paid)
        self.low = self._rows.lower
        self._space = row_space(int(np.diff(shape.choice_ptr).max()))
        self.every = np.ones(shape.states, dtype=np.bool_)
        self.usable = np.ones(shape.choices, dtype=np.bool_)

    def about(self, rewards: Rewards) -> Signed:
        """Return the same with other rewards, which both players maximise."""
        weight = self.weight if self.weight.size else None
        return Signed(
            self.shape, self.lower, self.upper, rewards, agent_max=True, nature_max=True, discount=self.discount,
            weight=weight,
        )  # fmt: skip

    @property
    def largest_reward(self) -> float:
        """The largest size of what a step may earn."""
        found = float(self.size.max(initial=0.0))
        return found + float(np.abs(self.paid).max(initial=0.0))

    def begin(self, choice: Array | None = None) -> Steps:
        """Return room for steps, with choices (S,) to prefer where others are no better."""
        first = np.array(self.shape.state_ptr[:-1]) if choice is None else choice.astype(np.int64)
        size = self.shape.states
        return Steps(np.zeros(size), np.zeros(size), first.astype(np.int64), self.low.copy())

    def step(
        self,
        x: Array,
        into: Steps,
        *,
        active: Array | None = None,
        usable: Array | None = None,
        weight: Array | None = None,
    ) -> Steps:
        """Work out what a step backwards changes of `x` (S,) in the active states by the usable choices."""
        how = DifferenceOptions(
            self.every if active is None else active, self.usable if usable is None else usable,
            self.weight if weight is None else weight, self.size, self.discount, Players(self.agent_max, self.nature_max),
        )  # fmt: skip
        difference(self._rows, how, self._space, x, into)
        return into


def backward(
    signed: Signed,
    x: Array,
    frozen: Array,
    steps: int,
    *,
    weights: Array | None = None,
    keep: bool = True,
    late: Callable[[], bool] = lambda: False,
    tell: Callable[[int], bool] = lambda left: False,
) -> tuple[Array, float, Array, Array, int]:
    """Go `steps` steps backwards from `x` with rewards of any sign, or as many as there is time for by `late` and `tell`.

    Errors of earlier values are passed on by probabilities, so they add up: no value is off by more than their sum.

    Returns
    -------
    x : (S,) values with all steps to go
    off : by how much each may be off
    choice : (K, S) the choice of every step, or (0, S)
    before : (S,) the values with one step less to go
    done : how many steps were made
    """
    active = ~frozen
    into = signed.begin()
    choices = np.empty((steps if keep else 0, signed.shape.states), dtype=np.int32)
    absolute_error, before, done = 0.0, x, 0
    for k in range(steps - 1, -1, -1):
        if late():
            break
        weight = None if weights is None else (weights if weights.ndim == 1 else weights[k])
        signed.step(x, into, active=active, weight=weight)
        before = x
        x = np.where(active, x + into.change, x)
        # The sum is rounded once more.
        lost = float(np.where(active, into.error + 2.0 * EPS * np.abs(x), 0.0).max(initial=0.0))
        absolute_error = (absolute_error + lost) * (1.0 + 4.0 * EPS)
        if keep:
            choices[k] = into.choice
        done += 1
        if k % 64 == 63 and tell(k):
            break
    return x, absolute_error, choices, before, done
