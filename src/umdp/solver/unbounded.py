"""Reachability, expected rewards and totals without a step bound: one road from a request to what the judge confirms.

The graph is analysed, the system built, or taken from where it is kept with the graph and renewed, solved and judged. A small
system does that in one call (`system`). What is left is solved component after component, and shown to the judge as a draft.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.confirm.drafts import confirm, confirm_above
from umdp.solver.judge.question import one_minus, plausible, plausible_end
from umdp.solver.objective import Request
from umdp.solver.result import Bracket, Solution, Status, mdp_of
from umdp.solver.support import enclosed
from umdp.solver.task import Analysis, Task, Values, analyse, cut_rows, has_free_zero, task_of
from umdp.spec import Spec

__all__ = ["unbounded"]

Array = NDArray[Any]


def unbounded(request: Request, *, cutting: bool = False) -> Solution:
    """Return the solution, as far as the judge confirms it; of a given policy where there is one.

    With `cutting`, it is that of a total of which only the bound from above holds if nature may cut.
    """
    if request.policy is not None:
        return _of_policy(request, request.policy)
    model, spec, options = request.model, request.spec, request.options
    about = analyse(model, spec)
    if about.total and not cutting and isinstance(model, IntervalMDP) and bool(cut_rows(model).any()):
        return _enclosed_total(request, model)
    values: Values | None = (
        request.start.values if isinstance(request.start, Solution) and request.start.spec == spec else None
    )
    if options.prove and values is None:
        from umdp.solver.system import cached_system

        system = cached_system(about, request)
        found = None if system is None else system.solve(request, lambda: _draft(request, about))
        if found is not None:
            return found
    draft = _draft(request, about, values)
    if not options.prove or draft.status is Status.OPEN_ENDS:
        return draft
    kept = request.start is not None or "graph" in model.__dict__

    def anew() -> Solution:
        return _draft(replace(request, start=None), analyse(model, spec, fresh=True))

    if cutting:
        return confirm_above(draft, request, anew)
    return confirm(draft, request, anew if kept else None)


def _draft(request: Request, about: Analysis, values: Values | None = None) -> Solution:
    """Return what the solver finds, from values of before where these are given."""
    from umdp.solver.methods.by_component import resume

    resumed = None if values is None or about.total else resume(values, about, request.options)
    if resumed is not None:
        return _by_values(request, resumed.task, None, resumed)
    task = task_of(about, request.spec.kind, *request.players)
    task = replace(task, support_may_shrink=has_free_zero(task))
    first = request.first_choices
    if first is not None:
        first = np.concatenate([first, about.graph.state_ptr[first.size : -1]])
    if task.support_may_shrink and not task.joint:
        return _by_strategies(request, task, first)
    return _by_values(request, task, first)


def _drafted(
    request: Request, task: Task, bracket: Bracket, choice: Callable[[], Array], prob: Callable[[], Array],
    bounds: Callable[[], tuple[Array, Array]], **more: Any,
) -> Solution:  # fmt: skip
    """Return the draft with a bracket of the initial state; the rest is worked out when it is asked for."""
    from umdp.solver.methods.natures_answer import spread

    model, spec, options, shrinks = request.model, request.spec, request.options, task.support_may_shrink
    size = model.states

    def per_state() -> tuple[Array, Array]:
        return plausible(spec.kind, *(np.ascontiguousarray(bound[:size]) for bound in bounds()))

    def nature() -> MDP:
        chosen = prob()
        if shrinks:  # where the graph decides, it does so because no listed transition is cut
            decided_rows = ~task.decided.maybe[task.graph.choice_state]
            chosen = np.where(np.repeat(decided_rows, task.graph.sizes), spread(task), chosen)
        return mdp_of(model, chosen[: model.transitions])

    # The graph of one policy may decide more than the graph of all.
    own = _own_bracket(request, bracket, choice()) if shrinks else bracket
    # Where the policy's own bracket is wide, too, it is not for the game.
    game = shrinks and not task.joint and own.relative_width <= options.precision
    return Solution(
        model, spec, bracket, own, options.status(bracket, Status.OPEN_GAME if game else Status.IMPRECISE), options.spent(),
        per_state, lambda: Policy.trusted(model, choice()[:size]), nature, **more,
    )  # fmt: skip


def _by_strategies(request: Request, task: Task, first: Array | None) -> Solution:
    """Return what strategy iteration finds where nature may cut edges and pulls against the agent."""
    from umdp.solver.methods.strategy_iteration import solve_game

    game, initial = solve_game(task, request.options, first), request.model.initial
    bracket = _bracket(request.spec, float(game.lower[initial]), float(game.upper[initial]))
    return _drafted(request, task, bracket, lambda: game.choice, lambda: game.prob, lambda: (game.lower, game.upper))


def _by_values(request: Request, task: Task, first: Array | None, resumed: Values | None = None) -> Solution:
    """Return what is found component after component, where one player decides or nature cuts no edge."""
    from umdp.solver.methods.by_component import solve_task
    from umdp.solver.methods.natures_answer import answer
    from umdp.solver.methods.strategy_iteration import solve_alone

    spec, options, shrinks = request.spec, request.options, task.support_may_shrink
    initial, size = np.array([request.model.initial]), request.model.states
    values, solved = resumed or (solve_alone if shrinks else solve_task)(task, options, first), task
    bracket, turn = _bracket(spec, *_one(values.between(initial))), False
    stopped = options.statistics.stopped
    if spec.kind == "P" and not shrinks and not stopped and bracket.relative_width > options.precision:
        # Where a probability is close to 1 there is more room for differences in one minus it.
        turned = replace(
            task, complement=not task.complement, agent_max=not task.agent_max, nature_max=not task.nature_max
        )
        other = solve_task(turned, options, first)
        narrow = _bracket(spec, *_one(one_minus(*other.between(initial))))
        turn = narrow.upper - narrow.lower < bracket.upper - bracket.lower
        if turn:
            bracket, values, solved = narrow, other, turned
    return _drafted(
        request, task, bracket, lambda: values.choice, lambda: answer(solved, values),
        lambda: one_minus(values.lower, values.upper) if turn else (values.lower, values.upper),
        values=None if shrinks or turn else values, _candidate=lambda: values.candidate(size),
    )  # fmt: skip


def _own_bracket(request: Request, bracket: Bracket, choice: Array) -> Bracket:
    """Return bounds on the value of a policy; those of the best one where there is no other, or no proof is wanted."""
    model = request.model
    if model.is_chain or not request.options.prove:
        return bracket
    return unbounded(request.of_policy(Policy(model, choice[: model.states]))).bracket


def _of_policy(request: Request, policy: Policy) -> Solution:
    """Return the solution of a given policy: that of the chain which it makes of the model."""
    inner, size = unbounded(request.of_policy(policy)), request.model.states
    paid = request.objective.paid
    return request.solution_of(inner, policy, lambda: request.answer_to(inner.upper[:size], paid)[0])


def _enclosed_total(request: Request, model: IntervalMDP) -> Solution:
    """Return a bracket of a total where nature may cut transitions, and with them what pays again and again."""
    paid = model.rewards[request.spec.resolve_reward(list(model.rewards))]
    worst = None
    if request.nature_max and not request.agent_max:
        # What is not surely brought to an end may cost anything: a bound, if not a sharp one.
        worst = unbounded(replace(request, start=None), cutting=True)
    forever = 1.0 if request.nature_max else 0.0  # all there is, or nothing
    return enclosed(request, paid, forever, lambda other, _: unbounded(request.of(other)), worst)


def _one(bounds: tuple[Array, Array]) -> tuple[float, float]:
    return float(bounds[0][0]), float(bounds[1][0])


def _bracket(spec: Spec, low: float, high: float) -> Bracket:
    return Bracket(*plausible_end(spec.kind, low, high))
