"""Compare the basic experiment by definition with a second implementation of it, which shares nothing with the package.

    python -m bench.definitions [SEEDS] [TRAJECTORIES]     # 60 seeds and 10,000 trajectories by default: ten minutes

Iterations, steps, performance, estimates and errors after 10, 100, ... trajectories are compared by ranks, rounded to nine
digits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench import second_loop
from umdp.paper.claims.measures import significance
from umdp.paper.experiments.experiment import Experiment
from umdp.paper.experiments.trial import work
from umdp.paper.results import Cell

LEVEL = 0.01  # for all comparisons together
COLUMNS = ("iterations", "steps", "performance", "estimate", "estimation_error", "model_error")
LEARNERS = {"LUI": "lui", "PAC": "pac", "MAP": "map", "UCRL2": "ucrl2"}
NOTHING = 1e-6  # errors below the precision of the solver
ROOT = 1  # of the seeds here, so that none is one of the reproduction's


class Comparison(NamedTuple):
    """One number of one curve, in both implementations."""

    environment: str
    learner: str
    column: str
    at: int
    ours: float  # the median
    theirs: float
    p: float


def points(trajectories: int) -> list[int]:
    return [at for at in (10, 100, 1000, 10_000, 100_000) if at <= trajectories]


def ours(cell: Cell, seeds: int, trajectories: int) -> dict[int, list[tuple[float, ...]]]:
    """Return the numbers of every run at every point."""
    found: dict[int, list[tuple[float, ...]]] = {at: [] for at in points(trajectories)}
    experiment = Experiment.load("basic").cut(seeds=seeds, trajectories=trajectories, seed=ROOT)
    for trial in experiment.trials():
        if trial.cell == cell:
            run = trial.outcome(work(trial)).complete
            for at, rows in found.items():
                row = int(np.searchsorted(run["trajectories"], at, side="right")) - 1
                rows.append(tuple(float(run[name][row]) for name in COLUMNS))
    return found


def theirs(cell: Cell, seeds: int, trajectories: int) -> dict[int, list[tuple[float, ...]]]:
    """Return the same of the second implementation, in the same order; costs count as we count them."""
    model = second_loop.make(cell.environment)
    found: dict[int, list[tuple[float, ...]]] = {at: [] for at in points(trajectories)}
    sign = -1.0 if cell.environment == "chain" else 1.0
    for seed in range(seeds):
        for _, at, iterations, _, steps, performance, estimate, error, off in second_loop.run(
            model, LEARNERS[cell.learner], seed, trajectories
        ):
            found[at].append((iterations, steps, performance, estimate, sign * error, off))
    return found


def compare(cells: Sequence[Cell], seeds: int, trajectories: int) -> list[Comparison]:
    """Return all comparisons of some curves."""
    made = []
    for cell in cells:
        one, other = ours(cell, seeds, trajectories), theirs(cell, seeds, trajectories)
        for at in points(trajectories):
            for index, column in enumerate(COLUMNS):
                none = NOTHING if column == "estimation_error" else 0.0
                first, second = (_rounded([row[index] for row in found[at]], none) for found in (one, other))
                medians = float(np.median(first)), float(np.median(second))
                p = significance(first, second)
                made.append(Comparison(cell.environment, cell.learner, column, at, *medians, p))
        print(f"{cell.environment} {cell.learner}", file=sys.stderr, flush=True)
    return made


def cells() -> list[Cell]:
    return [cell for cell in Experiment.load("basic").cells() if cell.learner in LEARNERS]


def differing(made: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons that differ, at a level for all of them together."""
    return [each for each in made if each.p < LEVEL / len(made)]


def _rounded(values: Sequence[float], none: float) -> NDArray[np.float64]:
    """Return values to nine digits, and 0 for what is smaller than nothing to speak of."""
    return np.array([0.0 if abs(value) < none else float(f"{value:.8e}") for value in values])


def main(seeds: int, trajectories: int) -> None:
    made = compare(cells(), seeds, trajectories)
    worst = sorted(made, key=lambda each: each.p)[:8]
    print(
        f"{len(made)} comparisons, {seeds} runs each; at a level of {LEVEL:g} for all the bound is {LEVEL / len(made):.1g}:"
    )
    print(f"{len(differing(made))} differ. The smallest p-values:")
    for each in worst:
        where = f"{each.environment} {each.learner} {each.column} after {each.at}"
        print(f"  {each.p:.2g}  {where}: {each.ours:.6g}, {each.theirs:.6g}")


if __name__ == "__main__":
    given = [int(float(each)) for each in sys.argv[1:]]
    main(given[0] if given else 60, given[1] if len(given) > 1 else 10_000)
