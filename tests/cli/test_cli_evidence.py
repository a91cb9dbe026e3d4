"""`umdp learn --evidence`: what is shown, kept, exported, played and drawn is the promise and its policy."""

from __future__ import annotations

import csv
import json

import pytest

import umdp
from umdp.cli import run as main


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("evidence") / "a.run"
    given = ["--learner", "lui", "--evidence", "0.5", "--confidence", "0.95", "--trajectories", "1500", "-q"]
    model = ["learn", "aircraft", *given]
    assert main([*model, "--out", str(path), "--certificate", str(path.with_suffix(".json"))]) == 0
    return path


def test_the_promise_is_shown_beside_what_the_model_says(run, capsys):
    assert main(["show", str(run)]) == 0
    said = capsys.readouterr().out
    assert "by playing this policy" in said
    assert "with probability 95 %, whenever you stop" in said
    assert "no guarantee: the intervals of LUI" in said
    assert main(["show", str(run), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["last"]
    assert shown["promise"]["by"] == "evidence"
    assert shown["promised"] == shown["promise"]["bound"] <= shown["performance"]
    assert shown["guarantee"]["kind"] == "none"


def test_the_policy_that_is_exported_is_the_one_that_was_played(run, tmp_path, capsys):
    opened = umdp.open(run)
    bench = umdp.benchmark.BENCHMARKS["aircraft"]
    mdp = bench.build()
    worth = umdp.evaluate(mdp, bench.spec, opened.policy).value
    assert worth == pytest.approx(opened.performance)
    assert opened.promise["bound"] <= worth
    assert main(["export", str(run), str(tmp_path / "p.json")]) == 0
    assert "the policy is worth at least" in capsys.readouterr().out
    found = json.loads((tmp_path / "p.json").read_text())
    own = (opened.policy.choice - opened.graph.state_ptr[:-1]).tolist()
    assert [each["choice"] for each in found["decisions"]] == own
    assert main(["simulate", str(tmp_path / "p.json"), "aircraft", "--episodes", "200", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["promised"] == opened.promise["bound"]
    assert main(["export", str(run), str(tmp_path / "rows.csv")]) == 0
    rows = list(csv.DictReader((tmp_path / "rows.csv").open()))
    assert rows[-1]["promised_by"] == "evidence"
    assert float(rows[-1]["promised"]) == opened.promise["bound"]


def test_the_certificate_is_about_that_policy(run, capsys):
    assert main(["verify", str(run.with_suffix(".json"))]) == 0
    assert "taken on trust" in capsys.readouterr().out
    content = json.loads(run.with_suffix(".json").read_text())
    assert content["policy"] == umdp.open(run).policy.choice.tolist()


def test_runs_are_compared_by_what_is_promised(run, capsys):
    assert main(["compare", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["promise"]["by"] == "evidence"
    assert main(["compare", str(run)]) == 0
    assert "by playing" in capsys.readouterr().out


def test_a_resumed_run_is_the_one_that_went_on(tmp_path):
    base = ["learn", "aircraft", "--evidence", "0.5", "-q"]
    assert main([*base, "--out", str(tmp_path / "a.run"), "--trajectories", "900"]) == 0
    assert main([*base, "--out", str(tmp_path / "b.run"), "--trajectories", "333"]) == 0
    assert main(["resume", str(tmp_path / "b.run"), "--trajectories", "900", "-q"]) == 0
    a, b = (umdp.open(tmp_path / name) for name in ("a.run", "b.run"))
    assert a.last == b.last
    assert (a.policy.choice == b.policy.choice).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--evidence", "2"], "between 0 and 1"),
        (["--most", "3"], "--most is what a trajectory is worth"),
        (["--evidence", "0.5", "--switch", "aircraft", "--after", "9"], "stays as it is"),
        (["--evidence", "0.5", "--most", "3"], "at most 1 anyway"),
        (["--evidence", "0.5", "--log", "a.csv"], "evidence of nobody else"),
    ],
)
def test_what_does_not_fit_is_said(given, said, capsys):
    assert main(["learn", "aircraft", *given, "--trajectories", "5"]) == 2
    assert said in capsys.readouterr().err


def test_a_picture_has_a_line_for_the_promise(run):
    pytest.importorskip("matplotlib")
    ax = umdp.plot.value(run)
    assert any("promised" in str(line.get_label()) for line in ax.get_lines())
