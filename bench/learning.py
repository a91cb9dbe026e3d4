"""How fast learning is: `python -m bench.learning [TRAJECTORIES]` simulates the chain and does 24 runs of the paper.

They are done as `umdp reproduce` does them, in one process: with trajectories drawn step by step, and as counts where that is
cheaper.
`python -m bench.learning performance` prints instead what the robust policies of five runs are worth.
"""

from __future__ import annotations

import sys
import time

import msgspec
import numpy as np

from umdp import anytime, benchmark
from umdp.learn import LEARNERS
from umdp.paper.experiments.experiment import Experiment
from umdp.paper.experiments.trial import Trial, work
from umdp.source import SamplingRequest
from umdp.source.simulator import Simulator

TRAJECTORIES = 10_000
PAPERS = ("lui", "pac", "map", "ucrl2")


def simulated_steps_per_second() -> float:
    """Return how many steps of the chain, under its optimal policy, are drawn in a second."""
    chain = benchmark.chain()
    source = Simulator(chain)
    source.begin(0)
    weight = np.zeros(chain.choices)
    weight[2::3] = 1.0
    goal = chain.labels["goal"]
    order = SamplingRequest(weight, goal, 100, np.full(chain.choices, -1), 500_000)
    source.collect(SamplingRequest(weight, goal, 100, order.quota, 1))
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


def runs(trajectories: int, sampling: str = "steps") -> list[Trial]:
    """Return the paper's four learners on its six environments, one seed."""
    experiment = msgspec.structs.replace(
        Experiment.load("basic").cut(seeds=1, trajectories=trajectories), sampling=sampling
    )
    trials = experiment.trials()
    return [trial for trial in trials if trial.config.learner in PAPERS and trial.config.explore == "optimism"]


def timed(trials: list[Trial]) -> tuple[list[float], list[int]]:
    """Return the seconds and iterations of every run."""
    seconds, iterations = [], []
    for trial in trials:
        begun = time.perf_counter()
        found = work(trial)
        seconds.append(time.perf_counter() - begun)
        iterations.append(int(found["iterations"][-1]))
    return seconds, iterations


def main() -> None:
    """Print the table."""
    if sys.argv[1:] == ["performance"]:
        performance()
        return
    trajectories = int(float(sys.argv[1])) if len(sys.argv) > 1 else TRAJECTORIES
    print(f"chain: {simulated_steps_per_second() / 1e6:.0f} million simulated steps per second\n")
    for sampling in ("steps", "auto"):  # compile before the clock runs
        timed(runs(10_000, sampling))
    trials = runs(trajectories)
    fast, iterations = min((timed(trials) for _ in range(3)), key=lambda found: sum(found[0]))
    counted, _ = min((timed(runs(trajectories, "auto")) for _ in range(3)), key=lambda found: sum(found[0]))
    print(
        f"{trajectories:,} trajectories, one seed, with what policies are worth on the process; kernels compiled before;"
    )
    print("seconds of the whole run, the best of three\n")
    print("| environment | learner | iterations | seconds | ms each | as counts |")
    print("|---|---|---|---|---|---|")
    for trial, own, count, drawn in zip(trials, fast, iterations, counted, strict=True):
        each, name = 1e3 * own / (count + 1), trial.cell.environment
        print(f"| {name} | {trial.config.learner} | {count} | {own:.3f} | {each:.3f} | {drawn:.3f} |")
    print(f"| together | | {sum(iterations)} | {sum(fast):.2f} | | {sum(counted):.2f} |")


if __name__ == "__main__":
    main()
