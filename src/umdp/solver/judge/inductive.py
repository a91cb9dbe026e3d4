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
from umdp.solver.judge.rows import EPS, FREE, LOWER, ModelRows, TwoPart, fixed, possible, read_row, respond

__all__ = ["examine", "is_below", "weigh"]

Array = NDArray[Any]
FAILS, TIES, STRICT = 0, 1, 2
ROUNDS = 400  # times that states whose inequality is tight are looked at again


@kernel(forceinline=True)
def is_at(x: TwoPart, s: int, level: float) -> bool:
    """Whether a value is exactly `level`."""
    return bool(x.base[s] == level and x.offset[s] == 0.0)


@kernel(forceinline=True)
def is_below(x: TwoPart, s: int, level: float) -> bool:
    """Whether a value is surely at most `level`: a difference of two numbers has the right sign, and is off by EPS."""
    away = x.base[s] - level
    return bool((away <= 0.0 and x.offset[s] <= 0.0) or away + x.offset[s] <= -4.0 * EPS * abs(away))


@kernel(forceinline=True)
def is_above(x: TwoPart, s: int, level: float) -> bool:
    """Whether a value is surely at least `level`."""
    away = x.base[s] - level
    return bool((away >= 0.0 and x.offset[s] >= 0.0) or away + x.offset[s] >= 4.0 * EPS * abs(away))


@kernel(forceinline=True)
def weigh(
    s: int, c: int, rows: ModelRows, asked: JudgedQuestion, x: TwoPart, sign: float, one: bool, key: Array, order: Array
) -> tuple[float, float, int]:
    """Return what a step by a row gains over the value of its state, a bound on the error of that, and what the row allows.

    A difference ``(base_j - base_s) + (offset_j - offset_s) + paid`` takes at most four roundings, each of at most the sum of its
    parts' sizes, and is moved outwards (up if `sign` is 1) by more than that: nature's optimum for what is computed is then on
    the far side of that for what is meant. `one` says whether one answer of nature is enough. Where an infinite reward is
    possible, the gain is infinite: it has positive probability, or the graph says so.
    """
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind, slack = LOWER, 0.0
    if rows.lower is not rows.upper:
        kind, slack = read_row(begin, end, rows.lower, rows.upper)
    earned = 0.0
    if rows.state_reward.size > 0:
        earned += rows.state_reward[s]
    if rows.choice_reward.size > 0:
        earned += rows.choice_reward[c]
        earned += sign * 2.0 * EPS * abs(earned)
    here = x.base[s], x.offset[s]
    if kind != FREE:
        gain, error = fixed(begin, end, rows, kind, x, here, 1.0, earned, sign)
        return gain, error, kind
    for t in range(begin, end):
        base, paid = x.base[rows.successor[t]], rows.paid[t] if rows.paid.size > 0 else 0.0
        if base == np.inf and rows.upper[t] > 0.0:
            return np.inf, 0.0, kind
        far, near = base - here[0], x.offset[rows.successor[t]] - here[1]
        size = abs(far) + abs(near) + abs(paid)
        key[t - begin] = ((far + near) + paid) + sign * 6.0 * EPS * size
    gain, error = respond(begin, end, (rows.lower, rows.upper), slack, key, order, asked.nature_max, one)
    if earned != 0.0:
        gain += earned
        error += 4.0 * EPS * (abs(earned) + abs(gain))
    return gain, error, kind


@kernel(forceinline=True)
def verdict_on(gain: float, error: float, sign: float) -> int:
    """Return whether an inequality holds, from above if `sign` is 1: FAILS, TIES (there is equality) or STRICT."""
    if gain == 0.0 and error == 0.0:
        return TIES
    return STRICT if sign * gain + error < 0.0 else FAILS


@kernel(forceinline=True)
def leads_on(s: int, c: int, kind: int, rows: ModelRows, x: TwoPart, settled: Array, one: bool) -> bool:
    """Whether every (with `one`: some) answer of nature that keeps the value leads to a settled state with positive probability.

    The row is tight, so that only transitions between equal values that earn nothing are used. Every answer leads there if some
    such transition has a positive lower bound, or the upper bounds of the others do not sum to 1.
    """
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    others, some = -1.0, False
    for t in range(begin, end):
        j = rows.successor[t]
        if not possible(t, kind, rows.lower, rows.upper):
            continue
        if x.base[j] != x.base[s] or x.offset[j] != x.offset[s] or (rows.paid.size > 0 and rows.paid[t] != 0.0):
            continue
        if settled[j] and j != s:
            if one or kind != FREE or rows.lower[t] > 0.0:
                return True
            some = True
        else:
            others += rows.upper[t]
    return some and others < -1e-9


@kernel(forceinline=True)
def is_sure(s: int, c: int, rows: ModelRows, asked: JudgedQuestion, x: TwoPart, settled: Array) -> int:
    """Return STRICT where, by the graph, a row stays among values of 1 and may lead to a settled state; TIES, FAILS: it leaves.

    From states of which all do so the goal is reached with probability 1, all listed transitions being there.
    """
    begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
    kind = LOWER if rows.lower is rows.upper else read_row(begin, end, rows.lower, rows.upper)[0]
    found = TIES
    for t in range(begin, end):
        if possible(t, kind, rows.lower, rows.upper):
            j = rows.successor[t]
            if not is_at(x, j, asked.top):
                return FAILS
            if settled[j] and j != s:
                found = STRICT
    return found


@kernel(forceinline=True)
def settle(
    s: int,
    rows: ModelRows,
    asked: JudgedQuestion,
    x: TwoPart,
    choice: Array,
    sign: float,
    settled: Array,
    key: Array,
    order: Array,
) -> int:
    """Judge a state on the side that needs an order: FAILS, TIES (nothing settled in reach yet), STRICT (strict, or ranked)."""
    every = asked.all_above if sign > 0.0 else asked.all_below
    one = asked.nature_max == (sign < 0.0)
    first, last = (rows.state_ptr[s], rows.state_ptr[s + 1]) if every else (choice[s], choice[s] + 1)
    if not asked.reward and is_at(x, s, asked.top):  # what the graph decides
        worst = STRICT
        for c in range(first, last):
            worst = min(worst, is_sure(s, c, rows, asked, x, settled))
        if worst != FAILS:
            return worst
    worst = STRICT
    for c in range(first, last):
        gain, error, kind = weigh(s, c, rows, asked, x, sign, one, key, order)
        verdict = verdict_on(gain, error, sign)
        if verdict == TIES and leads_on(s, c, kind, rows, x, settled, one):
            verdict = STRICT
        worst = min(worst, verdict)
        if worst == FAILS:
            break
    return worst


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
    from which the goal may be missed whatever the agent does, or, where it wants that, if it does the right thing; -1 elsewhere.
    """
    states, widest = asked.goal.size, 1
    for c in range(rows.choice_ptr.size - 1):
        widest = max(widest, rows.choice_ptr[c + 1] - rows.choice_ptr[c])
    key, order = np.empty(widest), np.empty(2 * widest, np.int64)
    bottom = 0.0 if asked.reward else asked.top - 1.0
    from_above = asked.reward and not asked.total  # the side that needs an order
    sign = 1.0 if from_above else -1.0
    ranked, plain = (high, low) if from_above else (low, high)
    open_ranked, open_plain = (open_above, open_below) if from_above else (open_below, open_above)
    every = asked.all_below if from_above else asked.all_above
    cuts = may_cut(rows)
    cutting = cuts and not asked.nature_max
    trapping = from_above or (cutting and not asked.reward)
    settled, todo, count = np.zeros(states, np.bool_), np.empty(states, np.int64), 0
    for s in range(states):
        open_below[s] = open_above[s] = asked.total and cuts  # there is no theorem for it
        if asked.goal[s] or not asked.through[s]:
            level = asked.top if asked.goal[s] else bottom
            open_below[s], open_above[s] = not is_below(low, s, level), not is_above(high, s, level)
            open_plain[s] = open_plain[s] or (trapping and asked.goal[s] and trap[s] >= 0)
            settled[s] = asked.goal[s]
            continue
        if not is_above(high, s, bottom) or not (asked.reward or is_below(low, s, asked.top)):
            open_below[s] = open_above[s] = True
            continue
        if not ((asked.all_below and asked.all_above) or rows.state_ptr[s] <= choice[s] < rows.state_ptr[s + 1]):
            open_below[s] = open_above[s] = True
            continue
        # The side that needs an order. Nothing is to be shown of a trivial bound; a play may end in a value of 0.
        if high.base[s] == np.inf if from_above else is_below(low, s, bottom):
            settled[s] = not from_above
        elif from_above or low.base[s] < np.inf:
            verdict = settle(s, rows, asked, ranked, choice, sign, settled, key, order)
            settled[s] = verdict == STRICT
            if verdict == TIES:
                todo[count] = s
                count += 1
            open_ranked[s] = open_ranked[s] or verdict == FAILS
        # The other side.
        if trapping and trap[s] >= 0:
            held, kept = 0, rows.state_ptr[s + 1] - rows.state_ptr[s]
            for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
                held += is_held(s, c, rows, trap, asked.reward and asked.nature_max)
            open_plain[s] = held < (kept if every else 1)
        if (
            is_below(low, s, 0.0)
            if from_above
            else high.base[s] == np.inf or (not asked.reward and is_above(high, s, asked.top))
        ):
            continue
        if trapping and trap[s] < 0 and (not asked.reward or low.base[s] == np.inf):
            open_plain[s] = True  # it is infinite without a trap; or the graph may say that the goal is reached surely
        if plain.base[s] < np.inf:
            first, last = (rows.state_ptr[s], rows.state_ptr[s + 1]) if every else (choice[s], choice[s] + 1)
            for c in range(first, last):
                gain, error, _ = weigh(s, c, rows, asked, plain, -sign, asked.nature_max == from_above, key, order)
                open_plain[s] = open_plain[s] or verdict_on(gain, error, -sign) == FAILS
    for turn in range(ROUNDS):
        left = 0
        for i in range(count):
            s = todo[count - 1 - i] if turn % 2 == 0 else todo[i]
            if not settled[s]:
                settled[s] = settle(s, rows, asked, ranked, choice, sign, settled, key, order) == STRICT
                left += not settled[s]
        if left == 0 or left == count:
            break
        kept = 0
        for i in range(count):
            if not settled[todo[i]]:
                todo[kept] = todo[i]
                kept += 1
        count = kept
    for i in range(count):
        open_ranked[todo[i]] = open_ranked[todo[i]] or not settled[todo[i]]
    if cutting and from_above:
        check_arrival(rows, asked, choice, high, open_above)
    if asked.total:
        check_riches(rows, asked, choice, low, trap, open_below)
    below = above = 0
    for s in range(states):
        below += open_below[s]
        above += open_above[s]
    return below, above
