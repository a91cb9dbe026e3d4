"""The equations that are left of a model: what every method solves.

States the graph decides become two exits, end components one state, and the rest is laid out by strongly
connected component, successors first. Rows are the choices that are left: copied from the model, merged, normalised, freed of
self-loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.equations import Span, compress, extent
from umdp.solver.kernels.rounding import FAINT
from umdp.solver.kernels.structs import ChoiceRows, Quotient, SystemRows
from umdp.solver.threads import at_once, ranges

__all__ = ["Problem", "build", "has_faint", "quotient_of"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """A system of Bellman equations over `n` unknowns and two exits of known value.

    Attributes
    ----------
    rows : the equations; targets `n` and `n + 1` are the exits. Where nature has no choice at all, both bounds are one array, and
        there is no order of entries
    origin : (rows,) the choice of the model each row stands for
    index : (S,) the unknown (or exit) each state of the model became
    exits : the values of the two exits
    given : the model's own choices, before anything was rounded; None where the rows here are meant, to the last digit
    stays : (C,) choices that may stay in a collapsed end component; each of their rows is one way out
    """

    rows: SystemRows
    origin: Array
    index: Array
    exits: tuple[float, float]
    given: ChoiceRows | None = None
    stays: Array | None = None

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.rows.row_ptr.size - 1

    @property
    def plain(self) -> bool:
        """Whether nature has no choice anywhere; rows then have no self-loops."""
        return self.rows.lower is self.rows.upper

    @cached_property
    def widest(self) -> int:
        """The largest number of entries of a row."""
        return int(np.diff(self.rows.entry_ptr).max(initial=1))

    @cached_property
    def faint(self) -> bool:
        """Whether some probability is so small that a division may cost it digits."""
        bounds = (self.rows.lower,) if self.plain else (self.rows.lower, self.rows.upper)
        return any(has_faint(bound) for bound in bounds)


def has_faint(probability: Array) -> bool:
    """Return whether some probability is so small that a division may cost it digits."""
    return bool(((probability > 0.0) & (probability < FAINT)).any())


def quotient_of(index: Array, order: Array, usable: Array, stays: Array, unknowns: int | None = None) -> Quotient:
    """Return how states become unknowns.

    Parameters
    ----------
    index : (S,) the unknown or exit each state becomes
    order : the undecided states sorted by unknown
    usable, stays : as in `Quotient`
    unknowns : how many there are, where `order` has the states of some of them only; the others get a row that is not meant
    """
    owners = index[order]
    if unknowns is not None:  # some state, where an unknown has none
        order = np.append(order, 0)
    n = unknowns if unknowns is not None else int(owners[-1]) + 1 if order.size else 0
    alone = unknowns is None and n == order.size
    member_ptr = np.arange(n + 1) if alone else np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
    return Quotient(member_ptr, order, index, usable, stays)


def build(
    model: ChoiceRows, quotient: Quotient, comp_size: Array, exits: tuple[float, float], threads: int = 1
) -> Problem:
    """Lay out the problem over the undecided states.

    Parameters
    ----------
    comp_size : (components,) unknowns per component
    exits : values of targets n and n+1
    threads : how many ranges of unknowns may be written at once; the rows are the same
    """
    n = quotient.member_ptr.size - 1
    spans, count, size = _spans(model, quotient, threads)
    plain = model.lower is model.upper
    low = np.empty(size)
    high = low if plain else np.empty(size)
    comp_ptr = np.concatenate([[0], np.cumsum(comp_size)]).astype(np.int64)
    rows = SystemRows(
        comp_ptr, np.empty(n + 1, np.int64), np.empty(count + 1, np.int64), np.empty(size, np.int32), low, high,
        np.empty(count), np.empty(count), np.empty(0 if plain else size, np.int32),
    )  # fmt: skip
    origin = np.empty(count, np.int32)
    # What never reaches the goal: the exit's value, or an infinite reward.
    lost = 0.0 if exits != (0.0, 0.0) else np.inf
    jobs = [partial(compress, span, quotient, model, rows, origin, lost) for span in spans]
    made, used = _close_gaps(spans, at_once(jobs, threads), rows, origin)
    rows.row_ptr[n], rows.entry_ptr[made] = made, used
    low = low[:used]
    high = low if plain else high[:used]
    rows = SystemRows(
        comp_ptr, rows.row_ptr, rows.entry_ptr[: made + 1], rows.target[:used], low, high, rows.slack[:made],
        rows.reward[:made], rows.order[:used],
    )  # fmt: skip
    return Problem(rows, origin[:made], quotient.unknown, exits, model, quotient.stays)


def _spans(model: ChoiceRows, quotient: Quotient, threads: int) -> tuple[list[Span], int, int]:
    """Return ranges of unknowns to write at once, each with room for all it may need, and the room of all: rows and entries."""
    n = quotient.member_ptr.size - 1
    spare = quotient.members.size - int(quotient.member_ptr[n])  # a row for each that has none
    parts = ranges(0, n, threads)
    spans, count, size = [], 0, 0
    for a, b in parts:
        if len(parts) == 1 and not quotient.stays.any():  # there are no more than that
            rows, entries = model.choice_ptr.size - 1, model.successor.size
        else:
            rows, entries = extent(a, b, quotient, model)
        spans.append(Span(a, b, count, size))
        count, size = count + rows + spare * (b - a), size + entries + spare * (b - a)
    return spans, count, size


def _close_gaps(spans: list[Span], ends: Iterable[Any], rows: SystemRows, origin: Array) -> tuple[int, int]:
    """Move what was written to where the range before has ended; return how many rows and entries there are."""
    made, used = 0, 0
    for (a, b, row, entry), (last_row, last_entry) in zip(spans, ends, strict=True):
        if row > made or entry > used:  # a range begins where the one before might have ended
            rows.row_ptr[a:b] -= row - made
            rows.entry_ptr[made : made + last_row - row] = rows.entry_ptr[row:last_row] - (entry - used)
            for each in (rows.slack, rows.reward, origin):
                each[made : made + last_row - row] = each[row:last_row]
            bounds = (rows.lower,) if rows.lower is rows.upper else (rows.lower, rows.upper, rows.order)
            for each in (rows.target, *bounds):
                each[used : used + last_entry - entry] = each[entry:last_entry]
        made, used = made + last_row - row, used + last_entry - entry
    return made, used
