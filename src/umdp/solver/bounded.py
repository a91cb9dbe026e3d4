"""Step-bounded properties: values go backwards from the last step, and every step keeps its own choice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP
from umdp.solver.graph.decided import Shape
from umdp.solver.request import Request, SolveOptions
from umdp.solver.result import Bracket, Solution, Status, mdp_of
from umdp.solver.sums import bounded_sum
from umdp.solver.unfinished import policy_of, unfinished

__all__ = ["bounded"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)


def _tick(options: SolveOptions, left: int) -> bool:
    """Report the steps left to go; return whether to stop."""
    options.tell(f"{left} steps to go", np.nan)
    return options.statistics.stopped


def bounded(request: Request) -> Solution:
    """Return the solution of a step-bounded property; of a given policy where there is one."""
    from umdp.solver.judge.question import rows_of
    from umdp.solver.judge.steps import bounds_of_steps
    from umdp.solver.judge.sums import span
    from umdp.solver.kernels.nature import respond
    from umdp.solver.kernels.rounding import all_ends
    from umdp.solver.methods.backward_induction import induct

    model, spec, policy, options = request.model, request.spec, request.policy, request.options
    agent_max, nature_max, objective = request.agent_max, request.nature_max, request.objective
    shape = Shape.of(model)
    lower, upper = request.bounds
    steps, x, paid = objective.steps, objective.final, objective.paid
    assert steps is not None and x is not None  # noqa: PT018 - what a step bound comes with
    reward = NOTHING
    if objective.rewards is not None:
        reward = np.zeros(shape.choices)
        if objective.rewards.state is not None:
            reward += objective.rewards.state[shape.choice_state]
        if objective.rewards.choice is not None:
            with np.errstate(over="ignore"):
                reward += objective.rewards.choice
    weights = None
    if policy is not None:
        if policy.steps is not None and policy.steps < steps:
            raise ModelError(f"the policy is for {policy.steps} steps, the property for {steps}")
        weights = policy.weights()
    keep = policy is None
    if keep and steps * shape.states > 2**28:
        raise ModelError(
            f"a policy for {steps} steps and {shape.states} states does not fit into memory; "
            "evaluate a given policy, or ask for fewer steps"
        )
    tell = lambda left: _tick(options, left)  # noqa: E731
    if objective.signed:
        return bounded_sum(request, weights, tell)
    result = induct(
        shape, lower, upper, steps, x, objective.kept, reward=reward, paid=paid, weights=weights, agent_max=agent_max,
        nature_max=nature_max, keep=keep, tell=tell, watch=options.watch.flag,
    )  # fmt: skip
    options.statistics.iterations += result.done
    rel = np.full(shape.states, result.rel)
    low, high = all_ends(result.x, rel)
    low = np.maximum(np.nextafter(low - result.off, -np.inf), 0.0)
    high = np.where(result.x > 0, np.nextafter(high + result.off, np.inf), 0.0)
    if result.capped:
        high = np.where(result.x > 0, np.inf, 0.0)
    decided, worth = objective.kept(0)
    if spec.kind == "P":
        high = np.minimum(high, 1.0)
    if result.done < steps:
        options.is_late()
        single = span(rows_of(model, objective))
        varies = weights is not None and weights.ndim > 1
        low, high = unfinished(objective, low, high, result.done, (max(single[0], 0.0), single[1]), varies=varies)
    else:
        low, high = np.where(decided, worth, low), np.where(decided, worth, high)
    if steps == 0:
        low = high = x
    taken = policy or policy_of(model, result.choice, result.done)
    if options.prove and result.done == steps > 0:
        own = (taken.choice, None if taken.choice is not None else taken.weights())
        low, high = bounds_of_steps(
            rows_of(model, objective), objective, request.players, own, policy is not None, options.is_late
        )
    bracket = Bracket(float(low[model.initial]), float(high[model.initial]))
    # What some of the steps prove of all of them is not judged.
    status = options.status(bracket) if result.done == steps else Status.STOPPED

    def nature() -> MDP:
        prob = np.empty(shape.transitions)
        respond(shape.choice_ptr, shape.successor, lower, upper, result.trace, paid, nature_max, prob)
        return mdp_of(model, prob)

    return Solution(
        model, spec, bracket, bracket, status, options.spent(), lambda: (low, high),
        lambda: taken, nature,
    )  # fmt: skip
