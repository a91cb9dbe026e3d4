"""One large component at work: the kernels bound to it, and the bounds proved so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels import sweeps, two_part
from umdp.solver.kernels.structs import Section, read, row_space
from umdp.solver.kernels.value_iteration import MARGIN, keep
from umdp.solver.methods.workspace import Bounds, Workspace
from umdp.solver.threads import at_once, ranges

__all__ = ["Component"]

Array = NDArray[Any]
PATIENCE = 4  # how many times as many sweeps a bound gets while it settles fast


class Component:
    """The kernels, bound to one component.

    Threads share what reads values and does not write them. Sweeps use what they have just written, in an order that
    makes them few; halves that do not see each other take many more.
    """

    def __init__(self, workspace: Workspace, number: int) -> None:
        self.workspace, self.problem, self.options, self.number = (
            workspace,
            workspace.problem,
            workspace.options,
            number,
        )
        self.agent_max, self.nature_max = workspace.task.agent_max, workspace.task.nature_max
        self.inner = workspace.unknowns(number)
        self.begin, self.end = self.inner.start, self.inner.stop
        row_ptr = self.problem.rows.row_ptr
        self.rows = slice(int(row_ptr[self.begin]), int(row_ptr[self.end]))
        self.section = Section(
            self.begin, self.end, self.problem.rows, row_space(self.problem.widest), workspace.players
        )

    def _spread(self, kernel: Callable[..., Any], *rest: Any) -> list[Any]:
        """Run a kernel that reads no values it writes, over ranges of states at once."""
        parts = [
            self.section._replace(begin=begin, end=end, space=row_space(self.problem.widest))
            for begin, end in ranges(self.begin, self.end, self.options.threads)
        ]
        return at_once([partial(kernel, part, *rest) for part in parts], self.options.threads)

    @property
    def has_freedom(self) -> bool:
        """Whether nature has a choice in some row."""
        return bool((self.problem.rows.slack[self.rows] > 0.0).any())

    def read(self, bound: Array) -> None:
        """Copy into `bound` the values this component reads."""
        read(self.begin, self.end, self.problem.rows, self.workspace.x, bound)

    def sweep(self, x: Array, row: Array) -> tuple[float, int]:
        """Update the values once; return the largest relative change and how many states changed their row."""
        self.options.statistics.iterations += 1
        change, switched = sweeps.sweep(self.section, x, row)
        return float(change), int(switched)

    def surround(self, wanted: float, bounds: Bounds, tries: int) -> bool:
        """Sweep bounds a little above and below the values until both prove themselves; whether they do in time."""
        workspace, inner, order = self.workspace, self.inner, self.problem.rows.order
        if self.problem.faint:
            return False
        margin = MARGIN * wanted
        above, below = workspace.above, workspace.below
        rows = workspace.proof, np.empty_like(workspace.proof)
        for bound, proof, share in zip((above, below), rows, (margin, -margin), strict=True):
            self.read(bound)
            proof[inner] = workspace.row[inner]
            bound[inner] = workspace.x[inner] * (1.0 + share)
        orders = order, order.copy()  # each sorts its rows by its own values
        up = partial(self._settle, above, rows[0], orders[0], tries, from_above=True)
        down = partial(self._settle, below, rows[1], orders[1], tries, from_above=False)
        if len(ranges(self.begin, self.end, self.options.threads)) > 1:
            (proves, taken), (also, more) = at_once([up, down], self.options.threads)
        else:
            proves, taken = up()
            also, more = down() if proves else (False, 0)
        self.options.statistics.iterations += taken + more if proves else taken
        if not (proves and also):
            return False
        low, high = below[inner].copy(), above[inner].copy()
        if not (high - low <= wanted * high).all():
            return False
        bounds.low, bounds.high, bounds.rows = low, high, rows[1 if self.agent_max else 0][inner].copy()
        bounds.low_rest = bounds.high_rest = np.zeros(low.size)
        bounds.below = bounds.above = 0.5 * wanted
        return True

    def write(self, bounds: Bounds) -> None:
        """Leave bounds in the workspace: values, their errors and those of what the component leads to, rows, nature's answer."""
        workspace, inner = self.workspace, self.inner
        inherited = workspace.inherited(self.number)
        if bounds.rows is not None:
            workspace.row[inner] = bounds.rows
        low, high = bounds.low, bounds.high
        if bounds.low_rest is not None and bounds.high_rest is not None:
            low, high = workspace.show(self.number, bounds, inherited)
        keep(self.begin, self.end, low, high, workspace.ceiling, inherited, workspace.x, workspace.relative_error)
        self.answer(workspace.x, workspace.tail, workspace.row, workspace.prob)
        workspace.tail[inner] = 0.0
        workspace.rest[inner] = 0.0

    def _settle(self, bound: Array, proof: Array, order: Array, tries: int, *, from_above: bool) -> tuple[bool, int]:
        """Update a bound, rounding outwards, until no value moves outwards: it proves itself; whether it does, and the sweeps.

        Beyond `tries` it goes on as long as what still moves outwards halves every time.
        """
        rows = self.problem.rows._replace(order=order)
        part = self.section._replace(rows=rows, space=row_space(self.problem.widest))
        left, attempt = int(self.end - self.begin), 0
        while left > 0 and attempt < PATIENCE * tries and not self.options.is_late():
            moved = int(sweeps.enclose(part, bound, proof, from_above))
            attempt += 1
            if attempt > tries and 2 * moved > left:
                break
            left = moved
        return left == 0, attempt

    def passes(self, x: Array, tail: Array, row: Array, *, from_above: bool) -> bool:
        """Whether ``x + tail`` is inductive; where one row is enough, `row` receives the rows that prove it."""
        return int(sum(self._spread(two_part.certify, x, tail, row, from_above))) == 0

    def answer(self, x: Array, tail: Array, row: Array, prob: Array) -> None:
        """Write nature's best response on the rows taken."""
        self._spread(two_part.answer, x, tail, row, prob)

    def improve(self, x: Array, tail: Array, row: Array) -> int:
        """Switch rows where that is better beyond rounding; return how many."""
        return int(sum(self._spread(two_part.improve, x, tail, row)))

    def relax(self, x: Array, tail: Array, load: Array, boost: float, *, from_above: bool) -> int:
        """Move ``x + tail`` outwards where it is not inductive; return how often."""
        return int(two_part.relax(self.section, x, tail, from_above, load, boost))

    def loads(self, x: Array, tail: Array) -> Array:
        """Return, per state, a slack that covers the residual of ``x + tail`` and rounding."""
        self._spread(two_part.loads, x, tail, self.workspace.load)
        return self.workspace.load
