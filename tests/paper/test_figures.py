from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from umdp import plot
from umdp.paper.report.captions import caption
from umdp.paper.report.figures import Drawing, figures
from umdp.paper.report.panels import panels, weights
from umdp.paper.results import Cell, Results
from umdp.statements.guarantee import Guarantee

from . import sample

pytest.importorskip("matplotlib")


def words(drawing: Drawing) -> list[str]:
    """All text in a figure."""
    root = ET.parse(drawing.svg_path).getroot()
    return ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]


def said(results: Results, metric: plot.Metric) -> str:
    """The caption of a figure of one metric in all environments."""
    shown = panels(results, results.cells())
    return caption(results, [(panel, metric, panel.axis(metric, panel.bands(metric).values())) for panel in shown])


@pytest.fixture(scope="module")
def basic(tmp_path_factory: pytest.TempPathFactory) -> list[Drawing]:
    return figures(sample.basic(seeds=2, rows=60), tmp_path_factory.mktemp("basic"))


def test_there_is_a_figure_per_metric_and_one_of_all(basic: list[Drawing]) -> None:
    names = ["basic-performance", "basic-estimation-error", "basic-model-error", "basic-metrics"]
    papers = ["basic-paper-performance", "basic-paper-estimation-error", "basic-paper-appendix"]
    assert [drawing.name for drawing in basic] == names + papers
    for drawing in basic:
        assert drawing.pdf_path.name == f"{drawing.name}.pdf"
        assert drawing.pdf_path.read_bytes().startswith(b"%PDF")
        assert drawing.png_path.read_bytes().startswith(b"\x89PNG")
        assert not drawing.published
        assert drawing.experiment == "basic"


def test_the_papers_figures_have_its_learners_and_its_order(basic: list[Drawing]) -> None:
    favourable, unfavourable = "Betting game, favourable", "Betting game, unfavourable"
    orders = {
        "basic-paper-performance": [favourable, unfavourable, "Aircraft", "Bandit", "Chain, less is better", "Grid"],
        "basic-paper-estimation-error": [favourable, unfavourable, "Bandit"],
    }
    for drawing in basic[4:]:
        found = words(drawing)
        assert {"LUI", "PAC", "MAP", "UCRL2"} <= set(found)
        assert not {"Confidence sequence", "Clopper-Pearson"} & set(found)
        order = orders.get(drawing.name)
        assert order is None or [word for word in found if word in order] == order
    appendix = [word for word in words(basic[-1]) if word in ("performance", "model error", "estimation error")]
    assert appendix == ["performance", "model error", "estimation error"]


def test_panels_are_titled_and_the_legend_has_all_learners_once(basic: list[Drawing]) -> None:
    found = words(basic[0])
    titles = ["Chain, less is better", *(problem.title for problem in list(sample.PROBLEMS.values())[1:6])]
    assert [word for word in found if word in titles] == titles
    for learner in sample.SPEED:
        assert found.count(learner) == 1
    assert found.count("optimum") == 1
    assert "optimum" not in words(basic[1])


def test_one_environment_is_one_row_of_three(tmp_path: Path) -> None:
    (drawing,) = figures(sample.strength(seeds=1, published=True, rows=30), tmp_path)
    assert drawing.name == "strength-as-published-metrics"
    assert drawing.published
    assert [word for word in words(drawing) if word in {"performance", "estimation error", "model error"}] == [
        "performance", "estimation error", "model error",
    ]  # fmt: skip
    assert "rules of the published code, with one seed" in drawing.caption
    assert "Lines are single runs." in drawing.caption


def test_a_change_has_a_row_per_panel_and_a_column_per_change(tmp_path: Path) -> None:
    cells = [
        Cell("betting", learner, panel, 0.8, after)
        for panel in ("unbounded", "bound [20, 30]")
        for after in (1000, 100)
        for learner in ("LUI", "MAP")
    ]
    drawing, papers = figures(sample.made("change", cells, seeds=2, trajectories=10**4, rows=30), tmp_path)
    assert (drawing.name, papers.name) == ("change-betting-xi-0.8", "change-paper-betting-xi-0.8")
    found = words(drawing)
    assert sorted(word for word in found if word.startswith("change after")) == ["change after 10²", "change after 10³"]
    assert {"unbounded", "bound [20, 30]", "Betting game, ξ = 0.8"} <= set(found)
    assert (
        "changes after 100 and 1,000 trajectories (vertical line); the rows are: unbounded, bound [20, 30]."
        in drawing.caption
    )
    assert "optimum before and after the change" in drawing.caption


def test_names_of_change_figures(tmp_path: Path) -> None:
    cells = [Cell("chain", "LUI", "unbounded", xi, 100) for xi in (1.0, 0.8)]
    results = sample.made("change", cells, seeds=1, trajectories=1000, rows=20, published=True)
    names = ["change-as-published-chain-xi-1.0", "change-as-published-chain-xi-0.8"]
    names += ["change-as-published-paper-chain-xi-1.0", "change-as-published-paper-chain-xi-0.8"]
    assert [drawing.name for drawing in figures(results, tmp_path)] == names


def test_an_experiment_of_ones_own(tmp_path: Path) -> None:
    cells = [
        Cell("gym:Frozen Lake/v1 <$8>", f"learner {number} & $co$", xi=xi) for number in range(9) for xi in (1.0, 0.5)
    ]
    cells.append(Cell("gym:Frozen Lake/v1 <$8>", "uniform", xi=None))
    cells.append(Cell("gym:Frozen Lake/v1 <$8>", "uniform", xi=None, after=50))
    drawn = figures(sample.made("My own!", cells, seeds=2, trajectories=300, rows=20), tmp_path)
    names = ["my-own-xi-1.0-metrics", "my-own-xi-0.5-metrics", "my-own-gym-frozen-lake-v1-8"]
    assert [drawing.name for drawing in drawn] == names
    assert {"learner 3 & $co$", "uniform", "gym:Frozen Lake/v1 <$8>"} <= set(words(drawn[0]))
    assert "ξ = 0.5; uniform explores uniformly." in drawn[1].caption
    assert all(drawing.svg_path.parent == tmp_path for drawing in drawn)


def test_many_environments_go_to_several_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("umdp.paper.report.figures.ROWS", 2)
    cells = [Cell(f"environment {number}", "LUI") for number in range(3)]
    drawn = figures(sample.made("wide", cells, seeds=1, trajectories=100, rows=10), tmp_path)
    assert [drawing.name for drawing in drawn][3:] == ["wide-metrics", "wide-metrics-2"]


def test_weights_that_need_a_figure() -> None:
    several = [Cell("a", "LUI", xi=xi) for xi in (1.0, None)]
    assert [(xi, len(some)) for xi, some in weights(several)] == [(1.0, 1), (None, 1)]
    mixed = [Cell("a", "LUI", xi=0.9), Cell("b", "LUI", xi=1.0), Cell("b", "MAP", xi=None)]
    assert weights(mixed) == [(None, mixed)]
    assert weights([]) == []


def test_captions_say_how_it_was_made() -> None:
    published = said(sample.basic(seeds=2, rows=30, published=True), plot.PERFORMANCE)
    assert published.startswith("The performance of robust policies")
    assert "The runs follow the rules of the published code, with 2 seeds" in published
    assert "ξ = 0.9 in Bandit and Betting game, favourable, and ξ = 1 elsewhere; MAP explores uniformly." in published
    assert "Lines are means, geometric ones where the axis is logarithmic (Chain)" in published
    assert "bands are 95 % confidence intervals of the mean" in published
    assert "for Chain, less is better" in published
    error = said(sample.basic(seeds=2, rows=30), plot.ESTIMATION_ERROR)
    assert "The runs follow the paper's definitions, with 2 seeds and exploration weight ξ = 1." in error
    assert "logarithmic on both sides of zero (Chain)" in error
    assert "Where curves of Chain leave the picture, their values are beyond the axis." in error
    assert "leave the picture" not in said(sample.strength(seeds=2, rows=30), plot.PERFORMANCE)


def test_captions_say_who_promises() -> None:
    results = sample.basic(seeds=2, rows=30)
    assert "none of the learners promises anything" in said(results, plot.PERFORMANCE)
    sure = Guarantee("any-time", 0.95)

    def with_promise(kept: int) -> Results:
        found = [
            replace(one, guarantee=sure) if one.cell.learner == "Confidence sequence" and one.seed < kept else one
            for one in results.outcomes
        ]
        return replace(results, outcomes=tuple(found))

    every = said(with_promise(2), plot.MODEL_ERROR)
    assert (
        "Confidence sequence promises (95 %, whenever you stop); LUI, PAC, MAP, UCRL2 and Clopper-Pearson have" in every
    )
    assert "promises (95 %, whenever you stop) in some of its runs;" in said(with_promise(1), plot.PERFORMANCE)


def test_runs_that_are_missing_are_counted() -> None:
    results = sample.strength(seeds=3, rows=20)
    fewer = Results(
        results.name, "", False, results.trajectories, 3, results.problems, results.outcomes[:-1], results.settings
    )
    assert "with 2 to 3 seeds" in said(fewer, plot.PERFORMANCE)


def test_bands_of_a_hundred_runs_take_no_time() -> None:
    results = sample.basic(seeds=100, rows=300)
    start = time.perf_counter()
    shown = panels(results, results.cells())
    for panel in shown:
        for metric in plot.METRICS:
            panel.bands(metric)
    assert time.perf_counter() - start < 10
    assert sum(len(panel.runs) for panel in shown) == 34


def test_the_samples_are_nasty() -> None:
    values = np.concatenate(
        [one.columns["estimate"] for one in sample.basic(seeds=2).outcomes if one.cell.environment == "chain"]
    )
    assert np.isinf(values).any()
    assert values[np.isfinite(values)].max() > 1e110
    assert values.min() < 80
