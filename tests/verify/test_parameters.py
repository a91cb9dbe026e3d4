"""Certificates of parameters: what is proved, and that nothing narrower is."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parametric.functions import boxes, functions, points
from parametric.programs import PROGRAMS, letters
from parametric.test_contraction import value
from umdp import ConfidenceSequence, FormatError, anytime, verify
from umdp.parametric.contraction import constrained, contract
from umdp.parametric.function import Function
from umdp.statements import Code, Refusal
from umdp.verify.box import Limit, leaves_only
from umdp.verify.document import digest


@pytest.fixture(scope="module", params=list(PROGRAMS))
def certificate(request: pytest.FixtureRequest) -> dict[str, Any]:
    make, values = PROGRAMS[request.param]
    program = make()
    *_, last = anytime(
        program.at(values), 'Pmax=? [ F "goal" ]', ConfidenceSequence(0.05), tie=program, trajectories=400, seed=3
    )
    assert last.guarantee.holds
    content: dict[str, Any] = last.certificate().content
    return content


def changed(content: dict[str, Any], change: Any) -> Any:
    other = copy.deepcopy(content)
    change(other["learning"])
    other["digest"] = digest(other)
    return verify.verify_content(other)


def test_what_was_learned_is_proved(certificate: dict[str, Any]) -> None:
    verdict = verify.verify_content(certificate)
    assert verdict.valid
    assert verdict.level == 0.95
    assert Code.PROGRAM in certificate["learning"]["assumption_codes"]


def test_a_narrower_box_is_refused(certificate: dict[str, Any]) -> None:
    def narrower(learning: dict[str, Any]) -> None:
        low, high = learning["box_lower"][0], learning["box_upper"][0]
        learning["box_lower"][0] = low + 0.05 * (high - low)

    verdict = changed(certificate, narrower)
    assert not verdict.valid
    assert verdict.refused.code in (Refusal.BOX, Refusal.NOT_FROM_BOX)


def test_narrower_classes_are_refused(certificate: dict[str, Any]) -> None:
    def narrower(learning: dict[str, Any]) -> None:
        own = next(o for o, low in enumerate(learning["own_lower"]) if 0 < low < learning["own_upper"][o] < 1)
        low, high = learning["own_lower"][own], learning["own_upper"][own]
        learning["own_lower"][own] = low + 0.2 * (high - low)

    assert not changed(certificate, narrower).valid


def test_fewer_samples_are_refused(certificate: dict[str, Any]) -> None:
    def fewer(learning: dict[str, Any]) -> None:
        for name in ("lower_hits", "lower_samples", "upper_hits", "upper_samples"):
            learning[name] = [n // 2 for n in learning[name]]

    assert not changed(certificate, fewer).valid


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("functions", [[]]), ("functions", [[[["x", [0]]], [["1", [0]]]]]), ("functions", "p"), ("parameters", []),
        ("outcome_function", [99]), ("box_lower", ["a"]), ("weights", [[0, 2, []]]), ("weights", 3), ("own_lower", [2]),
    ],
)  # fmt: skip
def test_what_is_malformed_is_said(certificate: dict[str, Any], name: str, wrong: Any) -> None:
    with pytest.raises(FormatError, match=f"learning, {name.partition('_')[0]}"):
        changed(certificate, lambda learning: learning.update({name: wrong}))


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_point_that_fits_is_never_outside_of_a_proved_box(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 2))
    box = data.draw(boxes(size))
    point = data.draw(points(box))
    limits = []
    for _ in range(data.draw(st.integers(1, 3))):
        function = data.draw(functions(size))
        actual = value(function, point)
        if actual is not None:
            slack = st.fractions(0, 1, max_denominator=16)
            limits.append(Limit(function, actual - data.draw(slack), actual + data.draw(slack)))
    goal = data.draw(boxes(size))
    weights = [(0, 1, [data.draw(st.fractions(-2, 2, max_denominator=4)) for _ in limits])]
    if leaves_only(box, limits, goal, weights):
        assert all(low <= x <= high for x, (low, high) in zip(point, goal, strict=True))


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_is_contracted_in_floats_is_proved_where_one_parameter_is_affine(data: st.DataObject) -> None:
    ends = sorted(data.draw(st.floats(0.01, 0.99)) for _ in range(2))

    one, p = letters(1)
    scale = data.draw(st.fractions(Fraction(1, 8), 1, max_denominator=8))
    function = Function.of(one - p.scaled(scale))
    unit = np.zeros(1), np.ones(1)
    found = contract(unit, constrained(unit, (function, *ends))).box
    limit = Limit(function, Fraction(ends[0]), Fraction(ends[1]))
    if found is not None:
        goal = [(Fraction(float(found[0][0])), Fraction(float(found[1][0])))]
        assert leaves_only([(Fraction(0), Fraction(1))], [limit], goal) or goal[0][0] > goal[0][1] - Fraction(1, 10**12)
