"""Solutions of sums whose value may have any sign: discounted ones, and those over a number of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.again import mdp_of, statistics_of
from umdp.solver.confirm.sums import confirm_discounted
from umdp.solver.graph.arrays import Shape
from umdp.solver.judge.width import status_of
from umdp.solver.objective import Objective, bounds_of
from umdp.solver.result import Bracket, Diagnostic, Solution, Status
from umdp.solver.unfinished import policy_of, unfinished

if TYPE_CHECKING:
    from umdp.solver.task import Effort
    from umdp.spec import Spec

__all__ = ["bounded_sum", "discounted"]

Array = NDArray[Any]


def discounted(
    model: MDP | IntervalMDP,
    spec: Spec,
    asked: Objective,
    agent_max: bool,
    nature_max: bool,
    effort: Effort,
    begun: float,
    *,
    start: Array | None = None,
    policy: Policy | None = None,
) -> Solution:
    """Return the solution of a discounted sum; of a given policy where there is one."""
    from umdp.solver.methods.discounted import solve_discounted
    from umdp.solver.methods.signed import Signed

    lower, upper = bounds_of(model)
    shape = Shape.of(model)
    signed = Signed(
        shape, lower, upper, asked.rewards, agent_max=agent_max, nature_max=nature_max, discount=asked.discount,
        weight=None if policy is None else weights_of(policy),
    )  # fmt: skip
    effort.undecided, effort.components, effort.largest = shape.states, 1, shape.states
    found = solve_discounted(signed, effort, model.initial, start, fixed=policy is not None)
    low, high = found.lower, found.upper
    if asked.off > 0.0:  # a reward that is off in every step
        room = asked.off / (1.0 - asked.discount) * (1.0 + 2.0**-40)
        low, high = np.nextafter(low - room, -np.inf), np.nextafter(high + room, np.inf)
    taken = policy or Policy(model, found.steps.choice)
    low, high, sure = confirm_discounted(model, asked, (agent_max, nature_max), taken, policy is not None, (low, high))
    bracket = Bracket(float(low[model.initial]), float(high[model.initial]))

    def nature() -> MDP:
        from umdp.solver.kernels.nature import respond

        prob = np.empty(shape.transitions)
        respond(shape.choice_ptr, shape.successor, lower, upper, asked.discount * found.x, asked.paid, nature_max, prob)
        return mdp_of(model, prob)

    return Solution(
        model, spec, bracket, bracket, status_of(bracket, effort, unit=signed.largest_reward), statistics_of(effort, begun),
        lambda: (low, high), lambda: taken, nature, diagnostics=() if sure else (Diagnostic.UNCONFIRMED,),
    )  # fmt: skip


def weights_of(policy: Policy) -> Array:
    """Return the weights (C,) of a policy that does not depend on the step."""
    weight = policy.weights()
    if weight.ndim > 1:
        raise ModelError("a step-dependent policy can be evaluated for step-bounded properties only")
    return weight


def bounded_sum(
    model: MDP | IntervalMDP,
    spec: Spec,
    asked: Objective,
    agent_max: bool,
    nature_max: bool,
    effort: Effort,
    begun: float,
    policy: Policy | None,
    weights: Array | None,
    tell: Callable[[int], bool],
) -> Solution:
    """Return the solution of a bounded sum of rewards of any sign; `weights` (C,) or (K, C) are those of a given policy."""
    from umdp.solver.judge.question import rows_of
    from umdp.solver.judge.steps import bounds_of_steps
    from umdp.solver.judge.sums import span
    from umdp.solver.kernels.nature import respond
    from umdp.solver.methods.signed import Signed, backward

    lower, upper = bounds_of(model)
    shape = Shape.of(model)
    steps, final, frozen = asked.steps, asked.final, asked.absorbing
    assert steps is not None and final is not None and frozen is not None  # noqa: PT018 - what a step bound comes with
    signed = Signed(shape, lower, upper, asked.rewards, agent_max=agent_max, nature_max=nature_max)
    x, off, choices, before, done = backward(
        signed, final, frozen, steps, weights=weights, keep=policy is None, late=effort.is_late, tell=tell
    )
    effort.iterations += done
    low, high = np.nextafter(x - off, -np.inf), np.nextafter(x + off, np.inf)
    low, high = np.where(frozen | (steps == 0), x, low), np.where(frozen | (steps == 0), x, high)
    if not np.isfinite(x).all():  # numbers grew too large
        low, high = np.full(x.size, -np.inf), np.full(x.size, np.inf)
    if done < steps:
        single = span(rows_of(model, asked))
        low, high = unfinished(asked, low, high, done, single, varies=weights is not None and weights.ndim > 1)
    taken = policy or policy_of(model, choices, done)
    if effort.prove and done == steps > 0:
        own = (taken.choice, None if taken.choice is not None else taken.weights())
        low, high = bounds_of_steps(
            rows_of(model, asked), asked, (agent_max, nature_max), own, policy is not None, effort.is_late
        )
    bracket = Bracket(float(low[model.initial]), float(high[model.initial]))

    def nature() -> MDP:
        prob = np.empty(shape.transitions)
        respond(shape.choice_ptr, shape.successor, lower, upper, before, asked.paid, nature_max, prob)
        return mdp_of(model, prob)

    unit = max(signed.largest_reward, float(np.abs(final).max(initial=0.0)))
    # What some of the steps prove of all of them is not judged.
    status = status_of(bracket, effort, unit=unit) if done == steps else Status.STOPPED
    return Solution(
        model, spec, bracket, bracket, status, statistics_of(effort, begun),
        lambda: (low, high), lambda: taken, nature,
    )  # fmt: skip
