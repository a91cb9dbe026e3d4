"""Formulas of rewards without a target: totals, discounted sums, the reward at one time, and long-run averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from umdp.errors import SpecError
from umdp.spec.expression import Expression, Label, Literal, Name, StateSpace
from umdp.spec.temporal_formula import Reachability

__all__ = ["Average", "Discounted", "Instantaneous", "LongRun", "Total"]


@dataclass(frozen=True)
class Total:
    """Sum the reward of the whole run, for ever.

    Examples
    --------
    >>> print(Total())
    C
    """

    aim: ClassVar[str] = "total"

    def describe(self) -> str:
        """Return what is summed, in words."""
        return "over the whole run"

    def reachability(self) -> Reachability:
        """Return that nothing ends the sum."""
        return Reachability()

    def __str__(self) -> str:
        return "C"


@dataclass(frozen=True)
class Discounted:
    """Sum the reward of the whole run, what a step earns counting ``discount`` times as much with every step before it.

    Examples
    --------
    >>> print(Discounted(0.95))
    Cdiscount=0.95
    """

    discount: float | Expression
    aim: ClassVar[str] = "discounted"

    def __post_init__(self) -> None:
        given = self.discount
        if isinstance(given, Expression):
            label = next((node for node in given.walk() if isinstance(node, Label)), None)
            if label is not None:
                raise label.error("a label in a discount", "a discount is a number, as in Cdiscount=0.95")
            if not any(isinstance(node, Name) for node in given.walk()):
                object.__setattr__(self, "discount", _discount(given, None))
        elif isinstance(given, bool) or not 0 < given < 1:
            raise SpecError(f"the discount {given} does not lie strictly between 0 and 1; {_REMEDY}")

    def factor(self, model: StateSpace) -> float:
        """Return the discount as a number, with the constants of the model."""
        return _discount(self.discount, model) if isinstance(self.discount, Expression) else self.discount

    def describe(self) -> str:
        """Return what is summed, in words."""
        return f"over the whole run, discounted by {self.discount} a step"

    def reachability(self) -> Reachability:
        """Return that nothing ends the sum."""
        return Reachability()

    def __str__(self) -> str:
        given = self.discount
        return f"Cdiscount={given.at_level(11) if isinstance(given, Expression) else repr(given)}"


@dataclass(frozen=True)
class Average:
    """The reward of a step in the long run: the limit of averages over ever more steps.

    Examples
    --------
    >>> print(Average())
    S
    """

    aim: ClassVar[str] = "average"

    def describe(self) -> str:
        """Return what is averaged, in words."""
        return "a step in the long run"

    def reachability(self) -> Reachability:
        """Return that nothing ends the average."""
        return Reachability()

    def __str__(self) -> str:
        return "S"


@dataclass(frozen=True)
class LongRun:
    """The share of time spent in ``operand`` in the long run.

    Examples
    --------
    >>> print(LongRun(Label("up")))
    "up"
    """

    operand: Expression
    aim: ClassVar[str] = "average"

    def describe(self) -> str:
        """Return the event in words."""
        return f"being where {self.operand.at_level(5)} holds, in the long run"

    def reachability(self) -> Reachability:
        """Return the states that count, which are not an end of anything."""
        return Reachability(self.operand)

    def __str__(self) -> str:
        return str(self.operand)


@dataclass(frozen=True)
class Instantaneous:
    """The reward of the state reached after ``bound`` steps.

    Examples
    --------
    >>> print(Instantaneous(4))
    I=4
    """

    bound: int | Expression
    aim: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        from umdp.spec.temporal_formula import normal_bound

        object.__setattr__(self, "bound", normal_bound(self.bound))

    def describe(self) -> str:
        """Return what is earned, in words."""
        return f"by the state reached after {self.bound} step{'' if self.bound == 1 else 's'}"

    def reachability(self) -> Reachability:
        """Return that nothing counts before the last step."""
        return Reachability(exact=True)

    def __str__(self) -> str:
        return f"I={self.bound}" if isinstance(self.bound, int) else f"I={self.bound.at_level(11)}"


_REMEDY = "what is earned a step later must count less, and not nothing"


def _discount(given: Expression, model: StateSpace | None) -> float:
    """Return the number a discount stands for."""
    if isinstance(given, Literal):
        value = given.value
    else:
        from umdp.spec.evaluate import constant

        if model is not None:
            for node in given.walk():
                if isinstance(node, Name) and node.name in model.variables:
                    raise node.error(
                        f"the discount depends on the variable {node.name}", "use numbers and constants only"
                    )
        value = constant(given, {} if model is None else model.constants, {} if model is None else model.formulas)
    if isinstance(value, bool) or not 0 < value < 1:
        raise given.error(f"the discount {str(value).lower()} does not lie strictly between 0 and 1", _REMEDY)
    return float(value)
