"""Answers over many states: the smallest, the largest, the average value, or the states that attain it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.judge.width import status_of
from umdp.solver.result import Bracket, Solution, Status

if TYPE_CHECKING:
    from umdp.spec import Spec

__all__ = ["filtered"]

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
