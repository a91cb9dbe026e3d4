"""`--json`: one object per property and line, with everything the contract names."""

from __future__ import annotations

import json

import pytest

from umdp import solve
from umdp.io import read

KEYS = ("property", "value", "lower", "upper", "satisfied", "status", "states", "choices", "transitions", "seconds")


def answers(outcome):
    return [json.loads(line) for line in outcome.out.splitlines()]


@pytest.fixture
def doomed(folder):
    """A model that may never reach its goal, and whose goal is very unlikely or very expensive."""
    (folder / "doomed.tra").write_text("3 3 4\n0 0 1 1e-200 go\n0 0 2 1 go\n1 0 1 1\n2 0 2 1\n")
    (folder / "doomed.lab").write_text('0="init" 1="goal"\n0: 0\n1: 1\n')
    (folder / "doomed.srew").write_text('# Reward structure "cost"\n3 1\n0 1e120\n')
    return "doomed.tra"


def test_the_contract(umdp):
    text = 'Pmaxmin=? [ !"crater" U "base" ]'
    code, out, _ = umdp("check", "examples/rover.tra", text, "--json")
    assert code == 0
    assert out.count("\n") == 1
    answer = json.loads(out)
    assert set(KEYS) <= set(answer)
    assert answer["property"] == text
    assert answer["lower"] <= answer["value"] <= answer["upper"]
    assert answer["upper"] - answer["lower"] <= 1e-6 * answer["upper"]
    assert answer["satisfied"] is None
    assert answer["status"] == "certified"
    assert (answer["states"], answer["choices"], answer["transitions"]) == (20, 52, 150)
    assert answer["seconds"] >= 0
    assert answer["policy_lower"] <= answer["policy_upper"]
    assert answer["value"] == pytest.approx(0.7766836512, rel=1e-8)


def test_floats_keep_every_digit(umdp):
    text = 'R{"energy"}minmax=? [ F "base" ]'
    answer = answers(umdp("check", "examples/rover.tra", text, "--json"))[0]
    bracket = solve(read("examples/rover.tra"), text).bracket
    assert (answer["lower"], answer["upper"]) == (bracket.lower, bracket.upper)


def test_extreme_values(umdp, doomed):
    outcome = umdp("check", doomed, 'Pmax=? [ F "goal" ]', 'Rmin=? [ F "goal" ]', 'R{"cost"}max=? [ C<=1 ]', "--json")
    small, infinite, large = answers(outcome)
    assert small["value"] == pytest.approx(1e-200)
    assert (infinite["value"], infinite["lower"], infinite["upper"]) == ("inf", "inf", "inf")
    assert large["value"] == pytest.approx(1e120)


@pytest.mark.parametrize(
    ("threshold", "satisfied", "code"),
    [(">=0.5", True, 0), (">=0.9", False, 1), ("<0.9", True, 0), (">=0.77668365120", None, 0)],
)
def test_thresholds(umdp, threshold, satisfied, code):
    outcome = umdp("check", "examples/rover.tra", f'Pmaxmin{threshold} [ !"crater" U "base" ]', "--json")
    answer = answers(outcome)[0]
    assert outcome.code == code
    assert answer["satisfied"] is satisfied
    assert answer["lower"] <= 0.7766836513
    assert answer["upper"] >= 0.7766836511


def test_a_bare_threshold_speaks_of_everyone(umdp):
    outcome = umdp("check", "examples/rover.tra", 'P<=0.5 [ F<=6 "base" ]', 'P>=0.1 [ F<=12 "base" ]', "--json")
    assert [answer["satisfied"] for answer in answers(outcome)] == [True, False]
    assert outcome.code == 1


def test_an_evaluated_policy(umdp):
    text = 'R{"energy"}minmax=? [ F "base" ]'
    best = answers(umdp("check", "examples/rover.tra", text, "--json", "--policy", "best.csv"))[0]
    again = answers(umdp("check", "examples/rover.tra", text, "--json", "--evaluate", "best.csv"))[0]
    assert again["value"] == pytest.approx(best["value"], rel=1e-6)
    lucky = answers(
        umdp("check", "examples/rover.tra", text.replace("minmax", "minmin"), "--json", "--evaluate", "best.csv")
    )[0]
    assert lucky["upper"] < best["lower"]
