"""Contraction of a box of parameters: what constraints exclude is cut off, and never more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from umdp.parametric.bernstein import Ends, Table, coefficients
from umdp.parametric.function import Function
from umdp.parametric.linear import narrow_linear
from umdp.parametric.polynomial import Polynomial
from umdp.parametric.ranges import above, below

__all__ = ["Constraint", "Contracted", "contract"]

ROUNDS, FEWER = 12, 2  # over all constraints; and for a slice
WORTH = Fraction(1, 64)  # of a width: what a round must cut off for another one to follow
SLICE, SLICES = Fraction(1, 8), 3  # the part of a width that is tried at each end, and how often


@dataclass(frozen=True)
class Constraint:
    """A function of the parameters lies between two numbers."""

    function: Function
    lower: Fraction
    upper: Fraction

    def sides(self, box: Ends) -> list[Polynomial]:
        """Return polynomials that are not negative wherever the constraint holds in the box; none where that is not known."""
        over, under = self.function.numerator, self.function.denominator
        signs = coefficients(under, box)
        if (signs <= 0).all():
            over, under = over.scaled(Fraction(-1)), under.scaled(Fraction(-1))
        elif not (signs >= 0).all():
            return []
        return [over - under.scaled(self.lower), under.scaled(self.upper) - over]


@dataclass(frozen=True)
class Contracted:
    """What is left of a box.

    Attributes
    ----------
    box : the ends of each parameter, floats as fractions; None if nothing is left
    culprit : the constraint, by its number, that left nothing; None otherwise
    """

    box: Ends | None
    culprit: int | None = None


def contract(box: Ends, constraints: Sequence[Constraint]) -> Contracted:
    """Return a box that holds every point of a box at which all constraints hold.

    With one parameter and a monotonic function it is the smallest. With several, what constraints exclude together is found by
    linear programs, whose answers are checked, and by cutting off slices that contradict them; with bounded work.

    Examples
    --------
    >>> p, q, one = Polynomial.parameter(0, 2), Polynomial.parameter(1, 2), Polynomial.constant(1, 2)
    >>> unit = [(Fraction(0), Fraction(1))] * 2
    >>> half = Constraint(Function.of(p), Fraction(1, 2), Fraction(1))
    >>> left = contract(unit, [half, Constraint(Function.of(p * q), Fraction(1, 4), Fraction(3, 8))])
    >>> [(float(low), float(high)) for low, high in left.box]
    [(0.5, 1.0), (0.25, 0.75)]
    >>> contract(unit, [half, Constraint(Function.of(one - p), Fraction(3, 4), Fraction(1))])
    Contracted(box=None, culprit=1)
    """
    found = _settle(box, constraints)
    shared = [each for each in constraints if len(each.function.uses) > 1]
    if found.box is None or not shared:
        return found
    affine = [each for each in constraints if each.function.is_affine and not each.function.is_constant]
    if any(len(each.function.uses) > 1 for each in affine) and len(affine) > 1:
        found = _settle(narrow_linear(found.box, [_row(each) for each in affine]), constraints)
    if found.box is not None and any(not each.function.is_affine for each in shared) and len(constraints) > 1:
        found = _shave(found.box, constraints)
    return found


def _row(given: Constraint) -> tuple[list[Fraction], Fraction, Fraction]:
    """Return an affine constraint as a row of coefficients, and the ends of their product with the parameters."""
    function, size = given.function, given.function.size
    scale = 1 / function.denominator.leading
    unit = [tuple(int(i == j) for j in range(size)) for i in range(size)]
    constant = function.numerator.coefficient((0,) * size) * scale
    return (
        [function.numerator.coefficient(each) * scale for each in unit],
        given.lower - constant,
        given.upper - constant,
    )


def _settle(box: Ends, constraints: Sequence[Constraint], rounds: int = ROUNDS) -> Contracted:
    """Go round the constraints until they cut off next to nothing."""
    now: list[tuple[Fraction, Fraction]] = list(box)
    for _ in range(rounds):
        before = list(now)
        for number, constraint in enumerate(constraints):
            for side in constraint.sides(now):
                cut = _cut(now, side)
                if cut is None:
                    return Contracted(None, number)
                now = cut
        if not _smaller(before, now):
            break
    return Contracted(now)


def _smaller(before: Ends, now: Ends) -> bool:
    return any(
        (old[1] - old[0]) - (new[1] - new[0]) > WORTH * (old[1] - old[0])
        for old, new in zip(before, now, strict=True)
        if old != new
    )


def _cut(box: Ends, side: Polynomial) -> list[tuple[Fraction, Fraction]] | None:
    """Cut off where a polynomial is negative; None if it is everywhere."""
    table = coefficients(side, box)
    signs = table >= 0
    if signs.all():
        return list(box)
    if not signs.any():
        return None
    left = list(box)
    for axis, degree in enumerate(side.degrees):
        low, high = box[axis]
        if degree == 0 or low == high:
            continue
        start, end = _clip(table, axis)
        width = high - low
        # The ends stay floats, rounded to the outside.
        first = low if start == 0 else max(low, Fraction(below(low + start * width)))
        last = high if end == 1 else min(high, Fraction(above(low + end * width)))
        left[axis] = first, last
    return left


def _clip(table: Table, axis: int) -> tuple[Fraction, Fraction]:
    """Return the part of an axis, as shares of it, outside of which no average of coefficients is positive or 0.

    For fixed weights along the other axes there is one curve over this one, inside the convex hull of its control points; what
    the hulls leave above 0 holds all there is.
    """
    rows = np.moveaxis(table, axis, -1).reshape(-1, table.shape[axis])
    parts = [part for row in rows if (part := _hull(list(row))) is not None]
    return min(start for start, _ in parts), max(end for _, end in parts)


def _hull(row: list[Fraction]) -> tuple[Fraction, Fraction] | None:
    degree = len(row) - 1
    up = [i for i, value in enumerate(row) if value >= 0]
    down = [i for i, value in enumerate(row) if value < 0]
    if not up:
        return None

    def crossing(k: int, i: int) -> Fraction:
        return (k + (i - k) * (-row[k]) / (row[i] - row[k])) / degree

    start = Fraction(0) if row[0] >= 0 else min(crossing(k, i) for k in down for i in up if k < i)
    end = Fraction(1) if row[-1] >= 0 else max(crossing(k, i) for k in down for i in up if k > i)
    return start, end


def _shave(box: Ends, constraints: Sequence[Constraint]) -> Contracted:
    """Cut off slices at the ends of a box that hold no point, as far as a bounded number of tries goes."""
    now = list(box)
    for axis in _used(constraints):
        for last in (False, True):
            for _ in range(SLICES):
                low, high = now[axis]
                border = Fraction(float(high - SLICE * (high - low) if last else low + SLICE * (high - low)))
                if not low < border < high:
                    break
                piece = list(now)
                piece[axis] = (border, high) if last else (low, border)
                found = _settle(piece, constraints, FEWER).box
                end = border if found is None else found[axis][1 if last else 0]
                now[axis] = (low, end) if last else (end, high)
                if found is not None:
                    break
    return _settle(now, constraints, FEWER)


def _used(constraints: Iterable[Constraint]) -> list[int]:
    return sorted({i for each in constraints for i in each.function.uses})
