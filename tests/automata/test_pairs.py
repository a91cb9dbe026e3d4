"""Temporal formulas on interval models: brackets and policies against exact rationals, and against Storm on plain models."""

import random
from pathlib import Path

import pytest

from umdp import io, solve

from .lassos import Formula, drawn, text
from .pairs import draw, mistakes, to_model


@pytest.mark.parametrize("zero", [False, True])
def test_a_sample_of_pairs(zero: bool) -> None:
    assert [each for seed in range(25) for each in mistakes(seed, zero=zero) or ()] == []


@pytest.mark.slow
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("first", range(1000, 2200, 100))
def test_many_pairs(first: int, zero: bool) -> None:
    found = [mistakes(seed, zero=zero, size=5) for seed in range(first, first + 100)]
    assert sum(each is None for each in found) < 10
    assert [each for every in found for each in every or ()] == []


def known_to_storm(formula: Formula) -> bool:
    """Whether Storm has the operators of a formula: it has no W, R, => or <=>, no constants and no bounds inside."""
    bounds = formula[-2:] if formula[0] in ("F", "G", "U") else (0, None)
    return (
        formula[0] not in ("W", "R", "<=>", "=>", "true", "false")
        and bounds == (0, None)
        and all(known_to_storm(f) for f in formula[1:] if isinstance(f, tuple))
    )


def in_storm(seed: int, folder: Path) -> None:
    """Compare a formula on a plain model with what Storm says, which translates it by other means."""
    stormpy = pytest.importorskip("stormpy")
    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
    rng = random.Random(seed)
    choices, letters = draw(rng, zero=False, plain=True)
    letters[1:] = [(letters[0] ^ 3), *letters[2:]]  # a label without states is not written
    model = to_model(choices, letters)
    path = folder / "model.drn"
    io.write(model, path)
    theirs = stormpy.build_model_from_drn(str(path))
    for _ in range(4):
        formula = drawn(rng, rng.randint(1, 5), 2)
        if not known_to_storm(formula):
            continue
        for kind in ("max", "min"):
            asked = f'P{kind}=? [ ({text(formula)}) & (X (!"a" | "a")) ]'
            found = stormpy.model_checking(theirs, stormpy.parse_properties(asked)[0]).get_value(
                theirs.initial_states[0]
            )
            bracket = solve(model, asked).bracket
            assert bracket.lower - 1e-5 <= found <= bracket.upper + 1e-5, asked


def test_storm_agrees(tmp_path: Path) -> None:
    for seed in range(12):
        in_storm(seed, tmp_path)


@pytest.mark.slow
def test_storm_agrees_on_many(tmp_path: Path) -> None:
    for seed in range(100, 400):
        in_storm(seed, tmp_path)
