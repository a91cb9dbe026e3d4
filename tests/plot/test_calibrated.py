"""The picture of coverage shows the frequencies and the level, at the right places."""

from __future__ import annotations

import numpy as np
import pytest

from umdp.analysis.coverage import Calibration
from umdp.statements.guarantee import Guarantee

pytest.importorskip("matplotlib")

from umdp import plot


def made(claim: Guarantee, runs: int = 20) -> Calibration:
    times = np.array([1, 10, 100])
    held = {
        "interval_then": [0.9, 0.8, 0.7], "interval_always": [np.nan, 0.6, 0.5], "model_then": [1, 1, 0],
        "model_always": [1, 0, 0], "policy_then": [1, 1, 1], "policy_always": [1, 1, 0], "optimum_then": [1, 1, 1],
        "optimum_always": [1, 1, 1], "bound": [0.1, 0.2, 0.3], "worth": [0.3, 0.3, 0.3], "promised": [1, 1, 1],
    }  # fmt: skip
    columns = {name: np.tile(np.array(each, float), (runs, 1)) for name, each in held.items()}
    return Calibration("mine", "coin", "Pmax=?", claim, 0.9, 0.3, True, times, np.arange(runs), columns)


def test_every_curve_and_the_level() -> None:
    ax = plot.coverage(made(Guarantee("any-time", 0.9)))
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    value = lines["the value of the policy, at all times until then"]
    np.testing.assert_array_equal(value.get_xydata(), [[1, 1], [10, 1], [100, 0]])
    np.testing.assert_allclose(lines["an interval, at all times until then"].get_xydata(), [[10, 0.6], [100, 0.5]])
    np.testing.assert_array_equal(lines["the model, at that time"].get_ydata(), [1, 1, 0])
    constant = [set(np.asarray(line.get_ydata(), float)) for line in ax.get_lines()]
    assert {0.9} in constant  # the level
    assert ax.get_title() == "mine on coin, 20 runs"
    assert ax.get_xscale() == "symlog"


@pytest.mark.parametrize(("claim", "word"), [(Guarantee("any-time", 0.9), "claimed"), (Guarantee("none"), "nominal")])
def test_the_legend_says_whether_the_level_is_claimed(claim: Guarantee, word: str) -> None:
    figure = plot.coverage(made(claim)).get_figure(root=True)
    assert figure is not None
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert f"90 %, {word}" in texts
    assert {"an interval", "the model", "the value of the policy", "at that time", "at all times until then"} < set(
        texts
    )


def test_it_draws_where_it_is_told_to() -> None:
    figure = plot.new_figure(4, 3)
    ax = figure.add_subplot()
    assert plot.coverage(made(Guarantee("none"), runs=1), ax=ax) is ax
    assert not figure.legends
