"""Tasks: one objective over given bounds, and the values that come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.solver.graph.decided import Decided, Edges, sealed

if TYPE_CHECKING:
    from umdp.solver.graph.decided import Shape
    from umdp.solver.kernels.structs import ChoiceRows
    from umdp.solver.reduction.problem import Problem

__all__ = ["DraftBounds", "Task", "Values", "has_free_zero"]

Array = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Task:
    """One objective over given bounds: who pulls which way, what is decided, what is paid.

    `complement` asks for one minus the probability, with the directions of that (complemented) value; `support_may_shrink` says
    whether nature may set some probability to 0; `memo` keeps what depends on the graph alone, for the next task.
    `total` asks for all that is ever earned, so that an end component without reward is no end.
    Rewards are those of the model up to a factor in ``[1 - reward_error, 1 + reward_error]``, bounds up to one in
    ``[1 - blur, 1 + blur]``, a few roundings at most. Bounds and rewards are read-only, as those of a `Shape` are.
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
    support_may_shrink: bool = True
    memo: dict[Any, Any] | None = None
    reward_error: float = 0.0
    blur: float = 0.0
    total: bool = False

    def __post_init__(self) -> None:
        plain = self.lower is self.upper
        for name in ("lower", "upper", "reward"):
            object.__setattr__(self, name, sealed(getattr(self, name)))
        if plain:
            object.__setattr__(self, "upper", self.lower)

    @property
    def graph(self) -> Shape:
        """The graph behind the bounds."""
        return self.edges.graph

    @property
    def rows(self) -> ChoiceRows:
        """The model's choices, as kernels take them."""
        from umdp.solver.kernels.structs import ChoiceRows

        graph = self.graph
        return ChoiceRows(graph.state_ptr, graph.choice_ptr, graph.successor, self.lower, self.upper, self.reward)

    @property
    def reach_max(self) -> bool:
        """Whether the agent wants the goal reached more often (or later, where reaching it is what is paid for)."""
        return self.agent_max != self.complement

    @property
    def joint(self) -> bool:
        """Whether agent and nature pull the same way."""
        return self.agent_max == self.nature_max


class DraftBounds(NamedTuple):
    """Bounds (S,) from below and above that are to be judged, each the sum of two numbers; of not reaching if `complement`."""

    low: tuple[Array, Array]
    high: tuple[Array, Array]
    complement: bool


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
    slow : which components sweeps did not settle in time
    parts : bounds in two parts, where elimination found them (`methods.workspace`)
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
    slow: Array | None = None
    parts: tuple[Array, Array] | None = None

    def candidate(self, size: int) -> DraftBounds:
        """Return the bounds of the first `size` states, for the judge to look at."""
        from umdp.solver.kernels.rounding import spread_parts

        none = np.zeros(size)
        low, high = (self.lower[:size], none), (self.upper[:size], none)
        if self.parts is None or np.isnan(self.parts[0][1]).all():
            return DraftBounds(low, high, self.task.complement)
        index, maybe, error = self.index[:size], self.task.decided.maybe[:size], 2.0 * self.task.reward_error
        low, high = (np.array(low[0]), np.zeros(size)), (np.array(high[0]), np.zeros(size))
        spread_parts(index, maybe, self.parts[0], 1.0 - error, *low)
        spread_parts(index, maybe, self.parts[1], 1.0 + error, *high)
        return DraftBounds(low, high, self.task.complement)

    @cached_property
    def x(self) -> Array:
        """A value inside the bounds, shape (S,)."""
        return self._spread(np.arange(self.index.size))[0]

    @cached_property
    def choice(self) -> Array:
        """The choice taken, shape (S,)."""
        return self.take()

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        return self.between(slice(None))

    @property
    def lower(self) -> Array:
        """Bounds from below, shape (S,)."""
        return self._ends[0]

    @property
    def upper(self) -> Array:
        """Bounds from above, shape (S,)."""
        return self._ends[1]

    def _spread(self, states: Array | slice) -> tuple[Array, Array]:
        """Return values and relative errors of some states."""
        x = self.found[self.index[states]]
        np.copyto(x, np.inf, where=self.task.decided.infinite[states])
        return x, self.error[self.index[states]]

    @cached_property
    def _unpaid(self) -> Mask:
        """The undecided states from which no reward can be collected: what seems to fade away there is exactly 0.

        For a maximal reward that is a matter of all choices, for a minimal one of those taken: their bound is finite, so that
        they do arrive.
        """
        task = self.task
        usable = task.decided.usable
        if not task.agent_max:
            usable = np.zeros(task.graph.choices, dtype=np.bool_)
            usable[self.choice] = True
        paying = task.decided.maybe & np.logical_or.reduceat(usable & (task.reward > 0), task.graph.state_ptr[:-1])
        reached, _ = task.edges.attract(paying, task.decided.maybe, usable, every=False)
        unpaid: Mask = task.decided.maybe & ~reached
        return unpaid

    def between(self, states: Array | slice) -> tuple[Array, Array]:
        """Return the bounds of some states."""
        from umdp.solver.kernels.rounding import ceiling, floor, spread_ends

        task, index, maybe = self.task, self.index[states], self.task.decided.maybe[states]
        low, high = np.empty(index.size), np.empty(index.size)
        infinite, more = task.decided.infinite[states], task.reward_error
        most = 1.0 if task.kind == "P" else np.inf
        faint = spread_ends(index, self.found, self.error, maybe, infinite, more, most, low, high)
        if faint and task.kind == "R":
            np.copyto(high, 0.0, where=self._unpaid[states] & (high < 1e-300))
        if self.least:
            error = Fraction(self.task.reward_error)
            for i, unknown in enumerate(index.tolist()):
                if unknown in self.exact and maybe[i]:
                    value = self.exact[unknown]
                    low[i], high[i] = floor(value * (1 - error)), ceiling(value * (1 + error))
                elif unknown in self.least and maybe[i]:
                    low[i] = max(low[i], self.least[unknown] * (1.0 - 2.0 * self.task.reward_error))
        return low, high


def has_free_zero(task: Task) -> bool:
    """Whether nature can set the probability of some listed transition of an undecided state to 0."""
    if task.lower is task.upper or task.lower.min() > 0.0:
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
