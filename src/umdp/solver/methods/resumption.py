"""Solving a large problem again with other bounds: what did not change stays, the rest starts from the values of before.

Components are solved in order, successors first. One whose rows are the same, and whose exits have the same values and errors to
the last bit, has the bounds it had: their proof is about nothing else.

Equations are written anew where bounds have changed, and copied elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.changes import carry, differing, next_stale
from umdp.solver.kernels.equations import splice
from umdp.solver.methods.by_component import solve_task
from umdp.solver.methods.table import EXACT
from umdp.solver.reduction.equations import build, quotient_of
from umdp.solver.reduction.layout import lay_out, plan_of
from umdp.solver.reduction.problem import Given, Problem
from umdp.solver.task import has_free_zero

if TYPE_CHECKING:
    from umdp.solver.reduction.analysis import Analysis
    from umdp.solver.reduction.problem import Problem
    from umdp.solver.request import SolveOptions
    from umdp.solver.task import Task, Values

__all__ = ["Past", "renewed", "resume"]


def renewed(problem: Problem, task: Task, changed: Array) -> Problem | None:
    """Return a problem with the rows of changed choices (C,) written anew; None where that would change which there are."""
    plan, graph, n = plan_of(task), task.graph, problem.n
    touched = np.zeros(n + 2, np.bool_)
    touched[plan.index[graph.choice_state[changed]]] = True
    unknowns = np.flatnonzero(touched[:n])
    members = plan.order[touched[plan.index[plan.order]]]
    quotient = quotient_of(plan.index, members, task.decided.usable, plan.stays, n)
    part = build(task.rows, quotient, np.array([n]), problem.exits)
    low = np.array(problem.lower)
    high = low if problem.plain else np.array(problem.upper)
    slack, reward = np.array(problem.slack), np.array(problem.reward)
    if not splice(unknowns, part.rows, problem.rows._replace(lower=low, upper=high, slack=slack, reward=reward)):
        return None
    given = Given(graph.choice_ptr, graph.successor, task.lower, task.upper, task.reward, plan.stays)
    order = np.array(problem.order)
    return replace(problem, lower=low, upper=high, slack=slack, reward=reward, order=order, given=given)


Array = NDArray[Any]
SHARE = 0.25  # of the choices: where more have changed, all equations are written anew
MORE = 64  # components to solve at once, for a start


class Past:
    """What was found before about a problem with the same unknowns, components and rows.

    Attributes
    ----------
    problem : the rows of now
    row, prob : what was taken, and nature's answer to it
    slow : (components,) those that sweeps did not settle
    parts : bounds in two parts, where these were found
    """

    def __init__(self, before: Values, problem: Problem, changed: Array) -> None:
        assert before.row is not None and before.prob is not None  # noqa: PT018 - both come with a problem
        assert before.problem is not None and before.slow is not None  # noqa: PT018 - likewise
        self.problem, self.row, self.slow = problem, before.row, before.slow
        self.prob, self.parts = before.prob, before.parts
        if problem.target is not before.problem.target:
            self.prob = np.array(problem.lower)
            carry(problem.entry_ptr, self.prob, before.problem.entry_ptr, before.prob)
        self._x, self._rel, self._changed = before.found, before.error, changed
        self._batch, self._last = MORE, -1

    def fill(self, x: Array, rel: Array) -> None:
        """Write the values and errors of before."""
        x[:], rel[:] = self._x, self._rel

    def stale(self, first: int, x: Array, rel: Array) -> tuple[int, int]:
        """Return a range of components to solve: it begins with the first from `first` on that is not as it was."""
        p = self.problem
        begin = int(next_stale(first, p.rows, p.origin, self._changed, x, rel, self._x, self._rel))
        # Where one is followed by others that are not, it is cheaper to solve some for nothing than to ask for each.
        self._batch = 2 * self._batch if begin == self._last else MORE
        self._last = min(begin + self._batch, p.comp_ptr.size - 1)
        if (
            begin < self._last and self.slow[begin + 1 : self._last].any()
        ):  # what is slow is solved alone, or not at all
            self._last = begin + 1 + int(np.argmax(self.slow[begin + 1 : self._last]))
        return begin, self._last


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
        and _equal(about.shape.state_ptr, old.graph.state_ptr)
        and _equal(about.shape.choice_ptr, old.graph.choice_ptr)
        and _equal(about.shape.successor, old.graph.successor)
        and _equal(about.goal, old.goal)
        and _equal(about.left, old.left)
        and np.array_equal(about.reward > 0.0, old.reward > 0.0)
    )
    if problem is None or not same or problem.n <= EXACT:
        return None
    task = replace(old, lower=about.lower, upper=about.upper, reward=about.reward)
    changed = differing(task.graph.choice_ptr, task.lower, task.upper, task.reward, old.lower, old.upper, old.reward)
    count = int(np.count_nonzero(changed))
    if count == 0:
        options.statistics.count(problem.n, problem.comp_ptr.size - 1, int(np.diff(problem.comp_ptr).max(initial=0)))
        return replace(before, task=task)
    if has_free_zero(task):
        return None
    fresh: Problem | None = None
    if count <= SHARE * changed.size:
        fresh = renewed(problem, task, changed)
    if (
        fresh is None
    ):  # sums of bounds that are exact merge entries, others do not: rows may have become longer, or shorter
        rows = lay_out(task, threads=options.threads).problem
        if np.array_equal(rows.row_ptr, problem.row_ptr) and np.array_equal(rows.origin, problem.origin):
            fresh = rows
    return None if fresh is None else solve_task(task, options, past=Past(before, fresh, changed))


def _equal(one: Array, other: Array) -> bool:
    return one is other or np.array_equal(one, other)
