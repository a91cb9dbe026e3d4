"""Requests: what is asked of which model, who pulls which way, how hard to try and where to start.

Compiled kernels do not ask for the time. They look at a flag (`umdp.solver.kernels.clock`), which one thread of the process
raises at the deadline: kernels let other threads run. Looks can be counted instead, so that tests stop at the same place on every
machine.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.judge.question import Status, status_of
from umdp.solver.objective import Objective, bounds_of, objective_of
from umdp.solver.result import Bracket, Solution, Statistics
from umdp.spec import Spec

__all__ = ["Request", "SolveOptions", "SolveStatistics", "Start", "Watch"]

LONGEST = 3600.0  # seconds that the thread sleeps at most
CROWDED = 256  # deadlines from which those nobody waits for are removed


class Watch:
    """Says whether time is up, in Python and in kernels.

    Parameters
    ----------
    deadline : float
        When time is up, by `time.monotonic`.
    looks : int
        How many looks find that it is not, 0 for any number: a clock for tests.

    Attributes
    ----------
    flag : (2,) int64, whether time is up, and how many looks are left (0: they do not count)

    Examples
    --------
    >>> watch = Watch(looks=2)
    >>> watch.is_up(), watch.is_up(), watch.is_up()
    (False, True, True)
    >>> Watch().is_up()
    False
    """

    def __init__(self, deadline: float = np.inf, looks: int = 0) -> None:
        self.deadline = deadline
        self.flag: NDArray[np.int64] = np.array([0, looks], dtype=np.int64)
        if deadline < np.inf:
            _ALARM.add(deadline, self.flag)

    def is_up(self) -> bool:
        """Return whether time is up."""
        if self.flag[1] > 0:
            self.flag[1] -= 1
            self.flag[0] |= self.flag[1] == 0
        if time.monotonic() > self.deadline:
            self.flag[0] = 1
        return bool(self.flag[0])

    @property
    def left(self) -> float:
        """The seconds left."""
        return max(self.deadline - time.monotonic(), 0.0)

    def __getstate__(self) -> dict[str, Any]:
        return {"deadline": np.inf, "flag": np.array(self.flag)}  # elsewhere, clocks show another time


class _Alarm:
    """One thread that raises flags when their time has come; flags that nobody holds any more are forgotten."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._due: list[tuple[float, int, weakref.ref[NDArray[np.int64]]]] = []
        self._count = itertools.count()
        self._thread: threading.Thread | None = None

    def add(self, deadline: float, flag: NDArray[np.int64]) -> None:
        """Have a flag raised at a time."""
        with self._condition:
            if len(self._due) > CROWDED:
                self._due = [each for each in self._due if each[2]() is not None]
                heapq.heapify(self._due)
            heapq.heappush(self._due, (deadline, next(self._count), weakref.ref(flag)))
            if self._thread is None or not self._thread.is_alive():  # a forked process has none
                self._thread = threading.Thread(target=self._wait, name="umdp time limits", daemon=True)
                self._thread.start()
            self._condition.notify()

    def _wait(self) -> None:
        with self._condition:
            while True:
                now = time.monotonic()
                while self._due and self._due[0][0] <= now:
                    flag = heapq.heappop(self._due)[2]()
                    if flag is not None:
                        flag[0] = 1
                    flag = None
                self._condition.wait(min(self._due[0][0] - now, LONGEST) if self._due else LONGEST)


_ALARM = _Alarm()


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
