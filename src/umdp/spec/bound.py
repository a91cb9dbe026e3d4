"""Bounds on steps: numbers, or expressions over the constants of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from umdp.errors import SpecError
from umdp.spec.expression import Expression, Label, Literal, Name, Scalar, StateSpace

__all__ = ["StepBound", "normal_bound", "resolved_bound"]

StepBound: TypeAlias = int | Expression | None
"""A number of steps; an expression over the constants of the model; None where there is no bound."""


def resolved_bound(bound: StepBound, model: StateSpace) -> int | None:
    """Return a step bound as a number, with the constants of the model; None where there is none."""
    if isinstance(bound, Expression):
        _constant_only(bound, model)
        return _number(bound, model.constants, model.formulas)
    return bound


def _constant_only(bound: Expression, model: StateSpace) -> None:
    for node in bound.walk():
        if isinstance(node, Name) and node.name in model.variables:
            raise node.error(f"the step bound depends on the variable {node.name}", "use numbers and constants only")


def normal_bound(bound: StepBound) -> StepBound:
    """Return the bound as a number where it is one already, so that equal bounds compare equal."""
    if isinstance(bound, Expression):
        label = next((node for node in bound.walk() if isinstance(node, Label)), None)
        if label is not None:
            raise label.error("a label in a step bound", "a step bound is an integer: numbers and constants only")
        if not any(isinstance(node, Name) for node in bound.walk()):
            return _number(bound, {}, {})
    elif bound is not None and bound < 0:
        raise SpecError(f"the step bound {bound} is negative; it must be 0 or more")
    return bound


def _number(bound: Expression, constants: Mapping[str, Scalar], formulas: Mapping[str, str]) -> int:
    # NumPy is needed to evaluate, not to read: a literal is the common case.
    if isinstance(bound, Literal):
        value = bound.value
    else:
        from umdp.spec.evaluate import constant

        value = constant(bound, constants, formulas)
    plain = str(value).lower()
    shown = plain if str(bound) == plain else f"{bound}, which is {plain},"
    if isinstance(value, bool) or not isinstance(value, int):
        raise bound.error(f"the step bound {shown} is not an integer", "round it with floor or ceil")
    if value < 0:
        raise bound.error(f"the step bound {shown} is negative", "it must be 0 or more")
    return value
