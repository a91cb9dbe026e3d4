"""Compiled proofs for policy iteration: values widened a little, until one step does not lead out of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.elimination import best_response, evaluate, evaluate_again, terms
from umdp.solver.kernels.rounding import EPS, LEAST, row_error, share_error, underflow
from umdp.solver.kernels.structs import (
    Block,
    Eliminated,
    EliminationTask,
    chain_of,
    position,
)

__all__ = ["Widening", "save", "widen"]

Array = NDArray[Any]


class Widening(NamedTuple):
    """How values are widened.

    Attributes
    ----------
    from_above : which side they are to bound
    kappa : by how many times the load
    most : how far they may come to lie from the values, relatively, to be of use
    factored : whether the elimination at hand is that of the strategies found
    looked : whether the gains at hand are those of all rows at the values themselves
    """

    from_above: bool
    kappa: float
    most: float
    factored: bool
    looked: bool


@kernel(allocates=False, delegates=True)
def widen(block: Block, work: EliminationTask, load: Array, how: Widening) -> tuple[bool, bool]:
    """Widen the values by `kappa` times the accumulated `load` and check that they are inductive; `low` or `high` receives them.

    Its second and third row are the same in two parts, the value of the reference state and the difference to it.

    Return whether they are, and whether `made` is the elimination of the strategies found afterwards.

    Each step then has a slack of `kappa` times the load, far above rounding. Where several strategies are equally good, the
    widening must be that of the strategy for which it is largest, so rows that fail are switched and the widening is computed
    again. What is returned has passed, rounding included, for every row that matters: the policy's own where one is enough, with
    the distribution it was evaluated with if both players pull the same way (that pair is known to be proper); otherwise all.
    """
    rows, found, made, space = work.rows, work.found, work.space.made, work.space
    entry_ptr, row_ptr, target, x = rows.entry_ptr, rows.row_ptr, rows.target, found.x
    begin, n, kappa, factored = block.begin, block.n, how.kappa, how.factored
    sign = 1.0 if how.from_above else -1.0
    c, part, shifted, top_value = made.c, made.part, made.other, made.value
    entries = range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[begin + n]])
    for s in range(begin, begin + n):
        space.other_row[s] = found.row[s]
    outside = 0.0
    for t in entries:
        space.other_prob[t] = found.prob[t]
        if how.looked and not begin <= target[t] < begin + n:
            outside = max(outside, x[target[t]])
    chain = chain_of(rows, space.other_row, space.other_prob)
    for attempt in range(24):
        if attempt > 0 or not factored:
            factored = attempt == 0
            if not evaluate(block, chain, x, made, work.watch):
                return False, False
        shift = kappa * evaluate_again(n, made, load)
        top = top_value[0] + sign * shift
        if not (0.0 <= top < np.inf) or shift > how.most * top_value[0]:
            return False, factored  # too far away to be of use
        margin, bulk = np.inf, outside
        for s in range(n):
            shifted[s] = c[s] + sign * kappa * part[s]
        if how.looked and attempt == 0:
            most = 0.0
            for s in range(n):
                most, bulk = max(most, part[s]), max(bulk, abs(c[s]))
            margin = 2.0 * (kappa * most + shift) * (1.0 + 1e-9)
            bulk = 8.0 * (bulk + kappa * most + top_value[0] + shift)
        passed, moved = _check(block, work, how.from_above, top, margin, bulk)
        if passed:
            _write(block, made, top, sign, space.high if how.from_above else space.low)
            return True, factored
        if not moved:
            return False, factored
    return False, False


@kernel(allocates=False)
def _check(
    block: Block, work: EliminationTask, from_above: bool, top: float, margin: float, bulk: float
) -> tuple[bool, bool]:
    """Return whether widened values are inductive, and whether rows that fail are others than those they were widened for.

    The latter become those of `space`. Rows that lose more by a step than widening and rounding can make good are known to pass:
    what nature gains by a step changes by at most twice what a value moves, which is `margin`, infinite where gains are unknown;
    values are of the size `bulk`.
    """
    rows, players, space, one = work.rows, work.players, work.space, work.space.row
    row_ptr, entry_ptr, slack, reward = rows.row_ptr, rows.entry_ptr, rows.slack, rows.reward
    choice, prob, other_row, other_prob = work.found.row, work.found.prob, space.other_row, space.other_prob
    gains, shifted = space.gains, work.space.made.other
    key, size_of, probe = one.key, one.size, one.share
    one_is_enough = players.agent_max != from_above
    sign = 1.0 if from_above else -1.0
    begin, passed, moved = block.begin, True, False
    for i in range(block.n):
        s = position(i, block.ref)
        first, last = row_ptr[begin + i], row_ptr[begin + i + 1]
        if one_is_enough:
            first, last = choice[begin + i], choice[begin + i] + 1
        worst = -np.inf
        for row in range(first, last):
            lo, size = entry_ptr[row], entry_ptr[row + 1] - entry_ptr[row]
            perturbation = 8.0 * row_error(size) * (bulk + abs(reward[row])) + 1e-290
            if sign * gains[row] + margin + perturbation < 0.0:
                continue
            terms(block, s, row, work, shifted, top)
            whole = 0.0
            for k in range(size):
                if size_of[k] > 0.0:
                    key[k] += sign * (8.0 * EPS * size_of[k] + 8.0 * LEAST)
                    whole += size_of[k]
            if one_is_enough and players.agent_max == players.nature_max:
                total, scale = reward[row], abs(reward[row])
                if slack[row] > 0.0:
                    scale += share_error(size) * whole / row_error(size)
                for k in range(size):
                    total += prob[lo + k] * key[k]
                    scale += prob[lo + k] * size_of[k]
                    probe[k] = prob[lo + k]
            else:
                total, scale = best_response(row, rows, one, players.nature_max)
            excess = sign * total + row_error(size) * scale
            if whole > 0.0 or scale > 0.0:
                excess += underflow(size) * (1.0 + whole)
            if not excess <= 0.0:
                passed = False
            if excess > worst and excess > 0.0:
                worst = excess
                moved = moved or other_row[begin + i] != row
                other_row[begin + i] = row
                for k in range(size):
                    moved = moved or other_prob[lo + k] != probe[k]
                    other_prob[lo + k] = probe[k]
    return passed, moved


@kernel(allocates=False)
def _write(block: Block, made: Eliminated, top: float, sign: float, bound: Array) -> None:
    """Write widened values that have passed, in one number on their far side and in two parts."""
    shifted, e, h = made.other, made.e, made.h
    for i in range(block.n):
        s, at = position(i, block.ref), block.begin + i
        other = top - e[s] * top if e[s] < 0.5 else h[s] * top
        # What was checked is that number; what is stored is on its far side.
        absolute_error = 8.0 * EPS * (abs(shifted[s]) + other)
        if shifted[s] != 0.0 or (top > 0.0 and h[s] > 0.0):
            absolute_error += 8.0 * LEAST
        bound[0, at] = max(shifted[s] + other + sign * absolute_error, 0.0)
        if e[s] < 0.5:
            bound[1, at], bound[2, at] = top, shifted[s] - e[s] * top
        else:  # so far from the reference state that the difference to it has no digits to spare
            bound[1, at], bound[2, at] = shifted[s] + h[s] * top, 0.0


@kernel(allocates=False)
def save(begin: int, n: int, work: EliminationTask) -> None:
    """Keep strategies and their values, to go back to."""
    rows, found, made, space = work.rows, work.found, work.space.made, work.space
    for i in range(n):
        space.other_row[begin + i] = found.row[begin + i]
        made.other[i] = made.value[i]
    for t in range(rows.entry_ptr[rows.row_ptr[begin]], rows.entry_ptr[rows.row_ptr[begin + n]]):
        space.other_prob[t] = found.prob[t]
