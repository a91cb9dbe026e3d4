"""Results made by hand, with numbers that can be checked in the head."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.learn import Guarantee
from umdp.paper.results import COLUMNS, Cell, LearningProblem, Results, TrialResult

NEVER = float("inf")
SEEDS = 10
MANY = 40  # of 40 runs that agree, at least nine tenths of all do
LEARNERS = ("LUI", "PAC", "MAP", "UCRL2")
BOUNDS = ("unbounded", "bound [200, 300]", "bound [20, 30]")
STRENGTHS = ("[5, 15]", "[10, 15]", "[15, 20]", "[20, 30]", "[30, 40]", "[40, 50]")
PROBLEMS = {
    "chain": LearningProblem("Chain", True, False, 100.0, 100.0),
    "aircraft": LearningProblem("Aircraft", False, True, 0.5),
    "grid": LearningProblem("Grid", False, True, 0.5),
    "bandit": LearningProblem("Bandit", False, False, 1.0),
    "betting-favourable": LearningProblem("Betting game, favourable", False, False, 40.0),
    "betting-unfavourable": LearningProblem("Betting game, unfavourable", False, False, 10.0),
    "betting": LearningProblem("Betting game", False, False, 40.0, 10.0),
}
SIX = tuple(PROBLEMS)[:6]

Row = tuple[float, float, float]  # trajectories, performance, estimation error


def outcome(cell: Cell, seed: int, rows: Sequence[Row]) -> TrialResult:
    """A run with these rows."""
    table = np.array(rows, float)
    sign = -1 if PROBLEMS[cell.environment].minimise else 1
    columns: dict[str, NDArray[Any]] = dict.fromkeys(COLUMNS, np.zeros(len(table)))
    columns |= {"iterations": np.arange(len(table)), "trajectories": table[:, 0].astype(np.int64)}
    columns |= {
        "performance": table[:, 1],
        "estimation_error": table[:, 2],
        "estimate": table[:, 1] + sign * table[:, 2],
    }
    kinds = {"Confidence sequence": Guarantee("any-time", 0.99), "Clopper-Pearson": Guarantee("fixed-N", 0.99)}
    return TrialResult(cell, seed, columns, kinds.get(cell.learner, Guarantee("none")))


def results(name: str, outcomes: Sequence[TrialResult], trajectories: int, published: bool = False) -> Results:
    """Results of these runs."""
    return Results(name, name, published, trajectories, SEEDS, PROBLEMS, tuple(outcomes), {})


def basic(
    rows: Callable[[str, str, int], Sequence[Row]], trajectories: int = 10**6, **options: Sequence[str]
) -> Results:
    """The basic experiment, each run by environment, learner and seed."""
    return results(
        "basic",
        [
            outcome(Cell(environment, learner), seed, rows(environment, learner, seed))
            for environment in options.get("environments", SIX)
            for learner in options.get("learners", LEARNERS)
            for seed in range(SEEDS)
        ],
        trajectories,
    )


def rising(reach: float, optimum: float, *, minimise: bool, last: int = 10**6, error: float = -0.01) -> list[Row]:
    """A run that is twice as bad as the optimum until it is optimal."""
    bad = 2 * optimum if minimise else optimum / 2
    if reach == 0:
        return [(0, optimum, error), (last, optimum, error)]
    if reach == NEVER:
        return [(0, bad, error), (last, bad, error)]
    return [(0, bad, error), (reach, optimum, error)]


def reaching(reach: Mapping[str, Mapping[str, float]], trajectories: int = 10**6) -> Results:
    """The basic experiment with these first reaches (learner by environment); "*" is any environment."""

    def rows(environment: str, learner: str, seed: int) -> list[Row]:
        problem = PROBLEMS[environment]
        when = {**reach.get("*", {}), **reach.get(environment, {})}[learner]
        return rising(when, problem.optimum, minimise=problem.minimise, last=trajectories)

    return basic(rows, trajectories)


def changing(
    behaviour: Callable[[Cell], tuple[float, float]], after: Sequence[int] = (100,), trajectories: int = 1000
) -> Results:
    """The change experiment; `behaviour` says from when on a run is optimal before the change, and how long after it."""
    outcomes = []
    for environment in ("chain", "betting"):
        problem = PROBLEMS[environment]
        assert problem.later is not None
        for change in after:
            for xi in (1.0, 0.9, 0.8):
                for learner in ("LUI", "MAP", "UCRL2"):
                    for bound in BOUNDS:
                        cell = Cell(environment, learner, bound, xi, change)
                        before, time = behaviour(cell)
                        rows = [
                            row for row in rising(before, problem.optimum, minimise=problem.minimise) if row[0] < change
                        ]
                        rest = rising(time, problem.later, minimise=problem.minimise, last=trajectories)
                        rows += [(change + row[0], *row[1:]) for row in rest if change + row[0] <= trajectories]
                        outcomes += [outcome(cell, seed, rows) for seed in range(MANY)]
    return results("change", outcomes, trajectories)
