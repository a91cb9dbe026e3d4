"""Step bounds and other numbers in properties: plain, or with constants of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from umdp.errors import SpecError
from umdp.spec.expression import Expression, Label, Literal, Name, Scalar, StateSpace

__all__ = ["StepBound", "Window", "check_order", "normal_bound", "number_of", "resolved_bound", "shown"]

StepBound: TypeAlias = int | Expression | None
"""A number of steps; an expression over the constants of the model; None where there is no bound."""


def number_of(given: Expression, what: str, model: StateSpace | None = None) -> Scalar:
    """Return the value of an expression over the constants of a model, or without any; `what` it is, in messages."""
    if isinstance(given, Literal):
        return given.value
    from umdp.spec.evaluate import constant

    if model is None:
        return constant(given, {}, {})
    for node in given.walk():
        if isinstance(node, Name) and node.name in model.variables:
            raise node.error(f"the {what} depends on the variable {node.name}", "use numbers and constants only")
    return constant(given, model.constants, model.formulas)


def shown(number: float | Expression) -> str:
    """Return a number, or an expression that stands for one, as it is written behind an operator."""
    return number.at_level(11) if isinstance(number, Expression) else repr(number)


def resolved_bound(bound: StepBound, model: StateSpace) -> int | None:
    """Return a step bound as a number, with the constants of the model; None where there is none."""
    return _steps(bound, model) if isinstance(bound, Expression) else bound


def normal_bound(bound: StepBound) -> StepBound:
    """Return the bound as a number where it is one already, so that equal bounds compare equal."""
    if isinstance(bound, Expression):
        label = bound.first(Label)
        if label is not None:
            raise label.error("a label in a step bound", "a step bound is an integer: numbers and constants only")
        if bound.first(Name) is None:
            return _steps(bound, None)
    elif bound is not None and bound < 0:
        raise SpecError(f"the step bound {bound} is negative; it must be 0 or more")
    return bound


def _steps(bound: Expression, model: StateSpace | None) -> int:
    value = number_of(bound, "step bound", model)
    plain = str(value).lower()
    text = plain if str(bound) == plain else f"{bound}, which is {plain},"
    if isinstance(value, bool) or not isinstance(value, int):
        raise bound.error(f"the step bound {text} is not an integer", "round it with floor or ceil")
    if value < 0:
        raise bound.error(f"the step bound {text} is negative", "it must be 0 or more")
    return value


def check_order(lower: StepBound, upper: StepBound, place: Expression) -> None:
    """Raise `SpecError`, which points at a place, where both ends of a window are numbers and the wrong way round."""
    if isinstance(lower, int) and isinstance(upper, int) and lower > upper:
        raise place.error(f"no step is both at least {lower} and at most {upper}", "turn them around")


@dataclass(frozen=True)
class Window:
    """The steps after which something counts: from `lower` to `upper`, both included; None where there is no end.

    Examples
    --------
    >>> str(Window(0, 3)), str(Window(2)), str(Window(4, 4)), str(Window(2, 9))
    ('<=3', '>=2', '=4', '[2,9]')
    """

    lower: int | Expression = 0
    upper: StepBound = None

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, normal_bound(getattr(self, name)))
        check_order(self.lower, self.upper, Literal(0))

    @property
    def is_open(self) -> bool:
        """Whether every step counts."""
        return self.lower == 0 and self.upper is None

    @property
    def is_exact(self) -> bool:
        """Whether one step counts, and not the first."""
        return self.lower == self.upper != 0

    def steps(self, model: StateSpace) -> tuple[int, int | None]:
        """Return both ends as numbers, with the constants of the model."""
        lower, upper = resolved_bound(self.lower, model) or 0, resolved_bound(self.upper, model)
        places = (each for each in (self.upper, self.lower) if isinstance(each, Expression))
        check_order(lower, upper, next(places, Literal(0)))
        return lower, upper

    def __str__(self) -> str:
        if self.upper is None:
            return "" if self.lower == 0 else f">={shown(self.lower)}"
        if self.lower == self.upper:
            return f"={shown(self.upper)}"
        return f"<={shown(self.upper)}" if self.lower == 0 else f"[{shown(self.lower)},{shown(self.upper)}]"
