"""Infinite horizons: discounted sums, and long-run averages, which are gains of end components and which of them to reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP, IntervalMDP, Policy, Rewards
from umdp.solver.confirm.returns import confirm_average, confirm_discounted
from umdp.solver.graph.decided import Shape
from umdp.solver.judge.width import as_probabilities
from umdp.solver.objective import Objective, bounds_of, players
from umdp.solver.proof.certificate import Ends
from umdp.solver.request import Request
from umdp.solver.result import Bracket, Diagnostic, Solution, mdp_of
from umdp.solver.support import cut_rows, enclosed
from umdp.solver.unbounded import unbounded
from umdp.spec import Spec

__all__ = ["average", "discounted", "of_policy", "spread_answer", "with_stops"]

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


def average(request: Request) -> Solution:
    """Return the solution of a long-run average; of a given policy where there is one."""
    model, policy = request.model, request.policy
    if policy is None:
        return _average(request, request.objective)
    chain: MDP | IntervalMDP = policy.induced(model)  # type: ignore[type-var]
    size, own = model.states, replace(request.of(chain), agent_max=request.nature_max)
    inner = _average(own, of_policy(chain, own.objective, size))

    def nature() -> MDP:
        if policy.choice is None:
            raise ModelError("nature's answer to a randomised policy is part of the induced chain; solve that instead")
        return mdp_of(model, spread_answer(model, policy.choice, inner.nature.probability))

    return Solution(
        model, request.spec, inner.bracket, inner.bracket, inner.status, inner.statistics,
        lambda: (inner.lower[:size], inner.upper[:size]), lambda: policy, nature,
    )  # fmt: skip


def _average(request: Request, asked: Objective) -> Solution:
    """Return the solution of a long-run average, given the objective.

    Whatever is done, the process ends up in an end component, and the agent may stay there or leave. So the value is that of
    stopping in one of them, at the price of its gain. Prices are what the gain misses of the best one, so that they are at
    least 0; they are paid once, so that errors of gains are passed on as they are.
    """
    from umdp.solver.judge.question import rows_of
    from umdp.solver.judge.sums import span
    from umdp.solver.kernels.end_components import end_components
    from umdp.solver.kernels.nature import respond
    from umdp.solver.kernels.rounding import EPS
    from umdp.solver.methods.average import solve_gains
    from umdp.solver.methods.signed import Signed

    model, options, agent_max, nature_max = request.model, request.options, request.agent_max, request.nature_max
    lower, upper = request.bounds
    shape = Shape.of(model)
    if isinstance(model, IntervalMDP) and bool(cut_rows(model).any()):
        assert asked.rewards is not None
        least, most = span(rows_of(model, asked))

        def uncut(other: IntervalMDP, rewards: Rewards) -> Solution:
            return _average(request.of(other), replace(asked, rewards=rewards))

        forever = most if nature_max else least
        return enclosed(request, asked.rewards, forever, uncut)
    every = np.ones(shape.states, dtype=np.bool_), np.ones(shape.choices, dtype=np.bool_)
    found, stays, _ = end_components(shape.state_ptr, shape.choice_ptr, shape.successor, lower, upper, *every)
    inside = np.logical_or.reduceat(stays, shape.state_ptr[:-1])
    names, inner = np.unique(found[inside], return_inverse=True)
    component = np.full(shape.states, -1, dtype=np.int64)
    component[inside] = inner
    signed = Signed(shape, lower, upper, asked.rewards, agent_max=agent_max, nature_max=nature_max)
    gains = solve_gains(signed, component, names.size, stays, options, request.first_choices)
    middle = 0.5 * gains.lower + 0.5 * gains.upper
    apart = 0.5 * (gains.upper - gains.lower) + 4.0 * EPS * (np.abs(gains.lower) + np.abs(gains.upper))
    options.statistics.count(shape.states, names.size, int(np.bincount(inner).max()))

    pulls = "min" if nature_max == agent_max else "max"  # a price is what nature takes away from the agent
    towards = Spec.parse(f'Rmin{pulls}=? [ F "stopped" ]')
    if not np.isfinite(middle).all():  # a component of which nothing is known leaves nothing known
        low, high = np.full(shape.states, -np.inf), np.full(shape.states, np.inf)
        choice, settled = gains.choice, inside
        prob: Callable[[], Array] = lambda: signed.low  # noqa: E731
    else:
        best = float(middle.max() if agent_max else middle.min())
        price = np.full(shape.states, np.nan)
        price[inside] = np.abs(best - middle)[inner]
        stopping = with_stops(shape, lower, upper, model.initial, price)
        solution = _reach(request, stopping.model, towards)
        # Whatever is done, one of these prices is paid in the end, however little is known of which.
        away_low, away_high = solution.lower[:-1], np.minimum(solution.upper[:-1], float(np.nanmax(price)))
        # One rounding for the price, one for the difference, of numbers up to the best gain and the price.
        room = float(apart.max()) + asked.off + 8.0 * EPS * (abs(best) + away_high)
        low, high = (best - away_high, best - away_low) if agent_max else (best + away_low, best + away_high)
        low, high = low - room, high + room
        sure = inside & (solution.upper[:-1] == price)  # staying is what there is to do
        if asked.off == 0.0:
            low = np.where(sure, np.maximum(low, _of(gains.lower, component)), low)
            high = np.where(sure, np.minimum(high, _of(gains.upper, component)), high)
        assert solution.policy.choice is not None
        choice = stopping.origin[solution.policy.choice[:-1]]
        settled = np.isin(component, component[choice < 0]) & inside
        choice = np.where(settled, gains.choice, choice)

        def prob() -> Array:
            answered = np.empty(shape.transitions)
            respond(shape.choice_ptr, shape.successor, lower, upper, gains.x, asked.paid, nature_max, answered)
            outside = np.empty(shape.transitions)
            worth = -solution.upper[:-1] if agent_max else solution.upper[:-1]
            respond(shape.choice_ptr, shape.successor, lower, upper, worth, np.empty(0), nature_max, outside)
            return np.where(np.repeat(stays, np.diff(shape.choice_ptr)), answered, outside)

    sure = True
    if np.isfinite(middle).all():
        below, above = (-away_high, -away_low) if agent_max else (away_low, away_high)
        spread = float(room.max())
        sides = (best - spread, below), (best + spread, above)
        owned = np.where(settled, component, -1)
        judged_low, judged_high, sure = confirm_average(request, asked, choice, gains.x, (owned, component), sides)
        low, high = np.minimum(low, judged_low), np.maximum(high, judged_high)
    assert asked.rewards is not None
    least, most = span(rows_of(model, asked))  # no average is beyond what single steps earn
    low, high = np.maximum(low, least - asked.off), np.minimum(high, most + asked.off)
    if asked.kind == "P":
        low, high = as_probabilities(low, high)
    bracket = Bracket(float(low[model.initial]), float(high[model.initial]))

    def stop(prices: Array) -> tuple[Solution, Array]:
        made = with_stops(shape, lower, upper, model.initial, prices)
        return _reach(request, made.model, towards), made.origin

    ends = Ends(gains.x, component, stays, settled, stop)
    return Solution(
        model, request.spec, bracket, bracket, options.status(bracket, unit=signed.largest_reward), options.spent(),
        lambda: (low, high), lambda: Policy(model, choice), lambda: mdp_of(model, prob()), ends=ends,
        diagnostics=() if sure else (Diagnostic.UNCONFIRMED,),
    )  # fmt: skip


def of_policy(chain: MDP | IntervalMDP, asked: Objective, states: int) -> Objective:
    """Return what is asked of the chain that a policy makes of a model; a randomised policy takes two steps there for one."""
    if chain.states == states or asked.rewards is None:
        return asked
    given = asked.rewards
    twice = Rewards(*(None if part is None else 2.0 * part for part in (given.state, given.choice, given.transition)))
    return replace(asked, rewards=twice if asked.kind == "R" else given)


def spread_answer(model: MDP | IntervalMDP, choice: Array, prob: Array) -> Array:
    """Return nature's probabilities (T,) where those on the choices taken (S,) are known, anything possible elsewhere."""
    lower, _ = bounds_of(model)
    sizes = np.diff(model.choice_ptr)
    whole = np.array(lower / np.repeat(np.maximum(np.add.reduceat(lower, model.choice_ptr[:-1]), 1e-300), sizes))
    taken = np.zeros(model.choices, dtype=np.bool_)
    taken[choice] = True
    whole[np.repeat(taken, sizes)] = prob
    return whole


def _reach(request: Request, model: IntervalMDP, spec: Spec) -> Solution:
    """Return what reaching an end costs in a model made of that of a request."""
    agent_max, nature_max = players(model, spec)
    return unbounded(replace(request.of(model, spec), agent_max=agent_max, nature_max=nature_max))


def _of(values: Array, component: Array) -> Array:
    """Return the value of each state's component; of the last one where a state is in none."""
    return values[component]


@dataclass(frozen=True, eq=False)
class Stopping:
    """A model with one more choice wherever one may stop, and a last state that is reached by it.

    Attributes
    ----------
    model : the model; the last state carries the label "stopped", and stopping has the price "price"
    origin : (C',) the choice of the given model that each choice is, -1 for those that stop
    """

    model: IntervalMDP
    origin: Array


def with_stops(shape: Shape, lower: Array, upper: Array, initial: int, price: Array) -> Stopping:
    """Return a model in which stopping in a state costs `price` (S,), not a number where one cannot."""
    here = ~np.isnan(price)
    sizes = np.diff(shape.state_ptr)
    origin = np.full(int(sizes.sum() + here.sum()) + 1, -1, dtype=np.int64)
    state_ptr = np.concatenate([[0], np.cumsum(sizes + here), [0]])
    state_ptr[-1] = state_ptr[-2] + 1
    origin[np.arange(shape.choices) + np.repeat(state_ptr[:-2] - shape.state_ptr[:-1], sizes)] = np.arange(
        shape.choices
    )
    own = origin >= 0
    lengths = np.ones(origin.size, dtype=np.int64)
    lengths[own] = np.diff(shape.choice_ptr)
    choice_ptr = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.repeat(own, lengths)
    successor = np.full(int(choice_ptr[-1]), shape.states, dtype=np.int32)
    low, high = np.ones(successor.size), np.ones(successor.size)
    successor[entries], low[entries], high[entries] = shape.successor, lower, upper
    cost = np.zeros(origin.size)
    cost[state_ptr[1:-1][here] - 1] = price[here]
    label = np.zeros(shape.states + 1, dtype=np.bool_)
    label[-1] = True
    model = IntervalMDP(
        state_ptr, choice_ptr, successor, low, high, initial=initial, labels={"stopped": label},
        rewards={"price": Rewards(choice=cost)},
    )  # fmt: skip
    return Stopping(model, origin)
