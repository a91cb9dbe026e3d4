"""One large component at work: the kernels bound to it, and the bounds proved so far."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.certification import inductive
from umdp.solver.methods import sweeps, value_iteration

if TYPE_CHECKING:
    from umdp.solver.methods.workspace import Workspace

__all__ = ["Bounds", "Component"]

Array = NDArray[Any]
SHARE = 20_000  # states a thread should have to be worth its while
PATIENCE = 4  # how many times as many sweeps a bound gets while it settles fast


@dataclass(eq=False)
class Bounds:
    """The best bounds proved so far, how far they lie from the values they were proved around, and the agent's proof.

    The rows are those of a policy that is at least as good as the bound on the agent's side.
    """

    low: Array
    high: Array
    rows: Array | None = None
    below: float = np.inf
    above: float = np.inf

    @property
    def width(self) -> float:
        """How far the bounds are apart, relatively."""
        return self.below + self.above


class Component:
    """The kernels, bound to one component and spread over threads."""

    def __init__(self, workspace: Workspace, number: int) -> None:
        self.workspace, self.problem, self.effort = workspace, workspace.problem, workspace.effort
        self.agent_max, self.nature_max = workspace.task.agent_max, workspace.task.nature_max
        self.inner = workspace.unknowns(number)
        self.begin, self.end = self.inner.start, self.inner.stop
        row_ptr = self.problem.row_ptr
        self.rows = slice(int(row_ptr[self.begin]), int(row_ptr[self.end]))
        self.key = np.empty(self.problem.widest)

    def _run(self, kernel: Callable[..., Any], *rest: Any) -> list[Any]:
        p = self.problem
        arrays = (p.row_ptr, p.entry_ptr, p.target, p.lower, p.upper, p.slack, p.reward, p.order)
        parts = min(self.effort.threads, (self.end - self.begin) // SHARE)
        if parts <= 1:
            return [kernel(self.begin, self.end, *arrays, self.key, *rest)]
        cuts = np.linspace(self.begin, self.end, parts + 1).astype(np.int64)
        with ThreadPoolExecutor(parts) as pool:
            jobs = [
                pool.submit(kernel, int(a), int(b), *arrays, np.empty_like(self.key), *rest) for a, b in pairwise(cuts)
            ]
            return [job.result() for job in jobs]

    @property
    def has_freedom(self) -> bool:
        """Whether nature has a choice in some row."""
        return bool((self.problem.slack[self.rows] > 0.0).any())

    def read(self, bound: Array) -> None:
        """Copy into `bound` the values this component reads."""
        p = self.problem
        value_iteration.read(self.begin, self.end, p.row_ptr, p.entry_ptr, p.target, self.workspace.x, bound)

    def sweep(self, x: Array, row: Array) -> tuple[float, int]:
        """Update the values once; return the largest relative change and how many states changed their row."""
        self.effort.iterations += 1
        changes, switches = zip(*self._run(sweeps.sweep, x, row, self.agent_max, self.nature_max), strict=True)
        return max(changes), sum(switches)

    def follow(self, x: Array, row: Array, prob: Array, times: int, *, extrapolate: float = 0.0) -> float:
        """Update the values as the rows taken and nature's `prob` would; return the last largest relative change."""
        p, step = self.problem, self.workspace.above
        span = (self.begin, self.end, times)
        return float(sweeps.follow(*span, p.entry_ptr, p.target, prob, p.reward, x, row, step, p.plain, extrapolate))

    def enclose(self, bound: Array, row: Array, *, from_above: bool) -> int:
        """Update a bound once, rounding outwards; return how many values moved outwards: 0 makes it a proof."""
        self.effort.iterations += 1
        players = (self.agent_max, self.nature_max)
        return int(sum(self._run(sweeps.enclose, bound, row, *players, from_above)))

    def surround(self, wanted: float, bounds: Bounds, tries: int) -> bool:
        """Sweep bounds a little above and below the values until both prove themselves; whether they do in time."""
        workspace, inner = self.workspace, self.inner
        if self.problem.faint:
            return False
        for from_above, bound in ((True, workspace.above), (False, workspace.below)):
            self.read(bound)
            workspace.proof[inner] = workspace.row[inner]
            margin = value_iteration.MARGIN * wanted
            bound[inner] = workspace.x[inner] * (1.0 + (margin if from_above else -margin))
            if not self._settles(bound, tries, from_above=from_above):
                return False
            if from_above != self.agent_max:
                rows = workspace.proof[inner].copy()
        low, high = workspace.below[inner].copy(), workspace.above[inner].copy()
        if not (high - low <= wanted * high).all():
            return False
        bounds.low, bounds.high, bounds.rows = low, high, rows
        bounds.below = bounds.above = 0.5 * wanted
        return True

    def _settles(self, bound: Array, tries: int, *, from_above: bool) -> bool:
        """Sweep a bound until it proves itself; beyond `tries`, as long as what still moves outwards halves every time."""
        left, attempt = int(self.end - self.begin), 0
        while left > 0 and attempt < PATIENCE * tries:
            moved = self.enclose(bound, self.workspace.proof, from_above=from_above)
            attempt += 1
            if attempt > tries and 2 * moved > left:
                break
            left = moved
        return left == 0

    def passes(self, x: Array, tail: Array, row: Array, *, from_above: bool) -> bool:
        """Whether ``x + tail`` is inductive; where one row is enough, `row` receives the rows that prove it."""
        players = (self.agent_max, self.nature_max)
        return int(sum(self._run(inductive.certify, x, tail, row, *players, from_above))) == 0

    def answer(self, x: Array, tail: Array, row: Array, prob: Array) -> None:
        """Write nature's best response on the rows taken."""
        self._run(inductive.chain_of, x, tail, row, self.nature_max, prob)

    def improve(self, x: Array, tail: Array, row: Array) -> int:
        """Switch rows where that is better beyond rounding; return how many."""
        return int(sum(self._run(inductive.improve, x, tail, row, self.agent_max, self.nature_max)))

    def relax(self, x: Array, tail: Array, load: Array, boost: float, *, from_above: bool) -> int:
        """Move ``x + tail`` outwards where it is not inductive; return how often."""
        players = (self.agent_max, self.nature_max)
        return int(sum(self._run(inductive.relax, x, tail, *players, from_above, load, boost)))

    def loads(self, x: Array, tail: Array) -> Array:
        """Return, per state, a slack that covers the residual of ``x + tail`` and rounding."""
        self._run(inductive.loads, x, tail, self.agent_max, self.nature_max, self.workspace.load)
        return self.workspace.load
