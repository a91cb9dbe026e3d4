"""What is measured on the runs of a sweep: when they reach an optimal policy, whether they keep it, how honest they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from umdp.paper.results import PAPERS, Cell, LearningProblem, Results, TrialResult
from umdp.plot.curves import step

__all__ = ["EXACT", "OPTIMAL", "Evidence", "Runs", "good", "logarithmic_grid", "significance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

OPTIMAL = 0.01
"""A policy within 1 % of the optimum counts as optimal: rarely visited states of the grid take for ever to be settled."""
EXACT = 1e-6
"""The strict reading of optimal, and the error below which an estimate is not misleading: the precision of the solver."""
POINTS = 200
"""Where curves are looked at: 33 times in every tenfold of a million trajectories."""


def logarithmic_grid(trajectories: int, points: int = POINTS) -> Floats:
    """Return the points (points,) from 1 to `trajectories` that are evenly spaced in logarithm.

    They are not rounded, so that a mean over them is a mean over the logarithmic axis of the figures; after 1.7
    trajectories holds what holds after one.

    Examples
    --------
    >>> logarithmic_grid(100, 5).round(2).tolist()
    [1.0, 3.16, 10.0, 31.62, 100.0]
    """
    return np.geomspace(1.0, max(trajectories, 1), points)


def good(performance: Floats, optimum: float, *, minimise: bool, tolerance: float) -> Bools:
    """Return where a performance is within a relative tolerance of the optimum.

    Examples
    --------
    >>> good(np.array([73.9, 74.0, np.inf]), 73.18, minimise=True, tolerance=0.01).tolist()
    [True, False, False]
    """
    if np.isinf(optimum):
        return np.asarray(performance == optimum)
    slack = tolerance * abs(optimum)
    return np.asarray(performance <= optimum + slack if minimise else performance >= optimum - slack)


def significance(first: Floats, second: Floats) -> float:
    """Return the two-sided p-value of Mann and Whitney's test that neither of two samples is the earlier one.

    It looks at ranks only, so that runs that never get there (inf) count as the latest.

    Examples
    --------
    >>> significance(np.array([1.0, 2.0, np.inf]), np.array([1.0, 2.0, np.inf]))
    1.0
    """
    from scipy.stats import mannwhitneyu

    together = np.concatenate([first, second])
    if np.all(together == together[0]):
        return 1.0
    _, ranks = np.unique(together, return_inverse=True)
    return float(mannwhitneyu(ranks[: len(first)], ranks[len(first) :]).pvalue)


class Runs:
    """The runs of one cell as arrays, a row per run; shorter ones are filled with their last values.

    An iteration that was cut short by the end of a run is left out.

    Parameters
    ----------
    outcomes : at least one
    problem : the environment's

    Attributes
    ----------
    trajectories : (runs, rows + 1) float64, inf where there is no row; the last column is inf
    """

    def __init__(self, outcomes: Sequence[TrialResult], problem: LearningProblem) -> None:
        self.outcomes, self.problem = outcomes, problem
        lengths = np.array([len(outcome.complete["trajectories"]) for outcome in outcomes])
        rows = np.arange(lengths.max())
        self._place = (np.cumsum(lengths) - lengths)[:, None] + np.minimum(rows, lengths[:, None] - 1)
        self.trajectories = np.full((len(outcomes), len(rows) + 1), np.inf)
        self.trajectories[:, :-1] = np.where(rows < lengths[:, None], self.column("trajectories"), np.inf)

    def __len__(self) -> int:
        return len(self.outcomes)

    def column(self, name: str) -> Floats:
        """Return a column as (runs, rows) float64; an error that is not defined, as between two infinities, is 0."""
        flat = np.concatenate([np.asarray(outcome.complete[name], np.float64) for outcome in self.outcomes])
        return self._defined(name, flat[self._place])

    def at(self, name: str, points: Floats) -> Floats:
        """Return a column's values (runs, points) in force after so many trajectories."""
        return self._defined(name, np.stack([step(outcome.complete, name, points) for outcome in self.outcomes]))

    def _defined(self, name: str, values: Floats) -> Floats:
        return np.where(np.isnan(values), 0.0, values) if name == "estimation_error" else values

    def optimal(self, tolerance: float = OPTIMAL, *, later: bool = False) -> Bools:
        """Return where (runs, rows) the policy is optimal; with `later` by the optimum after the change."""
        optimum = self.problem.optimum
        if later:
            assert self.problem.later is not None
            optimum = self.problem.later
        return good(self.column("performance"), optimum, minimise=self.problem.minimise, tolerance=tolerance)

    def first_reach(self) -> Floats:
        """Return the first number of trajectories (runs,) with an optimal policy; inf where there is none."""
        optimal = self.optimal()
        return self._when(np.where(optimal.any(1), optimal.argmax(1), optimal.shape[1]))

    def settled(self, tolerance: float = OPTIMAL, *, since: int | None = None) -> Floats:
        """Return the number of trajectories (runs,) from which on the policy stays optimal; inf where it is not in the end.

        With `since`, the number of trajectories before a change, only what is in force from there on counts, by the later
        optimum.
        """
        bad = ~self.optimal(tolerance, later=since is not None)
        first = np.zeros(len(self), np.int64)
        if since is not None:
            first = (self.trajectories <= since).sum(1) - 1
            bad &= np.arange(bad.shape[1]) >= first[:, None]
        last = bad.shape[1] - bad[:, ::-1].argmax(1)  # the row after the last bad one
        when = self._when(np.where(bad.any(1), last, first))
        return when if since is None else np.maximum(when, since)

    def optimal_before(self, change: int, tolerance: float = OPTIMAL) -> Bools:
        """Return whether the policy (runs,) in force just before a change is optimal."""
        row = np.maximum((self.trajectories < change).sum(1) - 1, 0)
        return np.asarray(self.optimal(tolerance)[np.arange(len(self)), row])

    def misleading(self) -> float:
        """Return the estimation error above which an estimate promises more than the policy keeps."""
        optimum = abs(self.problem.optimum)
        return EXACT * max(1.0, optimum if np.isfinite(optimum) else 1.0)

    def _when(self, row: Ints) -> Floats:
        return np.asarray(self.trajectories[np.arange(len(self)), row])


class Evidence:
    """The results of an experiment, its runs gathered by cell once; `seeds` is the smallest number of runs of a cell.

    Learners that the paper does not have do not count there, as no claim is about them.
    """

    def __init__(self, results: Results) -> None:
        self.results = results
        self.trajectories = results.trajectories
        self.cells = results.cells()
        self._runs: dict[Cell, Runs] = {}
        own = [cell for cell in self.cells if cell.learner in PAPERS] or self.cells
        self.seeds = min((len(results.by_cell[cell]) for cell in own), default=0)

    def runs(self, cell: Cell) -> Runs | None:
        """Return the runs of a cell, None if there are none."""
        if cell not in self._runs and cell in self.results.by_cell:
            self._runs[cell] = Runs(self.results.by_cell[cell], self.results.problems[cell.environment])
        return self._runs.get(cell)

    def of(self, environment: str, learner: str) -> Runs | None:
        """Return the runs of a learner in an environment, where it has one cell only (of several: the first)."""
        found = (cell for cell in self.cells if (cell.environment, cell.learner) == (environment, learner))
        cell = next(found, None)
        return None if cell is None else self.runs(cell)
