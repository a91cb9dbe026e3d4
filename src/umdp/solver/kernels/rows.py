"""Nature's inner problem in one row: the distribution within the bounds that serves successors in a given order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.rounding import share_error

__all__ = ["WIDE", "fill", "sort_row", "sort_wide_row"]

Array = NDArray[Any]
WIDE = 32  # entries beyond which a row is worth a call
MOVES = 16  # by which each entry of a wide row may be moved, on average, before rows are merged


@kernel
def merge_row(begin: int, size: int, sign: float, key: Array, order: Array) -> None:
    """Do what `sort_row` does, in n log n comparisons whatever the order was: runs of 1, 2, 4, ... entries are merged."""
    other = np.empty(size, order.dtype)
    run = 1
    while run < size:
        for first in range(0, size - run, 2 * run):
            middle, last = first + run, min(first + 2 * run, size)
            if not sign * key[order[begin + middle - 1]] < sign * key[order[begin + middle]]:
                continue
            for i in range(first, middle):
                other[i] = order[begin + i]
            i, j, k = first, middle, first
            while i < middle and j < last:
                if sign * key[other[i]] < sign * key[order[begin + j]]:
                    order[begin + k] = order[begin + j]
                    j += 1
                else:
                    order[begin + k] = other[i]
                    i += 1
                k += 1
            while i < middle:
                order[begin + k] = other[i]
                i += 1
                k += 1
        run *= 2


@kernel(allocates=False)
def sort_wide_row(begin: int, size: int, sign: float, key: Array, order: Array) -> None:
    """Do what `sort_row` does: by insertion as long as `MOVES` moves an entry will do, as in an order that is almost right."""
    moves = MOVES * size
    for i in range(1, size):
        moved = order[begin + i]
        value = sign * key[moved]
        j = i - 1
        while j >= 0 and sign * key[order[begin + j]] < value:
            order[begin + j + 1] = order[begin + j]
            j -= 1
        order[begin + j + 1] = moved
        moves -= i - 1 - j
        if moves < 0:
            merge_row(begin, size, sign, key, order)
            return


@kernel(inline="always")
def sort_row(begin: int, size: int, key: Array, order: Array, descending: bool) -> None:
    """Sort ``order[begin:begin+size]`` by `key` (one key per entry of the row, in the row's own order).

    Equal keys stay as they are. Entries of a row that is not wide are inserted one after the other.
    """
    sign = 1.0 if descending else -1.0
    if size > WIDE:
        sort_wide_row(begin, size, sign, key, order)
    else:
        for i in range(1, size):
            moved = order[begin + i]
            value = sign * key[moved]
            j = i - 1
            while j >= 0 and sign * key[order[begin + j]] < value:
                order[begin + j + 1] = order[begin + j]
                j -= 1
            order[begin + j + 1] = moved


@kernel(inline="always")
def fill(begin: int, size: int, lower: Array, upper: Array, slack: float, order: Array, probe: Array) -> float:
    """Write into `probe` the distribution that hands the slack out in the order given.

    Each entry is accurate relative to itself (`rounding.row_error`): where less than half of the slack is left for the last
    entry served, or hardly less than it has room for, the sums are done again in twice the working precision. What that may be
    off, absolutely, is returned; 0 if it was not necessary, or exact.
    """
    rest = slack
    delicate = slack < 2.0**-40
    for i in range(size):
        k = order[begin + i]
        low, room = lower[begin + k], upper[begin + k] - lower[begin + k]
        probe[k] = low
        if rest > 0.0:
            if room < rest:
                probe[k] = upper[begin + k]
                rest -= room
                delicate = delicate or rest < 0.5 * slack
            else:
                probe[k] = low + rest
                delicate = delicate or room - rest < 2.0**-30 * slack
                rest = 0.0
    if not delicate or slack <= 0.0:
        return 0.0
    high, tail, lost = 1.0, 0.0, 0.0  # 1 - sum of lower bounds, as an unevaluated sum of two numbers
    for i in range(size):
        v = -lower[begin + i]
        total = high + v
        shift = total - high
        error = (high - (total - shift)) + (v - shift)
        high = total
        total = tail + error
        shift = total - tail
        lost += abs((tail - (total - shift)) + (error - shift))
        tail = total
    for i in range(size):
        k = order[begin + i]
        probe[k] = lower[begin + k]
        if high + tail <= 0.0:
            continue
        before_high, before_tail = high, tail
        for v in (-upper[begin + k], lower[begin + k]):
            total = high + v
            shift = total - high
            error = (high - (total - shift)) + (v - shift)
            high = total
            total = tail + error
            shift = total - tail
            lost += abs((tail - (total - shift)) + (error - shift))
            tail = total
        if high + tail >= 0.0:
            probe[k] = upper[begin + k]
        else:
            probe[k] = lower[begin + k] + (before_high + before_tail)
            high, tail = 0.0, 0.0
    return share_error(size) if lost > 0.0 else 0.0
