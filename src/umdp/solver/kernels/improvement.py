"""Compiled look around after an elimination: what a step by each row gains, and what nature answers.

Differences of values are those of `elimination`, accurate even where all values agree in every digit.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.rounding import row_error
from umdp.solver.kernels.rows import fill, sort_row

__all__ = ["best_response", "best_response_apart", "row_gains", "terms"]

Array = NDArray[Any]


@kernel(inline="always")
def terms(
    begin: int,
    n: int,
    ref: int,
    s: int,
    row: int,
    entry_ptr: Array,
    target: Array,
    x: Array,
    c: Array,
    e: Array,
    h: Array,
    top: float,
    key: Array,
    size_of: Array,
) -> None:
    """Fill `key` with the differences of a row's targets to state `s`, `size_of` with what their rounding is relative to.

    Where the state is close to the reference (e below a half) differences are those of ``c - e top``, elsewhere
    those of the values themselves.
    """
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
            j = 0 if j == ref else (ref if j == 0 else j)
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


@kernel(inline="always")
def best_response(
    row: int,
    entry_ptr: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    reward: Array,
    order: Array,
    key: Array,
    size_of: Array,
    nature_max: bool,
    probe: Array,
) -> tuple[float, float]:
    """Return (reward + sum p key at nature's best p, what its rounding is relative to); `probe` receives p.

    Shares of which only an absolute error is known count as much as it takes for `row_error` to cover that.
    """
    lo, hi = entry_ptr[row], entry_ptr[row + 1]
    size = hi - lo
    total, scale = reward[row], abs(reward[row])
    if slack[row] > 0.0 and size > 1:
        sort_row(lo, size, key, order, nature_max)
        blur = fill(lo, size, lower, upper, slack[row], order, probe)
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


@kernel
def best_response_apart(
    row: int,
    entry_ptr: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    reward: Array,
    order: Array,
    key: Array,
    size_of: Array,
    nature_max: bool,
    probe: Array,
) -> tuple[float, float]:
    """Do what `best_response` does, as a call: where it is hardly ever needed, it must not burden the loop around it."""
    return best_response(row, entry_ptr, lower, upper, slack, reward, order, key, size_of, nature_max, probe)


@kernel
def row_gains(
    begin: int,
    n: int,
    ref: int,
    row_ptr: Array,
    entry_ptr: Array,
    target: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    reward: Array,
    order: Array,
    prob: Array,
    choice: Array,
    x: Array,
    nature_max: bool,
    whole: bool,
    noise: float,
    work: Array,
    row_work: Array,
    gain: Array,
    size: Array,
) -> bool:
    """Let nature answer on the rows taken (with `whole`, on all); return whether it changed its mind on a row taken.

    It does so for gains of more than `noise`, relative to the terms compared.

    `gain` receives what a step by the row gains over the state's own value, `size` what its rounding is relative to.
    """
    c, e, h, top = work[3], work[4], work[5], work[6][0]
    key, size_of, probe = row_work[0], row_work[1], row_work[2]
    changed = False
    for i in range(n):
        s = 0 if i == ref else (ref if i == 0 else i)
        taken = choice[begin + i]
        first, last = row_ptr[begin + i], row_ptr[begin + i + 1]
        if not whole:
            first, last = taken, taken + 1
        for row in range(first, last):
            lo, count = entry_ptr[row], entry_ptr[row + 1] - entry_ptr[row]
            if not whole and (slack[row] <= 0.0 or count == 1):
                continue
            terms(begin, n, ref, s, row, entry_ptr, target, x, c, e, h, top, key, size_of)
            new, scale = best_response(
                row, entry_ptr, lower, upper, slack, reward, order, key, size_of, nature_max, probe
            )
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
