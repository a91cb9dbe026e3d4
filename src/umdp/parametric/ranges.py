"""The range of a function over a box of parameters, from outside and without rounding errors: by Bernstein coefficients."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import count, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.parametric.function import Function, Polynomial

__all__ = ["LARGEST", "Ends", "Table", "above", "below", "coefficients", "ends_of", "range_of"]

Ends = Sequence[tuple[Fraction, Fraction]]
Table = NDArray[Any]

LARGEST = 1 << 14  # coefficients of one polynomial
SPLITS = 24  # of a box, for one end of a range
CLOSE = Fraction(1, 1 << 44)  # to a value that the function has: good enough


def below(value: Fraction) -> float:
    """Return the largest float that is not above a number.

    Examples
    --------
    >>> below(Fraction(1, 10)) < Fraction(1, 10) < above(Fraction(1, 10)), below(Fraction(1, 2))
    (True, 0.5)
    """
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def above(value: Fraction) -> float:
    """Return the least float that is not below a number."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def ends_of(lower: Iterable[float], upper: Iterable[float]) -> list[tuple[Fraction, Fraction]]:
    """Return a box given by floats, exactly."""
    return [(Fraction(float(low)), Fraction(float(high))) for low, high in zip(lower, upper, strict=True)]


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


def _corners(table: Table) -> list[Fraction]:
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


def range_of(given: Function, box: Ends, splits: int = SPLITS) -> tuple[Fraction, Fraction] | None:
    """Return bounds on a function over a box; None where its denominator may become 0 and nothing is known.

    They are the exact range where the function is affine in each parameter; otherwise the box is split a few times to come near.

    Examples
    --------
    >>> p, q = Polynomial.parameter(0, 2), Polynomial.parameter(1, 2)
    >>> box = [(Fraction(1, 4), Fraction(1, 2)), (Fraction(0), Fraction(1, 3))]
    >>> range_of(Function.of(p - p * q), box)
    (Fraction(1, 6), Fraction(1, 2))
    """
    least = _least(given.numerator, given.denominator, box, splits)
    most = _least(given.numerator.scaled(Fraction(-1)), given.denominator, box, splits)
    return None if least is None or most is None else (least, -most)


def _least(above_: Polynomial, below_: Polynomial, box: Ends, splits: int) -> Fraction | None:
    """Return a lower bound on a quotient, by splitting the piece with the lowest one first."""
    order = count()
    pieces: list[tuple[bool, Fraction, int, Ends]] = []
    found: Fraction | None = None  # the least value that the function is known to have

    def take(piece: Ends) -> None:
        nonlocal found
        bound, value = _bound(above_, below_, piece)
        if value is not None and (found is None or value < found):
            found = value
        heapq.heappush(pieces, (bound is not None, Fraction(0) if bound is None else bound, next(order), piece))

    take(box)
    for _ in range(splits):
        known, bound, _, piece = pieces[0]
        if known and found is not None and found - bound <= CLOSE:
            break
        halves = _halves(piece, above_, below_)
        if halves is None:
            break
        heapq.heappop(pieces)
        for half in halves:
            take(half)
    known, bound, _, _ = pieces[0]
    return bound if known else None


def _bound(above_: Polynomial, below_: Polynomial, box: Ends) -> tuple[Fraction | None, Fraction | None]:
    """Return a lower bound on a quotient over a box, None without one; and its least value in a corner."""
    if below_.is_constant:
        scale = 1 / below_.leading
        table = coefficients(above_.scaled(scale), box)
        return min(table.flat), min(_corners(table))
    degrees = [max(pair) for pair in zip(above_.degrees, below_.degrees, strict=True)]
    over, under = coefficients(above_, box, degrees), coefficients(below_, box, degrees)
    if (under <= 0).all():
        over, under = -over, -under
    if not (under >= 0).all():
        return None, None
    # The quotient is an average of the quotients of the coefficients: those that are 0 / 0 have no weight in it.
    if ((under == 0) & (over < 0)).any():
        return None, None
    ratios = _ratios(over.ravel(), under.ravel())
    ends = _ratios(_corners(over), _corners(under))
    return (min(ratios) if ratios else None), (min(ends) if ends else None)


def _ratios(over: Table | list[Any], under: Table | list[Any]) -> list[Fraction]:
    return [n / d for n, d in zip(over, under, strict=True) if d != 0]


def _halves(box: Ends, above_: Polynomial, below_: Polynomial) -> tuple[Ends, Ends] | None:
    """Split a box where it is widest, among the parameters that make a bound inexact."""
    degrees = [max(pair) for pair in zip(above_.degrees, below_.degrees, strict=True)]
    bent = [i for i, d in enumerate(degrees) if d > 1] or [i for i, d in enumerate(degrees) if d]
    width, axis = max(((box[i][1] - box[i][0], i) for i in bent), default=(Fraction(0), 0))
    if width <= 0:
        return None
    low, high = box[axis]
    middle = Fraction(float((low + high) / 2))
    if not low < middle < high:
        return None
    first, second = list(box), list(box)
    first[axis], second[axis] = (low, middle), (middle, high)
    return first, second
