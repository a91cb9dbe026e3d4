"""What of a graph matters for a property: where its value is still open, and which choices are worth learning."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph
from umdp.solver.graph.decided import Edges, Shape, decide
from umdp.solver.objective import Objective, objective_of
from umdp.spec import Direction, Spec

FAINT = 1e-3  # what a step may count so that no trajectory needs it
LONGEST = 10_000  # steps of a trajectory, whatever the discount

__all__ = ["Relevant", "relevant", "resting"]


@dataclass(frozen=True, eq=False)
class Relevant:
    """What of a graph matters for a property.

    Attributes
    ----------
    decided : (S,) states whose value the graph alone decides: nothing seen from there on can matter
    choices : (C,) choices that can be taken before a decided state is reached, and have more than one successor
    steps : the step bound of the property, or so many that what comes after hardly counts; None without either
    favoured : whether the graph decides a state that can be reached, and is not the goal itself, in the agent's favour
    spent : (S,) undecided states from which the goal is reached without any reward, whatever is done
    """

    decided: NDArray[np.bool_]
    choices: NDArray[np.bool_]
    steps: int | None
    favoured: bool
    spent: NDArray[np.bool_]


def relevant(graph: Graph, spec: Spec) -> Relevant:
    """Return what of a graph matters for a property.

    Examples
    --------
    >>> graph = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], labels={"goal": [1]})
    >>> relevant(graph, Spec.parse('Pmax=? [ F "goal" ]')).decided
    array([False,  True,  True])
    """
    objective = objective_of(graph, spec)
    edges = Edges(Shape.of(graph))
    favoured = np.zeros(graph.states, dtype=np.bool_)
    if objective.aim in ("total", "discounted", "average"):  # where nothing is earned any more all are 0
        decided = ~_earns(edges, objective)
    elif objective.absorbing is not None and objective.steps is not None:
        decided = objective.kept(0)[0]  # before it counts, nothing is decided by what is reached
    else:
        agent_max = spec.deciding().agent is not Direction.MIN
        reach_max = agent_max != objective.safety
        by_graph = decide(edges, objective.kind, reach_max, objective.goal, objective.through)
        decided = ~by_graph.maybe
        if reach_max:
            favoured = (by_graph.one | by_graph.infinite) & ~objective.goal
    reached = _reachable(graph, decided)
    open_choice = (reached & ~decided)[graph.choice_state]
    worth = open_choice & (np.diff(graph.choice_ptr) > 1)
    spent = ~decided & ~_earns(edges, objective)
    steps = objective.steps
    if objective.aim == "discounted":
        steps = min(max(math.ceil(math.log(FAINT) / math.log(objective.discount)), 1), LONGEST)
    return Relevant(decided, worth, steps, bool((favoured & reached).any()), spent)


def _earns(edges: Edges, objective: Objective) -> NDArray[np.bool_]:
    """Return the states from which some reward can still be collected before the goal; all of them for probabilities."""
    if objective.rewards is None:
        return np.ones(edges.graph.states, dtype=np.bool_)
    graph, given = edges.graph, objective.rewards
    paid = np.zeros(graph.states, dtype=np.bool_) if given.state is None else given.state != 0
    if given.choice is not None:
        paid |= np.logical_or.reduceat(given.choice != 0, graph.state_ptr[:-1])
    if given.transition is not None:
        earned = np.logical_or.reduceat(given.transition != 0, graph.choice_ptr[:-1])
        paid |= np.logical_or.reduceat(earned, graph.state_ptr[:-1])
    return edges.drawn(paid & ~objective.goal, ~objective.goal, every=False)


def resting(graph: Graph, spent: NDArray[np.bool_], lower: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where (S,) a trajectory may end because no reward is left, given what bounds (T,) say by now.

    Nothing seen from there on changes the value, unless bounds of 0 leave it open whether the goal is reached at all.
    """
    possible = np.logical_and.reduceat(np.logical_and.reduceat(lower > 0, graph.choice_ptr[:-1]), graph.state_ptr[:-1])
    return spent & ~Edges(Shape.of(graph)).drawn(spent & ~possible, spent, every=False)


def _reachable(graph: Graph, decided: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the states that can be reached without passing through a decided one."""
    reached = np.zeros(graph.states, dtype=np.bool_)
    reached[graph.initial] = True
    frontier = np.array([graph.initial])
    while frontier.size:
        frontier = frontier[~decided[frontier]]
        first, last = graph.choice_ptr[graph.state_ptr[frontier]], graph.choice_ptr[graph.state_ptr[frontier + 1]]
        sizes = last - first
        ends = np.cumsum(sizes)
        entries = np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - sizes - first, sizes)
        ahead = np.unique(graph.successor[entries])
        frontier = ahead[~reached[ahead]]
        reached[frontier] = True
    return reached
