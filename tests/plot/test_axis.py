from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp import plot
from umdp.plot.trajectory import from_log_position, log_position


def flat(values: list[float], spread: float = np.nan) -> plot.Band:
    mean = np.array(values, dtype=np.float64)
    return plot.Band(np.arange(len(values)), mean, mean - spread, mean + spread)


@given(st.lists(st.floats(-1e5, 1e5), min_size=1, max_size=20), st.floats(0, 1e6))
def test_ordinary_means_are_inside(values: list[float], spread: float) -> None:
    axis = plot.fit([flat([*values, max(values, key=abs)], spread)])
    assert axis.lower < min(values)
    assert max(values) < axis.upper
    # Bands may be cut: wide ones must not squeeze the means.
    height = max(max(values) - min(values), 0.2 * max(map(abs, values)), 0.2)
    assert axis.upper - axis.lower <= 1.6 * height


@given(
    st.lists(st.floats(0, 1e300) | st.just(np.inf), min_size=1, max_size=9), st.sampled_from(["linear", "logarithmic"])
)
def test_limits_are_finite_whatever_happens(values: list[float], kind: str) -> None:
    axis = plot.fit([flat(values)], kind)  # type: ignore[arg-type]
    assert np.isfinite([axis.lower, axis.upper]).all()
    assert axis.lower < axis.upper
    assert np.isfinite(axis.clip([0.0, 1.0, 1e308, np.inf])).all()


@pytest.mark.parametrize("kind", ["linear", "logarithmic", "symmetric"])
def test_there_is_an_axis_without_curves(kind: str) -> None:
    axis = plot.fit([], kind)  # type: ignore[arg-type]
    assert axis.lower < axis.upper


def test_the_huge_does_not_hide_the_rest() -> None:
    assert plot.fit([flat([1e120, 1e120, 1e3, 80.0, 74.0])], show=[73.2]).upper < 2000
    assert plot.fit([flat([1e120, 1e5, 74.0])], "logarithmic", show=[73.2]).upper < 1e60
    errors = plot.fit([flat([-1e120, -1e3, -0.5])], "symmetric", show=[0.0])
    assert -1e12 < errors.lower < -1e7
    assert errors.upper < 1e3


def test_the_only_spike_is_not_cut() -> None:
    """Errors of one learner where all others have none, as of MAP in the unfavourable game: of the order of the optimum."""
    bands = [flat([0.0] * 50), flat([*[0.0] * 20, 7.5, 3.0, *[0.0] * 28])]
    axis = plot.ESTIMATION_ERROR.axis(bands, optimum=10.0)
    assert axis.kind == "linear"
    assert axis.lower <= 0.0
    assert axis.upper > 7.5
    wrong = plot.PERFORMANCE.axis([flat([73.2, 2e9, 1e39, 74.0])], logarithmic=True, optimum=73.2, show=[73.2])
    assert wrong.upper > 1e39


def test_positive_values_stay_above_zero_and_a_range_is_kept() -> None:
    assert plot.fit([flat([0.02, 0.5], spread=9.0)]).lower >= -0.05
    axis = plot.MODEL_ERROR.axis([flat([0.99, 0.2], spread=3.0)])
    assert axis.lower == 0
    assert axis.upper <= 1.06


@given(st.floats(0, 1e7))
def test_places_on_the_trajectory_axis_go_back(trajectories: float) -> None:
    assert from_log_position(log_position(trajectories)) == pytest.approx(trajectories, rel=1e-9, abs=1e-9)


def test_positions_go_from_limit_to_limit() -> None:
    for kind, lower in (("linear", -4.0), ("logarithmic", 0.5), ("symmetric", -1e6)):
        axis = plot.ValueAxis(kind, lower, 7.0, threshold=0.5)  # type: ignore[arg-type]
        np.testing.assert_allclose(axis.position([lower, 7.0]), [0, 1])
        np.testing.assert_allclose(axis.position(axis.clip([-np.inf, np.inf])), [-0.2, 1.2])


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (plot.ValueAxis("logarithmic", 50.0, 1e12), ["10²", "10⁴", "10⁶", "10⁸", "10¹⁰", "10¹²"]),
        (plot.ValueAxis("logarithmic", 60.0, 900.0), ["100", "200", "300", "500"]),
        (plot.ValueAxis("symmetric", -5e4, 20.0), ["−10⁴", "−10²", "−1", "0", "1"]),
        (plot.ValueAxis("symmetric", -3e9, 3e9), ["−10⁹", "−10⁵", "−10", "0", "10", "10⁵", "10⁹"]),
    ],
)
def test_ticks_are_few_and_round(axis: plot.ValueAxis, labels: list[str]) -> None:
    ax = pytest.importorskip("matplotlib.figure").Figure().add_subplot()
    axis.apply(ax)
    low, high = ax.get_ylim()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == labels
    assert (low, high) == (axis.lower, axis.upper)


def test_a_short_axis_has_ticks_too() -> None:
    ax = pytest.importorskip("matplotlib.figure").Figure().add_subplot()
    plot.ValueAxis("symmetric", -0.4, 0.2).apply(ax)
    assert len([tick for tick in ax.get_yticks() if -0.4 <= tick <= 0.2]) >= 3


def test_rounding_does_not_fill_a_linear_axis() -> None:
    axis = plot.fit([flat([0.0, 7e-11, 7e-11])], show=[0.0], least=1e-4)
    assert axis.upper - axis.lower >= 1e-4
    # What is large is not left out beside what is rounding.
    assert plot.fit([flat([0.0, 0.02, 7e-11])], show=[0.0], least=1e-4).upper >= 0.02
