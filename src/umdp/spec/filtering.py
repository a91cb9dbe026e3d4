"""Filters: what is wanted of the values of many states."""

from __future__ import annotations

from dataclasses import dataclass

from umdp.spec.expression import TRUE, Expression

__all__ = ["FILTERS", "Filter"]

FILTERS = {
    "min": "the smallest value",
    "max": "the largest value",
    "avg": "the average",
    "sum": "the sum",
    "range": "the range of values",
    "first": "the value of the first state",
    "state": "the value of the only state",
    "argmin": "the states of smallest value",
    "argmax": "the states of largest value",
    "print": "the value of every state",
    "printall": "the value of every state",
    "count": "the number of states",
    "forall": "whether all states satisfy it",
    "exists": "whether some state satisfies it",
}
TRUTHS = ("count", "forall", "exists")


@dataclass(frozen=True)
class Filter:
    """What is wanted of the values in some states, instead of the value of the initial one.

    Attributes
    ----------
    operator : one of min, max, avg, sum, range, first, state, argmin, argmax, print, printall, count, forall, exists
    states : the states that count

    Examples
    --------
    >>> from umdp.spec import Spec
    >>> print(Spec.parse('filter(max, Pmin=? [ F "goal" ], x > 2)'))
    filter(max, Pmin=? [ F "goal" ], x > 2)
    """

    operator: str
    states: Expression = TRUE

    def describe(self) -> str:
        """Return what is wanted, in words."""
        return f"{FILTERS[self.operator]} over {'all states' if self.states == TRUE else f'states with {self.states}'}"
