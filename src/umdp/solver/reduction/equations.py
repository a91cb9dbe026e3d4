"""Building the equations: rows copied from the model, merged, normalised, freed of self-loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.equations import compress, compress_plain, extent
from umdp.solver.reduction.problem import Given, Problem
from umdp.solver.threads import at_once, ranges

__all__ = ["build"]

Array = NDArray[Any]
NARROW = 4  # entries up to which a row is added up as it is: that loses three roundings at most


def build(
    model: Any,
    lower: Array,
    upper: Array,
    reward: Array,
    index: Array,
    order: Array,
    comp_size: Array,
    usable: Array,
    stays: Array,
    exits: tuple[float, float],
    unknowns: int | None = None,
    threads: int = 1,
) -> Problem:
    """Lay out the problem over the undecided states.

    Parameters
    ----------
    model : Graph
    lower, upper : (T,)
    reward : (C,) or empty
    index : (S,) the unknown or exit each state becomes
    order : the undecided states sorted by unknown
    comp_size : (components,) unknowns per component
    usable, stays : (C,) the choices left, and those among them that may stay within a collapsed end component
    exits : values of targets n and n+1
    unknowns : how many there are, where `order` has the states of some of them only; the others get a row that is not meant
    threads : how many ranges of unknowns may be written at once; the rows are the same
    """
    owners = index[order]
    n = unknowns if unknowns is not None else int(owners[-1]) + 1 if order.size else 0
    alone = unknowns is None and n == order.size
    member_ptr = np.arange(n + 1) if alone else np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
    spare = 0 if unknowns is None else 1  # a row for each that has none
    members = order if unknowns is None else np.append(order, 0)  # some state, where an unknown has none
    parts = ranges(0, n, threads)
    begins, count, size = [], 0, 0
    for a, b in parts:
        if len(parts) == 1 and not stays.any():  # there are no more than that
            rows, entries = model.choice_ptr.size - 1, model.successor.size
        else:
            rows, entries = extent(
                order[member_ptr[a] : member_ptr[b]], model.state_ptr, model.choice_ptr, usable, stays
            )
        begins.append((count, size))
        count, size = count + rows + spare * (b - a), size + entries + spare * (b - a)
    plain = lower is upper
    target, low = np.empty(size, np.int32), np.empty(size)
    high = low if plain else np.empty(size)
    slots = np.empty(0 if plain else size, np.int32)
    row_ptr, entry_ptr = np.empty(n + 1, np.int64), np.empty(count + 1, np.int64)
    slack = np.zeros(count) if plain else np.empty(count)
    row_reward, origin = np.empty(count), np.empty(count, np.int32)
    # What never reaches the goal: the exit's value, or an infinite reward.
    lost = 0.0 if exits != (0.0, 0.0) else np.inf

    wanted: tuple[Any, ...] = (n, member_ptr, members, index, model.state_ptr, model.choice_ptr, model.successor)
    if plain:
        wanted += (lower, reward, usable, stays, target, low, entry_ptr, row_reward, origin)
    else:
        wanted += (lower, upper, reward, usable, stays, target, low, high, entry_ptr, slack, row_reward, origin, slots)
    write: Callable[..., tuple[int, int]] = compress_plain if plain else compress
    jobs = [partial(write, *part, *begin, *wanted, lost, row_ptr) for part, begin in zip(parts, begins, strict=True)]
    made, used = 0, 0
    for (a, b), (row, entry), (rows, entries) in zip(parts, begins, at_once(jobs, threads), strict=True):
        if row > made or entry > used:  # a range begins where the one before might have ended: close the gap
            row_ptr[a:b] -= row - made
            entry_ptr[made : made + rows - row] = entry_ptr[row:rows] - (entry - used)
            for each in (slack, row_reward, origin):
                each[made : made + rows - row] = each[row:rows]
            for each in (target, low) if plain else (target, low, high, slots):
                each[used : used + entries - entry] = each[entry:entries]
        made, used = made + rows - row, used + entries - entry
    row_ptr[n], entry_ptr[made] = made, used
    low = low[:used]
    high = low if plain else high[:used]
    return Problem(
        n, row_ptr, entry_ptr[: made + 1], target[:used], low, high, slack[:made], row_reward[:made],
        origin[:made], index, np.concatenate([[0], np.cumsum(comp_size)]).astype(np.int64), slots[:used], exits,
        Given(model.choice_ptr, model.successor, lower, upper, reward, stays),
    )  # fmt: skip
