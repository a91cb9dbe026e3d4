from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from umdp import plot
from umdp.errors import MissingExtra

matplotlib = pytest.importorskip("matplotlib")
Figure = pytest.importorskip("matplotlib.figure").Figure


def made(seeds: int = 3, *, huge: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Runs of two learners; `huge` ones fall from 1e120, and one of them starts at infinity."""
    found: dict[str, list[dict[str, Any]]] = {}
    for label, speed in (("LUI", 5.0), ("mine", 50.0)):
        found[label] = []
        for seed in range(seeds):
            rng = np.random.default_rng([seed, int(speed)])
            at = np.unique(np.concatenate([[0, 1000], rng.integers(1, 1000, 30)]))
            left = 1 / (1 + at / speed) ** 2 * rng.uniform(0.7, 1)
            value = 73 * 10 ** (118 * left) if huge else 1 - left
            value = np.where((at == 0) & huge & (label == "mine"), np.inf, value)
            found[label].append(
                {"trajectories": at, "performance": value, "estimation_error": -value / 2, "model_error": left}
            )
    return found


def line(ax: Any, label: str) -> Any:
    return next(each for each in ax.get_lines() if each.get_label() == label)


@pytest.mark.parametrize("draw", [plot.performance, plot.estimation_error, plot.model_error])
@pytest.mark.parametrize("seeds", [1, 3])
def test_metrics_are_drawn(draw: Any, seeds: int) -> None:
    ax = draw(made(seeds), optimum=1.0)
    assert ax.get_xlim() == (0, 1000)
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    assert labels[:2] == ["0", "1"]
    assert len(ax.collections) == (0 if seeds == 1 else 2)  # a band each, and none for one run
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()][:2] == ["LUI", "mine"]


def test_curves_are_the_means_in_steps() -> None:
    runs = made()
    ax = plot.performance(runs, trajectories=500)
    drawn = line(ax, "LUI")
    assert drawn.get_drawstyle() == "steps-post"
    at, values = drawn.get_data()
    band = plot.band(runs["LUI"], "performance", at.astype(int))
    np.testing.assert_allclose(values, band.mean)
    assert at[0] == 0
    assert at[-1] == 500


def test_the_optimum_steps_at_a_change() -> None:
    thrown = {"trajectories": [0, 137, 1000], "performance": [1.0, 0.3, 0.3]}
    ax = plot.performance({"LUI": [thrown]}, optimum=1.0, change=(137, 0.25))
    assert line(ax, "_optimum").get_xydata().tolist() == [[0, 1], [137, 0.25], [1000, 0.25]]
    assert line(ax, "LUI").get_xydata().tolist() == [[0, 1], [137, 0.3], [1000, 0.3]]
    low, high = ax.get_ylim()
    assert low < 0.25
    assert high > 1


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("draw", [plot.performance, plot.estimation_error])
def test_huge_and_infinite_values_are_drawn(draw: Any, logarithmic: bool, tmp_path: Path) -> None:
    ax = draw(made(huge=True), optimum=73.0, logarithmic=logarithmic)
    low, high = ax.get_ylim()
    assert np.isfinite([low, high]).all()
    assert high - low < 1e70
    for each in ax.get_lines():
        assert (np.abs(each.get_ydata()) < 1e80).all()
    files = plot.save(ax.figure, tmp_path / "huge")
    assert "e+" not in files[1].read_text(encoding="utf-8")


def test_nothing_is_drawn_without_runs() -> None:
    assert plot.performance({}, optimum=0.5).get_xlim() == (0, 1)


def test_a_plot_of_the_caller_is_used_as_it_is() -> None:
    figure = Figure()
    ax = figure.add_subplot()
    assert plot.performance(made(), ax=ax) is ax
    assert figure.legends == []
    assert ax.get_legend_handles_labels()[1] == ["mine", "LUI"]


def test_known_learners_keep_their_style_and_others_get_a_free_one() -> None:
    alone = plot.styles(["UCRL2"])["UCRL2"]
    many = plot.styles(["UCRL2", *(f"own {number}" for number in range(60)), "LUI"])
    assert many["UCRL2"] == alone
    assert len({(style.colour, style.dashes, style.marker) for style in many.values()}) == len(many)


def test_figures_are_written_and_can_be_read(tmp_path: Path) -> None:
    ax = plot.performance(made(), optimum=1.0)
    pdf, svg, png = plot.save(ax.figure, tmp_path / "new" / "figure-xi-0.8")
    assert [path.name for path in (pdf, svg, png)] == [f"figure-xi-0.8.{end}" for end in ("pdf", "svg", "png")]
    assert pdf.read_bytes().startswith(b"%PDF")
    assert png.read_bytes().startswith(b"\x89PNG")
    root = ET.parse(svg).getroot()
    texts = {"".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"LUI", "mine", "trajectories", "performance", "10²", "0"} <= texts
    assert svg.stat().st_size < 60_000


def test_the_same_figure_has_the_same_bytes(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, 'tests/plot'); from test_draw import made; from umdp import plot\n"
        "plot.save(plot.performance(made(), optimum=1.0).figure, sys.argv[1])"
    )
    first = plot.save(plot.performance(made(), optimum=1.0).figure, tmp_path / "here")
    again = plot.save(plot.performance(made(), optimum=1.0).figure, tmp_path / "again")
    for hashing in ("1", "2"):
        command = [sys.executable, "-c", program, str(tmp_path / hashing)]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": hashing}, cwd=Path(__file__).parents[2])
    for end, here, there in zip(("pdf", "svg", "png"), first, again, strict=True):
        content = {path.read_bytes() for path in (here, there, tmp_path / f"1.{end}", tmp_path / f"2.{end}")}
        assert len(content) == 1, end


def test_saving_twice_changes_nothing(tmp_path: Path) -> None:
    figure = plot.performance(made()).figure
    first = [path.read_bytes() for path in plot.save(figure, tmp_path / "one")]
    assert [path.read_bytes() for path in plot.save(figure, tmp_path / "two")] == first


def test_settings_of_matplotlib_are_left_alone(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    plot.save(plot.performance(made()).figure, tmp_path / "figure")
    assert dict(matplotlib.rcParams) == before


def test_a_figure_does_not_depend_on_the_users_settings(tmp_path: Path) -> None:
    plain = plot.save(plot.performance(made()).figure, tmp_path / "plain")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "lines.linewidth": 9}):
        own = plot.save(plot.performance(made()).figure, tmp_path / "own")
    assert [path.read_bytes() for path in own] == [path.read_bytes() for path in plain]


def test_no_window_is_needed() -> None:
    program = (
        "import sys; from umdp import plot; plot.performance({'a': [{'trajectories': [0], 'performance': [1.0]}]})\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program + "print('matplotlib.pyplot' in sys.modules)"], check=True, capture_output=True, text=True
    )  # fmt: skip
    assert found.stdout.strip() == "False"


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="plot"):
        plot.performance(made())
