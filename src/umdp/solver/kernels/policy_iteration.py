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
from umdp.solver.kernels.elimination import evaluate, reaching, row_gains
from umdp.solver.kernels.rounding import EPS, around, compose
from umdp.solver.kernels.singles import solve_singles
from umdp.solver.kernels.structs import (
    Block,
    Eliminated,
    EliminationTask,
    Section,
    SingleOptions,
    chain_of,
    inherit,
    position,
)
from umdp.solver.kernels.two_part import answer
from umdp.solver.kernels.widening import Widening, save, widen

__all__ = ["solve_small"]

Array = NDArray[Any]
TIE = 1e-12  # choices whose values differ by no more than this, relatively, are equally good, and the first of them is taken
NOISE = 1e-15  # what rounding mostly does to a comparison, relative to the terms compared; more where it goes on and on
ROUNDS = 400
WORSE = 1e-9  # relative, beyond what rounding does to a value
COARSE = 1e-10  # noise from which it is not worth asking for more
LOOSE = 1e-6  # relative width up to which a bracket is worth having, although a narrower one was asked for


@kernel(allocates=False, delegates=True)
def solve_small(first: int, stop: int, limit: int, work: EliminationTask) -> int:
    """Solve the components `first` to `stop`, in order; return the index of the first that needs something else.

    That is one with more than `limit` states, or one whose bracket is wider than wanted, or any once time is up by `watch`.
    Neither a policy to start from nor values that are known change the answer, but for the last digits.
    """
    rows, found, space, counts, wanted = work.rows, work.found, work.space, work.counts, work.options.wanted
    comp_ptr, x, relative_error, low, high, made = (
        rows.comp_ptr,
        found.x,
        found.relative_error,
        space.low,
        space.high,
        space.made,
    )
    tie = TIE if wanted == np.inf else min(TIE, 4e-6 * wanted)  # what is taken must still prove the bounds
    single = SingleOptions(wanted, tie, np.inf, work.options.subnormal)
    k = first - 1
    while k + 1 < stop:
        k += 1
        begin, n = comp_ptr[k], comp_ptr[k + 1] - comp_ptr[k]
        if n > limit:
            return k
        for s in range(begin, begin + n):
            low[1, s] = high[1, s] = np.nan
        if n == 1:
            solved = solve_singles(k, stop, rows, space.row, found, work.players, single)
            if solved > k:
                for s in range(begin, comp_ptr[solved]):
                    low[1, s] = high[1, s] = np.nan
                k = solved - 1
                continue
        error, _ = inherit(begin, begin + n, rows, relative_error)
        ref = _start(begin, n, work)
        if ref < 0:
            counts[1] += 1
            for s in range(begin, begin + n):
                x[s], relative_error[s] = 1.0, np.inf
            return k
        block = Block(begin, n, ref)
        known, ref, factored, looked = _settle(block, work, tie)
        block = Block(begin, n, ref)
        known = known and made.value[0] < np.inf
        if wanted == np.inf and known:  # no proof is asked for
            for i in range(n):
                x[begin + i], relative_error[begin + i] = made.value[position(i, ref)], 0.0
            continue
        proved = n < 0
        if known:
            most = max(wanted, LOOSE)
            proved = _prove(block, work, most, factored, looked)
        width = _write(block, work, known, proved, error)
        if not (proved and width <= wanted):
            counts[1] += 1
            return k
    return stop


@kernel(delegates=True)
def _start(begin: int, n: int, work: EliminationTask) -> int:
    """Write a proper policy to start from, and a distribution of nature's inside its bounds; return the reference state.

    That is -1 where there is no such policy.
    """
    rows, found, space = work.rows, work.found, work.space
    entry_ptr, lower, upper, x, prob = rows.entry_ptr, rows.lower, rows.upper, found.x, found.prob
    if not reaching(begin, n, rows, space.allowed, found.row, np.empty(n, np.bool_), work.options.warm):
        return -1
    ref = 0
    if work.options.informed:
        for i in range(n):
            if x[begin + i] > x[begin + ref]:
                ref = i
        answer(Section(begin, begin + n, rows, space.row, work.players), x, space.tail, found.row, prob)
        return ref
    for row in range(rows.row_ptr[begin], rows.row_ptr[begin + n]):
        room = 0.0
        for t in range(entry_ptr[row], entry_ptr[row + 1]):
            room += upper[t] - lower[t]
        share = rows.slack[row] / room if room > 0.0 and rows.slack[row] > 0.0 else 0.0
        for t in range(entry_ptr[row], entry_ptr[row + 1]):
            prob[t] = lower[t] + share * (upper[t] - lower[t])
    return ref


@kernel(allocates=False, delegates=True)
def _settle(block: Block, work: EliminationTask, tie: float) -> tuple[bool, int, bool, bool]:
    """Improve strategies in turn until nobody can; return whether they have a value, and the reference state by then.

    Then, whether `made` is the elimination of these strategies, and whether the gains are those of all rows at their values.
    """
    rows, found, players, made, space = work.rows, work.found, work.players, work.space.made, work.space
    begin, n, ref = block.begin, block.n, block.ref
    choice, prob, agent_max = found.row, found.prob, players.agent_max
    chain = chain_of(rows, choice, prob)
    no, yes = n < 0, n > 0
    joint = players.agent_max == players.nature_max
    chosen, done, known, strict = no, no, no, no  # the reference state; the agent; values; ties that are exact only
    saved = no  # whether there are strategies to go back to
    noise = NOISE
    for turn in range(ROUNDS):
        work.counts[0] += 1
        if turn % 16 == 15:
            noise = min(10.0 * noise, TIE)
        known = evaluate(Block(begin, n, ref), chain, found.x, made, work.watch)
        if not known and not saved:
            return known, ref, no, no
        if known and not chosen:  # the state of largest value is the reference from now on
            chosen = yes
            far = position(_largest(n, made), ref)
            if far != ref:
                ref = far
                continue
        # Where both pull the same way values never get worse. If they do, a gain was rounding, and a switch for it has closed
        # the way out: go back, and ask for more. And where choices that are almost as good are taken all the time, that may
        # add up to more than a little: then only equal ones are.
        if saved and (not known or _is_worse(n, made, agent_max)):
            for s in range(begin, begin + n):
                choice[s] = space.other_row[s]
            for t in range(rows.entry_ptr[rows.row_ptr[begin]], rows.entry_ptr[rows.row_ptr[begin + n]]):
                prob[t] = space.other_prob[t]
            known = evaluate(Block(begin, n, ref), chain, found.x, made, work.watch)
            if not known or (strict if done else noise >= COARSE):
                return known, ref, yes, no
            if done:
                strict, done = yes, no
            else:
                noise = 100.0 * noise
        if joint and not done:
            save(begin, n, work)
            saved = yes
        changed = no
        for half in range(2):  # nature answers the policy first; then the agent looks at all rows
            whole = half == 1
            if changed or (whole and done):
                break
            if joint and not whole and not done:
                continue  # who pull the same way look around together
            least = max(noise, 1e-14)
            changed = row_gains(Block(begin, n, ref), work, whole, least)
        if changed and (done or not joint):
            continue
        if done:
            return known, ref, yes, no
        if _switch(begin, n, work, changed, noise) or changed:
            continue
        done, saved = yes, yes
        save(begin, n, work)
        if not _take_first(Block(begin, n, ref), work, tie, TIE if strict else noise, strict):
            return known, ref, yes, yes
    return known, ref, no, no


@kernel(allocates=False)
def _largest(n: int, made: Eliminated) -> int:
    """Return the position of the largest value: where values agree, of the largest difference to that of the reference state."""
    value, c, e, far = made.value, made.c, made.e, 0
    for pos in range(1, n):
        if value[pos] > value[far] * (1 + 1e-9) or (
            value[pos] >= value[far] and c[pos] - e[pos] * value[0] > c[far] - e[far] * value[0]
        ):
            far = pos
    return far


@kernel(allocates=False)
def _is_worse(n: int, made: Eliminated, agent_max: bool) -> bool:
    """Whether some value is worse than that of the strategies saved, beyond rounding."""
    value, last, worse = made.value, made.other, False
    for pos in range(n):
        worse = worse or (value[pos] < last[pos] * (1 - WORSE) if agent_max else value[pos] > last[pos] * (1 + WORSE))
    return worse


@kernel(allocates=False)
def _switch(begin: int, n: int, work: EliminationTask, answered: bool, noise: float) -> bool:
    """Switch to rows that are better, strictly; return whether there are some. Nature may have `answered` at the same time."""
    row_ptr, choice, agent_max = work.rows.row_ptr, work.found.row, work.players.agent_max
    gains, sizes, changed = work.space.gains, work.space.sizes, False
    for i in range(begin, begin + n):
        best, best_row = 0.0, choice[i]
        if answered:
            best = max(best, gains[best_row] if agent_max else -gains[best_row])
        for row in range(row_ptr[i], row_ptr[i + 1]):
            better = gains[row] if agent_max else -gains[row]
            if row != choice[i] and better > best + noise * sizes[row]:
                best, best_row = better, row
        if best_row != choice[i]:
            choice[i] = best_row
            changed = True
    return changed


@kernel
def _take_first(block: Block, work: EliminationTask, tie: float, noise: float, strict: bool) -> bool:
    """Take the first of equally good rows, as long as an exit stays in reach; return whether those are other rows.

    With `strict` rows that differ by a share `tie` of the value are not as good.
    """
    rows, choice, made, space = work.rows, work.found.row, work.space.made, work.space
    row_ptr, allowed, gains, sizes, changed = rows.row_ptr, space.allowed, space.gains, space.sizes, False
    begin, n = block.begin, block.n
    for i in range(n):
        first_tie, value = -1, made.value[position(i, block.ref)]
        for row in range(row_ptr[begin + i], row_ptr[begin + i + 1]):
            same = noise * sizes[row] if strict else max(noise * sizes[row], tie * value)
            allowed[row] = row == choice[begin + i] or abs(gains[row]) <= same
            if allowed[row] and first_tie < 0:
                first_tie = row
        if first_tie != choice[begin + i]:
            choice[begin + i] = first_tie
            changed = True
    reaching(begin, n, rows, allowed, choice, np.empty(n, np.bool_), n > 0)
    for row in range(row_ptr[begin], row_ptr[begin + n]):
        allowed[row] = True
    return changed


@kernel(delegates=True)
def _prove(block: Block, work: EliminationTask, most: float, factored: bool, looked: bool) -> bool:
    """Widen the values by a little, and by more where that does not pass; return whether both sides did in the end.

    `most`, `factored` and `looked` are those of `Widening`.
    """
    load, row_ptr, row_of, space = np.zeros(block.n), work.rows.row_ptr, work.found.row, work.space
    for i in range(block.n):
        s = position(i, block.ref)
        for row in range(row_ptr[block.begin + i], row_ptr[block.begin + i + 1]):
            if row == row_of[block.begin + i] or abs(space.gains[row]) <= 1e-6 * space.sizes[row]:
                load[s] = max(load[s], space.sizes[row])
    kappa = 2.0**-46
    above, below = False, False
    for attempt in range(16):
        up = attempt % 2 == 0
        if up:
            kappa *= 4.0
        if (above and up) or (below and not up):
            continue
        now = Widening(up, kappa, most, factored, looked and factored)
        passed, factored = widen(block, work, load, now)
        above, below = above or (up and passed), below or (passed and not up)
        if above and below:
            break
    return above and below


@kernel(allocates=False)
def _write(block: Block, work: EliminationTask, known: bool, proved: bool, error: float) -> float:
    """Write the middle of proved bounds and its relative error, that of the exits included; return the largest, exits aside."""
    x, relative_error, low, high, widest = work.found.x, work.found.relative_error, work.space.low, work.space.high, 0.0
    more = error + 16.0 * EPS if error > 0.0 else 0.0
    for i in range(block.n):
        s = block.begin + i
        if proved:
            x[s], own = around(low[0, s], high[0, s])
            relative_error[s] = compose(error, own)
            for part in range(1, 3):  # as what they rest on may be off by
                low[part, s] *= 1.0 - more
                high[part, s] *= 1.0 + more
            widest = max(widest, own)
        else:  # not proved, but a place to start from for others
            value = work.space.made.value[position(i, block.ref)]
            x[s], relative_error[s] = (value if known and value < np.inf else 1.0), np.inf
    return widest
