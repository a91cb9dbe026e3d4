"""Lower bounds of 0 against the agent: nature may cut edges, which makes a game with end components.

Whoever wants the goal reached (the maximiser of a probability, the minimiser of a reward) improves a strategy against the
other's exact answer. Fixing either player leaves a problem for one, whose bracket is certified, and the two brackets enclose the
value of the game: a policy's worst case on one side, the best policy against one fixed nature on the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model.structure import entries_of
from umdp.solver.graph.decided import Decided, Edges, Shape, decide
from umdp.solver.kernels.best_response import respond
from umdp.solver.kernels.end_components import sure_against_nature, trap
from umdp.solver.methods.by_component import solve_task
from umdp.solver.methods.natures_answer import BLUR, NOTHING, answer, feasible, spread
from umdp.solver.objective import SolveOptions
from umdp.solver.task import Task, Values

__all__ = ["GameValues", "against_policy", "solve_alone", "solve_game"]

Array = NDArray[Any]
ROUNDS = 60
BETTER = 1e-9  # relative gain below which a strategy is left alone


@dataclass(frozen=True, eq=False)
class GameValues:
    """Bounds on the game's value, the agent's policy, and nature's probabilities."""

    lower: Array
    upper: Array
    choice: Array
    prob: Array


def solve_alone(task: Task, options: SolveOptions, start: Array | None = None) -> Values:
    """Solve a task in which one player decides: both pull the same way, or one of them has no choice."""
    graph, decided = task.graph, task.decided
    via = np.full(graph.states, -1, dtype=np.int64)
    if task.kind == "P" and not task.reach_max:
        zero = trap(task.rows, ~decided.one, decided.zero, via)
        decided = replace(decided, zero=zero, via=np.where(via >= 0, via, decided.via))
    elif task.kind == "R" and task.agent_max:
        stuck = trap(task.rows, ~decided.one, np.zeros_like(decided.one), via)
        lost, to = task.edges.attract(stuck | decided.infinite, ~decided.one, every=False)
        via = np.where(stuck, via, np.where(decided.via >= 0, decided.via, to))
        decided = replace(decided, infinite=lost & ~decided.one, via=via)
    return solve_task(replace(task, decided=decided), options, start)


def against_policy(task: Task, choice: Array) -> Task:
    """Return nature's problem once the agent is fixed; what the graph decides is that of the policy's own graph."""
    graph = task.graph
    entries = entries_of(graph.choice_ptr, choice)
    sizes = np.diff(graph.choice_ptr)[choice]
    chain = Shape(np.arange(graph.states + 1), np.concatenate([[0], np.cumsum(sizes)]), graph.successor[entries])
    edges = Edges(chain)
    decided = decide(edges, task.kind, task.nature_max != task.complement, task.goal, task.left)
    reward = task.reward[choice] if task.reward.size else task.reward
    return replace(
        task, edges=edges, lower=task.lower[entries], upper=task.upper[entries], agent_max=task.nature_max,
        decided=decided, reward=reward, memo=None,
    )  # fmt: skip


def _against_nature(task: Task, prob: Array) -> Task:
    """Return the agent's problem once nature is fixed; edges of probability 0 are gone.

    Probabilities are rounded, which `rounding.row_error` has room for, and `Task.perturbation` tells where it counts.
    """
    graph = task.graph
    prob = feasible(task, prob)
    kept = np.flatnonzero(prob > 0)
    sizes = np.add.reduceat((prob > 0).astype(np.int64), graph.choice_ptr[:-1])
    fixed = Shape(graph.state_ptr, np.concatenate([[0], np.cumsum(sizes)]), graph.successor[kept])
    edges = Edges(fixed)
    decided = decide(edges, task.kind, task.reach_max, task.decided.one, ~task.decided.zero)
    if task.kind == "R":
        decided = _forbid(edges, task, decided)
    fixed_prob = prob[kept]
    return replace(
        task,
        edges=edges,
        lower=fixed_prob,
        upper=fixed_prob,
        nature_max=task.agent_max,
        decided=decided,
        memo=None,
        perturbation=BLUR,
    )


def _forbid(edges: Edges, task: Task, decided: Decided) -> Decided:
    """Keep what the full graph calls infinite infinite, although nature cut the edges that lead there."""
    graph, full = edges.graph, task.decided
    goal = full.one
    if task.agent_max:
        lost, via = edges.attract(decided.infinite | full.infinite, ~goal, every=False)
        return replace(decided, infinite=lost & ~goal, via=np.where(decided.via >= 0, decided.via, via))
    sure = ~full.infinite
    via = np.full(graph.states, -1, dtype=np.int64)
    while True:  # reach the goal surely with the choices the full graph allows
        usable = full.usable & edges.within(sure)
        reached, via = edges.attract(goal, sure, usable, every=False)
        if np.array_equal(reached, sure):
            return Decided(goal, full.zero, ~sure, via, usable)
        sure = reached


def _expectation(task: Task, x: Array, prob: Array) -> Array:
    graph = task.graph
    with np.errstate(invalid="ignore", over="ignore"):
        terms = np.where(prob > 0, prob * x[graph.successor], 0.0)
        total: Array = np.add.reduceat(terms, graph.choice_ptr[:-1])
        return total + task.reward if task.reward.size else total


def _improve_agent(task: Task, choice: Array, x: Array) -> tuple[Array, Array]:
    """Return (the policy after strictly better switches, nature's answer to `x` on every row)."""
    graph = task.graph
    prob = np.empty(graph.transitions)
    q = respond(graph.choice_ptr, graph.successor, task.lower, task.upper, x, NOTHING, task.nature_max, prob)
    if task.reward.size:
        with np.errstate(over="ignore"):
            q = q + task.reward
    sign = 1.0 if task.agent_max else -1.0
    q = np.where(task.decided.usable, q, -sign * np.inf)
    best = np.maximum.reduceat(sign * q, graph.state_ptr[:-1])
    current = sign * q[choice]
    with np.errstate(invalid="ignore"):
        gain = best - current
    better = task.decided.maybe & ((gain > BETTER * np.abs(current)) | (np.isinf(current) & np.isfinite(best)))
    first = task.edges.first_choice(sign * q == np.repeat(best, np.diff(graph.state_ptr)))
    return np.where(better, first, choice), prob


def _improve_nature(task: Task, prob: Array, x: Array) -> tuple[Array, bool]:
    """Return nature's probabilities after strictly better switches, and whether there were any."""
    graph = task.graph
    fresh = np.empty(graph.transitions)
    respond(graph.choice_ptr, graph.successor, task.lower, task.upper, x, NOTHING, task.nature_max, fresh)
    old, new = _expectation(task, x, prob), _expectation(task, x, fresh)
    sign = 1.0 if task.nature_max else -1.0
    with np.errstate(invalid="ignore"):
        gain = sign * (new - old)
    better = task.decided.maybe[graph.choice_state] & task.decided.usable & (gain > BETTER * np.abs(old))
    return np.where(np.repeat(better, np.diff(graph.choice_ptr)), fresh, prob), bool(better.any())


def solve_game(task: Task, options: SolveOptions, start: Array | None = None) -> GameValues:
    """Return bounds on the value of the game, from both sides, by strategy iteration with certified steps.

    `start` is a choice per state to begin with, where the agent leads.
    """
    agent_leads = task.reach_max if task.kind == "P" else not task.agent_max
    inner = replace(options, precision=options.precision / 4)
    search = replace(inner, precision=1e-9, prove=False)  # strategies are proposed; what they are worth is proved below
    choice, prob = _lead_agent(task, search, start) if agent_leads else _lead_nature(task, search)
    policy = solve_alone(against_policy(task, choice), inner)
    nature = solve_alone(_against_nature(task, prob), inner)
    low, high = (policy, nature) if task.agent_max else (nature, policy)
    if agent_leads:  # nature's answer to the policy, where the policy goes
        prob = prob.copy()
        prob[entries_of(task.graph.choice_ptr, choice)] = answer(against_policy(task, choice), policy)
    return GameValues(low.lower, high.upper, choice, prob)


def _lead_agent(task: Task, options: SolveOptions, start: Array | None) -> tuple[Array, Array]:
    graph, decided = task.graph, task.decided
    choice = np.where(decided.via >= 0, decided.via, graph.state_ptr[:-1])
    first = task.edges.first_choice(decided.usable)
    choice = np.where(decided.maybe & (first >= 0), first if start is None or task.kind == "R" else start, choice)
    if task.kind == "R":
        via = np.full(graph.states, -1, dtype=np.int64)
        sure_against_nature(task.rows, decided.one, decided.usable, via)
        choice = np.where(decided.maybe & (via >= 0), via, choice)
    prob = np.empty(graph.transitions)
    for _ in range(ROUNDS):
        values = solve_alone(against_policy(task, choice), options)
        better, prob = _improve_agent(task, choice, values.x)
        options.tell("strategies", np.nan)
        if np.array_equal(better, choice) or options.statistics.stopped:
            break
        choice = better
    return choice, prob


def _lead_nature(task: Task, options: SolveOptions) -> tuple[Array, Array]:
    prob = spread(task)
    choice = np.array(task.graph.state_ptr[:-1])
    for _ in range(ROUNDS):
        values = solve_alone(_against_nature(task, prob), options)
        choice = np.where(task.decided.via >= 0, task.decided.via, values.choice)
        better, changed = _improve_nature(task, prob, values.x)
        options.tell("strategies", np.nan)
        if not changed or options.statistics.stopped:
            break
        prob = better
    # The policy that answers nature is optimal against it; against all natures the one greedy for the value is.
    greedy, _ = _improve_agent(task, choice, values.x)
    return greedy, prob
