"""A run that is killed again and again, as a process, and resumed: nothing is lost and nothing changes."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from umdp.run import Store

LEARN = ["learn", "grid", "--seed", "11", "--xi", "0.9", "--quiet", "--trajectories"]


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command line in a process of its own."""
    code = "from umdp.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(*arguments: str | Path) -> str:
    process = start(*arguments)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def progress(path: Path) -> int:
    """Return the newest iteration that has been committed, -1 before the first; from outside, while it is written."""
    if not path.exists():
        return -1
    try:
        with Store.open(path) as store:
            last = store.last()
    except Exception:  # the file is just being made
        return -1
    return -1 if last is None else int(last["iterations"])


def same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return bool(one == other)


def break_often(path: Path, learn: list[str], luck: random.Random) -> int:
    """Kill a run again and again, and resume it, until it has ended; return how often."""
    done = 0
    while True:
        before = progress(path)
        process = start("resume", path, "--quiet") if before >= 0 else start(*learn, "--out", path)
        ahead = before + luck.randint(1, 12)
        while process.poll() is None and progress(path) < ahead:
            time.sleep(luck.random() * 0.01)
        if process.poll() is not None:
            return done
        process.send_signal(signal.SIGKILL)
        done += 1
        process.communicate()
        if progress(path) < 0:
            path.unlink(missing_ok=True)


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_and_resumed_is_bit_for_bit_the_uninterrupted_run(tmp_path: Path, kills: int) -> None:
    learn, whole = [*LEARN, "4000"], tmp_path / "whole.run"
    finish(*learn, "--out", whole)
    luck, done = random.Random(kills), 0
    for i in range(kills):
        broken = tmp_path / f"broken{i}.run"
        done += break_often(broken, learn, luck)
        for turn in range(2):  # a run that has ended stays as it is
            finish("resume", broken, "--quiet")
            with Store.open(whole) as one, Store.open(broken) as other:
                assert one.snapshots() == other.snapshots()
                assert turn > 0 or same(one.state(), other.state())
        if done >= kills:
            return
    pytest.fail("the runs ended before they were killed often enough")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_a_valid_result(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "a.run"
    process = start("learn", "betting-unfavourable", "--out", path)
    while progress(path) < 20:
        time.sleep(0.1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "at least" in out
    assert "stopped" in out
    with Store.open(path) as store:
        assert [s["iterations"] for s in store.snapshots()] == list(range(len(store.snapshots())))
    assert "policy written" in finish("export", path, tmp_path / "policy.json")


def test_it_can_be_looked_into_while_it_is_going_on(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    process = start("learn", "betting-favourable", "--out", path, "--quiet")
    try:
        while progress(path) < 5:
            time.sleep(0.1)
        assert f"running now: process {process.pid} on " in finish("show", path)
        for name, kind in (("a.csv", "snapshots"), ("a.umb", "model"), ("a.json", "policy")):
            assert f"{kind} written" in finish("export", path, tmp_path / name)
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
    assert len((tmp_path / "a.csv").read_text().splitlines()) > 5
