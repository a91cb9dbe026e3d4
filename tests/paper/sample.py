"""Synthetic results: curves with the shapes of real ones, from seeded random numbers, without a single run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.paper.results import Cell, LearningProblem, Results, TrialResult

PROBLEMS = {
    "chain": LearningProblem("Chain", True, False, 73.1798135276, 73.1798135276, 'Rmin=? [ F "goal" ]'),
    "aircraft": LearningProblem("Aircraft", False, True, 0.3024, None, 'Pmax=? [ !"collision" U "goal" ]'),
    "grid": LearningProblem("Grid", False, True, 0.34895503, None, 'Pmax=? [ !"trap" U "goal" ]'),
    "bandit": LearningProblem("Bandit", False, False, 0.99, None, 'Rmax=? [ F "goal" ]'),
    "betting-favourable": LearningProblem(
        "Betting game, favourable", False, False, 39.36256, None, 'Rmax=? [ F "done" ]'
    ),
    "betting-unfavourable": LearningProblem(
        "Betting game, unfavourable", False, False, 10.0, None, 'Rmax=? [ F "done" ]'
    ),
    "betting": LearningProblem("Betting game", False, False, 39.36256, 10.0, 'Rmax=? [ F "done" ]'),
}
ACYCLIC = ("aircraft", "bandit", "betting-favourable", "betting-unfavourable")
LEARNERS = ("LUI", "PAC", "MAP", "UCRL2")
SPEED = {"LUI": 40.0, "PAC": 150.0, "MAP": 90.0, "UCRL2": 3e4, "Confidence sequence": 6e3, "Clopper-Pearson": 1.2e3}
STRENGTHS = ("[5, 15]", "[10, 15]", "[15, 20]", "[20, 30]", "[30, 40]", "[40, 50]")


def outcome(cell: Cell, seed: int, problem: LearningProblem, trajectories: int, rows: int = 300) -> TrialResult:
    """Return a made-up run: it approaches the optimum, is thrown back by a change, and has errors to match."""
    names = [cell.environment, cell.learner, cell.panel, str(cell.xi), str(cell.after)]
    rng = np.random.default_rng([seed, *"".join(names).encode()])
    looks = np.unique(np.rint(np.exp(np.sort(rng.uniform(0, np.log(trajectories), rows)))).astype(np.int64))
    at = np.union1d(looks, [0, trajectories] if cell.after is None else [0, cell.after, trajectories])
    speed = SPEED.get(cell.learner, 60.0) * rng.lognormal(0, 0.5)
    since, optimum = at.astype(np.float64), np.full(len(at), problem.optimum)
    if cell.after is not None:
        changed = at >= cell.after
        since = np.where(changed, (at - cell.after) * (0.1 if "unbounded" in cell.panel else 1.0), at)
        optimum[changed] = problem.optimum if problem.later is None else problem.later
    left = 1 / (1 + (since / speed) ** 1.3) * rng.uniform(0.8, 1.0) + 0.02 / (1 + since / speed)
    left = np.where(since > 30 * speed, 0.0, left)
    width = 1 / np.sqrt(1 + since * 300 / speed)
    if problem.minimise:
        columns = _large(left, width, optimum, cell.learner, rng)
    else:
        columns = _small(left, width, optimum, cell, rng)
    columns["model_error"] = width * rng.uniform(0.95, 1.0)
    count = np.arange(len(at), dtype=np.int64)
    return TrialResult(cell, seed, {"iterations": count, "trajectories": at, "steps": at * 20, **columns})


def _wander(count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Noise in which neighbours are alike, as those of a run are."""
    noise = np.convolve(rng.normal(0, 1, count + 40), np.hanning(41), mode="valid")
    return np.asarray(noise / np.sqrt((np.hanning(41) ** 2).sum()))[:count]


def _large(
    left: NDArray[Any], width: NDArray[Any], optimum: NDArray[Any], learner: str, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Values to be minimised, over a hundred orders of magnitude."""
    noisy = np.clip(left * np.exp(0.6 * _wander(len(left), rng)), 0, 1.5)
    performance = optimum * np.exp(np.minimum(noisy, 1.2) * np.log(2e9 / 73))
    estimate = 10 ** np.minimum(np.log10(optimum) + 1.02e2 * width**2 * rng.uniform(0.9, 1.1), 120)
    if learner == "MAP":
        estimate = optimum * (1 + _wander(len(left), rng) * width)
    if learner == "UCRL2":
        performance[1:3], estimate[0] = np.inf, np.inf
    with np.errstate(invalid="ignore"):
        error = np.nan_to_num(performance - estimate, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return {
        "performance": performance, "estimate": estimate, "estimation_error": error, "lower": estimate, "upper": estimate,
    }  # fmt: skip


def _small(
    left: NDArray[Any], width: NDArray[Any], optimum: NDArray[Any], cell: Cell, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Values to be maximised, of one order of magnitude."""
    steps = np.rint(np.clip(left * np.exp(0.4 * _wander(len(left), rng)), 0, 1) * 30) / 30
    if cell.environment == "betting-unfavourable" and cell.learner != "MAP":
        steps[:] = 0
    performance = optimum * (1 - 0.9 * steps)
    lean = 0.3 * _wander(len(left), rng) if cell.learner == "MAP" else -np.ones(len(left))
    estimate = np.maximum(performance + lean * optimum * width, 0)
    return {
        "performance": performance, "estimate": estimate, "estimation_error": estimate - performance, "lower": estimate,
        "upper": estimate,
    }  # fmt: skip


def made(
    name: str,
    cells: Sequence[Cell],
    *,
    seeds: int = 3,
    trajectories: int = 10**6,
    published: bool = False,
    rows: int = 300,
) -> Results:
    """Return results of the given cells."""
    names = list(dict.fromkeys(cell.environment for cell in cells))
    problems = {each: PROBLEMS.get(each, LearningProblem(each, False, True, 0.7)) for each in names}
    outcomes = tuple(
        outcome(cell, seed, problems[cell.environment], trajectories, rows) for cell in cells for seed in range(seeds)
    )
    settings = {
        "name": name, "trajectories": trajectories, "seeds": seeds, "root_seed": 2022, "published": published,
        "versions": {"umdp": "0.1.0", "numpy": "2.0.0", "python": "3.11.7"},
        "learners": [{"name": "LUI", "strength": [5, 10], "bound": None}, {"name": "PAC <Hoeffding>", "error_rate": 0.01}],
    }  # fmt: skip
    return Results(name, f"The {name} experiment", published, trajectories, seeds, problems, outcomes, settings)


def basic(**options: Any) -> Results:
    """Six environments, four to six learners."""
    cells = []
    for environment in list(PROBLEMS)[:6]:
        some = [*LEARNERS] if options.get("published") else [*LEARNERS, "Confidence sequence"]
        if environment in ACYCLIC and not options.get("published"):
            some.append("Clopper-Pearson")
        xi = 0.9 if options.get("published") and environment in {"bandit", "betting-favourable"} else 1.0
        cells += [
            Cell(environment, learner, xi=None if options.get("published") and learner == "MAP" else xi)
            for learner in some
        ]
    return made("basic", cells, **options)


def strength(**options: Any) -> Results:
    """One environment, six strengths."""
    return made("strength", [Cell("grid", learner) for learner in STRENGTHS], **options)


def change(**options: Any) -> Results:
    """Two environments that change."""
    trajectories = options.get("trajectories", 10**6)
    cells = [
        Cell(environment, learner, panel, xi, after)
        for environment in ("chain", "betting")
        for panel in ("unbounded", "bound [200, 300]", "bound [20, 30]")
        for learner in ("LUI", "MAP", "UCRL2")
        for xi in (1.0, 0.9, 0.8)
        for after in (100, 1000, 10_000, 100_000)
        if after < trajectories
    ]
    return made("change", cells, **options)
