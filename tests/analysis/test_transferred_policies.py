"""Policies that are played or evaluated elsewhere than where they were found: matched by names, measured by what is there."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import umdp
from umdp import MDP, Graph, ModelError, Policy, simulate, solve
from umdp.cli import run
from umdp.io.decisions import fit_policy
from umdp.run import Store

CORRIDOR = """
import random


class Corridor:
    metadata = {"render_modes": []}

    def __init__(self, size=7):
        self.size = size

    @property
    def action_space(self):
        return type("Discrete", (), {"n": 2})()

    def reset(self, seed=None, options=None):
        self.random = random.Random(seed)
        self.at = 0
        return 0, {}

    def step(self, action):
        if self.random.random() < 0.8:
            self.at = max(0, self.at + (1 if action == 1 else -1))
        over = self.at == self.size - 1
        return self.at, float(over), over, False, {}
"""
ENDS = 'Pmax=? [ F "terminated" ]'
FAILS = 'Pmin=? [ F<=8 "failed" ]'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cor.py").write_text(CORRIDOR)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


@pytest.fixture
def corridor(here: Path) -> Path:
    assert (
        run(["learn", "cor.py:Corridor", ENDS, "--trajectories", "50", "-q", "--out", "c.run", "--policy", "c.json"])
        == 0
    )
    return here


# -- environments --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["c.run", "c.json"])
def test_the_environment_that_is_played_says_where_it_ends(corridor, capsys, policy) -> None:
    """State 6 ends the corridor of seven cells, and not that of ten: there the policy has nothing to say of it."""
    longer = ("simulate", policy, "cor.py:Corridor", "--env-arg", "size=10", "--episodes", "40")
    row = json.loads(said(capsys, *longer, "--property", ENDS, "--json"))
    assert (row["mean"], row["unseen"], row["promised"]) == (0.0, 40, None)
    assert row["steps"] >= 40 * 6
    shown = said(capsys, *longer)
    assert "40 met a state the policy knows nothing of, which counts as the worst" in shown
    assert f"what {policy} promises is about cor.py:Corridor, and says nothing of cor.py:Corridor,size=10" in shown
    assert "at least" not in shown
    shorter = ("simulate", policy, "cor.py:Corridor", "--env-arg", "size=5", "--episodes", "40", "--json")
    row = json.loads(said(capsys, *shorter))
    assert (row["mean"], row["unseen"], row["promised"], row["guarantee"]) == (1.0, 0, None, None)


@pytest.mark.parametrize("policy", ["c.run", "c.json"])
def test_where_it_was_learned_the_promise_is_shown(corridor, capsys, policy) -> None:
    shown = said(capsys, "simulate", policy, "cor.py:Corridor", "--episodes", "40")
    with Store.open("c.run") as store:
        lower = store.last()["lower"]
    assert f"promised     at least {str(lower)[:6]}, with probability 95 %" in shown  # rounded down
    assert "says nothing of" not in shown
    assert "probability  1.0000" in shown


@pytest.mark.parametrize("policy", ["c.run", "c.json"])
def test_an_environment_of_which_it_knows_little_is_refused(corridor, capsys, policy) -> None:
    err = refused(capsys, "simulate", policy, "cor.py:Corridor", "--env-arg", "size=30")
    assert (
        "the policy is for another environment: it knows 6 of the 29 states of this one in which there is a choice"
        in err
    )


def test_arguments_may_be_typed_in_two_ways(here, capsys) -> None:
    pytest.importorskip("gymnasium")
    lake = 'Pmax=? [ F "goal" ]'
    assert (
        run(["learn", "gym:FrozenLake-v1,is_slippery=false", lake, "-q", "--trajectories", "20", "--out", "l.run"]) == 0
    )
    home = ("simulate", "l.run", "gym:FrozenLake-v1", "--episodes", "5")
    assert "at least" in said(capsys, *home, "--env-arg", "is_slippery=false")
    assert "what l.run promises is about gym:FrozenLake-v1,is_slippery=false" in said(capsys, *home)
    assert "it knows 16 of the 64 states" in refused(capsys, *home, "--env-arg", "map_name=8x8")


def test_an_environment_that_shows_nothing_known_is_refused_in_python(here) -> None:
    class Elsewhere:
        def reset(self, seed=None):
            return "nowhere", {}

        def step(self, action):
            return "nowhere", 0.0, True, False, {}

    graph = Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], state_names=["a", "b"], labels={"goal": [1]})
    with pytest.raises(ModelError, match="the policy is for another environment: it knows nothing of any state"):
        simulate(Policy(graph, [1, 2]), Elsewhere(), 'Pmax=? [ F "goal" ]', episodes=3)


# -- from a log to a model -----------------------------------------------------------------------------------


def machine() -> MDP:
    """A machine that wears out; what the log calls its states and actions, this does, too."""
    after = {"new": "worn", "worn": "bad", "bad": "failed"}
    return MDP.from_function(
        "new",
        lambda s: (
            {"stay": {s: 1}}
            if s == "failed"
            else {"run": {after[s]: 0.4, s: 0.6}, "mend": {"new": 0.5, s: 0.5}}
            if s != "new"
            else {"run": {"worn": 0.4, "new": 0.6}}
        ),
        labels={"failed": lambda s: s == "failed"},
    )


@pytest.fixture
def logged(here: Path) -> Path:
    mdp, rng = machine(), random.Random(1)
    umdp.io.write(mdp, here / "machine.umb")
    lines = ["trajectory,state,action,next"]
    for number in range(200):
        state = mdp.initial
        for _ in range(10):
            choice = rng.randrange(int(mdp.state_ptr[state]), int(mdp.state_ptr[state + 1]))
            first, last = int(mdp.choice_ptr[choice]), int(mdp.choice_ptr[choice + 1])
            taken = rng.choices(range(first, last), mdp.probability[first:last])[0]
            reached = int(mdp.successor[taken])
            lines.append(f"{number},{mdp.state_name(state)},{mdp.action_name(choice)},{mdp.state_name(reached)}")
            state = reached
            if mdp.state_name(state) == "failed":
                break
    (here / "machine.csv").write_text("\n".join(lines) + "\n")
    asked = ("machine.csv", FAILS, "--label", "failed=failed", "--terminal", "failed", "-q")
    assert run(["learn", *asked, "--out", "m.run", "--policy", "m.json"]) == 0
    assert run(["export", "m.run", "m.csv", "--what", "policy"]) == 0
    return here


@pytest.mark.parametrize("policy", ["m.run", "m.json"])
def test_the_policy_of_a_log_is_played_on_a_model(logged, capsys, policy) -> None:
    best = solve(machine(), FAILS).value
    row = json.loads(said(capsys, "simulate", policy, "machine.umb", "--episodes", "4000", "--json"))
    assert row["lower"] - 0.02 <= best <= row["upper"] + 0.02
    assert row["promised"] is None
    assert "promises is about machine.csv, and says nothing of machine.umb" in said(
        capsys, "simulate", policy, "machine.umb"
    )


@pytest.mark.parametrize("policy", ["m.json", "m.csv"])
def test_the_policy_of_a_log_is_evaluated_on_a_model(logged, capsys, policy) -> None:
    row = json.loads(said(capsys, "check", "machine.umb", FAILS, "--evaluate", policy, "--json"))
    assert row["value"] == pytest.approx(solve(machine(), FAILS).value)


def test_a_state_without_a_counterpart_is_named(logged, capsys) -> None:
    err = refused(capsys, "simulate", "m.run", "grid")
    assert 'the policy: there is no state "new"; one of the names is "(0,0)"' in err
    larger = MDP.from_function(
        "new", lambda s: {"run": {"odd": 1}, "mend": {"new": 1}}, labels={"failed": lambda s: s == "odd"}
    )
    umdp.io.write(larger, "odd.umb")
    assert 'there is no state "worn"' in refused(capsys, "check", "odd.umb", FAILS, "--evaluate", "m.json")


# -- matching ------------------------------------------------------------------------------------------------


def lines_up(names: str, actions: list[str] | None = None) -> Graph:
    count = len(names)
    return Graph(
        np.arange(0, 2 * count + 1, 2), np.arange(2 * count + 1), np.repeat(np.arange(count), 2), state_names=list(names),
        actions=(actions or ["left", "right"]) * count,
    )  # fmt: skip


def test_names_decide_in_whichever_order() -> None:
    policy = Policy.from_actions(lines_up("abc"), {"a": "right", "b": "left", "c": "right"})
    found = fit_policy(policy, lines_up("cab", ["right", "left"])).policy
    assert [found[name] for name in "abc"] == ["right", "left", "right"]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (lines_up("ab"), 'there is no state "c"'),
        (lines_up("abcd"), r"state d has no decision \(1 missing\)"),
        (lines_up("abc", ["up", "down"]), 'state a has no action "right"; it offers up, down'),
    ],
)
def test_what_does_not_match_is_an_error(graph, message) -> None:
    policy = Policy.from_actions(lines_up("abc"), {"a": "right", "b": "left", "c": "right"})
    with pytest.raises(ModelError, match=message):
        fit_policy(policy, graph)


def test_weights_are_carried() -> None:
    policy = Policy(lines_up("ab"), weight=[0.25, 0.75, 1, 0])
    assert fit_policy(policy, lines_up("ba")).policy["a"] == {"left": 0.25, "right": 0.75}


def test_the_reset_is_a_step_of_one_graph_and_not_of_the_other() -> None:
    """A policy for three steps of which the first is the reset is one for two steps where there is none, and back."""
    inner = Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], state_names=["a", "b"], actions=["wait", "go", "rest"])
    outer = Graph(
        [0, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 1, 0], initial=2, state_names=["a", "b", "start"],
        actions=["wait", "go", "rest", "reset"],
    )  # fmt: skip
    timed = Policy(outer, [[0, 2, 3], [0, 2, 3], [1, 2, 3]])
    found = fit_policy(timed, inner).policy
    assert (found.steps, found["a", 0], found["a", 1]) == (2, "wait", "go")
    back = fit_policy(found, outer).policy
    assert (back.steps, back["a", 1], back["a", 2]) == (3, "wait", "go")
