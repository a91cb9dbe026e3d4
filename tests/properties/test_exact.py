"""Brackets against exact values from rational arithmetic, on random interval MDPs up to 8 states.

A sample runs always; the full run, on other seeds, is marked slow.
"""

from __future__ import annotations

import numpy as np
import pytest

from oracles.exact import Objective
from properties.bridge import (
    BOUNDED,
    OBJECTIVES,
    evaluation_mistakes,
    exact_value,
    mistakes,
    outside,
    to_model,
    to_spec,
)
from properties.generate import Instance, random_model
from umdp import IntervalMDP, Policy, solve

SAMPLE, FULL = 1, 2  # first words of the seeds, so that no model is drawn in both runs
CHUNK = 250
POSITIVE, ZERO_LOWER = 6000, 4500


def instance(run: int, number: int, *, zero_lower: bool) -> Instance:
    return random_model(np.random.default_rng([run, int(zero_lower), number]), zero_lower=zero_lower)


def random_policies(model: IntervalMDP, number: int) -> list[Policy]:
    """Return a deterministic and a randomised policy; the latter leaves some choices out."""
    rng = np.random.default_rng([3, number])
    sizes = np.diff(model.state_ptr)
    raw = rng.integers(0, 3, model.choices) + np.isin(np.arange(model.choices), model.state_ptr[:-1])
    weight = raw / np.repeat(np.add.reduceat(raw, model.state_ptr[:-1]), sizes)
    return [Policy(model, model.state_ptr[:-1] + rng.integers(0, sizes)), Policy(model, weight=weight)]


def all_mistakes(run: int, number: int, objectives: list[Objective], *, zero_lower: bool) -> list[str]:
    drawn = instance(run, number, zero_lower=zero_lower)
    found = [m for o in objectives for m in mistakes(drawn, o, positive=not zero_lower)]
    # Evaluations in turn: each model gets some objectives, all models together get all.
    for policy in random_policies(to_model(drawn), number):
        found += [m for o in objectives[number % 3 :: 3] for m in evaluation_mistakes(drawn, o, policy)]
    return [f"model {number} (zero lower bounds: {zero_lower}): {each}" for each in found]


# -- the sample ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, pytest.param(30, marks=pytest.mark.slow)])
def test_sample_with_positive_lower_bounds(first: int) -> None:
    for number in range(first, first + 30):
        assert not all_mistakes(SAMPLE, number, OBJECTIVES + BOUNDED, zero_lower=False)


@pytest.mark.parametrize("first", range(0, 30, 30))
def test_sample_with_zero_lower_bounds(first: int) -> None:
    for number in range(first, first + 30):
        assert not all_mistakes(SAMPLE, number, OBJECTIVES + BOUNDED, zero_lower=True)


@pytest.mark.parametrize("zero_lower", [False, True])
def test_sweeps_alone_are_as_right(zero_lower: bool) -> None:
    for number in range(200, 280):
        drawn = instance(SAMPLE, number, zero_lower=zero_lower)
        for objective in OBJECTIVES:
            assert not mistakes(drawn, objective, positive=not zero_lower, method="value"), number


@pytest.mark.parametrize("zero_lower", [False, True])
def test_warm_starts_are_sound(zero_lower: bool) -> None:
    for number in range(300, 325):
        drawn = instance(SAMPLE, number, zero_lower=zero_lower)
        model = to_model(drawn)
        # From every other objective in turn: the policy to start from may be as bad as it gets.
        starts = [solve(model, to_spec(o)) for o in OBJECTIVES]
        for i, objective in enumerate(OBJECTIVES):
            solution = solve(model, to_spec(objective), start=starts[(i + number) % len(starts)])
            assert_contains(solution.lower, drawn, objective, solution.upper, number)
            if not zero_lower:
                assert solution.bracket.relative_width <= 1e-6


def assert_contains(lower: np.ndarray, drawn: Instance, objective: Objective, upper: np.ndarray, number: int) -> None:
    exact = exact_value(drawn, objective)
    for s, (low, high) in enumerate(zip(lower, upper, strict=True)):
        assert not outside(low, exact[s], high), (
            f"model {number}, {objective}, state {s}: {exact[s]} in [{low}, {high}]"
        )


# -- the full run --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, POSITIVE, CHUNK))
def test_all_with_positive_lower_bounds(first: int) -> None:
    found = [
        m for n in range(first, first + CHUNK) for m in all_mistakes(FULL, n, OBJECTIVES + BOUNDED, zero_lower=False)
    ]
    assert not found, "\n".join(found[:10])


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, ZERO_LOWER, CHUNK))
def test_all_with_zero_lower_bounds(first: int) -> None:
    found = [
        m for n in range(first, first + CHUNK) for m in all_mistakes(FULL, n, OBJECTIVES + BOUNDED, zero_lower=True)
    ]
    assert not found, "\n".join(found[:10])


@pytest.mark.slow
@pytest.mark.parametrize("zero_lower", [False, True])
@pytest.mark.parametrize("first", range(0, 1500, CHUNK))
def test_sweeps_alone_on_many(first: int, zero_lower: bool) -> None:
    for number in range(first, first + CHUNK):
        drawn = instance(FULL, number, zero_lower=zero_lower)
        for objective in OBJECTIVES:
            assert not mistakes(drawn, objective, positive=not zero_lower, method="value"), number
