"""The panels of a figure: which curves are seen together, and on what scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp import plot
from umdp.paper.results import Cell, LearningProblem, Results

__all__ = ["Panel", "panels", "weights"]

POINTS = 160  # where a curve is looked at
SPREAD = 100  # how many times larger than others values must be for a logarithmic axis

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Panel:
    """The curves of one environment that are seen together.

    Attributes
    ----------
    row : what tells it from other panels of the environment; "" if nothing does
    after : the number of trajectories before the change, if there is one
    runs : those of every learner
    weights : on the optimistic action, of every learner; None where it explores uniformly
    spread : the metrics that span orders of magnitude in this environment
    at : where the curves are looked at
    """

    problem: LearningProblem
    row: str
    after: int | None
    runs: Mapping[str, Sequence[Columns]]
    weights: Mapping[str, float | None]
    spread: frozenset[plot.Metric]
    at: NDArray[np.int64]

    @property
    def title(self) -> str:
        """The environment, and the row if there are more."""
        return f"{self.problem.title}, {self.row}" if self.row else self.problem.title

    def bands(self, metric: plot.Metric) -> dict[str, plot.Band]:
        """Return the curves of a metric."""
        return metric.bands(self.runs, self.at, logarithmic=metric in self.spread, optimum=self.problem.optimum)

    def axis(self, metric: plot.Metric, bands: Iterable[plot.Band]) -> plot.ValueAxis:
        """Return an axis for the curves of a metric in this environment."""
        return metric.axis(
            bands, logarithmic=metric in self.spread, optimum=self.problem.optimum, show=self.guides(metric)
        )

    def guides(self, metric: plot.Metric) -> list[float]:
        """Return the values that are drawn as dashed lines: the optimum, before and after a change."""
        ends = [self.problem.optimum, None if self.after is None else self.problem.later]
        return [value for value in ends if value is not None] if metric is plot.PERFORMANCE else []


def panels(results: Results, cells: Sequence[Cell]) -> list[Panel]:
    """Return a panel for every environment, row and change among the cells, in order.

    Cells of one learner in one panel differ in their weight only; `weights` sees to it that there is one.
    """
    environments = {cell.environment for cell in cells}
    spread = {name: _spread(results, name) for name in environments}
    at = plot.grid(results.trajectories, POINTS)
    groups: dict[tuple[str, str, int | None], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.environment, cell.panel, cell.after), []).append(cell)
    return [
        Panel(
            results.problems[name],
            row,
            after,
            {cell.learner: [run.complete for run in results.by_cell[cell]] for cell in some},
            {cell.learner: cell.xi for cell in some},
            spread[name],
            at if after is None else np.union1d(at, [after]),
        )
        for (name, row, after), some in groups.items()
    ]


def weights(cells: Sequence[Cell]) -> list[tuple[float | None, list[Cell]]]:
    """Return the weights on the optimistic action that need a figure of their own, with the cells it shows.

    A learner that explores uniformly and in no other way is in every figure. Where every learner has one weight in each panel,
    even if not the same everywhere, there is one figure; its weight is None where it is not the same.

    Examples
    --------
    >>> cells = [Cell("chain", "LUI", xi=1.0), Cell("chain", "LUI", xi=0.8), Cell("chain", "MAP", xi=None)]
    >>> [(xi, [cell.learner for cell in some]) for xi, some in weights(cells)]
    [(1.0, ['LUI', 'MAP']), (0.8, ['LUI', 'MAP'])]
    >>> len(weights([Cell("chain", "LUI", xi=1.0), Cell("bandit", "LUI", xi=0.9)]))
    1
    """
    curves: dict[tuple[object, ...], dict[float | None, Cell]] = {}
    for cell in cells:
        curves.setdefault((cell.environment, cell.panel, cell.after, cell.learner), {})[cell.xi] = cell
    if all(len(found) == 1 for found in curves.values()):
        common = {cell.xi for cell in cells} - {None}
        return [(common.pop() if len(common) == 1 else None, list(cells))] if cells else []
    mixed = any(None in found and len(found) > 1 for found in curves.values())
    several = [xi for xi in dict.fromkeys(cell.xi for cell in cells) if xi is not None or mixed]
    chosen = [(xi, [found.get(xi) or _uniform(found) for found in curves.values()]) for xi in several]
    return [(xi, [cell for cell in some if cell is not None]) for xi, some in chosen]


def _uniform(found: Mapping[float | None, Cell]) -> Cell | None:
    """Return the cell of a learner that explores uniformly and in no other way."""
    return found.get(None) if len(found) == 1 else None


def _spread(results: Results, environment: str) -> frozenset[plot.Metric]:
    """Return the metrics that span orders of magnitude in an environment, so that means say little and logarithms more."""
    problem = results.problems[environment]
    columns = [outcome.complete for outcome in results.outcomes if outcome.cell.environment == environment]
    performance = np.concatenate([each["performance"] for each in columns])
    error = np.concatenate([each["estimation_error"] for each in columns])
    performance, error = performance[~np.isnan(performance)], np.abs(error[np.isfinite(error)])
    found = set()
    if (
        problem.minimise
        and len(performance)
        and performance.min() > 0
        and performance.max() > SPREAD * performance.min()
    ):
        found.add(plot.PERFORMANCE)
    if len(error) and problem.optimum and error.max() > SPREAD * abs(problem.optimum):
        found.add(plot.ESTIMATION_ERROR)
    return frozenset(found)
