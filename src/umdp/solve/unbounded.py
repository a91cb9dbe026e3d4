"""Reachability and expected reward without step bounds, component by component."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
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
    prove: bool = True
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
    whether nature may set some probability to 0; `memo` keeps what depends on the graph alone, for the next task.
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
    memo: dict[Any, Any] | None = None

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
    """Certified values of all states, and nature's answer on the rows solved.

    What is asked of every state is worked out when it is asked for: often it is the initial state alone.

    Attributes
    ----------
    task : the objective
    found, error : (n+2,) values of unknowns and exits with their relative error bounds
    index : (S,) the unknown or exit of every state
    take : returns a choice for every state
    problem, row, prob : what was solved, the rows taken and nature's probabilities on them; None if the graph decides all
    """

    task: Task
    found: Array
    error: Array
    index: Array
    take: Callable[[], Array]
    problem: Problem | None = None
    row: Array | None = None
    prob: Array | None = None

    @cached_property
    def x(self) -> Array:
        """A value inside the bounds, shape (S,)."""
        return self._spread(np.arange(self.index.size))[0]

    @cached_property
    def choice(self) -> Array:
        """The choice taken, shape (S,)."""
        return self.take()

    @cached_property
    def lower(self) -> Array:
        """Bounds from below, shape (S,)."""
        return self.between(slice(None))[0]

    @cached_property
    def upper(self) -> Array:
        """Bounds from above, shape (S,)."""
        return self.between(slice(None))[1]

    def _spread(self, states: Array | slice) -> tuple[Array, Array]:
        """Return values and relative errors of some states."""
        x = self.found[self.index[states]]
        np.copyto(x, np.inf, where=self.task.decided.infinite[states])
        return x, self.error[self.index[states]]

    def between(self, states: Array | slice) -> tuple[Array, Array]:
        """Return the bounds of some states."""
        task = self.task
        x, rel = self._spread(states)
        # Where a positive value comes close to the smallest numbers there are, relative errors are not under control. An
        # undecided probability is positive (one minus it need not be where edges are cut); rewards may be exactly 0.
        faint = task.decided.maybe[states] & (x < TINY)
        if task.kind == "R" or (task.complement and task.cuts):
            faint &= x > 0
        exact = (rel == 0) | (x == 0)
        with np.errstate(invalid="ignore", over="ignore"):
            low, high = np.nextafter(x * (1 - rel), 0), np.nextafter(x * (1 + rel), np.inf)
        np.copyto(low, x, where=exact)
        np.copyto(high, x, where=exact)
        if faint.any():
            low, high = np.where(faint, 0.0, low), np.where(faint, np.maximum(high, TINY), high)
        unknown = np.isnan(low) | (rel >= 1)
        if unknown.any():
            low = np.where(unknown, np.where(np.isinf(x), x, 0.0), low)
            high = np.where(np.isnan(high) | np.isinf(rel), np.inf, high)
        return low, high


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
    maybe = decided.maybe
    effort.undecided = max(effort.undecided, int(np.count_nonzero(maybe)))

    def by_graph() -> Array:
        return np.where(decided.via >= 0, decided.via, graph.state_ptr[:-1])

    if not maybe.any():
        exits = np.array([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)][0 if task.kind == "R" else 1 if task.complement else 2])
        return Values(task, exits, np.zeros(2), np.where(decided.one, 0, 1), by_graph)
    layout = lay_out(task)
    # For a minimal reward, policies that never arrive look cheap at first; one that arrives is known already.
    careful = start is not None or (task.kind == "R" and not task.agent_max)
    first = layout.condense(by_graph() if start is None else start) if careful else None
    values, error, row, prob = solve_problem(layout.problem, task, effort, first)

    def take() -> Array:
        return np.where(maybe, layout.spread(row), by_graph())

    return Values(task, values, error, layout.problem.index, take, layout.problem, row, prob)


def solve_problem(
    problem: Problem, task: Task, effort: Effort, start: Array | None
) -> tuple[Array, Array, Array, Array]:
    """Solve component after component; return (values, relative errors, rows, nature's probabilities)."""
    from umdp.solve.desk import Desk

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
            loose = sizes[first] <= EXACT or not _prove_large(desk, first, swept=True)
        else:
            loose = not _prove_large(desk, first, swept=sweeps and size <= LARGE)
            if loose and effort.method == "auto" and size <= DENSE and not effort.stopped:
                effort.tell("elimination", np.nan)
                loose = desk.eliminate(first, first + 1, DENSE, warm=False) == first
        if loose and sizes[first] <= EXACT:
            _settle_exactly(desk, first)
        first += 1
    effort.iterations += int(desk.counts[0])
    effort.uncertified += int(desk.counts[1])
    return desk.x, desk.rel, desk.row, desk.prob


def _prove_large(desk: Desk, component: int, *, swept: bool) -> bool:
    """Solve a component by sweeps and sparse systems; whether that gave bounds narrow enough."""
    from umdp.solve.large import solve_large

    solve_large(desk, component, swept=swept)
    return not bool((desk.rel[desk.part(component)] > desk.effort.precision / 2).any())


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
