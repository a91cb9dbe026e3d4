"""What a sweep found: one table of metrics per run, and what is known of the environments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from umdp.statements.guarantee import Guarantee

__all__ = ["COLUMNS", "PAPERS", "WHOLE", "Cell", "LearningProblem", "Results", "TrialResult"]

COLUMNS = (
    "iterations", "trajectories", "steps", "partial", "performance", "estimate", "estimation_error", "model_error",
    "lower", "upper",
)  # fmt: skip
"""The columns of a run: four whole numbers, then values; a row per iteration.

`partial` is 1 where the iteration was cut short by the end of the run, and else 0."""
WHOLE = COLUMNS.index("performance")
"""So many of them are whole numbers."""


NONE = Guarantee("none")
PAPERS = ("LUI", "PAC", "MAP", "UCRL2")
"""The paper's learners, as figures call them."""


@dataclass(frozen=True)
class Cell:
    """One curve of an experiment.

    Attributes
    ----------
    environment, learner : as figures call them
    panel : the panel it is drawn in, where there is more than one per environment
    xi : the weight on the optimistic action; None where exploration is uniform
    after : the number of trajectories before the environment changes; None where it does not
    """

    environment: str
    learner: str
    panel: str = ""
    xi: float | None = 1.0
    after: int | None = None


@dataclass(frozen=True, eq=False)
class TrialResult:
    """One run of a cell.

    Attributes
    ----------
    seed : 0, 1, 2, ...
    columns : the arrays of `COLUMNS`, of equal length; what a row says holds until the next one. Where the environment changes
        there is a row at that very number of trajectories, with the performance on what it has become.
    guarantee : what is promised at the end of the run
    """

    cell: Cell
    seed: int
    columns: Mapping[str, NDArray[Any]]
    guarantee: Guarantee = NONE

    @cached_property
    def complete(self) -> Mapping[str, NDArray[Any]]:
        """The columns without an iteration that the end of the run cut short: a run ends with its last whole iteration.

        Examples
        --------
        >>> import numpy as np
        >>> run = TrialResult(Cell("grid", "LUI"), 0, {"trajectories": np.array([0, 3, 4]), "partial": np.array([0, 0, 1])})
        >>> run.complete["trajectories"].tolist()
        [0, 3]
        """
        cut = self.columns.get("partial")
        if cut is None or not cut.any():
            return self.columns
        return {name: values[cut == 0] for name, values in self.columns.items()}


@dataclass(frozen=True)
class LearningProblem:
    """What is known of an environment.

    Attributes
    ----------
    title : for people
    minimise : whether small values are better
    probability : whether values are probabilities
    optimum : the best possible value
    later : the best possible value after the change, where there is one
    spec : the property
    """

    title: str
    minimise: bool
    probability: bool
    optimum: float
    later: float | None = None
    spec: str = ""


@dataclass(frozen=True, eq=False)
class Results:
    """All runs of an experiment in one mode.

    Attributes
    ----------
    published : whether by the rules of the published code; else by the paper's definitions
    trajectories, seeds : how long the runs are, and how many of each cell
    problems : by the name of the environment
    outcomes : in the order of the experiment's cells, then by seed
    settings : the experiment file, versions and root seed, as plain data
    own : whether it is a user's experiment, of which the paper claims nothing
    """

    name: str
    title: str
    published: bool
    trajectories: int
    seeds: int
    problems: Mapping[str, LearningProblem]
    outcomes: tuple[TrialResult, ...]
    settings: Mapping[str, Any]
    own: bool = False

    @property
    def called(self) -> str:
        """The title, or the name where there is none."""
        return self.title or self.name

    @cached_property
    def by_cell(self) -> Mapping[Cell, list[TrialResult]]:
        """The runs of every cell, by seed; the cells in order."""
        found: dict[Cell, list[TrialResult]] = {}
        for outcome in self.outcomes:
            found.setdefault(outcome.cell, []).append(outcome)
        return found

    def cells(self) -> list[Cell]:
        """Return the cells, in order."""
        return list(self.by_cell)
