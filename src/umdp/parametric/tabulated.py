"""Bernstein coefficients of many functions in floats, with a bound on every rounding error: for what is computed often."""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.parametric.bernstein import LARGEST, Ends, coefficients
from umdp.parametric.function import Function

__all__ = ["Sides", "Tabulated"]

Floats = NDArray[np.float64]
UNIT = 2.0**-52
TINY = 1e-290  # more than what is lost where numbers are too small for floats
PIECES, FEWER = 16, 4  # of an axis along which a function is bent, alone or among several
MOST_BENT = 3  # axes along which boxes are split


class Sides(NamedTuple):
    """Upper bounds on the coefficients of two polynomials that are not negative where a constraint holds."""

    above: Floats  # of function - lower
    below: Floats  # of upper - function
    slack: tuple[Floats, Floats]  # by how much less they may be


class Tabulated:
    """A function, prepared for constraints on it, and for its ranges, over many boxes.

    Attributes
    ----------
    function : the function
    degrees : in each parameter, of the numerator and denominator together
    sign : of the denominator over the box it was prepared for: 1, -1, or 0 where it may have both

    Examples
    --------
    >>> from fractions import Fraction
    >>> from umdp.parametric.polynomial import Polynomial
    >>> p = Polynomial.parameter(0, 1)
    >>> table = Tabulated(Function.of(p - p * p), [(Fraction(0), Fraction(1))])
    >>> sides = table.sides(np.array([0.0]), np.array([1.0]), 0.25, 0.5)
    >>> sides.above.round(6), sides.below.round(6)
    (array([-0.25,  0.25, -0.25]), array([0.5, 0. , 0.5]))
    """

    def __init__(self, function: Function, box: Ends) -> None:
        over, under = function.numerator, function.denominator
        self.function = function
        self.degrees = tuple(max(pair) for pair in zip(over.degrees, under.degrees, strict=True))
        if math.prod(d + 1 for d in self.degrees) > LARGEST:
            raise ModelError("a probability of the program has too many parameters, of too high degrees; simplify it")
        signs = coefficients(under, box)
        self.sign = 1 if (signs >= 0).all() else -1 if (signs <= 0).all() else 0
        self.plain = under.is_constant  # it is then 1
        shape = [d + 1 for d in self.degrees]
        parts = [over] if self.plain else [over, under]
        self.tables = np.zeros([len(parts), *shape, 1])
        for number, each in enumerate(parts):
            for exponents, coefficient in each.terms.items():
                self.tables[(number, *exponents, 0)] = float(coefficient) * (self.sign or 1)
        self.sizes = np.abs(self.tables)
        self.axes = [axis for axis, degree in enumerate(self.degrees) if degree]
        bent = [axis for axis in self.axes if self.degrees[axis] > 1]
        self.bent = bent if self.plain else self.axes
        # Each axis costs a conversion, with powers, binomials and two sums; twice what that can lose.
        self.error = UNIT * (16 + sum(4 * d + 8 for d in self.degrees if d))

    def values(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the coefficients of numerator and denominator over a box, and by how much each may be wrong."""
        tables, sizes = self.tables, self.sizes
        for axis in self.axes:
            degree, low, high = self.degrees[axis], float(lower[axis]), float(upper[axis])
            signed = _conversion(degree, low, high)
            # The same with all signs positive bounds what rounding can have done.
            absolute = signed if low >= 0 else _conversion(degree, abs(low), abs(high))
            tables = (signed @ tables.swapaxes(axis + 1, -2)).swapaxes(axis + 1, -2)
            sizes = (absolute @ sizes.swapaxes(axis + 1, -2)).swapaxes(axis + 1, -2)
        over, lost = tables[0, ..., 0], self.error * sizes[0, ..., 0] + TINY
        if self.plain:
            return over, np.ones_like(over), lost, np.zeros_like(over)
        return over, tables[1, ..., 0], lost, self.error * sizes[1, ..., 0] + TINY

    def sides(self, lower: Floats, upper: Floats, least: float, most: float) -> Sides | None:
        """Return the two sides of the constraint that the function lies between two numbers; None where nothing is known."""
        over, under, lost_over, lost_under = self.values(lower, upper)
        if self.sign == 0:
            if (under + lost_under <= 0).all():
                over, under = -over, -under
            elif not (under - lost_under >= 0).all():
                return None
        above = lost_over + abs(least) * lost_under + 4 * UNIT * abs(least)
        below = lost_over + abs(most) * lost_under + 4 * UNIT * abs(most)
        return Sides(over - least * under + above, most * under - over + below, (2 * above, 2 * below))

    def range(self, lower: Floats, upper: Floats) -> tuple[float, float] | None:
        """Return bounds on the function over a box, rounded outwards; None where the denominator may become 0."""
        low, high, tight = self._bounds(lower, upper)
        if not tight and self.bent:
            pieces = PIECES if len(self.bent) == 1 else FEWER
            cuts = [np.linspace(lower[axis], upper[axis], pieces + 1) for axis in self.bent]
            low, high = math.inf, -math.inf
            for place in product(range(pieces), repeat=len(self.bent)) if len(self.bent) <= MOST_BENT else ():
                first, last = lower.copy(), upper.copy()
                for axis, cut, i in zip(self.bent, cuts, place, strict=True):
                    first[axis], last[axis] = cut[i], cut[i + 1]
                found = self._bounds(first, last)
                low, high = min(low, found[0]), max(high, found[1])
            if low > high:
                low, high, _ = self._bounds(lower, upper)
        return None if not (math.isfinite(low) and math.isfinite(high)) else (low, high)

    def _bounds(self, lower: Floats, upper: Floats) -> tuple[float, float, bool]:
        """Return bounds over a box, and whether both are values in its corners, so that there are none better."""
        over, under, lost_over, lost_under = self.values(lower, upper)
        if self.plain:
            least, most = over - lost_over, over + lost_over
        else:
            if self.sign == 0 and (under + lost_under <= 0).all():
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
