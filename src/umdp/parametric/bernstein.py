"""Bernstein coefficients: what bounds a polynomial over a box from both sides, without rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.parametric.polynomial import Polynomial

__all__ = ["Ends", "coefficients", "corners"]

Ends = Sequence[tuple[Fraction, Fraction]]
Table = NDArray[Any]

LARGEST = 1 << 14  # coefficients of one polynomial


def coefficients(given: Polynomial, box: Ends, degrees: Sequence[int] | None = None) -> Table:
    r"""Return the Bernstein coefficients of a polynomial over a box, an array of fractions with an axis per parameter.

    Over the box the polynomial is an average of them, with weights that are not negative: it lies between the least and the
    largest, and the coefficients in the corners of the array are its values in the corners of the box. So a polynomial that
    is affine in each parameter lies between two of its values.

    Parameters
    ----------
    given : Polynomial
    box : the ends of each parameter
    degrees : optional
        For each axis, at least the degree of the polynomial; its own unless given.

    Examples
    --------
    >>> p = Polynomial.parameter(0, 1)
    >>> coefficients(p - p * p, [(Fraction(0), Fraction(1))])
    array([Fraction(0, 1), Fraction(1, 2), Fraction(0, 1)], dtype=object)
    """
    shape = tuple(given.degrees if degrees is None else degrees)
    if math.prod(d + 1 for d in shape) > LARGEST:
        raise ModelError("a probability of the program has too many parameters, of too high degrees; simplify it")
    table: Table = np.full([d + 1 for d in shape], Fraction(0), dtype=object)
    for exponents, coefficient in given.terms.items():
        table[exponents] = coefficient
    for axis, (degree, (low, high)) in enumerate(zip(shape, box, strict=True)):
        if degree:
            table = np.moveaxis(np.tensordot(_conversion(degree, low, high), table, axes=([1], [axis])), 0, axis)
    return table


def corners(table: Table) -> list[Fraction]:
    """Return the coefficients that are values in corners of the box."""
    return [table[place] for place in product(*({0, size - 1} for size in table.shape))]


def _conversion(degree: int, low: Fraction, high: Fraction) -> Table:
    """Return the matrix from coefficients of powers to Bernstein coefficients over [low, high].

    Coefficient l of x^j is its polar form at l times `high` and degree - l times `low`.
    """
    if degree == 1:
        return np.array([[Fraction(1), low], [Fraction(1), high]], dtype=object)
    lows, highs = ([end**k for k in range(degree + 1)] for end in (low, high))
    matrix: Table = np.full((degree + 1, degree + 1), Fraction(0), dtype=object)
    for row, power in product(range(degree + 1), repeat=2):
        ways = range(max(0, power - degree + row), min(row, power) + 1)
        total = sum(
            (math.comb(row, i) * math.comb(degree - row, power - i) * highs[i] * lows[power - i] for i in ways),
            Fraction(0),
        )
        matrix[row, power] = total / math.comb(degree, power)
    return matrix
