"""Equations written anew where bounds have changed, and copied elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.equations import splice
from umdp.solver.reduction.equations import build, quotient_of
from umdp.solver.reduction.layout import plan_of
from umdp.solver.reduction.problem import Given, Problem

if TYPE_CHECKING:
    from umdp.solver.task import Task

__all__ = ["renewed"]

Array = NDArray[Any]


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
