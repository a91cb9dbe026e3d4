"""Reachability, expected rewards and totals without a step bound: drafts of the solver, and what the judge confirms of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.again import mdp_of, repetition, solve_again, statistics_of
from umdp.solver.confirm.reaching import confirm
from umdp.solver.cuts import cut_rows, enclosed
from umdp.solver.judge.width import plausible, plausible_end, status_of
from umdp.solver.reduction.analysis import Analysis, analyse
from umdp.solver.result import Bracket, Solution, Status
from umdp.solver.task import Effort, Task, has_free_zero
from umdp.spec import Spec

__all__ = ["task_of", "unbounded"]

Array = NDArray[Any]


def task_of(model: MDP | IntervalMDP, spec: Spec, agent_max: bool, nature_max: bool) -> tuple[Analysis, Task]:
    """Return what is asked of a model, with nature taken not to cut edges."""
    about = analyse(model, spec)
    return about, _task(about, spec, agent_max, nature_max)


def _task(about: Analysis, spec: Spec, agent_max: bool, nature_max: bool) -> Task:
    safety = about.safety
    task = Task(
        about.edges, about.lower, about.upper, spec.kind, agent_max, nature_max,
        about.decided(spec.kind, agent_max != safety), about.reward, about.goal, about.left, safety, memo=about.memo,
        reward_error=about.reward_error, cuts=False, total=about.total,
    )  # fmt: skip
    if not task.joint and bool((np.diff(about.shape.state_ptr) == 1).all()):  # nature decides alone
        task = replace(task, agent_max=nature_max, decided=about.decided(spec.kind, nature_max != safety))
    return replace(task, goal=task.decided.one) if about.total else task


def _choices(start: Solution | Policy | None, about: Analysis) -> Array | None:
    """Return the choices (S,) to start from, on the states of an analysis."""
    policy = start.policy if isinstance(start, Solution) else start
    if policy is None or policy.choice is None or policy.choice.ndim > 1:
        return None
    return np.concatenate([policy.choice, about.shape.state_ptr[policy.choice.size : -1]])


def unbounded(
    model: MDP | IntervalMDP,
    spec: Spec,
    agent_max: bool,
    nature_max: bool,
    effort: Effort,
    begun: float,
    start: Solution | Policy | None,
    *,
    cutting: bool = False,
) -> Solution:
    """Return the solution, as far as the judge confirms it.

    With `cutting`, it is that of a total of which only the bound from above holds if nature may cut.
    """
    draft = _draft(model, spec, agent_max, nature_max, effort, begun, start, cutting=cutting)
    if not effort.prove or cutting or draft.status is Status.OPEN_ENDS:
        return draft
    kept = start is not None or "graph" in model.__dict__

    def anew() -> Solution:
        return _draft(model, spec, agent_max, nature_max, effort, begun, None, fresh=True)

    return confirm(draft, agent_max, nature_max, effort, anew if kept else None)


def _draft(
    model: MDP | IntervalMDP,
    spec: Spec,
    agent_max: bool,
    nature_max: bool,
    effort: Effort,
    begun: float,
    start: Solution | Policy | None,
    *,
    cutting: bool = False,
    fresh: bool = False,
) -> Solution:
    """Return what the solver finds; with `fresh`, without anything that is kept with the graph."""
    from umdp.solver.judge.question import one_minus
    from umdp.solver.methods.by_component import solve_task
    from umdp.solver.methods.nature import answer, spread
    from umdp.solver.methods.resumption import resume
    from umdp.solver.methods.strategy_iteration import solve_alone, solve_game

    about = analyse(model, spec, fresh=fresh)
    if about.total and not cutting and isinstance(model, IntervalMDP) and bool(cut_rows(model).any()):
        return _enclosed_total(model, spec, agent_max, nature_max, effort, begun)
    shape, safety = about.shape, about.safety
    past = start.values if isinstance(start, Solution) and start.spec == spec and not about.total else None
    resumed = None if past is None else resume(past, about, effort)
    first_choices = None if resumed is not None else _choices(start, about)
    task = _task(about, spec, agent_max, nature_max) if resumed is None else resumed.task
    if about.kept and resumed is None and isinstance(model, IntervalMDP):
        known = repetition(task)
        before = start.unknowns if isinstance(start, Solution) else None
        if known is not None:
            again = solve_again(known, model, spec, nature_max, first_choices, before, effort, begun)
            if again is not None:
                return again
    cuts = resumed is None and has_free_zero(task)
    task = replace(task, cuts=cuts)

    kept, candidate = None, None
    size, initial = model.states, model.initial
    first = np.array([initial])
    open_game = cuts and not task.joint

    def own(choice: Array) -> Bracket:
        if model.is_chain or not effort.prove:
            return bracket
        spent = replace(effort)
        chain: MDP | IntervalMDP = Policy(model, choice[:size]).induced(model)  # type: ignore[type-var]
        found = unbounded(chain, spec, nature_max, nature_max, spent, begun, None)
        effort.iterations, effort.stopped = spent.iterations, spent.stopped
        return found.bracket

    if open_game:
        game = solve_game(task, effort, first_choices)
        bracket = _bracket(spec, float(game.lower[initial]), float(game.upper[initial]))
        own_bracket = own(game.choice)
        bounds: Callable[[], tuple[Array, Array]] = lambda: (game.lower, game.upper)  # noqa: E731
        choice: Callable[[], Array] = lambda: game.choice  # noqa: E731
        prob: Callable[[], Array] = lambda: game.prob  # noqa: E731
    else:
        values, solved = resumed or (solve_alone if cuts else solve_task)(task, effort, first_choices), task
        bracket = _bracket(spec, *_one(values.between(first)))
        turn = False
        if spec.kind == "P" and not cuts and not effort.stopped and bracket.relative_width > effort.precision:
            # Where a probability is close to 1 there is more room for differences in one minus it.
            turned = replace(task, complement=not safety, agent_max=not task.agent_max, nature_max=not nature_max)
            other = solve_task(turned, effort, first_choices)
            narrow = _bracket(spec, *_one(one_minus(*other.between(first))))
            turn = narrow.upper - narrow.lower < bracket.upper - bracket.lower
            if turn:
                bracket, values, solved = narrow, other, turned
        own_bracket, kept = bracket, None if cuts or turn else values
        candidate = lambda: values.candidate(size)  # noqa: E731
        if cuts:
            own_bracket = own(values.choice)  # the graph of one policy may decide more than the graph of all
        bounds = lambda: one_minus(values.lower, values.upper) if turn else (values.lower, values.upper)  # noqa: E731
        choice = lambda: values.choice  # noqa: E731
        prob = lambda: answer(solved, values)  # noqa: E731

    def per_state() -> tuple[Array, Array]:
        return plausible(spec.kind, *(np.ascontiguousarray(bound[:size]) for bound in bounds()))

    def nature() -> MDP:
        chosen = prob()
        if cuts:  # where the graph decides, it does so because no listed transition is cut
            decided_rows = ~task.decided.maybe[shape.choice_state]
            chosen = np.where(np.repeat(decided_rows, np.diff(shape.choice_ptr)), spread(task), chosen)
        return mdp_of(model, chosen[: model.transitions])

    closed = own_bracket.relative_width <= effort.precision  # otherwise it is not for the game that the bracket is wide
    status = status_of(bracket, effort, Status.OPEN_GAME if open_game and closed else Status.IMPRECISE)
    return Solution(
        model, spec, bracket, own_bracket, status, statistics_of(effort, begun),
        per_state, lambda: Policy.trusted(model, choice()[:size]), nature, values=kept, _candidate=candidate,
    )  # fmt: skip


def _enclosed_total(
    model: IntervalMDP, spec: Spec, agent_max: bool, nature_max: bool, effort: Effort, begun: float
) -> Solution:
    """Return a bracket of a total where nature may cut transitions, and with them what pays again and again."""
    paid = model.rewards[spec.resolve_reward(list(model.rewards))]
    uncut = lambda other, _: unbounded(other, spec, agent_max, nature_max, effort, begun, None)  # noqa: E731
    worst = None
    if (
        nature_max and not agent_max
    ):  # what is not surely brought to an end may cost anything: a bound, if not a sharp one
        worst = unbounded(model, spec, agent_max, nature_max, effort, begun, None, cutting=True)
    forever = 1.0 if nature_max else 0.0  # all there is, or nothing
    return enclosed(model, spec, agent_max, nature_max, effort, begun, paid, forever, uncut, worst)


def _one(bounds: tuple[Array, Array]) -> tuple[float, float]:
    return float(bounds[0][0]), float(bounds[1][0])


def _bracket(spec: Spec, low: float, high: float) -> Bracket:
    return Bracket(*plausible_end(spec.kind, low, high))
