"""Compiled searches for where one can stay for ever: end components and traps, where nature may cut edges too.

A choice can stay in a set of states if its successors lie there, or as many of them as nature may give the whole probability to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.graph_search import Backwards, components
from umdp.solver.kernels.rounding import excess_within
from umdp.solver.kernels.structs import ChoiceRows

if TYPE_CHECKING:
    from umdp.solver.judge.question import ModelRows

__all__ = ["confined", "end_components", "leaving_levels", "sure_against_nature", "trap"]

Array = NDArray[Any]


@kernel(allocates=False)
def confined(choice: int, model: ChoiceRows | ModelRows, group: Array, wanted: int) -> bool:
    """Whether nature can keep a choice's whole probability on successors `j` with ``group[j] == wanted``.

    The sum of upper bounds is compared with 1 without rounding, so that the answer is that of the numbers as they are given.
    """
    successor, begin, end = model.successor, model.choice_ptr[choice], model.choice_ptr[choice + 1]
    all_inside = True
    for t in range(begin, end):
        if group[successor[t]] != wanted:
            all_inside = False
            if model.lower[t] > 0:
                return False
    return all_inside or excess_within(begin, end, model.upper, successor, group, wanted) >= 0.0


@kernel
def end_components(model: ChoiceRows, inside: Array, usable: Array) -> tuple[Array, Array, int]:
    """Return (maximal end component of each state or -1, choices that can stay in it, number of components).

    A choice belongs to a component when its successors, or as many of them as nature may give the whole
    probability to, lie in it.
    """
    state_ptr = model.state_ptr
    states = state_ptr.size - 1
    inside = inside.copy()
    stays = usable.copy()
    none = np.empty(0, np.int32)
    searching = True
    while searching:
        component, _, count, _ = components(state_ptr, model.choice_ptr, model.successor, inside, stays, none)
        searching, changed, turn = False, True, 0
        while changed:  # states in turn from the first and from the last: what hangs on one that is gone goes, too
            changed = False
            turn += 1
            for i in range(states):
                s = i if turn % 2 == 0 else states - 1 - i
                if not inside[s]:
                    continue
                some = False
                for c in range(state_ptr[s], state_ptr[s + 1]):
                    if stays[c] and not confined(c, model, component, component[s]):
                        stays[c] = False
                        searching = True
                    some = some or stays[c]
                if not some:
                    inside[s] = False
                    component[s] = -1
                    searching = changed = True
    for s in range(states):
        if not inside[s]:
            for c in range(state_ptr[s], state_ptr[s + 1]):
                stays[c] = False
    return component, stays, count


@kernel(allocates=False)
def _give_level(node: int, number: int, first: Array, after: Array, level: Array, queue: Array, end: int) -> int:
    """Give the states of a component one level, and list them; return the end of the list."""
    s = first[node]
    while s >= 0:
        level[s], queue[end] = number, s
        s, end = after[s], end + 1
    return end


@kernel
def leaving_levels(
    state_ptr: Array, choice_ptr: Array, successor: Array, back: Backwards, inside: Array, component: Array, count: int
) -> Array:
    """Return levels (S,) such that every row of a state `inside` may leave that set, or lead to a smaller level, or keeps it.

    Rows that keep their level are those within end components, of which `component` has the maximal ones of `inside`, or of more.
    A component has one level, and so has every other state; it has one as soon as all its other rows lead to one.
    """
    states, owner, rev_ptr, entering = state_ptr.size - 1, back.owner, back.ptr, back.choice
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
    number, begin = 0, 0
    for node in range(count):
        if left[node] == 0:
            number += 1
            end = _give_level(node, number, first, after, level, queue, end)
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
                    end = _give_level(node, number, first, after, level, queue, end)
    return level


@kernel
def trap(model: ChoiceRows, inside: Array, held: Array, via: Array) -> Array:
    """Return the largest part of `inside` in which agent and nature together can stay for ever, `via` how.

    States of `held` count as staying.
    """
    state_ptr = model.state_ptr
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
                if confined(c, model, group, 1):
                    via[s] = c
                    break
            if via[s] < 0:
                group[s] = 0
                changed = True
    kept: Array = group == 1
    return kept


@kernel
def sure_against_nature(model: ChoiceRows, goal: Array, usable: Array, via: Array) -> Array:
    """Return the states from which the agent reaches `goal` surely although nature may cut edges, `via` how."""
    state_ptr, choice_ptr, successor = model.state_ptr, model.choice_ptr, model.successor
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
                    if inside and not confined(c, model, away, 1):
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
