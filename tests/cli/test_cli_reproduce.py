"""`umdp reproduce`: an experiment of one's own from file to figures, the paper's in both modes, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
OWN = "examples/own/ferry.toml"


def test_the_documents_show_the_example_as_it_is() -> None:
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert (ROOT / OWN).read_text() in page
    code = (ROOT / OWN).with_suffix(".py").read_text()
    assert code in page
    assert len(code.splitlines()) <= 40


@pytest.mark.slow
def test_an_environment_and_a_learner_of_ones_own(umdp, folder) -> None:
    result = umdp("reproduce", OWN, "--trust", "--seeds", "2", "--trajectories", "50", "--jobs", "1", "--csv")
    assert result.code == 0, result.err
    assert "8 runs, 8 of them now; tables and figures in reproduction" in result.out
    assert "C1" not in result.out  # the paper's claims are not about this
    assert "A ferry" in result.out
    assert not (folder / "reproduction" / "claims.json").exists()
    out = folder / "reproduction"
    with (out / "ferry.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["environment"], row["learner"]) for row in rows} == {
        (environment, learner) for environment in ("chain", "ferry") for learner in ("LUI", "Wilson")
    }
    last = [row for row in rows if row["environment"] == "ferry" and row["trajectories"] == "50"]
    assert all(0 <= float(row["estimate"]) <= 1 for row in last)
    settings = json.loads((out / "ferry.json").read_text())
    assert settings["seed"] == 0
    assert set(settings["versions"]) == {"python", "umdp", "numpy", "scipy", "numba"}
    assert settings["experiment"]["seeds"] == 2
    drawn = (out / "figures" / "ferry-performance.svg").read_text()
    ElementTree.fromstring(drawn)
    assert "Wilson" in drawn
    assert "Ferry" in drawn
    for ending in ("pdf", "png"):
        assert (out / "figures" / f"ferry-performance.{ending}").stat().st_size > 5000
    page = (out / "report.html").read_text()
    assert "Wilson" in page
    assert "<h1>A ferry</h1>" in page
    assert "arxiv" not in page
    assert "aper" not in re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!#|data:|https://arxiv)', page)
    again = umdp("reproduce", OWN, "--trust", "--seeds", "2", "--trajectories", "50", "--jobs", "1", "--csv")
    assert "8 runs, 0 of them now" in again.out


@pytest.mark.slow
def test_an_environment_of_gymnasium_in_an_experiment(umdp, folder) -> None:
    pytest.importorskip("gymnasium")
    lake = """{ name = "lake", model = "gym:FrozenLake-v1", property = 'Pmax=? [ F "goal" ]', horizon = 100 }"""
    text = 'title = "Ice"\ntrajectories = 300\nseeds = 2\nenvironments = [ENV]\n[[learners]]\nlabel = "LUI"\nlearner = "lui"\n'
    (folder / "ice.toml").write_text(text.replace("ENV", lake))
    result = umdp("reproduce", "ice.toml", "--jobs", "1", "--csv", "--quiet")
    assert result.code == 0, result.err
    assert "0.8235" in result.out  # the optimum: 14/17
    with (folder / "reproduction" / "ice.csv").open() as file:
        last = [row for row in csv.DictReader(file) if row["trajectories"] == "300"]
    assert all(0.5 < float(row["performance"]) <= 14 / 17 + 1e-6 for row in last)
    (folder / "ice.toml").write_text(text.replace("ENV", lake.replace("FrozenLake-v1", "Blackjack-v1")))
    result = umdp("reproduce", "ice.toml", "--jobs", "1", "--csv", "--quiet", "--out", "cards")
    assert result.code == 2
    assert "an experiment needs the true ones to measure by" in result.err


@pytest.mark.slow
def test_a_paper_experiment_in_both_modes_and_in_one(umdp, folder) -> None:
    given = ("reproduce", "strength", "--seeds", "2", "--trajectories", "12", "--jobs", "1", "--quiet")
    both = umdp(*given, "--out", "both")
    assert both.code == 0, both.err
    assert both.err == ""
    assert {path.name for path in (folder / "both").iterdir()} == {
        "strength.parquet", "strength.json", "strength-as-published.parquet", "strength-as-published.json", "claims.json",
        "summary.md", "report.html", "figures", "runs.db",
    }  # fmt: skip
    one = umdp(*given, "--out", "one", "--as-published")
    assert one.code == 0, one.err
    assert not (folder / "one" / "strength.parquet").exists()
    name = "strength-as-published.parquet"
    assert (folder / "one" / name).read_bytes() == (folder / "both" / name).read_bytes()
    assert "24 runs" in both.out
    assert "12 runs" in one.out


@pytest.mark.slow
def test_a_table_tells_its_settings(umdp, folder) -> None:
    polars = pytest.importorskip("polars")
    umdp("reproduce", "change", "--by-definition", "--seeds", "1", "--trajectories", "101", "--jobs", "1", "-q")
    path = folder / "reproduction" / "change.parquet"
    frame = polars.read_parquet(path)
    assert set(frame["panel"].unique()) == {"unbounded", "bound [200, 300]", "bound [20, 30]"}
    assert frame.filter(polars.col("trajectories") == 100).select(
        "environment", "learner", "panel", "xi"
    ).unique().height == 2 * 3 * (3 * 3 + 1)
    settings = json.loads(polars.read_parquet_metadata(path)["umdp"])
    assert settings["experiment"]["trajectories"] == 101
    assert settings == json.loads(path.with_suffix(".json").read_text())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("reproduce", "basik"), "there is no experiment 'basik'; there are basic, strength, change, ties, or give"),
        (("reproduce", "none.toml"), "none.toml: this file cannot be read"),
        (("reproduce", "--seeds", "0"), "--seeds must be at least 1, not 0"),
        (("reproduce", "--jobs", "0"), "--jobs must be at least 1, not 0"),
        (("reproduce", "--seeds", "many"), '"many" is not a whole number'),
        (("reproduce", "--as-published", "--by-definition"), "give --as-published or --by-definition, or neither for both"),
        (("reproduce", "basic", "--out", "examples/rover.tra"), "this folder cannot be made"),
        (("reproduce", OWN, "--trust", "--as-published", "-q", "--jobs", "1"), "has no published variant"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line(umdp, arguments, said) -> None:
    result = umdp(*arguments)
    assert result.code == 2
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_help_names_the_experiments(umdp) -> None:
    assert re.search(r"basic,\s+strength,\s+change\s+or\s+ties", umdp("reproduce", "--help").out)


LEARNER = '[[learners]]\nlabel = "mine"\nlearner = "lui"\n'


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('environments = ["grid", "chian"]\n' + LEARNER, 'environments, "chian": there is no benchmark'),
        ('environments = ["grid"]\n' + LEARNER.replace("lui", "luy"), 'learners, "mine": there is no learner'),
        ('environments = ["grid"]\n' + LEARNER + "settings = {strenth = 1}\n", 'learners, "mine": the learner lui'),
        ('xi = 2.0\nenvironments = ["grid"]\n' + LEARNER, "xi: xi is the weight"),
        ('environments = [{name = "grid", xi = 3.0}]\n' + LEARNER, 'environments, "grid": xi is the weight'),
        (
            """environments = ["chain", {name = "grid", property = 'Pmax=? [ F "gaol" ]'}]\n""" + LEARNER,
            'environments, "grid": unknown label "gaol"',
        ),
        ('environments = [{name = "grid", horizon = -1}]\n' + LEARNER, 'environments, "grid": horizon must be'),
        ('environments = ["grid"]\n[[learners]]\nlearner = "lui"\n', 'learners, number 1: the key "label" is missing'),
    ],
)
def test_what_is_wrong_with_a_file_is_said_before_the_first_run(umdp, folder, text, place) -> None:
    (folder / "mine.toml").write_text("trajectories = 1000\n" + text)
    done = umdp("reproduce", "mine.toml", "--jobs", "1")
    assert done.code == 2
    assert f"error: mine.toml: {place}" in done.err
    assert "runs" not in done.err
    assert not (folder / "reproduction").exists()


def test_an_environment_without_a_table_is_refused_before_the_first_run(umdp, folder) -> None:
    pytest.importorskip("gymnasium")
    cards = """{name = "cards", model = "gym:Blackjack-v1", property = 'Pmax=? [ F "goal" ]'}"""
    (folder / "mine.toml").write_text(f'environments = ["grid", {cards}]\n{LEARNER}')
    done = umdp("reproduce", "mine.toml", "--jobs", "1")
    assert done.code == 2
    assert 'mine.toml: environments, "cards": gym:Blackjack-v1 has no table of probabilities' in done.err
    assert "runs" not in done.err
