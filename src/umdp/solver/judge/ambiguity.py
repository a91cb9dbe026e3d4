"""Which distributions a row of the model as given allows, and which of its transitions are there.

A row allows ``lower / sum(lower)`` where the lower bounds sum to 1 or more, ``upper / sum(upper)`` where the upper bounds sum to
1 or less, and else all distributions between the bounds. Sums are compared with 1 exactly. A transition that no such distribution
can use is not there: it is not *possible*. Others are there, and have positive probability.

Notation: ``EPS = 2**-53``; a rounded operation is off by at most EPS, relatively, or `LEAST`, absolutely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.question import ModelRows

__all__ = [
    "EPS",
    "FREE",
    "LEAST",
    "LOWER",
    "UPPER",
    "counted_rows",
    "exact_excess",
    "excess",
    "is_held",
    "kind_of",
    "may_cut",
    "may_lead",
    "may_leave",
    "possible",
    "read_row",
    "two_sum",
]

Array = NDArray[Any]
EPS = 2.0**-53
LEAST = 5e-324
LOWER, UPPER, FREE = 0, 1, 2
CLOSE = 1e-9  # a sum that is this close to 1 is compared with it exactly


@kernel(forceinline=True, allocates=False)
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a rounded sum, and what rounding has lost, exactly (Knuth)."""
    total = a + b
    shift = total - a
    return total, (a - (total - shift)) + (b - shift)


@kernel(allocates=False)
def excess(begin: int, end: int, values: Array) -> float:
    """Return ``sum(values[begin:end]) - 1``, with the right sign and accurate to 2 EPS relative to itself.

    What each addition loses is summed as well; what that sum loses is summed too, and where it may matter everything is added up
    without rounding.
    """
    high, rest, lost = -1.0, 0.0, 0.0
    for t in range(begin, end):
        high, error = two_sum(high, values[t])
        rest, error = two_sum(rest, error)
        lost += abs(error)
    if lost > 0.0 and abs(high + rest) < 2.0**60 * lost:
        return float(exact_excess(begin, end, values))
    return float(high + rest)


@kernel
def exact_excess(begin: int, end: int, values: Array) -> float:
    """Add up without rounding (Shewchuk's expansions: a sum as numbers that do not overlap), then round."""
    partial = np.empty(end - begin + 1)
    partial[0], count = -1.0, 1
    for t in range(begin, end):
        v, kept = values[t], 0
        for i in range(count):
            v, error = two_sum(v, partial[i])
            if error != 0.0:
                partial[kept] = error
                kept += 1
        partial[kept] = v
        count = kept + 1
    total = 0.0
    for i in range(count):
        total += partial[i]
    return float(total)


@kernel(forceinline=True, allocates=False)
def read_row(begin: int, end: int, lower: Array, upper: Array) -> tuple[int, float]:
    """Return which distributions a row allows (LOWER, UPPER: the one its bounds are proportional to; or FREE), and its slack."""
    least, most, moves = 0.0, 0.0, False
    for t in range(begin, end):
        least += lower[t]
        most += upper[t]
        moves = moves or lower[t] < upper[t]
    if not moves:
        return LOWER, 0.0
    # Sums of n numbers of at least 0 are off by n EPS relative to themselves: less than CLOSE around 1.
    if end - begin < 2**20 and least < 1.0 - CLOSE and most > 1.0 + CLOSE:
        return FREE, 1.0 - least
    slack = -excess(begin, end, lower)
    if slack <= 0.0:
        return LOWER, 0.0
    if excess(begin, end, upper) <= 0.0:
        return UPPER, 0.0
    return FREE, slack


@kernel(forceinline=True, allocates=False)
def kind_of(c: int, rows: ModelRows) -> int:
    """Return which distributions the row of a choice allows."""
    if rows.lower is rows.upper:
        return LOWER
    return read_row(rows.choice_ptr[c], rows.choice_ptr[c + 1], rows.lower, rows.upper)[0]


@kernel(forceinline=True, allocates=False)
def possible(t: int, kind: int, lower: Array, upper: Array) -> bool:
    """Whether some distribution of the row uses a transition: where bounds leave room, all that have an upper bound above 0."""
    return bool(lower[t] > 0.0 if kind == LOWER else upper[t] > 0.0)


@kernel(forceinline=True, allocates=False)
def counted_rows(s: int, rows: ModelRows, every: bool, choice: Array) -> tuple[int, int]:
    """Return the first row of a state that counts, and the one after the last: all of them, or the policy's."""
    return (rows.state_ptr[s], rows.state_ptr[s + 1]) if every else (choice[s], choice[s] + 1)


@kernel(allocates=False)
def may_lead(c: int, rows: ModelRows, marked: Array) -> bool:
    """Whether a row may lead to a marked state, of (S,)."""
    kind = kind_of(c, rows)
    for t in range(rows.choice_ptr[c], rows.choice_ptr[c + 1]):
        if marked[rows.successor[t]] and possible(t, kind, rows.lower, rows.upper):
            return True
    return False


@kernel(allocates=False)
def may_leave(c: int, rows: ModelRows, group: Array, home: int) -> bool:
    """Whether a row may lead to a state that is not in a group, of (S,)."""
    kind = kind_of(c, rows)
    for t in range(rows.choice_ptr[c], rows.choice_ptr[c + 1]):
        if group[rows.successor[t]] != home and possible(t, kind, rows.lower, rows.upper):
            return True
    return False


@kernel
def is_held(s: int, c: int, rows: ModelRows, trap: Array, cutting: bool) -> bool:
    """Whether a row may lead to a smaller trap level, or stays at its own; where nature would cut for it, if it can be made to.

    Then a play goes down again and again until it stays for ever, with positive probability: it misses the goal.
    """
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind = kind_of(c, rows)
    inside, stays, free = np.zeros(end - begin), True, kind == FREE
    for t in range(begin, end):
        if not possible(t, kind, rows.lower, rows.upper):
            continue
        level = trap[rows.successor[t]]
        if 0 <= level < trap[s]:
            return True
        if level == trap[s]:
            inside[t - begin] = rows.upper[t]
        else:
            stays, free = False, free and rows.lower[t] == 0.0
    return stays or (cutting and free and excess(0, end - begin, inside) >= 0.0)


@kernel
def may_cut(rows: ModelRows) -> bool:
    """Whether nature may set the probability of a possible transition to 0; also where that is not quite sure."""
    if rows.lower is rows.upper or rows.lower.min() > 0.0:
        return False
    for c in range(rows.choice_ptr.size - 1):
        begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
        for t in range(begin, end):
            if rows.lower[t] == 0.0 and rows.upper[t] > 0.0 and read_row(begin, end, rows.lower, rows.upper)[0] == FREE:
                whole = 0.0
                for k in range(begin, end):
                    whole += rows.upper[k]
                if whole - rows.upper[t] >= 1.0 - 1e-9:
                    return True
    return False
