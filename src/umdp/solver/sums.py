"""Solutions of sums whose value may have any sign: discounted ones, and those over a number of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP, Policy
from umdp.solver.confirm.returns import confirm_discounted
from umdp.solver.graph.decided import Shape
from umdp.solver.request import Request
from umdp.solver.result import Bracket, Diagnostic, Solution, Status, mdp_of
from umdp.solver.unfinished import policy_of, unfinished

__all__ = ["bounded_sum", "discounted"]

Array = NDArray[Any]


def discounted(request: Request) -> Solution:
    """Return the solution of a discounted sum; of a given policy where there is one."""
    from umdp.solver.methods.discounted import solve_discounted
    from umdp.solver.methods.signed import Signed

    model, asked, policy, options = request.model, request.objective, request.policy, request.options
    lower, upper = request.bounds
    shape, nature_max = Shape.of(model), request.nature_max
    signed = Signed(
        shape, lower, upper, asked.rewards, agent_max=request.agent_max, nature_max=nature_max, discount=asked.discount,
        weight=None if policy is None else weights_of(policy),
    )  # fmt: skip
    options.statistics.count(shape.states, 1, shape.states)
    found = solve_discounted(signed, options, model.initial, request.first_choices, fixed=policy is not None)
    low, high = found.lower, found.upper
    if asked.off > 0.0:  # a reward that is off in every step
        room = asked.off / (1.0 - asked.discount) * (1.0 + 2.0**-40)
        low, high = np.nextafter(low - room, -np.inf), np.nextafter(high + room, np.inf)
    taken = policy or Policy(model, found.steps.choice)
    low, high, sure = confirm_discounted(request, taken, (low, high))
    bracket = Bracket(float(low[model.initial]), float(high[model.initial]))

    def nature() -> MDP:
        from umdp.solver.kernels.nature import respond

        prob = np.empty(shape.transitions)
        respond(shape.choice_ptr, shape.successor, lower, upper, asked.discount * found.x, asked.paid, nature_max, prob)
        return mdp_of(model, prob)

    return Solution(
        model, request.spec, bracket, bracket, options.status(bracket, unit=signed.largest_reward), options.spent(),
        lambda: (low, high), lambda: taken, nature, diagnostics=() if sure else (Diagnostic.UNCONFIRMED,),
    )  # fmt: skip


def weights_of(policy: Policy) -> Array:
    """Return the weights (C,) of a policy that does not depend on the step."""
    weight = policy.weights()
    if weight.ndim > 1:
        raise ModelError("a step-dependent policy can be evaluated for step-bounded properties only")
    return weight


def bounded_sum(request: Request, weights: Array | None, tell: Callable[[int], bool]) -> Solution:
    """Return the solution of a bounded sum of rewards of any sign; `weights` (C,) or (K, C) are those of a given policy."""
    from umdp.solver.judge.question import rows_of
    from umdp.solver.judge.steps import bounds_of_steps
    from umdp.solver.judge.sums import span
    from umdp.solver.kernels.nature import respond
    from umdp.solver.methods.signed import Signed, backward

    model, asked, policy, options = request.model, request.objective, request.policy, request.options
    lower, upper = request.bounds
    shape, nature_max = Shape.of(model), request.nature_max
    steps, final, frozen = asked.steps, asked.final, asked.absorbing
    assert steps is not None and final is not None and frozen is not None  # noqa: PT018 - what a step bound comes with
    signed = Signed(shape, lower, upper, asked.rewards, agent_max=request.agent_max, nature_max=nature_max)
    x, off, choices, before, done = backward(
        signed, final, frozen, steps, weights=weights, keep=policy is None, late=options.is_late, tell=tell
    )
    options.statistics.iterations += done
    low, high = np.nextafter(x - off, -np.inf), np.nextafter(x + off, np.inf)
    low, high = np.where(frozen | (steps == 0), x, low), np.where(frozen | (steps == 0), x, high)
    if not np.isfinite(x).all():  # numbers grew too large
        low, high = np.full(x.size, -np.inf), np.full(x.size, np.inf)
    if done < steps:
        single = span(rows_of(model, asked))
        low, high = unfinished(asked, low, high, done, single, varies=weights is not None and weights.ndim > 1)
    taken = policy or policy_of(model, choices, done)
    if options.prove and done == steps > 0:
        own = (taken.choice, None if taken.choice is not None else taken.weights())
        low, high = bounds_of_steps(
            rows_of(model, asked), asked, request.players, own, policy is not None, options.is_late
        )
    bracket = Bracket(float(low[model.initial]), float(high[model.initial]))

    def nature() -> MDP:
        prob = np.empty(shape.transitions)
        respond(shape.choice_ptr, shape.successor, lower, upper, before, asked.paid, nature_max, prob)
        return mdp_of(model, prob)

    unit = max(signed.largest_reward, float(np.abs(final).max(initial=0.0)))
    # What some of the steps prove of all of them is not judged.
    status = options.status(bracket, unit=unit) if done == steps else Status.STOPPED
    return Solution(
        model, request.spec, bracket, bracket, status, options.spent(), lambda: (low, high), lambda: taken, nature,
    )  # fmt: skip
