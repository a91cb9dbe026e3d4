"""Rational functions of parameters: what a program writes where a probability stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from umdp.errors import ModelError
from umdp.parametric.polynomial import Polynomial

__all__ = ["Function"]


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
