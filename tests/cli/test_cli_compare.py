"""`umdp compare` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import umdp as package
from umdp.benchmark import chain
from umdp.run import Store


@pytest.fixture
def runs(umdp):
    umdp("learn", "chain", "--trajectories", "40", "--out", "lui.run", "-q")
    umdp("learn", "chain", "--trajectories", "40", "--learner", "confidence-sequence", "--out", "sure.run", "-q")
    umdp("learn", "aircraft", "--trajectories", "20", "--set", "strength=20,30", "--out", "other.run", "-q")
    return umdp


def test_one_line_per_run(runs):
    code, out, err = runs("compare", "lui.run", "sure.run")
    head, first, second, asked = out.splitlines()
    assert (code, err) == (0, "")
    assert head.split()[:4] == ["run", "model", "learner", "trajectories"]
    assert first.startswith("lui.run")
    assert "no guarantee" in first
    assert "≤ " in first  # a cost: the bound is from above
    assert "73.18" in first
    assert "99 %, whenever you stop" in second
    assert "40 trajectories have been seen" in second
    assert asked == 'property: Rmin=? [ F "goal" ]'


def test_another_property_is_marked_not_refused(runs):
    code, out, _ = runs("compare", "lui.run", "other.run")
    assert code == 0
    lines = out.splitlines()
    assert "(1)" in lines[1]
    assert "(2)" in lines[2]
    assert "lui (strength=20,30)" in lines[2]
    assert "do not compare" in lines[3]
    assert '(2) Pmax=? [ !"collision" U "goal" ]' in lines[5]


def test_json(runs):
    code, out, _ = runs("compare", "lui.run", "sure.run", "other.run", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["run"] for row in rows] == ["lui.run", "sure.run", "other.run"]
    assert [row["same_property"] for row in rows] == [True, True, False]
    assert rows[0]["lower"] <= rows[0]["upper"]
    assert rows[1]["guarantee"]["level"] == 0.99
    assert rows[2]["settings"] == {"strength": [20, 30]}
    assert rows[0]["reason"] == "40 trajectories have been seen"


def test_a_run_that_has_not_begun(runs):
    graph = chain().graph
    Store.create("new.run", {"model": "chain"}, graph, property='Rmin=? [ F "goal" ]').close()
    code, out, _ = runs("compare", "lui.run", "new.run")
    assert code == 0
    assert "nothing learned yet" in out.splitlines()[2]
    assert json.loads(runs("compare", "new.run", "--json").out)["lower"] is None


@pytest.mark.parametrize("name", ["none.run", "text.run"])
def test_what_is_no_run_is_an_error(runs, name):
    Path("text.run").write_text("not a run")
    code, out, err = runs("compare", "lui.run", name)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {name}: ")
    assert err.count("\n") == 1


def test_the_return_is_shown_where_rewards_were_shifted(umdp):
    pytest.importorskip("gymnasium")
    asked = 'R{"cost"}min=? [ F "terminated" ]'
    umdp("learn", "gym:CliffWalking-v1", asked, "--trajectories", "20", "--out", "cliff.run", "-q")
    head, row, _ = umdp("compare", "cliff.run").out.splitlines()
    assert "return" in head.split()
    assert "  -13.001 .. -12.999  " in row
    found = json.loads(umdp("compare", "cliff.run", "--json").out)
    assert (found["return_lower"], found["return_upper"]) == pytest.approx((-13, -13), abs=1e-4)
    shown = json.loads(umdp("show", "cliff.run", "--json").out)["last"]
    assert {name: found[name] for name in shown} == shown  # all fields of a snapshot
    assert ">return</th>" in package.open("cliff.run")._repr_html_()
