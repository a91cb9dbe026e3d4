"""Compiled construction of the product of a model and an automaton."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["explore", "fill"]

Array = NDArray[Any]
MIX = np.uint64(0x9E3779B97F4A7C15)


@kernel
def _slot(keys: Array, key: Any) -> Any:
    """Return where a key stands in an open table, or where it would."""
    mask = np.uint64(keys.size - 1)
    # Neighbours stay neighbours but for the highest bits, so that memory is read nearly in order.
    at = (np.uint64(key) ^ (np.uint64(key) * MIX >> np.uint64(40))) & mask
    while keys[at] != key and keys[at] != -1:
        at = (at + np.uint64(1)) & mask
    return np.int64(at)


@kernel
def _grown(array: Array, size: int) -> Array:
    larger = np.empty(size, array.dtype)
    larger[: array.size] = array
    return larger


@kernel
def explore(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    code: Array,
    step: Array,
    jump_ptr: Array,
    jump_to: Array,
    sink: Array,
    initial: int,
    memory: int,
    dense: Array,
) -> tuple[Array, Array, Array]:
    """Return (state, memory, successors) of what can be reached: breadth first, choices in order, then jumps.

    `dense` is a table of zeros with a place for every state of the product, or empty, where that would take too much memory.

    A state whose memory is a sink has one transition, to itself. `memory` is the automaton's state after the letter of `initial`.
    """
    size, direct = state_ptr.size - 1, dense.size > 0
    states = np.empty(1024, np.int32)
    memories = np.empty(1024, np.int32)
    ahead = np.empty(4096, np.int32)
    keys = np.full(4096, -1, np.int64)
    place = dense if direct else np.zeros(4096, np.int32)  # one more than the number of a state, 0 where there is none
    states[0], memories[0] = initial, memory
    found, used, i = 1, 0, 0
    start = memory * size + initial
    first = start if direct else _slot(keys, start)
    place[first] = 1
    if not direct:
        keys[first] = start
    while i < found:
        s, q = states[i], memories[i]
        if sink[q]:
            begin, end, jumps = 0, 0, 0
            needed = 1
        else:
            begin, end = choice_ptr[state_ptr[s]], choice_ptr[state_ptr[s + 1]]
            jumps = jump_ptr[q + 1] - jump_ptr[q]
            needed = end - begin + jumps
        if used + needed > ahead.size:
            ahead = _grown(ahead, 2 * (used + needed))
        if found + needed > states.size:
            states, memories = _grown(states, 2 * (found + needed)), _grown(memories, 2 * (found + needed))
        if not direct and 2 * (found + needed) > keys.size:
            room = keys.size
            while 2 * (found + needed) > room:
                room *= 4
            keys, place = np.full(room, -1, np.int64), np.zeros(room, np.int32)
            for k in range(found):
                old = memories[k] * np.int64(size) + states[k]
                slot = _slot(keys, old)
                keys[slot], place[slot] = old, k + 1
        if sink[q]:
            ahead[used] = i
            used += 1
        for t in range(begin, end + jumps):
            if t < end:
                j = np.int64(successor[t])
                r = np.int64(step[q, code[j]])
            else:
                j, r = np.int64(s), np.int64(jump_to[jump_ptr[q] + t - end])
            key = r * size + j
            at = key if direct else _slot(keys, key)
            if place[at] == 0:
                states[found], memories[found] = j, r
                found += 1
                place[at] = found
                if not direct:
                    keys[at] = key
            ahead[used] = place[at] - 1
            used += 1
        i += 1
    return states[:found].copy(), memories[:found].copy(), ahead[:used].copy()


@kernel
def fill(
    state_ptr: Array,
    choice_ptr: Array,
    lower: Array,
    upper: Array,
    jump_ptr: Array,
    sink: Array,
    states: Array,
    memories: Array,
    transitions: int,
) -> tuple[Array, Array, Array, Array, Array]:
    """Return (state_ptr, choice_ptr, origin, lower, upper) of the product; `origin` is the choice of the model, -1 for jumps.

    Empty `upper` stands for bounds that coincide, and none are returned for it.
    """
    count = 0
    for i in range(states.size):
        s, q = states[i], memories[i]
        count += 1 if sink[q] else state_ptr[s + 1] - state_ptr[s] + jump_ptr[q + 1] - jump_ptr[q]
    own_ptr, row_ptr = np.empty(states.size + 1, np.int64), np.empty(count + 1, np.int64)
    origin = np.empty(count, np.int64)
    low, high = np.empty(transitions, np.float64), np.empty(transitions if upper.size > 0 else 0, np.float64)
    own_ptr[0], row_ptr[0] = 0, 0
    c, t = 0, 0
    for i in range(states.size):
        s, q = states[i], memories[i]
        alone = 1 if sink[q] else 0
        if not sink[q]:
            for b in range(state_ptr[s], state_ptr[s + 1]):
                origin[c] = b
                for u in range(choice_ptr[b], choice_ptr[b + 1]):
                    low[t] = lower[u]
                    if high.size > 0:
                        high[t] = upper[u]
                    t += 1
                c += 1
                row_ptr[c] = t
            alone = jump_ptr[q + 1] - jump_ptr[q]
        for _ in range(alone):
            origin[c] = state_ptr[s] if sink[q] else -1
            low[t] = 1.0
            if high.size > 0:
                high[t] = 1.0
            t += 1
            c += 1
            row_ptr[c] = t
        own_ptr[i + 1] = c
    return own_ptr, row_ptr, origin, low, high
