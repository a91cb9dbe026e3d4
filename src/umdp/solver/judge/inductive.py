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
from umdp.solver.judge.graph import JudgedQuestion, check_arrival, check_riches, is_held, may_cut
from umdp.solver.judge.quick import FAILS, OPEN, STRICT, TIES, is_above, is_below, look
from umdp.solver.judge.rows import FREE, LOWER, ModelRows, RowReading, TwoPart, collect, listed_order, read_row

__all__ = ["examine"]

Array = NDArray[Any]
ROUNDS = 400  # times that states whose inequality is tight are looked at again


@kernel
def judge_rows(
    rows: ModelRows,
    asked: JudgedQuestion,
    low: TwoPart,
    high: TwoPart,
    choice: Array,
    below: tuple[Array, Array],
    above: tuple[Array, Array],
) -> None:
    """Write whether inequalities of rows hold, from below and above, FAILS, TIES or STRICT (C,), and a state's worst (S,)."""
    look(rows, asked, low, high, choice, below, above)
    order = np.empty(0, np.int32)
    for sign, x, (verdict, worst) in ((-1.0, low, below), (1.0, high, above)):
        if not (worst == OPEN).any():
            continue
        if order.size == 0:
            order = listed_order(rows)
        left, gain, error = verdict == OPEN, np.empty(verdict.size), np.empty(verdict.size)
        reading = RowReading(sign, asked.nature_max, 1.0, True, True, True)
        collect(rows, left, x, gain[:0], reading, (0, worst.size), order, gain, error)
        for s in range(worst.size):
            if worst[s] == OPEN:
                worst[s] = STRICT
                for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
                    if left[c]:
                        ties = gain[c] == 0.0 and error[c] == 0.0
                        verdict[c] = STRICT if sign * gain[c] + error[c] < 0.0 else TIES if ties else FAILS
                    worst[s] = min(worst[s], verdict[c])


@kernel(allocates=False)
def settle(
    todo: Array,
    rows: ModelRows,
    asked: JudgedQuestion,
    x: TwoPart,
    choice: Array,
    every: bool,
    verdict: Array,
    settled: Array,
    fails: Array,
) -> int:
    """Judge states on the side that needs an order, one after the other; return how many are left open.

    *By the graph.* From states of value 1 of which all rows that count stay among values of 1, and may lead to a settled state,
    the goal is reached with probability 1, all listed transitions being there.

    *By an order.* A row that is tight uses only transitions between equal values that earn nothing. Every answer of nature that
    keeps the value leads to a settled state if some such transition there has a positive lower bound, or the upper bounds of
    the others do not sum to 1. Where one answer is enough, any such transition will do.
    """
    state_ptr, choice_ptr, successor, paid = rows.state_ptr, rows.choice_ptr, rows.successor, rows.paid
    lower, upper, base, offset = rows.lower, rows.upper, x.base, x.offset
    intervals, pays = rows.lower is not rows.upper, paid.size > 0
    one = asked.nature_max != (asked.reward and not asked.total)  # one answer of nature is enough
    left = 0
    for s in todo:
        if settled[s] or fails[s]:
            continue
        first, last = (state_ptr[s], state_ptr[s + 1]) if every else (choice[s], choice[s] + 1)
        sure, ranked = STRICT, STRICT
        if asked.reward or base[s] != asked.top or offset[s] != 0.0:
            sure = FAILS
        for c in range(first, last):
            if sure == FAILS and verdict[c] != TIES:
                ranked = min(ranked, int(verdict[c]))
                continue
            begin, end = choice_ptr[c], choice_ptr[c + 1]
            kind = read_row(begin, end, lower, upper)[0] if intervals else LOWER
            leaves, on, surely, others = False, False, False, -1.0
            for t in range(begin, end):
                if lower[t] > 0.0 if kind == LOWER else upper[t] > 0.0:  # it is possible
                    j = successor[t]
                    leaves = leaves or base[j] != asked.top or offset[j] != 0.0
                    even = base[j] == base[s] and offset[j] == offset[s] and not (pays and paid[t] != 0.0)
                    if settled[j] and j != s and even:
                        on = True
                        surely = surely or one or kind != FREE or lower[t] > 0.0
                    elif even:
                        others += upper[t]
            sure = min(sure, FAILS if leaves else STRICT if on else TIES)
            leads = surely or (on and others < -1e-9)
            ranked = min(ranked, STRICT if verdict[c] == TIES and leads else int(verdict[c]))
        found = sure if sure != FAILS else ranked
        settled[s], fails[s] = found == STRICT, found == FAILS
        left += found == TIES
    return left


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
    goal, through, state_ptr, states = asked.goal, asked.through, rows.state_ptr, asked.goal.size
    bottom, top, reward = 0.0 if asked.reward else asked.top - 1.0, asked.top, asked.reward
    choices = rows.choice_ptr.size - 1
    below, above = (
        (np.empty(choices, np.int8), np.empty(states, np.int8)),
        (np.empty(choices, np.int8), np.empty(states, np.int8)),
    )
    judge_rows(rows, asked, low, high, choice, below, above)
    from_above = reward and not asked.total  # the side that needs an order
    verdict, worst = above if from_above else below
    worst_other = below[1] if from_above else above[1]
    ordered, open_ordered, open_plain = (high, open_above, open_below) if from_above else (low, open_below, open_above)
    every, all_plain = asked.all_below, asked.all_above
    if from_above:
        every, all_plain = all_plain, every
    low_base, low_offset, high_base, high_offset = low.base, low.offset, high.base, high.offset
    cuts = may_cut(rows)
    cutting = cuts and not asked.nature_max
    trapping = from_above or (cutting and not reward)
    all_known, nowhere = (
        asked.all_below and asked.all_above,
        asked.total and cuts,
    )  # theorems for these: from above, C <= u
    settled, todo, count = np.zeros(states, np.bool_), np.empty(states, np.int64), 0
    for s in range(states):
        open_below[s] = nowhere and not is_below(low_base[s], low_offset[s], bottom)
        open_above[s] = nowhere and not asked.nature_max
        if goal[s] or not through[s]:
            level = top if goal[s] else bottom
            open_below[s] = not is_below(low_base[s], low_offset[s], level)
            open_above[s] = not is_above(high_base[s], high_offset[s], level)
            open_plain[s] = open_plain[s] or (trapping and goal[s] and trap[s] >= 0)
            settled[s] = goal[s]
            continue
        known = all_known or state_ptr[s] <= choice[s] < state_ptr[s + 1]
        inside = (
            low_base[s] > -np.inf and abs(low_offset[s]) < np.inf and abs(high_offset[s]) < np.inf
        )  # they are numbers
        inside = inside and (reward or is_below(low_base[s], low_offset[s], top))
        if not (known and inside and is_above(high_base[s], high_offset[s], bottom)):
            open_below[s] = open_above[s] = True
            continue
        # The side that needs an order. Nothing is to be shown of a trivial bound; a play may end in a value of 0.
        if high_base[s] == np.inf if from_above else is_below(low_base[s], low_offset[s], bottom):
            settled[s] = not from_above
        elif from_above or low_base[s] < np.inf:
            if worst[s] == TIES or (not reward and low_base[s] == top):
                todo[count] = s
                count += 1
            else:
                settled[s] = worst[s] == STRICT
                open_ordered[s] = open_ordered[s] or worst[s] == FAILS
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
        open_plain[s] = open_plain[s] or worst_other[s] == FAILS
    todo, fails = todo[:count], np.zeros(states, np.bool_)
    for turn in range(ROUNDS):
        ways = todo[::-1] if turn % 2 == 0 else todo
        left = settle(ways, rows, asked, ordered, choice, every, verdict, settled, fails)
        if left in (0, count):
            break
        count = left
    for i in range(todo.size):
        open_ordered[todo[i]] = open_ordered[todo[i]] or not settled[todo[i]]
    if cutting and from_above:
        check_arrival(rows, asked, choice, high, open_above)
    if asked.total:
        check_riches(rows, asked, choice, low, trap, open_below)
    return int(open_below.sum()), int(open_above.sum())
