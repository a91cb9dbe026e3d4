"""Infinite horizons: discounted sums, and long-run averages, which are gains of end components and which of them to reach.

Bounds are moved outwards until the judge confirms them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy, Rewards
from umdp.model.policy import taken_choices
from umdp.model.structure import mask_of
from umdp.solver.graph.decided import Shape
from umdp.solver.judge.question import TwoPart, as_probabilities, rows_of
from umdp.solver.objective import Objective, Request, bounds_of, players
from umdp.solver.proof.certificate import Ends
from umdp.solver.result import Diagnostic, Solution
from umdp.solver.support import enclosed
from umdp.solver.task import cut_rows
from umdp.solver.unbounded import unbounded
from umdp.spec import Spec

if TYPE_CHECKING:
    from umdp.solver.methods.gains import Gains

__all__ = ["average", "discounted", "of_policy", "spread_answer", "with_stops"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)
NOWHERE: Array = np.empty(0, np.int64)
WIDER = (0.0, *(2.0**-power for power in range(50, 21, -4)))  # of the largest value or reward


def discounted(request: Request) -> Solution:
    """Return the solution of a discounted sum; of a given policy where there is one."""
    from umdp.solver.methods.discounted import solve_discounted
    from umdp.solver.methods.signed import Signed

    model, asked, policy, options = request.model, request.objective, request.policy, request.options
    signed = Signed(
        Shape.of(model), *request.bounds, asked.rewards, agent_max=request.agent_max, nature_max=request.nature_max,
        discount=asked.discount, weight=None if policy is None else policy.weights(),
    )  # fmt: skip
    options.statistics.count(model.states, 1, model.states)
    found = solve_discounted(signed, options, model.initial, request.first_choices, fixed=policy is not None)
    low, high = found.lower, found.upper
    if asked.reward_error > 0.0:  # a reward that is off in every step
        room = asked.reward_error / (1.0 - asked.discount) * (1.0 + 2.0**-40)
        low, high = np.nextafter(low - room, -np.inf), np.nextafter(high + room, np.inf)
    taken = policy or Policy(model, found.steps.choice)
    low, high, sure = confirm_discounted(request, taken, (low, high))
    return request.solution(
        low, high, lambda: taken, lambda: request.answer_to(asked.discount * found.x, asked.paid)[0],
        unit=signed.largest_reward, diagnostics=() if sure else (Diagnostic.UNCONFIRMED,),
    )  # fmt: skip


def average(request: Request) -> Solution:
    """Return the solution of a long-run average; of a given policy where there is one."""
    model, policy = request.model, request.policy
    if policy is None:
        return _average(request)
    own = request.of_policy(policy)
    inner = _average(replace(own, lowered=of_policy(own.model, own.objective, model.states)))
    return request.solution_of(inner, policy, lambda: spread_answer(model, policy, inner.nature.probability))


def _average(request: Request) -> Solution:
    """Return the solution of a long-run average.

    Whatever is done, the process ends up in an end component, and the agent may stay there or leave. So the value is that of
    stopping in one of them, at the price of its gain. Prices are what the gain misses of the best one, so that they are at
    least 0; they are paid once, so that errors of gains are passed on as they are.
    """
    from umdp.solver.judge.horizons import span
    from umdp.solver.methods.gains import solve_gains
    from umdp.solver.methods.signed import Signed

    model, asked, options, nature_max = request.model, request.objective, request.options, request.nature_max
    (lower, upper), shape = request.bounds, Shape.of(model)
    assert asked.rewards is not None
    least, most = span(rows_of(model, asked))
    if isinstance(model, IntervalMDP) and bool(cut_rows(model).any()):

        def uncut(other: IntervalMDP, rewards: Rewards) -> Solution:
            return _average(replace(request.of(other), lowered=replace(asked, rewards=rewards)))

        return enclosed(request, asked.rewards, most if nature_max else least, uncut)
    parts = _end_components(shape, lower, upper)
    signed = Signed(shape, lower, upper, asked.rewards, agent_max=request.agent_max, nature_max=nature_max)
    gains = solve_gains(signed, parts.component, parts.number, parts.stays, options, request.first_choices)
    options.statistics.count(shape.states, parts.number, int(np.bincount(parts.component[parts.inside]).max()))
    if np.isfinite(gains.lower).all() and np.isfinite(gains.upper).all():
        ended = _leave_or_stay(request, gains, parts)
    else:  # a component of which nothing is known leaves nothing known
        nothing = np.full(shape.states, np.inf)
        ended = EndingBounds(-nothing, nothing, gains.choice, parts.inside, lambda: signed.low)
    # No average is beyond what single steps earn.
    low, high = np.maximum(ended.low, least - asked.reward_error), np.minimum(ended.high, most + asked.reward_error)
    if asked.kind == "P":
        low, high = as_probabilities(low, high)

    def stop(prices: Array) -> tuple[Solution, Array]:
        stopping, origin = with_stops(shape, lower, upper, model.initial, prices)
        return _reach(request, stopping), origin

    return request.solution(
        low, high, lambda: Policy(model, ended.choice), ended.prob, unit=signed.largest_reward,
        ends=Ends(gains.x, parts.component, parts.stays, ended.staying, stop),
        diagnostics=() if ended.sure else (Diagnostic.UNCONFIRMED,),
    )  # fmt: skip


class EndComponents(NamedTuple):
    """End components: that of every state (S,), -1 outside of all; the choices (C,) that stay in them; how many there are."""

    component: Array
    stays: Array
    number: int

    @property
    def inside(self) -> Array:
        """The states (S,) of end components."""
        return np.asarray(self.component >= 0)


def _end_components(shape: Shape, lower: Array, upper: Array) -> EndComponents:
    """Return the end components of a model of which nature cuts no transition."""
    from umdp.solver.kernels.end_components import end_components
    from umdp.solver.kernels.structs import ChoiceRows

    rows = ChoiceRows.of(shape.state_ptr, shape.choice_ptr, shape.successor, lower, upper, np.empty(0))
    found, stays, _ = end_components(
        rows, np.ones(shape.states, dtype=np.bool_), np.ones(shape.choices, dtype=np.bool_)
    )
    inside = np.logical_or.reduceat(stays, shape.state_ptr[:-1])
    names, inner = np.unique(found[inside], return_inverse=True)
    component = np.full(shape.states, -1, dtype=np.int64)
    component[inside] = inner
    return EndComponents(component, stays, names.size)


class EndingBounds(NamedTuple):
    """What leaving and staying in end components comes to.

    Attributes
    ----------
    low, high : (S,) bounds on the average
    choice, staying : (S,) the choices taken, and the states in which the end component is not left any more
    prob : returns nature's answer (T,)
    sure : whether the judge confirms bounds that are about those found
    """

    low: Array
    high: Array
    choice: Array
    staying: Array
    prob: Callable[[], Array]
    sure: bool = True


def _leave_or_stay(request: Request, gains: Gains, parts: EndComponents) -> EndingBounds:
    """Return what the process is worth where every end component may be stopped in, at the price of its gain."""
    from umdp.solver.kernels.rounding import EPS

    model, asked, agent_max = request.model, request.objective, request.agent_max
    (lower, upper), shape, component, inside = request.bounds, Shape.of(model), parts.component, parts.inside
    middle = 0.5 * gains.lower + 0.5 * gains.upper
    apart = 0.5 * (gains.upper - gains.lower) + 4.0 * EPS * (np.abs(gains.lower) + np.abs(gains.upper))
    best = float(middle.max() if agent_max else middle.min())
    price = np.full(shape.states, np.nan)
    price[inside] = np.abs(best - middle)[component[inside]]
    stopping, origin = with_stops(shape, lower, upper, model.initial, price)
    solution = _reach(request, stopping)
    # Whatever is done, one of these prices is paid in the end, however little is known of which.
    away_low, away_high = solution.lower[:-1], np.minimum(solution.upper[:-1], float(np.nanmax(price)))
    # One rounding for the price, one for the difference, of numbers up to the best gain and the price.
    room = float(apart.max()) + asked.reward_error + 8.0 * EPS * (abs(best) + away_high)
    below, above = (-away_high, -away_low) if agent_max else (away_low, away_high)
    low, high = best + below - room, best + above + room
    if asked.reward_error == 0.0:
        stays = inside & (solution.upper[:-1] == price)  # that is what there is to do
        low = np.where(stays, np.maximum(low, gains.lower[component]), low)
        high = np.where(stays, np.minimum(high, gains.upper[component]), high)
    assert solution.policy.choice is not None
    choice = origin[solution.policy.choice[:-1]]
    staying = np.isin(component, component[choice < 0]) & inside
    choice, spread = np.where(staying, gains.choice, choice), float(room.max())

    def prob() -> Array:
        worth = -solution.upper[:-1] if agent_max else solution.upper[:-1]
        inner, outer = request.answer_to(gains.x, asked.paid)[0], request.answer_to(worth, np.empty(0))[0]
        return np.where(np.repeat(parts.stays, np.diff(shape.choice_ptr)), inner, outer)

    owned, sides = (np.where(staying, component, -1), component), ((best - spread, below), (best + spread, above))
    judged_low, judged_high, sure = confirm_average(request, choice, gains.x, owned, sides)
    return EndingBounds(np.minimum(low, judged_low), np.maximum(high, judged_high), choice, staying, prob, sure)


def of_policy(chain: MDP | IntervalMDP, asked: Objective, states: int) -> Objective:
    """Return what is asked of the chain that a policy makes of a model; a randomised policy takes two steps there for one."""
    if chain.states == states or asked.rewards is None:
        return asked
    given = asked.rewards
    twice = Rewards(*(None if part is None else 2.0 * part for part in (given.state, given.choice, given.transition)))
    return replace(asked, rewards=twice if asked.kind == "R" else given)


def spread_answer(model: MDP | IntervalMDP, policy: Policy, prob: Array) -> Array:
    """Return nature's probabilities (T,) where those on the choices of a policy are known, anything possible elsewhere."""
    lower, _ = bounds_of(model)
    sizes = np.diff(model.choice_ptr)
    whole = np.array(lower / np.repeat(np.maximum(np.add.reduceat(lower, model.choice_ptr[:-1]), 1e-300), sizes))
    whole[np.repeat(taken_choices(policy), sizes)] = prob
    return whole


def _reach(request: Request, model: IntervalMDP) -> Solution:
    """Return what stopping costs in a model made of that of a request; a price is what nature takes away from the agent."""
    spec = Spec.parse(f'Rmin{"min" if request.nature_max == request.agent_max else "max"}=? [ F "stopped" ]')
    agent_max, nature_max = players(model, spec)
    return unbounded(replace(request.of(model, spec), agent_max=agent_max, nature_max=nature_max))


def with_stops(shape: Shape, lower: Array, upper: Array, initial: int, price: Array) -> tuple[IntervalMDP, Array]:
    """Return a model in which stopping in a state costs `price` (S,), not a number where one cannot.

    Its last state, which stopping leads to, carries the label "stopped". The second array has the choice of the given model
    that each choice is, -1 for those that stop.
    """
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
    labels, rewards = {"stopped": mask_of(-1, shape.states + 1)}, {"price": Rewards(choice=cost)}
    model = IntervalMDP(state_ptr, choice_ptr, successor, low, high, initial=initial, labels=labels, rewards=rewards)
    return model, origin


def confirm_discounted(request: Request, policy: Policy, bounds: tuple[Array, Array]) -> tuple[Array, Array, bool]:
    """Return bounds (S,) on a discounted sum that the judge confirms, and whether they are about those given.

    `policy` is the one found; where the request has one, both bounds are of its own value.
    """
    from umdp.solver.judge.horizons import Play, examine_discounted, span

    (agent_max, nature_max), model, asked = request.players, request.model, request.objective
    (low, high), given = bounds, request.policy is not None
    rows, sides, sure = rows_of(model, asked), [], True
    choice = NOWHERE if policy.choice is None else np.array(policy.choice)
    weight = np.array(policy.weights()) if policy.choice is None else NOTHING
    fails = np.zeros(model.states, np.bool_)
    for bound, sign, every in ((low, -1.0, not agent_max and not given), (high, 1.0, agent_max and not given)):
        play = Play(nature_max, every, choice, weight)
        size = float(np.abs(bound).max(initial=0.0))
        finite, ask = bool(np.isfinite(bound).all()), (rows, play, asked.discount, asked.reward_error)
        near = (TwoPart(bound + sign * share * size, np.zeros(bound.size)) for share in WIDER if finite)
        found = next((each.base for each in near if examine_discounted(*ask, each, sign, fails) == 0), None)
        sure = sure and (found is not None or not finite)
        if found is None:  # what every step earns at least (at most), for ever
            extreme = span(rows)[int(sign > 0)]
            ever = (extreme + sign * asked.reward_error) / (1.0 - asked.discount)
            flat = TwoPart(np.full(bound.size, ever + sign * 2.0**-40 * abs(ever)), np.zeros(bound.size))
            held = examine_discounted(*ask, flat, sign, fails) == 0
            found = flat.base if held else np.full(bound.size, sign * np.inf)
        sides.append(found)
    return sides[0], sides[1], sure


def confirm_average(
    request: Request,
    choice: Array,
    values: Array,
    components: tuple[Array, Array],
    sides: tuple[tuple[float, Array], tuple[float, Array]],
) -> tuple[Array, Array, bool]:
    """Return bounds (S,) on a long-run average that the judge confirms, and whether they are about those given.

    `components` (S,) are those in which the policy stays, and all; `sides` are gains as sums, ``base + offset``.
    """
    from umdp.solver.judge.horizons import GainVectors, Play, examine_average

    (agent_max, nature_max), asked = request.players, request.objective
    rows, found, sure = rows_of(request.model, asked), [], True
    fails = np.zeros(request.model.states, np.bool_)
    for (base, offset), sign, every in zip(sides, (-1.0, 1.0), (not agent_max, agent_max), strict=True):
        component = components[1 if every else 0]
        inside = component >= 0
        offset = np.array(offset)
        if inside.any():  # one gain a component, the outer one
            ends = np.full(int(component.max()) + 1, -sign * np.inf)
            (np.maximum if sign > 0 else np.minimum).at(ends, component[inside], offset[inside])
            offset[inside] = ends[component[inside]]
        play = Play(nature_max, every, np.array(choice), NOTHING)
        size = max(abs(base), float(np.abs(offset).max(initial=0.0)), float(np.abs(values).max(initial=0.0)))
        finite = np.isfinite(base) and np.isfinite(offset).all()
        near = (TwoPart(np.full(offset.size, base + sign * share * size), offset) for share in WIDER if finite)
        gains = (GainVectors(gain, values, component) for gain in near)
        passed = (
            each.gain for each in gains if examine_average(rows, play, asked.reward_error, each, sign, fails) == 0
        )
        held = next((np.nextafter(gain.base + gain.offset, sign * np.inf) for gain in passed), None)
        sure = sure and held is not None
        found.append(np.full(offset.size, sign * np.inf) if held is None else held)
    return found[0], found[1], sure
