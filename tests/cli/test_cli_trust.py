"""What a file names and nobody has typed is neither executed nor written, unless it is trusted."""

from __future__ import annotations

import sys

import pytest

CODE = """
from pathlib import Path
Path("executed").write_text("yes")
from umdp import LUI, Graph, MDP

def graph():
    return Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"b": [1]}, state_names="ab", actions=["go", "stay"])

def maze():
    return MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], labels={"b": [1]}, state_names="ab")

class Mine(LUI):
    name = "mine"
"""
LOG = "trajectory,state,action,next\n" + "".join(f"{i},a,go,{'ab'[i % 2]}\n" for i in range(20))
GOAL = 'Pmax=? [ F "b" ]'


@pytest.fixture
def data(folder):
    """A log, with code beside it that leaves a mark when it is executed."""
    (folder / "seen.csv").write_text(LOG)
    (folder / "mine.py").write_text(f"# {folder}: modules of the same text are executed once in a process\n{CODE}")
    return folder


def test_a_description_names_columns_and_asks_for_nothing(umdp, data):
    (data / "seen.toml").write_text(
        f"property = '{GOAL}'\ninitial = 'a'\n[labels]\nb = 'b'\n[columns]\nstate = 'state'\n"
    )
    assert umdp("learn", "seen.csv", "-q").code == 0


@pytest.mark.parametrize("way", ["beside", "named"])
@pytest.mark.parametrize(
    ("line", "said", "typed"),
    [
        ("graph = 'mine.py:graph'", "mine.py is executed (sha256", ("--graph", "mine.py:graph")),
        ("on-error = 'skip'\naside = 'aside.jsonl'", "aside.jsonl is written", ("--aside", "aside.jsonl")),
        (
            "on-error = 'skip'\naside = '/dev/shm/aside.jsonl'",
            "/dev/shm/aside.jsonl is written",
            ("--aside", "x.jsonl"),
        ),
        ("graph = '../other/list.csv'", "list.csv is read", ("--graph", "inside.csv")),
    ],
)
def test_a_description_that_names_more_asks_for_trust(umdp, data, way, line, said, typed):
    for file in (data.parent / "other" / "list.csv", data / "inside.csv"):
        file.parent.mkdir(exist_ok=True)
        file.write_text("state,action,next\na,go,a\na,go,b\nb,stay,b\n")
    name = "seen.toml" if way == "beside" else "other.toml"
    more = () if way == "beside" else ("--describe", name)
    (data / name).write_text(f"property = '{GOAL}'\n{line}\n[labels]\nb = 'b'\n")
    done = umdp("learn", "seen.csv", "-q", *more)
    assert done.code == 2
    assert said in done.err
    assert "--trust" in done.err
    assert "Traceback" not in done.err
    assert not (data / "executed").exists()
    assert not (data / "aside.jsonl").exists()
    shown = umdp("learn", "seen.csv", "-q", *more, *typed)
    assert shown.code == 0, shown.err


def test_a_description_that_is_trusted_is_done(umdp, data):
    (data / "seen.toml").write_text(f"property = '{GOAL}'\ngraph = 'mine.py:graph'\n")
    done = umdp("learn", "seen.csv", "-q", "--trust")
    assert done.code == 0, done.err
    assert (data / "executed").exists()


def test_a_run_that_writes_beside_itself_asks_for_trust(umdp, data):
    with (data / "seen.csv").open("a") as file:
        file.write("21,a\n")
    asked = ("learn", "seen.csv", GOAL, "--label", "b=b", "--aside", "aside.jsonl", "--out", "a.run", "-q")
    assert umdp(*asked).code == 0
    (data / "aside.jsonl").write_text("of somebody else")
    done = umdp("resume", "a.run", "-q")
    assert done.code == 2
    assert "aside.jsonl is written" in done.err
    assert "--trust" in done.err
    assert (data / "aside.jsonl").read_text() == "of somebody else"
    assert umdp("explain", "a.run").code == 0
    assert umdp("show", "a.run").code == 0
    assert (data / "aside.jsonl").read_text() == "of somebody else"


@pytest.mark.parametrize(
    "text",
    [
        'environments = [{ name = "x", model = "mine.py:maze", property = \'Pmax=? [ F "b" ]\' }]\n'
        '[[learners]]\nlabel = "LUI"\nlearner = "lui"\n',
        'environments = ["chain"]\n[[learners]]\nlabel = "Mine"\nlearner = "mine.py:Mine"\n',
        'environments = [{ name = "x", model = "gym:mine:Maze-v0", property = \'Pmax=? [ F "b" ]\' }]\n'
        '[[learners]]\nlabel = "LUI"\nlearner = "lui"\n',
        'environments = [{ name = "x", model = "chain", becomes = "mine.py:maze", after = 5 }]\n'
        '[[learners]]\nlabel = "LUI"\nlearner = "lui"\n',
    ],
    ids=["model", "learner", "module", "becomes"],
)
def test_an_experiment_that_names_code_asks_for_trust(umdp, data, text):
    (data / "own.toml").write_text("trajectories = 10\nseeds = 1\n" + text)
    done = umdp("reproduce", "own.toml", "--jobs", "1", "-q", "--out", "made")
    assert done.code == 2
    assert "mine" in done.err
    assert "add --trust" in done.err
    assert not (data / "executed").exists()
    assert not (data / "made").exists()


def test_an_experiment_that_is_trusted_is_run(umdp, data):
    (data / "own.toml").write_text(
        "trajectories = 10\nseeds = 1\n"
        'environments = [{ name = "x", model = "mine.py:maze", property = \'Pmax=? [ F "b" ]\' }]\n'
        '[[learners]]\nlabel = "LUI"\nlearner = "lui"\n'
    )
    done = umdp("reproduce", "own.toml", "--jobs", "1", "-q", "--out", "made", "--trust")
    assert done.code == 0, done.err
    assert (data / "executed").exists()


@pytest.mark.parametrize(
    "asked",
    [
        ("show", "a.run"),
        ("show", "a.run", "--json"),
        ("check", "a.run"),
        ("explain", "a.run"),
        ("compare", "a.run", "a.run"),
        ("export", "a.run", "policy.json"),
        ("resume", "a.run"),
        ("simulate", "a.run"),
        ("certify", "a.run"),
    ],
    ids=" ".join,
)
def test_no_command_executes_what_a_run_names(umdp, data, asked):
    made = ("learn", "mine.py:maze", GOAL, "--learner", "mine.py:Mine", "--trajectories", "20", "--out", "a.run", "-q")
    assert umdp(*made).code == 0
    (data / "executed").unlink()
    for name in [name for name in sys.modules if name.startswith("umdp_plugin_")]:
        del sys.modules[name]
    done = umdp(*asked)
    assert done.code in (0, 2), done.err
    assert not (data / "executed").exists()
