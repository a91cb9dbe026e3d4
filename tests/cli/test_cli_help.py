"""The help: it shows, and its examples run as they stand."""

from __future__ import annotations

import importlib.util
import shlex
from pathlib import Path

import pytest

from umdp import __version__, solve
from umdp.io import read

EXAMPLES = Path(__file__).parents[2] / "examples"
STORM = importlib.util.find_spec("stormpy") is not None


def test_version(umdp):
    assert umdp("--version") == (0, f"umdp {__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_the_commands(umdp, arguments):
    code, out, err = umdp(*arguments)
    assert code == 0
    assert err == ""
    assert "check" in out
    assert "Answer properties of a model" in out


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_every_example_in_the_help_runs(umdp, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    code, text, _ = umdp("check", "--help")
    assert code == 0
    examples = [line for line in text.splitlines() if line.startswith("umdp check ")]
    assert len(examples) >= 6
    assert max(map(len, examples)) <= 80
    for example in examples:
        if ".prism" in example and not STORM:
            continue
        code, out, _ = umdp(*shlex.split(example)[1:])
        assert code == 0, example
        assert out, example


def test_help_names_all_options(umdp, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = umdp("check", "--help").out
    for option in ("const", "precision", "policy", "evaluate", "json", "method", "threads", "time-limit"):
        assert f"--{option}" in text


@pytest.mark.skipif(not STORM, reason="needs stormpy")
@pytest.mark.parametrize("text", ['Pmaxmin=? [ !"crater" U "base" ]', 'R{"energy"}minmax=? [ F "base" ]'])
def test_rover_is_the_same_in_both_forms(text):
    explicit, program = (read(EXAMPLES / name) for name in ("rover.tra", "rover.prism"))
    assert explicit.states == program.states
    assert explicit.transitions == program.transitions
    assert solve(explicit, text).value == pytest.approx(solve(program, text).value, rel=1e-9)
