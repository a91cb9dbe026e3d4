"""Elimination of one Markov chain without subtraction, over lists of neighbours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.elimination_order import Pattern
from umdp.solver.kernels.rounding import LEAST
from umdp.solver.kernels.structs import ChainRows

__all__ = ["Factors", "factorise", "loads_of", "substitute"]

Array = NDArray[Any]
FAINT = 1e-285  # products below this may have lost digits
GIVEN = 64.0  # roundings a probability or a reward may be off, relative to itself


class Factors(NamedTuple):
    """An elimination, by places.

    Attributes
    ----------
    onwards : (columns,) with what probability a place leads to each of those eliminated later, given that it leads out at all
    inwards : (columns,) what leads to it from each of those
    out : (n,) the probability that it leads out at all
    """

    onwards: Array
    inwards: Array
    out: Array


@kernel
def _scatter(begin: int, chain: ChainRows, pattern: Pattern, factors: Factors) -> Array:
    """Write what places lead to each other with, before any is eliminated; return (n,) with what each leads out."""
    entry_ptr, target, prob, choice = chain.entry_ptr, chain.target, chain.prob, chain.row
    order, place, col_ptr, col = pattern.order, pattern.place, pattern.col_ptr, pattern.col
    onwards, inwards = factors.onwards, factors.inwards
    n = order.size
    exits = np.zeros(n)
    onwards[:] = 0.0
    inwards[:] = 0.0
    for i in range(n):
        s = begin + order[i]
        for t in range(entry_ptr[choice[s]], entry_ptr[choice[s] + 1]):
            j = target[t] - begin
            if not 0 <= j < n:
                exits[i] += prob[t]
            elif j != order[i] and prob[t] > 0.0:
                k = place[j]
                first, wanted = min(i, k), max(i, k)
                low, high = col_ptr[first], col_ptr[first + 1] - 1
                while low < high:
                    middle = (low + high) // 2
                    if col[middle] < wanted:
                        low = middle + 1
                    else:
                        high = middle
                if k > i:
                    onwards[low] += prob[t]
                else:
                    inwards[low] += prob[t]
    return exits


@kernel
def factorise(begin: int, chain: ChainRows, pattern: Pattern, factors: Factors) -> tuple[bool, bool, float]:
    """Eliminate all states of a chain, in order.

    Returns whether every state can leave, whether nothing has come close to underflow, and by how many roundings the rows were
    changed, added up over rows.
    """
    col_ptr, col, row_ptr, row_at, row_from = (
        pattern.col_ptr,
        pattern.col,
        pattern.row_ptr,
        pattern.row_at,
        pattern.row_from,
    )
    onwards, inwards, out = factors.onwards, factors.inwards, factors.out
    n = pattern.order.size
    exits = _scatter(begin, chain, pattern, factors)  # from here on, given that a state leads out at all
    changed = 0.0
    forth, back = np.empty(n), np.empty(n)
    least_on, least_in = np.empty(n), np.empty(n)
    safe = True
    for i in range(n):
        begin_i, end_i = col_ptr[i], col_ptr[i + 1]
        for c in range(begin_i, end_i):
            forth[col[c]] = onwards[c]
            back[col[c]] = inwards[c]
        for r in range(row_ptr[i], row_ptr[i + 1]):
            at, k = row_at[r], row_from[r]
            f, u = inwards[at], onwards[at]
            last = col_ptr[k + 1]
            if f > 0.0:
                for c in range(at + 1, last):
                    forth[col[c]] += f * onwards[c]
                exits[i] += f * exits[k]
                safe = safe and f * least_on[k] >= FAINT
            if u > 0.0:
                for c in range(at + 1, last):
                    back[col[c]] += inwards[c] * u
                safe = safe and u * least_in[k] >= FAINT
        total = exits[i]
        for c in range(begin_i, end_i):
            total += forth[col[c]]
        if not total > 0.0:
            return False, False, np.inf
        out[i] = total
        safe = safe and (exits[i] == 0.0 or exits[i] >= FAINT)
        exits[i] /= total
        least_on[i], least_in[i], touched = exits[i] if exits[i] > 0.0 else np.inf, np.inf, 0
        for c in range(begin_i, end_i):
            onwards[c], inwards[c] = forth[col[c]] / total, back[col[c]]
            if onwards[c] > 0.0:
                least_on[i] = min(least_on[i], onwards[c])
                safe = safe and forth[col[c]] >= FAINT
            if inwards[c] > 0.0:
                least_in[i] = min(least_in[i], inwards[c])
                safe = safe and inwards[c] >= FAINT
                touched += 1
        changed += touched * (end_i - begin_i + 4.0)
    return True, safe, changed


@kernel
def substitute(pattern: Pattern, factors: Factors, load: Array, error: Array) -> tuple[Array, bool]:
    """Solve for a load of at least 0, by state; return what it adds up to, and whether nothing came close to underflow.

    Nothing positive becomes 0. `error` receives by how many roundings each value is off given the elimination.
    """
    order, col_ptr, col = pattern.order, pattern.col_ptr, pattern.col
    onwards, inwards, out = factors.onwards, factors.inwards, factors.out
    n = order.size
    b = np.empty(n)
    safe = True
    for i in range(n):
        b[i] = load[order[i]]
    for k in range(n):
        if b[k] > 0.0:
            b[k] /= out[k]
            for c in range(col_ptr[k], col_ptr[k + 1]):
                i = col[c]
                part = inwards[c] * b[k]
                b[i] += part
                if part < FAINT and inwards[c] > 0.0 and b[i] < 2.0**60 * FAINT:
                    safe = False
    v = np.empty(n)
    for i in range(n - 1, -1, -1):
        total, roundings, positive = b[i], 0.0, b[i] > 0.0
        for c in range(col_ptr[i], col_ptr[i + 1]):
            if onwards[c] > 0.0:
                j = order[col[c]]
                total += onwards[c] * v[j]
                roundings = max(roundings, error[j])
                positive = positive or v[j] > 0.0
        v[order[i]] = max(total, LEAST) if positive else 0.0
        error[order[i]] = roundings + 2.0 * (col_ptr[i + 1] - col_ptr[i]) + 4.0
    return v, safe


@kernel
def loads_of(begin: int, end: int, chain: ChainRows, x: Array) -> tuple[Array, bool, float]:
    """Return what each state collects in one step, exits included; whether it is far above underflow; roundings of rows."""
    entry_ptr, target, prob, reward, choice = chain.entry_ptr, chain.target, chain.prob, chain.reward, chain.row
    load = np.empty(end - begin)
    changed, safe = 0.0, True
    for s in range(begin, end):
        total = reward[choice[s]]
        positive = total > 0.0
        for t in range(entry_ptr[choice[s]], entry_ptr[choice[s] + 1]):
            if not begin <= target[t] < end:
                total += prob[t] * x[target[t]]
                positive = positive or (prob[t] > 0.0 and x[target[t]] > 0.0)
        load[s - begin] = total
        safe = safe and (not positive or total >= 2.0**60 * FAINT)
        changed += GIVEN + 4.0 + (entry_ptr[choice[s] + 1] - entry_ptr[choice[s]])
    return load, safe, changed
