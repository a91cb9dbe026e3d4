"""Reachability and expected reward without step bounds, component by component."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solve.qualitative import Decided, Edges
from umdp.solve.rounding import EPS, LEAST, MOST, above, below, ceiling, compose, floor, repeated

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

    def is_late(self) -> bool:
        """Return whether time is up, and note it."""
        self.stopped = self.stopped or time.monotonic() > self.deadline
        return self.stopped

    def tell(self, what: str, width: float) -> None:
        """Report progress to the caller, if anyone listens; note when time is up."""
        if self.progress is not None:
            self.progress(what, width)
        self.is_late()


@dataclass(frozen=True, eq=False)
class Task:
    """One objective over given bounds: who pulls which way, what is decided, what is paid.

    `complement` asks for one minus the probability, with the directions of that (complemented) value; `cuts` says
    whether nature may set some probability to 0; `memo` keeps what depends on the graph alone, for the next task.
    Rewards are those of the model up to a factor in ``[1 - reward_error, 1 + reward_error]``, bounds up to one in
    ``[1 - blur, 1 + blur]``, a few roundings at most.
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
    reward_error: float = 0.0
    blur: float = 0.0

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
    exact : the unknowns of which the value is known without any error
    least : what unknowns solved in rationals are at least, even if that exceeds the largest number there is
    """

    task: Task
    found: Array
    error: Array
    index: Array
    take: Callable[[], Array]
    problem: Problem | None = None
    row: Array | None = None
    prob: Array | None = None
    exact: dict[int, Fraction] = field(default_factory=dict)
    least: dict[int, float] = field(default_factory=dict)

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
        decided = self.task.decided
        x, rel = self._spread(states)
        known = ~decided.maybe[states]
        if self.task.reward_error > 0.0:
            rel = (rel + self.task.reward_error + rel * self.task.reward_error) * (1.0 + 2.0**-50)
        low, high = below(x, rel), above(x, rel)
        np.copyto(low, x, where=known)
        np.copyto(high, x, where=known)
        if self.least:
            error = Fraction(self.task.reward_error)
            for i, unknown in enumerate(self.index[states].tolist()):
                if unknown in self.exact and not known[i]:
                    value = self.exact[unknown]
                    low[i], high[i] = floor(value * (1 - error)), ceiling(value * (1 + error))
                elif unknown in self.least and not known[i]:
                    low[i] = max(low[i], self.least[unknown] * (1.0 - 2.0 * self.task.reward_error))
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
    return bool((high[rows] - task.upper[candidates] >= 1 - 1e-9).any())


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
    desk = solve_problem(layout.problem, task, effort, first)
    row = desk.row

    def take() -> Array:
        return np.where(maybe, layout.spread(row), by_graph())

    return Values(
        task, desk.x, desk.rel, layout.problem.index, take, layout.problem, row, desk.prob, desk.exact, desk.least
    )


def solve_problem(problem: Problem, task: Task, effort: Effort, start: Array | None) -> Desk:
    """Solve component after component; the desk has values, relative errors, rows and nature's probabilities."""
    from umdp.solve.desk import Desk

    desk = Desk(problem, task, effort, start)
    sizes = desk.sizes
    effort.components = max(effort.components, sizes.size)
    effort.largest = max(effort.largest, int(sizes.max(initial=0)))
    # Small problems do without sweeps, which would have to be compiled.
    small = {"auto": SMALL, "policy": 2**31, "value": 1}[effort.method]
    # Bounds are swept in value form, which needs probabilities that a division leaves all their digits.
    sweeps = (effort.method == "value" or (effort.method == "auto" and problem.n > FEW)) and not problem.faint
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
            loose = not _prove_large(desk, first, swept=problem.faint or (sweeps and size <= LARGE))
            if loose and effort.method == "auto" and size <= DENSE and not effort.stopped:
                effort.tell("elimination", np.nan)
                loose = desk.eliminate(first, first + 1, DENSE, warm=False) == first
        if loose and sizes[first] <= EXACT:
            _solve_exactly(desk, first)
        first += 1
    if effort.prove and problem.n <= EXACT and not bool((desk.rel[: problem.n] <= effort.precision / 2).all()):
        # Components are tight given their exits, but errors have added up on the way: leave no error to inherit.
        for component in range(sizes.size):
            _solve_exactly(desk, component)
    effort.iterations += int(desk.counts[0])
    effort.uncertified += int(desk.counts[1])
    return desk


def _prove_large(desk: Desk, component: int, *, swept: bool) -> bool:
    """Solve a component by sweeps and sparse systems; whether that gave bounds narrow enough."""
    from umdp.solve.large import solve_large

    solve_large(desk, component, swept=swept)
    return not bool((desk.rel[desk.part(component)] > desk.effort.precision / 2).any())


def _solve_exactly(desk: Desk, component: int) -> None:
    """Solve a small component in rationals, where floating-point arithmetic left its bracket too wide.

    Where all exits are known exactly, so are the values. Otherwise the errors of the exits are inherited, that of bounds which
    are rounded themselves (`Task.blur`) counts once a state and twice for the ratio (`rounding`: perturbed rows), and the
    nearest floating-point number is off by one rounding.
    """
    from umdp.solve.exact import solve_exactly

    task, inner, n = desk.task, desk.part(component), desk.problem.n
    exits = desk.exits(component)
    for s in range(inner.start, inner.stop):
        desk.exact.pop(s, None)
    inherited = max((float(desk.rel[t]) for t in exits if t not in desk.exact), default=0.0)
    rewards = desk.problem.reward if desk.problem.given is None else desk.problem.given.reward
    if not inherited < np.inf or not np.isfinite(rewards).all():
        return
    known = {t: desk.exact[t] if t in desk.exact else Fraction(float(desk.x[t])) for t in exits}
    values = solve_exactly(
        desk.problem, inner.start, inner.stop, known, desk.row, desk.prob, task.agent_max, task.nature_max,
        desk.effort.is_late,
    )  # fmt: skip
    if values is None:
        return
    exact = task.blur == 0.0 and all(t in desk.exact or t >= n for t in exits)
    own = compose(repeated(3.0 * task.blur, inner.stop - inner.start), 2.0 * EPS)
    for s, value in zip(range(inner.start, inner.stop), values, strict=True):
        error = compose(inherited, own)
        desk.x[s] = 0.0 if value == 0 else max(floor(value), LEAST)
        desk.rel[s] = 0.0 if value == 0 else error if value < Fraction(MOST) else np.inf
        desk.least[s] = float(below(desk.x[s : s + 1], np.array([error]))[0])
        if exact:
            desk.exact[s] = value
