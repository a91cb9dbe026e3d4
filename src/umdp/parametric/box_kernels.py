"""Compiled bounds on functions over boxes, and what constraints on them cut off.

Functions are given as `FunctionTables`, and by their numbers. Every number is rounded; `error` bounds, relative to the sum of the
absolute values of all that went into it, what that can have done.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.parametric.tabulated import UNIT, FunctionTables

__all__ = ["bounds", "settle", "shave", "sides"]

Array = NDArray[Any]

TINY = 1e-290  # more than what is lost where numbers are too small for floats
PIECES, FEW = 16, 4  # of an axis along which a function is bent, alone or among several
MOST_BENT = 3  # axes along which boxes are split
FEWER = 3  # rounds over all constraints, for a slice
WORTH = 1 / 64  # of a width: what a round must cut off for another one to follow
SLICE, SLICES = 1 / 8, 4  # the part of a width that is tried at each end, and how often
SLACK = 2.0**-48  # more than rounding can do to where a line crosses zero


@kernel
def _conversion(degree: int, low: float, high: float, binomial: Array, matrix: Array) -> None:
    """Write the matrix from coefficients of powers to Bernstein coefficients, as `ranges` has it in fractions."""
    lows, highs = np.ones(degree + 1), np.ones(degree + 1)
    for i in range(degree):
        lows[i + 1], highs[i + 1] = lows[i] * low, highs[i] * high
    for row in range(degree + 1):
        for power in range(degree + 1):
            total = 0.0
            for i in range(max(0, power - degree + row), min(row, power) + 1):
                total += binomial[row, i] * binomial[degree - row, power - i] * highs[i] * lows[power - i]
            matrix[row, power] = total / binomial[degree, power]


@kernel
def _apply(table: Array, size: int, stride: int, width: int, matrix: Array, line: Array) -> None:
    """Multiply, in place, by a matrix along an axis of a table that is given row after row."""
    for block in range(0, size, stride * width):
        for first in range(block, block + stride):
            for i in range(width):
                line[i] = table[first + i * stride]
            for row in range(width):
                total = 0.0
                for i in range(width):
                    total += matrix[row, i] * line[i]
                table[first + row * stride] = total


@kernel
def _values(lower: Array, upper: Array, functions: FunctionTables, f: int, table: Array, lost: Array) -> int:
    """Write the coefficients of numerator and denominator over a box, and what each may be wrong by; return how many each has."""
    degrees, error, binomial = functions.degrees[f], functions.error[f], functions.binomial
    given = functions.coefficient[functions.begin[f] : functions.begin[f + 1]]
    size = widest = 1
    for degree in degrees:
        size *= degree + 1
        widest = max(widest, degree + 1)
    matrix, line = np.empty((widest, widest)), np.empty(widest)
    for i in range(given.size):
        table[i], lost[i] = given[i], abs(given[i])
    stride = size
    for axis in range(degrees.size):
        degree, low, high = degrees[axis], lower[axis], upper[axis]
        stride //= degree + 1
        if degree == 0:
            continue
        _conversion(degree, low, high, binomial, matrix)
        _apply(table, given.size, stride, degree + 1, matrix, line)
        if low < 0.0 or high < 0.0:  # the same with all signs positive bounds what rounding can have done
            _conversion(degree, abs(low), abs(high), binomial, matrix)
        _apply(lost, given.size, stride, degree + 1, matrix, line)
    for i in range(given.size):
        lost[i] = error * lost[i] + TINY
    if given.size == size:  # the denominator is 1
        table[size : 2 * size] = 1.0
        lost[size : 2 * size] = 0.0
    return size


@kernel
def _turned(size: int, table: Array, lost: Array) -> None:
    """Turn the signs of numerator and denominator where the latter is negative all over."""
    for i in range(size, 2 * size):
        if not table[i] + lost[i] <= 0.0:
            return
    for i in range(2 * size):
        table[i] = -table[i]


@kernel
def sides(
    lower: Array, upper: Array, functions: FunctionTables, f: int, least: float, most: float, side: Array, slack: Array
) -> int:
    """Write upper bounds on the coefficients of function - least and most - function, and what less they may be, (2, size).

    Return how many they are; 0 where nothing is known, as where the denominator may have both signs.
    """
    room = 2 * (functions.begin[f + 1] - functions.begin[f])
    table, lost = np.empty(room), np.empty(room)
    size = _values(lower, upper, functions, f, table, lost)
    if functions.sign[f] == 0:
        _turned(size, table, lost)
        for i in range(size, 2 * size):
            if not table[i] - lost[i] >= 0.0:
                return 0
    for i in range(size):
        over, under = table[i], table[size + i]
        above = lost[i] + abs(least) * lost[size + i] + 4 * UNIT * abs(least)
        below = lost[i] + abs(most) * lost[size + i] + 4 * UNIT * abs(most)
        side[0, i], slack[0, i] = over - least * under + above, 2 * above
        side[1, i], slack[1, i] = most * under - over + below, 2 * below
        if not (np.isfinite(side[0, i]) and np.isfinite(side[1, i])):
            return 0
    return size


@kernel
def _clip(side: Array, size: int, stride: int, width: int) -> tuple[float, float]:
    """Return the part of an axis, as shares of it, outside of which no average of coefficients is positive or 0.

    For fixed weights along the other axes there is one curve over this one, inside the convex hull of its control points; what
    the hulls of all rows leave above 0 holds all there is.
    """
    start, end, any_up = 1.0, 0.0, False
    for block in range(0, size, stride * width):
        for first in range(block, block + stride):
            last = first + (width - 1) * stride
            if side[first] >= 0.0:
                start, any_up = 0.0, True
            if side[last] >= 0.0:
                end, any_up = 1.0, True
            for i in range(width):
                up = side[first + i * stride]
                if not up >= 0.0:
                    continue
                any_up = True
                for k in range(width):
                    down = side[first + k * stride]
                    if down >= 0.0:
                        continue
                    at = (k + (i - k) * (down / (down - up))) / (width - 1)  # from k to i
                    if k < i:
                        start = min(start, at)
                    else:
                        end = max(end, at)
    if not any_up:
        return 0.0, 1.0
    return max(start - SLACK, 0.0), min(end + SLACK, 1.0)


@kernel
def _cut(lower: Array, upper: Array, degrees: Array, side: Array, slack: Array, size: int) -> bool:
    """Cut off, in place, where a constraint fails; return whether anything is left."""
    lows, highs = lower.copy(), upper.copy()
    for number in range(2):
        holds, fails = True, True
        for i in range(size):
            holds = holds and side[number, i] - slack[number, i] >= 0.0
            fails = fails and side[number, i] < 0.0
        if holds:
            continue
        if fails:
            return False
        stride = size
        for axis in range(degrees.size):
            width, low, high = degrees[axis] + 1, lows[axis], highs[axis]
            stride //= width
            if width == 1 or low == high:
                continue
            start, end = _clip(side[number], size, stride, width)
            lost = SLACK * (abs(low) + abs(high))
            if start > 0.0:
                lower[axis] = max(lower[axis], low + start * (high - low) - lost)
            if end < 1.0:
                upper[axis] = min(upper[axis], low + end * (high - low) + lost)
    return bool((lower <= upper).all())


@kernel
def settle(
    rounds: int, lower: Array, upper: Array, functions: FunctionTables, which: Array, least: Array, most: Array
) -> int:
    """Go round constraints until they cut off next to nothing, in place; return the one that left nothing, -1 without.

    The function `which` (n,) lies between `least` and `most` (n,).
    """
    largest = 0
    for f in which:
        largest = max(largest, functions.begin[f + 1] - functions.begin[f])
    side, slack = np.empty((2, largest)), np.empty((2, largest))
    for _ in range(rounds):
        widths = upper - lower
        for n in range(which.size):
            f = which[n]
            size = sides(lower, upper, functions, f, least[n], most[n], side, slack)
            if size > 0 and not _cut(lower, upper, functions.degrees[f], side, slack, size):
                return n
        more = False
        for axis in range(lower.size):
            more = more or widths[axis] - (upper[axis] - lower[axis]) > WORTH * widths[axis]
        if not more:
            break
    return -1


@kernel
def shave(lower: Array, upper: Array, functions: FunctionTables, which: Array, least: Array, most: Array) -> int:
    """Cut off slices at the ends of a box that hold no point, as far as a bounded number of tries goes; the same as `settle`."""
    for axis in range(lower.size):
        used = False
        for f in which:
            used = used or functions.degrees[f, axis] > 0
        for last in range(2):
            for _ in range(SLICES if used else 0):
                low, high = lower[axis], upper[axis]
                border = high - SLICE * (high - low) if last else low + SLICE * (high - low)
                if not low < border < high:
                    break
                first, second = lower.copy(), upper.copy()
                if last:
                    first[axis] = border
                else:
                    second[axis] = border
                culprit = settle(FEWER, first, second, functions, which, least, most)
                if last:
                    upper[axis] = border if culprit >= 0 else second[axis]
                else:
                    lower[axis] = border if culprit >= 0 else first[axis]
                if culprit < 0:
                    break
    return settle(FEWER, lower, upper, functions, which, least, most)


@kernel
def _bounds(
    lower: Array, upper: Array, functions: FunctionTables, f: int, table: Array, lost: Array
) -> tuple[float, float, bool]:
    """Return bounds over a box, and whether both are values in its corners, so that there are none better."""
    degrees = functions.degrees[f]
    size = _values(lower, upper, functions, f, table, lost)
    plain = functions.begin[f + 1] - functions.begin[f] == size
    if functions.sign[f] == 0 and not plain:
        _turned(size, table, lost)
    low, high, corner_low, corner_high = np.inf, -np.inf, np.inf, -np.inf
    for i in range(size):
        down, up = table[i] - lost[i], table[i] + lost[i]
        if not plain:
            small, large = table[size + i] - lost[size + i], table[size + i] + lost[size + i]
            if not small > 0.0:
                return -np.inf, np.inf, True
            down = down / large if down >= 0.0 else down / small
            up = up / small if up >= 0.0 else up / large
            down, up = down - 4 * UNIT * abs(down), up + 4 * UNIT * abs(up)
        if np.isnan(down) or np.isnan(up):
            return -np.inf, np.inf, True
        low, high = min(low, down), max(high, up)
        rest, corner = i, True
        for axis in range(degrees.size - 1, -1, -1):
            digit = rest % (degrees[axis] + 1)
            corner = corner and (digit == 0 or digit == degrees[axis])
            rest //= degrees[axis] + 1
        if corner:
            corner_low, corner_high = min(corner_low, down), max(corner_high, up)
    return low, high, corner_low == low and corner_high == high


@kernel
def _split(
    lower: Array, upper: Array, functions: FunctionTables, f: int, bent: Array, table: Array, lost: Array
) -> tuple[float, float]:
    """Return bounds over a box, from those over pieces of it: the axes that are `bent` are cut."""
    pieces = PIECES if bent.size == 1 else FEW
    low, high = np.inf, -np.inf
    first, last = lower.copy(), upper.copy()
    for place in range(pieces**bent.size):
        rest = place
        for axis in bent:
            i = rest % pieces
            rest //= pieces
            step = (upper[axis] - lower[axis]) / pieces
            first[axis] = lower[axis] + i * step
            last[axis] = upper[axis] if i == pieces - 1 else lower[axis] + (i + 1) * step
        down, up, _ = _bounds(first, last, functions, f, table, lost)
        low, high = min(low, down), max(high, up)
    return low, high


@kernel
def bounds(lower: Array, upper: Array, functions: FunctionTables) -> tuple[Array, Array]:
    """Return bounds (F,) on all functions over a box, rounded outwards; infinite where a denominator may become 0."""
    least, most = np.empty(functions.sign.size), np.empty(functions.sign.size)
    for f in range(least.size):
        own, count = functions.degrees[f], functions.begin[f + 1] - functions.begin[f]
        table, lost = np.empty(2 * count), np.empty(2 * count)
        low, high, tight = _bounds(lower, upper, functions, f, table, lost)
        size = 1
        for degree in own:
            size *= degree + 1
        bent = np.flatnonzero(own > (1 if count == size else 0))
        if not tight and 0 < bent.size <= MOST_BENT:
            low, high = _split(lower, upper, functions, f, bent, table, lost)
        if not (np.isfinite(low) and np.isfinite(high)):
            low, high = -np.inf, np.inf
        least[f], most[f] = low, high
    return least, most
