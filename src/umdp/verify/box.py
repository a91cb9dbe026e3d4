"""Boxes of parameters in a certificate: that no values outside of a box satisfy all constraints, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from umdp.parametric.function import Function, Polynomial
from umdp.parametric.ranges import Ends, Table, coefficients
from umdp.verify.work import Work

__all__ = ["Limit", "all_boxes", "leaves_only", "work_of"]

Box = list[tuple[Fraction, Fraction]]
Weights = tuple[int, int, list[Fraction]]  # a parameter, 1 or -1, and a number for each limit

ROUNDS, DEPTH = 60, 7  # of all constraints; and of halving a slice
BITS = 80  # to which ends are rounded, outwards
WORK = 10**7  # operations with fractions, about


def work_of(function: Function) -> int:
    """Return about how many operations the coefficients of a function over a box take."""
    sizes = [max(pair) + 1 for pair in zip(function.numerator.degrees, function.denominator.degrees, strict=True)]
    return prod(sizes) * sum(sizes) + sum(size**3 for size in sizes if size > 2)


def all_boxes() -> Work:
    """Return the work that all functions of a certificate together may take."""
    return Work(WORK, "learning, functions: they are too large to check the box")


@dataclass(frozen=True)
class Limit:
    """A function of the parameters lies between two numbers."""

    function: Function
    lower: Fraction
    upper: Fraction

    @cached_property
    def work(self) -> int:
        """About how many operations it takes to cut a box by it."""
        return 3 * work_of(self.function)

    def sides(self, box: Ends) -> list[Polynomial]:
        """Return polynomials that are not negative wherever the limit holds in the box; none where that is not known."""
        over, under = self.function.numerator, self.function.denominator
        signs = coefficients(under, box)
        if (signs <= 0).all():
            over, under = over.scaled(Fraction(-1)), under.scaled(Fraction(-1))
        elif not (signs >= 0).all():
            return []
        return [over - under.scaled(self.lower), under.scaled(self.upper) - over]


def leaves_only(
    start: Ends, limits: Sequence[Limit], goal: Ends, weights: Sequence[Weights] = (), work: Work | None = None
) -> bool:
    """Whether it is certain that every point of a box that satisfies all limits lies in another box, the goal.

    It is not where no point satisfies them: then what they are about is wrong. Of affine limits, sums with given weights may
    be used: whatever the weights, a sum bounds a parameter.

    Examples
    --------
    >>> p = Function.of(Polynomial.parameter(0, 1))
    >>> unit, half = [(Fraction(0), Fraction(1))], [(Fraction(0), Fraction(1, 2))]
    >>> leaves_only(unit, [Limit(p, Fraction(0), Fraction(2, 5))], half)
    True
    >>> leaves_only(unit, [Limit(p, Fraction(0), Fraction(3, 5))], half)
    False
    """
    now: Box | None = list(start)
    work = work or all_boxes()
    for _ in range(ROUNDS):
        before, now = now, _round(now or [], limits, work)
        if now is None or _inside(now, goal):
            return now is not None
        if now == before:
            break
    # What is left beyond the goal is shown to hold no point: by sums, and slice by slice.
    for _ in range(2):
        now = _weighed(now or [], limits, weights)
        for axis, (least, most) in enumerate(goal):
            for last in (False, True):
                low, high = now[axis]
                piece = list(now)
                piece[axis] = (max(low, most), high) if last else (low, min(high, least))
                if piece[axis][0] < piece[axis][1] and _empty(piece, limits, DEPTH, work):
                    now[axis] = (low, max(low, most)) if last else (min(high, least), high)
        now = _round(now, limits, work)
        if now is None or any(low > high for low, high in now) or _inside(now, goal):
            return now is not None and all(low <= high for low, high in now)
    return False


def _weighed(box: Box, limits: Sequence[Limit], weights: Sequence[Weights]) -> Box:
    """Cut off what sums of affine limits exclude: x_i is y of the limits, and the rest of the box."""
    now = list(box)
    rows = [each.function.affine_row(each.lower, each.upper) for each in limits]
    for axis, sign, given in weights:
        used = [(y, rows[i]) for i, y in enumerate(given) if y != 0]
        if any(y != 0 and not limits[i].function.is_affine for i, y in enumerate(given)):
            continue
        bound = sum((min(y * low, y * high) for y, (_, low, high) in used), Fraction(0))
        for j, (low, high) in enumerate(now):
            rest = (sign if j == axis else 0) - sum((y * row[j] for y, (row, _, _) in used), Fraction(0))
            bound += min(rest * low, rest * high)
        low, high = now[axis]
        now[axis] = (max(low, bound), high) if sign > 0 else (low, min(high, -bound))
    return now


def _inside(box: Ends, goal: Ends) -> bool:
    return all(a <= low and high <= b for (low, high), (a, b) in zip(box, goal, strict=True))


def _empty(box: Ends, limits: Sequence[Limit], depth: int, work: Work) -> bool:
    """Whether it is certain that no point of a box satisfies all limits."""
    left = _round(list(box), limits, work)
    if left is None:
        return True
    if depth == 0:
        return False
    axis = max(range(len(left)), key=lambda i: left[i][1] - left[i][0])
    low, high = left[axis]
    middle = (low + high) / 2
    for part in ((low, middle), (middle, high)):
        half = list(left)
        half[axis] = part
        if not _empty(half, limits, depth - 1, work):
            return False
    return True


def _round(box: Box, limits: Sequence[Limit], work: Work) -> Box | None:
    """Cut off, once for every limit, where it fails; None if nothing is left."""
    for limit in limits:
        work.spend(limit.work)
        for side in limit.sides(box):
            table = coefficients(side, box)
            signs = table >= 0
            if not signs.any():
                return None
            if signs.all():
                continue
            cut = list(box)
            for axis, degree in enumerate(side.degrees):
                low, high = box[axis]
                if degree and low < high:
                    start, end = _clip(table, axis)
                    cut[axis] = _down(low + start * (high - low), low), _up(low + end * (high - low), high)
            box = cut
    return box


def _down(value: Fraction, least: Fraction) -> Fraction:
    return max(Fraction((value * 2**BITS).__floor__(), 2**BITS), least)


def _up(value: Fraction, most: Fraction) -> Fraction:
    return min(Fraction((value * 2**BITS).__ceil__(), 2**BITS), most)


def _clip(table: Table, axis: int) -> tuple[Fraction, Fraction]:
    """Return the part of an axis outside of which every curve, in the hull of its control points, is below 0."""
    parts = []
    for row in np.moveaxis(table, axis, -1).reshape(-1, table.shape[axis]):
        up = [i for i, value in enumerate(row) if value >= 0]
        down = [i for i, value in enumerate(row) if value < 0]
        if up:
            ends = {(k, i): (k + (i - k) * (-row[k]) / (row[i] - row[k])) / (len(row) - 1) for k in down for i in up}
            start = Fraction(0) if row[0] >= 0 else min(at for (k, i), at in ends.items() if k < i)
            end = Fraction(1) if row[-1] >= 0 else max(at for (k, i), at in ends.items() if k > i)
            parts.append((start, end))
    return min(start for start, _ in parts), max(end for _, end in parts)
