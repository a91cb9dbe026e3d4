"""Sparse linear systems of one Markov chain: what policy iteration solves on large components."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model.structure import entries_of
from umdp.solver.kernels import two_part
from umdp.solver.kernels.chain import apply, bicgstab
from umdp.solver.methods.sparse_elimination import SparseElimination
from umdp.solver.threads import Watch

if TYPE_CHECKING:
    from umdp.solver.kernels.structs import ChainRows

__all__ = ["Chain"]

Array = NDArray[Any]
FLOPS = 3e10  # the most an elimination may cost, by the bandwidth of the reordered matrix
FILL = 2.5e8  # the most entries it may fill in
SPEED = 3e8  # operations a second that an elimination is sure to manage: nothing ends it before it is done
EARLY, LATE = 16, 60  # rounds of iteration before sparse elimination is tried, and before a factorisation
NEIGHBOURS, SQUARES = 12, 200  # of a state when it is eliminated, on average: below this it is as cheap as a few rounds


@dataclass(eq=False)
class Chain:
    """A chain on one component; solves (I - P) v = load."""

    rows: ChainRows
    begin: int
    end: int
    direct: bool = False  # whether iterations have failed before
    slow: bool = False  # whether they have taken long
    fills: bool = False  # whether elimination was found to cost more than they do
    watch: Watch = field(default_factory=Watch)
    _eliminated: SparseElimination | None = None
    _factor: Any = None
    _refused: bool = False

    def again(self, row: Array, prob: Array) -> Chain:
        """Return another chain on the same component, solved by what worked for this one."""
        rows = self.rows._replace(row=row, prob=prob)
        return Chain(rows, self.begin, self.end, self.direct, self.slow, self.fills, self.watch)

    @property
    def eliminates(self) -> bool:
        """Whether the chain is eliminated already, so that one more load costs next to nothing."""
        return self._eliminated is not None and self._eliminated.proper

    def residual(self, x: Array, tail: Array) -> Array:
        """Return how far ``x + tail`` is from solving the chain's equations, computed from differences."""
        out = np.empty(self.end - self.begin)
        two_part.residual(self.begin, self.end, self.rows, x, tail, out)
        return out

    def solve(self, load: Array, tolerance: float, scale: Array) -> Array | None:
        """Return v with (I - P) v = load, up to `tolerance` in norm relative to `scale`; None where no method gets there in time.

        Values may span many orders of magnitude, and the small ones count as much as the large ones.
        """
        if not load.any():
            return np.zeros_like(load)
        if not (self.direct or self.slow or self.fills):
            v = self._iterate(load, tolerance, EARLY, scale, tolerance)
            if v is not None:
                return v
            self.slow = True
        if self.watch.is_up():
            return None
        if self._eliminated is None and not self.fills:
            self._eliminated = self.eliminate()
            self.fills = self._eliminated is None
        if self.eliminates and self._eliminated is not None:
            v = self._eliminated.solve(load)
            return v if np.isfinite(v).all() else None
        if not self.direct:
            v = self._iterate(load, tolerance, LATE, scale, tolerance)
            if v is not None:
                return v
        if self.watch.is_up():
            return None
        if self._factor is None and not self._refused:
            self._factorise()
        if self._factor is not None:
            self.direct = True
            solved: Array = self._factor(load)
            with np.errstate(invalid="ignore", over="ignore"):
                solved = solved + self._factor(load - self._product(solved))
            return solved if np.isfinite(solved).all() else None
        return self._iterate(load, tolerance, 600, scale, 0.1)

    def eliminate(self) -> SparseElimination | None:
        """Eliminate states without subtraction; None where that costs more than some rounds of iteration."""
        fill, work = NEIGHBOURS * (self.end - self.begin), SQUARES * (self.end - self.begin)
        return SparseElimination.of(self.rows, self.begin, self.end, fill, work)

    def _product(self, v: Array) -> Array:
        out = np.empty(self.end - self.begin)
        apply(self.begin, self.end, self.rows, v, out)
        return out

    def _iterate(self, load: Array, tolerance: float, rounds: int, scale: Array, enough: float) -> Array | None:
        """Return what BiCGSTAB finds if it leaves no more than a share `enough` of the load."""
        v, left = bicgstab(self.begin, self.end, self.rows, load, scale, tolerance, rounds, self.watch.flag)
        return v if left <= enough and np.isfinite(v).all() else None

    def _factorise(self) -> None:
        """Factorise where the bandwidth of the reordered matrix promises that it is cheap.

        SuperLU prints to the terminal when it comes across a singular matrix, and goes on: it never gets to see one.
        """
        from scipy.sparse import csc_array
        from scipy.sparse.csgraph import breadth_first_order, reverse_cuthill_mckee
        from scipy.sparse.linalg import splu

        chain, n = self.rows, self.end - self.begin
        taken = chain.row[self.begin : self.end]
        entries = entries_of(chain.entry_ptr, taken)
        rows = np.repeat(np.arange(n), chain.entry_ptr[taken + 1] - chain.entry_ptr[taken])
        columns, data = chain.target[entries] - self.begin, -chain.prob[entries]
        inside = (columns >= 0) & (columns < n)
        # Backwards from an exit, number n, every state has to be in reach: else I - P is singular.
        used = data < 0.0
        before = csc_array((data[used], (np.where(inside, columns, n)[used], rows[used])), shape=(n + 1, n + 1))
        self._refused = breadth_first_order(before, n, return_predecessors=False).size <= n
        if self._refused:
            return
        rows, columns, data = rows[inside], columns[inside], data[inside]
        matrix = csc_array(
            (
                np.concatenate([data, np.ones(n)]),
                (np.concatenate([rows, np.arange(n)]), np.concatenate([columns, np.arange(n)])),
            ),
            shape=(n, n),
        )
        order = reverse_cuthill_mckee(matrix.tocsr())
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        band = float(np.abs(place[rows] - place[columns]).max(initial=1))
        planar = band <= 8 * np.sqrt(n)
        # Nested dissection of a planar graph takes some 100 n^(3/2) operations, which is what the order comes close to.
        most = min(n * band * band, 300.0 * n**1.5 if planar else np.inf)
        if n * band > FILL or (n * band * band > FLOPS and not planar) or most > SPEED * self.watch.left:
            self._refused = True
            return
        try:
            self._factor = splu(matrix, permc_spec="COLAMD", diag_pivot_thresh=0.1).solve
        except RuntimeError:  # singular, up to rounding
            self._refused = True
