"""The basic experiment is what a second implementation of the same text makes of it."""

from __future__ import annotations

import pytest
from bench.definitions import cells, compare, differing

from umdp.paper.results import Cell


@pytest.mark.slow
@pytest.mark.parametrize("cell", cells(), ids=lambda cell: f"{cell.environment}-{cell.learner}")
def test_no_number_differs_from_the_second_implementation(cell: Cell) -> None:
    made = compare([cell], seeds=40, trajectories=1000)
    assert not differing(made), differing(made)
