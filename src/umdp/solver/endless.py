"""What has no end to reach: discounted sums and long-run averages, of the best policy or of a given one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from umdp.errors import ModelError
from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.again import mdp_of
from umdp.solver.long_run import average, of_policy, spread_answer
from umdp.solver.objective import objective_of
from umdp.solver.result import Solution
from umdp.solver.sums import discounted
from umdp.solver.task import Effort
from umdp.spec import Spec

__all__ = ["ENDLESS", "endless"]

ENDLESS = ("discounted", "average")
Reach: TypeAlias = Callable[[IntervalMDP, Spec, Effort, float], Solution]


def endless(
    model: MDP | IntervalMDP,
    spec: Spec,
    agent_max: bool,
    nature_max: bool,
    effort: Effort,
    begun: float,
    start: Solution | Policy | None,
    policy: Policy | None,
    reached: Reach,
) -> Solution:
    """Return the solution; `reached` solves for the price of reaching an end, which averages come down to."""
    asked = objective_of(model, spec)
    given = start.policy if isinstance(start, Solution) else start
    choice = None if given is None or given.choice is None or given.choice.ndim > 1 else given.choice
    if asked.aim == "discounted":
        return discounted(model, spec, asked, agent_max, nature_max, effort, begun, start=choice, policy=policy)

    def reach(other: IntervalMDP, price: Spec) -> Solution:
        return reached(other, price, effort, begun)

    if policy is None:
        return average(model, spec, asked, agent_max, nature_max, effort, begun, reach, start=choice)
    chain: MDP | IntervalMDP = policy.induced(model)  # type: ignore[type-var]
    asked = of_policy(chain, objective_of(chain, spec), model.states)
    inner = average(chain, spec, asked, nature_max, nature_max, effort, begun, reach)
    size = model.states

    def nature() -> MDP:
        if policy.choice is None:
            raise ModelError("nature's answer to a randomised policy is part of the induced chain; solve that instead")
        prob = spread_answer(model, policy.choice, inner.nature.probability)
        return mdp_of(model, prob)

    return Solution(
        model, spec, inner.bracket, inner.bracket, inner.status, inner.statistics,
        lambda: (inner.lower[:size], inner.upper[:size]), lambda: policy, nature,
    )  # fmt: skip
