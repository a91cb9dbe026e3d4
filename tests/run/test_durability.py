"""Kills, two writers, a full disk, flipped bits, hostile files, failing code: some of what `bench.durability` tries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")


@pytest.mark.parametrize(
    ("name", "trials"),
    [
        *[("create", 2), ("kill", 2), ("writers", 1), ("disk", 1), ("bits", 6), ("hostile", 6), ("failing", 1)],
        *(
            pytest.param(name, trials, marks=pytest.mark.slow)
            for name, trials in (
                ("create", 40),
                ("kill", 30),
                ("writers", 8),
                ("disk", 16),
                ("bits", 120),
                ("hostile", 150),
            )
        ),
    ],
)
def test_nothing_is_lost_executed_or_wrong(name: str, trials: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.durability", "--only", name, "--trials", str(trials), "--json"],
        capture_output=True, text=True, cwd=ROOT, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    outcome = json.loads(done.stdout)
    assert outcome["trials"] >= trials
    assert [outcome[bad] for bad in ("lost", "executed", "silent", "tracebacks")] == [0, 0, 0, 0], outcome
