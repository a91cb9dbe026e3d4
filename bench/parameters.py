"""What parameters are worth: programs with unknown constants, learned as what they are, by classes, and choice by choice.

    python -m bench.parameters [--seeds 3] [--most 50000] [--explore optimism]

One row for each program and way: after how many trajectories the worst case of the learned model is within 5 % and within 1 % of
the optimum, the median over seeds, and whether that is promised.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from umdp import LUI, ConfidenceSequence, Learner, ParametricMDP, Tying, anytime, read_parametric, solve

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = {
    "brp": ('Pmax=? [ F "ok" ]', "N=16,MAX=2", {"p": 0.98, "q": 0.9}),
    "zeroconf": ('Pmax=? [ F "configured" ]', "K=4", {"used": 0.3, "lost": 0.1}),
    "consensus": ('Pmax=? [ F "heads" ]', "B=3", {"p": 0.6, "q": 0.7}),
}
SHARES = (0.95, 0.99)


def reached(
    program: ParametricMDP,
    values: dict[str, float],
    spec: str,
    learner: Learner,
    tie: ParametricMDP | Tying | None,
    seed: int,
    most: int,
    explore: str,
) -> list[float]:
    """Return the trajectories after which each share of the optimum is reached; infinity where it is not."""
    process = program.at(values)
    optimum = solve(process, spec).value
    found: list[float] = []
    for snapshot in anytime(process, spec, learner, tie=tie, seed=seed, trajectories=most, explorer=explore):
        while len(found) < len(SHARES) and snapshot.bracket.lower >= SHARES[len(found)] * optimum:
            found.append(snapshot.trajectories)
        if len(found) == len(SHARES):
            break
    return found + [float("inf")] * (len(SHARES) - len(found))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=50_000)
    parser.add_argument("--explore", default="optimism")
    given = parser.parse_args()
    print("| program | learned | within 5 % | within 1 % | promised |\n|---|---|---|---|---|")
    for name, (spec, constants, values) in PROGRAMS.items():
        program = read_parametric(EXAMPLES / f"{name}.prism", ",".join(values), constants)
        ways: dict[str, tuple[Learner, ParametricMDP | Tying | None]] = {
            "choice by choice": (ConfidenceSequence(0.05), None),
            "by classes": (ConfidenceSequence(0.05), program.tying),
            "by parameters": (ConfidenceSequence(0.05), program),
            "by parameters, LUI": (LUI(), program),
        }
        for label, (learner, tie) in ways.items():
            runs = [
                reached(program, values, spec, learner, tie, seed, given.most, given.explore)
                for seed in range(given.seeds)
            ]
            middle = [statistics.median(run[i] for run in runs) for i in range(len(SHARES))]
            cells = [f"{n:,.0f}" if n < float("inf") else f"over {given.most:,}" for n in middle]
            print(f"| {name} | {label} | {' | '.join(cells)} | {'yes' if learner.claim.holds else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
