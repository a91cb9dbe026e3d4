"""How fast learning is: `python -m bench.learning` simulates the chain and runs the six environments.

`python -m bench.learning performance` prints instead what the robust policies of five runs are worth.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from umdp import LUI, anytime, benchmark
from umdp.learn import LEARNERS
from umdp.source import Order
from umdp.source.simulator import Simulator

TRAJECTORIES = 10_000


def simulated_steps_per_second() -> float:
    """Return how many steps of the chain, under its optimal policy, are drawn in a second."""
    chain = benchmark.chain()
    source = Simulator(chain)
    source.begin(0)
    weight = np.zeros(chain.choices)
    weight[2::3] = 1.0
    goal = chain.labels["goal"]
    order = Order(weight, goal, 100, np.full(chain.choices, -1), 500_000)
    source.collect(Order(weight, goal, 100, order.quota, 1))
    begun = time.perf_counter()
    batch = source.collect(order)
    return batch.steps / (time.perf_counter() - begun)


def performance() -> None:
    """Print, per learner and environment, the median and the range of the policies' values over five seeds."""
    names = [name for name in benchmark.BENCHMARKS if name != "chain-switched"]
    print(f"{'':22s}" + "".join(f"{name:28s}" for name in names))
    for learner, kind in LEARNERS.items():
        cells = []
        for name in names:
            bench = benchmark.BENCHMARKS[name]
            worth = []
            for seed in range(5):
                run = anytime(
                    bench.build(), bench.spec, kind(), horizon=bench.horizon, trajectories=TRAJECTORIES, seed=seed
                )
                *_, last = run
                worth.append(last.performance or 0.0)
            cells.append(f"{np.median(worth):.4g} ({min(worth):.4g} .. {max(worth):.4g})")
        print(f"{learner:22s}" + "".join(f"{cell:28s}" for cell in cells), flush=True)


def main() -> None:
    """Print the table."""
    if sys.argv[1:] == ["performance"]:
        performance()
        return
    print(f"chain: {simulated_steps_per_second() / 1e6:.0f} million simulated steps per second\n")
    print(f"{TRAJECTORIES:,} trajectories with LUI, kernels cached")
    print(
        f"{'environment':22s}{'seconds':>9s}{'iterations':>12s}{'ms each':>9s}{'steps':>10s}  {'bracket':24s}{'optimum':>10s}"
    )
    total = 0.0
    for warm in (True, False):
        for name, bench in benchmark.BENCHMARKS.items():
            if name == "chain-switched":
                continue
            truth = bench.build()
            begun = time.perf_counter()
            *_, last = anytime(
                truth, bench.spec, LUI(), horizon=bench.horizon, trajectories=100 if warm else TRAJECTORIES, seed=1
            )
            seconds = time.perf_counter() - begun
            if not warm:
                total += seconds
                each = 1e3 * seconds / (last.iteration + 1)
                shown = f"{last.bracket.lower:.6g} .. {last.bracket.upper:.6g}"
                print(
                    f"{name:22s}{seconds:9.3f}{last.iteration:12d}{each:9.2f}{last.steps:10,d}  {shown:24s}{bench.optimum:10.6g}"
                )
    print(f"{'together':22s}{total:9.3f}")


if __name__ == "__main__":
    main()
