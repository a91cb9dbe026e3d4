"""Alarms on the command line: in lines, in JSON, in run files, and in what a run that goes on says."""

from __future__ import annotations

import json

import pytest

import umdp.io as files
from umdp import MDP


@pytest.fixture
def change(folder) -> list[str]:
    """Return how to learn a coin that is another one after 200 tosses."""
    fair = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.8, 0.2, 1, 1], labels={"heads": [1]})
    files.write(fair, folder / "fair.drn")
    files.write(fair.graph.with_probability([0.2, 0.8, 1, 1]), folder / "loaded.drn")
    learn = ["learn", "fair.drn", 'Pmax=? [ F "heads" ]', "--switch", "loaded.drn", "--after", "200"]
    return [*learn, "--learner", "restarting-sequence", "--set", "false_alarms=0.05", "--trajectories"]


def test_alarms_are_told_as_they_come_and_in_the_end(umdp, change) -> None:
    told = umdp(*change, "800")
    assert told.code == 0
    first = next(line for line in told.out.splitlines() if "alarm: " in line)
    assert 200 < int(first.split(" trajectories")[0]) <= 512
    assert "\n  alarm: state " in told.out
    assert "provided that no choice has changed since its last alarm" in told.out


def test_json_has_alarms_where_they_were_raised_and_all_of_them_in_the_end(umdp, change) -> None:
    rows = [json.loads(line) for line in umdp(*change, "800", "--json").out.splitlines()]
    (raised,) = [row for row in rows if "alarms" in row]
    assert 200 < raised["trajectories"] <= 512
    (alarm,) = raised["alarms"]
    assert alarm["fresh"]
    last = json.loads(umdp(*change, "800", "--json", "--quiet").out)
    assert last["alarms"] == [{**alarm, "fresh": False}]
    assert last["notes"][0] == alarm["text"]
    assert last["guarantee"]["kind"] == "any-time"


def test_a_run_that_goes_on_remembers_its_alarms(umdp, change) -> None:
    assert umdp(*change, "800", "--out", "whole.run", "--quiet").code == 0
    assert umdp(*change, "600", "--out", "parts.run", "--quiet").code == 0
    assert umdp("resume", "parts.run", "--trajectories", "800", "--quiet").code == 0
    shown = [json.loads(umdp("show", each, "--json").out) for each in ("whole.run", "parts.run")]
    assert shown[0]["last"]["lower"] == shown[1]["last"]["lower"]
    assert shown[0]["notes"] == shown[1]["notes"]
    assert shown[0]["notes"][0].startswith("alarm: state ")
