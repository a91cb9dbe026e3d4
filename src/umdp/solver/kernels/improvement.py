"""Compiled look around after an elimination: what a step by each row gains, and what nature answers.

Differences of values are those of `elimination`, accurate even where all values agree in every digit.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.rounding import row_error
from umdp.solver.kernels.rows import fill, sort_row
from umdp.solver.kernels.structs import Block, Eliminated, EliminationSpace, RowSpace, SystemRows, Unknowns, position

__all__ = ["best_response", "best_response_apart", "row_gains", "terms"]

Array = NDArray[Any]


@kernel(forceinline=True, allocates=False)
def terms(
    block: Block, s: int, row: int, rows: SystemRows, space: RowSpace, x: Array, made: Eliminated, c: Array, top: float
) -> None:
    """Fill `space` with the differences of a row's targets to the state at position `s`, and what their rounding is relative to.

    `c` and `top` take the place of what the chain `made` collects, and of the value of its reference state.
    Where the state is close to the reference (e below a half) differences are those of ``c - e top``, elsewhere
    those of the values themselves.
    """
    entry_ptr, target, key, size_of, e, h = rows.entry_ptr, rows.target, space.key, space.size, made.e, made.h
    begin, n, ref = block.begin, block.n, block.ref
    near = e[s] < 0.5
    if near:
        own = c[s] - e[s] * top
        own_size = abs(c[s]) + e[s] * top
    else:
        own = c[s] + h[s] * top
        own_size = abs(c[s]) + h[s] * top
    for t in range(entry_ptr[row], entry_ptr[row + 1]):
        i = t - entry_ptr[row]
        j = target[t] - begin
        if 0 <= j < n:
            j = position(j, ref)
            if j == s:
                key[i] = 0.0
                size_of[i] = 0.0
                continue
            if near:
                if e[j] < 0.5:
                    key[i] = (c[j] - e[j] * top) - own
                    size_of[i] = abs(c[j]) + e[j] * top + own_size
                else:
                    key[i] = (c[j] + h[j] * top - top) - own
                    size_of[i] = abs(c[j]) + h[j] * top + top + own_size
            else:
                other = top - e[j] * top if e[j] < 0.5 else h[j] * top
                key[i] = (c[j] + other) - own
                size_of[i] = abs(c[j]) + other + own_size
        else:
            v = x[target[t]]
            if near:
                key[i] = (v - top) - own
                size_of[i] = v + top + own_size
            else:
                key[i] = v - own
                size_of[i] = v + own_size


@kernel(forceinline=True, allocates=False)
def best_response(row: int, rows: SystemRows, space: RowSpace, nature_max: bool) -> tuple[float, float]:
    """Return (reward + sum p key at nature's best p, what its rounding is relative to); `space.share` receives p.

    Shares of which only an absolute error is known count as much as it takes for `row_error` to cover that.
    """
    lower, key, size_of, probe = rows.lower, space.key, space.size, space.share
    lo, hi = rows.entry_ptr[row], rows.entry_ptr[row + 1]
    size, slack = hi - lo, rows.slack[row]
    total, scale = rows.reward[row], abs(rows.reward[row])
    if slack > 0.0 and size > 1:
        sort_row(lo, size, key, rows.order, nature_max)
        blur = fill(lo, size, lower, rows.upper, slack, rows.order, probe)
        if blur > 0.0:
            for i in range(size):
                scale += blur * size_of[i] / row_error(size)
    else:
        for i in range(size):
            probe[i] = lower[lo + i]
    for i in range(size):
        total += probe[i] * key[i]
        scale += probe[i] * size_of[i]
    return total, scale


@kernel(allocates=False)
def best_response_apart(row: int, rows: SystemRows, space: RowSpace, nature_max: bool) -> tuple[float, float]:
    """Do what `best_response` does, as a call: where it is hardly ever needed, it must not burden the loop around it."""
    return best_response(row, rows, space, nature_max)


@kernel(allocates=False)
def row_gains(
    block: Block,
    rows: SystemRows,
    found: Unknowns,
    made: Eliminated,
    space: EliminationSpace,
    nature_max: bool,
    whole: bool,
    noise: float,
) -> bool:
    """Let nature answer on the rows taken (with `whole`, on all); return whether it changed its mind on a row taken.

    It does so for gains of more than `noise`, relative to the terms compared.

    `space.gains` receives what a step by the row gains over the state's own value, `space.sizes` what it is rounded relative to.
    """
    row_ptr, entry_ptr, slack, reward = rows.row_ptr, rows.entry_ptr, rows.slack, rows.reward
    choice, prob, gain, size = found.row, found.prob, space.gains, space.sizes
    one = RowSpace(space.row[0], space.row[1], space.row[2])
    key, size_of, probe = one.key, one.size, one.share
    begin, changed = block.begin, False
    for i in range(block.n):
        s = position(i, block.ref)
        taken = choice[begin + i]
        first, last = row_ptr[begin + i], row_ptr[begin + i + 1]
        if not whole:
            first, last = taken, taken + 1
        for row in range(first, last):
            lo, count = entry_ptr[row], entry_ptr[row + 1] - entry_ptr[row]
            if not whole and (slack[row] <= 0.0 or count == 1):
                continue
            terms(block, s, row, rows, one, found.x, made, made.c, made.value[0])
            new, scale = best_response(row, rows, one, nature_max)
            gain[row], size[row] = new, scale
            if row == taken:
                old, spread = reward[row], abs(reward[row])
                for j in range(count):
                    old += prob[lo + j] * key[j]
                    spread += prob[lo + j] * size_of[j]
                if not (new - old if nature_max else old - new) > noise * (scale + spread):
                    size[row] = max(scale, spread)  # what is kept may be rounded more than what is better
                    continue
                changed = True
            for j in range(count):
                prob[lo + j] = probe[j]
    return changed
