"""Cached systems: equations kept with a graph, renewed for the next bounds, solved by elimination and judged in one call.

A system of a model that is solved once is the same object. Rows and work space are laid out once; nothing of them is believed:
the judge looks at the model as given, and what it has confirmed are the bounds of all states that a solution shows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.judge.question import JudgedObjective, TwoPart, answer_of, bounds_of, case_of, plausible, plausible_end
from umdp.solver.kernels.structs import (
    ChoiceRows,
    EliminationSpace,
    Players,
    Quotient,
    SystemRows,
    eliminated,
    row_space,
)
from umdp.solver.methods.method import METHODS
from umdp.solver.objective import Request, SolveOptions
from umdp.solver.reduction.layout import build_problem, state_quotient_of
from umdp.solver.result import Bracket, Solution, UncertifiedSolution, mdp_of
from umdp.solver.system_kernels import (
    JUDGED,
    JUDGED_LEAKING,
    OPEN,
    CachedArrays,
    Guess,
    SolvedArrays,
    SolveRequest,
    bounds_at,
    renew,
    renew_leaking,
    resolve,
    solve_judged,
)
from umdp.solver.task import Analysis, Task, Values, task_of

__all__ = ["CachedSystem", "cached_system"]

Array = NDArray[Any]
NOWHERE, NOTHING = np.empty(0, np.int64), np.empty(0)
FAINT = 1e-290  # values that it takes a closer look to tell from 0
MOST = 1000, 128  # unknowns, and those of a component: what is solved without looking at the clock


def cached_system(about: Analysis, request: Request) -> CachedSystem | None:
    """Return the system kept with the graph; None where the graph decides everything, or elimination alone is no way."""
    if not about.kept or not isinstance(request.model, IntervalMDP):
        return None
    memo, key = about.memo, ("system", *request.players)
    assert memo is not None
    if key not in memo:
        task = task_of(about, request.spec.kind, *request.players)
        shared = ("rows", task.agent_max, task.reach_max)  # whichever way nature pulls
        if shared not in memo:
            system = CachedSystem(task) if task.decided.maybe.any() else None
            memo[shared] = system if system is not None and system.suits else None
        memo[key] = memo[shared]
    found: CachedSystem | None = memo[key]
    return found


class Found(NamedTuple):
    """What elimination found: values and relative errors (n+2,), rows (n,), nature's answer, and a choice per state (S,).

    Attributes
    ----------
    leaking : whether rows leak, so that nature's answer is not among what was found
    case, low, high : the question, and what the judge has confirmed (S,) from below and above, each the sum of two numbers
    ends : confirmed bounds of the initial state, rounded outwards
    """

    x: Array
    relative_error: Array
    row: Array
    prob: Array
    choice: Array
    iterations: int
    leaking: bool = False
    case: JudgedObjective | None = None
    low: TwoPart = TwoPart(NOTHING, NOTHING)
    high: TwoPart = TwoPart(NOTHING, NOTHING)
    ends: tuple[float, float] = (-np.inf, np.inf)


class PosedQuestion(NamedTuple):
    """What the judge is asked of a graph and a property, and of which states: unknowns, infinite values, levels of traps.

    Where `leaks`, rows may leak: what nature can hold back by cutting transitions is worth nothing.
    """

    case: JudgedObjective
    states: tuple[Array, Array, Array, bool]
    leaks: bool


class CachedSystem:
    """The equations of one graph and objective, for bounds that come one after another.

    Attributes
    ----------
    task : the objective; its bounds are those of the first solve
    index : (S,) the unknown or exit of every state
    suits : whether no end component had to become one unknown, and something is unknown at all
    lock : held by whoever works with the rows and the work space, of which there is one for all solves on a graph
    """

    def __init__(self, task: Task) -> None:
        plan = state_quotient_of(task)
        self.task, self.index = task, plan.index
        self.n = plan.order.size
        self.sizes = plan.comp_size
        self.largest = int(plan.comp_size.max(initial=1))
        self.suits = bool((plan.block < 0).all()) and self.n > 0
        self.lock = Lock()
        self._written: tuple[Array, Array] | None = None  # bounds whose rows the last judged solve has left
        self._state_quotient = plan
        self._posed: dict[tuple[bool, ...], PosedQuestion] = {}

    def fits(self, options: SolveOptions) -> bool:
        """Whether elimination alone is what the method would try first on every component."""
        method = METHODS[options.method]
        unknowns, size = min(method.sweeps_above, MOST[0]), min(method.unswept, MOST[1])
        return self.suits and self.n <= unknowns and self.largest <= size

    def solve(self, request: Request, otherwise: Callable[[], Solution]) -> Solution | None:
        """Return the solution that the judge confirms; None where elimination is not enough, or the judge not convinced.

        `otherwise` solves without this system, for what it does not know.
        """
        options, found = request.options, self._alone(self._judged, request)
        bounds = None if found is None else self._bounds(found, request.model.initial)
        if found is None or bounds is None or (0.0 < bounds[1] < FAINT if found.leaking else bounds[0] < FAINT):
            return None
        # What lies further out than what was confirmed is confirmed, too; it has the digits that others have seen.
        low, high = min(bounds[0], found.ends[0]), max(bounds[1], found.ends[1])
        bracket = Bracket(*plausible_end(request.spec.kind, low, high))
        if not options.status(bracket).is_precise:
            return None
        options.statistics.iterations += found.iterations
        options.statistics.count(self.n, self.sizes.size, self.largest)
        return self._solution(request, found, bracket, otherwise)

    def solve_uncertified(self, request: Request) -> UncertifiedSolution | None:
        """Return an optimal policy and its value, without a proof; None where elimination is not enough."""
        model, kind, found = request.model, request.spec.kind, self._alone(self._proposed, request)
        bounds = None if found is None else self._bounds(found, model.initial)
        if found is None or bounds is None:
            return None

        def upper() -> Array:
            return plausible(kind, *self._values(found, request).between(slice(None)))[1]

        value, policy = Bracket(*plausible_end(kind, *bounds)).value, Policy.trusted(model, found.choice)
        return UncertifiedSolution(policy, value, lambda: request.ties(upper()), found.x[: self.n], upper)

    def _alone(self, solve: Callable[[Request], Found | None], request: Request) -> Found | None:
        """Return what is found, None where elimination alone is no way, or another thread is at it."""
        if not self.fits(request.options) or not self.lock.acquire(blocking=False):
            return None
        try:
            return solve(request)
        finally:
            self.lock.release()

    def renew(self, lower: Array, upper: Array) -> bool:
        """Write the rows of new bounds; return whether they can be solved by elimination, nature cutting no edge."""
        graph = self.task.graph
        rows = ChoiceRows.of(graph.state_ptr, graph.choice_ptr, graph.successor, lower, upper, self.task.reward)
        return not renew(self.arrays, rows)

    @cached_property
    def arrays(self) -> CachedArrays:
        """Rows and work space, set up once: they are large where components are, and nobody needs them there."""
        task, plan, n = self.task, self._state_quotient, self.n
        graph, decided = task.graph, task.decided
        widths = np.diff(graph.choice_ptr)
        undecided = decided.usable & decided.maybe[graph.choice_state]
        entries = max(int(widths[undecided].sum()), n)
        rows = max(int(np.count_nonzero(undecided)), n)
        by_graph = np.where(decided.via >= 0, decided.via, graph.state_ptr[:-1])
        lost = np.inf if task.kind == "R" else 0.0  # what never reaches the goal earns that
        comp_ptr = np.concatenate([[0], np.cumsum(plan.comp_size)]).astype(np.int64)
        system = SystemRows(
            comp_ptr, np.empty(n + 1, np.int64), np.empty(rows + 1, np.int64), np.empty(entries, np.int32),
            np.empty(entries), np.empty(entries), np.empty(rows), np.empty(rows), np.empty(entries, np.int32),
        )  # fmt: skip
        size, widest = self.largest, int(widths.max(initial=1))
        space = EliminationSpace(
            eliminated(size), row_space(widest), np.zeros(n + 2), np.ones(rows, np.bool_),
            np.zeros(rows), np.zeros(rows), np.zeros((3, n + 2)), np.zeros((3, n + 2)), np.zeros(n, np.int64),
            np.empty(entries),
        )  # fmt: skip
        quotient = Quotient(np.arange(n + 1), plan.order, plan.index, decided.usable, plan.stays)
        return CachedArrays(
            undecided, by_graph, graph.choice_state, quotient, task.reward, np.array(task.exits), lost, system,
            np.empty(rows, np.int32), space,
        )  # fmt: skip

    @cached_property
    def _leaking_arrays(self) -> CachedArrays:
        """The same with room for one more entry in every row; the pointers of rows, slack and rewards are shared."""
        rows, space = self.arrays.rows, self.arrays.space
        entries = rows.target.size + rows.slack.size
        rows = rows._replace(
            entry_ptr=np.empty_like(rows.entry_ptr), target=np.empty(entries, rows.target.dtype), lower=np.empty(entries),
            upper=np.empty(entries), order=np.empty(entries, rows.order.dtype),
        )  # fmt: skip
        room = deepcopy(space)._replace(row=row_space(space.row.key.size + 1), other_prob=np.empty(entries))
        return self.arrays._replace(rows=rows, space=room)

    def _pose(self, request: Request) -> PosedQuestion:
        """Return what the judge is asked, worked out once: all models have the graph of the first."""
        task, model = self.task, request.model
        leaks = task.kind == "P" and not task.complement and task.agent_max and not request.nature_max
        support_may_shrink = leaks and bool((bounds_of(model)[0] <= 0.0).any())
        if (*request.players, support_may_shrink) in self._posed:
            return self._posed[*request.players, support_may_shrink]
        case = case_of(model, request.objective, *request.players, complement=task.complement)
        rows, asked, trap = case.rows, case.asked, np.full(model.states, -1, np.int64)
        if support_may_shrink or (asked.reward and bool(task.decided.infinite.any())):
            from umdp.solver.confirm.witness import trap_levels

            via = task.decided.via
            taken = np.where(via >= 0, via, model.state_ptr[:-1]).astype(np.int64)  # what the policy takes there
            every = asked.all_below if asked.reward else asked.all_above
            trap = trap_levels(rows, asked, taken, every, asked.reward and asked.nature_max)
        states = np.array(self.index), np.array(task.decided.infinite), trap, task.complement
        return self._posed.setdefault((*request.players, support_may_shrink), PosedQuestion(case, states, leaks))

    def _judged(self, request: Request) -> Found | None:
        """Solve and ask the judge; return what was found and what was confirmed of it, None unless all of it was."""
        model, (lower, upper) = request.model, request.bounds
        posed, arrays = self._pose(request), self.arrays
        leaking_arrays = self._leaking_arrays if posed.leaks else arrays
        vectors, passed = np.empty((4, model.states)), np.empty((2, model.states), np.bool_)
        low, high = TwoPart(vectors[0], vectors[1]), TwoPart(vectors[2], vectors[3])
        values, taken = self._room(leaking_arrays)
        out = SolvedArrays(values, taken, low, high, passed[0], passed[1], np.zeros(2, np.int64), np.empty(2))
        rows = posed.case.rows._replace(lower=lower, upper=upper)
        want = SolveRequest(
            self.task.agent_max, request.nature_max, request.options.precision, model.initial, posed.leaks
        )
        self._written = None  # until all are: an interrupt leaves rows of two kinds of bounds
        how = solve_judged(
            arrays, leaking_arrays, rows, posed.case.asked, posed.states, self._guess(request), want, out
        )
        self._written = (lower, upper) if how == JUDGED else None
        if how == OPEN:
            return None
        found, ends = self._found(values, taken, int(out.counts[0])), (float(out.ends[0]), float(out.ends[1]))
        return found._replace(leaking=how == JUDGED_LEAKING, case=posed.case, low=low, high=high, ends=ends)

    def _proposed(self, request: Request) -> Found | None:
        """Solve without a proof; None where elimination leaves something open, or nature may cut edges and that matters."""
        arrays, players, (lower, upper) = self.arrays, Players(self.task.agent_max, request.nature_max), request.bounds
        known = self._written is not None and self._written[0] is lower and self._written[1] is upper
        self._written = None
        if not known and not self.renew(lower, upper):
            if self.task.kind != "P" or self.task.complement or players.agent_max != players.nature_max:
                return None
            arrays = self._leaking_arrays
            rows = self._pose(request).case.rows._replace(lower=lower, upper=upper)
            if not renew_leaking(self.arrays, rows, arrays.rows, True):
                return None
        values, taken = self._room(arrays)
        counts = np.zeros(2, np.int64)
        if not resolve(arrays, self._guess(request), players, np.inf, np.inf, values, taken, counts):
            return None
        return self._found(values, taken, int(counts[0]))

    def _guess(self, request: Request) -> Guess:
        """Return what to start from."""
        start, before = request.first_choices, request.first_unknowns
        if start is None and self.task.kind == "R" and not self.task.agent_max:
            start = self.arrays.by_graph  # policies that never arrive look cheap at first; one that arrives is known
        choice = NOWHERE if start is None else np.array(start)
        return Guess(choice, NOTHING if before is None or before.size != self.n else before)

    def _room(self, arrays: CachedArrays) -> tuple[Array, Array]:
        """Return new arrays for what `resolve` finds and takes."""
        return np.empty(2 * self.n + 4 + arrays.rows.target.size), np.empty(self.n + self.index.size, np.int64)

    def _found(self, values: Array, taken: Array, iterations: int) -> Found:
        """Return what `resolve` has written."""
        n = self.n
        return Found(values[: n + 2], values[n + 2 : 2 * n + 4], taken[:n], values[2 * n + 4 :], taken[n:], iterations)

    def _bounds(self, found: Found, state: int) -> tuple[float, float] | None:
        """Return the bounds of a state as `Values.between` would, None where that takes a look at the graph."""
        task = self.task
        if task.decided.infinite[state]:
            return np.inf, np.inf
        ends = bounds_at(int(self.index[state]), self.n, found.x, found.relative_error, task.reward_error)
        low, high = float(ends[0]), float(ends[1])
        return None if task.kind == "R" and 0 < high < 1e-300 and self.index[state] < self.n else (low, high)

    def _values(self, found: Found, request: Request) -> Values:
        """Return what was found as the values of the task with the bounds of a request."""
        lower, upper = request.bounds
        task = replace(self.task, lower=lower, upper=upper, nature_max=request.nature_max)
        return Values(task, found.x, found.relative_error, self.index, lambda: found.choice)

    def _solution(
        self, request: Request, found: Found, bracket: Bracket, otherwise: Callable[[], Solution]
    ) -> Solution:
        """Return the solution whose bounds are those that were confirmed."""
        model, spec, options = request.model, request.spec, request.options

        def bounds() -> tuple[Array, Array]:
            assert found.case is not None
            low, high = answer_of(found.case, found.low, found.high)
            if found.leaking:
                start = model.initial
                low[start], high[start] = min(low[start], bracket.lower), max(high[start], bracket.upper)
                return low, high
            own = plausible(spec.kind, *self._values(found, request).between(slice(None)))
            return np.fmin(own[0], low), np.fmax(own[1], high)

        def nature() -> MDP:
            from umdp.solver.methods.natures_answer import answer

            if found.leaking:
                return otherwise().nature
            values = self._values(found, request)
            problem = build_problem(values.task, self._state_quotient)
            prob = found.prob[: problem.rows.target.size]
            return mdp_of(model, answer(values.task, replace(values, problem=problem, row=found.row, prob=prob)))

        return Solution(
            model, spec, bracket, bracket, options.status(bracket), options.spent(), bounds,
            lambda: Policy.trusted(model, found.choice), nature, found.x[: self.n],
        )  # fmt: skip
