"""The table of methods: what is tried on which components, under the names users give."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EXACT", "METHODS", "TINY", "Method"]

EXACT = 64  # states up to which a component that rounding leaves loose is solved in rationals, whatever the method
TINY = 24  # states up to which rationals take milliseconds, so that nothing else is tried before them


@dataclass(frozen=True)
class Method:
    """One way to solve a problem component after component.

    Attributes
    ----------
    name : what users call it
    title : the textbook's name
    elimination : states up to which a component is solved by policy iteration with dense elimination at once
    sweeps_above : unknowns above which value iteration is tried first; its kernels would have to be compiled
    unswept : states up to which elimination comes first where value iteration does not
    elimination_at_last : states up to which elimination is tried where sweeps and Newton's method leave the bracket too wide
    own : "module:function" of what is tried before all that, on every component; it takes a `Workspace` and the number of the
        component, and returns whether it has left proved bounds there that are narrow enough. None if there is no such function
    """

    name: str
    title: str
    elimination: int
    sweeps_above: float
    unswept: int
    elimination_at_last: int
    own: str | None = None


METHODS = {
    method.name: method
    for method in (
        Method("auto", "whichever suits the component: value iteration, policy iteration, Newton", 48, 1000, 128, 1000),
        Method("policy", "policy iteration with dense elimination", 2**31, float("inf"), 2**31, 0),
        Method("value", "value iteration and Newton's method, with inductive bounds", 1, -1, 1, 0),
    )
}
