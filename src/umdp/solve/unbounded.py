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
    from umdp.solve.desk import Desk
    from umdp.solve.problem import Problem
    from umdp.solve.shape import Shape

__all__ = ["Effort", "Task", "Values", "has_free_zero", "solve_task"]

SMALL = 48  # states up to which a component that does not settle is solved by dense elimination at once
LARGE = 20_000  # states from which threads, progress and time limits matter within a component
FEW = 1000  # unknowns up to which problems do without sweeps, which would have to be compiled
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
            low: Array = np.nextafter(self.x * (1 - self.rel), 0)
        np.copyto(low, self.x, where=(self.rel == 0) | (self.x == 0))
        np.copyto(low, 0.0, where=self.faint)
        unknown = np.isnan(low) | (self.rel >= 1)
        if unknown.any():
            np.copyto(low, np.where(np.isinf(self.x), self.x, 0.0), where=unknown)
        return low

    @property
    def upper(self) -> Array:
        """Bounds from above, shape (S,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            high: Array = np.nextafter(self.x * (1 + self.rel), np.inf)
        np.copyto(high, self.x, where=(self.rel == 0) | (self.x == 0))
        np.copyto(high, TINY, where=self.faint & (high < TINY))
        np.copyto(high, np.inf, where=np.isnan(high) | np.isinf(self.rel))
        return high


def has_free_zero(task: Task) -> bool:
    """Whether nature can set the probability of some listed transition of an undecided state to 0."""
    if task.lower is task.upper:
        return False
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
    choice = np.where(decided.via >= 0, decided.via, graph.state_ptr[:-1])
    maybe = decided.maybe
    effort.undecided = max(effort.undecided, int(np.count_nonzero(maybe)))
    if not maybe.any():
        one, zero = (0.0, 0.0) if task.kind == "R" else (0.0, 1.0) if task.complement else (1.0, 0.0)
        x = np.where(decided.infinite, np.inf, np.where(decided.one, one, zero))
        return Values(x, np.zeros(graph.states), choice)
    layout = lay_out(task)
    problem = layout.problem
    # For a minimal reward, policies that never arrive look cheap at first; one that arrives is known already.
    careful = start is not None or (task.kind == "R" and not task.agent_max)
    first = layout.condense(choice if start is None else start) if careful else None
    values, error, row, prob = solve_problem(problem, task, effort, first)
    x, rel = values[problem.index], error[problem.index]  # what the graph decides became an exit
    np.copyto(x, np.inf, where=decided.infinite)
    np.copyto(choice, layout.spread(row), where=maybe)
    # An undecided probability is positive (one minus it need not be where edges are cut); rewards may be exactly 0.
    positive = task.kind == "P" and not (task.complement and task.cuts)
    return Values(x, rel, choice, problem, row, prob, maybe & (positive | (x > 0)))


def solve_problem(
    problem: Problem, task: Task, effort: Effort, start: Array | None
) -> tuple[Array, Array, Array, Array]:
    """Solve component after component; return (values, relative errors, rows, nature's probabilities)."""
    from umdp.solve.desk import Desk
    from umdp.solve.large import solve_large

    desk = Desk(problem, task, effort, start)
    sizes = desk.sizes
    effort.components = max(effort.components, sizes.size)
    effort.largest = max(effort.largest, int(sizes.max(initial=0)))
    # Small problems do without sweeps, which would have to be compiled.
    small = {"auto": SMALL, "policy": 2**31, "value": 1}[effort.method]
    sweeps = effort.method == "value" or (effort.method == "auto" and problem.n > FEW)
    first, tried, batch = 0, -1, 1
    while first < sizes.size:
        size = int(sizes[first])
        if sweeps and size <= LARGE and first != tried:
            first = tried = desk.settle(first, LARGE)
            continue
        if size <= small:
            # What does not settle has neighbours of its kind: leave more and more of them to elimination.
            stop, batch = min(first + batch, sizes.size) if sweeps else sizes.size, 2 * batch
            first = desk.eliminate(first, stop, small)
            if first == stop or sizes[first] > small:
                continue
        else:
            solve_large(desk, first, swept=sweeps and size <= LARGE)
            loose = bool((desk.rel[desk.part(first)] > effort.precision).any())
            if loose and effort.method == "auto" and size <= DENSE and not effort.stopped:
                effort.tell("elimination", np.nan)
                loose = desk.eliminate(first, first + 1, DENSE, warm=False) == first
            if not loose:
                first += 1
                continue
        if sizes[first] <= EXACT:
            _settle_exactly(desk, first)
        first += 1
    effort.iterations += int(desk.counts[0])
    effort.uncertified += int(desk.counts[1])
    return desk.x, desk.rel, desk.row, desk.prob


def _settle_exactly(desk: Desk, component: int) -> None:
    """Solve a small component in rationals, where floating-point arithmetic left its bracket too wide."""
    from umdp.solve.exact import solve_exactly

    task, inner = desk.task, desk.part(component)
    values = solve_exactly(
        desk.problem, inner.start, inner.stop, desk.x, desk.row, desk.prob, task.agent_max, task.nature_max
    )
    if values is not None:
        desk.x[inner] = [float(v) for v in values]
        desk.rel[inner] = desk.inherited(component) + 2.0**-52
