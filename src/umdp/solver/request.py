"""Requests: what is asked of which model, who pulls which way, how hard to try and where to start."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.judge.width import Status, status_of
from umdp.solver.objective import Objective, bounds_of, objective_of
from umdp.solver.result import Bracket, Solution, Statistics
from umdp.solver.watch import Watch
from umdp.spec import Spec

__all__ = ["Request", "SolveOptions", "SolveStatistics", "Start"]

Array = NDArray[Any]


@dataclass
class SolveStatistics:
    """What a solve has taken so far, in all its parts; `stopped` once a limit has ended it."""

    undecided: int = 0
    components: int = 0
    largest: int = 0
    iterations: int = 0
    stopped: bool = False

    def count(self, undecided: int, components: int, largest: int) -> None:
        """Note the size of a system; the largest one counts."""
        self.undecided = max(self.undecided, undecided)
        self.components, self.largest = max(self.components, components), max(self.largest, largest)


@dataclass(frozen=True, eq=False)
class SolveOptions:
    """How hard to try, and what was spent: shared by all parts of one solve.

    Attributes
    ----------
    precision, method, threads, progress : as in `umdp.solve`
    watch : says when time is up
    prove : whether a bracket is wanted; exploration needs a direction only
    cutoff : expected rewards of more than so many times the largest single one are not worth a proof
    begun : when it began, by `time.monotonic`
    statistics : what was spent; options that are derived from these count with them
    """

    precision: float
    method: str = "auto"
    threads: int = 1
    progress: Callable[[str, float], None] | None = None
    watch: Watch = field(default_factory=Watch)
    prove: bool = True
    cutoff: float = np.inf
    begun: float = field(default_factory=time.monotonic)
    statistics: SolveStatistics = field(default_factory=SolveStatistics)

    def is_late(self) -> bool:
        """Return whether time is up, and note it."""
        self.statistics.stopped = self.statistics.stopped or self.watch.is_up()
        return self.statistics.stopped

    def tell(self, what: str, width: float) -> None:
        """Report progress to the caller, if anyone listens; note when time is up."""
        if self.progress is not None:
            self.progress(what, width)
        self.is_late()

    def status(self, bracket: Bracket, otherwise: Status = Status.IMPRECISE, unit: float = 0.0) -> Status:
        """Return what the judge says stands behind a bracket; see `judge.width.status_of`."""
        stopped = self.statistics.stopped
        return status_of(bracket.lower, bracket.upper, self.precision, Status.STOPPED if stopped else otherwise, unit)

    def spent(self) -> Statistics:
        """Return what the solve took."""
        known = self.statistics
        took = time.monotonic() - self.begun
        return Statistics(known.undecided, known.components, known.largest, known.iterations, took)


class Start(NamedTuple):
    """Where a solve begins: choices (S,), and the values of a cached system's unknowns; either may be missing."""

    choice: Array | None = None
    unknowns: Array | None = None


@dataclass(frozen=True, eq=False)
class Request:
    """One question: the value of a property on a model, of the best policy or of a given one.

    Attributes
    ----------
    model, spec : what is asked
    agent_max, nature_max : which way the players pull
    options : how hard to try
    start : an earlier solution, a policy or their arrays to start from; the answer does not depend on it
    policy : the policy whose value is asked; None for the best
    """

    model: MDP | IntervalMDP
    spec: Spec
    agent_max: bool
    nature_max: bool
    options: SolveOptions
    start: Solution | Policy | Start | None = None
    policy: Policy | None = None

    @property
    def players(self) -> tuple[bool, bool]:
        """Whether the agent maximises, and whether nature does."""
        return self.agent_max, self.nature_max

    @cached_property
    def objective(self) -> Objective:
        """What the property comes to on the model."""
        return objective_of(self.model, self.spec)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The bounds (T,) on the model's probabilities."""
        return bounds_of(self.model)

    @property
    def first_choices(self) -> Array | None:
        """The choices (S,) to start from; None where there are none."""
        start = self.start.policy if isinstance(self.start, Solution) else self.start
        return None if start is None or start.choice is None or start.choice.ndim > 1 else start.choice

    @property
    def first_unknowns(self) -> Array | None:
        """The values to start from, of the unknowns of a cached system; None where there are none."""
        return None if self.start is None or isinstance(self.start, Policy) else self.start.unknowns

    def of(self, model: MDP | IntervalMDP, spec: Spec | None = None) -> Request:
        """Return the same request of another model, with nothing to start from."""
        return replace(self, model=model, spec=self.spec if spec is None else spec, start=None, policy=None)
