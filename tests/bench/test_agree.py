"""This package agrees with Storm, where Storm is right, on the benchmark's PRISM-language models."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from bench.compare import off
from bench.families import FAMILIES, Case, build, cases
from bench.sides import storm_environment, storm_question, storm_value

import umdp.io
from umdp import MDP, Solution, Status, solve

stormpy = pytest.importorskip("stormpy")

PRECISION = 1e-6
PROGRAMS = tuple(name for name, family in FAMILIES.items() if family.make is None)
# Storm's value iteration for interval models stops before it has converged on these, off by more than 1e-6.
STOPS_EARLY = {("consensus", "P"), ("consensus", "R"), ("firewire", "R"), ("brp", "P"), ("brp", "R")}


def _storm(model: Any, path: Path) -> Any:
    umdp.io.write(model, path)
    return stormpy.build_model_from_umb(str(path))


def _sound(model: MDP, asked: str, path: Path) -> float:
    """Return the value Storm proves, to half the precision."""
    question, options = storm_question(asked)
    return storm_value(_storm(model, path), question, storm_environment(True, PRECISION / 2), options)


def _agrees(case: Case, tmp_path: Path, time_limit: float) -> None:
    model = build(FAMILIES[case.family], case.size, case.kind)
    solution = solve(model, case.property, precision=PRECISION, time_limit=time_limit)
    assert solution.status is Status.CERTIFIED
    if isinstance(model, MDP):
        assert _off(_sound(model, case.property, tmp_path / "model.umb"), solution) <= PRECISION
        return
    question, options = storm_question(case.property)
    plain = storm_environment(False, PRECISION)
    theirs = storm_value(_storm(model, tmp_path / "model.umb"), question, plain, options)
    error = _off(theirs, solution)
    if (case.family, case.property[0]) not in STOPS_EARLY or error <= PRECISION:
        assert error <= PRECISION
        return
    # Iteration from below stays below; and the optimum on the MDP that nature chose is the value itself, which Storm
    # proves there.
    assert theirs <= solution.bracket.upper * (1 + PRECISION)
    spec = solution.spec
    asked = case.property.replace(f"{spec.agent.value}{spec.nature.value}", spec.agent.value, 1)  # type: ignore[union-attr]
    assert _off(_sound(solution.nature, asked, tmp_path / "nature.umb"), solution) <= PRECISION


def _off(value: float, solution: Solution) -> float:
    return off(value, solution.bracket.lower, solution.bracket.upper)


def _name(case: Case) -> str:
    return f"{case.family}-{case.size}-{case.kind}-{case.property.split('=')[0]}"


@pytest.mark.parametrize(
    "case",
    [
        case if case.size == 10**3 else pytest.param(case, marks=pytest.mark.slow)
        for case in cases((10**3, 10**4), PROGRAMS)
    ],
    ids=_name,
)
def test_agrees_with_storm(case: Case, tmp_path: Path) -> None:
    _agrees(case, tmp_path, 120.0)  # the first solve of all compiles, for half a minute and more


@pytest.mark.slow
@pytest.mark.parametrize("case", list(cases((10**5, 10**6), PROGRAMS)), ids=_name)
def test_agrees_with_storm_on_large_models(case: Case, tmp_path: Path) -> None:
    _agrees(case, tmp_path, 300.0)


def test_off_is_the_relative_distance_from_a_bracket() -> None:
    assert off(2.0, 1.0, 3.0) == 0.0
    assert off(0.9, 1.0, 3.0) == pytest.approx(0.1)
    assert off(math.inf, math.inf, math.inf) == 0.0
    assert off(5.0, math.inf, math.inf) == math.inf
    assert off(1e-9, 0.0, 0.0) == math.inf
