"""Compiled bounds and cuts against the plain versions in `parametric.box_reference`, and against rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from parametric import box_reference
from parametric.functions import boxes, functions, points
from thoroughness import examples
from umdp.errors import ModelError
from umdp.parametric import box_kernels
from umdp.parametric.contraction import ROUNDS, Constraints
from umdp.parametric.function import Function, Polynomial
from umdp.parametric.ranges import above, below, coefficients
from umdp.parametric.tabulated import HIGHEST, Tables, Tabulated

Floats = NDArray[np.float64]
Box = list[tuple[Fraction, Fraction]]
CLOSE = 1e-11  # what different orders of rounding may do, to numbers of this size
quick = settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])


def floats(box: Box) -> tuple[Floats, Floats]:
    return np.array([float(low) for low, _ in box]), np.array([float(high) for _, high in box])


def compiled_sides(function: Function, box: Box, least: float, most: float) -> tuple[Floats, Floats] | None:
    """Return both sides and their slack, (2, degrees + 1) each; None where nothing is known."""
    arrays = Tables([function], box).arrays
    side, slack = np.empty((2, arrays.coefficient.size)), np.empty((2, arrays.coefficient.size))
    size = box_kernels.sides(*floats(box), arrays, 0, least, most, side, slack)
    shape = (2, *(arrays.degrees[0] + 1))
    return (side[:, :size].reshape(shape), slack[:, :size].reshape(shape)) if size else None


@quick
@given(st.data())
def test_sides_bound_the_exact_coefficients(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    function, box = data.draw(functions(size, 3)), data.draw(boxes(size))
    least, most = data.draw(st.floats(-1, 1)), data.draw(st.floats(-1, 1))
    found = compiled_sides(function, box, least, most)
    plain = box_reference.sides(Tabulated(function, box), *floats(box), least, most)
    assert (found is None) == (plain is None)
    if found is None or plain is None:
        return
    degrees = Tabulated(function, box).degrees
    under, over = (coefficients(each, box, degrees) for each in (function.denominator, function.numerator))
    sign = 1 if (under >= 0).all() else -1
    exact = sign * (over - Fraction(least) * under), sign * (Fraction(most) * under - over)
    for sides, slacks in (found, (plain[:2], plain.slack)):
        for side, slack, each in zip(sides, slacks, exact, strict=True):
            for bound, less, coefficient in zip(side.flat, slack.flat, each.flat, strict=True):
                assert Fraction(bound) - Fraction(less) <= coefficient <= Fraction(bound)


@quick
@given(st.data())
def test_coefficients_of_high_degrees_are_bounded_too(data: st.DataObject) -> None:
    degree = data.draw(st.integers(4, 40))
    terms = data.draw(st.dictionaries(st.integers(0, degree), st.fractions(-2, 2, max_denominator=8), max_size=4))
    function = Function.of(Polynomial({(e,): c for e, c in {**terms, degree: Fraction(1)}.items()}, 1))
    box = data.draw(boxes(1))
    found = compiled_sides(function, box, 0.25, 0.5)
    assert found is not None
    over = coefficients(function.numerator, box)
    for side, slack, exact in zip(*found, (over - Fraction(1, 4), Fraction(1, 2) - over), strict=True):
        for bound, less, coefficient in zip(side, slack, exact, strict=True):
            assert Fraction(bound) - Fraction(less) <= coefficient <= Fraction(bound)


def test_degrees_whose_binomials_are_no_floats_are_refused() -> None:
    power = Function.of(Polynomial({(HIGHEST + 1,): Fraction(1)}, 1))
    with pytest.raises(ModelError, match="of too high degrees"):
        Tables([power], [(Fraction(0), Fraction(0))])


@quick
@given(st.data())
def test_bounds_are_those_of_the_plain_version(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 4))
    given_ = data.draw(st.lists(functions(size), min_size=1, max_size=3))
    box = data.draw(boxes(size))
    low, high = Tables(given_, box).bounds(*floats(box))
    for function, *found in zip(given_, low, high, strict=True):
        wanted = box_reference.bounds(Tabulated(function, box), *floats(box))
        assert found == pytest.approx([-np.inf, np.inf] if wanted is None else wanted, rel=CLOSE, abs=CLOSE)


@quick
@given(st.data())
def test_cuts_are_those_of_the_plain_version_and_lose_no_point(data: st.DataObject) -> None:
    """Constraints that hold at a point, which is kept; and some that may not, so that nothing may be left."""
    size = data.draw(st.integers(1, 3))
    box = data.draw(boxes(size))
    point = data.draw(points(box))
    given_: list[tuple[Function, float, float]] = []
    width, kept = st.fractions(0, 1, max_denominator=16), True
    for _ in range(data.draw(st.integers(1, 4))):
        function = data.draw(functions(size))
        if function.denominator.at(point) == 0:
            continue
        actual = function.at(point)
        if data.draw(st.integers(0, 4)) == 0:
            actual, kept = actual + data.draw(st.fractions(-2, 2, max_denominator=16)), False
        given_.append((function, below(actual - data.draw(width)), above(actual + data.draw(width))))
    ends = np.array([each[1:] for each in given_]).reshape(-1, 2)
    tables = Tables([each[0] for each in given_], box)
    arrays = Constraints(tables, np.arange(len(given_)), ends[:, 0].copy(), ends[:, 1].copy()).arrays
    listed = [(Tabulated(each, box), low, high) for each, low, high in given_]
    for shaved in (False, True):
        lower, upper = floats(box)
        if shaved:
            culprit, wanted = box_kernels.shave(lower, upper, *arrays), box_reference.shave(floats(box), listed)
        else:
            culprit = box_kernels.settle(ROUNDS, lower, upper, *arrays)
            wanted = box_reference.settle(floats(box), listed, ROUNDS)
        if isinstance(wanted, int):
            assert culprit == wanted
        else:
            assert culprit == -1
            np.testing.assert_allclose([lower, upper], wanted, rtol=0, atol=CLOSE)
        if kept:
            assert culprit == -1
            assert all(low <= x <= high for low, x, high in zip(lower, point, upper, strict=True))
