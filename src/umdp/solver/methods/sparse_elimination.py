"""Sparse elimination without subtraction (Grassmann, Taksar, Heyman): one Markov chain whose states have few neighbours.

States are eliminated in an order that keeps few neighbours few (minimum degree). Eliminating a state adds what leads through it
to the rows of its neighbours; nothing is ever subtracted, so that every number keeps its digits, relative to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.elimination_order import Pattern, lay_open, neighbours, order_states, with_hubs, without
from umdp.solver.kernels.rounding import EPS
from umdp.solver.kernels.sparse import Factors, factorise, loads_of, substitute
from umdp.solver.reduction.problem import has_faint

if TYPE_CHECKING:
    from umdp.solver.kernels.structs import ChainRows

__all__ = ["SparseElimination", "hubs"]

Array = NDArray[Any]
HUB = 10.0  # times the square root of the number of states: neighbours from which a state is left to the end


def hubs(ptr: Array) -> Array:
    """Return the states that so many others are neighbours of that they had better be eliminated last (h,).

    The list of such a state would be gone through whenever one of them is eliminated.
    """
    sizes = np.diff(ptr)
    return np.flatnonzero(sizes > max(HUB * np.sqrt(sizes.size), 16.0))


@dataclass(frozen=True, eq=False)
class SparseElimination:
    """The elimination of one chain; solves for any load, and for values with bounds on their relative errors."""

    chain: ChainRows
    begin: int
    end: int
    pattern: Pattern
    factors: Factors
    proper: bool  # whether every state can leave
    safe: bool
    changed: float

    @staticmethod
    def of(chain: ChainRows, begin: int, end: int, fill: float, work: float) -> SparseElimination | None:
        """Eliminate a chain on the component from `begin` to `end`; None where that costs too much.

        That is so where it lists more than `fill` neighbours, or the sum of the squares of their numbers exceeds `work`.
        """
        n = end - begin
        ptr, near = neighbours(begin, end, chain)
        last = hubs(ptr)
        if (n - last.size) * last.size > fill:
            return None
        if last.size:
            ptr, near, kept = without(ptr, near, last)
        order, start, stop, filled, _ = order_states(ptr, near, int(fill), float(work))
        if order.size < n - last.size:
            return None
        if last.size:
            order, start, stop, filled, cost = with_hubs(order, start, stop, filled, kept, last)
            if filled.size > fill or cost > work:
                return None
        pattern = lay_open(order, start, stop, filled)
        factors = Factors(np.empty(pattern.col.size), np.empty(pattern.col.size), np.empty(n))
        proper, safe, changed = factorise(begin, chain, pattern, factors)
        return SparseElimination(chain, begin, end, pattern, factors, proper, safe, changed)

    def _substitute(self, load: Array) -> tuple[Array, bool, Array]:
        error = np.empty(self.end - self.begin)
        v, safe = substitute(self.pattern, self.factors, load, error)
        return v, safe, error

    def solve(self, load: Array) -> Array:
        """Return v with (I - P) v = load: what is above 0 and what is below are solved for apart, without cancellation."""
        v = self._substitute(np.maximum(load, 0.0))[0]
        if (load < 0.0).any():
            v -= self._substitute(np.maximum(-load, 0.0))[0]
        return v

    def values(self, x: Array, perturbation: float) -> tuple[Array, Array] | None:
        """Return the chain's values and bounds on their relative errors, given those of exits in `x`; None without proof.

        See `rounding`: eliminated rows.
        """
        if not (self.proper and self.safe) or has_faint(self.chain.prob):
            return None
        load, loaded, given = loads_of(self.begin, self.end, self.chain, x)
        v, safe, error = self._substitute(load)
        if not (safe and loaded) or not np.isfinite(v).all():
            return None
        rows = 3.0 * (EPS * (self.changed + given) + perturbation * (self.end - self.begin))
        return v, np.expm1((rows + 2.0 * EPS * error) * (1.0 + 1e-6))
