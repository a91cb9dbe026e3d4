"""The help: it shows, and its examples run as they stand."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from umdp import __version__, solve
from umdp.cli.app import COMMANDS as KINDS
from umdp.cli.app import app
from umdp.io import read

FILES = Path(__file__).parents[2] / "examples"
STORM = importlib.util.find_spec("stormpy") is not None
GYM = importlib.util.find_spec("gymnasium") is not None


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(umdp, option):
    assert umdp(option) == (0, f"umdp {__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_the_commands(umdp, arguments):
    code, out, err = umdp(*arguments)
    assert code == 0
    assert err == ""
    assert "check" in out
    assert "Answer properties of a model" in out


COMMANDS = list(typer.main.get_command(app).commands)
KIND = dict(zip(COMMANDS, KINDS, strict=True))


def examples(text: str) -> list[str]:
    """Return the commands in a help text."""
    return [line for line in text.partition("\nExamples\n")[2].splitlines() if line.startswith("umdp ")]


def test_every_command_has_examples(umdp):
    listed = umdp("--help").out.partition("Commands\n")[2].partition("\n\n")[0]
    names = re.findall(r"^  (\S+)", listed, re.MULTILINE)
    assert set(names) == set(COMMANDS)


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_examples_are_not_wrapped(umdp, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    for name in COMMANDS:
        written = [line.strip() for line in KIND[name].__doc__.splitlines() if line.strip().startswith("umdp ")]
        assert examples(umdp(name, "--help").out) == written
        assert max(map(len, written)) <= 80


def test_every_example_in_the_help_runs(umdp, folder):
    """In order: those of `learn` make the run that others look at."""
    script = [sys.executable, "examples/machine.py", "machine.csv", "--rows", "3000"]
    subprocess.run(script, cwd=folder, check=True, capture_output=True)
    for name in ("--help", *(f"{each} --help" for each in COMMANDS)):
        for example in examples(umdp(*name.split()).out):
            if (".prism" in example and not STORM) or ("gym:" in example and not GYM):
                continue
            code, out, err = umdp(*shlex.split(example)[1:])
            assert code == 0, (example, err)
            assert out, example


@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_help_is_readable(umdp, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    for name in COMMANDS:
        text = umdp(name, "--help").out
        assert text.startswith(f"Usage: umdp {name} [OPTIONS]")
        assert not re.search(r"<(bool|str|int|float|list)|\\\[", text), name


def test_help_names_all_options(umdp, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = umdp("check", "--help").out
    for option in ("const", "precision", "policy", "evaluate", "json", "method", "threads", "time-limit"):
        assert f"--{option}" in text


def test_help_names_the_settings_of_learners(umdp, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    text = umdp("learn", "--help").out
    assert "confidence-sequence: error_rate=0.01 prior=0.5" in text
    assert "lui: prior=0.0001,0.9999 strength=5,10 strength_bound=none" in text


def completed(*words: str) -> list[str]:
    """Return what bash is offered behind these words."""
    typed = {"COMP_WORDS": " ".join(["umdp", *words]), "COMP_CWORD": str(len(words)), "_UMDP_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-m", "umdp"], capture_output=True, text=True, env={**os.environ, **typed}, check=False
    )
    return done.stdout.split()


def test_bash_completes_commands_models_and_learners():
    script = subprocess.run(
        [sys.executable, "-m", "umdp"],
        capture_output=True,
        text=True,
        env={**os.environ, "_UMDP_COMPLETE": "source_bash"},
        check=False,
    ).stdout
    assert "complete -o default -F _umdp_completion umdp" in script
    assert set(completed("")) >= {"check", "learn", "reproduce", "verify"}
    assert completed("ch") == ["check", "check-env"]
    assert completed("learn", "gr") == ["grid"]
    assert completed("learn", "grid", "--learner", "c") == ["clopper-pearson", "confidence-sequence"]
    assert completed("learn", "grid", "--explore", "") == ["optimism", "uniform", "gap", "posterior"]
    assert completed("learn", "grid", "--set", "err") == ["error_rate="]


@pytest.mark.skipif(not STORM, reason="needs stormpy")
@pytest.mark.parametrize("text", ['Pmaxmin=? [ !"crater" U "base" ]', 'R{"energy"}minmax=? [ F "base" ]'])
def test_rover_is_the_same_in_both_forms(text):
    explicit, program = (read(FILES / name) for name in ("rover.tra", "rover.prism"))
    assert explicit.states == program.states
    assert explicit.transitions == program.transitions
    assert solve(explicit, text).value == pytest.approx(solve(program, text).value, rel=1e-9)
