from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from umdp import plot
from umdp.errors import FormatError


@st.composite
def runs(draw: st.DrawFn) -> dict[str, list[float]]:
    """A run: rows in order, some at the same number of trajectories."""
    trajectories = sorted(draw(st.lists(st.integers(0, 60), min_size=1, max_size=12)))
    values = draw(st.lists(st.floats(-1e6, 1e6), min_size=len(trajectories), max_size=len(trajectories)))
    return {"trajectories": [float(each) for each in trajectories], "performance": values}


def naive(run: dict[str, list[float]], at: int) -> float:
    """The value in force, row by row."""
    value = np.nan
    for trajectories, performance in zip(run["trajectories"], run["performance"], strict=True):
        if trajectories <= at:
            value = performance
    return value


@given(runs(), st.lists(st.integers(0, 80), min_size=1, max_size=9))
def test_a_step_is_the_last_row_that_is_not_later(run: dict[str, list[float]], at: list[int]) -> None:
    np.testing.assert_array_equal(plot.step(run, "performance", at), [naive(run, each) for each in at])


@given(st.lists(runs(), min_size=2, max_size=6))
def test_a_band_is_the_mean_and_its_interval(some: list[dict[str, list[float]]]) -> None:
    at = [60]
    values = np.array([naive(run, 60) for run in some])
    band = plot.band(some, "performance", at)
    half = stats.t.ppf(0.975, len(some) - 1) * stats.sem(values)
    close = 1e-9 * max(1.0, np.abs(values).max())
    assert band.mean[0] == pytest.approx(values.mean(), abs=close)
    assert band.lower[0] == pytest.approx(values.mean() - half, abs=close * len(some))
    assert band.upper[0] == pytest.approx(values.mean() + half, abs=close * len(some))


def test_a_band_of_logarithms_is_geometric() -> None:
    values = np.random.default_rng(1).lognormal(0, 3, (8, 1))
    band = plot.band([{"trajectories": [0], "x": row} for row in values], "x", [0, 5], logarithmic=True)
    low, high = stats.t.interval(0.95, 7, np.log(values).mean(), stats.sem(np.log(values), axis=None))
    np.testing.assert_allclose(band.mean, stats.gmean(values, axis=None))
    np.testing.assert_allclose(band.lower, np.exp(low))
    np.testing.assert_allclose(band.upper, np.exp(high))


def test_a_band_on_both_sides_of_zero_is_that_of_the_axis() -> None:
    values = np.array([-1e9, 1e3, -0.5, 7.0])
    band = plot.band([{"trajectories": [0], "x": [v]} for v in values], "x", [0], logarithmic=True, threshold=2.0)
    assert band.mean[0] == pytest.approx(2 * np.sinh(np.arcsinh(values / 2).mean()))
    assert band.lower[0] < band.mean[0] < band.upper[0]


def test_one_run_has_no_band() -> None:
    band = plot.band([{"trajectories": [0, 4], "x": [1.0, 2.0]}], "x", [0, 4])
    assert band.mean.tolist() == [1, 2]
    assert np.isnan(band.lower).all()
    assert np.isnan(band.upper).all()


@pytest.mark.parametrize("logarithmic", [False, True])
def test_huge_and_infinite_values_are_carried_without_a_warning(logarithmic: bool) -> None:
    columns = {"a": [1e120, 73.0, np.inf, 1e300], "b": [3e120, 75.0, 1.0, 1e300]}
    some = [{"trajectories": [0, 1, 2, 3], "x": values} for values in columns.values()]
    band = plot.band(some, "x", [0, 1, 2, 3], logarithmic=logarithmic)
    middle = [np.sqrt(3) * 1e120, np.sqrt(73 * 75)] if logarithmic else [2e120, 74]
    np.testing.assert_allclose(band.mean[[0, 1, 3]], [*middle, 1e300])
    assert np.isinf(band.mean[2])
    assert np.isnan(band.lower[2])
    assert band.lower[3] == pytest.approx(1e300)


def test_what_is_not_known_in_one_run_is_left_to_the_others() -> None:
    band = plot.band([{"trajectories": [0], "x": [None]}, {"trajectories": [0], "x": [2.0]}], "x", [0])
    assert band.mean[0] == 2
    assert np.isnan(plot.band([{"trajectories": [5], "x": [1.0]}], "x", [0]).mean[0])


def test_a_frame_is_a_run() -> None:
    frame = pl.DataFrame({"trajectories": [0, 10], "performance": [0.5, None]})
    np.testing.assert_array_equal(plot.step(frame, "performance", [3, 12]), [0.5, np.nan])


def test_a_missing_column_and_missing_runs_are_named() -> None:
    with pytest.raises(FormatError, match='no column "speed"; it has trajectories, x'):
        plot.step({"trajectories": [0], "x": [1.0]}, "speed", [0])
    with pytest.raises(FormatError, match='no run to take the mean of "x"'):
        plot.band([], "x", [0])
    with pytest.raises(FormatError, match="2 rows"):
        plot.step({"trajectories": [0], "x": [1.0, 2.0]}, "x", [0])


@given(st.integers(0, 10**7), st.integers(1, 300))
def test_a_grid_starts_with_the_prior_and_ends_at_the_end(trajectories: int, points: int) -> None:
    at = plot.grid(trajectories, points)
    assert at[0] == 0
    assert at[-1] == trajectories
    assert (np.diff(at) > 0).all()
    assert len(at) <= max(points, 2) + 1
