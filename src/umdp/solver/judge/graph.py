"""What the judge asks of the graph: whether the goal may be missed, or is reached surely, or payments go on for ever.

A transition is there if some distribution of its row uses it (`rows.possible`), and has then positive probability.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.rows import FREE, LOWER, ModelRows, TwoPart, excess, possible, read_row

__all__ = ["JudgedQuestion", "check_arrival", "check_riches", "is_held", "may_cut"]

Array = NDArray[Any]


class JudgedQuestion(NamedTuple):
    """What the vectors are bounds of.

    Attributes
    ----------
    reward : whether it is an expected reward, not a probability
    total : whether the reward is all that is ever earned, and not what is earned until the goal is reached
    goal, through : (S,) what is to be reached, through which states; the goal itself aside
    nature_max : whether nature maximises
    all_below, all_above : whether all rows of a state count for the bound from below (above), or the policy's alone
    top : where the goal lies: 1 for probabilities, 0 for rewards and for probabilities less 1
    """

    reward: bool
    total: bool
    goal: Array
    through: Array
    nature_max: bool
    all_below: bool
    all_above: bool
    top: float


@kernel
def is_held(s: int, c: int, rows: ModelRows, trap: Array, cutting: bool) -> bool:
    """Whether a row may lead to a smaller trap level, or stays at its own; where nature would cut for it, if it can be made to.

    Then a play goes down again and again until it stays for ever, with positive probability: it misses the goal.
    """
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind = LOWER if rows.lower is rows.upper else read_row(begin, end, rows.lower, rows.upper)[0]
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


@kernel(allocates=False)
def arrives(s: int, rows: ModelRows, every: bool, choice: Array, high: TwoPart, settled: Array) -> bool:
    """Whether by the graph all rows that count stay where the bound is finite, and may lead to a settled state."""
    first, last = (rows.state_ptr[s], rows.state_ptr[s + 1]) if every else (choice[s], choice[s] + 1)
    for c in range(first, last):
        begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
        kind, on = read_row(begin, end, rows.lower, rows.upper)[0], False
        for t in range(begin, end):
            if possible(t, kind, rows.lower, rows.upper):
                if high.base[rows.successor[t]] == np.inf:
                    return False
                on = on or settled[rows.successor[t]]
        if not on:
            return False
    return True


@kernel(allocates=False)
def is_rich(s: int, rows: ModelRows, every: bool, choice: Array, trap: Array, settled: Array) -> bool:
    """Whether every row that counts may lead to a smaller level; or stays at its level or below, and pays or leads on there."""
    first, last = (rows.state_ptr[s], rows.state_ptr[s + 1]) if every else (choice[s], choice[s] + 1)
    for c in range(first, last):
        begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
        kind = LOWER if rows.lower is rows.upper else read_row(begin, end, rows.lower, rows.upper)[0]
        down, stays, on = False, True, False
        if rows.state_reward.size > 0:
            on = on or rows.state_reward[s] > 0.0
        if rows.choice_reward.size > 0:
            on = on or rows.choice_reward[c] > 0.0
        for t in range(begin, end):
            if possible(t, kind, rows.lower, rows.upper):
                level = trap[rows.successor[t]]
                down = down or 0 <= level < trap[s]
                stays = stays and 0 <= level <= trap[s]
                on = on or (settled[rows.successor[t]] and level == trap[s])
                if rows.paid.size > 0:
                    on = on or rows.paid[t] > 0.0
        if not (down or (stays and on)):
            return False
    return True


@kernel
def check_arrival(rows: ModelRows, asked: JudgedQuestion, choice: Array, high: TwoPart, open_above: Array) -> None:
    """Mark finite bounds of states from which the graph does not say that the goal is reached surely."""
    settled, grown = asked.goal.copy(), True
    while grown:
        grown = False
        for i in range(settled.size):
            s = settled.size - 1 - i
            if not settled[s] and high.base[s] < np.inf:
                settled[s] = arrives(s, rows, asked.all_above, choice, high, settled)
                grown = grown or settled[s]
    for s in range(settled.size):
        open_above[s] = open_above[s] or (high.base[s] < np.inf and not settled[s])


@kernel
def check_riches(
    rows: ModelRows, asked: JudgedQuestion, choice: Array, low: TwoPart, trap: Array, open_below: Array
) -> None:
    """Mark infinite totals from which a play need not come, with positive probability, to where it is paid again and again."""
    settled, grown = np.zeros(asked.goal.size, np.bool_), True
    while grown:
        grown = False
        for i in range(settled.size):
            s = settled.size - 1 - i
            if not settled[s] and trap[s] >= 0:
                settled[s] = is_rich(s, rows, asked.all_below, choice, trap, settled)
                grown = grown or settled[s]
    for s in range(settled.size):
        if (low.base[s] == np.inf or trap[s] >= 0) and not settled[s]:
            open_below[s] = True
