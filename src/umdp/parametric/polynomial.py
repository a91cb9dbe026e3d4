"""Polynomials with rational coefficients: sums, products, values and texts, all exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

__all__ = ["Exponents", "Polynomial"]

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
