"""What the judge is shown: vectors that satisfy their inequalities with room for rounding, and levels of traps.

Nothing here is believed. Vectors of the solver mostly pass as they are; where a state misses by a rounding, it is moved outwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.model.structure import entries_of
from umdp.solver.judge.ambiguity import EPS, FREE, LEAST, LOWER, kind_of, may_lead, possible
from umdp.solver.judge.bellman import RowReading, collect, listed_order
from umdp.solver.judge.question import JudgedQuestion, ModelRows, TwoPart
from umdp.solver.judge.reachability import counts

__all__ = ["assemble", "carry_load", "levels_that_pay", "move_outwards", "trap_levels"]

Array = NDArray[Any]
FAINT = 1e-290  # below which rounding is no longer relative
MOST = 50_000  # unknowns of a system that is worth solving for that
MORE = 1.25  # times what a state misses by, that it is moved


@kernel(allocates=False)
def assemble(
    index: Array,
    infinite: Array,
    complement: bool,
    x: Array,
    relative_error: Array,
    parts: tuple[Array, Array],
    low: TwoPart,
    high: TwoPart,
) -> None:
    """Write the bounds (S,) that unknowns with values, relative errors and bounds in two parts (n+2 each) are of states.

    `index` (S,) has the unknown or exit of every state. With `complement` they are those of not reaching, and written negated.
    """
    sign = -1.0 if complement else 1.0
    below, above = (high, low) if complement else (low, high)
    for s in range(index.size):
        q = index[s]
        below.offset[s] = above.offset[s] = 0.0
        if infinite[s]:
            below.base[s] = above.base[s] = np.inf
            continue
        below.base[s], above.base[s] = sign * x[q] * (1.0 - relative_error[q]), sign * x[q] * (1.0 + relative_error[q])
        if relative_error[q] > 0.0 and parts[0][1, q] == parts[0][1, q]:
            below.base[s], below.offset[s] = sign * parts[0][1, q], sign * parts[0][2, q]
            above.base[s], above.offset[s] = sign * parts[1][1, q], sign * parts[1][2, q]


@kernel(allocates=False)
def _missing(
    s: int, rows: ModelRows, counted: Array, x: TwoPart, sign: float, gain: Array, error: Array
) -> tuple[float, int]:
    """Return how far a state must be moved for its rows to pass, roughly, and a state to take the value of instead (or -1).

    Where all that a row leads to has one value, that value itself passes: there is nothing to round.
    """
    by, same, count = 0.0, -1, 0
    for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
        if not counted[c]:
            continue
        count += 1
        missing = sign * gain[c] + error[c]
        if missing < 0.0 or (gain[c] == 0.0 and error[c] == 0.0):
            continue
        begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
        kind = kind_of(c, rows)
        leaves, other, even = 0.0, -1, True
        for t in range(begin, end):
            j = rows.successor[t]
            if j != s and possible(t, kind, rows.lower, rows.upper):
                leaves += rows.lower[t] if kind == LOWER else rows.upper[t]
                if other < 0:
                    other = j
                even = even and x.base[j] == x.base[other] and x.offset[j] == x.offset[other]
        if not (leaves > 0.0 and missing < np.inf):
            by = np.inf
            continue
        same = other if even else -1
        by = max(by, (MORE * missing + LEAST) / min(leaves, 1.0))
    return by, same if count == 1 else -1


@kernel
def move_outwards(
    rows: ModelRows, asked: JudgedQuestion, x: TwoPart, choice: Array, sign: float, backwards: bool, floor: float
) -> int:
    """Move every state at which a vector fails outwards, one after the other, until it passes for now; return how many."""
    states, choices = asked.goal.size, rows.choice_ptr.size - 1
    counted, gain, error = np.empty(choices, np.bool_), np.empty(choices), np.empty(choices)
    every, end = (asked.all_above, np.inf if asked.reward else asked.top) if sign > 0.0 else (asked.all_below, floor)
    for s in range(states):
        open_ = not asked.goal[s] and asked.through[s] and counts(x.base[s], x.offset[s], sign, end)
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            counted[c] = open_ and (every or choice[s] == c)
    side, order, moved = RowReading(sign, asked.nature_max, 1.0, True, True, True), listed_order(rows), 0
    for i in range(states):
        s = states - 1 - i if backwards else i
        for turn in range(5):
            collect(rows, counted, x, gain[:0], side, (s, s + 1), order, (gain, error))
            by, same = _missing(s, rows, counted, x, sign, gain, error)
            if by == 0.0 or turn == 4:
                break
            moved += 1
            if not by < np.inf:
                x.base[s], x.offset[s] = (np.inf if asked.reward else asked.top) if sign > 0.0 else floor, 0.0
                break
            if same >= 0 and turn == 0 and sign * ((x.base[same] - x.base[s]) + (x.offset[same] - x.offset[s])) > 0.0:
                x.base[s], x.offset[s] = x.base[same], x.offset[same]
                continue
            total = x.offset[s] + sign * by
            if total == x.offset[s]:  # the smallest change there is
                total = np.nextafter(total, sign * np.inf)
            x.offset[s] = total
    return moved


@kernel(allocates=False)
def load_rows(
    rows: ModelRows,
    asked: JudgedQuestion,
    x: TwoPart,
    taken: Array,
    prob: Array,
    missing: Array,
    size: Array,
) -> None:
    """Write what a step by the rows taken (S,) gains with nature's answer `prob` (T,), and how large its terms are, (S,) each."""
    for s in range(taken.size):
        missing[s] = size[s] = 0.0
        c = taken[s]
        if asked.goal[s] or not asked.through[s] or c < 0:
            continue
        if rows.state_reward.size > 0:
            missing[s] += rows.state_reward[s]
        if rows.choice_reward.size > 0:
            missing[s] += rows.choice_reward[c]
        size[s] = abs(missing[s])
        for t in range(rows.choice_ptr[c], rows.choice_ptr[c + 1]):
            j = rows.successor[t]
            far, near = x.base[j] - x.base[s], x.offset[j] - x.offset[s]
            if rows.paid.size > 0:
                near += rows.paid[t]
            if prob[t] > 0.0:
                missing[s] += prob[t] * (far + near)
                size[s] += prob[t] * (abs(far) + abs(near))


def carry_load(
    rows: ModelRows,
    asked: JudgedQuestion,
    x: TwoPart,
    taken: Array,
    prob: Array,
    sign: float,
    least: float,
    kappa: float,
) -> TwoPart | None:
    """Return the vector moved outwards by what a few roundings a step add up to, by the strategies given; None if not found.

    The chain of the rows taken (S,) and nature's answer (T,) is solved as a sparse system, for what the vector misses in it and
    for a load of `kappa` times the terms of each row. Rows then have room for rounding however slowly the process moves.
    """
    from scipy.sparse import csr_matrix, identity
    from scipy.sparse.linalg import splu

    states = taken.size
    with np.errstate(invalid="ignore"):  # a part that has overflown leaves no number, which is neither small nor open
        whole = x.base + x.offset
    if sign < 0.0 and least == 0.0:  # next to 0 there is no room for anything else
        gone = whole < FAINT
        x.base[gone] = x.offset[gone] = whole[gone] = 0.0
    open_ = ~asked.goal & asked.through & np.isfinite(x.base) & (whole > least)
    if not asked.reward:
        open_ &= whole < asked.top
    inner = np.flatnonzero(open_)
    if not 0 < inner.size <= MOST:
        return None
    place = np.full(states, -1, dtype=np.int64)
    place[inner] = np.arange(inner.size)
    entries = entries_of(rows.choice_ptr, taken[inner])
    source = np.repeat(np.arange(inner.size), np.diff(rows.choice_ptr)[taken[inner]])
    target = place[rows.successor[entries]]
    kept = target >= 0
    chain = csr_matrix((prob[entries][kept], (source[kept], target[kept])), shape=(inner.size, inner.size))
    # What stays is taken as what does not leave, which has all its digits.
    matrix = (identity(inner.size, format="csr") - chain).tolil()
    away = rows.successor[entries] != inner[source]
    matrix.setdiag(np.bincount(source[away], prob[entries][away], inner.size))
    try:
        factor = splu(matrix.tocsc())
    except (RuntimeError, MemoryError):
        return None
    moved = TwoPart(np.array(x.base), np.array(x.offset))
    missing, size = np.empty(states), np.empty(states)
    with np.errstate(all="ignore"):
        for turn in range(3):
            load_rows(rows, asked, moved, taken, prob, missing, size)
            right = missing[inner] + (sign * (kappa * size[inner] + FAINT * EPS) if turn == 2 else 0.0)
            step = factor.solve(right)
            if not bool(np.isfinite(step).all()):
                return None
            moved.offset[inner] += step
    return moved


@kernel(allocates=False)
def _is_confined(c: int, rows: ModelRows, inside: Array, cutting: bool) -> bool:
    """Whether all that is possible in a row, or that nature need not cut, lies inside."""
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind = kind_of(c, rows)
    most, free = 0.0, cutting and kind == FREE
    stays = True
    for t in range(begin, end):
        if possible(t, kind, rows.lower, rows.upper):
            if inside[rows.successor[t]]:
                most += rows.upper[t]
            else:
                stays, free = False, free and rows.lower[t] == 0.0
    return stays or (free and most >= 1.0)


@kernel(allocates=False)
def _is_lost(s: int, rows: ModelRows, counted: Array, need: int, missed: Array, inside: Array, cutting: bool) -> bool:
    """Whether at least so many rows of a state that count (C,) may lead to where the goal is missed, or need not leave a set."""
    for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
        if counted[c] and (may_lead(c, rows, missed) or _is_confined(c, rows, inside, cutting)):
            need -= 1
    return need <= 0


@kernel
def trap_levels(rows: ModelRows, asked: JudgedQuestion, choice: Array, every: bool, cutting: bool) -> Array:
    """Return the levels (S,) of states from which the goal is missed with positive probability, -1 elsewhere.

    That is whatever the agent does if `every`, if it does the right thing otherwise (for rewards: by its policy `choice`, (S,));
    with `cutting`, nature helps by cutting transitions. States that need not leave each other make one level. Those that may
    then fall down come above.
    """
    states, now = asked.goal.size, 1
    need, counted = np.ones(states, np.int64), np.ones(rows.choice_ptr.size - 1, np.bool_)
    for s in range(states):
        if every:
            need[s] = rows.state_ptr[s + 1] - rows.state_ptr[s]
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            counted[c] = every or not asked.reward or c == choice[s]
    missed = ~(asked.goal | asked.through)
    level = np.where(missed, 0, -1)
    while True:
        drifts, grown, turn = ~(asked.goal | missed), True, 0  # need not come nearer to the goal, for all that is known
        while grown:
            grown, turn = False, turn + 1
            for i in range(states):
                s = i if turn % 2 == 0 else states - 1 - i
                if drifts[s] and not _is_lost(s, rows, counted, need[s], missed, drifts, cutting):
                    drifts[s], grown = False, True
        if not drifts.any():
            return level
        for s in range(states):
            if drifts[s]:
                level[s], missed[s], drifts[s] = now, True, False
        grown, turn = True, 0
        while grown:
            grown, turn = False, turn + 1
            for i in range(states):
                s = i if turn % 2 == 0 else states - 1 - i
                if not (missed[s] or asked.goal[s]) and _is_lost(s, rows, counted, need[s], missed, drifts, cutting):
                    now += 1
                    level[s], missed[s], grown = now, True, True
        now += 1


def levels_that_pay(rows: ModelRows, every: bool, low: Array, choice: Array) -> Array:
    """Return levels (S,) for infinite totals: 0 where rows that count stay among themselves, above what may lead down."""
    infinite = np.isinf(low)
    owner = np.repeat(np.arange(low.size), np.diff(rows.state_ptr))
    counted = np.ones(owner.size, np.bool_) if every else np.zeros(owner.size, np.bool_)
    if not every:
        counted[choice] = True
    used = rows.upper > 0
    inside = infinite.copy()
    while True:
        leaves = np.logical_or.reduceat(used & ~inside[rows.successor], rows.choice_ptr[:-1]) & counted
        left = inside & (np.bincount(owner[leaves], minlength=low.size) > 0)
        if not left.any():
            break
        inside &= ~left
    level = np.where(inside, 0, -1)
    now = 0
    while True:
        now += 1
        falls = np.logical_or.reduceat(used & (level[rows.successor] >= 0), rows.choice_ptr[:-1])
        stuck = np.bincount(owner[counted & ~falls], minlength=low.size) > 0
        new = infinite & (level < 0) & ~stuck
        if not new.any():
            return np.asarray(level, dtype=np.int64)
        level = np.where(new, now, level)
