"""Properties inside properties: answered first, and refused only where a bracket does not decide them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from umdp.automata.labelled_automaton import needs_automaton
from umdp.solver.result import Status
from umdp.spec import TRUE, Spec
from umdp.spec.expression import Expression
from umdp.spec.nested import Known, Nested, mapped, nested_in

if TYPE_CHECKING:
    from umdp.model import Graph
    from umdp.solver.result import Solution

__all__ = ["outermost", "settled"]

M = TypeVar("M", bound="Graph")
PRECISE = 1e-12  # the width to try where the one asked for does not decide


def settled(model: M, spec: Spec, solve: Callable[[M, Spec, float], Solution], precision: float) -> Spec:
    """Return a property in which those inside are replaced by the states in which they hold, and the threshold is a number.

    Parameters
    ----------
    solve : callable
        Returns the solution of a property on the model, to a precision.
    """
    spec = spec.counted(model)
    if next(nested_in((spec.formula, spec.filter)), None) is None:
        return spec

    def known(part: Expression) -> Expression:
        return Known.of(part, _members(model, part, solve, precision)) if isinstance(part, Nested) else part

    return replace(spec, formula=mapped(spec.formula, known), filter=mapped(spec.filter, known))


def _members(
    model: M, nested: Nested, solve: Callable[[M, Spec, float], Solution], precision: float
) -> NDArray[np.bool_]:
    """Return the states (S,) in which a property holds, or raise `SpecError` where a bracket has its threshold inside."""
    threshold = nested.spec.counted(model).threshold
    assert threshold is not None
    if needs_automaton(nested.spec):
        raise nested.error(
            "a formula with several temporal operators is not answered inside another property",
            "ask it alone, or label the states in which it holds",
        )
    for width in dict.fromkeys((precision, min(precision, PRECISE))):
        solution = solve(model, nested.spec, width)
        found = [threshold.holds(*bounds) for bounds in zip(solution.lower, solution.upper, strict=True)]
        if None not in found:
            return np.array(found, dtype=np.bool_)
        if solution.status is Status.STOPPED:
            break
    state = found.index(None)
    bracket = solution.at(state)
    stopped = solution.status is Status.STOPPED
    raise nested.error(
        f"whether {nested.spec} holds in state {model.state_name(state)} is not decided: its value there lies between "
        f"{bracket.lower!r} and {bracket.upper!r}",
        "time was up: give it more" if stopped else f"move the threshold away from {threshold.value:.12g}",
    )


def outermost(spec: Spec, check: Callable[[Spec], Any]) -> Spec:
    """Return a property as it is with nothing inside, having checked all that is inside."""
    for inner in nested_in((spec.formula, spec.filter)):
        check(inner.spec)

    def anything(part: Expression) -> Expression:
        return TRUE if isinstance(part, Nested) else part

    return replace(spec, formula=mapped(spec.formula, anything), filter=mapped(spec.filter, anything))
