"""Ranges and contraction never lose a point: checked at points, in exact rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from parametric.functions import boxes, functions, points, polynomials
from umdp.parametric.contraction import constrained, contract, narrow_linear
from umdp.parametric.function import Function, Polynomial
from umdp.parametric.ranges import above, below, coefficients, range_of
from umdp.parametric.tabulated import Tables

UNIT = [(Fraction(0), Fraction(1))]


def floats(box: list[tuple[Fraction, Fraction]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a box whose ends are floats as arrays."""
    return np.array([float(low) for low, _ in box]), np.array([float(high) for _, high in box])


def value(function: Function, point: list[Fraction]) -> Fraction | None:
    """Return a value by the definition, term by term; None where there is none."""
    sums = []
    for part in (function.numerator, function.denominator):
        total = Fraction(0)
        for exponents, coefficient in part.terms.items():
            for base, exponent in zip(point, exponents, strict=True):
                for _ in range(exponent):
                    coefficient = coefficient * base
            total += coefficient
        sums.append(total)
    return None if sums[1] == 0 else sums[0] / sums[1]


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_range_holds_every_value(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    function, box = data.draw(functions(size)), data.draw(boxes(size))
    found = range_of(function, box, splits=4)
    actual = value(function, data.draw(points(box)))
    if found is not None and actual is not None:
        assert found[0] <= actual <= found[1]


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_contraction_loses_no_point_that_satisfies_the_constraints(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    box = data.draw(boxes(size))
    point = data.draw(points(box))
    constraints = []
    for _ in range(data.draw(st.integers(1, 4))):
        function = data.draw(functions(size))
        actual = value(function, point)
        if actual is None:
            continue
        slack = st.fractions(0, 1, max_denominator=16)
        constraints.append((function, below(actual - data.draw(slack)), above(actual + data.draw(slack))))
    found = contract(floats(box), constrained(floats(box), *constraints))
    assert found.box is not None
    assert found.culprit is None
    for x, low, high, (first, last) in zip(point, *found.box, box, strict=True):
        assert first <= low <= x <= high <= last


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_is_empty_really_is(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 2))
    box = data.draw(boxes(size))
    constraints = []
    for _ in range(3):
        low, high = sorted(data.draw(st.fractions(-1, 1, max_denominator=16)) for _ in range(2))
        constraints.append((data.draw(functions(size)), float(low), float(high)))
    found = contract(floats(box), constrained(floats(box), *constraints))
    assume(found.box is None)
    for _ in range(5):
        point = data.draw(points(box))
        held = [(value(function, point), low, high) for function, low, high in constraints]
        assert not all(v is not None and low <= v <= high for v, low, high in held)


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_bernstein_coefficients_are_values_in_corners_and_average_to_the_polynomial(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    polynomial, box = data.draw(polynomials(size, 3)), data.draw(boxes(size))
    table = coefficients(polynomial, box)
    for corner in range(2**size):
        chosen = [corner >> i & 1 for i in range(size)]
        place = tuple(-1 if high else 0 for high in chosen)
        assert table[place] == polynomial.at([box[i][high] for i, high in enumerate(chosen)])


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_range_in_floats_holds_the_exact_one(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    function, box = data.draw(functions(size)), data.draw(boxes(size))
    found = tuple(float(each[0]) for each in Tables([function], box).bounds(*floats(box)))
    for actual in (value(function, data.draw(points(box))) for _ in range(5)):
        assert actual is None or found[0] <= actual <= found[1]
    exact = range_of(function, box)
    if exact is not None and function.denominator.is_constant and max(function.numerator.degrees) <= 1:
        assert float(exact[0]) - found[0] < 1e-12
        assert found[1] - float(exact[1]) < 1e-12


@given(st.fractions(-3, 3))
def test_rounding_goes_outwards_by_less_than_a_unit(number: Fraction) -> None:
    assert Fraction(below(number)) <= number <= Fraction(above(number))
    assert Fraction(above(number)) - Fraction(below(number)) <= max(abs(number), Fraction(1)) * Fraction(1, 2**52)


@pytest.mark.parametrize(
    ("terms", "interval", "wanted"),
    [
        ({(1,): 1}, ("1/4", "1/2"), (0.25, 0.5)),  # p
        ({(0,): 1, (1,): -1}, ("1/4", "1/2"), (0.5, 0.75)),  # 1 - p
        ({(1,): Fraction(1, 4)}, ("1/16", "1/8"), (0.25, 0.5)),  # p/4
        ({(2,): 1}, ("1/4", "1"), (0.5, 1.0)),  # p^2
        ({(1,): 1, (2,): -1}, ("3/16", "1"), (0.25, 0.75)),  # p (1-p): both roots
        ({(3,): 1}, ("1/8", "27/64"), (0.5, 0.75)),  # p^3
    ],
)
def test_one_parameter_is_found_to_the_last_digits(
    terms: dict[tuple[int], Fraction], interval: tuple[str, str], wanted: tuple[float, float]
) -> None:
    function = Function.of(Polynomial({e: Fraction(c) for e, c in terms.items()}, 1))
    found = contract(
        floats(UNIT), constrained(floats(UNIT), (function, *(float(Fraction(end)) for end in interval)))
    ).box
    assert found is not None
    low, high = found[0][0], found[1][0]
    assert low <= wanted[0]
    assert high >= wanted[1]
    assert (low, high) == pytest.approx(wanted, abs=1e-12 if function.is_affine else 2e-2)


def test_affine_constraints_on_two_parameters_together_give_the_hull() -> None:
    # p + q in [1.4, 1.6] and p - q in [-0.1, 0.1]: p and q in [0.65, 0.85], which one constraint at a time does not find.
    p, q = Polynomial.parameter(0, 2), Polynomial.parameter(1, 2)
    unit = floats(UNIT * 2)
    mean = Function.of((p + q).scaled(Fraction(1, 2)))
    found = contract(unit, constrained(unit, (mean, 0.7, 0.8), (Function.of(p - q), -0.1, 0.1))).box
    assert found is not None
    for low, high in zip(*found, strict=True):
        assert (low, high) == pytest.approx((0.65, 0.85), abs=1e-9)


def test_products_together_come_near_the_hull() -> None:
    # p q in [0.24, 0.26], p (1-q) in [0.24, 0.26]: p in [0.48, 0.52], q in [24/50, 26/50].
    p, q = Polynomial.parameter(0, 2), Polynomial.parameter(1, 2)
    box = floats(UNIT * 2)
    both = constrained(box, *((Function.of(each), 0.24, 0.26) for each in (p * q, p - p * q)))
    for _ in range(3):  # as often as there are updates
        found = contract(box, both).box
        assert found is not None
        box = found
    for low, high in zip(*box, strict=True):
        assert 0.46 <= low <= 0.48
        assert 0.52 <= high <= 0.54


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_linear_programs_lose_no_point_whatever_their_answers(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 3))
    box = data.draw(boxes(size))
    point = data.draw(points(box))
    rows = []
    for _ in range(data.draw(st.integers(1, 4))):
        row = [data.draw(st.fractions(-2, 2, max_denominator=4)) for _ in range(size)]
        actual = sum((a * x for a, x in zip(row, point, strict=True)), Fraction(0))
        slack = [data.draw(st.fractions(0, 1, max_denominator=8)) for _ in range(2)]
        rows.append((row, actual - slack[0], actual + slack[1]))
    for x, (low, high) in zip(point, narrow_linear(box, rows), strict=True):
        assert low <= x <= high
