"""Reachability and expected reward without step bounds, component by component."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solve.qualitative import Decided, Edges

if TYPE_CHECKING:
    from umdp.solve.problem import Problem
    from umdp.solve.shape import Shape

__all__ = ["Effort", "Task", "Values", "has_free_zero", "solve_task"]

SMALL = 48  # states up to which a component is solved by dense elimination at once
DENSE = 1000  # states up to which it is where nothing else certifies it
EXACT = 64  # states up to which a component that rounding leaves loose is solved in rationals
TINY = 1e-301  # below this, relative rounding errors are not under control
Array = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass
class Effort:
    """How hard to try, and what was spent: shared by all parts of one solve."""

    precision: float
    method: str = "auto"
    threads: int = 1
    deadline: float = np.inf
    progress: Callable[[str, float], None] | None = None
    iterations: int = 0
    components: int = 0
    largest: int = 0
    undecided: int = 0
    uncertified: int = 0
    stopped: bool = False

    def tell(self, what: str, width: float) -> None:
        """Report progress to the caller, if anyone listens; note when time is up."""
        if self.progress is not None:
            self.progress(what, width)
        if time.monotonic() > self.deadline:
            self.stopped = True


@dataclass(frozen=True, eq=False)
class Task:
    """One objective over given bounds: who pulls which way, what is decided, what is paid.

    `complement` asks for one minus the probability, with the directions of that (complemented) value; `cuts` says
    whether nature may set some probability to 0.
    """

    edges: Edges
    lower: Array
    upper: Array
    kind: str
    agent_max: bool
    nature_max: bool
    decided: Decided
    reward: Array
    goal: Mask
    left: Mask
    complement: bool = False
    cuts: bool = True

    @property
    def graph(self) -> Shape:
        """The graph behind the bounds."""
        return self.edges.graph

    @property
    def reach_max(self) -> bool:
        """Whether the agent wants the goal reached more often (or later, where reaching it is what is paid for)."""
        return self.agent_max != self.complement

    @property
    def joint(self) -> bool:
        """Whether agent and nature pull the same way."""
        return self.agent_max == self.nature_max


@dataclass(frozen=True, eq=False)
class Values:
    """Per state: a value, its relative error bound, the choice taken; and nature's answer on the rows solved."""

    x: Array
    rel: Array
    choice: Array
    problem: Problem | None = None
    row: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    prob: Array = field(default_factory=lambda: np.zeros(0))
    positive: Array = field(default_factory=lambda: np.zeros(1, np.bool_))

    @property
    def faint(self) -> Array:
        """Where a positive value has come too close to the smallest numbers there are, shape (S,)."""
        return self.positive & (self.x < TINY)

    @property
    def lower(self) -> Array:
        """Bounds from below, shape (S,)."""
        with np.errstate(invalid="ignore", over="ignore"):
            low = self.x * (1 - self.rel)
        low = np.where((self.rel == 0) | (self.x == 0), self.x, np.nextafter(low, 0))
        low = np.where(self.faint, 0.0, low)
        return np.where(np.isnan(low) | (self.rel >= 1), np.where(np.isinf(self.x), self.x, 0.0), low)

    @property
    def upper(self) -> Array:
        """Bounds from above, shape (S,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            high = self.x * (1 + self.rel)
        high = np.where((self.rel == 0) | (self.x == 0), self.x, np.nextafter(high, np.inf))
        high = np.where(self.faint, np.maximum(high, TINY), high)
        return np.where(np.isnan(high) | np.isinf(self.rel), np.inf, high)


def has_free_zero(task: Task) -> bool:
    """Whether nature can set the probability of some listed transition of an undecided state to 0."""
    graph = task.graph
    open_rows = task.decided.maybe[graph.choice_state] & task.decided.usable
    candidates = np.flatnonzero(np.repeat(open_rows, np.diff(graph.choice_ptr)) & (task.lower <= 0.0))
    if candidates.size == 0:
        return False
    high = np.add.reduceat(task.upper, graph.choice_ptr[:-1])
    rows = np.searchsorted(graph.choice_ptr, candidates, side="right") - 1
    # A bound of 0 does not count where the other successors cannot take the whole probability.
    return bool((high[rows] - task.upper[candidates] >= 1 - 1e-12).any())


def solve_task(task: Task, effort: Effort, start: Array | None = None) -> Values:
    """Return certified values of every state; the system solved must have a unique solution.

    That is so unless nature may cut edges while pulling against the agent, which `game` reduces to this.
    """
    from umdp.solve.collapse import lay_out

    graph, decided = task.graph, task.decided
    one, zero = (0.0, 1.0) if task.complement else (1.0, 0.0)
    x = np.where(decided.infinite, np.inf, np.where(decided.one, one if task.kind == "P" else 0.0, zero))
    rel = np.zeros(graph.states)
    choice = np.where(decided.via >= 0, decided.via, graph.state_ptr[:-1])
    maybe = decided.maybe
    effort.undecided = max(effort.undecided, int(np.count_nonzero(maybe)))
    if not maybe.any():
        return Values(x, rel, choice)
    layout = lay_out(task)
    problem = layout.problem
    # For a minimal reward, policies that never arrive look cheap at first; one that arrives is known already.
    careful = start is not None or (task.kind == "R" and not task.agent_max)
    first = layout.condense(choice if start is None else start) if careful else None
    values, error, row, prob = solve_problem(problem, task, effort, first)
    x[maybe] = values[problem.index[maybe]]
    rel[maybe] = error[problem.index[maybe]]
    choice[maybe] = layout.spread(row)[maybe]
    # An undecided probability is positive (one minus it need not be where edges are cut); rewards may be exactly 0.
    positive = task.kind == "P" and not (task.complement and task.cuts)
    return Values(x, rel, choice, problem, row, prob, maybe & (positive | (x > 0)))


def solve_problem(
    problem: Problem, task: Task, effort: Effort, start: Array | None
) -> tuple[Array, Array, Array, Array]:
    """Solve component after component; return (values, relative errors, rows, nature's probabilities)."""
    from umdp.solve.component import solve_small
    from umdp.solve.large import Desk, solve_large

    n = problem.n
    x = np.zeros(n + 2)
    x[n], x[n + 1] = problem.exits
    rel = np.zeros(n + 2)
    row = np.array(problem.row_ptr[:-1]) if start is None else start
    prob = np.array(problem.lower)
    sizes = np.diff(problem.comp_ptr)
    limit = {"auto": SMALL, "policy": 2**31, "value": 1}[effort.method]
    counts = np.zeros(2, dtype=np.int64)
    row_work = np.empty((3, problem.widest))
    effort.components = max(effort.components, sizes.size)
    effort.largest = max(effort.largest, int(sizes.max(initial=0)))
    share = 0.5 / max(int(np.count_nonzero(sizes > limit)), 1)
    room = [np.empty((0, 0)), np.empty((10, 0))]  # dense work space, as large as it has been needed so far
    rows, entries = problem.slack.size, problem.target.size
    space = (
        np.ones(rows, dtype=np.bool_), np.zeros(rows), np.zeros(rows), np.empty(n + 2), np.empty(n + 2),
        np.empty(n, dtype=np.int64), np.empty(entries),
    )  # fmt: skip
    desk = Desk.of_size(n)

    def eliminate(first: int, stop: int, most: int, warm: bool) -> int:
        size = int(min(sizes[first:stop].max(initial=1), most))
        if room[0].shape[0] < size:
            room[:] = np.empty((size, size)), np.empty((10, size))
        arguments: tuple[Any, ...] = (
            problem.comp_ptr, problem.row_ptr, problem.entry_ptr, problem.target, problem.lower, problem.upper,
            problem.slack, problem.reward, problem.order, prob, row, x, rel, task.agent_max, task.nature_max, warm,
            effort.precision / 4, *room, row_work, *space, counts,
        )  # fmt: skip
        return int(solve_small(first, stop, most, *arguments))

    first = 0
    while first < sizes.size:
        first = eliminate(first, sizes.size, limit, start is not None)
        if first == sizes.size:
            break
        begin, end = int(problem.comp_ptr[first]), int(problem.comp_ptr[first + 1])
        loose = True
        if sizes[first] > limit:
            solve_large(problem, begin, end, task, effort, x, rel, row, prob, share, desk, proper=start is not None)
            loose = bool((rel[begin:end] > effort.precision).any())
            if loose and effort.method == "auto" and sizes[first] <= DENSE and not effort.stopped:
                effort.tell("elimination", np.nan)
                loose = eliminate(first, first + 1, DENSE, False) == first
        if loose and sizes[first] <= EXACT:
            _settle_exactly(problem, begin, end, task, x, rel, row, prob)
        first += 1
    effort.iterations += int(counts[0])
    effort.uncertified += int(counts[1])
    return x, rel, row, prob


def _settle_exactly(
    problem: Problem, begin: int, end: int, task: Task, x: Array, rel: Array, row: Array, prob: Array
) -> None:
    """Solve a small component in rationals, where floating-point arithmetic left its bracket too wide."""
    from umdp.solve.exact import solve_exactly

    values = solve_exactly(problem, begin, end, x, row, prob, task.agent_max, task.nature_max)
    if values is None:
        return
    rows = slice(int(problem.entry_ptr[problem.row_ptr[begin]]), int(problem.entry_ptr[problem.row_ptr[end]]))
    outside = problem.target[rows]
    outside = outside[(outside < begin) | (outside >= end)]
    x[begin:end] = [float(v) for v in values]
    rel[begin:end] = float(rel[outside].max(initial=0.0)) + 2.0**-52
