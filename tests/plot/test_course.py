"""The course of runs: curves are the numbers in the rows, the legend says what is promised."""

from __future__ import annotations

import numpy as np
import pytest

import umdp
from umdp import plot
from umdp.cli import run as command

pytest.importorskip("matplotlib")

REACH = 'Pmax=? [ !"collision" U "goal" ]'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, *more in (
        ("lui", "aircraft", "--until", ">=0.1"),
        ("sure", "aircraft", "--learner", "confidence-sequence"),
        ("seed", "aircraft", "--seed", "5"),
        ("chain", "chain"),
    ):
        assert command(["learn", *more, "--trajectories", "300", "--out", str(folder / f"{name}.run"), "-q"]) == 0
    return folder


def line(ax, label):
    return [each for each in ax.get_lines() if each.get_label() == label]


def words(ax):
    return [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_curves_are_the_rows(folder):
    run = umdp.open(folder / "sure.run")
    ax = plot.value(run)
    (bound,) = line(ax, "certified bound (99 %, whenever you stop)")
    at, values = bound.get_data()
    rows = {row["trajectories"]: row["lower"] for row in run.rows}  # the last of those that share a number
    assert dict(zip(at.tolist(), values.tolist(), strict=True)) == pytest.approx(rows)
    (optimistic,) = line(ax, "optimistic value")
    assert optimistic.get_ydata()[-1] == run.optimistic
    (true,) = line(ax, "true value of the policy")
    assert true.get_ydata()[-1] == run.performance
    (optimum,) = line(ax, "optimum")
    assert optimum.get_ydata()[0] == pytest.approx(0.3024)
    assert ax.get_ylabel() == "probability"
    assert "aircraft" in ax.get_title()


def test_a_cost_is_bounded_from_above(folder):
    run = umdp.open(folder / "chain.run")
    ax = plot.value(run)
    (bound,) = line(ax, "worst-case bound (no guarantee)")
    assert bound.get_ydata()[-1] == pytest.approx(run.bracket.upper)
    assert ax.get_yscale() == "log"
    assert np.isfinite(ax.get_ylim()).all()


def test_threshold_and_end_are_marked(folder):
    ax = plot.value(folder / "lui.run")
    (limit,) = line(ax, "threshold >= 0.1")
    assert limit.get_ydata()[0] == 0.1
    (end,) = line(ax, "_end")
    assert end.get_xdata()[0] == umdp.open(folder / "lui.run").trajectories
    assert {"threshold >= 0.1", "end: >= 0.1 is reached on the learned model"} <= set(words(ax))


def test_several_runs_have_names_that_tell_them_apart(folder):
    ax = plot.value([folder / "lui.run", folder / "sure.run"])
    assert words(ax)[:2] == ["LUI (no guarantee)", "Confidence sequence (99 %, whenever you stop)"]
    assert words(plot.value([folder / "lui.run", folder / "seed.run"]))[:2] == [
        "LUI, seed 0 (no guarantee)",
        "LUI, seed 5 (no guarantee)",
    ]
    assert words(plot.value({"mine": folder / "lui.run", "yours": folder / "lui.run"}))[0] == "mine (no guarantee)"
    colours = {each.get_color() for each in ax.get_lines() if each.get_label().endswith(")")}
    assert len(colours) == 2
    ax = plot.value([folder / "lui.run", folder / "chain.run"])
    assert ax.get_title() == "different properties: values do not compare"


def test_snapshots_without_a_truth(folder):
    snapshots = list(umdp.anytime(umdp.benchmark.aircraft(), REACH, umdp.LUI(), trajectories=50))
    from dataclasses import replace

    blind = [replace(each, truth=None) for each in snapshots]
    ax = plot.value(blind)
    assert line(ax, "true value of the policy") == []
    assert line(ax, "optimum") == []
    assert len(line(ax, "worst-case bound (no guarantee)")) == 1
    with pytest.raises(umdp.ModelError, match="which are not known"):
        plot.error(blind)
    assert line(plot.value(snapshots), "true value of the policy")


def test_errors_are_drawn_with_their_promise(folder):
    run = umdp.open(folder / "lui.run")
    for draw, column in ((plot.error, "estimation_error"), (plot.model, "model_error")):
        ax = draw([run, folder / "sure.run"])
        (curve,) = line(ax, "LUI (no guarantee)")
        assert curve.get_ydata()[-1] == pytest.approx(run[column][-1])


def test_the_axes_of_the_caller_are_used(folder):
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plot.value(folder / "lui.run", ax=ax) is ax
    assert ax.figure.legends == []
    assert "worst-case bound (no guarantee)" in ax.get_legend_handles_labels()[1]


@pytest.mark.parametrize("given", [3, [], [3], "none.run"])
def test_what_cannot_be_drawn_is_an_error(given):
    with pytest.raises(umdp.UmdpError):
        plot.value(given)


def test_a_solution_has_no_course():
    solution = umdp.solve(umdp.benchmark.aircraft(), REACH)
    with pytest.raises(umdp.ModelError, match="one answer, not a course"):
        plot.value(solution)


def test_a_legend_of_ones_own_names_every_kind_of_line(folder):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    plot.value(folder / "lui.run", ax=ax)
    named = [text.get_text() for text in ax.legend().get_texts()]
    assert sorted(named) == [
        "optimistic value", "optimum", "threshold >= 0.1", "true value of the policy", "worst-case bound (no guarantee)",
    ]  # fmt: skip
    ax = Figure().subplots()
    plot.value([folder / "lui.run", folder / "sure.run"], ax=ax)
    named = [text.get_text() for text in ax.legend().get_texts()]
    assert len(named) == len(set(named)) == 6  # two bounds, and one of each other kind
