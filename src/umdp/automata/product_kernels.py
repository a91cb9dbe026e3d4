"""Compiled construction of the product of a model and an automaton."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["Machine", "Moves", "explore", "fill"]

Array = NDArray[Any]
MIX = np.uint64(0x9E3779B97F4A7C15)


class Moves(NamedTuple):
    """Where a model goes, as in a `Graph`, and the letter (T,) that its automaton reads with each transition."""

    state_ptr: Array
    choice_ptr: Array
    successor: Array
    letter: Array


class Machine(NamedTuple):
    """An automaton: its step (Q, letters), its jumps, those of a state between two of `jump_ptr`, and its sinks (Q,)."""

    step: Array
    jump_ptr: Array
    jump_to: Array
    sink: Array


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
def _rehashed(states: Array, memories: Array, size: int, room: int) -> tuple[Array, Array]:
    """Return an open table with so much room, of states of the product by their keys: (keys, places)."""
    keys, place = np.full(room, -1, np.int64), np.zeros(room, np.int32)
    for k in range(states.size):
        key = memories[k] * np.int64(size) + states[k]
        slot = _slot(keys, key)
        keys[slot], place[slot] = key, k + 1
    return keys, place


@kernel
def explore(moves: Moves, machine: Machine, initial: int, memory: int, dense: Array) -> tuple[Array, Array, Array]:
    """Return (state, memory, successors) of what can be reached: breadth first, choices in order, then jumps.

    `dense` is a table of zeros with a place for every state of the product, or empty, where that would take too much memory.

    A state whose memory is a sink has one transition, to itself. `memory` is the automaton's state after the letter of `initial`.
    """
    size, direct = moves.state_ptr.size - 1, dense.size > 0
    states = np.empty(1024, np.int32)
    memories = np.empty(1024, np.int32)
    ahead = np.empty(4096, np.int32)
    states[0], memories[0] = initial, memory
    keys, place = _rehashed(states[:1], memories[:1], size, 4096)
    if direct:
        place = dense  # one more than the number of a state, 0 where there is none
        place[memory * size + initial] = 1
    found, used, i = 1, 0, 0
    while i < found:
        s, q = states[i], memories[i]
        begin, end, jumps = 0, 0, 0
        if not machine.sink[q]:
            begin, end = moves.choice_ptr[moves.state_ptr[s]], moves.choice_ptr[moves.state_ptr[s + 1]]
            jumps = machine.jump_ptr[q + 1] - machine.jump_ptr[q]
        needed = max(end - begin + jumps, 1)
        if used + needed > ahead.size:
            ahead = _grown(ahead, 2 * (used + needed))
        if found + needed > states.size:
            states, memories = _grown(states, 2 * (found + needed)), _grown(memories, 2 * (found + needed))
        if not direct and 2 * (found + needed) > keys.size:
            room = keys.size
            while 2 * (found + needed) > room:
                room *= 4
            keys, place = _rehashed(states[:found], memories[:found], size, room)
        if machine.sink[q]:
            ahead[used] = i
            used += 1
        for t in range(begin, end + jumps):
            if t < end:
                j = np.int64(moves.successor[t])
                r = np.int64(machine.step[q, moves.letter[t]])
            else:
                j, r = np.int64(s), np.int64(machine.jump_to[machine.jump_ptr[q] + t - end])
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
    moves: Moves, machine: Machine, lower: Array, upper: Array, states: Array, memories: Array, transitions: int
) -> tuple[Array, Array, Array, Array, Array]:
    """Return (state_ptr, choice_ptr, origin, lower, upper) of the product; `origin` is the choice of the model, -1 for jumps.

    Empty `upper` stands for bounds that coincide, and none are returned for it.
    """
    state_ptr, choice_ptr, jump_ptr, sink = moves.state_ptr, moves.choice_ptr, machine.jump_ptr, machine.sink
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
