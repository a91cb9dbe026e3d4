"""Cached systems: equations kept with a graph, renewed for the next bounds, solved by elimination and judged in one call.

A system of a model that is solved once is the same object. Rows and work space are laid out once; nothing of them is believed:
the judge looks at the model as given, and what it has confirmed are the bounds of all states that a solution shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.model import IntervalMDP, Policy
from umdp.solver.judge.width import plausible, plausible_end
from umdp.solver.request import Request
from umdp.solver.result import Bracket, Solution, UncertifiedSolution, as_good, mdp_of
from umdp.solver.task import Values

if TYPE_CHECKING:
    from umdp.model import MDP
    from umdp.solver.cached_rows import CachedRows, Found
    from umdp.solver.judge import TwoPart
    from umdp.solver.judge.question import JudgedObjective

__all__ = ["CachedSystem"]

Array = NDArray[Any]
NOWHERE, NOTHING = np.empty(0, np.int64), np.empty(0)
FAINT = 1e-290  # values that it takes a closer look to tell from 0


class JudgedVectors(NamedTuple):
    """What the judge has confirmed, of which question: bounds (S,) from below and above, each the sum of two numbers.

    `leaking` says that they were found with rows that leak, so that nature's answer is not among what was found.
    """

    case: JudgedObjective
    low: TwoPart
    high: TwoPart
    leaking: bool

    def bounds(self) -> tuple[Array, Array]:
        """Return the bounds of all states, rounded outwards."""
        from umdp.solver.judge.question import answer_of

        return answer_of(self.case, self.low, self.high)


class CachedSystem:
    """The equations of one graph and property, for interval models that come one after another.

    Attributes
    ----------
    known : the equations, kept with the graph
    """

    def __init__(self, known: CachedRows) -> None:
        self.known, self._made = known, False

    def _make(self, request: Request) -> None:
        """Set up what the judge is asked, and arrays for what it says; once, since all models have the graph of the first."""
        from umdp.solver.judge.question import case_of

        if self._made:
            return
        known, task, model = self.known, self.known.task, request.model
        self._case = case_of(model, request.objective, *request.players, complement=task.complement)
        rows, self._asked = self._case.rows, self._case.asked
        trap = np.full(model.states, -1, np.int64)
        if self._asked.reward and bool(task.decided.infinite.any()):
            from umdp.solver.confirm.witness import trap_levels

            via = task.decided.via
            taken = np.where(via >= 0, via, model.state_ptr[:-1]).astype(np.int64)  # what the policy takes there
            trap = trap_levels(rows, self._asked, taken, self._asked.all_below, self._asked.nature_max)
        # A largest probability in the worst case: what nature can hold back by cutting transitions is worth nothing.
        self._leaks = task.kind == "P" and not task.complement and task.agent_max and not request.nature_max
        if self._leaks:
            from umdp.solver.confirm.witness import trap_levels

            trap = trap_levels(rows, self._asked, np.array(model.state_ptr[:-1]), self._asked.all_above, False)
        self._graph, self._rewards = rows[:3], rows[5:]
        self._states = np.array(known.index), np.array(task.decided.infinite), trap, task.complement
        self._arrays = known.arrays()
        self._leaky = known.leaky() if self._leaks else self._arrays
        self._room = 2 * known.n + 4 + self._leaky.rows.target.size
        self._open = np.empty(model.states, np.bool_), np.empty(model.states, np.bool_)
        self._made = True

    def solve(self, request: Request, otherwise: Callable[[], Solution]) -> Solution | None:
        """Return the solution that the judge confirms; None where elimination is not enough, or the judge not convinced.

        `otherwise` solves without this system, for what it does not know.
        """
        known, options, kind = self.known, request.options, request.spec.kind
        if not known.fits(options) or not known.lock.acquire(blocking=False):
            return None
        try:
            self._make(request)
            found, judged, ends = self._solve(request)
        finally:
            known.lock.release()
        if found is None or judged is None:
            return None
        bounds = known.bracket(found, request.model.initial)
        if bounds is None or (0.0 < bounds[1] < FAINT if judged.leaking else bounds[0] < FAINT):
            return None
        # What lies further out than what was confirmed is confirmed, too; it has the digits that others have seen.
        bracket = Bracket(*plausible_end(kind, min(bounds[0], ends[0]), max(bounds[1], ends[1])))
        if not options.status(bracket).is_precise:
            return None
        options.statistics.iterations += found.iterations
        options.statistics.count(known.n, known.sizes.size, known.largest)
        return self._solution(request, found, judged, bracket, otherwise)

    def _solve(self, request: Request) -> tuple[Found | None, JudgedVectors | None, tuple[float, float]]:
        """Solve and ask the judge; return what was found, what was confirmed of it, and the bounds of the initial state."""
        from umdp.solver.cached_kernels import (
            JUDGED_LEAKING,
            OPEN,
            SOLVED,
            SolvedArrays,
            SolveRequest,
            solve_judged,
        )
        from umdp.solver.judge.rows import ModelRows, TwoPart
        from umdp.solver.kernels.cached_system import Guess

        known, n, model = self.known, self.known.n, request.model
        assert isinstance(model, IntervalMDP)
        start, before = request.first_choices, request.first_unknowns
        start = known.first_choices() if start is None else start
        vectors = np.empty((4, model.states))
        low, high = TwoPart(vectors[0], vectors[1]), TwoPart(vectors[2], vectors[3])
        values, taken = np.empty(self._room), np.empty(n + model.states, np.int64)
        out = SolvedArrays(values, taken, low, high, *self._open, np.zeros(2, np.int64), np.empty(2))
        guess = Guess(
            NOWHERE if start is None else np.array(start), NOTHING if before is None or before.size != n else before
        )
        rows = ModelRows(*self._graph, model.lower, model.upper, *self._rewards)
        precision = request.options.precision
        want = SolveRequest(known.task.agent_max, request.nature_max, precision, model.initial, self._leaks)
        known.forget()
        how = solve_judged(self._arrays, self._leaky, rows, self._asked, self._states, guess, want, out)
        if how == OPEN:
            return None, None, (0.0, 0.0)
        leaking = how == JUDGED_LEAKING
        known.remember(model.lower, model.upper, is_open=leaking)
        found = known.found(values, taken, int(out.counts[0]), proved=not leaking)
        if how == SOLVED:
            return found, None, (0.0, 0.0)
        judged = JudgedVectors(self._case, low, high, leaking)
        return found, judged, (float(out.ends[0]), float(out.ends[1]))

    def _solution(
        self, request: Request, found: Found, judged: JudgedVectors, bracket: Bracket, otherwise: Callable[[], Solution]
    ) -> Solution:
        """Return the solution whose bounds are those that were confirmed."""
        known, model, spec, nature_max = self.known, request.model, request.spec, request.nature_max
        assert isinstance(model, IntervalMDP)

        def values() -> Values:
            return known.values(found, model.lower, model.upper, nature_max)

        def bounds() -> tuple[Array, Array]:
            low, high = judged.bounds()
            if judged.leaking:
                start = model.initial
                low[start], high[start] = min(low[start], bracket.lower), max(high[start], bracket.upper)
                return low, high
            own = plausible(spec.kind, *values().between(slice(None)))
            return np.fmin(own[0], low), np.fmax(own[1], high)

        def nature() -> MDP:
            from umdp.solver.methods.nature import answer

            return otherwise().nature if judged.leaking else mdp_of(model, answer((whole := values()).task, whole))

        options = request.options
        return Solution(
            model, spec, bracket, bracket, options.status(bracket), options.spent(), bounds,
            lambda: Policy.trusted(model, found.choice), nature, found.x[: known.n],
        )  # fmt: skip

    def solve_uncertified(self, request: Request) -> UncertifiedSolution | None:
        """Return an optimal policy and its value, without a proof; None where elimination is not enough."""
        known, model, nature_max, kind = self.known, request.model, request.nature_max, request.spec.kind
        assert isinstance(model, IntervalMDP)
        if not known.fits(request.options):
            return None
        start, before = request.first_choices, request.first_unknowns
        found = known.solve(model.lower, model.upper, nature_max, start, before, request.options)
        bounds = None if found is None else known.bracket(found, model.initial)
        if found is None or bounds is None:
            return None

        def upper() -> Array:
            values = known.values(found, model.lower, model.upper, nature_max)
            return plausible(kind, *values.between(slice(None)))[1]

        value = Bracket(*plausible_end(kind, *bounds)).value
        policy = Policy.trusted(model, found.choice)
        return UncertifiedSolution(
            policy, value, lambda: as_good(model, request.spec, upper()), found.x[: known.n], upper
        )
