"""The judge of bounds on reachability and expected rewards: one pass over the rows of the model as given.

What is judged are two vectors over all states, a bound from below and one from above, and a policy. Nothing else of what the
solver did is seen. The inequalities are those of certificates (docs/explanation/certificates.md, which has the proofs), for T one
step backwards with both players' optima:

    P >= l   l <= T l                and: strict or ranked, where l > 0
    P <= u   u >= T u, 0 <= u        nothing more: the value is the least fixed point
    R >= l   l <= T l                where l is infinite: trap levels
    R <= u   u >= T u, 0 <= u        and: strict or ranked, where u is finite
    C >= l   l <= T l                and: strict or ranked, where l > 0; where it is infinite: levels that pay
    C <= u   u >= T u, 0 <= u        nothing more

Where nature may cut transitions, a total has a bound from above only if nature maximises: T then allows for whatever it does.

One row a state is enough on the side that the agent wants: the policy's. On the other all rows count. *Ranked* means that states
can be put in an order in which nature's answer leads with positive probability to the goal or to a state settled before.

Inequalities are computed in difference form, ``reward + sum p (x_j - x_s)``: errors are relative to differences, and where all
values are equal there are none. A value is a sum of two numbers, `base + offset`, of which the second may be far smaller than the
rounding of the first. Everything speaks of reaching: for ``G phi``, vectors are those of reaching ``!phi``, less 1, so that
probabilities next to 1 keep their digits; `top` is then 0 instead of 1.

*What the graph decides.* A listed transition has positive probability, so that its lower bound of 0 means "not bounded away from
0" (docs/explanation/soundness.md). From below, a value of exactly 1 may therefore rest on transitions that nature could cut,
where all possible transitions stay among such states. From above, where nature may cut transitions and would, a state is
worth less than 1 only if the graph does not say that the goal is reached surely, and a reward is finite only if it says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.ambiguity import (
    EPS,
    FREE,
    counted_rows,
    is_held,
    kind_of,
    may_cut,
    may_lead,
    possible,
    two_sum,
)
from umdp.solver.judge.bellman import RowReading, row_gain, space_for, unanswered
from umdp.solver.judge.question import JudgedQuestion, ModelRows, TwoPart, Witness

__all__ = ["counts", "ends_of", "examine"]

Array = NDArray[Any]
FAILS, TIES, STRICT = 0, 1, 2  # of a row's inequality: it fails, there is equality, it holds
Pair = tuple[Array, Array]
ROUNDS = 400  # times that states whose inequality is tight are looked at again


@kernel(forceinline=True, allocates=False)
def is_below(base: float, offset: float, level: float) -> bool:
    """Whether a value is surely at most `level`: a difference of two numbers has the right sign, and is off by EPS."""
    away = base - level
    return bool((away <= 0.0 and offset <= 0.0) or away + offset <= -4.0 * EPS * abs(away))


@kernel(forceinline=True, allocates=False)
def is_above(base: float, offset: float, level: float) -> bool:
    """Whether a value is surely at least `level`."""
    return bool(is_below(-base, -offset, -level))


@kernel(forceinline=True, allocates=False)
def counts(base: float, offset: float, sign: float, end: float) -> bool:
    """Whether there is anything to show of a bound, from above if `sign` is 1: not if it is infinite, or at its trivial end."""
    trivial = is_above(base, offset, end) if sign > 0.0 else is_below(base, offset, end)
    return bool(base < np.inf and not trivial)


@kernel(allocates=False)
def rounded(base: float, offset: float, end: float) -> float:
    """Return the sum of two numbers, rounded towards an end, plus or minus infinity, where it is not a number itself."""
    total, lost = two_sum(base, offset)
    return float(np.nextafter(total, end) if lost * end > 0.0 else total)


@kernel(allocates=False)
def ends_of(low: TwoPart, high: TwoPart, s: int, negated: bool) -> tuple[float, float]:
    """Return the bounds of one state, rounded outwards, of vectors that may be negated ones."""
    least, most = rounded(low.base[s], low.offset[s], -np.inf), rounded(high.base[s], high.offset[s], np.inf)
    return (-most, -least) if negated else (least, most)


@kernel(allocates=False)
def is_rich(s: int, rows: ModelRows, every: bool, choice: Array, trap: Array, proved: Array) -> bool:
    """Whether every row that counts may lead to a smaller level; or stays at its level or below, and pays or leads on there."""
    first, last = counted_rows(s, rows, every, choice)
    for c in range(first, last):
        begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
        kind = kind_of(c, rows)
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
                on = on or (proved[rows.successor[t]] and level == trap[s])
                if rows.paid.size > 0:
                    on = on or rows.paid[t] > 0.0
        if not (down or (stays and on)):
            return False
    return True


@kernel
def check_arrival(rows: ModelRows, asked: JudgedQuestion, choice: Array, high: TwoPart, open_above: Array) -> None:
    """Mark finite bounds of states from which the graph does not say that the goal is reached surely.

    It says so where all rows that count stay where the bound is finite, and may lead on to the goal.
    """
    proved, infinite, grown = asked.goal.copy(), high.base == np.inf, True
    while grown:
        grown = False
        for i in range(proved.size):
            s = proved.size - 1 - i
            if proved[s] or infinite[s]:
                continue
            first, last = counted_rows(s, rows, asked.all_above, choice)
            on = True
            for c in range(first, last):
                on = on and may_lead(c, rows, proved) and not may_lead(c, rows, infinite)
            proved[s], grown = on, grown or on
    for s in range(proved.size):
        open_above[s] = open_above[s] or not (infinite[s] or proved[s])


@kernel
def check_riches(
    rows: ModelRows, asked: JudgedQuestion, choice: Array, low: TwoPart, trap: Array, open_below: Array
) -> None:
    """Mark infinite totals from which a play need not come, with positive probability, to where it is paid again and again."""
    proved, grown = np.zeros(asked.goal.size, np.bool_), True
    while grown:
        grown = False
        for i in range(proved.size):
            s = proved.size - 1 - i
            if not proved[s] and trap[s] >= 0:
                proved[s] = is_rich(s, rows, asked.all_below, choice, trap, proved)
                grown = grown or proved[s]
    for s in range(proved.size):
        if (low.base[s] == np.inf or trap[s] >= 0) and not proved[s]:
            open_below[s] = True


@kernel(forceinline=True, allocates=False)
def verdict_of(gain: float, error: float, sign: float) -> int:
    """Return whether the inequality of a row that gains so much holds, from above if `sign` is 1."""
    if sign * gain + error < 0.0:
        return STRICT
    return TIES if gain == 0.0 and error == 0.0 else FAILS


@kernel(allocates=False)
def judge_rows(rows: ModelRows, asked: JudgedQuestion, shown: Witness, below: Pair, above: Pair, space: Pair) -> None:
    """Write whether inequalities of rows hold, from below and above, FAILS, TIES or STRICT (C,), and a state's worst (S,).

    The rows that count are all of a state, or the policy's (S,); none where the bound is a trivial one. Others hold.

    On one side all answers of nature count: from above if it maximises. On the other one answer is enough, and the one just found
    mostly is one; if it is not, the best one is found.
    """
    bottom, top = (0.0, np.inf) if asked.reward else (asked.top - 1.0, asked.top)
    sign, x, y, (first, worst_first), (second, worst_second) = 1.0, shown.high, shown.low, above, below
    every, every_other = asked.all_above, asked.all_below
    if not asked.nature_max:
        sign, x, y, (first, worst_first), (second, worst_second) = -1.0, shown.low, shown.high, below, above
        every, every_other = asked.all_below, asked.all_above
    side = RowReading(sign, asked.nature_max, 1.0, True, True, True)
    other, none = RowReading(-sign, asked.nature_max, 1.0, True, True, True), rows.paid[:0]
    for s in range(asked.goal.size):
        inner = not asked.goal[s] and asked.through[s]
        show = inner and counts(x.base[s], x.offset[s], sign, top if sign > 0.0 else bottom)
        show_other = inner and counts(y.base[s], y.offset[s], -sign, bottom if sign > 0.0 else top)
        worst_first[s] = worst_second[s] = STRICT
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            first[c] = second[c] = STRICT
            wanted, also = (
                show and (every or shown.choice[s] == c),
                show_other and (every_other or shown.choice[s] == c),
            )
            if not (wanted or also):
                continue
            unknown = unanswered(c, rows)
            answer = unknown
            for i in range(rows.choice_ptr[c + 1] - rows.choice_ptr[c] if unknown.kind == FREE else 0):
                space[1][i] = i
            if wanted:
                gain, error, answer = row_gain(s, c, unknown, rows, x, none, side, space)
                first[c] = verdict_of(gain, error, sign)
                worst_first[s] = min(worst_first[s], first[c])
            while also:
                gain, error, _ = row_gain(s, c, answer, rows, y, none, other, space)
                second[c] = verdict_of(gain, error, -sign)
                also, answer = second[c] == FAILS and answer.at >= 0, unknown
            worst_second[s] = min(worst_second[s], second[c])


@kernel(allocates=False)
def settle(
    todo: Array,
    rows: ModelRows,
    asked: JudgedQuestion,
    x: TwoPart,
    choice: Array,
    every: bool,
    verdict: Array,
    proved: Array,
    fails: Array,
) -> int:
    """Judge states on the side that needs an order, one after the other; return how many are left open.

    *By the graph.* From states of value 1 of which all rows that count stay among values of 1, and may lead to a settled state,
    the goal is reached with probability 1, all listed transitions being there.

    *By an order.* A row that is tight uses only transitions between equal values that earn nothing. Every answer of nature that
    keeps the value leads to a settled state if some such transition there has a positive lower bound, or the upper bounds of
    the others do not sum to 1. Where one answer is enough, any such transition will do.
    """
    choice_ptr, successor, paid = rows.choice_ptr, rows.successor, rows.paid
    lower, upper, base, offset, pays = rows.lower, rows.upper, x.base, x.offset, paid.size > 0
    one = asked.nature_max != (asked.reward and not asked.total)  # one answer of nature is enough
    left = 0
    for s in todo:
        if proved[s] or fails[s]:
            continue
        first, last = counted_rows(s, rows, every, choice)
        sure, ranked = STRICT, STRICT
        if asked.reward or base[s] != asked.top or offset[s] != 0.0:
            sure = FAILS
        for c in range(first, last):
            if sure == FAILS and verdict[c] != TIES:
                ranked = min(ranked, int(verdict[c]))
                continue
            kind, leaves, on, surely, others = kind_of(c, rows), False, False, False, -1.0
            for t in range(choice_ptr[c], choice_ptr[c + 1]):
                if possible(t, kind, lower, upper):
                    j = successor[t]
                    leaves = leaves or base[j] != asked.top or offset[j] != 0.0
                    even = base[j] == base[s] and offset[j] == offset[s] and not (pays and paid[t] != 0.0)
                    if proved[j] and j != s and even:
                        on = True
                        surely = surely or one or kind != FREE or lower[t] > 0.0
                    elif even:
                        others += upper[t]
            sure = min(sure, FAILS if leaves else STRICT if on else TIES)
            leads = surely or (on and others < -1e-9)
            ranked = min(ranked, STRICT if verdict[c] == TIES and leads else int(verdict[c]))
        found = sure if sure != FAILS else ranked
        proved[s], fails[s] = found == STRICT, found == FAILS
        left += found == TIES
    return left


@kernel
def mark_states(
    rows: ModelRows,
    asked: JudgedQuestion,
    shown: Witness,
    support_may_shrink: bool,
    worst: Pair,
    left: Pair,
    proved: Array,
    todo: Array,
) -> int:
    """Mark where vectors do not pass, but for the states whose bound rests on an order: these are listed; return how many.

    `worst` (S,) are verdicts and `left` (S,) the marks, of the side that needs an order and of the other.
    """
    goal, through, state_ptr, (low, high, choice, trap) = asked.goal, asked.through, rows.state_ptr, shown
    bottom, top, reward = 0.0 if asked.reward else asked.top - 1.0, asked.top, asked.reward
    low_base, low_offset, high_base, high_offset = low.base, low.offset, high.base, high.offset
    from_above = reward and not asked.total  # the side that needs an order
    (worst_ordered, worst_plain), (open_ordered, open_plain) = worst, left
    open_below, open_above = (open_plain, open_ordered) if from_above else left
    all_plain = asked.all_below if from_above else asked.all_above
    all_known, nowhere = (
        asked.all_below and asked.all_above,
        asked.total and support_may_shrink,
    )  # nothing bounds it from above, if it is cut
    trapping, count = from_above or (support_may_shrink and not asked.nature_max and not reward), 0
    for s in range(goal.size):
        open_below[s] = nowhere and not is_below(low_base[s], low_offset[s], bottom)
        open_above[s] = nowhere and not asked.nature_max
        if goal[s] or not through[s]:
            level = top if goal[s] else bottom
            open_below[s] = not is_below(low_base[s], low_offset[s], level)
            open_above[s] = not is_above(high_base[s], high_offset[s], level)
            open_plain[s] = open_plain[s] or (trapping and goal[s] and trap[s] >= 0)
            proved[s] = goal[s]
            continue
        inside = (
            low_base[s] > -np.inf and abs(low_offset[s]) < np.inf and abs(high_offset[s]) < np.inf
        )  # they are numbers
        inside = inside and (all_known or state_ptr[s] <= choice[s] < state_ptr[s + 1])
        inside = inside and (reward or is_below(low_base[s], low_offset[s], top))
        if not (inside and is_above(high_base[s], high_offset[s], bottom)):
            open_below[s] = open_above[s] = True
            continue
        # The side that needs an order. Nothing is to be shown of a trivial bound; a play may end in a value of 0.
        if high_base[s] == np.inf if from_above else is_below(low_base[s], low_offset[s], bottom):
            proved[s] = not from_above
        elif from_above or low_base[s] < np.inf:
            if worst_ordered[s] == TIES or (not reward and low_base[s] == top):
                todo[count] = s
                count += 1
            else:
                proved[s] = worst_ordered[s] == STRICT
                open_ordered[s] = open_ordered[s] or worst_ordered[s] == FAILS
        # The other side.
        if trapping and trap[s] >= 0:
            held = 0
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if all_plain or not reward or c == choice[s]:
                    held += is_held(s, c, rows, trap, reward and asked.nature_max)
            open_plain[s] = held < (state_ptr[s + 1] - state_ptr[s] if all_plain else 1)
        trivial = high_base[s] == np.inf or (not reward and is_above(high_base[s], high_offset[s], top))
        if from_above:
            trivial = is_below(low_base[s], low_offset[s], 0.0)
        if trapping and trap[s] < 0 and not trivial and (not reward or low_base[s] == np.inf):
            open_plain[s] = True  # it is infinite without a trap; or the graph may say that the goal is reached surely
        open_plain[s] = open_plain[s] or worst_plain[s] == FAILS
    return count


@kernel
def examine(
    rows: ModelRows,
    asked: JudgedQuestion,
    low: TwoPart,
    high: TwoPart,
    choice: Array,
    trap: Array,
    open_below: Array,
    open_above: Array,
) -> tuple[int, int]:
    """Return how many states do not pass from below, and how many from above; mark them in `open_below`, `open_above` (S,).

    The vectors bound the values of *all* states if none is left. `choice` is the policy (S,); `trap` the levels (S,) of states
    from which the goal may be missed whatever the agent does, or, where it wants that, if it does the right thing
    (for rewards: by its policy); -1 elsewhere.
    """
    states, choices = asked.goal.size, rows.choice_ptr.size - 1
    shown, below = Witness(low, high, choice, trap), (np.empty(choices, np.int8), np.empty(states, np.int8))
    above = np.empty(choices, np.int8), np.empty(states, np.int8)
    judge_rows(rows, asked, shown, below, above, space_for(rows, (0, states)))
    from_above, support_may_shrink = asked.reward and not asked.total, may_cut(rows)
    verdict, ordered, every = (above[0], high, asked.all_above) if from_above else (below[0], low, asked.all_below)
    worst = (above[1], below[1]) if from_above else (below[1], above[1])
    left = (open_above, open_below) if from_above else (open_below, open_above)
    proved, fails, todo = np.zeros(states, np.bool_), np.zeros(states, np.bool_), np.empty(states, np.int64)
    count = mark_states(rows, asked, shown, support_may_shrink, worst, left, proved, todo)
    todo = todo[:count]
    for turn in range(ROUNDS):
        ways = todo[::-1] if turn % 2 == 0 else todo
        remaining = settle(ways, rows, asked, ordered, choice, every, verdict, proved, fails)
        if remaining in (0, count):
            break
        count = remaining
    for s in todo:
        left[0][s] = left[0][s] or not proved[s]
    if support_may_shrink and not asked.nature_max and from_above:
        check_arrival(rows, asked, choice, high, open_above)
    if asked.total:
        check_riches(rows, asked, choice, low, trap, open_below)
    return int(open_below.sum()), int(open_above.sum())
