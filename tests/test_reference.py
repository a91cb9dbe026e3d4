"""The reference is complete: every command and option, every public name, every key of every JSON."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reference_commands
import umdp
from umdp.cli import run

TEXT = reference_commands.REFERENCE.read_text(encoding="utf-8")
MODULES = ("umdp", "umdp.io", "umdp.source", "umdp.plot", "umdp.learn", "umdp.explore", "umdp.verify")


def test_commands_and_options_stand_there_as_in_the_help() -> None:
    again = "the help has changed; write it into the reference: python tests/reference_commands.py"
    assert reference_commands.documented() == reference_commands.text(), again


def test_every_command_and_option_stands_there() -> None:
    """The same once more, without what writes it."""
    for name, command in reference_commands.commands().items():
        part = TEXT.partition(f"### umdp {name}\n")[2].partition("\n### ")[0]
        assert part, name
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else []:
                assert re.search(rf"`[^`]*(?<![\w-]){re.escape(option)}(?![\w-])", part), (name, option)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_stands_there(module: str) -> None:
    missing = [
        name
        for name in importlib.import_module(module).__all__
        if not re.search(rf"`(umdp\.)?(\w+\.)?{re.escape(name)}[`(]", TEXT)
    ]
    assert missing == [], f"{module}: not in docs/reference.md"


def test_every_status_stands_there() -> None:
    assert [status.name for status in umdp.Status if f"`{status.name}`" not in TEXT] == []


def test_modules_are_there_after_importing_the_package() -> None:
    code = (
        "import umdp, sys; loaded = [n for n in ('umdp.io', 'umdp.plot', 'umdp.verify') if n in sys.modules]; "
        "print(loaded, umdp.io.read.__name__, umdp.source.Log.__name__, umdp.plot.performance.__name__, "
        "umdp.verify.verify.__name__, {'io', 'source', 'plot', 'explore', 'learn', 'verify'} <= set(dir(umdp)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, *names = done.stdout.split()
    assert names == ["read", "Log", "performance", "verify", "True"]
    assert loaded in ("[]", "['umdp.verify']")
    with pytest.raises(AttributeError, match="has no attribute 'oi'"):
        _ = umdp.oi  # type: ignore[attr-defined]


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """One object of every JSON there is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.tra").write_text("2 2 3\n0 0 0 [0.2,0.5] go\n0 0 1 [0.5,0.8] go\n1 0 1 1\n")
    (tmp_path / "m.lab").write_text('0="init" 1="goal"\n0: 0\n1: 1\n')
    (tmp_path / "log.csv").write_text("state,action,next\n0,go,1\n")
    ask = 'Pmaxmin=? [ F<=3 "goal" ]'

    def call(*arguments: str) -> Any:
        capsys.readouterr()
        assert run(arguments) == 0
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    found = {"learn": call("learn", "aircraft", "--trajectories", "5", "--json")}
    assert run(("learn", "aircraft", "--confidence", "0.9", "--trajectories", "5", "--out", "a.run", "-q")) == 0
    assert run(("export", "a.run", "p.json")) == 0
    found |= {
        "check": call("check", "m.tra", ask, "--json", "--certificate", "c.json"),
        "check of a run": call("check", "a.run", 'Pmaxmin=? [ !"collision" U "goal" ]', "--json"),
        "show": call("show", "a.run", "--json"),
        "resume": call("resume", "a.run", "--json"),
        "verify": call("verify", "c.json", "--json"),
        "compare": call("compare", "a.run", "--json"),
        "calibrate": call("calibrate", "lui", "aircraft", "--seeds", "2", "--trajectories", "5", "--json"),
        "simulate": call("simulate", "a.run", "--episodes", "20", "--json"),
        "look": call("look", "log.csv", "--json"),
        "policies": json.loads((tmp_path / "p.json").read_text())["about"],
    }
    return found


NAMED = ("columns", "state_rows", "action_rows", "labels")  # what is in them, roles or names tell


def keys(value: Any) -> set[str]:
    """Return the keys of an object, and of those inside it, but for names of a user's."""
    if isinstance(value, dict):
        return set(value).union(*(keys(each) for name, each in value.items() if name not in NAMED))
    return set()


def test_every_key_of_every_json_stands_there(outputs: dict[str, Any]) -> None:
    part = TEXT.partition("### JSON")[2].partition("\n## ")[0]
    for name, shown in outputs.items():
        assert [key for key in shown if f"`{key}`" not in part] == [], name
    assert [key for key in outputs["show"]["last"] if f"`{key}`" not in part] == []
    assert [key for key in outputs["learn"]["guarantee"] if f"`{key}`" not in part] == []


def test_a_key_has_one_spelling(outputs: dict[str, Any]) -> None:
    every = set().union(*map(keys, outputs.values())) - {"run", "runs"}
    assert sorted(key for key in every if f"{key}s" in every) == ["reason"]  # of the end, and of a guarantee
    assert not every & {"question", "iteration", "spec", "formula"}


def test_a_snapshot_is_the_same_in_every_json(outputs: dict[str, Any]) -> None:
    assert outputs["learn"].keys() - {"notes", "diagnostics"} == outputs["show"]["last"].keys()
    assert outputs["learn"].keys() == outputs["resume"].keys()
    assert outputs["show"]["property"] == outputs["policies"]["property"] == 'Pmax=? [ !"collision" U "goal" ]'


def test_notes_of_a_run_are_in_every_json(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("trajectory,state,action,next\n1,0,c,1\n1,1,fly,2\n")
    arguments = ("learn", "chain", "--log", "log.csv", "--on-error", "skip", "--out", "a.run")
    assert run((*arguments, "--json")) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])["notes"]
    assert any("1 of 2 rows was rejected" in note for note in said)
    assert run(("show", "a.run", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == said
    assert run(("show", "a.run")) == 0
    shown = capsys.readouterr().out
    assert all(note in shown for note in said)
