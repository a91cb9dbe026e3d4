"""Functions and boxes at random, for Hypothesis."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from umdp.parametric.function import Function, Polynomial

numbers = st.fractions(min_value=-2, max_value=2, max_denominator=8)


def polynomials(size: int, degree: int = 2) -> st.SearchStrategy[Polynomial]:
    """Polynomials of a few terms."""
    exponents = st.tuples(*([st.integers(0, degree)] * size))
    return st.dictionaries(exponents, numbers, max_size=4).map(lambda terms: Polynomial(terms, size))


@st.composite
def functions(draw: st.DrawFn, size: int, degree: int = 2) -> Function:
    """Polynomials, and quotients whose denominator is positive for positive parameters, or is not."""
    numerator = draw(polynomials(size, degree))
    kind = draw(st.sampled_from(["none", "positive", "any"]))
    if kind == "none":
        return Function.of(numerator)
    below = draw(polynomials(size, 1))
    if kind == "positive":
        below = Polynomial({e: abs(c) for e, c in below.terms.items()}, size) + Polynomial.constant(
            Fraction(1, 4), size
        )
    return Function.of(numerator, below) if below.terms else Function.of(numerator)


@st.composite
def boxes(draw: st.DrawFn, size: int) -> list[tuple[Fraction, Fraction]]:
    """Boxes whose ends are floats, some of them points."""
    sides = []
    for _ in range(size):
        ends = sorted(Fraction(draw(st.integers(-16, 32)), 16) for _ in range(2))
        sides.append((ends[0], ends[1]))
    return sides


@st.composite
def points(draw: st.DrawFn, box: list[tuple[Fraction, Fraction]]) -> list[Fraction]:
    """Points of a box."""
    return [low + draw(st.fractions(0, 1, max_denominator=12)) * (high - low) for low, high in box]
