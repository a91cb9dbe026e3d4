"""Collapse end components and put what is left in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model.structure import mask_of
from umdp.solver.kernels.end_components import end_components
from umdp.solver.kernels.equations import find_rows, take_rows
from umdp.solver.kernels.graph_search import components, descends, lean
from umdp.solver.reduction.problem import Problem, build, quotient_of

if TYPE_CHECKING:
    from umdp.solver.task import Task

__all__ = ["StateQuotient", "build_problem", "choices_of_rows", "rows_of_choices", "state_quotient_of"]

Array = NDArray[Any]
FEW = 200  # states from which the order within a component matters


@dataclass(frozen=True, eq=False)
class StateQuotient:
    """How the unknowns of a problem stand for states, which the graph alone decides unless nature may cut edges.

    Attributes
    ----------
    block : (S,) the end component of a state, -1 where it is in none
    stays : (C,) choices that may stay in the end component
    index : (S,) the unknown of every state, or one of the two exits
    order : the undecided states sorted by unknown
    comp_size : unknowns per component
    """

    block: Array
    stays: Array
    index: Array
    order: Array
    comp_size: Array


def state_quotient_of(task: Task) -> StateQuotient:
    """Return how the unknowns of a task stand for states; worked out once a graph unless nature may cut edges."""
    if task.memo is None or task.support_may_shrink:
        return _state_quotient(task)
    key = ("plan", task.kind, task.agent_max, task.reach_max)
    if key not in task.memo:
        task.memo[key] = _state_quotient(task)
    plan: StateQuotient = task.memo[key]
    return plan


def build_problem(task: Task, plan: StateQuotient, threads: int = 1) -> Problem:
    """Return the problem over the undecided states of a task."""
    quotient = quotient_of(plan.index, plan.order, task.decided.usable, plan.stays)
    return build(task.rows, quotient, plan.comp_size, task.exits, threads)


def rows_of_choices(task: Task, problem: Problem, choice: Array) -> Array:
    """Return the row of every unknown that stands for one of these choices (S,), the first row elsewhere."""
    row = np.empty(problem.n, np.int64)
    find_rows(problem.rows.row_ptr, problem.origin, task.graph.choice_state, np.asarray(choice), row)
    return row


def choices_of_rows(task: Task, plan: StateQuotient, problem: Problem, row: Array) -> Array:
    """Return the choice of every state: the unknown's row where it belongs, a way there within end components.

    What is decided goes where the graph says.
    """
    graph, decided, inside = task.graph, task.decided, plan.block >= 0
    via = np.empty(0, dtype=np.int64)
    if inside.any():
        at_exit = mask_of(graph.choice_state[problem.origin[row]], graph.states)
        _, via = task.edges.attract(at_exit, inside, plan.stays, every=False)
    choice = np.array(graph.state_ptr[:-1])
    take_rows(row, problem.origin, graph.choice_state, decided.maybe, decided.via, via, choice)
    return choice


def _state_quotient(task: Task) -> StateQuotient:
    """Put the undecided states in order.

    End components are collapsed where the reaching player could stay in one for ever: all of them for a
    maximal probability, those without reward for a minimal reward or a total.
    """
    graph, decided = task.graph, task.decided
    maybe = decided.maybe
    block = np.full(graph.states, -1, dtype=np.int32)
    stays = np.zeros(graph.choices, dtype=np.bool_)
    lingers = task.reach_max if task.kind == "P" else task.total or not task.agent_max
    # Models are mostly numbered as they were explored, so that successors come first from behind.
    listed = np.flatnonzero(maybe)[::-1].astype(np.int32)
    edges = (graph.state_ptr, graph.choice_ptr, graph.successor, maybe, decided.usable)
    if descends(*edges):
        n = listed.size
        return StateQuotient(block, stays, _index(decided.one, listed, np.arange(n)), listed, np.ones(n, np.int64))
    component, order, count, cyclic = components(*edges, listed)
    if cyclic.any():
        order = _in_order(task, component, order, cyclic)
    if graph.choices == graph.states and not task.support_may_shrink:
        lingers = False  # in a chain, what can stay for ever does, and is decided
    if lingers and cyclic.any():
        candidates = decided.usable & cyclic[graph.choice_state]
        if task.kind == "R":
            candidates &= task.reward <= 0.0
        if candidates.any() and not task.support_may_shrink:
            # Only where some choice can stay for ever among the cyclic states can there be an end component.
            cyclic = ~task.edges.drawn(~cyclic, cyclic, every=True)
            candidates &= cyclic[graph.choice_state]
        if candidates.any():
            # Unless nature may cut edges, which the task says, end components are those of the graph: a plan that is kept with it
            # must not depend on the bounds that were there first.
            even, rows = np.ones(graph.transitions), task.rows
            rows = rows if task.support_may_shrink else rows._replace(lower=even, upper=even)
            inner, stays, blocks = end_components(rows, cyclic, candidates)
            if blocks:
                block = np.where(mask_of(graph.choice_state[stays], graph.states), inner, -1).astype(np.int32)
    if (block >= 0).any():
        return _merged(block, stays, component, order, decided.one, count)
    index = _index(decided.one, order, np.arange(order.size))
    return StateQuotient(block, stays, index, order, np.bincount(component[order], minlength=count))


def _index(one: Array, order: Array, unknown: Array) -> Array:
    """Return the unknown (S,) that every state becomes, or the exit: the first where the goal is reached surely."""
    n = int(unknown.max(initial=-1)) + 1
    index = np.where(one, n, n + 1).astype(np.int32)
    index[order] = unknown
    return index


def _merged(block: Array, stays: Array, component: Array, order: Array, one: Array, count: int) -> StateQuotient:
    """Return the plan in which states of one end component become one unknown, at the place of the first of them."""
    place = np.full(block.size, -1, dtype=np.int64)
    place[order] = np.arange(order.size)
    first = np.full(int(block.max()) + 1, order.size, dtype=np.int64)
    inside = np.flatnonzero(block >= 0)
    np.minimum.at(first, block[inside], place[inside])
    place[inside] = first[block[inside]]
    order = order[np.argsort(place[order], kind="stable")]
    rank = place[order]
    unknown = np.concatenate([[0], np.cumsum(rank[1:] != rank[:-1])])
    heads = np.concatenate([[True], unknown[1:] != unknown[:-1]])
    return StateQuotient(
        block, stays, _index(one, order, unknown), order, np.bincount(component[order][heads], minlength=count)
    )


def _in_order(task: Task, component: Array, order: Array, cyclic: Array) -> Array:
    """Return the undecided states by component, and within one so that successors tend to come first.

    `order` has them by falling number, which is as good as any in small components. Where numbers say nothing, values
    spread from the goal, nearest states first.
    """
    graph = task.graph
    if np.bincount(component[cyclic]).max() < FEW:
        return order
    up, down = lean(graph.state_ptr, graph.choice_ptr, graph.successor, component, cyclic)
    if up > 2 * down:
        return order
    if down > 2 * up:
        listed = order[np.argsort(order, kind="stable")]
    else:
        listed = task.edges.outwards(task.decided.one, task.decided.maybe)
        listed = listed[task.decided.maybe[listed]]
    return listed[np.argsort(component[listed], kind="stable")]
