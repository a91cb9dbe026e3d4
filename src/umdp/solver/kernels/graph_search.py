"""Compiled graph searches: reverse edges, attractors, strongly connected components.

All work on the arrays of a `Graph` with masks over states and choices; nothing here looks at probabilities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = [
    "Backwards",
    "attractor",
    "components",
    "descends",
    "lean",
    "reverse",
    "stream",
    "sure_reach",
]

Array = NDArray[Any]
PASSES = 6  # over all states, before a search that follows single edges takes over


class Backwards(NamedTuple):
    """The edges of a graph reversed.

    Attributes
    ----------
    owner : (C,) the state of every choice
    ptr, choice : (S+1,) and (T,), the choices that enter a state: ``choice[ptr[s]:ptr[s + 1]]``
    """

    owner: Array
    ptr: Array
    choice: Array


@kernel
def reverse(state_ptr: Array, choice_ptr: Array, successor: Array) -> Backwards:
    """Return the edges of a graph reversed."""
    states, choices = state_ptr.size - 1, choice_ptr.size - 1
    owner = np.empty(choices, np.int32)
    for s in range(states):
        for c in range(state_ptr[s], state_ptr[s + 1]):
            owner[c] = s
    ptr = np.empty(states + 1, np.int64)
    ptr[:] = 0
    for t in range(successor.size):
        ptr[successor[t] + 1] += 1
    for s in range(states):
        ptr[s + 1] += ptr[s]
    fill = np.empty(states, np.int64)
    for s in range(states):
        fill[s] = ptr[s]
    entering = np.empty(successor.size, np.int32)
    for c in range(choices):
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            j = successor[t]
            entering[fill[j]] = c
            fill[j] += 1
    return Backwards(owner, ptr, entering)


@kernel
def attractor(
    state_ptr: Array, back: Backwards, through: Array, usable: Array, reached: Array, via: Array, every: bool
) -> Array:
    """Grow `reached` by the states of `through` with a usable choice (or, if `every`, all of them) entering it.

    `via` receives the choice by which a state was added (the one that entered last, if `every`). Returns the states
    reached, in breadth-first order. Linear in the number of transitions.
    """
    states, owner, rev_ptr, entering = state_ptr.size - 1, back.owner, back.ptr, back.choice
    closed = np.empty(states, np.bool_)  # one look at a state says whether it still counts
    missing = np.empty(states if every else 0, np.int32)
    seen = np.empty(owner.size if every else 0, np.bool_)
    seen[:] = False
    queue = np.empty(states, np.int32)
    end = 0
    for s in range(states):
        closed[s] = reached[s] or not through[s]
        if every:
            missing[s] = 0
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if usable[c]:
                    missing[s] += 1
        if reached[s]:
            queue[end] = s
            end += 1
    begin = 0
    while begin < end:
        j = queue[begin]
        begin += 1
        for i in range(rev_ptr[j], rev_ptr[j + 1]):
            c = entering[i]
            s = owner[c]
            if closed[s] or not usable[c]:
                continue
            if every:
                if seen[c]:
                    continue
                seen[c] = True
                missing[s] -= 1
                if missing[s] > 0:
                    continue
            closed[s] = True
            reached[s] = True
            via[s] = c
            queue[end] = s
            end += 1
    return queue[:end]


@kernel(allocates=False)
def stream(
    state_ptr: Array, choice_ptr: Array, successor: Array, through: Array, usable: Array, reached: Array, every: bool
) -> bool:
    """Grow `reached` as `attractor` does, by passes over the states in order, from the last and from the first in turn.

    Return whether it is complete. Models are mostly numbered as they were explored, so that few passes are enough; they read
    memory in order and need no edges reversed. What they found is right in any case, and a place to go on from.
    """
    states = state_ptr.size - 1
    before = states
    for turn in range(PASSES):
        found, ahead = 0, False
        for i in range(states):
            s = states - 1 - i if turn % 2 == 0 else i
            if reached[s] or not through[s]:
                continue
            drawn, some, waits = every, False, False
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if not usable[c]:
                    continue
                some, enters = True, False
                if every:
                    waits = False
                for t in range(choice_ptr[c], choice_ptr[c + 1]):
                    j = successor[t]
                    if reached[j]:
                        enters = True
                        break
                    waits = waits or (through[j] and (j < s if turn % 2 == 0 else j > s))
                drawn = enters
                if enters != every:
                    break
            if drawn and some:
                reached[s] = True
                found += 1
            else:
                ahead = ahead or waits
        if found == 0 or not ahead:  # what is not drawn waits for nothing that this pass came to later
            return True
        if turn > 0 and 4 * found > before:
            return False  # it goes back and forth
        before = found
    return False


@kernel(allocates=False)
def descends(state_ptr: Array, choice_ptr: Array, successor: Array, inside: Array, usable: Array) -> bool:
    """Return whether every usable edge within `inside` leads to a higher number: then there is no cycle to look for."""
    for s in range(state_ptr.size - 1):
        if not inside[s]:
            continue
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if usable[c]:
                for t in range(choice_ptr[c], choice_ptr[c + 1]):
                    if successor[t] <= s and inside[successor[t]]:
                        return False
    return True


@kernel
def sure_reach(state_ptr: Array, back: Backwards, through: Array, goal: Array, via: Array) -> Array:
    """Return the states from which some policy reaches `goal` with probability 1 through `through`.

    `via` receives a choice of such a policy. Each round removes, in linear time, what can no longer reach the goal, then
    every choice that may leave what remains, then the states without choices, and so on; few rounds are needed.
    """
    states, owner, rev_ptr, entering = state_ptr.size - 1, back.owner, back.ptr, back.choice
    usable = np.empty(owner.size, np.bool_)
    usable[:] = True
    remaining = np.empty(states, np.bool_)
    reached = np.empty(states, np.bool_)
    for s in range(states):
        remaining[s] = through[s] or goal[s]
    left = np.empty(states, np.int64)
    queue = np.empty(states, np.int32)
    end = 0
    for s in range(states):
        left[s] = state_ptr[s + 1] - state_ptr[s]
        if not remaining[s]:
            queue[end] = s
            end += 1
    while True:
        begin = 0
        while begin < end:
            j = queue[begin]
            begin += 1
            for i in range(rev_ptr[j], rev_ptr[j + 1]):
                c = entering[i]
                if usable[c]:
                    usable[c] = False
                    s = owner[c]
                    left[s] -= 1
                    if left[s] == 0 and remaining[s] and not goal[s]:
                        remaining[s] = False
                        queue[end] = s
                        end += 1
        for s in range(states):
            reached[s] = goal[s]
        every = states < 0
        attractor(state_ptr, back, remaining, usable, reached, via, every)
        end = 0
        for s in range(states):
            if remaining[s] and not reached[s]:
                remaining[s] = False
                queue[end] = s
                end += 1
        if end == 0:
            return remaining


@kernel
def components(
    state_ptr: Array, choice_ptr: Array, successor: Array, inside: Array, usable: Array, listed: Array
) -> tuple[Array, Array, int, Array]:
    """Return (component of each state, states in order, number, states on cycles): Tarjan's algorithm without recursion.

    Only states of `inside` and usable choices count; other states get -1. Components are numbered so that edges lead
    to smaller numbers. `order` lists the states by component and, within one, in the order of `listed`.
    """
    states = state_ptr.size - 1
    fresh, done = -1, 2**31 - 1  # instead of a number: not visited; finished, or outside
    number, component, cyclic = np.empty(states, np.int32), np.empty(states, np.int32), np.empty(states, np.bool_)
    for s in range(states):
        number[s] = fresh if inside[s] else done
        component[s] = -1
        cyclic[s] = False
    low, stack = np.empty(states, np.int32), np.empty(states, np.int32)
    path = np.empty(states, np.int32)  # the states being visited, with the choice and edge each is at
    at_choice, at_edge = np.empty(states, np.int64), np.empty(states, np.int64)
    depth, clock, count = 0, 0, 0
    for root in range(states):
        if number[root] != fresh:
            continue
        entered, length = root, 0
        while entered != fresh or length > 0:
            if entered != fresh:
                number[entered] = low[entered] = clock
                clock += 1
                stack[depth] = path[length] = entered
                depth += 1
                at_choice[length] = state_ptr[entered]
                at_edge[length] = choice_ptr[state_ptr[entered]]
                length += 1
            top = length - 1
            s = path[top]
            c, t, last = at_choice[top], at_edge[top], state_ptr[s + 1]
            entered = fresh
            while c < last:
                if usable[c]:
                    stop = choice_ptr[c + 1]
                    while t < stop:
                        j = successor[t]
                        t += 1
                        if number[j] == fresh:
                            entered = j
                            break
                        low[s] = min(low[s], number[j])
                        if j == s:
                            cyclic[s] = True
                    if entered != fresh:
                        break
                c += 1
                t = choice_ptr[c]
            if entered != fresh:
                at_choice[top], at_edge[top] = c, t
                continue
            length -= 1
            if length > 0 and low[s] < low[path[length - 1]]:
                low[path[length - 1]] = low[s]
            if low[s] == number[s]:
                while number[s] != done:
                    depth -= 1
                    component[stack[depth]] = count
                    number[stack[depth]] = done
                count += 1
    return component, _by_component(component, count, cyclic, listed), count, cyclic


@kernel
def _by_component(component: Array, count: int, cyclic: Array, listed: Array) -> Array:
    """Return the states that are listed by component; all states of components with more than one are on cycles."""
    start = np.zeros(count + 1, np.int64)
    for s in range(component.size):
        if component[s] >= 0:
            start[component[s] + 1] += 1
    for s in range(component.size):
        if component[s] >= 0 and start[component[s] + 1] > 1:
            cyclic[s] = True
    for k in range(count):
        start[k + 1] += start[k]
    order = np.empty(start[count] if listed.size > 0 else 0, np.int32)
    for s in listed:
        if component[s] >= 0:
            order[start[component[s]]] = s
            start[component[s]] += 1
    return order


@kernel(allocates=False)
def lean(state_ptr: Array, choice_ptr: Array, successor: Array, component: Array, cyclic: Array) -> tuple[int, int]:
    """Return how many edges within components lead to higher and to lower state numbers, from a sample of states."""
    states = state_ptr.size - 1
    stride = 1 + states // 65536
    up, down = 0, 0
    for k in range(0, states, stride):
        if cyclic[k]:
            for t in range(choice_ptr[state_ptr[k]], choice_ptr[state_ptr[k + 1]]):
                if component[successor[t]] == component[k]:
                    if successor[t] > k:
                        up += 1
                    elif successor[t] < k:
                        down += 1
    return up, down
