"""A sample of the random search of `bench.soundness`: brackets against exact rationals, hard numbers included."""

from __future__ import annotations

import pytest

from properties import lines
from properties.soundness import Tally, misses


@pytest.mark.parametrize("first", range(0, 36, 6))
def test_no_bracket_misses(first: int) -> None:
    tally = Tally()
    found = [each for number in range(first, first + 6) for each in misses(7, number, tally, states=(3, 9), runs=2)]
    assert not found, "\n".join(found)
    assert tally.certified > 0.7 * tally.solved


@pytest.mark.parametrize("number", [197, 301, 425])
def test_a_step_that_overflows_proves_nothing(number: int) -> None:
    # Values above the largest double made sweeps give no number, which no comparison objected to: certified 0 .. 0.
    assert list(misses(4, number, Tally())) == []


def test_no_bracket_misses_on_long_lines() -> None:
    found = [each for number in range(8) for each in lines.misses(7, number, Tally(), states=(40, 150))]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2000, 50))
def test_no_bracket_misses_on_many(first: int) -> None:
    found = [each for number in range(first, first + 50) for each in misses(8, number, Tally())]
    assert not found, "\n".join(found)
