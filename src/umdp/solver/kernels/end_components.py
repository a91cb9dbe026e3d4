"""Compiled searches for where one can stay for ever: end components and traps, where nature may cut edges too.

A choice can stay in a set of states if its successors lie there, or as many of them as nature may give the whole probability to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.graph_search import components
from umdp.solver.kernels.rounding import excess_within

__all__ = ["confined", "end_components", "full_end_components", "leaving_levels", "sure_against_nature", "trap"]

Array = NDArray[Any]


@kernel(allocates=False)
def confined(begin: int, end: int, successor: Array, lower: Array, upper: Array, group: Array, wanted: int) -> bool:
    """Whether nature can keep a choice's whole probability on successors `j` with ``group[j] == wanted``.

    The sum of upper bounds is compared with 1 without rounding, so that the answer is that of the numbers as they are given.
    """
    all_inside = True
    for t in range(begin, end):
        if group[successor[t]] != wanted:
            all_inside = False
            if lower[t] > 0:
                return False
    return all_inside or excess_within(begin, end, upper, successor, group, wanted) >= 0.0


@kernel
def end_components(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    inside: Array,
    usable: Array,
) -> tuple[Array, Array, int]:
    """Return (maximal end component of each state or -1, choices that can stay in it, number of components).

    A choice belongs to a component when its successors, or as many of them as nature may give the whole
    probability to, lie in it.
    """
    states = state_ptr.size - 1
    inside = inside.copy()
    stays = usable.copy()
    none = np.empty(0, np.int32)
    while True:
        component, _, count, _ = components(state_ptr, choice_ptr, successor, inside, stays, none)
        changed = False
        for s in range(states):
            if not inside[s]:
                continue
            some = False
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if stays[c]:
                    if confined(choice_ptr[c], choice_ptr[c + 1], successor, lower, upper, component, component[s]):
                        some = True
                    else:
                        stays[c] = False
                        changed = True
            if not some:
                inside[s] = False
                changed = True
        if not changed:
            break
    for s in range(states):
        if not inside[s]:
            for c in range(state_ptr[s], state_ptr[s + 1]):
                stays[c] = False
    return component, stays, count


@kernel
def full_end_components(
    state_ptr: Array, choice_ptr: Array, successor: Array, owner: Array, rev_ptr: Array, entering: Array, inside: Array
) -> tuple[Array, Array, int]:
    """Return what `end_components` does where no edge can be cut; edges reversed make it take few searches.

    A choice that can leave is dropped with all that hangs on it, before components are searched again.
    """
    states = state_ptr.size - 1
    inside = inside.copy()
    stays = np.ones(choice_ptr.size - 1, np.bool_)
    left = np.empty(states, np.int32)
    queue = np.empty(states, np.int32)
    end = 0
    for s in range(states):
        left[s] = state_ptr[s + 1] - state_ptr[s]
        if not inside[s]:
            queue[end] = s
            end += 1
    component = np.full(states, -1, np.int32)
    count = 0
    none = np.empty(0, np.int32)
    searching = True
    while searching:
        begin = 0
        while begin < end:
            j = queue[begin]
            begin += 1
            for i in range(rev_ptr[j], rev_ptr[j + 1]):
                c = entering[i]
                if stays[c]:
                    stays[c] = False
                    s = owner[c]
                    left[s] -= 1
                    if left[s] == 0 and inside[s]:
                        inside[s] = False
                        queue[end] = s
                        end += 1
        component, _, count, _ = components(state_ptr, choice_ptr, successor, inside, stays, none)
        end = 0
        searching = False
        for s in range(states):
            if not inside[s]:
                continue
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if stays[c]:
                    for t in range(choice_ptr[c], choice_ptr[c + 1]):
                        if component[successor[t]] != component[s]:
                            stays[c] = False
                            left[s] -= 1
                            searching = True
                            break
            if left[s] == 0:
                inside[s] = False
                queue[end] = s
                end += 1
    for s in range(states):
        if not inside[s]:
            component[s] = -1
            for c in range(state_ptr[s], state_ptr[s + 1]):
                stays[c] = False
    return component, stays, count


@kernel
def leaving_levels(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    owner: Array,
    rev_ptr: Array,
    entering: Array,
    inside: Array,
    component: Array,
    count: int,
) -> Array:
    """Return levels (S,) such that every row of a state `inside` may leave that set, or lead to a smaller level, or keeps it.

    Rows that keep their level are those within end components, of which `component` has the maximal ones of `inside`, or of more.
    A component has one level, and so has every other state; it has one as soon as all its other rows lead to one.
    """
    states = state_ptr.size - 1
    level = np.zeros(states, np.int32)
    left = np.zeros(count + states, np.int32)  # rows of a component, or of a state alone, that lead nowhere yet
    first, after = np.full(count + states, -1, np.int32), np.full(states, -1, np.int32)
    waits = np.zeros(owner.size, np.bool_)
    queue, end = np.empty(states, np.int32), 0
    for s in range(states):
        if not inside[s]:
            queue[end] = s
            end += 1
            continue
        node = component[s] if component[s] >= 0 else count + s
        first[node], after[s] = s, first[node]
        for c in range(state_ptr[s], state_ptr[s + 1]):
            for t in range(choice_ptr[c], choice_ptr[c + 1]):
                if component[s] < 0 or component[successor[t]] != component[s]:
                    waits[c] = True
                    left[node] += 1
                    break
    number = 0
    for node in range(count):
        if left[node] == 0:
            number += 1
            s = first[node]
            while s >= 0:
                level[s], queue[end] = number, s
                s, end = after[s], end + 1
    begin = 0
    while begin < end:
        j = queue[begin]
        begin += 1
        for i in range(rev_ptr[j], rev_ptr[j + 1]):
            c = entering[i]
            if waits[c]:
                waits[c] = False
                s = owner[c]
                node = component[s] if component[s] >= 0 else count + s
                left[node] -= 1
                if left[node] == 0:
                    number += 1
                    s = first[node]
                    while s >= 0:
                        level[s], queue[end] = number, s
                        s, end = after[s], end + 1
    return level


@kernel
def trap(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    inside: Array,
    held: Array,
    via: Array,
) -> Array:
    """Return the largest part of `inside` in which agent and nature together can stay for ever, `via` how.

    States of `held` count as staying.
    """
    states = state_ptr.size - 1
    group = np.where(inside, 1, 0).astype(np.int32)
    changed = True
    while changed:
        changed = False
        for s in range(states):
            if group[s] == 0 or held[s]:
                continue
            via[s] = -1
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if confined(choice_ptr[c], choice_ptr[c + 1], successor, lower, upper, group, 1):
                    via[s] = c
                    break
            if via[s] < 0:
                group[s] = 0
                changed = True
    kept: Array = group == 1
    return kept


@kernel
def sure_against_nature(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    goal: Array,
    usable: Array,
    via: Array,
) -> Array:
    """Return the states from which the agent reaches `goal` surely although nature may cut edges, `via` how."""
    states = state_ptr.size - 1
    remaining = np.ones(states, np.bool_)
    while True:
        away = np.where(goal, 0, 1).astype(np.int32)  # 1: not yet drawn to the goal
        grown = True
        while grown:
            grown = False
            for s in range(states):
                if away[s] == 0 or not remaining[s]:
                    continue
                for c in range(state_ptr[s], state_ptr[s + 1]):
                    if not usable[c]:
                        continue
                    inside = True
                    for t in range(choice_ptr[c], choice_ptr[c + 1]):
                        if not remaining[successor[t]]:
                            inside = False
                            break
                    if inside and not confined(choice_ptr[c], choice_ptr[c + 1], successor, lower, upper, away, 1):
                        away[s] = 0
                        via[s] = c
                        grown = True
                        break
        shrunk = False
        for s in range(states):
            if remaining[s] and away[s] == 1:
                remaining[s] = False
                shrunk = True
        if not shrunk:
            return remaining
