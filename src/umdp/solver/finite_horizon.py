"""Step-bounded properties: values go backwards from the last step, and every step keeps its own choice.

Where time is up, some of the steps prove something of all of them. Let T be a step backwards and v_k the values with k steps to
go. T is monotone, and where no state keeps its value, adding a constant to all values adds it to all that come of it. Hence

- what is to be reached in time is reached the more often the more time there is: v_k only grows, and where something is to be
  avoided it only shrinks;
- a sum over a + b steps is that over a steps, and then at least the smallest and at most the largest sum over b steps; a policy
  that repeats itself keeps its side of that;
- what counts at the last step alone lies between the smallest and the largest value at any time.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.graph.decided import Shape
from umdp.solver.judge.question import rows_of
from umdp.solver.objective import Objective, Request, SolveOptions, rewards_of_choices
from umdp.solver.result import Solution, Status
from umdp.verify.rationals import double

__all__ = ["bounded", "unfinished"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)


class Reached(NamedTuple):
    """What steps backwards came to: bounds (S,), the choices of every step, the values one step earlier, how many were made.

    `unit` is what the width of a bracket is measured by, where the value is near 0.
    """

    low: Array
    high: Array
    choice: Array
    before: Array
    done: int
    unit: float = 0.0


def bounded(request: Request) -> Solution:
    """Return the solution of a step-bounded property; of a given policy where there is one."""
    from umdp.solver.judge.horizons import bounds_of_steps, span

    model, policy, options, objective = request.model, request.policy, request.options, request.objective
    steps = objective.steps
    assert steps is not None
    if policy is not None and policy.steps is not None and policy.steps < steps:
        raise ModelError(f"the policy is for {policy.steps} steps, the property for {steps}")
    if policy is None and steps * model.states > 2**28:
        raise ModelError(
            f"a policy for {steps} steps and {model.states} states does not fit into memory; "
            "evaluate a given policy, or ask for fewer steps"
        )
    weights = None if policy is None else policy.weights()
    found = (_of_any_sign if objective.signed else _of_one_sign)(request, weights)
    low, high, done = found.low, found.high, found.done
    options.statistics.iterations += done
    taken = policy or policy_of(model, found.choice, done)
    if done < steps:
        options.is_late()
        least, most = span(rows_of(model, objective))
        single = (least if objective.signed else max(least, 0.0)), most
        varies = weights is not None and weights.ndim > 1
        low, high = unfinished(objective, low, high, done, single, varies=varies)
    elif options.prove and steps > 0:
        own = (taken.choice, None if taken.choice is not None else taken.weights())
        low, high = bounds_of_steps(
            rows_of(model, objective), objective, request.players, own, policy is not None, options.is_late
        )
    solution = request.solution(
        low, high, lambda: taken, lambda: request.answer_to(found.before, objective.paid)[0], unit=found.unit
    )
    # What some of the steps prove of all of them is not judged.
    return solution if done == steps else replace(solution, status=Status.STOPPED)


def _of_one_sign(request: Request, weights: Array | None) -> Reached:
    """Return bounds on probabilities, or on sums of rewards of at least 0, of which relative errors are small."""
    from umdp.solver.kernels.rounding import all_ends
    from umdp.solver.methods.backward_induction import induct

    objective, shape = request.objective, Shape.of(request.model)
    steps, x = objective.steps, objective.final
    assert steps is not None and x is not None  # noqa: PT018 - what a step bound comes with
    reward = NOTHING if objective.rewards is None else rewards_of_choices(request.model, objective.rewards)
    result = induct(
        shape, *request.bounds, steps, x, objective.kept, reward=reward, paid=objective.paid, weights=weights,
        agent_max=request.agent_max, nature_max=request.nature_max, keep=request.policy is None,
        tell=partial(_tick, request.options), watch=request.options.watch.flag,
    )  # fmt: skip
    if steps == 0:
        return Reached(x, x, result.choice, result.trace, 0)
    low, high = all_ends(result.x, np.full(shape.states, result.relative_error))
    low = np.maximum(np.nextafter(low - result.absolute_error, -np.inf), 0.0)
    high = np.where(result.x > 0, np.nextafter(high + result.absolute_error, np.inf), 0.0)
    if result.capped:
        high = np.where(result.x > 0, np.inf, 0.0)
    if objective.kind == "P":
        high = np.minimum(high, 1.0)
    if result.done == steps:
        decided, worth = objective.kept(0)
        low, high = np.where(decided, worth, low), np.where(decided, worth, high)
    return Reached(low, high, result.choice, result.trace, result.done)


def _of_any_sign(request: Request, weights: Array | None) -> Reached:
    """Return bounds on sums of rewards of any sign, of which absolute errors are small."""
    from umdp.solver.methods.signed import Signed, backward

    asked, options = request.objective, request.options
    steps, final, frozen = asked.steps, asked.final, asked.absorbing
    assert steps is not None and final is not None and frozen is not None  # noqa: PT018 - what a step bound comes with
    signed = Signed(
        Shape.of(request.model), *request.bounds, asked.rewards, agent_max=request.agent_max,
        nature_max=request.nature_max,
    )  # fmt: skip
    x, absolute_error, choices, before, done = backward(
        signed, final, frozen, steps, weights=weights, keep=request.policy is None, late=options.is_late,
        tell=partial(_tick, options),
    )  # fmt: skip
    fixed = frozen | (steps == 0)
    low = np.where(fixed, x, np.nextafter(x - absolute_error, -np.inf))
    high = np.where(fixed, x, np.nextafter(x + absolute_error, np.inf))
    if not np.isfinite(x).all():  # numbers grew too large
        low, high = np.full(x.size, -np.inf), np.full(x.size, np.inf)
    unit = max(signed.largest_reward, float(np.abs(final).max(initial=0.0)))
    return Reached(low, high, choices, before, done, unit)


def _tick(options: SolveOptions, left: int) -> bool:
    """Report the steps left to go; return whether to stop."""
    options.tell(f"{left} steps to go", np.nan)
    return options.statistics.stopped


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
            bottom, top = np.full(size, double(alone[0], up=False)), np.full(size, double(alone[1], up=True))
        elif single[0] >= 0.0:
            bottom = np.zeros(size)
        if known and done and not varies and np.isfinite(low).all() and np.isfinite(high).all():
            again, rest = divmod(asked.steps - done, done)
            least_more = again * Fraction(float(low.min())) + rest * Fraction(single[0])
            most_more = again * Fraction(float(high.max())) + rest * Fraction(single[1])
            with np.errstate(over="ignore"):
                bottom = np.maximum(bottom, np.nextafter(low + double(least_more, up=False), -np.inf))
                top = np.minimum(top, np.nextafter(high + double(most_more, up=True), np.inf))
    elif probability and asked.wait == 0 and not varies:
        bottom, top = (bottom, high) if asked.safety else (low, top)
    return np.where(decided, worth, bottom), np.where(decided, worth, top)


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
