"""How runs ended: of every environment and learner, what the policy is worth, and what is promised of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from umdp.paper.results import Cell, Results
from umdp.statements.guarantee import Guarantee

__all__ = ["ENDING_HEAD", "ending_rows"]

ENDING_HEAD = (
    "environment",
    "learner",
    "optimum",
    "the policy's value",
    "worst case on the learned model",
    "misleading runs",
    "promised",
)
"""The head of the table; values are medians over seeds, after the last whole iteration."""
SLACK = 1e-6  # relative to the optimum, below which an estimate misleads nobody


def ending_rows(results: Results) -> list[list[str]]:
    """Return a row for every curve, in order.

    Examples
    --------
    >>> from umdp.paper.results import LearningProblem, TrialResult
    >>> run = TrialResult(Cell("grid", "LUI"), 0, {"performance": np.array([0.1, 0.3]), "estimate": np.array([0.0, 0.25]),
    ...     "estimation_error": np.array([-0.1, -0.05])})
    >>> grid = LearningProblem("Grid", False, True, 0.35)
    >>> ending_rows(Results("mine", "", False, 9, 1, {"grid": grid}, (run,), {}))
    [['Grid', 'LUI', '0.35', '0.3', '0.25', '0 of 1', 'nothing']]
    """
    rows = []
    for cell, runs in results.by_cell.items():
        problem = results.problems[cell.environment]
        optimum = problem.optimum if cell.after is None or problem.later is None else problem.later
        slack = SLACK * max(abs(optimum), SLACK) if math.isfinite(optimum) else SLACK
        wrong = sum(bool((run.complete["estimation_error"] > slack).any()) for run in runs)
        ends = [float(np.median([run.complete[name][-1] for run in runs])) for name in ("performance", "estimate")]
        values = [_shown(optimum), *map(_shown, ends), f"{wrong} of {len(runs)}"]
        rows.append([problem.title, _label(cell, results.cells()), *values, _promised([run.guarantee for run in runs])])
    return rows


def _label(cell: Cell, cells: Sequence[Cell]) -> str:
    """Return the learner's label, with whatever else tells its curve from the others."""
    parts = [cell.learner, cell.panel]
    if len({each.xi for each in cells}) > 1:
        parts.append("uniform" if cell.xi is None else f"xi = {cell.xi:g}")
    if cell.after is not None:
        parts.append(f"change after {cell.after:,}")
    return ", ".join(part for part in parts if part)


def _promised(guarantees: Sequence[Guarantee]) -> str:
    """Return what is promised at the end of every run."""
    levels = [each.level for each in guarantees if each.level is not None]
    if len(levels) < len(guarantees):
        return "nothing"
    when = "whenever you stop" if all(each.kind == "any-time" for each in guarantees) else "for one look"
    return f"{100 * min(levels):.10g} %, {when}"


def _shown(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.4g}"
