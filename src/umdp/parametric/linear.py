"""Linear constraints on a box of parameters: linear programs, whose answers are checked without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from umdp.parametric.ranges import Ends, above, below

__all__ = ["linear_weights", "narrow_linear", "weighted_bound"]

Row = tuple[list[Fraction], Fraction, Fraction]

LOOSE = Fraction(
    1, 10**9
)  # of a width: what an answer is wider than it need be, so that another program's answer can prove it


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
    for axis, sign, weights in linear_weights(box, rows):
        bound = weighted_bound(now, rows, axis, sign, weights)
        low, high = now[axis]
        room = (high - low) * LOOSE
        if sign > 0:
            low = max(low, Fraction(below(bound - room)))
        else:
            high = min(high, Fraction(above(room - bound)))
        if low <= high:  # what excludes everything is found, and named, where constraints are taken one by one
            now[axis] = low, high
    return now


def linear_weights(box: Ends, rows: Sequence[Row]) -> list[tuple[int, int, list[float]]]:
    """Return good numbers y for a lower bound on every coordinate, and on its negative: axis, sign, and one for each row."""
    from scipy.optimize import linprog

    matrix = np.array([[float(a) for a in row] for row, _, _ in rows])
    lower, upper = np.array([float(low) for _, low, _ in rows]), np.array([float(high) for _, _, high in rows])
    found = []
    for axis, sign in product(range(len(box)), (1, -1)):
        cost = np.zeros(len(box))
        cost[axis] = sign
        answer = linprog(
            cost, np.vstack([matrix, -matrix]), np.concatenate([upper, -lower]),
            bounds=[(float(low), float(high)) for low, high in box], method="highs",
        )  # fmt: skip
        if answer.status == 0 and np.isfinite(answer.ineqlin.marginals).all():
            duals = answer.ineqlin.marginals
            found.append((axis, sign, (duals[: len(rows)] - duals[len(rows) :]).tolist()))
    return found


def weighted_bound(box: Ends, rows: Sequence[Row], axis: int, sign: int, weights: Sequence[float]) -> Fraction:
    """Return the lower bound on a coordinate, or on its negative, that follows from numbers y."""
    exact = [Fraction(float(y)) for y in weights]
    total = sum((min(y * low, y * high) for y, (_, low, high) in zip(exact, rows, strict=True)), Fraction(0))
    for j, (low, high) in enumerate(box):
        rest = (sign if j == axis else 0) - sum(
            (y * row[j] for y, (row, _, _) in zip(exact, rows, strict=True)), Fraction(0)
        )
        total += min(rest * low, rest * high)
    return total
