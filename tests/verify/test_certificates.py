"""Certificates of random models: the checker accepts each, and none that was changed to claim something false."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from oracles.exact import Objective
from properties.bridge import BOUNDED, OBJECTIVES, to_model, to_spec
from properties.generate import random_model
from umdp import Policy, Solution, evaluate, solve
from umdp.verify import verify_content
from verify.tamper import KINDS, attack, is_true

METHODS = ("auto", "policy", "value")
PRECISIONS = (1e-6, 1e-12, 1e-15)


def content_of(solution: Solution) -> dict:
    return json.loads(solution.certificate().to_json())


@pytest.mark.parametrize("zero_lower", [False, True])
def test_every_certificate_is_accepted_and_no_false_one(zero_lower: bool) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for number in range(8):
        rng = np.random.default_rng([21, int(zero_lower), number])
        model = to_model(random_model(rng, zero_lower=zero_lower))
        for index, objective in enumerate(OBJECTIVES + BOUNDED):
            turn = number * 7 + index
            solution = solve(
                model, to_spec(objective), precision=PRECISIONS[turn % 3], method=METHODS[turn // 3 % len(METHODS)]
            )
            content = content_of(solution)
            verdict = verify_content(content)
            assert verdict.valid, f"model {number}, {solution}: {verdict.reason}"
            assert not attack(content, rng, found), f"model {number}, {solution}"
    assert sum(n for (_, what), n in found.items() if what == "refused") > 200
    assert {kind for kind, what in found if what == "refused"} >= set(KINDS) - {"trap"}


@pytest.mark.parametrize("zero_lower", [False, True])
@pytest.mark.parametrize("precision", [1e-6, 1e-15])
def test_larger_models_are_proved_too(zero_lower: bool, precision: float) -> None:
    rng = np.random.default_rng([22, int(zero_lower)])
    model = to_model(random_model(rng, zero_lower=zero_lower, states=(60, 90)))
    for objective in OBJECTIVES:
        solution = solve(model, to_spec(objective), precision=precision)
        certificate = solution.certificate()
        assert verify_content(json.loads(certificate.to_json())).valid
        if solution.status.is_precise:
            assert certificate.lower >= solution.bracket.lower
            assert certificate.upper <= solution.bracket.upper


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 400, 50))
def test_many_certificates(first: int) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for number in range(first, first + 50):
        rng = np.random.default_rng([23, number])
        model = to_model(random_model(rng, zero_lower=bool(number % 2), states=(3, 12)))
        for index, objective in enumerate(OBJECTIVES + BOUNDED):
            turn = number * 7 + index
            solution = solve(
                model, to_spec(objective), precision=PRECISIONS[turn % 3], method=METHODS[turn // 3 % len(METHODS)]
            )
            content = content_of(solution)
            verdict = verify_content(content)
            assert verdict.valid, f"model {number}, {solution}: {verdict.reason}"
            assert not attack(content, rng, found), f"model {number}, {solution}"


@pytest.mark.parametrize("objective", OBJECTIVES + BOUNDED, ids=str)
def test_an_evaluation_has_a_certificate_too(objective: Objective) -> None:
    """It is one of the property: the policy proves its side, and a randomised one is not claimed."""
    model = to_model(random_model(np.random.default_rng([24, 3]), zero_lower=True))
    for policy in (Policy(model, model.state_ptr[:-1]), Policy.uniform(model)):
        content = content_of(evaluate(model, to_spec(objective), policy))
        assert verify_content(content).valid
        assert is_true(content)
