"""Properties inside properties, answered first; and answers over many states: the smallest, the largest, the average value.

A property inside is refused only where a bracket does not decide it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from umdp.solver.judge.width import status_of
from umdp.solver.result import Bracket, Solution, Status
from umdp.spec import TRUE, Spec
from umdp.spec.expression import Expression
from umdp.spec.nested import Known, Nested, mapped, nested_in
from umdp.spec.spec import needs_automaton

if TYPE_CHECKING:
    from umdp.model import Graph
    from umdp.solver.result import Solution
    from umdp.spec import Spec

__all__ = ["filtered", "outermost", "settled"]

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


Array = NDArray[Any]


def filtered(solution: Solution, spec: Spec, precision: float) -> Solution:
    """Return the answer to a property with a filter, given that to the property without."""
    wanted = spec.filter
    assert wanted is not None
    otherwise = Status.STOPPED if solution.status is Status.STOPPED else Status.IMPRECISE
    states = np.flatnonzero(wanted.states.evaluate(solution.model))
    if states.size == 0:
        raise spec.error(f"no state satisfies {wanted.states}, so that the filter has nothing to look at")
    if wanted.operator == "state" and states.size != 1:
        raise spec.error(f"{states.size} states satisfy {wanted.states}", "the filter state needs one; write first")
    low, high = solution.lower[states], solution.upper[states]
    shown = states[:0]
    match wanted.operator:
        case "min":
            bracket = Bracket(float(low.min()), float(high.min()))
        case "max":
            bracket = Bracket(float(low.max()), float(high.max()))
        case "argmin":
            bracket, shown = Bracket(float(low.min()), float(high.min())), states[low <= high.min()]
        case "argmax":
            bracket, shown = Bracket(float(low.max()), float(high.max())), states[high >= low.max()]
        case "range":
            bracket = Bracket(float(low.min()), float(high.max()))
        case "avg" | "sum":
            share = states.size if wanted.operator == "avg" else 1
            bracket = Bracket(_mean(low, share, -math.inf), _mean(high, share, math.inf))
        case "count" | "forall" | "exists":
            bracket, shown = _counted(spec, low, high, states)
        case operator:
            first = states[:1] if operator in ("first", "state") else states
            bracket = solution.at(int(first[0])) if first.size == 1 else Bracket(float(low.min()), float(high.max()))
            shown = first
    status = solution.status
    if wanted.operator in ("min", "max", "avg", "sum", "argmin", "argmax"):
        status = status_of(bracket.lower, bracket.upper, precision, otherwise)
    return replace(solution, spec=spec, bracket=bracket, policy_bracket=bracket, status=status, shown=shown)


def _mean(values: Array, share: int, way: float) -> float:
    """Return a sum divided by a number, rounded outwards; `fsum` rounds once."""
    if not np.isfinite(values).all():
        return float(values.sum() / share)
    return math.nextafter(math.nextafter(math.fsum(values) / share, way), way)


def _counted(spec: Spec, low: Array, high: Array, states: Array) -> tuple[Bracket, Array]:
    """Return how many states satisfy a threshold, or 1 and 0 for yes and no, and which do for sure."""
    assert spec.threshold is not None
    assert spec.filter is not None
    holds = [spec.threshold.holds(float(a), float(b)) for a, b in zip(low, high, strict=True)]
    sure, maybe = sum(each is True for each in holds), sum(each is not False for each in holds)
    if spec.filter.operator == "forall":
        least, most = int(sure == len(holds)), int(maybe == len(holds))
    elif spec.filter.operator == "exists":
        least, most = int(sure > 0), int(maybe > 0)
    else:
        least, most = sure, maybe
    return Bracket(float(least), float(most)), states[[each is True for each in holds]]
