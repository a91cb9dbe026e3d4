"""Cached rows: the equations of a small problem, laid out once, to be written and solved for one set of bounds after another.

`CachedRows` belongs to a graph and an objective. It does what `by_component` does for problems that elimination solves at once,
and gives way to it wherever that is not enough.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.cached_system import CachedArrays, Guess, renew, resolve
from umdp.solver.kernels.rounding import ends
from umdp.solver.kernels.structs import ChoiceRows, EliminationSpace, Players, Quotient, SystemRows
from umdp.solver.methods.table import METHODS
from umdp.solver.reduction.layout import lay_out, plan_of
from umdp.solver.task import Task, Values

if TYPE_CHECKING:
    from umdp.solver.request import SolveOptions

__all__ = ["CachedRows"]

Array = NDArray[Any]
NOWHERE = np.empty(0, np.int64)
NOTHING = np.empty(0)
MOST = 1000, 128  # unknowns, and those of a component: what is solved without looking at the clock


class Found(NamedTuple):
    """What a repeated solve found: values and relative errors (n+2,), rows (n,), nature's answer, and a choice per state (S,).

    `parts` are the bounds in two parts, as in `Workspace`; None without a proof.
    """

    x: Array
    rel: Array
    row: Array
    prob: Array
    choice: Array
    iterations: int
    parts: tuple[Array, Array] | None


class CachedRows:
    """The equations of one graph and objective, for bounds of which nature cuts no edge.

    Attributes
    ----------
    task : the objective; its bounds are those of the first solve
    index : (S,) the unknown or exit of every state
    lock : held by whoever works with the rows and the work space, of which there is one for all solves on a graph
    """

    def __init__(self, task: Task) -> None:
        plan = plan_of(task)
        self.task, self.index = task, plan.index
        self.n = plan.order.size
        self.sizes = plan.comp_size
        self.largest = int(plan.comp_size.max(initial=1))
        self.suits = bool((plan.block < 0).all()) and self.n > 0
        self._plan, self._made = plan, False
        self._bounds: tuple[Array, Array] | None = None
        self._open = True
        self.lock = Lock()

    def _make(self) -> None:
        """Set up rows and work space, once: they are large where components are, and nobody needs them there."""
        if self._made:
            return
        task, plan, maybe = self.task, self._plan, self.task.decided.maybe
        graph, decided = task.graph, task.decided
        widths = np.diff(graph.choice_ptr)
        undecided = decided.usable & maybe[graph.choice_state]
        entries = max(int(widths[undecided].sum()), self.n)
        rows = max(int(np.count_nonzero(undecided)), self.n)
        by_graph = np.where(decided.via >= 0, decided.via, graph.state_ptr[:-1])
        exits = (0.0, 0.0) if task.kind == "R" else ((0.0, 1.0) if task.complement else (1.0, 0.0))
        lost = np.inf if task.kind == "R" else 0.0  # what never reaches the goal earns that
        comp_ptr = np.concatenate([[0], np.cumsum(plan.comp_size)]).astype(np.int64)
        system = SystemRows(
            comp_ptr, np.empty(self.n + 1, np.int64), np.empty(rows + 1, np.int64), np.empty(entries, np.int32),
            np.empty(entries), np.empty(entries), np.empty(rows), np.empty(rows), np.empty(entries, np.int32),
        )  # fmt: skip
        size, widest = self.largest, int(widths.max(initial=1))
        space = EliminationSpace(
            np.empty((size, size)), np.empty((11, size)), np.empty((3, widest)), np.zeros(self.n + 2),
            np.ones(rows, np.bool_), np.zeros(rows), np.zeros(rows), np.zeros((3, self.n + 2)),
            np.zeros((3, self.n + 2)), np.zeros(self.n, np.int64), np.empty(entries),
        )  # fmt: skip
        quotient = Quotient(np.arange(self.n + 1), plan.order, plan.index, decided.usable, plan.stays)
        self._arrays = CachedArrays(
            undecided, by_graph, graph.choice_state, quotient, task.reward, np.array(exits), lost, system,
            np.empty(rows, np.int32), space,
        )  # fmt: skip
        self._made = True

    def fits(self, options: SolveOptions) -> bool:
        """Whether elimination alone is what the method would try first on every component."""
        method = METHODS[options.method]
        unknowns, size = min(method.sweeps_above, MOST[0]), min(method.unswept, MOST[1])
        return self.suits and self.n <= unknowns and self.largest <= size

    def solve(
        self,
        lower: Array,
        upper: Array,
        nature_max: bool,
        start: Array | None,
        before: Array | None,
        options: SolveOptions,
    ) -> Found | None:
        """Solve for new bounds; None where elimination leaves something open, nature may cut edges, or the work space is in use.

        `start` are choices (S,) to start from, `before` the values (n,) that were found for bounds like these.
        """
        if not self.lock.acquire(blocking=False):
            return None  # somebody else is at it, in another thread
        try:
            return self._solve(lower, upper, nature_max, start, before, options)
        finally:
            self.lock.release()

    def _solve(
        self,
        lower: Array,
        upper: Array,
        nature_max: bool,
        start: Array | None,
        before: Array | None,
        options: SolveOptions,
    ) -> Found | None:
        if self._bounds is None or self._bounds[0] is not lower or self._bounds[1] is not upper:
            self._open = not self.renew(lower, upper)
            self.remember(lower, upper)
        if self._open:
            return None
        task, n = self.task, self.n
        start = self.first_choices() if start is None else start
        found, taken = self.room()
        known = NOTHING if before is None or before.size != n else before
        prove, precision, counts = options.prove, options.precision, np.zeros(2, np.int64)
        guess, pull = Guess(NOWHERE if start is None else np.array(start), known), Players(task.agent_max, nature_max)
        most, wanted = (precision / 2, precision / 4) if prove else (np.inf, np.inf)
        solved = resolve(self._arrays, guess, pull, most, wanted, found, taken, counts)
        if not solved:
            return None
        return self.found(found, taken, int(counts[0]), proved=prove)

    def room(self) -> tuple[Array, Array]:
        """Return arrays that `resolve` may write what it finds to."""
        return np.empty(2 * self.n + 4 + self._arrays.rows.target.size), np.empty(
            self.n + self._arrays.by_graph.size, np.int64
        )

    def found(self, found: Array, taken: Array, iterations: int, *, proved: bool = True) -> Found:
        """Return what `resolve` has just written, with a copy of the bounds that stand in the work space."""
        n = self.n
        parts = None
        if proved:
            parts = self._arrays.space.low.copy(), self._arrays.space.high.copy()
            parts[0][1:, n:] = parts[1][1:, n:] = np.nan
        return Found(
            found[: n + 2], found[n + 2 : 2 * n + 4], taken[:n], found[2 * n + 4 :], taken[n:], iterations, parts
        )

    def first_choices(self) -> Array | None:
        """Return the choices (S,) to start from where nothing is known; None where it does not matter."""
        # Policies that never arrive look cheap at first; one that arrives is known already.
        return self._arrays.by_graph if self.task.kind == "R" and not self.task.agent_max else None

    def renew(self, lower: Array, upper: Array) -> bool:
        """Write the rows of new bounds; return whether they can be solved by elimination, nature cutting no edge."""
        self._bounds = None
        self._make()
        graph = self.task.graph
        model = ChoiceRows(graph.state_ptr, graph.choice_ptr, graph.successor, lower, upper, self.task.reward)
        return not renew(self._arrays, model)

    def forget(self) -> None:
        """Take note that somebody else writes the rows: no bounds are known to stand there any more."""
        self._bounds = None

    def remember(self, lower: Array, upper: Array, *, is_open: bool | None = None) -> None:
        """Take note that the rows are those of these bounds, if nobody can change them: the other player may ask for them."""
        frozen = not (lower.flags.writeable or upper.flags.writeable)
        self._bounds = (lower, upper) if frozen else None
        self._open = self._open if is_open is None else is_open

    def arrays(self) -> CachedArrays:
        """Return rows and work space."""
        self._make()
        return self._arrays

    def leaky(self) -> CachedArrays:
        """Return the same with room for one more entry in every row; the pointers of rows, slack and rewards are shared."""
        arrays = self.arrays()
        rows, space = arrays.rows, arrays.space
        entries = rows.target.size + rows.slack.size
        rows = rows._replace(
            entry_ptr=np.empty_like(rows.entry_ptr), target=np.empty(entries, rows.target.dtype), lower=np.empty(entries),
            upper=np.empty(entries), order=np.empty(entries, rows.order.dtype),
        )  # fmt: skip
        room = EliminationSpace(*(each.copy() for each in space))
        widest = space.row.shape[1] + 1
        return arrays._replace(rows=rows, space=room._replace(row=np.empty((3, widest)), other_prob=np.empty(entries)))

    def bracket(self, found: Found, state: int) -> tuple[float, float] | None:
        """Return the bounds of a state as `Values.between` would, None where that takes a look at the graph."""
        task, unknown = self.task, self.index[state]
        if task.decided.infinite[state]:
            return np.inf, np.inf
        x, rel = float(found.x[unknown]), float(found.rel[unknown])
        return (x, x) if unknown >= self.n else self.around(x, rel)

    def around(self, x: float, rel: float) -> tuple[float, float] | None:
        """Return the bounds of an unknown with a value and its relative error; None as for `bracket`."""
        off = self.task.reward_error
        if off > 0.0:
            rel = (rel + off + rel * off) * (1.0 + 2.0**-50)
        low, high = ends(x, rel)
        return None if self.task.kind == "R" and 0 < high < 1e-300 else (low, high)

    def values(self, found: Found, lower: Array, upper: Array, nature_max: bool) -> Values:
        """Return what was found as the values of the task with these bounds."""
        task = replace(self.task, lower=lower, upper=upper, nature_max=nature_max, support_may_shrink=False)
        problem = lay_out(task).problem
        prob = found.prob[: problem.target.size]
        return Values(
            task, found.x, found.rel, self.index, lambda: found.choice, problem, found.row, prob, parts=found.parts
        )
