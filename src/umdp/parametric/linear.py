"""Linear constraints on a box of parameters: linear programs, whose answers are checked without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from umdp.parametric.bernstein import Ends
from umdp.parametric.ranges import above, below

__all__ = ["narrow_linear"]

Row = tuple[list[Fraction], Fraction, Fraction]


def narrow_linear(box: Ends, rows: Sequence[Row]) -> list[tuple[Fraction, Fraction]]:
    r"""Return a box that holds every point of a box at which all rows lie between their ends.

    For any numbers y, :math:`x_i = \sum_k y_k (A x)_k + \sum_j (e_i - A^T y)_j x_j`, and both sums are bounded by ends that
    are known. The linear program is asked for good numbers y; the bound is computed from them in fractions, so that it
    holds whatever the answer was.

    Examples
    --------
    >>> unit, one = [(Fraction(0), Fraction(1))] * 2, Fraction(1)
    >>> rows = [([one, one], Fraction(3, 2), Fraction(2)), ([one, -one], Fraction(1, 4), one)]
    >>> [(round(float(low), 6), round(float(high), 6)) for low, high in narrow_linear(unit, rows)]
    [(0.875, 1.0), (0.5, 0.75)]
    """
    now = list(box)
    for axis in range(len(box)):
        low = _bound(now, rows, axis, 1)
        high = _bound(now, rows, axis, -1)
        first = now[axis][0] if low is None else max(now[axis][0], Fraction(below(low)))
        last = now[axis][1] if high is None else min(now[axis][1], Fraction(above(-high)))
        if first <= last:  # what excludes everything is found, and named, where constraints are taken one by one
            now[axis] = first, last
    return now


def _bound(box: Ends, rows: Sequence[Row], axis: int, sign: int) -> Fraction | None:
    """Return a lower bound on a coordinate, or on its negative."""
    from scipy.optimize import linprog

    matrix = np.array([[float(a) for a in row] for row, _, _ in rows])
    lower, upper = np.array([float(low) for _, low, _ in rows]), np.array([float(high) for _, _, high in rows])
    cost = np.zeros(len(box))
    cost[axis] = sign
    answer = linprog(
        cost, np.vstack([matrix, -matrix]), np.concatenate([upper, -lower]),
        bounds=[(float(low), float(high)) for low, high in box], method="highs",
    )  # fmt: skip
    if answer.status != 0 or not np.isfinite(answer.ineqlin.marginals).all():
        return None
    duals = answer.ineqlin.marginals
    weights = [Fraction(float(y)) for y in duals[: len(rows)] - duals[len(rows) :]]
    total = Fraction(0)
    for y, (_, low, high) in zip(weights, rows, strict=True):
        total += min(y * low, y * high)
    for j, (low, high) in enumerate(box):
        rest = (sign if j == axis else 0) - sum(
            (y * row[j] for y, (row, _, _) in zip(weights, rows, strict=True)), Fraction(0)
        )
        total += min(rest * low, rest * high)
    return total
