"""`prepare`: a solver bound to a graph and a property, for bounds that come one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.model import Graph, IntervalMDP, Policy
from umdp.solver.api import answer, propose, solve
from umdp.solver.cached import CachedSystem
from umdp.solver.objective import players
from umdp.solver.proposal import Proposal
from umdp.solver.reduction.analysis import analyse
from umdp.solver.request import Request, SolveOptions, Start
from umdp.solver.result import Solution
from umdp.solver.temporal import needs_automaton
from umdp.solver.unbounded import cached_system
from umdp.spec import Spec

__all__ = ["Prepared", "keep_start", "prepare"]

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
        self._looked = self.spec.aim != "reach" or self.spec.nature is None or needs_automaton(self.spec)

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
        request, system = self._set_up(model, options, begin)
        found = None if system is None else system.solve(request, lambda: answer(model, self.spec, options))
        return answer(model, self.spec, options, begin) if found is None else found

    def propose(
        self,
        model: IntervalMDP,
        *,
        start: Array | None = None,
        before: Array | None = None,
        precision: float,
        method: str,
    ) -> Proposal:
        """Return an optimal policy for a model with this graph, and its value, without a proof; `start` are choices (S,)."""
        options, begin = SolveOptions(precision, method, prove=False), Start(start, before)
        request, system = self._set_up(model, options, begin)
        found = None if system is None else system.propose(request)
        return propose(model, self.spec, options, begin) if found is None else found

    def _set_up(self, model: IntervalMDP, options: SolveOptions, start: Start) -> tuple[Request, CachedSystem | None]:
        """Return the request, and the system kept with the graph; None where it is not enough, or not needed."""
        if self._players is None:
            self._players = players(model, self.spec)
        request = Request(model, self.spec, *self._players, options, start)
        if not self._looked:
            self._looked = True
            self._system = cached_system(analyse(model, self.spec), request)
        return request, self._system


def keep_start(starts: dict[str, Array], name: str, found: Solution | Proposal) -> None:
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
