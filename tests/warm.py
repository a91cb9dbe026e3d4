"""Compile what most tests need, once, while other checks run: each of the processes that run tests would do it for itself."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np

import umdp
from umdp import io
from umdp.anytime import Anytime, Limits, proceed
from umdp.benchmark import BENCHMARKS
from umdp.explore import EXPLORERS
from umdp.source.simulator import Simulator

QUESTIONS = (
    'Pmaxmin=? [ F "goal" ]', 'R{"r"}minmax=? [ F "goal" ]', 'Pmaxmin=? [ F<=5 "goal" ]', 'R{"r"}maxmin=? [ Cdiscount=0.9 ]',
    'R{"r"}maxmin=? [ S ]', 'Pmaxmin=? [ (G F "goal") & (F "red") ]',
)  # fmt: skip


def learn() -> None:
    """Compile the loop, one iteration at a time and many in one call, and ways to explore."""
    grid = BENCHMARKS["grid"]
    run = Anytime(Simulator(grid.build()), grid.spec, umdp.LUI(), horizon=grid.horizon)
    for _ in itertools.islice(proceed(run, Limits(trajectories=100)), 20):
        pass
    umdp.solve(grid.build(), grid.spec)
    run = Anytime(Simulator(grid.build()), grid.spec, umdp.LUI(), horizon=grid.horizon)
    for _ in proceed(run, Limits(trajectories=100), leap=True):
        pass
    run = Anytime(Simulator(grid.build()), grid.spec, umdp.ConfidenceSequence(), EXPLORERS["gap"](), 0, grid.horizon)
    for _ in itertools.islice(proceed(run, Limits(trajectories=20)), 5):
        pass


def ring(states: int) -> umdp.IntervalMDP:
    """Return a ring with a way back from everywhere and an end: one component of so many states."""
    here = np.arange(states)
    successor = np.column_stack(((here + 1) % states, np.where(here == states - 1, here, 0), here)).ravel()
    low, high = np.tile([0.5, 0.1, 0.1], states), np.tile([0.8, 0.3, 0.3], states)
    labels = {"goal": here == states - 1, "red": here % 7 == 3}
    rewards = {"r": umdp.Rewards(state=np.ones(states))}
    pointer = np.arange(states + 1)
    return umdp.IntervalMDP(pointer, 3 * pointer, successor, low, high, labels=labels, rewards=rewards)


def solve() -> None:
    """Compile methods for large and small models, and for the kinds of properties."""
    for states, question in itertools.product((5, 3000), QUESTIONS):
        umdp.solve(ring(states), question)


def read_and_write() -> None:
    """Compile the readers of files."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("ring.tra", "ring.drn"):
            io.write(ring(50), Path(folder, name))
            io.read(Path(folder, name))


if __name__ == "__main__":
    learn()
    solve()
    read_and_write()
