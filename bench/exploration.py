"""How to explore: `python -m bench.exploration [--seeds 5] [--gap 0.05] [--tied] [--only grid,chain]`.

Trajectories until the gap between the promise and the best case, both proved, is closed: to 0.05 for a probability, to 5 % of the
optimum for an expected reward. The learner is the confidence sequence, so that both ends hold at all times. Geometric means over
seeds; a run that did not get there within the limit counts as the limit, and is marked. Steps are shown below trajectories: who
makes more of a trajectory makes it longer.
"""

from __future__ import annotations

import argparse
import math
import time

from umdp import ConfidenceSequence
from umdp.benchmark import BENCHMARKS, Benchmark
from umdp.explore import EXPLORERS, Explorer
from umdp.learn.tied import Tied
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.source.simulator import Simulator

NAMES = [name for name in BENCHMARKS if name != "chain-switched"]
ORDER = ("optimism", "gap", "posterior", "uniform")


def tolerance(bench: Benchmark, gap: float) -> float:
    """Return how far the promise may be from the best case: a reward's gap is relative to the optimum."""
    return gap if bench.spec.kind == "P" else gap * bench.optimum


def trajectories(
    bench: Benchmark, explorer: Explorer, seed: int, gap: float, most: int, *, error_rate: float, tied: bool
) -> tuple[int, int, bool]:
    """Return how many trajectories and steps a run takes, and whether it closed the gap."""
    mdp = bench.build()
    learner = ConfidenceSequence(error_rate)
    learns = Tied(learner, bench.tie(mdp.graph)) if tied and bench.tie is not None else learner
    run = LearningRun(Simulator(mdp, sampling="auto"), bench.spec, learns, explorer, seed, bench.horizon)
    limit = tolerance(bench, gap)
    *_, last = proceed(run, StoppingCriteria(gap=limit, trajectories=most))
    return last.trajectories, last.steps, run.gap() <= limit if not last.partial else False


def mean(numbers: list[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--gap", type=float, default=0.05)
    parser.add_argument("--error-rate", type=float, default=0.05)
    parser.add_argument("--most", type=float, default=3e6, help="trajectories of a run")
    parser.add_argument("--tied", action="store_true", help="choices of a class are learned together")
    parser.add_argument("--only", default=",".join(NAMES), help="environments")
    parser.add_argument("--explore", default=",".join(ORDER), help="ways to explore")
    given = parser.parse_args()
    ways, begun = given.explore.split(","), time.perf_counter()
    print(
        f"trajectories to a gap of {given.gap:g}, error rate {given.error_rate:g}, {given.seeds} seeds, "
        f"{'tied' if given.tied else 'untied'}; no more than {int(given.most):,}\n"
    )
    print("| environment | | " + " | ".join(ways) + " | gap/optimism |")
    print("|---" * (len(ways) + 3) + "|")
    ratios: dict[str, list[float]] = {"trajectories": [], "steps": []}
    for name in given.only.split(","):
        bench, found = BENCHMARKS[name], {}
        for way in ways:
            found[way] = [
                trajectories(
                    bench, EXPLORERS[way](), seed, given.gap, int(given.most), error_rate=given.error_rate, tied=given.tied
                )
                for seed in range(given.seeds)
            ]  # fmt: skip
        for place, what in enumerate(ratios):
            means = {way: mean([float(each[place]) for each in runs]) for way, runs in found.items()}
            missed = {way: sum(not closed for *_, closed in runs) for way, runs in found.items()}
            cells = [f"{means[way]:,.0f}" + (f" ({missed[way]} not)" if missed[way] else "") for way in ways]
            ratio = means["gap"] / means["optimism"] if {"gap", "optimism"} <= set(means) else math.nan
            ratios[what].append(ratio)
            print(f"| {name} | {what} | " + " | ".join(cells) + f" | {ratio:.2f} |", flush=True)
    for what, each in ratios.items():
        print(f"| geometric mean | {what} |" + " |" * len(ways) + f" {mean(each):.2f} |")
    print(f"\n{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
