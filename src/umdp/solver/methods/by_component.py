"""Reachability and expected reward without step bounds, component by component."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model.structure import same_rows
from umdp.solver.kernels.rounding import EPS, LEAST, MOST, compose, ends, repeated
from umdp.solver.methods.method import EXACT, METHODS, TINY
from umdp.solver.methods.resumption import Past, renewed
from umdp.solver.methods.workspace import Workspace
from umdp.solver.objective import SolveOptions
from umdp.solver.reduction.layout import build_problem, choices_of_rows, rows_of_choices, state_quotient_of
from umdp.solver.task import Analysis, Task, Values, has_free_zero
from umdp.verify.rationals import double

if TYPE_CHECKING:
    from umdp.solver.reduction.problem import Problem

__all__ = ["resume", "solve_task"]

SHARE = 0.25  # of the choices: where more have changed, all equations are written anew
LARGE = 20_000  # states from which threads, progress and time limits matter within a component
Array = NDArray[Any]
Mask = NDArray[np.bool_]


def solve_task(task: Task, options: SolveOptions, start: Array | None = None, past: Past | None = None) -> Values:
    """Return certified values of every state; the system solved must have a unique solution.

    That is so unless nature may cut edges while pulling against the agent, which `game` reduces to this. `start` are choices (S,)
    to start from, `past` what was found for other bounds, of which what still holds is kept.
    """
    graph, decided = task.graph, task.decided
    maybe = decided.maybe
    options.statistics.count(int(np.count_nonzero(maybe)), 0, 0)

    def by_graph() -> Array:
        return np.where(decided.via >= 0, decided.via, graph.state_ptr[:-1])

    if not maybe.any():
        return Values(task, np.array(task.exits), np.zeros(2), np.where(decided.one, 0, 1), by_graph)
    plan = state_quotient_of(task)
    problem = build_problem(task, plan, options.threads) if past is None else past.problem
    # For a minimal reward, policies that never arrive look cheap at first; one that arrives is known already.
    careful = start is not None or (task.kind == "R" and not task.agent_max)
    first = rows_of_choices(task, problem, by_graph() if start is None else start) if careful else None
    workspace = solve_problem(problem, task, options, first, past)
    row = workspace.row

    def take() -> Array:
        return choices_of_rows(task, plan, problem, row)

    return Values(
        task, workspace.x, workspace.relative_error, problem.index, take, problem, row, workspace.prob,
        workspace.exact, workspace.least, workspace.slow, workspace.known_parts,
    )  # fmt: skip


def solve_problem(
    problem: Problem, task: Task, options: SolveOptions, start: Array | None, past: Past | None = None
) -> Workspace:
    """Solve component after component; the workspace then has values, relative errors, rows and nature's probabilities."""
    workspace = Workspace(problem, task, options, start, past)
    sizes = workspace.sizes
    options.statistics.count(0, sizes.size, int(sizes.max(initial=0)))
    method = METHODS[options.method]
    own = None if method.own is None else resolve_name(method.own)
    # Bounds are swept in value form, which needs probabilities that a division leaves all their digits.
    sweeps = problem.n > method.sweeps_above and not problem.faint
    elimination = method.elimination if sweeps else method.unswept
    first, tried, batch = 0, -1, 1
    last = 0 if past is not None else sizes.size
    while first < sizes.size:
        if options.is_late():
            workspace.leave(first)
            break
        if past is not None and first >= last:
            (first, last), tried = past.stale(first, workspace.x, workspace.relative_error), -1
            workspace.forget_parts(first, last)
            continue
        if own is not None and first != tried and own(workspace, first):
            first += 1
            continue
        size = int(sizes[first])
        slow = bool(workspace.slow[first])
        if sweeps and size <= LARGE and first != tried and not slow:
            first = tried = workspace.iterate_values(first, last, LARGE)
            continue
        if size <= elimination:
            # What does not settle has neighbours of its kind: leave more and more of them to elimination.
            stop, batch = min(first + batch, last) if sweeps else last, 2 * batch
            begun, first = first, workspace.eliminate(first, stop, elimination)
            workspace.slow[begun:first] = sizes[begun:first] > 1
            if first == stop or sizes[first] > elimination or options.is_late():
                continue
            if _is_vacuous(workspace, first):
                first += 1
                continue
            workspace.slow[first] = True
            loose = sizes[first] <= TINY or not _prove_large(workspace, first, swept=True, known=True)
        else:
            swept = slow or problem.faint or (sweeps and size <= LARGE)
            loose = not _prove_large(workspace, first, swept=swept)
            if loose and size <= method.elimination_at_last and not options.statistics.stopped:
                options.tell("elimination", np.nan)
                found = workspace.keep(first)
                loose = workspace.eliminate(first, first + 1, size, warm=False) == first
                workspace.back_to(found, first)
        if loose and sizes[first] <= EXACT:
            _solve_exactly(workspace, first)
        first += 1
    loose = not bool((workspace.relative_error[: problem.n] <= options.precision / 2).all())
    if loose and options.prove and not options.statistics.stopped and problem.n <= EXACT:
        # Components are tight given their exits, but errors have added up on the way: leave no error to inherit.
        for component in range(sizes.size):
            _solve_exactly(workspace, component)
    options.statistics.iterations += int(workspace.counts[0])
    return workspace


def _is_vacuous(workspace: Workspace, component: int) -> bool:
    """Whether a bracket would say nothing that is of use: what it rests on is unknown, or beyond the cutoff."""
    task, cutoff = workspace.task, workspace.options.cutoff
    if not workspace.inherited(component) < np.inf:
        return True
    if task.kind == "P" or cutoff == np.inf:
        return False
    most = float(workspace.x[workspace.unknowns(component)].max())
    return not most <= cutoff * float(task.reward.max(initial=0.0))


def _prove_large(workspace: Workspace, component: int, *, swept: bool, known: bool = False) -> bool:
    """Solve a component by sweeps and sparse systems; whether that gave bounds narrow enough.

    Where bounds are `known`, they stay if these are wider.
    """
    from umdp.solver.methods.large_component import solve_large

    before = workspace.keep(component) if known else None
    workspace.slow[component] = not solve_large(workspace, component, swept=swept)
    if before is not None:
        workspace.back_to(before, component)
    return not bool((workspace.relative_error[workspace.unknowns(component)] > workspace.options.precision / 2).any())


def _solve_exactly(workspace: Workspace, component: int) -> None:
    """Solve a small component in rationals, where floating-point arithmetic left its bracket too wide.

    Where all exits are known exactly, so are the values. Otherwise the errors of the exits are inherited, that of bounds which
    are rounded themselves (`Task.perturbation`) counts once a state and twice for the ratio (`rounding`: perturbed rows), and the
    nearest floating-point number is off by one rounding.
    """
    from umdp.solver.methods.exact import solve_exactly

    task, inner, n = workspace.task, workspace.unknowns(component), workspace.problem.n
    exits = workspace.exits(component)
    for s in range(inner.start, inner.stop):
        workspace.exact.pop(s, None)
    inherited = max((float(workspace.relative_error[t]) for t in exits if t not in workspace.exact), default=0.0)
    rows, given = workspace.problem.rows, workspace.problem.given
    own_rows = slice(*rows.row_ptr[[inner.start, inner.stop]])
    rewards = np.concatenate(
        [rows.reward if given is None else given.reward, rows.reward[own_rows]]
    )  # infinite where nobody can leave
    if not inherited < np.inf or not np.isfinite(rewards).all():
        return
    known = {t: workspace.exact[t] if t in workspace.exact else Fraction(float(workspace.x[t])) for t in exits}
    values = solve_exactly(
        workspace.problem, inner.start, inner.stop, known, workspace.row, workspace.prob, workspace.players,
        workspace.options.is_late,
    )  # fmt: skip
    if values is None:
        return
    exact = task.perturbation == 0.0 and all(t in workspace.exact or t >= n for t in exits)
    own = compose(repeated(3.0 * task.perturbation, inner.stop - inner.start), 2.0 * EPS)
    for s, value in zip(range(inner.start, inner.stop), values, strict=True):
        error = compose(inherited, own)
        workspace.x[s] = 0.0 if value == 0 else max(double(value, up=False), LEAST)
        workspace.relative_error[s] = 0.0 if value == 0 else error if value < Fraction(MOST) else np.inf
        workspace.least[s] = ends(float(workspace.x[s]), error)[0]
        if exact:
            workspace.exact[s] = value


def resume(before: Values, about: Analysis, options: SolveOptions) -> Values | None:
    """Return the values for the bounds and rewards of an analysis, starting from those found before; None if that does not do.

    It does where graph and goal are those of before, the same choices are free of charge (end components in which one can stay
    for nothing are one unknown), nature still cuts no edge, and what was found is as precise as is asked for now.
    """
    old, problem = before.task, before.problem
    same = (
        problem is not None
        and not (before.exact or before.least)
        and bool((before.error <= options.precision / 2).all())
        and (about.lower is about.upper) == (old.lower is old.upper)
        and about.reward_error == old.reward_error
        and same_rows(about.graph, old.graph)
        and _equal(about.goal, old.goal)
        and _equal(about.left, old.left)
        and np.array_equal(about.reward > 0.0, old.reward > 0.0)
    )
    if problem is None or not same or problem.n <= EXACT:
        return None
    task = replace(old, lower=about.lower, upper=about.upper, reward=about.reward)
    moved = (task.lower != old.lower) | (task.upper != old.upper)
    changed = np.logical_or.reduceat(moved, task.graph.choice_ptr[:-1])
    changed |= task.reward != old.reward if task.reward.size else False
    count = int(np.count_nonzero(changed))
    if count == 0:
        sizes = np.diff(problem.rows.comp_ptr)
        options.statistics.count(problem.n, sizes.size, int(sizes.max(initial=0)))
        return replace(before, task=task)
    if has_free_zero(task):
        return None
    fresh: Problem | None = None
    if count <= SHARE * changed.size:
        fresh = renewed(problem, task, changed)
    if (
        fresh is None
    ):  # sums of bounds that are exact merge entries, others do not: rows may have become longer, or shorter
        anew = build_problem(task, state_quotient_of(task), options.threads)
        if np.array_equal(anew.rows.row_ptr, problem.rows.row_ptr) and np.array_equal(anew.origin, problem.origin):
            fresh = anew
    return None if fresh is None else solve_task(task, options, past=Past(before, fresh, changed))


def _equal(one: Array, other: Array) -> bool:
    return one is other or np.array_equal(one, other)
