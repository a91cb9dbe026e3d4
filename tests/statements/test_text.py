"""Numbers and what stands behind them: one state was, two states were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import umdp
from umdp.cli import run
from umdp.learn import LEARNERS
from umdp.source import Provenance
from umdp.source.logs.rejected import RejectedRows
from umdp.statements.guarantee import guarantee_of
from umdp.statements.text import nouns, were


def test_nouns_and_verbs() -> None:
    assert [nouns(count, "state") for count in (0, 1, 2)] == ["states", "state", "states"]
    assert [nouns(count, "trajectory") for count in (0, 1, 2)] == ["trajectories", "trajectory", "trajectories"]
    assert [were(count) for count in (0, 1, 2)] == ["were", "was", "were"]


def test_one_row_was_rejected() -> None:
    claim = LEARNERS["confidence-sequence"]().claim
    one = guarantee_of(claim, Provenance(rows=3000, rejected=1))
    assert "1 of 3,000 rows was rejected: nobody knows what it would have said" in one.reasons
    two = guarantee_of(claim, Provenance(rows=3000, rejected=2))
    assert "2 of 3,000 rows were rejected: nobody knows what they would have said" in two.reasons
    rejected = RejectedRows("log.csv", "skip")
    rejected.take(("line 7", 7), "why", [])
    assert rejected.report(1)[0] == "1 of 1 row was rejected and not counted"


def test_one_of_each_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("trajectory,state,action,next,end\n1,a,go,b,1\n1,x\n")
    asked = [
        "learn",
        "one.csv",
        'Pmax=? [ F "end" ]',
        "--confidence",
        "0.9",
        "--on-error",
        "chance",
        "--out",
        "one.run",
        "-q",
    ]
    assert run(asked) == 0
    shown = capsys.readouterr().out
    assert "1 trajectory, 1 step" in shown
    assert "the 1 of 2 rows that was rejected was spoilt by chance, whatever it would have said" in shown
    assert run(["show", "one.run"]) == 0
    assert "1 trajectory, 1 step, " in capsys.readouterr().out
    assert run(["check", "one.run", 'Pmaxmin=? [ F "end" ]']) == 0
    assert "learned from 1 trajectory" in capsys.readouterr().out
    assert run(["export", "one.run", "policy.json"]) == 0
    assert "after 1 trajectory;" in capsys.readouterr().out
    assert "1 trajectory, 1 step" in umdp.open("one.run")._repr_html_()
    assert run(["learn", "grid", "--trajectories", "1", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["reason"] == "1 trajectory has been seen"


def test_a_model_of_one_state() -> None:
    mdp = umdp.MDP([0, 1], [0, 1], [0], [1.0], labels={"here": [0]})
    assert repr(mdp).startswith("MDP with 1 state, 1 choice, 1 transition;")
    assert ">1 state<" in mdp._repr_html_()
    assert repr(umdp.Policy(mdp, [0])) == "Deterministic policy for 1 state"
