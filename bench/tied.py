"""What tying is worth: every learner on an environment, with its choices tied as declared and without.

    python -m bench.tied [--environment grid] [--seeds 5] [--trajectories 100 1000 10000]

One row for each learner: the worst-case value of the learned model after so many trajectories, the median over seeds, and whether
anything is promised of it.
"""

from __future__ import annotations

import argparse
import statistics

from umdp import LUI, MAP, PAC, UCRL2, ClopperPearson, ConfidenceSequence, Learner, anytime, benchmark

LEARNERS: dict[str, Learner] = {
    "LUI": LUI(), "MAP": MAP(), "PAC": PAC(), "PAC around the mean": PAC(around="mean"), "UCRL2": UCRL2(),
    "Clopper-Pearson": ClopperPearson(0.01), "confidence sequence": ConfidenceSequence(0.01),
}  # fmt: skip


def values(name: str, learner: Learner, seed: int, budgets: list[int], *, tied: bool) -> tuple[list[float], bool]:
    """Return the worst-case values that a run has after budgets, and whether they are promised."""
    bench = benchmark.load(name)
    mdp = bench.build()
    assert bench.tie is not None
    found, last = [], None
    waiting = list(budgets)
    for snapshot in anytime(
        mdp, bench.spec, learner, tie=bench.tie(mdp) if tied else None, seed=seed, horizon=bench.horizon,
        trajectories=budgets[-1],
    ):  # fmt: skip
        while waiting and last is not None and snapshot.trajectories > waiting[0]:
            found.append(last.bracket.value)
            waiting.pop(0)
        last = snapshot
    assert last is not None
    return found + [last.bracket.value] * len(waiting), last.guarantee.kind == "any-time"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default="grid")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trajectories", type=int, nargs="+", default=[100, 1000, 10_000])
    given = parser.parse_args()
    budgets = sorted(given.trajectories)
    columns = [f"{way} {n:,}" for way in ("apart", "tied") for n in budgets]
    print(f"{given.environment}, optimum {benchmark.load(given.environment).optimum:.4g}, {given.seeds} seeds\n")
    print(f"| learner | {' | '.join(columns)} | promised |\n|---|{'---|' * (len(columns) + 1)}")
    for label, learner in LEARNERS.items():
        cells, promised = [], False
        for tied in (False, True):
            runs = [values(given.environment, learner, seed, budgets, tied=tied) for seed in range(given.seeds)]
            cells += [f"{statistics.median(run[0][i] for run in runs):.4g}" for i in range(len(budgets))]
            promised = all(run[1] for run in runs)
        print(f"| {label} | {' | '.join(cells)} | {'yes' if promised else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
