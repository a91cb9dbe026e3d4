"""Contraction of a box of parameters: what constraints exclude is cut off, and never more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from umdp.parametric.function import Function
from umdp.parametric.linear import narrow_linear
from umdp.parametric.ranges import ends_of
from umdp.parametric.tabulated import Tabulated

__all__ = ["Constraint", "Contracted", "constrained", "contract"]

Floats = NDArray[np.float64]
Box = tuple[Floats, Floats]

ROUNDS, FEWER = 12, 3  # over all constraints; and for a slice
WORTH = 1 / 64  # of a width: what a round must cut off for another one to follow
SLICE, SLICES = 1 / 8, 4  # the part of a width that is tried at each end, and how often
SLACK = 2.0**-48  # more than rounding can do to where a line crosses zero


@dataclass(frozen=True)
class Constraint:
    """A function of the parameters lies between two numbers."""

    table: Tabulated
    lower: float
    upper: float

    @property
    def function(self) -> Function:
        """The function."""
        return self.table.function


@dataclass(frozen=True)
class Contracted:
    """What is left of a box.

    Attributes
    ----------
    box : the lower and upper ends of the parameters, (K,) each; None if nothing is left
    culprit : the constraint, by its number, that left nothing; None otherwise
    """

    box: Box | None
    culprit: int | None = None


def constrained(box: Box, *given: tuple[Function, float, float]) -> list[Constraint]:
    """Return constraints on functions, prepared for a box and all that lies in it."""
    return [Constraint(Tabulated(function, ends_of(*box)), low, high) for function, low, high in given]


def contract(box: Box, constraints: Sequence[Constraint]) -> Contracted:
    """Return a box that holds every point of a box at which all constraints hold.

    With one parameter and a monotonic function it is the smallest, up to rounding. With several, what constraints exclude
    together is found by linear programs, whose answers are checked, and by cutting off slices that contradict them; with
    bounded work.

    Examples
    --------
    >>> from umdp.parametric.polynomial import Polynomial
    >>> p, q, one = Polynomial.parameter(0, 2), Polynomial.parameter(1, 2), Polynomial.constant(1, 2)
    >>> unit = np.zeros(2), np.ones(2)
    >>> left = contract(unit, constrained(unit, (Function.of(p), 0.5, 1), (Function.of(p * q), 0.25, 0.375)))
    >>> left.box[0].round(6), left.box[1].round(6)
    (array([0.5 , 0.25]), array([1.  , 0.75]))
    >>> contract(unit, constrained(unit, (Function.of(p), 0.5, 1), (Function.of(one - p), 0.75, 1)))
    Contracted(box=None, culprit=1)
    """
    found = _settle(box, constraints)
    shared = [each for each in constraints if len(each.function.uses) > 1]
    if found.box is None or not shared:
        return found
    affine = [each for each in constraints if each.function.is_affine and not each.function.is_constant]
    if any(len(each.function.uses) > 1 for each in affine) and len(affine) > 1:
        narrow = narrow_linear(
            ends_of(*found.box), [each.function.affine_row(each.lower, each.upper) for each in affine]
        )
        ends = np.array([[float(end) for end in each] for each in narrow])
        found = _settle((ends[:, 0], ends[:, 1]), constraints)
    if found.box is not None and any(not each.function.is_affine for each in shared) and len(constraints) > 1:
        found = _shave(found.box, constraints)
    return found


def _settle(box: Box, constraints: Sequence[Constraint], rounds: int = ROUNDS) -> Contracted:
    """Go round the constraints until they cut off next to nothing."""
    lower, upper = box[0].copy(), box[1].copy()
    for _ in range(rounds):
        widths = upper - lower
        for number, constraint in enumerate(constraints):
            if not _cut(lower, upper, constraint):
                return Contracted(None, number)
        if not (widths - (upper - lower) > WORTH * widths).any():
            break
    return Contracted((lower, upper))


def _cut(lower: Floats, upper: Floats, given: Constraint) -> bool:
    """Cut off, in place, where a constraint fails; return whether anything is left."""
    sides = given.table.sides(lower, upper, given.lower, given.upper)
    if sides is None:
        return True
    before = lower.copy(), upper.copy()
    for side, slack in zip((sides.above, sides.below), sides.slack, strict=True):
        if (side - slack >= 0).all():
            continue
        if (side < 0).all():
            return False
        for axis in given.table.axes:
            low, high = before[0][axis], before[1][axis]
            if low == high:
                continue
            start, end = _clip(np.moveaxis(side, axis, -1).reshape(-1, side.shape[axis]))
            lost = SLACK * (abs(low) + abs(high))
            if start > 0:
                lower[axis] = max(lower[axis], low + start * (high - low) - lost)
            if end < 1:
                upper[axis] = min(upper[axis], low + end * (high - low) + lost)
    return bool((lower <= upper).all())


def _clip(rows: Floats) -> tuple[float, float]:
    """Return the part of an axis, as shares of it, outside of which no average of coefficients is positive or 0.

    For fixed weights along the other axes there is one curve over this one, inside the convex hull of its control points; what
    the hulls of all rows leave above 0 holds all there is.
    """
    degree = rows.shape[1] - 1
    up = rows >= 0
    rows = rows[up.any(axis=1)]
    up = rows >= 0
    start, end = np.where(up[:, 0], 0.0, 1.0), np.where(up[:, -1], 1.0, 0.0)
    for i in range(degree + 1):
        for k in range(degree + 1):
            crosses = up[:, i] & ~up[:, k]
            if i == k or not crosses.any():
                continue
            fall = np.where(crosses, rows[:, k], -1.0)
            share = fall / (fall - np.where(crosses, rows[:, i], 0.0))  # from k to i
            at = (k + (i - k) * share) / degree
            if k < i:
                start = np.where(crosses & ~up[:, 0], np.minimum(start, at), start)
            else:
                end = np.where(crosses & ~up[:, -1], np.maximum(end, at), end)
    return max(float(start.min()) - SLACK, 0.0), min(float(end.max()) + SLACK, 1.0)


def _shave(box: Box, constraints: Sequence[Constraint]) -> Contracted:
    """Cut off slices at the ends of a box that hold no point, as far as a bounded number of tries goes."""
    lower, upper = box[0].copy(), box[1].copy()
    for axis in _used(constraints):
        for last in (False, True):
            for _ in range(SLICES):
                low, high = lower[axis], upper[axis]
                border = high - SLICE * (high - low) if last else low + SLICE * (high - low)
                if not low < border < high:
                    break
                piece = lower.copy(), upper.copy()
                piece[0 if last else 1][axis] = border
                found = _settle(piece, constraints, FEWER).box
                end = border if found is None else found[1 if last else 0][axis]
                (upper if last else lower)[axis] = end
                if found is not None:
                    break
    return _settle((lower, upper), constraints, FEWER)


def _used(constraints: Iterable[Constraint]) -> list[int]:
    return sorted({i for each in constraints for i in each.function.uses})
