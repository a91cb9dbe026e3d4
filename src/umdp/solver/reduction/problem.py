"""The equations that are left of a model: what every method solves.

States the graph decides become two exits, end components one state, and the rest is laid out by strongly
connected component, successors first. Rows are the choices that are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.rounding import FAINT

if TYPE_CHECKING:
    from umdp.solver.kernels.structs import ChainRows, SystemRows

__all__ = ["Given", "Problem"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Given:
    """The rows of a problem before anything was rounded: the model's own.

    Attributes
    ----------
    choice_ptr, successor, lower, upper : the model's transitions
    reward : (C,) or empty
    stays : (C,) choices that may stay in a collapsed end component; each of their rows is one way out
    """

    choice_ptr: Array
    successor: Array
    lower: Array
    upper: Array
    reward: Array
    stays: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """A system of Bellman equations over `n` unknowns and two exits of known value.

    Attributes
    ----------
    n : number of unknowns; targets `n` and `n + 1` are the exits
    row_ptr : (n+1,) rows of every unknown
    entry_ptr : (rows+1,) entries of every row
    target, lower, upper : (entries,) int32, float64, float64; the bounds are one array where they coincide
    slack : (rows,) what the lower bounds leave to hand out; at most 0 where nature has no choice
    reward : (rows,)
    origin : (rows,) the choice of the model each row stands for
    index : (S,) the unknown (or exit) each state of the model became
    comp_ptr : (components+1,) the unknowns of every strongly connected component
    order : (entries,) the kept order of each row's entries; empty where nature has no choice at all
    exits : the values of the two exits
    given : the model's own rows; None where those here are meant, to the last digit
    """

    n: int
    row_ptr: Array
    entry_ptr: Array
    target: Array
    lower: Array
    upper: Array
    slack: Array
    reward: Array
    origin: Array
    index: Array
    comp_ptr: Array
    order: Array
    exits: tuple[float, float]
    given: Given | None = None

    @cached_property
    def rows(self) -> SystemRows:
        """The arrays that kernels take."""
        from umdp.solver.kernels.structs import SystemRows

        return SystemRows(
            self.comp_ptr,
            self.row_ptr,
            self.entry_ptr,
            self.target,
            self.lower,
            self.upper,
            self.slack,
            self.reward,
            self.order,
        )

    def chain(self, row: Array, prob: Array) -> ChainRows:
        """Return the Markov chain of the rows taken (n,) and nature's distributions on them (entries,)."""
        from umdp.solver.kernels.structs import ChainRows

        return ChainRows(self.entry_ptr, self.target, self.reward, row, prob)

    @property
    def plain(self) -> bool:
        """Whether nature has no choice anywhere; rows then have no self-loops."""
        return self.lower is self.upper

    @cached_property
    def widest(self) -> int:
        """The largest number of entries of a row."""
        return int(np.diff(self.entry_ptr).max(initial=1))

    @cached_property
    def faint(self) -> bool:
        """Whether some probability is so small that a division may cost it digits."""
        bounds = (self.lower,) if self.plain else (self.lower, self.upper)
        return any(bool(((b > 0.0) & (b < FAINT)).any()) for b in bounds)
