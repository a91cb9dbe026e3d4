"""Compiling in the background: who is asked to, who is not, and what is there afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from umdp import kernel
from umdp.cli import compiling


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache in which the background is allowed, and count who is started."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(compiling.SWITCH)
    monkeypatch.setattr(kernel._compiling, "elsewhere", False)
    (tmp_path / "umdp").mkdir()
    return tmp_path / "umdp"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    found: list[list[str]] = []
    monkeypatch.setattr(compiling.subprocess, "Popen", lambda words, **_: found.append(words))
    return found


def test_another_process_is_started_once(cache: Path, started: list[list[str]]) -> None:
    assert compiling.compile_with_another_process()
    assert started == [[sys.executable, "-m", "umdp.cli.compiling"]]
    assert kernel._compiling.elsewhere
    (cache / "compiling").touch()
    assert compiling.compile_with_another_process()  # somebody is at it
    assert len(started) == 1
    long_ago = time.time() - 2 * compiling.LONGEST
    os.utime(cache / "compiling", (long_ago, long_ago))  # whoever was, is no more
    assert compiling.compile_with_another_process()
    assert len(started) == 2


def test_nobody_is_asked_where_it_is_done_or_not_wanted_or_cannot_be_kept(
    cache: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = compiling._done(cache)
    done.touch()
    assert not compiling.compile_with_another_process()
    done.unlink()
    monkeypatch.setenv(compiling.SWITCH, "0")
    assert not compiling.compile_with_another_process()
    monkeypatch.delenv(compiling.SWITCH)
    monkeypatch.setattr(kernel, "cache_roots", lambda: [cache / "nowhere"])
    assert not compiling.compile_with_another_process()
    assert not started
    assert not kernel._compiling.elsewhere


@pytest.mark.slow
def test_what_was_compiled_is_what_the_first_commands_call(cache: Path, folder: Path) -> None:
    environment = dict(os.environ)
    subprocess.run([sys.executable, "-m", "umdp.cli.compiling"], env=environment, check=True)
    assert [each.name.partition("-")[0] for each in cache.glob("compil*")] == ["compiled"]
    for words in (("learn", "bandit"), ("learn", "grid")):
        done = subprocess.run(
            [sys.executable, "-m", "umdp", *words, "--trajectories", "1000"],
            env=environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
        assert done.stderr == ""
