"""What the graph alone decides: probability 0 and 1, infinite rewards, a choice that shows it; and what is worth learning.

`Shape` are the bare arrays of a graph, as the solver passes them around.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph
from umdp.model.structure import CompressedRows, entries_of, mask_of
from umdp.solver.objective import Objective, objective_of
from umdp.spec import Direction, Spec

if TYPE_CHECKING:
    from umdp.solver.kernels.graph_search import Backwards

__all__ = [
    "Decided",
    "Edges",
    "Relevant",
    "Shape",
    "decide",
    "decide_total",
    "reachable",
    "relevant",
    "resting",
    "sealed",
]

FAINT = 1e-3  # what a step may count so that no trajectory needs it
LONGEST = 10_000  # steps of a trajectory, whatever the discount


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself where it is read-only, else a view of it that is."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class Shape(CompressedRows):
    """State, choice and successor arrays without names, labels or checks; equal successors may stay apart.

    They are read-only, like those of a `Graph`: kernels are compiled apart for arrays that may be written to.
    """

    state_ptr: NDArray[np.int64]
    choice_ptr: NDArray[np.int64]
    successor: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name in ("state_ptr", "choice_ptr", "successor"):
            object.__setattr__(self, name, sealed(getattr(self, name)))

    @classmethod
    def of(cls, graph: Graph) -> Shape:
        """Return the arrays of a graph."""
        return cls(graph.state_ptr, graph.choice_ptr, graph.successor)

    def under(self, taken: NDArray[np.bool_]) -> Shape:
        """Return the graph in which the choices that are taken (C,) in a state are one."""
        kept = np.repeat(taken, np.diff(self.choice_ptr))
        ends = np.concatenate([[0], np.cumsum(kept)])[self.choice_ptr[self.state_ptr]]
        return Shape(np.arange(self.states + 1), ends, self.successor[kept])

    @cached_property
    def choice_state(self) -> NDArray[Any]:
        """The state of every choice, shape (C,)."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.state_ptr))


Mask = NDArray[np.bool_]
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Decided:
    """The states whose value the graph fixes (THEORY: all listed edges are there).

    Attributes
    ----------
    one : (S,) value 1 for probabilities; the goal for rewards
    zero : (S,) value 0 for probabilities; empty for rewards
    infinite : (S,) infinite rewards; empty for probabilities
    via : (S,) a choice that achieves the decided value, -1 where any does
    usable : (C,) the choices that remain for undecided states
    """

    one: Mask
    zero: Mask
    infinite: Mask
    via: Array
    usable: Mask

    @property
    def maybe(self) -> Mask:
        """The undecided states."""
        return ~(self.one | self.zero | self.infinite)


class Edges:
    """A graph with its edges reversed (once, when first needed), for backward searches."""

    def __init__(self, graph: Shape) -> None:
        self.graph = graph

    @cached_property
    def reverse(self) -> Backwards:
        """The edges reversed."""
        from umdp.solver.kernels.graph_search import reverse

        return reverse(self.graph.state_ptr, self.graph.choice_ptr, self.graph.successor)

    def _draw(self, reached: Mask, through: Mask, usable: Mask | None, *, every: bool) -> tuple[Array, Array]:
        """Add to `reached` what is drawn there; return the choices that drew the states, and those states, nearest first."""
        from umdp.solver.kernels.graph_search import attractor

        via = np.full(self.graph.states, -1, dtype=np.int64)
        usable = np.ones(self.graph.choices, dtype=np.bool_) if usable is None else usable
        return via, attractor(self.graph.state_ptr, self.reverse, through, usable, reached, via, every)

    def attract(self, target: Mask, through: Mask, usable: Mask | None = None, *, every: bool) -> tuple[Mask, Array]:
        """Return the states drawn to `target` by some choice (or every choice), and the choice that drew them."""
        reached = target.copy()
        return reached, self._draw(reached, through, usable, every=every)[0]

    def drawn(self, target: Mask, through: Mask, *, every: bool) -> Mask:
        """Return the states drawn to `target` by some choice (or every choice), without a choice that draws them."""
        from umdp.solver.kernels.graph_search import stream

        graph, reached = self.graph, target.copy()
        usable = np.ones(graph.choices, dtype=np.bool_)
        if not stream(graph.state_ptr, graph.choice_ptr, graph.successor, through, usable, reached, every):
            self._draw(reached, through, usable, every=every)
        return reached

    def outwards(self, source: Mask, through: Mask) -> Array:
        """Return the states of `through`, those nearest to `source` first and those that cannot reach it last."""
        reached = source.copy()
        _, found = self._draw(reached, through, None, every=False)
        return np.concatenate([found, np.flatnonzero(through & ~reached).astype(np.int32)])

    def sure(self, goal: Mask, through: Mask) -> tuple[Mask, Array]:
        """Return the states from which some policy reaches `goal` surely, and its choices."""
        from umdp.solver.kernels.graph_search import sure_reach

        via, g = np.full(self.graph.states, -1, dtype=np.int64), self.graph
        return sure_reach(g.state_ptr, self.reverse, through, goal, via), via

    def within(self, inside: Mask) -> Mask:
        """Return the choices all of whose successors lie `inside`, shape (C,)."""
        kept: Mask = np.logical_and.reduceat(inside[self.graph.successor], self.graph.choice_ptr[:-1])
        return kept

    def staying(self, inside: Mask) -> Array:
        """Return the first choice of every state of `inside` all of whose successors lie there, -1 where there is none."""
        return self.first_choice(self.within(inside) & inside[self.graph.choice_state])

    def first_choice(self, among: Mask) -> Array:
        """Return the first choice of every state that is in `among` (C,), -1 where there is none."""
        first = np.full(self.graph.states, -1, dtype=np.int64)
        listed = np.flatnonzero(among)[::-1]
        first[self.graph.choice_state[listed]] = listed
        return first


def decide(edges: Edges, kind: str, agent_max: bool, goal: Mask, left: Mask) -> Decided:
    """Return what the graph decides for the probability (`kind` "P") or reward ("R") of reaching `goal`."""
    graph = edges.graph
    none = np.zeros(graph.states, dtype=np.bool_)
    through = left & ~goal
    usable = np.ones(graph.choices, dtype=np.bool_)
    if kind == "P" and agent_max:
        can = edges.drawn(goal, through, every=False)
        if graph.is_chain:
            risky = edges.drawn(~can, through, every=False)
            return Decided(~risky, ~can, none, np.full(graph.states, -1), usable)
        one, via = edges.sure(goal, through & can)
        return Decided(one, ~can, none, via, usable)
    if kind == "P":
        zero = ~edges.drawn(goal, through, every=True)
        risky = edges.drawn(zero, through, every=False)
        via = edges.staying(zero)
        return Decided(~risky, zero, none, via, usable)
    must = edges.drawn(goal, ~goal, every=True)
    if must.all():  # whatever is done, the goal is reached
        return Decided(goal, none, none, np.full(graph.states, -1), usable)
    if not agent_max:
        sure, via = edges.sure(goal, ~goal)
        return Decided(goal, none, ~sure, via, usable if sure.all() else edges.within(sure))
    avoids = edges.staying(~must)
    misses, via = edges.attract(~must, ~goal, every=False)
    return Decided(goal, none, misses & ~goal, np.where(must, via, avoids), usable)


def decide_total(edges: Edges, reward: Array, agent_max: bool) -> Decided:
    """Return what the graph decides for all that is ever earned: where that is nothing, and where it is infinite.

    A maximal total is infinite where one can come to an end component with a choice that pays, and nothing where none pays any
    more. A minimal one is nothing where one can go on for ever without paying, and infinite where one cannot surely come there:
    a total is finite only if payments end. `one` are the states where the total is nothing.
    """
    from umdp.solver.kernels.end_components import end_components
    from umdp.solver.kernels.structs import ChoiceRows

    graph = edges.graph
    none, every = np.zeros(graph.states, dtype=np.bool_), np.ones(graph.states, dtype=np.bool_)
    usable = np.ones(graph.choices, dtype=np.bool_)
    pays = reward > 0
    if not agent_max:
        free = ~pays
        bound_to = np.logical_and.reduceat(pays, graph.state_ptr[:-1])
        nothing = ~edges.attract(bound_to, every, free, every=True)[0]
        stay = edges.first_choice(free & edges.within(nothing))
        found = decide(edges, "R", False, nothing, every)
        return Decided(nothing, none, found.infinite, np.where(nothing, stay, found.via), found.usable)
    earns = np.logical_or.reduceat(pays, graph.state_ptr[:-1])
    nothing = ~edges.drawn(earns, every, every=False)
    # With equal bounds nature has nothing to cut: what stays does so by the graph.
    even = np.ones(graph.transitions)
    rows = ChoiceRows.of(graph.state_ptr, graph.choice_ptr, graph.successor, even, even, reward)
    component, stays, _ = end_components(rows, every, usable)
    paying = stays & pays
    rich = np.isin(component, component[graph.choice_state[paying]]) & np.logical_or.reduceat(
        stays, graph.state_ptr[:-1]
    )
    at_source = np.logical_or.reduceat(paying, graph.state_ptr[:-1])
    _, around = edges.attract(at_source, rich, stays, every=False)
    around = np.where(at_source, edges.first_choice(paying), around)
    infinite, towards = edges.attract(rich, every, every=False)
    return Decided(nothing, none, infinite, np.where(rich, around, towards), usable)


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
    reached = reachable(graph, graph.initial, decided)
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


def reachable(graph: CompressedRows, initial: int, over: Mask) -> Mask:
    """Return the states that can be reached from one, not going on from where it is `over`."""
    reached = mask_of(initial, graph.states)
    frontier = np.array([initial])
    while frontier.size:
        frontier = frontier[~over[frontier]]
        choices = entries_of(graph.state_ptr, frontier)
        ahead = np.unique(graph.successor[entries_of(graph.choice_ptr, choices)])
        frontier = ahead[~reached[ahead]]
        reached[frontier] = True
    return reached
