"""What the graph alone decides: probability 0 and 1, infinite rewards, and a choice that shows it.

`Shape` are the bare arrays of a graph, as the solver passes them around.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from umdp.model import Graph

__all__ = ["Decided", "Edges", "Shape", "decide", "decide_total", "sealed"]


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself where it is read-only, else a view of it that is."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class Shape:
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

    @property
    def states(self) -> int:
        """The number of states."""
        return self.state_ptr.size - 1

    @property
    def choices(self) -> int:
        """The number of choices."""
        return self.choice_ptr.size - 1

    @property
    def transitions(self) -> int:
        """The number of transitions."""
        return self.successor.size

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
    def reverse(self) -> tuple[Array, Array, Array]:
        """The edges reversed: (owner of each choice, pointers over states, choices that enter a state)."""
        from umdp.solver.kernels.graph import reverse

        return reverse(self.graph.state_ptr, self.graph.choice_ptr, self.graph.successor)

    def attract(self, target: Mask, through: Mask, usable: Mask | None = None, *, every: bool) -> tuple[Mask, Array]:
        """Return the states drawn to `target` by some choice (or every choice), and the choice that drew them."""
        from umdp.solver.kernels.graph import attractor

        reached = target.copy()
        via = np.full(self.graph.states, -1, dtype=np.int64)
        allowed = np.ones(self.graph.choices, dtype=np.bool_) if usable is None else usable
        attractor(self.graph.state_ptr, *self.reverse, through, allowed, reached, via, every)
        return reached, via

    def drawn(self, target: Mask, through: Mask, *, every: bool) -> Mask:
        """Return the states drawn to `target` by some choice (or every choice), without a choice that draws them."""
        from umdp.solver.kernels.graph import attractor, stream

        graph, reached = self.graph, target.copy()
        usable = np.ones(graph.choices, dtype=np.bool_)
        if not stream(graph.state_ptr, graph.choice_ptr, graph.successor, through, usable, reached, every):
            via = np.empty(graph.states, dtype=np.int64)
            attractor(graph.state_ptr, *self.reverse, through, usable, reached, via, every)
        return reached

    def outwards(self, source: Mask, through: Mask) -> Array:
        """Return the states of `through`, those nearest to `source` first and those that cannot reach it last."""
        from umdp.solver.kernels.graph import attractor

        reached = source.copy()
        via = np.empty(self.graph.states, dtype=np.int64)
        allowed = np.ones(self.graph.choices, dtype=np.bool_)
        found = attractor(self.graph.state_ptr, *self.reverse, through, allowed, reached, via, False)
        return np.concatenate([found, np.flatnonzero(through & ~reached).astype(np.int32)])

    def sure(self, goal: Mask, through: Mask) -> tuple[Mask, Array]:
        """Return the states from which some policy reaches `goal` surely, and its choices."""
        from umdp.solver.kernels.graph import sure_reach

        via, g = np.full(self.graph.states, -1, dtype=np.int64), self.graph
        return sure_reach(g.state_ptr, g.choice_ptr, g.successor, *self.reverse, through, goal, via), via

    def within(self, inside: Mask) -> Mask:
        """Return the choices all of whose successors lie `inside`, shape (C,)."""
        kept: Mask = np.logical_and.reduceat(inside[self.graph.successor], self.graph.choice_ptr[:-1])
        return kept

    def staying(self, inside: Mask) -> Array:
        """Return the first choice of every state of `inside` all of whose successors lie there, -1 where there is none."""
        from umdp.solver.kernels.graph import first_staying

        return first_staying(self.graph.state_ptr, self.graph.choice_ptr, self.graph.successor, inside)

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
        if graph.choices == graph.states:  # a chain
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
    component, stays, _ = end_components(graph.state_ptr, graph.choice_ptr, graph.successor, even, even, every, usable)
    paying = stays & pays
    rich = np.isin(component, component[graph.choice_state[paying]]) & np.logical_or.reduceat(
        stays, graph.state_ptr[:-1]
    )
    at_source = np.logical_or.reduceat(paying, graph.state_ptr[:-1])
    _, around = edges.attract(at_source, rich, stays, every=False)
    around = np.where(at_source, edges.first_choice(paying), around)
    infinite, towards = edges.attract(rich, every, every=False)
    return Decided(nothing, none, infinite, np.where(rich, around, towards), usable)
