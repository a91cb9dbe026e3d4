"""What `bench.price` measures: how many trajectories a promise costs."""

from __future__ import annotations

import numpy as np
import pytest
from bench.price import cell, close, measure, table
from bench.problems import problem

from umdp import evaluate, solve
from umdp.model import Policy


def test_within_a_part_of_the_optimum() -> None:
    grid, chain = problem("grid"), problem("chain")
    assert close(0.95 * grid.optimum, grid, 0.05)
    assert not close(0.949 * grid.optimum, grid, 0.05)
    assert close(1.05 * chain.optimum, chain, 0.05)
    assert not close(1.051 * chain.optimum, chain, 0.05)


def test_frozen_lake_is_tied_as_it_slips() -> None:
    pytest.importorskip("gymnasium")
    given = problem("FrozenLake 8x8")
    assert given.tying is not None
    # Each outcome has a third, and what is spread over the transitions is the truth.
    assert given.tying.along(np.array([1 / 3] * 3 + [1.0] * 44)) == pytest.approx(given.truth.probability)
    assert given.optimum == pytest.approx(0.640719, abs=1e-6)
    some = solve(given.truth, given.spec).policy
    assert evaluate(given.truth, given.spec, some).value == pytest.approx(given.optimum, rel=1e-5)
    assert isinstance(some, Policy)


@pytest.mark.slow
def test_a_run_that_gets_there_and_one_that_does_not() -> None:
    near = measure(("bandit", "LUI without a promise", 0, 5000, 20.0))
    far = measure(("grid", "confidence sequence", 0, 50, 20.0))
    assert 0 < near["found"]["0.05"] <= near["found"]["0.01"] <= 5000
    assert far["found"] == {"0.05": None, "0.01": None}
    assert far["trajectories"] == 50
    assert not measure(("bandit", "tied", 0, 5000, 20.0))["applies"]
    text = list(table([near, far]))
    assert text[0] == "| environment | optimum | within | confidence sequence | LUI without a promise |"
    assert text[2] == "| grid | 0.349 | 5% | > 50 |  |"
    assert text[4].startswith(f"| bandit | 0.99 | 5% |  | {near['found']['0.05']:,}")


def test_medians_count_who_did_not_get_there() -> None:
    rows = [
        {"found": {"0.05": each}, "trajectories": 100, "false": each == 20, "promises": False}
        for each in (10, 20, None)
    ]
    assert cell(rows, "0.05") == "20 (false in 1 of 3)"
    assert cell(rows[1:], "0.05") == "> 100 (false in 1 of 2)"
    assert cell([], "0.05") == ""
