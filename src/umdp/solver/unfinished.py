"""What is known where time was up: what some of the steps of a step-bounded property prove of all of them, or nothing.

Let T be a step backwards and v_k the values with k steps to go. T is monotone, and where no state keeps its value, adding a
constant to all values adds it to all that come of it. Hence

- what is to be reached in time is reached the more often the more time there is: v_k only grows, and where something is to be
  avoided it only shrinks;
- a sum over a + b steps is that over a steps, and then at least the smallest and at most the largest sum over b steps; a policy
  that repeats itself keeps its side of that;
- what counts at the last step alone lies between the smallest and the largest value at any time.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Policy
from umdp.solver.result import Bracket, Solution, mdp_of

if TYPE_CHECKING:
    from umdp.model import MDP, IntervalMDP
    from umdp.solver.objective import Objective
    from umdp.solver.request import Request

__all__ = ["policy_of", "unanswered", "unfinished"]

Array = NDArray[Any]


def unfinished(
    asked: Objective, low: Array, high: Array, done: int, single: tuple[float, float], *, varies: bool
) -> tuple[Array, Array]:
    """Return bounds (S,) on the values with all steps to go.

    Parameters
    ----------
    low, high : (S,) bounds on the values with `done` steps to go
    single : what a step earns at least, and at most
    varies : whether a policy is given that depends on the step, so that the last steps say nothing of the first
    """
    assert asked.steps is not None and asked.absorbing is not None and asked.final is not None  # noqa: PT018
    size, probability = low.size, asked.kind == "P"
    least, most = (0.0, 1.0) if probability else (-np.inf, np.inf)
    bottom, top = np.full(size, least), np.full(size, most)
    decided, worth = asked.kept(0)
    if asked.rewards is None and not asked.absorbing.any() and asked.wait == 0:
        bottom, top = np.full(size, low.min()), np.full(size, high.max())
    elif asked.rewards is not None and not asked.absorbing.any():
        known = bool(np.isfinite(single).all())
        if known:
            alone = Fraction(single[0]) * asked.steps, Fraction(single[1]) * asked.steps
            bottom, top = np.full(size, _down(alone[0])), np.full(size, _up(alone[1]))
        elif single[0] >= 0.0:
            bottom = np.zeros(size)
        if known and done and not varies and np.isfinite(low).all() and np.isfinite(high).all():
            again, rest = divmod(asked.steps - done, done)
            least_more = again * Fraction(float(low.min())) + rest * Fraction(single[0])
            most_more = again * Fraction(float(high.max())) + rest * Fraction(single[1])
            with np.errstate(over="ignore"):
                bottom = np.maximum(bottom, np.nextafter(low + _down(least_more), -np.inf))
                top = np.minimum(top, np.nextafter(high + _up(most_more), np.inf))
    elif probability and asked.wait == 0 and not varies:
        bottom, top = (bottom, high) if asked.safety else (low, top)
    return np.where(decided, worth, bottom), np.where(decided, worth, top)


def unanswered(request: Request) -> Solution:
    """Return what is known where time was up before the product was there: nothing, of any policy and any nature."""
    from umdp.solver.kernels.nature import respond

    model, (lower, upper) = request.model, request.bounds
    low, high = np.zeros(model.states), np.full(model.states, 1.0 if request.spec.kind == "P" else np.inf)
    bracket = Bracket(float(low[model.initial]), float(high[model.initial]))
    first = np.array(model.state_ptr[:-1])

    def nature() -> MDP:
        prob, none = np.empty(model.transitions), np.empty(0)
        respond(model.choice_ptr, model.successor, lower, upper, low, none, True, prob)
        return mdp_of(model, prob)

    return Solution(
        model, request.spec, bracket, bracket, request.options.status(bracket), request.options.spent(), lambda: (low, high),
        lambda: Policy(model, first), nature,
    )  # fmt: skip


def policy_of(model: MDP | IntervalMDP, choices: Array, done: int) -> Policy:
    """Return the policy of the choices (K, S) of every step, of which the last `done` were worked out.

    Where these are not all, it repeats them, from the beginning on: so it keeps what `unfinished` says on the agent's side.
    """
    if done == 0:
        return Policy(model, np.array(model.state_ptr[:-1]))
    steps = len(choices)
    if done == steps:
        return Policy(model, choices)
    return Policy(model, choices[steps - done + np.arange(steps) % done])


def _down(value: Fraction) -> float:
    from umdp.solver.kernels.rounding import ceiling, floor

    return floor(value) if value >= 0 else -ceiling(-value)


def _up(value: Fraction) -> float:
    from umdp.solver.kernels.rounding import ceiling, floor

    return ceiling(value) if value >= 0 else -floor(-value)
