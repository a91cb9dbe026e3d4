"""Environments as people have them, on the command line: arguments, modules in this folder, wrappers in a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

gymnasium = pytest.importorskip("gymnasium")

GOAL = 'Pmax=? [ F<=20 "goal" ]'

MODULE = '''
import gymnasium

class Coin(gymnasium.Env):
    """Throw until heads; each throw costs 1, heads pay 5."""
    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(1)

    def __init__(self, heads=0.5, render_mode=None):
        self.heads, self.render_mode = heads, render_mode

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        won = bool(self.np_random.random() < self.heads)
        return int(won), 5.0 if won else -1.0, won, False, {}

gymnasium.register("Coin-v0", entry_point=Coin)
'''

FILE = '''
import gymnasium
import umdp
from umdp.source import Gymnasium

def lake(size="4x4"):
    return gymnasium.make("FrozenLake-v1", map_name=size, is_slippery=False)

class Dear(gymnasium.RewardWrapper):
    def __init__(self, price=2.0):
        super().__init__(gymnasium.make("FrozenLake-v1", is_slippery=False))
        self.price = price
    def reward(self, reward):
        return reward * 10 - self.price

def sums():
    """Blackjack by one's own sum only: the dealer's card and the ace are not told."""
    return Gymnasium(gymnasium.make("Blackjack-v1"), state_of=lambda o: o[0], episodes=2000)

def number():
    return 7
'''


@pytest.fixture
def own(folder: Path) -> Iterator[Path]:
    """The folder, with an environment of one's own in it."""
    (folder / "coins.py").write_text(MODULE)
    (folder / "mine.py").write_text(FILE)
    before = list(sys.path)
    yield folder
    sys.path[:] = before
    sys.modules.pop("coins", None)
    gymnasium.registry.pop("Coin-v0", None)


def last(out: str) -> dict[str, object]:
    row: dict[str, object] = json.loads(out.splitlines()[-1])
    return row


def test_arguments_reach_the_environment_and_the_run_keeps_them(umdp, folder) -> None:
    dry = umdp(
        "learn", "gym:FrozenLake-v1,is_slippery=false", GOAL, "--trajectories", "200", "--json", "--out", "a.run"
    )
    assert dry.code == 0
    assert last(dry.out)["performance"] == pytest.approx(1.0)
    same = umdp("learn", "gym:FrozenLake-v1", GOAL, "--env-arg", "is_slippery=false", "--trajectories", "200", "--json")
    assert last(same.out)["performance"] == pytest.approx(1.0)
    shown = json.loads(umdp("show", "a.run", "--json").out)
    assert shown["config"]["model"] == "gym:FrozenLake-v1,is_slippery=false"
    assert (
        umdp("resume", "a.run", "--trajectories", "210", "-q").code == 0
    )  # no code of anybody's own: nothing to trust
    large = umdp("check-env", "gym:FrozenLake-v1,map_name=8x8,is_slippery=false", "--steps", "3000")
    assert large.code == 0
    drawn = umdp(
        "learn", 'gym:FrozenLake-v1,desc=["SF","HG"],is_slippery=false', GOAL, "--trajectories", "50", "--json"
    )
    assert last(drawn.out)["performance"] == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["gym:coins:Coin-v0", "coins:Coin-v0"])
def test_a_module_in_this_folder(umdp, own, name) -> None:
    ask = 'R{"cost"}min=? [ F "terminated" ]'
    found = umdp("learn", f"{name},heads=0.25", ask, "--trajectories", "4000", "--json", "--out", "coin.run")
    assert found.code == 0, found.err
    row = last(found.out)
    # Three throws before heads in the mean: 5 - 3.
    assert isinstance(row["return_lower"], float)
    assert row["return_lower"] == pytest.approx(2.0, abs=0.4)
    refused = umdp("resume", "coin.run", "--trajectories", "4100")
    assert refused.code == 2
    assert "the module coins is imported, for the environment Coin-v0" in refused.err
    assert umdp("resume", "coin.run", "--trajectories", "4100", "--trust", "-q").code == 0
    assert umdp("check-env", f"{name},heads=0.25", "--steps", "2000").code == 0


def test_a_function_or_a_class_of_ones_own(umdp, own) -> None:
    lake = umdp("learn", "mine.py:lake", GOAL, "--trajectories", "100", "--json", "--out", "lake.run")
    assert last(lake.out)["performance"] == pytest.approx(1.0)
    assert umdp("resume", "lake.run", "--trajectories", "110").code == 2
    assert umdp("resume", "lake.run", "--trajectories", "110", "--trust", "-q").code == 0
    assert umdp("learn", "mine.py:lake", GOAL, "--env-arg", "size=8x8", "--trajectories", "5", "-q").code == 0
    # A wrapper changes the rewards, so that the table inside must not be believed.
    ask = 'R{"cost"}min=? [ F "terminated" ]'
    asked = ("learn", "mine.py:Dear", ask, "--env-arg", "price=3", "--trajectories", "300")
    dear = umdp(*asked, "-q")
    assert "Dear may change what happens, so the table of the environment is not relied on" in dear.out
    # Two steps of -3 into the nearest hole are better than six on the way to 10.
    assert last(umdp(*asked, "--json").out)["return_lower"] == pytest.approx(-6.0, abs=1e-3)
    assert umdp("learn", "mine.py:sums", 'Pmax=? [ F "goal" ]', "--trajectories", "20", "-q").code == 0
    assert umdp("check-env", "mine.py:lake", "--steps", "500").code == 0
    sums = umdp("check-env", "mine.py:sums")
    assert sums.code == 1
    assert "depend on the state before" in sums.out
    assert "(termination)" not in sums.out  # what is observed tells ends apart


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gym:FrozenLake-v1,map_name=9x9", "cannot be made with map_name=9x9 (KeyError: '9x9')"),
        ("gym:FrozenLake-v1,colour=3", "does not take these options"),
        ("gym:FrozenLake-v1,is_slippery", "'is_slippery' is no argument; write NAME=VALUE"),
        ("gym:FrozenLake-v1,a=1,a=2", "a is given twice"),
        ('gym:FrozenLake-v1,desc=["SF"', "is not complete; lists are written like"),
        ("gym:", "write the id of an environment behind gym:"),
        ("nowhere:Maze-v0", "No module named 'nowhere'"),
        ("gym:coins:Penny-v0", "Penny"),
        ("mine.py:number", "returned int; it must return an umdp.MDP, an environment with reset and step"),
        ("mine.py:nothing", "there is no 'nothing' in this file"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(umdp, own, model, said) -> None:
    for command in (("learn", model, GOAL), ("check-env", model)):
        found = umdp(*command)
        assert found.code == 2, command
        assert said in found.err
        assert found.err.startswith("error: ")
        assert "Traceback" not in found.err


def test_an_argument_of_an_environment_is_given_once(umdp) -> None:
    found = umdp("learn", "gym:FrozenLake-v1,map_name=4x4", GOAL, "--env-arg", "map_name=8x8")
    assert (found.code, "map_name is given twice" in found.err) == (2, True)
    assert umdp("learn", "gym:FrozenLake-v1", GOAL, "--env-arg", "x=1", "--env-arg", "x=2").code == 2
    assert "takes no parameters" in umdp("learn", "examples/rover.tra", GOAL, "--env-arg", "x=1").err


@pytest.mark.parametrize(("size", "limit"), [("", 100), ("8x8", 200)])
def test_an_episode_that_is_cut_is_not_what_the_property_asks_for(umdp, size, limit):
    name, question = f"gym:FrozenLake{size}-v1", 'Pmax=? [ F "goal" ]'
    cut = f"cuts its episodes after {limit} steps, and the property does not: for what can be played"
    note = f'{cut}, ask for Pmax=? [ F<={limit} "goal" ]'
    asked = ("--trajectories", "5", "--quiet")
    assert note in umdp("learn", name, question, *asked, "--out", "a.run").out
    assert note in umdp("simulate", "a.run", "--episodes", "3").out
    bounded = umdp("learn", name, f'Pmax=? [ F<={limit} "goal" ]', *asked, "--out", "b.run").out
    assert "cuts its episodes" not in bounded
    assert "cuts its episodes" not in umdp("simulate", "b.run", "--episodes", "3").out
