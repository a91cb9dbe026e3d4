"""Functions in floats, with a bound on every rounding error, prepared for what is computed often: ranges and constraints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.parametric.function import Function
from umdp.parametric.ranges import LARGEST, Ends, coefficients

__all__ = ["UNIT", "FunctionTables", "Tables", "Tabulated"]

Floats = NDArray[np.float64]
UNIT = 2.0**-52
HIGHEST = 1000  # degree: binomials of higher ones are no floats


class Tabulated:
    """A function, prepared for constraints on it, and for its ranges, over many boxes.

    Attributes
    ----------
    function : the function
    degrees : in each parameter, of the numerator and denominator together
    tables : (1 or 2, degrees + 1, 1) the coefficients of the numerator, and of the denominator unless that is 1
    sign : of the denominator over the box it was prepared for: 1, -1, or 0 where it may have both

    Examples
    --------
    >>> from fractions import Fraction
    >>> from umdp.parametric.function import Polynomial
    >>> p = Polynomial.parameter(0, 1)
    >>> Tabulated(Function.of(p - p * p), [(Fraction(0), Fraction(1))]).tables.ravel()
    array([ 0.,  1., -1.])
    """

    def __init__(self, function: Function, box: Ends) -> None:
        over, under = function.numerator, function.denominator
        self.function = function
        self.degrees = tuple(max(pair) for pair in zip(over.degrees, under.degrees, strict=True))
        if math.prod(d + 1 for d in self.degrees) > LARGEST or max(self.degrees, default=0) > HIGHEST:
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
        # Each axis costs a conversion, with powers, binomials and two sums; twice what that can lose.
        self.error = UNIT * (16 + sum(4 * d + 8 for d in self.degrees if d))


class FunctionTables(NamedTuple):
    """Functions of K parameters, one behind the other, as compiled code takes them.

    Attributes
    ----------
    degrees : (F, K) in each parameter
    begin : (F+1,) where the coefficients of each begin
    coefficient : of the numerators, and of the denominators that are not 1
    sign : (F,) of the denominators: 1, -1, or 0 where it may be either
    error : (F,) what rounding can do, relative to the absolute values of all that goes in
    binomial : (highest degree + 1, highest degree + 1)
    """

    degrees: NDArray[np.int64]
    begin: NDArray[np.int64]
    coefficient: Floats
    sign: NDArray[np.int64]
    error: Floats
    binomial: Floats


class Tables:
    """Functions of the same parameters, and their ranges over boxes.

    Attributes
    ----------
    functions : (F,) the functions
    arrays : the same as numbers
    shared, affine : (F,) whether a function depends on several parameters; whether it is affine, and no number

    Examples
    --------
    >>> from fractions import Fraction
    >>> from umdp.parametric.function import Polynomial
    >>> p = Polynomial.parameter(0, 1)
    >>> tables = Tables([Function.of(p), Function.of(p - p * p)], [(Fraction(0), Fraction(1))])
    >>> low, high = tables.bounds([0.0], [0.5])
    >>> low.round(6) + 0, high.round(6)
    (array([0., 0.]), array([0.5 , 0.25]))
    """

    def __init__(self, functions: Iterable[Function], box: Ends) -> None:
        each = [Tabulated(function, box) for function in functions]
        self.functions = tuple(table.function for table in each)
        self.shared = np.array([len(f.uses) > 1 for f in self.functions], np.bool_)
        self.affine = np.array([f.is_affine and not f.is_constant for f in self.functions], np.bool_)
        degrees = np.array([table.degrees for table in each], np.int64).reshape(len(each), len(box))
        highest = int(degrees.max(initial=0))
        binomial = [[float(math.comb(n, k)) for k in range(highest + 1)] for n in range(highest + 1)]
        self.arrays = FunctionTables(
            degrees,
            np.cumsum([0, *(table.tables.size for table in each)]).astype(np.int64),
            np.concatenate([np.zeros(0), *(table.tables.ravel() for table in each)]),
            np.array([table.sign for table in each], np.int64),
            np.array([table.error for table in each], np.float64),
            np.array(binomial, np.float64),
        )

    def bounds(self, lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
        """Return bounds (F,) on all functions over a box, rounded outwards; infinite where a denominator may become 0."""
        from umdp.parametric.box_kernels import bounds

        return bounds(np.array(lower, np.float64), np.array(upper, np.float64), self.arrays)
