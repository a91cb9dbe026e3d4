"""`prepare`: a solver bound to a graph and a property, for bounds that come one after another.

`PolicyValues` is the like for policies on a process that is known: equations are set up once, and nothing is proved.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.model import MDP, Graph, IntervalMDP, Policy
from umdp.solver.answer import answer, solve, solve_uncertified
from umdp.solver.objective import Request, SolveOptions, Start, players
from umdp.solver.result import Solution, UncertifiedSolution
from umdp.solver.task import analyse, task_of
from umdp.spec import Spec
from umdp.spec.spec import needs_automaton

if TYPE_CHECKING:
    from umdp.solver.system import CachedSystem

__all__ = ["PolicyValues", "Prepared", "keep_start", "prepare"]

Array = NDArray[Any]


class Prepared:
    """A solver bound to a graph and a property: what these fix is worked out once, with the first bounds.

    Attributes
    ----------
    graph, spec : what it is bound to

    Examples
    --------
    >>> from umdp import Graph, prepare
    >>> coin = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], labels={"goal": [1]})
    >>> solver = prepare(coin, 'Pmaxmin=? [ F "goal" ]')
    >>> for low in (0.2, 0.3):
    ...     print(solver.solve([low, 0.5, 1, 1], [0.5, 0.8, 1, 1]).value)
    0.2
    0.3
    """

    def __init__(self, graph: Graph, spec: Spec | str) -> None:
        self.graph = graph.graph
        self.spec = Spec.parse(spec) if isinstance(spec, str) else spec
        self._system: CachedSystem | None = None
        self._players: tuple[bool, bool] | None = None
        self._caches = self.spec.aim == "reach" and self.spec.nature is not None and not needs_automaton(self.spec)

    def solve(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        start: Solution | Policy | None = None,
        precision: float = 1e-6,
        method: str = "auto",
        threads: int = 1,
        time_limit: float = np.inf,
        cutoff: float = np.inf,
    ) -> Solution:
        """Return the solution for bounds of shape (T,); options are those of `umdp.solve`, and so is the answer.

        `start` is best the solution for bounds that were like these.
        """
        model = self.graph.with_bounds(lower, upper)
        return solve(
            model, self.spec, start=start, precision=precision, method=method, threads=threads, time_limit=time_limit,
            cutoff=cutoff,
        )  # fmt: skip

    def solve_model(
        self,
        model: IntervalMDP,
        *,
        start: Array | None = None,
        before: Array | None = None,
        precision: float,
        method: str,
        cutoff: float = np.inf,
    ) -> Solution:
        """Return the solution for a model with this graph; `start` are choices (S,), `before` the `unknowns` of a solution."""
        options, begin = SolveOptions(precision, method, cutoff=cutoff), Start(start, before)
        system, request = self._cached(model, options, begin)
        found = None if system is None else system.solve(request, lambda: answer(model, self.spec, options))
        return answer(model, self.spec, options, begin) if found is None else found

    def solve_uncertified(
        self,
        model: IntervalMDP,
        *,
        start: Array | None = None,
        before: Array | None = None,
        precision: float,
        method: str,
    ) -> UncertifiedSolution:
        """Return an optimal policy for a model with this graph, and its value, without a proof; `start` are choices (S,)."""
        options, begin = SolveOptions(precision, method, prove=False), Start(start, before)
        system, request = self._cached(model, options, begin)
        found = None if system is None else system.solve_uncertified(request)
        return solve_uncertified(model, self.spec, options, begin) if found is None else found

    def _cached(self, model: IntervalMDP, options: SolveOptions, start: Start) -> tuple[CachedSystem | None, Request]:
        """Return the system kept with the graph, None where it is not enough or not needed, and the request."""
        if self._players is None:
            self._players = players(model, self.spec)
            if self._caches:
                from umdp.solver.system import cached_system

                request = Request(model, self.spec, *self._players, options)
                self._system = cached_system(analyse(model, self.spec), request)
        return self._system, Request(model, self.spec, *self._players, options, start)


def keep_start(starts: dict[str, Array], name: str, found: Solution | UncertifiedSolution) -> None:
    """Keep, under a name, what a later solve may start from: choices (S,) and values; what there is none of is dropped."""
    for each, array in ((name, found.policy.choice), (f"{name} values", found.unknowns)):
        starts.pop(each, None)
        if array is not None and array.ndim == 1:
            starts[each] = array


def prepare(graph: Graph, spec: Spec | str) -> Prepared:
    """Return a solver for a graph and a property, to be given bounds.

    Parameters
    ----------
    graph : Graph
        Or a model, of which the graph counts.
    spec : Spec or str
        The property; on intervals it says what nature does, as in ``Pmaxmin``.
    """
    return Prepared(graph, spec)


SMALL = 400  # states of a component up to which elimination is cheap


class PolicyValues:
    """Evaluates policies of one property on a process: to measure by, never to promise.

    Examples
    --------
    >>> from umdp import MDP, Policy, Spec
    >>> coin = MDP([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], [0.5, 0.5, 0.25, 0.75, 1, 1], labels={"heads": [1]})
    >>> values = PolicyValues(Spec.parse('Pmaxmin=? [ F "heads" ]'))
    >>> values.of(coin, Policy(coin, [1, 2, 3]))
    0.25
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._process: MDP | None = None
        self._known: CachedSystem | None = None
        self._last: tuple[NDArray[np.int64], float] | None = None

    def __reduce__(self) -> Any:
        return PolicyValues, (self.spec,)

    def of(self, process: MDP, policy: Policy) -> float | None:
        """Return the value of a policy in the initial state of a process; None where that takes more than elimination."""
        from umdp.solver.system_kernels import evaluate_policy

        if process is not self._process:
            self._process, self._known, self._last = process, self._set_up(process), None
        known, choice = self._known, policy.choice
        if known is None or choice is None or choice.ndim != 1:
            return None
        if self._last is None or (self._last[0] != choice).any():
            self._last = choice, evaluate_policy(int(known.index[process.initial]), known.arrays, choice)
        return None if math.isnan(self._last[1]) else self._last[1]

    def _set_up(self, process: MDP) -> CachedSystem | None:
        """Return the equations of a process; None where the graph decides the value, or elimination is not enough."""
        from umdp.solver.system import CachedSystem

        if self.spec.aim != "reach" or self.spec.filter is not None:
            return None
        about = analyse(process, self.spec)
        task = task_of(about, self.spec.kind, *players(process, self.spec))
        if not about.kept or task.complement or not task.decided.maybe[process.initial]:
            return None
        known = CachedSystem(task)
        if not known.suits or known.largest > SMALL or known.index[process.initial] >= known.n:
            return None
        return known if known.renew(process.probability, process.probability) else None
