"""Chains whose values agree in more digits than two numbers hold: solved in integers, for the judge of many digits to look at.

The chain of a policy and of nature's answer is eliminated without subtraction (`methods.sparse_elimination`), which keeps the
digits of every weight: with what probability a state leads to each of those eliminated after it and to each exit, and what it
collects before. Going back, a value is the mean of later ones by these weights, plus what is collected: in integers over a power
of two, with weights that sum to 1 exactly. So differences of neighbours have their digits, however small next to the values.

Vectors with room for rounding are those of the chain that pays a little more, or less, in every step: a small multiple of the
terms of its row. By the differences nature answers again, and the agent chooses again, until neither gains more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.model.structure import entries_of
from umdp.verify.rationals import double

if TYPE_CHECKING:
    from umdp.solver.judge.digits import ScaledIntegers
    from umdp.solver.judge.question import JudgedQuestion, ModelRows
    from umdp.solver.methods.sparse_elimination import SparseElimination

__all__ = ["NARROWEST", "ConfirmedVectors", "rounded", "solve_in_integers"]

Array = NDArray[Any]
BITS = 1200  # behind the point: more than the smallest number there is
WIDEST = 12  # neighbours of a state when it is eliminated, on average
MOST = 1_000_000  # unknowns that are worth it
ROUNDS = 40  # answers of nature and choices of the agent
ROOM = (46, 43, 40, 36)  # what a step pays more or less: 2**-ROOM times the terms of its row
NARROWEST = 2.0**-45  # no bracket with that room is narrower, relatively
TIE = 2.0**-44  # gains below this, relative to the terms of a row, are none
FAINT = 1e-265  # the least terms of a row: where all values are equal, too, there has to be room


class ConfirmedVectors(NamedTuple):
    """Vectors from below and above that the judge confirms, the policy (S,) and nature's answer (T,) that they are of."""

    low: ScaledIntegers
    high: ScaledIntegers
    choice: Array
    prob: Array


@kernel(allocates=False)
def _carry(col_ptr: Array, col: Array, inwards: Array, out: Array, load: Array) -> None:
    """Turn loads of at least 0, in the order of elimination, into what is collected before a later state is reached."""
    for k in range(load.size):
        load[k] /= out[k]
        for c in range(col_ptr[k], col_ptr[k + 1]):
            load[col[c]] += inwards[c] * load[k]


@dataclass(frozen=True, eq=False)
class _Eliminated:
    """A chain over the unknown states, eliminated: solves for any load, in integers.

    Attributes
    ----------
    inner : (n,) the unknown states
    made : the elimination
    goal, away : (n,) with what probability an unknown leads at once to the goal, or to where it is out of reach
    late : says when time is up
    """

    inner: Array
    made: SparseElimination
    goal: Array
    away: Array
    late: Callable[[], bool]

    @staticmethod
    def of(
        rows: ModelRows, asked: JudgedQuestion, inner: Array, choice: Array, prob: Array, late: Callable[[], bool]
    ) -> _Eliminated | None:
        """Eliminate the chain; None where that costs too much, or a state cannot leave."""
        from umdp.solver.kernels.structs import ChainRows
        from umdp.solver.methods.sparse_elimination import SparseElimination

        n = inner.size
        place = np.where(asked.goal, n, n + 1)
        place[inner] = np.arange(n)
        sizes = np.diff(rows.choice_ptr)[choice[inner]]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        entries = entries_of(rows.choice_ptr, choice[inner])
        target, share, source = place[rows.successor[entries]], prob[entries], np.repeat(np.arange(n), sizes)
        chain = ChainRows(ends, target, np.zeros(n), np.arange(n), share)
        made = SparseElimination.of(chain, 0, n, WIDEST * n, WIDEST**2 * n)
        if made is None or not made.proper:
            return None
        goal, away = (np.bincount(source[target == exit_], share[target == exit_], n) for exit_ in (n, n + 1))
        return _Eliminated(inner, made, goal, away, late)

    def solve(self, load: Array, top: int, bottom: int) -> list[int] | None:
        """Return the values of the unknowns, for loads (n,) of at least 0 and exits worth `top` and `bottom`, over ``2**BITS``.

        None if time is up, or numbers grow too large.
        """
        order, col_ptr, col = self.made.pattern.order, self.made.pattern.col_ptr, self.made.pattern.col
        onwards, inwards, out = self.made.factors
        parts = []
        for part in (load, self.goal, self.away):
            carried = part[order]
            _carry(col_ptr, col, inwards, out, carried)
            if not bool(np.isfinite(carried).all()):
                return None
            parts.append(_units(carried))
        collected, reached, lost = parts
        weights, later, begins = _units(onwards), col.tolist(), col_ptr.tolist()
        x = [0] * order.size
        for i in range(order.size - 1, -1, -1):
            if i % 4096 == 0 and self.late():
                return None
            leads = [(reached[i], top), (lost[i], bottom)]
            leads += [(weights[c], x[later[c]]) for c in range(begins[i], begins[i + 1])]
            # The largest has the rest of the weight, which is then right relative to itself.
            _, here = max(leads, key=itemgetter(0))
            total = sum(w * (there - here) for w, there in leads)
            x[i] = here + (total >> BITS) + collected[i]
        found = [0] * order.size
        for i, s in enumerate(order.tolist()):
            found[s] = x[i]
        return found


def _units(numbers: Array) -> list[int]:
    """Return numbers of at least 0 over ``2**BITS``, exactly (below 2**-1147: almost)."""
    fraction, exponent = np.frexp(numbers)
    digits = np.ldexp(fraction, 53).astype(np.int64).tolist()
    shifts = (exponent.astype(np.int64) + (BITS - 53)).tolist()
    return [m << e if e >= 0 else m >> -e for m, e in zip(digits, shifts, strict=True)]


class _Strategies:
    """Rows and nature's answer, improved by differences that are right relative to themselves."""

    def __init__(self, rows: ModelRows, asked: JudgedQuestion, choice: Array, prob: Array) -> None:
        self.rows, self.asked = rows, asked
        self.choice, self.prob = np.array(choice), np.array(prob)
        states = np.diff(rows.state_ptr)
        self.paid = rows.paid if rows.paid.size else np.zeros(rows.successor.size)
        self.reward = np.zeros(rows.choice_ptr.size - 1)
        if rows.state_reward.size:
            self.reward += np.repeat(rows.state_reward, states)
        if rows.choice_reward.size:
            self.reward += rows.choice_reward

    def load(self) -> Array:
        """Return what each state earns in a step, (S,)."""
        earned = self.reward + np.add.reduceat(self.prob * self.paid, self.rows.choice_ptr[:-1])
        return np.asarray(earned[self.choice])

    def size(self, steps: Array) -> Array:
        """Return how large the terms of each row are, (C,)."""
        terms = self.prob * (np.abs(steps) + self.paid)
        return self.reward + np.add.reduceat(terms, self.rows.choice_ptr[:-1])

    def improve(self, steps: Array, unknown: Array) -> bool:
        """Let nature answer differences (T,), or, if it has nothing better, the agent choose; return whether anything changed."""
        from umdp.solver.kernels.best_response import respond

        rows, asked = self.rows, self.asked
        better, size = np.empty(self.prob.size), self.size(steps)
        worth = np.add.reduceat(self.prob * (steps + self.paid), rows.choice_ptr[:-1])
        arrays = rows.choice_ptr, rows.successor, rows.lower, rows.upper, np.zeros(unknown.size), steps + self.paid
        gain = respond(*arrays, asked.nature_max, better) - worth
        room = TIE * (size + np.add.reduceat(better * np.abs(steps), rows.choice_ptr[:-1]))
        gains = (gain if asked.nature_max else -gain) > room
        self.prob = np.where(np.repeat(gains, np.diff(rows.choice_ptr)), better, self.prob)
        if bool(gains[self.choice[unknown]].any()):
            return True
        agent_max = asked.all_above
        q = (worth + np.where(gains, gain, 0.0) + self.reward) * (1.0 if agent_max else -1.0)
        best = np.maximum.reduceat(q, rows.state_ptr[:-1])
        switch = unknown & (best > q[self.choice] + 2.0 * TIE * size[self.choice])
        for s in np.flatnonzero(switch).tolist():
            self.choice[s] = rows.state_ptr[s] + int(np.argmax(q[rows.state_ptr[s] : rows.state_ptr[s + 1]]))
        return bool(switch.any())


def solve_in_integers(
    rows: ModelRows, asked: JudgedQuestion, unknown: Array, start: tuple[Array, Array], late: Callable[[], bool]
) -> ConfirmedVectors | None:
    """Return bounds that the judge confirms, close to the values; None where they are not found.

    Parameters
    ----------
    unknown : (S,) the states that are neither exits nor worth as little as what cannot reach the goal
    start : the policy (S,) and nature's answer (T,) to begin with
    late : says when time is up
    """
    from umdp.solver.judge.ambiguity import may_cut
    from umdp.solver.judge.digits import ScaledIntegers, differences, examine_digits

    inner = np.flatnonzero(unknown)
    if asked.total or not 0 < inner.size <= MOST or may_cut(rows):
        return None
    one = 1 << BITS
    top, bottom = int(asked.top) * one, 0 if asked.reward else (int(asked.top) - 1) * one
    play = _Strategies(rows, asked, *start)
    exits = np.array([bottom, top], dtype=object)[asked.goal.astype(np.int64)]
    for _ in range(ROUNDS):
        chain = _Eliminated.of(rows, asked, inner, play.choice, play.prob, late)
        found = None if chain is None or late() else chain.solve(play.load()[inner], top, bottom)
        if chain is None or found is None:
            return None
        x = ScaledIntegers(exits.copy(), BITS)
        x.units[inner] = found
        steps = differences(rows, x, 0.0)
        if not bool(np.isfinite(steps).all()):
            return None
        if not play.improve(steps, unknown):
            break
    else:
        return None
    terms = np.maximum(play.size(steps)[play.choice[inner]], FAINT)
    more = chain.solve(terms, 0, 0)
    if more is None:
        return None
    sides: list[ScaledIntegers] = []
    for sign in (-1.0, 1.0):
        for room in ROOM:
            side = ScaledIntegers(exits.copy(), BITS)
            moved = [v + (int(sign) * by >> room) for v, by in zip(found, more, strict=True)]
            if sign < 0.0:
                moved = [max(v, bottom) for v in moved]
            elif not asked.reward:
                moved = [min(v, top) for v in moved]
            side.units[inner] = moved
            if late():
                return None
            if not bool(examine_digits(rows, asked, side, play.choice, sign).any()):
                sides.append(side)
                break
        else:
            return None
    return ConfirmedVectors(sides[0], sides[1], play.choice, play.prob)


def rounded(x: ScaledIntegers, up: bool, less: bool) -> Array:
    """Return the values (S,), or with `less` 1 minus them, as numbers that are rounded up or down."""
    one = 1 << x.bits
    return np.array([double(Fraction(one - units if less else units, one), up=up) for units in x.units.tolist()])
