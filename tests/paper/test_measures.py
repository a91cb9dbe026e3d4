"""Measures on runs: against loops over single runs, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper.made import NEVER, PROBLEMS, Row, outcome
from umdp.paper.claims.mean_curves import interval, resampled
from umdp.paper.claims.measures import Runs, good, logarithmic_grid, significance
from umdp.paper.claims.verdict import Stand, conclude
from umdp.paper.results import Cell

CELL = Cell("grid", "LUI")


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """A run: rows that start at 0 and never go back, each good or bad, with the infinite among them."""
    gaps = draw(st.lists(st.integers(0, 5), max_size=8))
    values = st.sampled_from([0.1, 0.498, 0.5, 0.6, NEVER])
    return [(float(when), draw(values), 0.0) for when in np.cumsum([0, *gaps])]


def in_force(rows: list[Row], at: float) -> Row:
    return [row for row in rows if row[0] <= at][-1]


@given(st.lists(tables(), min_size=1, max_size=4), st.lists(st.floats(0, 60), max_size=5))
def test_a_step_holds_until_the_next(found: list[list[Row]], at: list[float]) -> None:
    runs = Runs([outcome(CELL, seed, rows) for seed, rows in enumerate(found)], PROBLEMS["grid"])
    assert runs.at("performance", np.array(at)).tolist() == [
        [in_force(rows, point)[1] for point in at] for rows in found
    ]


@given(st.lists(tables(), min_size=1, max_size=4))
def test_first_reach_and_settling_against_a_loop(found: list[list[Row]]) -> None:
    runs = Runs([outcome(CELL, seed, rows) for seed, rows in enumerate(found)], PROBLEMS["grid"])
    first, settled = [], []
    for rows in found:
        optimal = [performance >= 0.495 for _, performance, _ in rows]
        first.append(next((rows[i][0] for i in range(len(rows)) if optimal[i]), NEVER))
        settled.append(next((rows[i][0] for i in range(len(rows)) if all(optimal[i:])), NEVER))
    assert runs.first_reach().tolist() == first
    assert runs.settled().tolist() == settled


@given(st.lists(tables(), min_size=1, max_size=4), st.integers(1, 20))
def test_before_and_after_a_change_against_a_loop(found: list[list[Row]], change: int) -> None:
    # A row is added for the change, as every run with one has it.
    cell, problem = Cell("betting", "LUI"), PROBLEMS["betting"]
    scaled = [
        [(when, 80 * value, error) for when, value, error in rows if when < change]
        + [(float(change), 9.0, 0.0)]
        + [(when, 20 * value, error) for when, value, error in rows if when > change]
        for rows in found
    ]
    runs = Runs([outcome(cell, seed, rows) for seed, rows in enumerate(scaled)], problem)
    before = [in_force(rows, change - 0.5)[1] >= 0.99 * 40 for rows in scaled]
    settled = []
    for rows in scaled:
        later = [(when, value >= 0.99 * 10) for when, value, _ in rows if when >= change]
        settled.append(next((later[i][0] for i in range(len(later)) if all(ok for _, ok in later[i:])), NEVER))
    assert runs.optimal_before(change).tolist() == before
    assert runs.settled(since=change).tolist() == settled


def test_an_iteration_that_was_cut_short_is_no_end_of_a_run() -> None:
    run = outcome(CELL, 0, [(0, 0.1, 0.0), (10, 0.5, 0.0), (12, 0.2, 0.0)])
    run.columns["partial"] = np.array([0, 0, 1])  # type: ignore[index]
    runs = Runs([run, outcome(CELL, 1, [(0, 0.3, 0.0), (20, 0.6, 0.0)])], PROBLEMS["grid"])
    assert runs.column("performance").tolist() == [[0.1, 0.5], [0.3, 0.6]]
    assert runs.at("performance", np.array([11.0, 1e6])).tolist() == [[0.5, 0.5], [0.3, 0.6]]
    assert runs.settled().tolist() == [10, 20]


def test_of_two_rows_at_the_same_trajectory_the_last_counts() -> None:
    run = outcome(CELL, 0, [(0, 0.1, 0.0), (5, 0.2, 0.0), (5, 0.3, 0.0), (9, 0.4, 0.0)])
    assert Runs([run], PROBLEMS["grid"]).at("performance", np.array([4.9, 5.0, 8.0])).tolist() == [[0.1, 0.3, 0.3]]


def test_the_grid_is_even_in_logarithm() -> None:
    points = logarithmic_grid(10**6)
    assert (points[0], points[-1]) == (1, 10**6)
    assert np.diff(np.log(points)).tolist() == pytest.approx([np.log(10**6) / 199] * 199)
    assert logarithmic_grid(0, 3).tolist() == [1, 1, 1]


def test_good_is_relative_and_knows_infinity() -> None:
    def one(value: float, optimum: float, minimise: bool) -> bool:
        return bool(good(np.array([value]), optimum, minimise=minimise, tolerance=0.01)[0])

    assert one(100.9, 100, True)
    assert not one(101.1, 100, True)
    assert one(99.1, 100, False)
    assert not one(98.9, 100, False)
    assert one(-101, -100, False)
    assert one(NEVER, NEVER, False)
    assert not one(5, NEVER, False)
    assert one(5, 5, True)
    assert not one(1e-9, 0, True)


def test_significance_by_the_count_of_orders() -> None:
    # All of five before all of five: 2 of the 252 ways to choose which ranks are the first sample's.
    early, late = np.arange(5.0), np.array([10, 11, 12, 13, NEVER])
    assert significance(early, late) == pytest.approx(2 / 252)
    assert significance(late, early) == pytest.approx(2 / 252)
    assert significance(np.full(3, NEVER), np.full(4, NEVER)) == 1
    assert significance(np.array([1.0]), np.array([NEVER])) == 1


@given(st.lists(st.sampled_from(["yes", "no", "close", "tied", "open"]), max_size=6))
def test_a_part_that_stands_never_lowers_a_verdict(parts: list[Stand]) -> None:
    order = {"not judged": 0, "fails": 0, "partly": 1, "holds": 2}
    for better in ({"no": "close"}, {"no": "yes"}, {"close": "yes"}):
        raised = [better.get(part, part) for part in parts]
        assert order[conclude(raised)] >= order[conclude(parts)]  # type: ignore[arg-type]


def test_an_interval_holds_the_mean_as_often_as_it_says() -> None:
    """Runs that are 0 or 1 with probability 0.3, forty of them: 95 % of the intervals should hold 0.3, and about do."""
    rng = np.random.default_rng(1)
    held = 0
    for trial in range(400):
        _, low, high = interval(resampled((rng.random((40, 1)) < 0.3).astype(float), str(trial))[:, 0])
        held += low <= 0.3 <= high
    assert 0.91 <= held / 400 <= 0.98
