"""Solving the same small problem again and again, with other bounds: what the graph fixes is kept, and so is all work space.

`Repetition` belongs to a graph and an objective. It does what `by_component` does for problems that elimination solves at once,
and gives way to it wherever that is not enough.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.equations import compress
from umdp.solver.kernels.policy_iteration import solve_small
from umdp.solver.kernels.rounding import ends
from umdp.solver.kernels.structs import EliminationOptions, EliminationSpace, Players, SystemRows, Unknowns
from umdp.solver.methods.table import METHODS
from umdp.solver.reduction.layout import lay_out, plan_of
from umdp.solver.reduction.problem import FAINT
from umdp.solver.task import Task, Values

if TYPE_CHECKING:
    from umdp.solver.request import SolveOptions

__all__ = ["Repetition"]

Array = NDArray[Any]
Arrays = tuple[Any, ...]
NOWHERE = np.empty(0, np.int64)
NOTHING = np.empty(0)
MOST = 1000, 128  # unknowns, and those of a component: what is solved without looking at the clock


@kernel(allocates=False)
def is_open(choice_ptr: Array, undecided: Array, lower: Array, upper: Array) -> bool:
    """Whether nature may cut an edge of an undecided choice (C,), or a bound is so small that a division costs it digits."""
    for c in range(choice_ptr.size - 1):
        if not undecided[c]:
            continue
        most = 0.0
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            if 0.0 < lower[t] < 2.0 * FAINT or 0.0 < upper[t] < 2.0 * FAINT:
                return True
            most += upper[t]
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            if lower[t] <= 0.0 and most - upper[t] >= 1.0 - 1e-9:
                return True
    return False


@kernel
def resolve(
    about: Arrays,
    start: Array,
    by_graph: Array,
    before: Array,
    most: float,
    equations: Arrays,
    agent_max: bool,
    nature_max: bool,
    wanted: float,
    space: Arrays,
    found: Array,
    taken: Array,
    counts: Array,
) -> bool:
    """Solve all components by elimination, from a policy `start` (S,) and values `before` (n,), either of which may be empty.

    Return whether that gave what is `wanted`, and relative errors of at most `most`. `found` receives values, relative errors
    (n + 2 each) and nature's answer, `taken` the rows of unknowns (n) and the choices of states (S). The tuples are those of a
    `Repetition`.
    """
    n, exits, origin, choice_state = about
    comp_ptr, row_ptr, entry_ptr, target, lower, upper, slack, reward, order = equations
    a, work, row_work, tail, allowed, gains, sizes, low, high, other_row, other_prob = space
    rows = SystemRows(comp_ptr, row_ptr, entry_ptr, target, lower, upper, slack, reward, order)
    room = EliminationSpace(a, work, row_work, tail, allowed, gains, sizes, low, high, other_row, other_prob)
    x, rel, prob = found[: n + 2], found[n + 2 : 2 * n + 4], found[2 * n + 4 :]
    row, choice = taken[:n], taken[n:]
    for s in range(choice.size):
        choice[s] = by_graph[s]
    for q in range(n):
        x[q] = before[q] if before.size > 0 else 0.0
        rel[q] = 0.0
        row[q] = row_ptr[q]
        if start.size > 0:  # the row that stands for one of the choices to start from, the first elsewhere
            for r in range(row_ptr[q], row_ptr[q + 1]):
                if start[choice_state[origin[r]]] == origin[r]:
                    row[q] = r
                    break
    for k in range(2):
        x[n + k], rel[n + k] = exits[k], 0.0
    for t in range(entry_ptr[row_ptr[n]]):
        prob[t] = lower[t]
    first, stop, subnormal = comp_ptr[0], comp_ptr.size - 1, n < 0  # literals would have it compiled once more
    options = EliminationOptions(start.size > 0, before.size > 0, subnormal, wanted)
    unknowns, players = Unknowns(x, rel, row, prob), Players(agent_max, nature_max)
    never = np.zeros(2, np.int64)
    solved = solve_small(first, stop, a.shape[0], rows, unknowns, players, options, room, counts, never)
    if solved < stop:
        return False
    for q in range(n):
        if not rel[q] <= most:
            return False
        choice[choice_state[origin[row[q]]]] = origin[row[q]]
    return True


@kernel(allocates=False)
def renew(undecided: Array, fixed: Arrays, lower: Array, upper: Array, more: Arrays) -> bool:
    """Write the rows of new bounds, unless `is_open` says that more is needed; return whether it does."""
    n, member_ptr, members, index, state_ptr, choice_ptr, successor = fixed
    reward, usable, stays, target, low, high, entry_ptr, slack, row_reward, origin, order, lost, row_ptr = more
    if is_open(choice_ptr, undecided, lower, upper):
        return True
    first = member_ptr[0]
    rows, entries = compress(
        first, n, first, first, n, member_ptr, members, index, state_ptr, choice_ptr, successor, lower, upper, reward,
        usable, stays, target, low, high, entry_ptr, slack, row_reward, origin, order, lost, row_ptr,
    )  # fmt: skip
    row_ptr[n], entry_ptr[rows] = rows, entries
    return False


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


class Repetition:
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
        self._undecided = decided.usable & maybe[graph.choice_state]
        entries = max(int(widths[self._undecided].sum()), self.n)
        rows = max(int(np.count_nonzero(self._undecided)), self.n)
        self._entries = entries
        self._by_graph = np.where(decided.via >= 0, decided.via, graph.state_ptr[:-1])
        exits = (0.0, 0.0) if task.kind == "R" else ((0.0, 1.0) if task.complement else (1.0, 0.0))
        lost = np.inf if task.kind == "R" else 0.0  # what never reaches the goal earns that
        target, low, high = np.empty(entries, np.int32), np.empty(entries), np.empty(entries)
        entry_ptr, slack, reward = np.empty(rows + 1, np.int64), np.empty(rows), np.empty(rows)
        origin, order, row_ptr = np.empty(rows, np.int32), np.empty(entries, np.int32), np.empty(self.n + 1, np.int64)
        self._fixed = (
            self.n, np.arange(self.n + 1), plan.order, plan.index, graph.state_ptr, graph.choice_ptr, graph.successor,
        )  # fmt: skip
        self._more: Arrays = (
            task.reward, decided.usable, plan.stays, target, low, high, entry_ptr, slack, reward, origin, order, lost, row_ptr,
        )  # fmt: skip
        self._about: Arrays = self.n, np.array(exits), origin, graph.choice_state
        comp_ptr = np.concatenate([[0], np.cumsum(plan.comp_size)]).astype(np.int64)
        self._equations: Arrays = comp_ptr, row_ptr, entry_ptr, target, low, high, slack, reward, order
        size, widest = self.largest, int(widths.max(initial=1))
        self._space: Arrays = (
            np.empty((size, size)), np.empty((11, size)), np.empty((3, widest)), np.zeros(self.n + 2),
            np.ones(rows, np.bool_), np.zeros(rows), np.zeros(rows), np.zeros((3, self.n + 2)),
            np.zeros((3, self.n + 2)), np.zeros(self.n, np.int64), np.empty(entries),
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
        solved = resolve(
            self._about, NOWHERE if start is None else np.array(start), self._by_graph, known, precision / 2 if prove else np.inf,
            self._equations, task.agent_max, nature_max, precision / 4 if prove else np.inf, self._space, found, taken, counts,
        )  # fmt: skip
        if not solved:
            return None
        return self.found(found, taken, int(counts[0]), proved=prove)

    def room(self) -> tuple[Array, Array]:
        """Return arrays that `resolve` may write what it finds to."""
        return np.empty(2 * self.n + 4 + self._entries), np.empty(self.n + self._by_graph.size, np.int64)

    def found(self, found: Array, taken: Array, iterations: int, *, proved: bool = True) -> Found:
        """Return what `resolve` has just written, with a copy of the bounds that stand in the work space."""
        n = self.n
        parts = None
        if proved:
            parts = self._space[7].copy(), self._space[8].copy()
            parts[0][1:, n:] = parts[1][1:, n:] = np.nan
        return Found(
            found[: n + 2], found[n + 2 : 2 * n + 4], taken[:n], found[2 * n + 4 :], taken[n:], iterations, parts
        )

    def first_choices(self) -> Array | None:
        """Return the choices (S,) to start from where nothing is known; None where it does not matter."""
        # Policies that never arrive look cheap at first; one that arrives is known already.
        return self._by_graph if self.task.kind == "R" and not self.task.agent_max else None

    def renew(self, lower: Array, upper: Array) -> bool:
        """Write the rows of new bounds; return whether they can be solved by elimination, nature cutting no edge."""
        self._bounds = None
        self._make()
        return not renew(self._undecided, self._fixed, lower, upper, self._more)

    def forget(self) -> None:
        """Take note that somebody else writes the rows: no bounds are known to stand there any more."""
        self._bounds = None

    def remember(self, lower: Array, upper: Array, *, is_open: bool | None = None) -> None:
        """Take note that the rows are those of these bounds, if nobody can change them: the other player may ask for them."""
        frozen = not (lower.flags.writeable or upper.flags.writeable)
        self._bounds = (lower, upper) if frozen else None
        self._open = self._open if is_open is None else is_open

    def leaky(self) -> tuple[Arrays, Arrays]:
        """Return equations and work space like those of `parts`, with room for one more entry in every row."""
        self._make()
        comp_ptr, row_ptr, entry_ptr, target, _, _, slack, reward, order = self._equations
        entries = target.size + slack.size
        low, high = np.empty(entries), np.empty(entries)
        more = np.empty(entries, target.dtype), low, high, slack, reward, np.empty(entries, order.dtype)
        widest = self._space[2].shape[1] + 1
        space = [np.empty((3, widest)) if place == 2 else each.copy() for place, each in enumerate(self._space)]
        return (comp_ptr, row_ptr, np.empty_like(entry_ptr), *more), (*space[:-1], np.empty(entries))

    def parts(self) -> Arrays:
        """Return undecided choices, choices by the graph; tuples of the graph, what `renew` writes, facts, equations, space."""
        self._make()
        return self._undecided, self._by_graph, self._fixed, self._more, self._about, self._equations, self._space

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
        task = replace(self.task, lower=lower, upper=upper, nature_max=nature_max, cuts=False)
        problem = lay_out(task).problem
        prob = found.prob[: problem.target.size]
        return Values(
            task, found.x, found.rel, self.index, lambda: found.choice, problem, found.row, prob, parts=found.parts
        )
