"""`umdp plot` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from umdp.benchmark import chain
from umdp.run import Store

pytest.importorskip("matplotlib")
GOAL = 'Pmax=? [ F "goal" ]'
START = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.fixture
def runs(umdp):
    umdp("learn", "aircraft", "--trajectories", "60", "--out", "one.run", "-q")
    umdp("learn", "aircraft", "--trajectories", "60", "--learner", "pac", "--out", "two.run", "-q")
    return umdp


@pytest.mark.parametrize("what", ["value", "error", "model", "intervals"])
def test_several_runs_in_one_picture(runs, what):
    code, out, err = runs("plot", "one.run", "two.run", "--what", what)
    assert (code, err) == (0, "")
    assert out.endswith(f"of 2 runs drawn in one-two-{what}.png\n")
    assert Path(f"one-two-{what}.png").read_bytes().startswith(START[".png"])


@pytest.mark.parametrize("ending", START)
def test_the_name_says_what_is_written(runs, ending):
    assert runs("plot", "one.run", "--out", f"picture{ending}").code == 0
    assert Path(f"picture{ending}").read_bytes().startswith(START[ending])


def test_a_file_is_overwritten_only_when_told(runs):
    Path("one-value.png").write_text("mine")
    code, out, err = runs("plot", "one.run")
    assert (code, out) == (2, "")
    assert err == "error: one-value.png: this file is there already; choose another name, or say --force\n"
    assert Path("one-value.png").read_text() == "mine"
    assert runs("plot", "one.run", "--force").code == 0
    assert Path("one-value.png").read_bytes().startswith(START[".png"])


def test_the_picture_lies_beside_the_run(runs):
    Path("sub").mkdir()
    Path("one.run").rename("sub/one.run")
    assert runs("plot", "sub/one.run").out == "the value drawn in sub/one-value.png\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.run",), "none.run: there is no such run"),
        (("one.run", "--out", "x.gif"), "x.gif: a picture is written as one of .pdf, .svg, .png"),
        (("one.run", "--out", "a/b.png"), "a/b.png: the folder a does not exist"),
        (("one.run", "--out", "."), "a picture is written as one of"),
        (("one.run", "--what", "taste"), "'taste' is not one of"),
        (("one.run", "two.run", "--what", "policy"), "--what policy draws one run at a time, and 2 were given"),
        (("new.run",), "has no snapshot yet"),
        (("new.run", "--what", "error"), "has no snapshot yet"),
        ((), "missing argument"),
    ],
)
def test_bad_input_is_one_message(runs, arguments, said):
    Store.create("new.run", {"model": "chain"}, chain().graph, property='Rmin=? [ F "goal" ]').close()
    code, out, err = runs("plot", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not list(Path().glob("*.png"))


@pytest.mark.parametrize("what", ["value", "error", "model", "intervals", "policy", "visits"])
def test_everything_can_be_drawn(runs, what):
    code, _, err = runs("plot", "one.run", "--what", what, "--out", "x.svg")
    assert (code, err) == (0, "")
    assert Path("x.svg").read_bytes().startswith(START[".svg"])


def test_a_run_with_a_plugin_is_drawn_without_it(runs):
    Path("mine.py").write_text("import umdp\ndef make():\n    return umdp.benchmark.grid(3, 3, traps=[])\n")
    runs("learn", "mine.py:make", GOAL, "--trajectories", "20", "--out", "mine.run", "-q")
    Path("mine.py").write_text("raise SystemExit('executed')")
    for what in ("value", "policy", "visits", "intervals"):
        assert runs("plot", "mine.run", "--what", what).code == 0
