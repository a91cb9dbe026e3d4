"""Trajectories until a value is promised: `python -m bench.until [--target 0.3] [--seeds 100 120] [--only WAY;...]`, on grid.

One row for each way to learn, at error rate 0.01: median, worst, and how many runs took no more than a budget.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from umdp import LUI, ConfidenceSequence, anytime, benchmark

ERROR_RATE = 0.01
BUDGETS = (1_350, 2_000, 15_000)
WAYS: dict[str, dict[str, Any]] = {
    "confidence sequence": {"learner": ConfidenceSequence(ERROR_RATE)},
    "with evidence": {"learner": ConfidenceSequence(ERROR_RATE), "evidence": 0.5},
    "LUI with evidence": {"learner": LUI(), "evidence": 0.5},
    "tied": {"learner": ConfidenceSequence(ERROR_RATE), "tied": True},
    "tied, towards the gap": {"learner": ConfidenceSequence(ERROR_RATE), "tied": True, "explorer": "gap"},
    "tied, with evidence, towards the gap": {
        "learner": ConfidenceSequence(ERROR_RATE), "tied": True, "explorer": "gap", "evidence": 0.5,
    },
}  # fmt: skip


def needed(target: float, seed: int, most: int, *, tied: bool = False, **how: Any) -> int:
    """Return how many trajectories a run took until the target was promised."""
    bench = benchmark.BENCHMARKS["grid"]
    mdp = bench.build()
    tie = bench.tie(mdp.graph) if tied and bench.tie is not None else None
    *_, last = anytime(
        mdp, bench.spec, until=f">={target}", seed=seed, horizon=bench.horizon, trajectories=most, tie=tie, **how
    )
    promise = last.promise
    return last.trajectories if promise is not None and promise.bound >= target else most


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.until", description=__doc__)
    parser.add_argument("--target", type=float, default=0.3)
    parser.add_argument("--seeds", type=int, nargs=2, default=(100, 120), help="from, and up to but not with")
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print(
        f"| grid, at least {given.target:g} | median | worst | {' | '.join(f'within {each:,}' for each in BUDGETS)} |"
    )
    print(f"|---|--:|--:|{'--:|' * len(BUDGETS)}")
    for way, how in WAYS.items():
        if given.only and way not in given.only.split(";"):
            continue
        runs = [needed(given.target, seed, given.most, **how) for seed in range(*given.seeds)]
        within = " | ".join(f"{sum(run <= each for run in runs)} of {len(runs)}" for each in BUDGETS)
        print(f"| {way} | {statistics.median(runs):,.0f} | {max(runs):,} | {within} |", flush=True)


if __name__ == "__main__":
    main()
