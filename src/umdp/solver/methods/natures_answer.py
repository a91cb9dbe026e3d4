"""Nature's answer to given values, over all choices of a model."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.best_response import respond, slack_of_choices, transfer, unsettled
from umdp.solver.kernels.rounding import EPS
from umdp.solver.kernels.structs import ChoiceRows
from umdp.solver.methods.exact import serve

if TYPE_CHECKING:
    from umdp.solver.task import Task, Values

__all__ = ["BLUR", "answer", "feasible", "spread"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)


BLUR = 24.0 * EPS  # 8 roundings as above, twice because rows are divided by their sum, and to spare


def feasible(task: Task, prob: Array) -> Array:
    """Return probabilities close to `prob` (T,) that are, up to `BLUR` relative to each, a choice of nature's.

    Where that is not plain to see, the row is worked out in rationals.
    """
    prob = np.array(prob)
    ptr = task.graph.choice_ptr
    for c in np.flatnonzero(unsettled(ptr, task.lower, task.upper, prob)):
        span = slice(int(ptr[c]), int(ptr[c + 1]))
        prob[span] = vertex(task.lower[span], task.upper[span], prob[span])
    return prob


def vertex(lower: Array, upper: Array, prob: Array) -> list[float]:
    """Return the distribution of a row that serves successors in the order in which `prob` does, each rounded once."""
    low, high = [Fraction(float(p)) for p in lower], [Fraction(float(p)) for p in upper]
    with np.errstate(invalid="ignore", divide="ignore"):
        served = np.where(upper > lower, (prob - lower) / (upper - lower), 0.0)
    return [float(p) for p in serve(low, high, np.argsort(-served, kind="stable").tolist())]


def spread(task: Task) -> Array:
    """Return a distribution inside the bounds of every choice that gives every listed transition a share, shape (T,)."""
    ptr = task.graph.choice_ptr
    room = task.upper - task.lower
    rest = slack_of_choices(ptr, task.lower)
    total = np.add.reduceat(room, ptr[:-1])
    share = np.where((total > 0) & (rest > 0), rest / np.where(total > 0, total, 1.0), 0.0)
    mixed: Array = task.lower + np.repeat(share, np.diff(ptr)) * room
    return mixed


def answer(task: Task, values: Values) -> Array:
    """Return nature's probabilities for the whole model (T,): those the rows were solved with, else the best response."""
    graph = task.graph
    prob = np.empty(graph.transitions)
    respond(graph.choice_ptr, graph.successor, task.lower, task.upper, values.x, NOTHING, task.nature_max, prob)
    problem, row, solved = values.problem, values.row, values.prob
    if problem is not None and row is not None and solved is not None:
        model = ChoiceRows.of(graph.state_ptr, graph.choice_ptr, graph.successor, task.lower, task.upper, NOTHING)
        transfer(problem.rows, problem.origin, problem.index, row, solved, model, prob)
    return prob
