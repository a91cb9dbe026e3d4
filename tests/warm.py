"""Compile what most tests need, once, while other checks run: each of the processes that run tests would do it for itself."""

from __future__ import annotations

import umdp
import umdp.kernel
from umdp.benchmark import BENCHMARKS
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.source.simulator import Simulator

if __name__ == "__main__":
    umdp.kernel.LARGE = 0
    grid = BENCHMARKS["grid"]
    run = LearningRun(Simulator(grid.build()), grid.spec, umdp.LUI(), horizon=grid.horizon)
    for _ in proceed(run, StoppingCriteria(trajectories=100)):
        pass
    umdp.solve(grid.build(), grid.spec)
