"""Compiled policy iteration on small strongly connected components, with certificates that need no subtraction.

A component is evaluated by elimination without subtraction (Grassmann, Taksar, Heyman), relative to a reference
state: `c` is what is collected before the reference state or an exit is reached, `e` the probability that an exit
comes first, `h` that the reference state does. The value is ``c + h U`` with `U` the value of the reference state, and the
difference to it is ``c - e U``: accurate even where all values agree in every digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.elimination import evaluate, reaching
from umdp.solver.kernels.improvement import row_gains
from umdp.solver.kernels.rounding import EPS, around, compose
from umdp.solver.kernels.singles import solve_singles
from umdp.solver.kernels.two_part import chain_of
from umdp.solver.kernels.widening import save, widen

__all__ = ["solve_small"]

Array = NDArray[Any]
TIE = 1e-12  # choices whose values differ by no more than this, relatively, are equally good, and the first of them is taken
NOISE = 1e-15  # what rounding mostly does to a comparison, relative to the terms compared; more where it goes on and on
ROUNDS = 400
WORSE = 1e-9  # relative, beyond what rounding does to a value
COARSE = 1e-10  # noise from which it is not worth asking for more
LOOSE = 1e-6  # relative width up to which a bracket is worth having, although a narrower one was asked for


@kernel
def solve_small(
    first: int,
    stop: int,
    limit: int,
    comp_ptr: Array,
    row_ptr: Array,
    entry_ptr: Array,
    target: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    reward: Array,
    order: Array,
    prob: Array,
    choice: Array,
    x: Array,
    rel: Array,
    agent_max: bool,
    nature_max: bool,
    warm: bool,
    informed: bool,
    subnormal: bool,
    wanted: float,
    a: Array,
    work: Array,
    row_work: Array,
    tail: Array,
    allowed: Array,
    gains: Array,
    sizes: Array,
    low: Array,
    high: Array,
    alt_choice: Array,
    alt_prob: Array,
    counts: Array,
    watch: Array,
) -> int:
    """Solve the components `first` to `stop`, in order; return the index of the first that needs something else.

    That is one with more than `limit` states, or one whose bracket is wider than `wanted`, or any once time is up by `watch`.
    With `warm` the rows in `choice` are a policy to start from; with `informed` the values in `x` are those of a problem like
    this one, and tell what nature answers to it. Neither changes the answer, but for the last digits.
    Writes the value `x`, its relative error bound `rel`, the row `choice` of every state and nature's `prob`.
    The arrays from `allowed` (all true) to `alt_prob` are work space, but for the second and third row of `low` and `high`: these
    receive the bounds as sums of two numbers, not a number where there are none. `counts` adds up (policy evaluations,
    components left loose).
    """
    n_max = a.shape[0]
    tie = TIE if wanted == np.inf else min(TIE, 4e-6 * wanted)  # what is taken must still prove the bounds
    reached = np.empty(n_max, np.bool_)
    load = np.empty(n_max)
    k = first - 1
    while k + 1 < stop:
        k += 1
        begin, n = comp_ptr[k], comp_ptr[k + 1] - comp_ptr[k]
        if n > limit:
            return k
        for s in range(begin, begin + n):
            low[1, s] = high[1, s] = np.nan
        if n == 1:
            solved = solve_singles(
                k, stop, comp_ptr, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, row_work[0],
                choice, x, rel, agent_max, nature_max, wanted, tie, np.inf, subnormal,
            )  # fmt: skip
            if solved > k:
                for s in range(begin, comp_ptr[solved]):
                    low[1, s] = high[1, s] = np.nan
                k = solved - 1
                continue
        error = 0.0
        for s in range(begin, begin + n):
            for t in range(entry_ptr[row_ptr[s]], entry_ptr[row_ptr[s + 1]]):
                j = target[t]
                if j < begin or j >= begin + n:
                    error = max(error, rel[j])

        # A proper policy to start from, and nature spread over the inside of its bounds.
        if not reaching(begin, n, row_ptr, entry_ptr, target, upper, allowed, choice, reached, warm):
            counts[1] += 1
            for s in range(begin, begin + n):
                x[s], rel[s] = 1.0, np.inf
            return k
        ref = n - n
        if informed:
            for s in range(begin, begin + n):
                if x[s] > x[begin + ref]:
                    ref = s - begin
            chain_of(
                begin, begin + n, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, row_work[0], x, tail,
                choice, nature_max, prob,
            )  # fmt: skip
        else:
            for row in range(row_ptr[begin], row_ptr[begin + n]):
                room = 0.0
                for t in range(entry_ptr[row], entry_ptr[row + 1]):
                    room += upper[t] - lower[t]
                share = slack[row] / room if room > 0.0 and slack[row] > 0.0 else 0.0
                for t in range(entry_ptr[row], entry_ptr[row + 1]):
                    prob[t] = lower[t] + share * (upper[t] - lower[t])

        c, e, value = work[3], work[4], work[6]
        chosen = n < 0  # the reference state
        done = n < 0  # the agent
        known = n < 0  # whether there are values at all
        factored = n < 0  # whether the last elimination is that of the strategies found
        looked = n < 0  # and whether all rows were looked at then
        joint, last = agent_max == nature_max, work[9]
        saved = n < 0  # whether `alt_choice`, `alt_prob` and `last` hold strategies to go back to, and their values
        noise, strict = NOISE, n < 0
        for turn in range(ROUNDS):
            counts[0] += 1
            if turn % 16 == 15:
                noise = min(10.0 * noise, TIE)
            known = evaluate(begin, n, ref, entry_ptr, target, reward, prob, choice, x, a, work, watch)
            if not known and not saved:
                break
            if known and not chosen:  # the state of largest value is the reference from now on
                chosen = True
                far = 0
                for pos in range(1, n):
                    if value[pos] > value[far] * (1 + 1e-9) or (
                        value[pos] >= value[far] and c[pos] - e[pos] * value[0] > c[far] - e[far] * value[0]
                    ):
                        far = pos
                far = ref if far == 0 else (0 if far == ref else far)
                if far != ref:
                    ref = far
                    continue
            # Where both pull the same way values never get worse. If they do, a gain was rounding, and a switch for it has closed
            # the way out: go back, and ask for more. And where choices that are almost as good are taken all the time, that may
            # add up to more than a little: then only equal ones are.
            worse = not known
            if saved and known:
                for pos in range(n):
                    if value[pos] < last[pos] * (1 - WORSE) if agent_max else value[pos] > last[pos] * (1 + WORSE):
                        worse = True
            if saved and worse:
                for s in range(begin, begin + n):
                    choice[s] = alt_choice[s]
                for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[begin + n]]):
                    prob[t] = alt_prob[t]
                known = evaluate(begin, n, ref, entry_ptr, target, reward, prob, choice, x, a, work, watch)
                if not known or (strict if done else noise >= COARSE):
                    factored = n > 0
                    break
                if done:
                    strict, done = n > 0, n < 0
                else:
                    noise = 100.0 * noise
            if joint and not done:
                saved = save(begin, n, row_ptr, entry_ptr, choice, prob, value, alt_choice, alt_prob, last)
            changed = False
            for half in range(2):  # nature answers the policy first; then the agent looks at all rows
                whole = half == 1
                if changed or (whole and done):
                    break
                if joint and not whole and not done:
                    continue  # who pull the same way look around together
                changed = row_gains(
                    begin, n, ref, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, prob, choice, x,
                    nature_max, whole, max(noise, 1e-14), work, row_work, gains, sizes,
                )  # fmt: skip
            if changed and (done or not joint):
                continue
            if done:
                factored = n > 0
                break
            for i in range(begin, begin + n):  # switch only on strict improvement
                best, best_row = 0.0, choice[i]
                if joint and changed:
                    best = max(best, gains[best_row] if agent_max else -gains[best_row])
                for row in range(row_ptr[i], row_ptr[i + 1]):
                    better = gains[row] if agent_max else -gains[row]
                    if row != choice[i] and better > best + noise * sizes[row]:
                        best, best_row = better, row
                if best_row != choice[i]:
                    choice[i] = best_row
                    changed = True
            if changed:
                continue
            # Of equally good rows the first, as long as an exit stays in reach.
            done = n > 0
            saved = save(begin, n, row_ptr, entry_ptr, choice, prob, value, alt_choice, alt_prob, last)
            for i in range(begin, begin + n):
                first_tie, pos = -1, 0 if i - begin == ref else (ref if i == begin else i - begin)
                for row in range(row_ptr[i], row_ptr[i + 1]):
                    same = TIE * sizes[row] if strict else max(noise * sizes[row], tie * value[pos])
                    allowed[row] = row == choice[i] or abs(gains[row]) <= same
                    if allowed[row] and first_tie < 0:
                        first_tie = row
                if first_tie != choice[i]:
                    choice[i] = first_tie
                    changed = True
            reaching(begin, n, row_ptr, entry_ptr, target, upper, allowed, choice, reached, n > 0)
            for row in range(row_ptr[begin], row_ptr[begin + n]):
                allowed[row] = True
            if not changed:
                factored = looked = n > 0
                break

        known = known and value[0] < np.inf
        if wanted == np.inf and known:  # no proof is asked for
            for s in range(begin, begin + n):
                pos = 0 if s - begin == ref else (ref if s == begin else s - begin)
                x[s], rel[s] = value[pos], 0.0
            continue
        # Certificates: widen by a little, and by more where that does not pass.
        above = below = n < 0
        if known:
            for i in range(n):
                s = 0 if i == ref else (ref if i == 0 else i)
                load[s] = 0.0
                for row in range(row_ptr[begin + i], row_ptr[begin + i + 1]):
                    if row == choice[begin + i] or abs(gains[row]) <= 1e-6 * sizes[row]:
                        load[s] = max(load[s], sizes[row])
            kappa = 2.0**-46
            for attempt in range(16):
                up = attempt % 2 == 0
                if up:
                    kappa *= 4.0
                if (above and up) or (below and not up):
                    continue
                passed, factored = widen(
                    begin, n, ref, row_ptr, entry_ptr, target, lower, upper, slack, reward, order, prob, choice, x,
                    kappa, max(wanted, LOOSE), agent_max, nature_max, up, load, a, work, row_work, alt_choice, alt_prob,
                    high if up else low, factored, gains, looked and factored, watch,
                )  # fmt: skip
                above, below = above or (up and passed), below or (passed and not up)
                if above and below:
                    break
        loose = not (above and below)
        for s in range(begin, begin + n):
            if above and below:
                x[s], own = around(low[0, s], high[0, s])
                rel[s] = compose(error, own)
                more = error + 16.0 * EPS if error > 0.0 else 0.0
                for part in range(1, 3):  # as what they rest on may be off by
                    low[part, s] *= 1.0 - more
                    high[part, s] *= 1.0 + more
                loose = loose or not own <= wanted
            else:  # not proved, but a place to start from for others
                pos = 0 if s - begin == ref else (ref if s == begin else s - begin)
                x[s], rel[s] = (value[pos] if known and value[pos] < np.inf else 1.0), np.inf
        if loose:
            counts[1] += 1
            return k
    return stop
