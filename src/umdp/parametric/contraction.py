"""Contraction of a box of parameters: what constraints exclude is cut off, and never more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from umdp.parametric.function import Function
from umdp.parametric.ranges import Ends, above, below, ends_of
from umdp.parametric.tabulated import FunctionTables, Tables

__all__ = ["Constraints", "Contracted", "constrained", "contract", "linear_weights", "narrow_linear"]

Floats = NDArray[np.float64]
Box = tuple[Floats, Floats]
Row = tuple[list[Fraction], Fraction, Fraction]

ROUNDS = 12  # over all constraints
# Of a width: what an answer is wider than it need be, so that another program's answer can prove it.
LOOSE = Fraction(1, 10**9)


@dataclass(frozen=True, eq=False)
class Constraints:
    """Functions of the parameters lie between two numbers each.

    Attributes
    ----------
    tables : the functions, and others
    which : (n,) the functions that are constrained
    lower, upper : (n,) the numbers
    """

    tables: Tables
    which: NDArray[np.int64]
    lower: Floats
    upper: Floats

    @property
    def arrays(self) -> tuple[FunctionTables, NDArray[np.int64], Floats, Floats]:
        """All there is to know of them, as compiled code takes it."""
        return self.tables.arrays, self.which, self.lower, self.upper

    def function(self, number: int) -> Function:
        """Return the function of a constraint."""
        return self.tables.functions[int(self.which[number])]


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


def constrained(box: Box, *given: tuple[Function, float, float]) -> Constraints:
    """Return constraints on functions, prepared for a box and all that lies in it."""
    tables = Tables([function for function, _, _ in given], ends_of(*box))
    ends = np.array([(low, high) for _, low, high in given], np.float64).reshape(-1, 2).T.copy()
    return Constraints(tables, np.arange(len(given)), ends[0], ends[1])


def contract(box: Box, constraints: Constraints) -> Contracted:
    """Return a box that holds every point of a box at which all constraints hold.

    With one parameter and a monotonic function it is the smallest, up to rounding. With several, what constraints exclude
    together is found by linear programs, whose answers are checked, and by cutting off slices that contradict them; with
    bounded work.

    Examples
    --------
    >>> from umdp.parametric.function import Polynomial
    >>> p, q, one = Polynomial.parameter(0, 2), Polynomial.parameter(1, 2), Polynomial.constant(1, 2)
    >>> unit = np.zeros(2), np.ones(2)
    >>> left = contract(unit, constrained(unit, (Function.of(p), 0.5, 1), (Function.of(p * q), 0.25, 0.375)))
    >>> left.box[0].round(6), left.box[1].round(6)
    (array([0.5 , 0.25]), array([1.  , 0.75]))
    >>> contract(unit, constrained(unit, (Function.of(p), 0.5, 1), (Function.of(one - p), 0.75, 1)))
    Contracted(box=None, culprit=1)
    """
    from umdp.parametric.box_kernels import settle, shave

    found = _narrowed(partial(settle, ROUNDS), box, constraints)
    tables, which = constraints.tables, constraints.which
    shared, affine = tables.shared[which], tables.affine[which]
    if found.box is None or not shared.any():
        return found
    if (shared & affine).any() and affine.sum() > 1:
        rows = [
            constraints.function(int(n)).affine_row(float(constraints.lower[n]), float(constraints.upper[n]))
            for n in np.flatnonzero(affine)
        ]
        ends = np.array([[float(end) for end in each] for each in narrow_linear(ends_of(*found.box), rows)])
        found = _narrowed(partial(settle, ROUNDS), (ends[:, 0], ends[:, 1]), constraints)
    if found.box is not None and (shared & ~affine).any() and which.size > 1:
        found = _narrowed(shave, found.box, constraints)
    return found


def _narrowed(narrow: Callable[..., int], box: Box, constraints: Constraints) -> Contracted:
    """Return what compiled code leaves of a box, which it narrows in place."""
    lower, upper = (np.array(each, np.float64) for each in box)
    culprit = narrow(lower, upper, *constraints.arrays)
    return Contracted((lower, upper)) if culprit < 0 else Contracted(None, culprit)


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
        bound = _weighted_bound(now, rows, axis, sign, weights)
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


def _weighted_bound(box: Ends, rows: Sequence[Row], axis: int, sign: int, weights: Sequence[float]) -> Fraction:
    """Return the lower bound on a coordinate, or on its negative, that follows from numbers y."""
    exact = [Fraction(float(y)) for y in weights]
    total = sum((min(y * low, y * high) for y, (_, low, high) in zip(exact, rows, strict=True)), Fraction(0))
    for j, (low, high) in enumerate(box):
        rest = (sign if j == axis else 0) - sum(
            (y * row[j] for y, (row, _, _) in zip(exact, rows, strict=True)), Fraction(0)
        )
        total += min(rest * low, rest * high)
    return total
