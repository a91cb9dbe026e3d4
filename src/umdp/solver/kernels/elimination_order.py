"""In which order to eliminate the states of a component, so that few neighbours stay few: approximate minimum degree.

Eliminating a state makes neighbours of all its neighbours. They are not listed pair by pair: the state eliminated stands for all
of them, and takes the place of those it was a neighbour of itself (Amestoy, Davis, Duff).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.structs import ChainRows

__all__ = ["Pattern", "lay_open", "neighbours", "order_states", "with_hubs", "without"]

Array = NDArray[Any]


class Pattern(NamedTuple):
    """The structure of an elimination: columns by places, and where rows find their entries in these.

    Attributes
    ----------
    order, place : (n,) the states in the order in which they are eliminated, and the place of each in it
    col_ptr, col : the places after k that are neighbours of k when it is eliminated: ``col[col_ptr[k]:col_ptr[k + 1]]``
    row_ptr, row_at, row_from : the places before i that i is a neighbour of, and where they are listed in `col`
    """

    order: Array
    place: Array
    col_ptr: Array
    col: Array
    row_ptr: Array
    row_at: Array
    row_from: Array


@kernel
def neighbours(begin: int, end: int, chain: ChainRows) -> tuple[Array, Array]:
    """Return, as (ptr, neighbours), the states of a chain that each leads to or is reached from, each once."""
    entry_ptr, target, prob, choice = chain.entry_ptr, chain.target, chain.prob, chain.row
    n = end - begin
    ptr = np.zeros(n + 1, np.int64)
    for s in range(begin, end):
        for t in range(entry_ptr[choice[s]], entry_ptr[choice[s] + 1]):
            if begin <= target[t] < end and target[t] != s and prob[t] > 0.0:
                ptr[s - begin + 1] += 1
                ptr[target[t] - begin + 1] += 1
    for i in range(n):
        ptr[i + 1] += ptr[i]
    near, filled = np.empty(ptr[n], np.int32), ptr[:-1].copy()
    for s in range(begin, end):
        for t in range(entry_ptr[choice[s]], entry_ptr[choice[s] + 1]):
            if begin <= target[t] < end and target[t] != s and prob[t] > 0.0:
                i, j = s - begin, target[t] - begin
                near[filled[i]] = j
                near[filled[j]] = i
                filled[i] += 1
                filled[j] += 1
    seen = np.full(n, -1, np.int64)
    kept, old = 0, 0
    for i in range(n):
        last = ptr[i + 1]
        for a in range(old, last):
            if seen[near[a]] != i:
                seen[near[a]] = i
                near[kept] = near[a]
                kept += 1
        old = last
        ptr[i + 1] = kept
    return ptr, near[:kept].copy()


@kernel
def order_states(ptr: Array, near: Array, fill: int, work: float) -> tuple[Array, Array, Array, Array, float]:
    """Return (order, start, stop, filled, cost): state i is followed by its neighbours ``filled[start[i]:stop[i]]``.

    These are its neighbours when it is eliminated, its row and its column then. The cost is the sum of their numbers' squares.
    The order stays short where more than `fill` neighbours are listed, or the cost exceeds `work`. `near` is written over.
    """
    n = ptr.size - 1
    filled = np.empty(max(near.size, 16), np.int32)
    used, cost = 0, 0.0
    start, stop = np.zeros(n, np.int64), np.zeros(n, np.int64)
    order = np.empty(n, np.int64)
    length, groups = np.empty(n, np.int64), np.zeros(n, np.int64)  # what is listed of a state: eliminated ones first
    gone = np.zeros(n, np.bool_)  # eliminated states that another has taken the place of
    mark, stamp, beyond = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    head, after, before = np.full(n + 1, -1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    degree = np.empty(n, np.int64)
    widest = 1
    for i in range(n - 1, -1, -1):
        length[i] = degree[i] = ptr[i + 1] - ptr[i]
        widest = max(widest, length[i])
        d = degree[i]
        after[i], before[i] = head[d], -1
        if head[d] >= 0:
            before[head[d]] = i
        head[d] = i
    kept = np.empty(widest, np.int32)
    least = 0
    for k in range(n):
        while head[least] < 0:
            least += 1
        p = head[least]
        head[least] = after[p]
        if after[p] >= 0:
            before[after[p]] = -1
        order[k] = p
        mark[p] = k
        start[p] = used
        most = used + length[p]
        for a in range(ptr[p], ptr[p] + groups[p]):
            most += stop[near[a]] - start[near[a]]
        if most > filled.size:
            larger = np.empty(max(2 * filled.size, most), np.int32)
            larger[:used] = filled[:used]
            filled = larger
        for a in range(ptr[p], ptr[p] + length[p]):
            i = near[a]
            if a < ptr[p] + groups[p]:
                gone[i] = True
                for b in range(start[i], stop[i]):
                    j = filled[b]
                    if mark[j] != k:
                        mark[j] = k
                        filled[used] = j
                        used += 1
            elif mark[i] != k:
                mark[i] = k
                filled[used] = i
                used += 1
        stop[p] = used
        size = used - start[p]
        cost += float(size) * size
        if used > fill or cost > work:
            return order[:k].copy(), start, stop, filled, cost
        for b in range(start[p], used):
            i = filled[b]
            for a in range(ptr[i], ptr[i] + groups[i]):
                e = near[a]
                if not gone[e]:
                    if stamp[e] != k:
                        stamp[e] = k
                        beyond[e] = stop[e] - start[e]
                    beyond[e] -= 1
        for b in range(start[p], used):
            i = filled[b]
            count, more = 0, size - 1
            for a in range(ptr[i], ptr[i] + groups[i]):
                e = near[a]
                if not gone[e] and beyond[e] > 0:
                    kept[count] = e
                    count += 1
                    more += beyond[e]
            kept[count] = p
            first = count + 1
            count += 1
            for a in range(ptr[i] + groups[i], ptr[i] + length[i]):
                if mark[near[a]] != k:
                    kept[count] = near[a]
                    count += 1
                    more += 1
            for a in range(count):
                near[ptr[i] + a] = kept[a]
            groups[i], length[i] = first, count
            if before[i] >= 0:
                after[before[i]] = after[i]
            else:
                head[degree[i]] = after[i]
            if after[i] >= 0:
                before[after[i]] = before[i]
            d = min(more, n - k - 2)
            degree[i] = d
            after[i], before[i] = head[d], -1
            if head[d] >= 0:
                before[head[d]] = i
            head[d] = i
            least = min(least, d)
    return order, start, stop, filled, cost


@kernel
def without(ptr: Array, near: Array, left_out: Array) -> tuple[Array, Array, Array]:
    """Return neighbours as (ptr, neighbours) over the states that are not left out, and which these are."""
    n = ptr.size - 1
    number = np.zeros(n, np.int64)
    for h in left_out:
        number[h] = -1
    count = 0
    for i in range(n):
        if number[i] == 0:
            number[i] = count
            count += 1
    kept = np.empty(count, np.int64)
    small_ptr, small_near = np.zeros(count + 1, np.int64), np.empty(near.size, near.dtype)
    used = 0
    for i in range(n):
        if number[i] >= 0:
            kept[number[i]] = i
            for a in range(ptr[i], ptr[i + 1]):
                if number[near[a]] >= 0:
                    small_near[used] = number[near[a]]
                    used += 1
            small_ptr[number[i] + 1] = used
    return small_ptr, small_near[:used].copy(), kept


@kernel
def with_hubs(
    order: Array, start: Array, stop: Array, filled: Array, kept: Array, last: Array
) -> tuple[Array, Array, Array, Array, float]:
    """Return what `order_states` does for all states, of which `last` come last; every other one counts as their neighbour."""
    m, h = kept.size, last.size
    whole, used, cost = np.empty(m + h, np.int64), 0, 0.0
    begin, end = np.zeros(m + h, np.int64), np.zeros(m + h, np.int64)
    total = m * h + h * h
    for k in range(m):
        total += stop[k] - start[k]
    every = np.empty(total, np.int32)
    for k in range(m):
        p = order[k]
        s = kept[p]
        whole[k], begin[s] = s, used
        for b in range(start[p], stop[p]):
            every[used] = kept[filled[b]]
            used += 1
        for j in range(h):
            every[used] = last[j]
            used += 1
        end[s] = used
        cost += float(used - begin[s]) ** 2
    for k in range(h):
        s = last[k]
        whole[m + k], begin[s] = s, used
        for j in range(k + 1, h):
            every[used] = last[j]
            used += 1
        end[s] = used
        cost += float(h - 1 - k) ** 2
    return whole, begin, end, every[:used].copy(), cost


@kernel
def lay_open(order: Array, start: Array, stop: Array, filled: Array) -> Pattern:
    """Return the structure of an elimination by places, sorted."""
    n = order.size
    place = np.empty(n, np.int64)
    for k in range(n):
        place[order[k]] = k
    col_ptr, row_ptr = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for k in range(n):
        p = order[k]
        col_ptr[k + 1] = col_ptr[k] + stop[p] - start[p]
        for b in range(start[p], stop[p]):
            row_ptr[place[filled[b]] + 1] += 1
    for i in range(n):
        row_ptr[i + 1] += row_ptr[i]
    entries = col_ptr[n]
    row_from, row_at = np.empty(entries, np.int32), np.empty(entries, np.int64)
    at = row_ptr[:-1].copy()
    for k in range(n):
        p = order[k]
        for b in range(start[p], stop[p]):
            i = place[filled[b]]
            row_from[at[i]] = k
            at[i] += 1
    col = np.empty(entries, np.int32)
    at = col_ptr[:-1].copy()
    for i in range(n):
        for r in range(row_ptr[i], row_ptr[i + 1]):
            k = row_from[r]
            col[at[k]] = i
            row_at[r] = at[k]
            at[k] += 1
    return Pattern(order, place, col_ptr, col, row_ptr, row_at, row_from)
