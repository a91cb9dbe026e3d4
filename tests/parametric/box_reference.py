"""The compiled bounds and cuts of `box_kernels` once more in plain NumPy, a function at a time, to compare them with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.parametric.box_kernels import FEW, FEWER, MOST_BENT, PIECES, SLACK, SLICE, SLICES, TINY, WORTH
from umdp.parametric.tabulated import UNIT, Tabulated

__all__ = ["Sides", "bounds", "settle", "shave", "sides"]

Floats = NDArray[np.float64]
Box = tuple[Floats, Floats]
Constraint = tuple[Tabulated, float, float]


class Sides(NamedTuple):
    """Upper bounds on the coefficients of two polynomials that are not negative where a constraint holds."""

    above: Floats  # of function - lower
    below: Floats  # of upper - function
    slack: tuple[Floats, Floats]  # by how much less they may be


def axes_of(table: Tabulated) -> list[int]:
    """Return the parameters that a function depends on."""
    return [axis for axis, degree in enumerate(table.degrees) if degree]


def values(table: Tabulated, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the coefficients of numerator and denominator over a box, and by how much each may be wrong."""
    tables, sizes = table.tables, np.abs(table.tables)
    for axis in axes_of(table):
        degree, low, high = table.degrees[axis], float(lower[axis]), float(upper[axis])
        signed = _conversion(degree, low, high)
        # The same with all signs positive bounds what rounding can have done.
        absolute = signed if low >= 0 else _conversion(degree, abs(low), abs(high))
        tables = (signed @ tables.swapaxes(axis + 1, -2)).swapaxes(axis + 1, -2)
        sizes = (absolute @ sizes.swapaxes(axis + 1, -2)).swapaxes(axis + 1, -2)
    over, lost = tables[0, ..., 0], table.error * sizes[0, ..., 0] + TINY
    if table.plain:
        return over, np.ones_like(over), lost, np.zeros_like(over)
    return over, tables[1, ..., 0], lost, table.error * sizes[1, ..., 0] + TINY


def sides(table: Tabulated, lower: Floats, upper: Floats, least: float, most: float) -> Sides | None:
    """Return the two sides of the constraint that the function lies between two numbers; None where nothing is known."""
    over, under, lost_over, lost_under = values(table, lower, upper)
    if table.sign == 0:
        if (under + lost_under <= 0).all():
            over, under = -over, -under
        elif not (under - lost_under >= 0).all():
            return None
    above = lost_over + abs(least) * lost_under + 4 * UNIT * abs(least)
    below = lost_over + abs(most) * lost_under + 4 * UNIT * abs(most)
    return Sides(over - least * under + above, most * under - over + below, (2 * above, 2 * below))


def bounds(table: Tabulated, lower: Floats, upper: Floats) -> tuple[float, float] | None:
    """Return bounds on the function over a box, rounded outwards; None where the denominator may become 0."""
    low, high, tight = _bounds(table, lower, upper)
    bent = [axis for axis in axes_of(table) if table.degrees[axis] > 1] if table.plain else axes_of(table)
    if not tight and bent:
        pieces = PIECES if len(bent) == 1 else FEW
        cuts = [np.linspace(lower[axis], upper[axis], pieces + 1) for axis in bent]
        low, high = math.inf, -math.inf
        for place in product(range(pieces), repeat=len(bent)) if len(bent) <= MOST_BENT else ():
            first, last = lower.copy(), upper.copy()
            for axis, cut, i in zip(bent, cuts, place, strict=True):
                first[axis], last[axis] = cut[i], cut[i + 1]
            found = _bounds(table, first, last)
            low, high = min(low, found[0]), max(high, found[1])
        if low > high:
            low, high, _ = _bounds(table, lower, upper)
    return None if not (math.isfinite(low) and math.isfinite(high)) else (low, high)


def _bounds(table: Tabulated, lower: Floats, upper: Floats) -> tuple[float, float, bool]:
    """Return bounds over a box, and whether both are values in its corners, so that there are none better."""
    over, under, lost_over, lost_under = values(table, lower, upper)
    if table.plain:
        least, most = over - lost_over, over + lost_over
    else:
        if table.sign == 0 and (under + lost_under <= 0).all():
            over, under = -over, -under
        small, large = under - lost_under, under + lost_under
        if not (small > 0).all():
            return -math.inf, math.inf, True
        least, most = over - lost_over, over + lost_over
        least = np.where(least >= 0, least / large, least / small) * 1.0
        most = np.where(most >= 0, most / small, most / large) * 1.0
        least, most = least - 4 * UNIT * np.abs(least), most + 4 * UNIT * np.abs(most)
    corner = tuple(slice(None, None, max(size - 1, 1)) for size in over.shape)
    low, high = float(least.min()), float(most.max())
    return low, high, bool(least[corner].min() == low and most[corner].max() == high)


def _conversion(degree: int, low: float, high: float) -> Floats:
    """Return the matrix from coefficients of powers to Bernstein coefficients, as `bernstein` has it in fractions."""
    if degree == 1:
        return np.array([[1.0, low], [1.0, high]])
    matrix = np.zeros((degree + 1, degree + 1))
    for row, power in product(range(degree + 1), repeat=2):
        ways = range(max(0, power - degree + row), min(row, power) + 1)
        total = sum(math.comb(row, i) * math.comb(degree - row, power - i) * high**i * low ** (power - i) for i in ways)
        matrix[row, power] = total / math.comb(degree, power)
    return matrix


def settle(box: Box, constraints: Sequence[Constraint], rounds: int) -> Box | int:
    """Go round constraints until they cut off next to nothing; return what is left, or the one that left nothing."""
    lower, upper = box[0].copy(), box[1].copy()
    for _ in range(rounds):
        widths = upper - lower
        for number, constraint in enumerate(constraints):
            if not _cut(lower, upper, constraint):
                return number
        if not (widths - (upper - lower) > WORTH * widths).any():
            break
    return lower, upper


def _cut(lower: Floats, upper: Floats, given: Constraint) -> bool:
    """Cut off, in place, where a constraint fails; return whether anything is left."""
    table, least, most = given
    found = sides(table, lower, upper, least, most)
    if found is None:
        return True
    before = lower.copy(), upper.copy()
    for side, slack in zip((found.above, found.below), found.slack, strict=True):
        if (side - slack >= 0).all():
            continue
        if (side < 0).all():
            return False
        for axis in axes_of(table):
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


def shave(box: Box, constraints: Sequence[Constraint]) -> Box | int:
    """Cut off slices at the ends of a box that hold no point, as far as a bounded number of tries goes."""
    lower, upper = box[0].copy(), box[1].copy()
    for axis in sorted({i for table, _, _ in constraints for i in axes_of(table)}):
        for last in (False, True):
            for _ in range(SLICES):
                low, high = lower[axis], upper[axis]
                border = high - SLICE * (high - low) if last else low + SLICE * (high - low)
                if not low < border < high:
                    break
                piece = lower.copy(), upper.copy()
                piece[0 if last else 1][axis] = border
                found = settle(piece, constraints, FEWER)
                end = border if isinstance(found, int) else found[1 if last else 0][axis]
                (upper if last else lower)[axis] = end
                if not isinstance(found, int):
                    break
    return settle((lower, upper), constraints, FEWER)
