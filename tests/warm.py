"""Compile what most tests need, once, while other checks run: each of the processes that run tests would do it for itself."""

from __future__ import annotations

import itertools

import umdp
from umdp.anytime import Anytime, Limits, proceed
from umdp.benchmark import BENCHMARKS
from umdp.source.simulator import Simulator

if __name__ == "__main__":
    grid = BENCHMARKS["grid"]
    run = Anytime(Simulator(grid.build()), grid.spec, umdp.LUI(), horizon=grid.horizon)
    for _ in itertools.islice(proceed(run, Limits(trajectories=100)), 20):  # one iteration at a time
        pass
    umdp.solve(grid.build(), grid.spec)
    run = Anytime(Simulator(grid.build()), grid.spec, umdp.LUI(), horizon=grid.horizon)
    for _ in proceed(run, Limits(trajectories=100), leap=True):  # many in one call
        pass
