"""Formulas of rewards: sums until a target or over a number of steps, totals, discounted sums, and long-run averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from umdp.errors import SpecError
from umdp.spec.expression import Expression, Label, Name, StateSpace
from umdp.spec.formula import PathFormula, Reachability, counted
from umdp.spec.step_bounds import number_of, shown

__all__ = ["Average", "Cumulative", "Discounted", "Instantaneous", "Reach", "Rewarding", "Total"]


class Rewarding(PathFormula):
    """What R asks for."""


@dataclass(frozen=True)
class Reach(Rewarding):
    """Sum the reward until ``operand`` is reached; infinite on runs that never reach it, as in PRISM."""

    operand: Expression
    _target: ClassVar[str] = "operand"

    def describe(self) -> str:
        """Return what is summed, in words."""
        return f"until reaching {self.operand.at_level(5)}"

    def reachability(self) -> Reachability:
        """Return ``operand``, where summing ends."""
        return Reachability(self.operand)

    def __str__(self) -> str:
        return f"F {self.operand}"


@dataclass(frozen=True)
class Cumulative(Rewarding):
    """Sum the reward of the first ``bound`` steps."""

    bound: int | Expression

    def describe(self) -> str:
        """Return what is summed, in words."""
        return f"over the first {counted(self.bound)}"

    def __str__(self) -> str:
        return f"C<={shown(self.bound)}"


@dataclass(frozen=True)
class Instantaneous(Rewarding):
    """The reward of the state reached after ``bound`` steps.

    Examples
    --------
    >>> print(Instantaneous(4))
    I=4
    """

    bound: int | Expression

    def describe(self) -> str:
        """Return what is earned, in words."""
        return f"by the state reached after {counted(self.bound)}"

    def reachability(self) -> Reachability:
        """Return that nothing counts before the last step."""
        return Reachability(exact=True)

    def __str__(self) -> str:
        return f"I={shown(self.bound)}"


@dataclass(frozen=True)
class Total(Rewarding):
    """Sum the reward of the whole run, for ever.

    Examples
    --------
    >>> print(Total())
    C
    """

    _aim: ClassVar[str] = "total"

    def describe(self) -> str:
        """Return what is summed, in words."""
        return "over the whole run"

    def __str__(self) -> str:
        return "C"


@dataclass(frozen=True)
class Average(Rewarding):
    """The reward of a step in the long run: the limit of averages over ever more steps.

    Examples
    --------
    >>> print(Average())
    S
    """

    _aim: ClassVar[str] = "average"

    def describe(self) -> str:
        """Return what is averaged, in words."""
        return "a step in the long run"

    def __str__(self) -> str:
        return "S"


@dataclass(frozen=True)
class Discounted(Rewarding):
    """Sum the reward of the whole run, what a step earns counting ``discount`` times as much with every step before it.

    Examples
    --------
    >>> print(Discounted(0.95))
    Cdiscount=0.95
    """

    discount: float | Expression
    _aim: ClassVar[str] = "discounted"

    def __post_init__(self) -> None:
        given = self.discount
        if isinstance(given, Expression):
            label = given.first(Label)
            if label is not None:
                raise label.error("a label in a discount", "a discount is a number, as in Cdiscount=0.95")
            if given.first(Name) is None:
                object.__setattr__(self, "discount", _discount(given, None))
        elif isinstance(given, bool) or not 0 < given < 1:
            raise SpecError(f"the discount {given} does not lie strictly between 0 and 1; {_REMEDY}")

    def factor(self, model: StateSpace) -> float:
        """Return the discount as a number, with the constants of the model."""
        return _discount(self.discount, model) if isinstance(self.discount, Expression) else self.discount

    def describe(self) -> str:
        """Return what is summed, in words."""
        return f"over the whole run, discounted by {self.discount} a step"

    def __str__(self) -> str:
        return f"Cdiscount={shown(self.discount)}"


_REMEDY = "what is earned a step later must count less, and not nothing"


def _discount(given: Expression, model: StateSpace | None) -> float:
    """Return the number a discount stands for."""
    value = number_of(given, "discount", model)
    if isinstance(value, bool) or not 0 < value < 1:
        raise given.error(f"the discount {str(value).lower()} does not lie strictly between 0 and 1", _REMEDY)
    return float(value)
