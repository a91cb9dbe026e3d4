"""Logs that are larger than what is kept of them: constant memory, and every row counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from umdp import Graph
from umdp.source import Log

from .recordings import exhaust, order

pl = pytest.importorskip("polars")

STATES, ACTIONS, LENGTH = 100, 4, 20

COUNTER = """
import json, sys
from tests.source.test_large_logs import ring
from tests.source.recordings import order
from umdp.source import Log

def peak():  # not ru_maxrss, which a process inherits from the one that started it
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines["VmHWM"].split()[0]) / 1024

graph = ring()
log = Log(sys.argv[1], graph)
log.begin()
total = log.collect(order(graph, 20_000)).counts
early = peak()
while True:
    batch = log.collect(order(graph, 10_000))
    total += batch.counts
    if batch.ended:
        break
print(json.dumps({"early": early, "late": peak(), "counts": total.tolist()}))
"""


def ring() -> Graph:
    """Return states on a ring, each action of which stays or moves to a neighbour."""
    successor = [(s + d) % STATES for s in range(STATES) for _ in range(ACTIONS) for d in (-1, 0, 1)]
    names = [f"place {s}" for s in range(STATES)]
    actions = [f"action {a}" for a in range(ACTIONS)] * STATES
    return Graph(
        np.arange(STATES + 1) * ACTIONS,
        np.arange(STATES * ACTIONS + 1) * 3,
        successor,
        state_names=names,
        actions=actions,
    )


def write_walks(path: Path, rows: int) -> list[int]:
    """Write walks of 20 steps and return the counts of the transitions of the ring."""
    rng = np.random.default_rng(1)
    action, move = rng.integers(0, ACTIONS, rows), rng.integers(-1, 2, rows)
    end = np.cumsum(move)
    begin = end - move
    first = np.arange(rows) // LENGTH * LENGTH
    start, stop = (begin - begin[first]) % STATES, (end - begin[first]) % STATES
    places = pl.Series([f"place {s}" for s in range(STATES)])
    actions = pl.Series([f"action {a}" for a in range(ACTIONS)])
    frame = pl.DataFrame(
        {
            "trajectory": np.arange(rows) // LENGTH,
            "state": places.gather(start),
            "action": actions.gather(action),
            "next": places.gather(stop),
        }
    )
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)
    return np.bincount((start * ACTIONS + action) * 3 + move + 1, minlength=3 * STATES * ACTIONS).tolist()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process's memory")
@pytest.mark.parametrize(
    ("suffix", "rows"),
    [
        (".csv", 1_000_000),
        pytest.param(".jsonl", 1_000_000, marks=pytest.mark.slow),
        pytest.param(".parquet", 1_000_000, marks=pytest.mark.slow),
        pytest.param(".parquet", 10_000_000, marks=pytest.mark.slow),
    ],
)
def test_a_long_log_is_counted_in_constant_memory(tmp_path: Path, suffix: str, rows: int) -> None:
    path = tmp_path / f"log{suffix}"
    counts = write_walks(path, rows)
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", COUNTER, str(path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}", "POLARS_MAX_THREADS": "2"},
        capture_output=True,
        check=True,
    )
    found = json.loads(run.stdout)
    assert found["counts"] == counts
    assert found["late"] - found["early"] < 40  # MB; the rows alone are 64 MB per million
    path.unlink()


def test_parquet_slices_of_any_length_agree(tmp_path: Path) -> None:
    counts = write_walks(tmp_path / "log.parquet", 5_003)
    graph = ring()
    for block in (7, 1000, 5_003, 1 << 17):
        log = Log(tmp_path / "log.parquet", graph, block=block)
        log.begin()
        found, trajectories, steps, _ = exhaust(log, order(graph, 100))
        assert found.tolist() == counts
        assert (trajectories, steps) == (251, 5_003)
