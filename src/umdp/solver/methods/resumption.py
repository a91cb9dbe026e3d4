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

from umdp.model.structure import entries_of, mask_of
from umdp.solver.kernels.equations import next_stale
from umdp.solver.reduction.layout import state_quotient_of
from umdp.solver.reduction.problem import build, quotient_of

if TYPE_CHECKING:
    from umdp.solver.reduction.problem import Problem
    from umdp.solver.task import Task, Values

__all__ = ["Past", "renewed"]


def renewed(problem: Problem, task: Task, changed: Array) -> Problem | None:
    """Return a problem with the rows of changed choices (C,) written anew; None where that would change which there are."""
    plan, graph, n = state_quotient_of(task), task.graph, problem.n
    touched = mask_of(plan.index[graph.choice_state[changed]], n + 2)
    unknowns = np.flatnonzero(touched[:n])
    members = plan.order[touched[plan.index[plan.order]]]
    quotient = quotient_of(plan.index, members, task.decided.usable, plan.stays, n)
    part = build(task.rows, quotient, np.array([n]), problem.exits)
    old, new = problem.rows, part.rows
    here, there = entries_of(old.row_ptr, unknowns), entries_of(new.row_ptr, unknowns)
    mine, other = entries_of(old.entry_ptr, here), entries_of(new.entry_ptr, there)
    alike = (
        np.array_equal(np.diff(old.row_ptr)[unknowns], np.diff(new.row_ptr)[unknowns])
        and np.array_equal(np.diff(old.entry_ptr)[here], np.diff(new.entry_ptr)[there])
        and np.array_equal(old.target[mine], new.target[other])
    )
    if not alike:
        return None
    low = _patched(old.lower, mine, new.lower[other])
    high = low if problem.plain else _patched(old.upper, mine, new.upper[other])
    rows = old._replace(
        lower=low, upper=high, slack=_patched(old.slack, here, new.slack[there]),
        reward=_patched(old.reward, here, new.reward[there]), order=np.array(old.order),
    )  # fmt: skip
    return replace(problem, rows=rows, given=task.rows)


def _patched(values: Array, places: Array, new: Array) -> Array:
    """Return a copy with new values in some places."""
    found = np.array(values)
    found[places] = new
    return found


Array = NDArray[Any]
MORE = 64  # components to solve at once, for a start


class Past:
    """What was found before about a problem with the same unknowns, components and rows.

    Attributes
    ----------
    problem : the rows of now
    x, relative_error : the values and errors of before
    row, prob : what was taken, and nature's answer to it
    slow : (components,) those that sweeps did not settle
    parts : bounds in two parts, where these were found
    """

    def __init__(self, before: Values, problem: Problem, changed: Array) -> None:
        assert before.row is not None and before.prob is not None  # noqa: PT018 - both come with a problem
        assert before.problem is not None and before.slow is not None  # noqa: PT018 - likewise
        self.problem, self.row, self.slow = problem, before.row, before.slow
        self.prob, self.parts = before.prob, before.parts
        if problem.rows.target is not before.problem.rows.target:
            self.prob = np.array(problem.rows.lower)
            sizes, old = np.diff(problem.rows.entry_ptr), np.diff(before.problem.rows.entry_ptr)
            self.prob[np.repeat(sizes == old, sizes)] = before.prob[np.repeat(sizes == old, old)]
        self.x, self.relative_error, self._changed = before.found, before.error, changed
        self._batch, self._last = MORE, -1

    def stale(self, first: int, x: Array, relative_error: Array) -> tuple[int, int]:
        """Return a range of components to solve: it begins with the first from `first` on that is not as it was."""
        p = self.problem
        begin = int(next_stale(first, p.rows, p.origin, self._changed, x, relative_error, self.x, self.relative_error))
        # Where one is followed by others that are not, it is cheaper to solve some for nothing than to ask for each.
        self._batch = 2 * self._batch if begin == self._last else MORE
        self._last = min(begin + self._batch, p.rows.comp_ptr.size - 1)
        if (
            begin < self._last and self.slow[begin + 1 : self._last].any()
        ):  # what is slow is solved alone, or not at all
            self._last = begin + 1 + int(np.argmax(self.slow[begin + 1 : self._last]))
        return begin, self._last
