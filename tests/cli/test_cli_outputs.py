"""What commands write: nothing over a file that is there, unless told to, and never over what they read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from umdp.errors import FormatError
from umdp.source import Log

BASE = 'Pmaxmin=? [ F "base" ]'
FAILS = 'Pmin=? [ F "failed" ]'
LOG = "trajectory,state,action,next\n1,new,run,worn\n1,worn,run\n2,new,run,failed\n"
THERE = "this file is there already; choose another name, or say --force"
READ = "this file is read, and what is read is never written over; choose another name"
ROVER = "examples/rover.tra"
LEARN = ("learn", "log.csv", FAILS, "--label", "failed=failed", "--quiet")
GRID = ("learn", "grid", "--trajectories", "3", "--quiet")


@pytest.fixture
def full(folder):
    """A log, what describes it, a graph of it, a program, and a file of the user's own."""
    (folder / "log.csv").write_text(LOG)
    (folder / "log.toml").write_text('[labels]\nfailed = ["failed"]\n')
    (folder / "graph.csv").write_text(
        "state,action,next\nnew,run,worn\nnew,run,failed\nworn,run,worn\nfailed,run,failed\n"
    )
    (folder / "mine.py").write_text("import umdp\n\n\ndef grid():\n    return umdp.benchmark.grid()\n")
    for name in ("mine.json", "mine.csv", "mine.png", "mine.jsonl"):
        (folder / name).write_text("mine")
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()}


@pytest.mark.parametrize(
    "arguments",
    [
        (*LEARN, "--aside", "mine.jsonl"),
        (*LEARN, "--policy", "mine.csv"),
        (*LEARN, "--plot", "mine.png"),
        (*GRID, "--confidence", "0.9", "--certificate", "mine.json"),
        ("check", ROVER, BASE, "--policy", "mine.json"),
        ("check", ROVER, BASE, "--certificate", "mine.json"),
    ],
    ids=" ".join,
)
def test_a_file_that_is_there_is_written_over_only_when_told(umdp, full, arguments):
    before = everything(full)
    code, out, err = umdp(*arguments)
    assert (code, out) == (2, "")
    assert f"{arguments[-2]} {arguments[-1]}: {THERE}" in err
    assert everything(full) == before
    assert umdp(*arguments, "--force").code == 0
    assert (full / arguments[-1]).read_bytes() != b"mine"


@pytest.mark.parametrize(
    ("arguments", "option", "file"),
    [
        (LEARN, "--aside", "log.csv"),
        (LEARN, "--aside", "./examples/../log.csv"),
        (LEARN, "--aside", "link.jsonl"),
        (LEARN, "--policy", "log.csv"),
        (LEARN, "--aside", "log.toml"),
        ((*LEARN, "--graph", "graph.csv"), "--aside", "graph.csv"),
        ((*LEARN, "--graph", "graph.csv"), "--policy", "graph.csv"),
        (("learn", "mine.py:grid", 'Pmax=? [ F "goal" ]', "--confidence", "0.9"), "--certificate", "mine.py"),
        (("check", ROVER, BASE), "--certificate", ROVER),
        (("check", ROVER, BASE), "--certificate", "examples/rover.lab"),
        (("check", ROVER, BASE), "--certificate", "examples/rover.sta"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_is_read_is_never_written(umdp, full, arguments, option, file):
    (full / "link.jsonl").symlink_to("log.csv")
    before = everything(full)
    for force in ((), ("--force",)):
        code, out, err = umdp(*arguments, option, file, *force)
        assert (code, out) == (2, "")
        assert READ in err
        assert option in err
    assert everything(full) == before


def test_a_folder_or_pattern_of_logs_is_not_written_into(umdp, full):
    (full / "logs").mkdir()
    for name in ("a.csv", "b.csv"):
        (full / "logs" / name).write_text(LOG)
    for name in ("logs", "logs/*.csv"):
        code, _, err = umdp("learn", name, FAILS, "--label", "failed=failed", "--aside", "logs/b.csv", "--force")
        assert code == 2
        assert f"--aside logs/b.csv: {READ}" in err
    assert (full / "logs" / "b.csv").read_text() == LOG


def test_nor_what_comes_through_standard_input(full):
    with (full / "log.csv").open() as given:
        done = subprocess.run(
            [sys.executable, "-m", "umdp", "learn", "-", FAILS, "--graph", "graph.csv", "--label", "failed=failed",
             "--on-error", "skip", "--aside", "log.csv", "--force"],
            stdin=given, capture_output=True, text=True, cwd=full, env=dict(os.environ), check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert READ in done.stderr
    assert (full / "log.csv").read_text() == LOG


def test_the_aside_of_a_description_is_held_to_the_same(umdp, full):
    (full / "log.toml").write_text('aside = "rejected.jsonl"\n[labels]\nfailed = ["failed"]\n')
    assert umdp(*LEARN, "--trust").code == 0
    kept = (full / "rejected.jsonl").read_bytes()
    assert kept
    code, _, err = umdp(*LEARN, "--trust")
    assert code == 2
    assert f"--aside rejected.jsonl: {THERE}" in err
    assert umdp(*LEARN, "--trust", "--force").code == 0
    assert (full / "rejected.jsonl").read_bytes() == kept


def test_one_file_is_not_written_twice(umdp, full):
    code, _, err = umdp(*LEARN, "--policy", "new.csv", "--aside", "./new.csv")
    assert code == 2
    assert "--aside new.csv: --policy is to be written to the same file; choose another name" in err
    assert umdp(*LEARN, "--policy", "new.csv", "--out", "new.csv").code == 2
    assert not (full / "new.csv").exists()


def test_every_numbered_file_is_looked_at_before_anything_is_solved(umdp, full):
    (full / "p2.json").write_text("mine")
    code, out, err = umdp("check", ROVER, BASE, BASE, "--policy", "p{n}.json")
    assert (code, out) == (2, "")
    assert f"--policy p2.json: {THERE}" in err
    assert not (full / "p1.json").exists()


def test_export_and_plot_do_not_write_over_the_run(umdp, full):
    assert umdp(*GRID, "--out", "grid.json").code == 0
    (full / "grid.json").rename(full / "grid.svg")
    before = everything(full)
    assert READ in umdp("plot", "grid.svg", "--out", "grid.svg", "--force").err
    assert READ in umdp("export", "grid.svg", "grid.svg", "--what", "policy", "--force").err
    assert everything(full) == before


def test_a_model_is_not_exported_over_the_files_of_another(umdp, full):
    assert umdp(*GRID, "--out", "grid.run").code == 0
    (full / "m.lab").write_text("mine")
    code, _, err = umdp("export", "grid.run", "m.tra")
    assert code == 2
    assert f"m.lab: {THERE}" in err
    assert (full / "m.lab").read_text() == "mine"
    assert not (full / "m.tra").exists()
    assert umdp("export", "grid.run", "m.tra", "--force").code == 0


def test_a_device_is_not_replaced(umdp, full):
    os.mkfifo(full / "pipe")
    code, _, err = umdp("check", ROVER, BASE, "--certificate", "pipe", "--force")
    assert code == 2
    assert "--certificate pipe: this is no ordinary file; choose another name" in err


def test_a_reproduction_does_not_write_over_files_of_others(umdp, full):
    (full / "summary.md").write_text("mine")
    code, _, err = umdp(
        "reproduce", "examples/own/ferry.toml", "--trust", "--seeds", "1", "--trajectories", "5", "--out", ".", "-q"
    )
    assert code == 2
    assert "summary.md: this file is there already, and not from an earlier reproduction; choose another folder" in err
    assert (full / "summary.md").read_text() == "mine"
    assert not (full / "runs.db").exists()


def test_in_python_rejected_rows_are_not_written_over_the_log_either(full):
    with pytest.raises(FormatError, match="the log is read from this file; write rejected rows to another"):
        Log("log.csv", on_error="skip", rejected="log.csv")
    assert (full / "log.csv").read_text() == LOG


def test_a_run_is_written_over_only_when_told_and_nothing_of_it_is_left(umdp, full):
    assert umdp(*GRID, "--out", "a.run").code == 0
    before = everything(full)
    code, out, err = umdp(*GRID, "--out", "a.run")
    assert (code, out) == (2, "")
    assert "--out a.run: this file is there already; choose another name, say --force, or `umdp resume` it" in err
    assert everything(full) == before
    for side in ("-wal", "-shm"):  # as a run that was killed leaves them
        (full / f"a.run{side}").write_bytes(b"of the run before")
    other = ("learn", "chain", "--trajectories", "5", "--quiet", "--out", "a.run", "--force")
    assert umdp(*other).code == 0
    assert json.loads(umdp("show", "a.run", "--json").out)["last"]["trajectories"] == 5
    assert "on chain" in umdp("show", "a.run").out
    assert umdp("resume", "a.run", "--trajectories", "7", "--quiet").code == 0


def test_a_run_that_is_being_written_is_not_written_over(umdp, full):
    from umdp.run import Store

    with Store.create("a.run", {"model": "grid"}):
        code, _, err = umdp(*GRID, "--out", "a.run", "--force")
    assert code == 2
    assert "this run is being written by process" in err
    with Store.open("a.run") as store:
        assert store.config == {"model": "grid"}
