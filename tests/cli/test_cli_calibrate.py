"""`umdp calibrate` as a user meets it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

OWN = """
from umdp import LUI


class Bold(LUI):
    name = "bold"

    def update(self, counts):
        super().update(counts)
        if counts.any():
            middle = (self.lower + self.upper) / 2
            self.lower, self.upper = middle, middle.copy()
"""
SHORT = ("--seeds", "4", "--trajectories", "20", "-q")


def test_a_table_with_what_was_measured(umdp):
    code, out, err = umdp("calibrate", "confidence-sequence", "aircraft", "--confidence", "0.9", *SHORT)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("confidence-sequence (error_rate=0.1) on aircraft: Pmax=?")
    assert "4 runs of 20 trajectories; the learner claims 90 %, at all times" in lines[1]
    assert lines[4].split() == [
        "trajectories", *("interval", "model", "policy", "optimum") * 2, "bound", "worth"
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[5:8]] == ["1", "10", "20"]
    assert "the policy is worth the bound, at all times" in out


def test_json_and_picture(umdp):
    pytest.importorskip("matplotlib")
    code, out, _ = umdp("calibrate", "lui", "chain", "--plot", "c.png", "--json", *SHORT)
    found = json.loads(out)
    assert code == 0
    assert Path("c.png").stat().st_size > 1000
    assert (found["runs"], found["trajectories"], found["seed"], found["interrupted"]) == (4, 20, 0, False)
    assert (found["nominal"], found["guarantee"]["kind"], found["side"]) == (0.95, "none", "at most")
    last = found["rows"][-1]
    assert last["trajectories"] == 20
    assert 0 <= last["model"]["always"]["lower"] <= last["model"]["always"]["share"] <= 1
    code, _, err = umdp("calibrate", "lui", "chain", "--plot", "c.png", *SHORT)
    assert code == 2
    assert "there already" in err


@pytest.mark.slow
def test_a_learner_of_ones_own_in_two_processes(umdp):
    Path("mine.py").write_text(OWN, encoding="utf-8")
    code, out, _ = umdp("calibrate", "mine.py:Bold", "chain", "--jobs", "2", "--json", *SHORT)
    found = json.loads(out)
    assert code == 0
    assert found["learner"] == "mine.py:Bold"
    assert found["rows"][-1]["model"]["then"]["share"] == 0


@pytest.mark.slow
def test_as_published(umdp):
    code, out, _ = umdp("calibrate", "pac", "chain", "--as-published", "--seeds", "1", "--trajectories", "2", "-q")
    assert code == 0
    assert out.startswith("pac as published on chain")
    code, _, err = umdp("calibrate", "confidence-sequence", "chain", "--as-published", *SHORT)
    assert code == 2
    assert "--as-published is for lui, pac, map, ucrl2" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lui", "log.csv", 'Pmax=? [ F "b" ]'), "log.csv is a log: the true probabilities are not known"),
        (("lui", "grod"), "there is no benchmark 'grod'"),
        (("liu", "grid"), "there is no learner 'liu'"),
        (("lui", "grid", "--seeds", "0"), "--seeds must be at least 1"),
        (("lui", "grid", "--jobs", "0"), "--jobs must be at least 1"),
        (("lui", "grid", "--plot", "c.bmp"), "a picture is written as one of"),
        (("lui", "grid", "--trajectories", "0"), "--trajectories must be a whole number"),
        (("pac", "grid", "--confidence", "0.9", "--set", "error_rate=0.1"), "say the same thing"),
        (("lui", "examples/rover.tra", 'Pmax=? [ F "base" ]'), "this model has intervals"),
        (("lui", "hidden.py:hidden", 'Pmax=? [ F "goal" ]'), "the true probabilities are not known here"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(umdp, arguments, said):
    Path("log.csv").write_text("trajectory,state,action,next\n1,a,go,b\n", encoding="utf-8")
    Path("hidden.py").write_text(HIDDEN, encoding="utf-8")
    code, out, err = umdp("calibrate", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


HIDDEN = """
import random

from umdp.source import Gymnasium


class Hidden:
    def reset(self, seed=None):
        self.state = 0
        return 0, {}

    def step(self, action):
        self.state = random.randrange(2)
        return self.state, float(self.state), True, False, {}


def hidden():
    return Gymnasium(Hidden(), actions=["go"], episodes=3)
"""


@pytest.mark.skipif(importlib.util.find_spec("stormpy") is None, reason="needs Storm")
def test_a_program_with_unknown_constants(umdp):
    asked = ("examples/brp.prism", 'Pmax=? [ F "ok" ]', "--unknown", "p,q", "--const", "N=2,MAX=1,p=0.9,q=0.9")
    code, out, _ = umdp("calibrate", "confidence-sequence", *asked, "--json", "--seeds", "2", "--trajectories", "30")
    found = json.loads(out)
    assert code == 0
    assert found["unknown"] == "p,q"
    assert found["guarantee"]["kind"] == "any-time"
    assert found["rows"][-1]["bound"] > 0.3
