"""Polynomials and rational functions of parameters, exact: what a program writes where a probability stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from umdp.errors import ModelError

__all__ = ["Exponents", "Function", "Polynomial"]

Exponents = tuple[int, ...]


class Polynomial:
    """A polynomial in a fixed number of parameters, exact; immutable, and equal to another with the same terms.

    Parameters
    ----------
    terms : mapping of exponents to coefficients
        One exponent for each parameter; terms with the coefficient 0 are dropped.
    size : int
        The number of parameters.

    Examples
    --------
    >>> p, q = Polynomial.parameter(0, 2), Polynomial.parameter(1, 2)
    >>> share = p * (Polynomial.constant(1, 2) - q)
    >>> share.text(["p", "q"]), share.at([Fraction(1, 2), Fraction(1, 3)]), share.degrees
    ('p - p*q', Fraction(1, 3), (1, 1))
    """

    def __init__(self, terms: Mapping[Exponents, Fraction], size: int) -> None:
        self.terms = {exponents: terms[exponents] for exponents in sorted(terms) if terms[exponents] != 0}
        self.size = size

    @staticmethod
    def constant(value: Fraction | int, size: int) -> Polynomial:
        """Return a polynomial of degree 0."""
        return Polynomial({(0,) * size: Fraction(value)}, size)

    @staticmethod
    def parameter(index: int, size: int) -> Polynomial:
        """Return the polynomial that is one of the parameters."""
        return Polynomial({tuple(int(i == index) for i in range(size)): Fraction(1)}, size)

    # -- what it is ------------------------------------------------------------------------------------------

    @cached_property
    def degrees(self) -> Exponents:
        """The degree in each parameter."""
        return tuple(max((each[i] for each in self.terms), default=0) for i in range(self.size))

    @property
    def is_constant(self) -> bool:
        """Whether it depends on no parameter."""
        return not any(self.degrees)

    @property
    def is_affine(self) -> bool:
        """Whether it is a constant and multiples of parameters."""
        return all(sum(each) <= 1 for each in self.terms)

    @property
    def leading(self) -> Fraction:
        """The coefficient of the last term in the order of exponents; 0 of the polynomial 0."""
        return next(reversed(self.terms.values()), Fraction(0))

    def coefficient(self, exponents: Exponents) -> Fraction:
        """Return a coefficient."""
        return self.terms.get(exponents, Fraction(0))

    def at(self, values: Sequence[Fraction]) -> Fraction:
        """Return its value."""
        total = Fraction(0)
        for exponents, coefficient in self.terms.items():
            product = coefficient
            for value, exponent in zip(values, exponents, strict=True):
                product *= value**exponent
            total += product
        return total

    # -- arithmetic ------------------------------------------------------------------------------------------

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for exponents, coefficient in other.terms.items():
            terms[exponents] = terms.get(exponents, Fraction(0)) + coefficient
        return Polynomial(terms, self.size)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(Fraction(-1))

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Exponents, Fraction] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                both = tuple(i + j for i, j in zip(left, right, strict=True))
                terms[both] = terms.get(both, Fraction(0)) + a * b
        return Polynomial(terms, self.size)

    def scaled(self, factor: Fraction) -> Polynomial:
        """Return a multiple."""
        return Polynomial({exponents: factor * c for exponents, c in self.terms.items()}, self.size)

    # -- identity and text -----------------------------------------------------------------------------------

    @cached_property
    def key(self) -> tuple[tuple[Exponents, Fraction], ...]:
        """What equal polynomials share, to be sorted by."""
        return tuple(self.terms.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def text(self, names: Sequence[str]) -> str:
        """Return it as it is written, the constant first."""
        return _sum(_term(coefficient, exponents, names) for exponents, coefficient in _ordered(self))

    def __repr__(self) -> str:
        return self.text([f"x{i}" for i in range(self.size)])


@dataclass(frozen=True)
class Function:
    """A quotient of polynomials, exact; scaled so that functions written alike are equal.

    Attributes
    ----------
    numerator, denominator : the denominator has the leading coefficient 1

    Examples
    --------
    >>> p, one = Polynomial.parameter(0, 1), Polynomial.constant(1, 1)
    >>> odds = Function.of(p, one + p)
    >>> odds.text(["p"]), odds.at([Fraction(1, 3)]), odds.is_affine
    ('p/(1 + p)', Fraction(1, 4), False)
    """

    numerator: Polynomial
    denominator: Polynomial

    @staticmethod
    def of(numerator: Polynomial, denominator: Polynomial | None = None) -> Function:
        """Return the quotient of two polynomials, the second not 0."""
        if denominator is None:
            return Function(numerator, Polynomial.constant(1, numerator.size))
        factor = 1 / denominator.leading
        return Function(numerator.scaled(factor), denominator.scaled(factor))

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.numerator.size

    @cached_property
    def uses(self) -> tuple[int, ...]:
        """The parameters it depends on."""
        both = zip(self.numerator.degrees, self.denominator.degrees, strict=True)
        return tuple(i for i, degrees in enumerate(both) if any(degrees))

    @property
    def is_constant(self) -> bool:
        """Whether it depends on no parameter."""
        return not self.uses

    @property
    def is_affine(self) -> bool:
        """Whether it is a constant and multiples of parameters."""
        return self.denominator.is_constant and self.numerator.is_affine

    def at(self, values: Sequence[Fraction]) -> Fraction:
        """Return its value; where the denominator is 0 there is none, and `ModelError` is raised."""
        below = self.denominator.at(values)
        if below == 0:
            raise ModelError("a probability is divided by 0 there; give other values")
        return self.numerator.at(values) / below

    def __add__(self, other: Function) -> Function:
        if self.denominator == other.denominator:
            return Function.of(self.numerator + other.numerator, self.denominator)
        return Function.of(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What equal functions share, to be sorted by."""
        return self.numerator.key, self.denominator.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def affine_row(self, lower: float | Fraction, upper: float | Fraction) -> tuple[list[Fraction], Fraction, Fraction]:
        """Return coefficients of the parameters, and the ends of their sum where the function (affine) lies between numbers."""
        unit = [tuple(int(i == j) for j in range(self.size)) for i in range(self.size)]
        constant = self.numerator.coefficient((0,) * self.size)
        return (
            [self.numerator.coefficient(each) for each in unit],
            Fraction(lower) - constant,
            Fraction(upper) - constant,
        )

    def as_terms(self) -> list[list[list[Any]]]:
        """Return numerator and denominator as lists of terms: a coefficient, as text, and the exponents of the parameters."""
        return [[[str(c), list(e)] for e, c in each.terms.items()] for each in (self.numerator, self.denominator)]

    def text(self, names: Sequence[str]) -> str:
        """Return it as it is written."""
        above, below = self.numerator.text(names), self.denominator.text(names)
        if self.denominator.is_constant:
            return above
        return f"{_bracketed(above)}/{_bracketed(below)}"


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text or "*" in text else text


def _ordered(given: Polynomial) -> list[tuple[Exponents, Fraction]]:
    return sorted(given.terms.items(), key=lambda each: (sum(each[0]), [-e for e in each[0]]))


def _term(coefficient: Fraction, exponents: Exponents, names: Sequence[str]) -> str:
    powers = [
        name if exponent == 1 else f"{name}^{exponent}"
        for name, exponent in zip(names, exponents, strict=True)
        if exponent
    ]
    number = _number(coefficient)
    if not powers:
        return number
    sign = {"1": "", "-1": "-"}.get(number, f"{number}*")
    return sign + "*".join(powers)


def _number(value: Fraction) -> str:
    """Return a number as a decimal where that is exact and short, otherwise as a fraction."""
    short = f"{float(value):.6g}"
    return short if Fraction(short) == value else str(value)


def _sum(parts: Iterable[str]) -> str:
    listed = list(parts)
    if not listed:
        return "0"
    return listed[0] + "".join(f" - {each[1:]}" if each.startswith("-") else f" + {each}" for each in listed[1:])
