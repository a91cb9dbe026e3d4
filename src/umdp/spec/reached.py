"""Reachability: what a path formula comes to, whatever its operators are."""

from __future__ import annotations

from dataclasses import dataclass

from umdp.spec.expression import TRUE, Expression, Literal
from umdp.spec.temporal_formula import Window

__all__ = ["FALSE", "Reachability"]

FALSE = Literal(False)


@dataclass(frozen=True)
class Reachability:
    """Reachability: what a path formula comes to, whatever its operators are.

    Attributes
    ----------
    goal : the states to reach; rewards are summed until then
    through : the states that may be passed on the way
    safety : whether staying away from `goal` is what is asked for
    exact : whether `goal` counts at the last step only, and not when it is reached before
    wait : the steps at which `goal` counts, where that is not from the beginning; until then whoever leaves `through` has failed

    Examples
    --------
    >>> from umdp.spec import Globally, Expression
    >>> Globally(Expression.parse('"safe"')).reachability().goal
    Expression.parse('!"safe"')
    """

    goal: Expression = FALSE
    through: Expression = TRUE
    safety: bool = False
    exact: bool = False
    wait: Window | None = None
