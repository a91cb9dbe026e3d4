"""The judge of vectors with as many digits as it takes: values are integers over a power of two.

Where a process lingers, the values of neighbours may agree in hundreds of digits, and two numbers a state do not tell them
apart. Integers do: a difference ``x_j - x_s`` is exact, and rounded once. With ``y = 0``, and ``x_j - x_s`` paid on top by
every transition, a row of the model says of y what it says of x without that:

    reward + sum p (paid + x_j - x_s)  =  reward + sum p ((paid + x_j - x_s) + y_j - y_s)

so that the inequalities are those of `reachability`, computed by the same lines. What may be asked here is less: finite
values, no totals, no transition that nature may cut, and *strict* inequalities on the side that needs an order of states, which
makes every order right.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.solver.judge.ambiguity import may_cut
from umdp.solver.judge.bellman import RowReading, collect, listed_order
from umdp.solver.judge.question import JudgedQuestion, ModelRows, TwoPart

__all__ = ["ScaledIntegers", "differences", "examine_digits"]

Array = NDArray[Any]
CHUNK = 1 << 16  # differences that are held at once


class ScaledIntegers(NamedTuple):
    """A value for every state, exactly ``units / 2**bits``: `units` (S,) are integers of any size (dtype object)."""

    units: Array
    bits: int


def differences(rows: ModelRows, x: ScaledIntegers, sign: float) -> Array:
    """Return ``x_j - x_s`` for every transition (T,): rounded up if `sign` is 1, down if it is -1, to nearest if it is 0.

    Division of integers is rounded once, to nearest, so that the next number lies beyond. What is exactly 0 stays so.
    """
    owner = np.repeat(np.arange(x.units.size), np.diff(rows.choice_ptr[rows.state_ptr]))
    one, found, differ = 1 << x.bits, np.empty(owner.size), np.empty(owner.size, np.bool_)
    for begin in range(0, owner.size, CHUNK):
        part = slice(begin, begin + CHUNK)
        away = x.units[rows.successor[part]] - x.units[owner[part]]
        found[part], differ[part] = [_divide(units, one) for units in away.tolist()], away != 0
    return np.where(differ, np.nextafter(found, sign * np.inf), found) if sign else found


def _divide(units: int, one: int) -> float:
    """Return a quotient of integers, rounded once, to nearest."""
    try:
        return units / one
    except OverflowError:
        return math.inf if units > 0 else -math.inf


def examine_digits(rows: ModelRows, asked: JudgedQuestion, x: ScaledIntegers, choice: Array, sign: float) -> Array:
    """Return at which states (S,) a vector does not pass, as a bound from above if `sign` is 1, from below if it is -1.

    It bounds the values of *all* states if it passes at all of them. `choice` is the policy (S,).
    """
    if asked.total or may_cut(rows):
        return np.ones(asked.goal.size, np.bool_)  # that is for `reachability` to judge
    x = ScaledIntegers(np.array([int(each) for each in x.units], dtype=object), x.bits)  # none of 64 bits among them
    one = 1 << x.bits
    top, bottom = int(asked.top) * one, 0 if asked.reward else (int(asked.top) - 1) * one
    exits = asked.goal | ~asked.through
    level = np.array([bottom, top], dtype=object)[asked.goal.astype(np.int64)]
    over, under = (np.asarray(part, np.bool_) for part in (x.units > level, x.units < level))
    fails = exits & (under if sign > 0.0 else over)
    # Nothing is below 0, no probability above 1; what is no more than that needs no proof.
    floor, ceiling = np.asarray(x.units <= bottom, np.bool_), np.asarray(x.units >= top, np.bool_)
    if sign > 0.0:
        fails |= np.asarray(x.units < bottom, np.bool_)
        trivial = ceiling & (not asked.reward)
    else:
        fails |= np.asarray(x.units > top, np.bool_) & (not asked.reward)
        trivial = floor
    every = asked.all_above if sign > 0.0 else asked.all_below
    if not every:
        fails |= (choice < rows.state_ptr[:-1]) | (choice >= rows.state_ptr[1:])
    steps = differences(rows, x, sign)
    if rows.paid.size:
        with np.errstate(over="ignore"):  # beyond the largest number, nothing passes
            steps = np.where(rows.paid == 0.0, steps, np.nextafter(steps + rows.paid, sign * np.inf))
    todo = ~(exits | trivial | fails)
    owner = np.repeat(np.arange(todo.size), np.diff(rows.state_ptr))
    counted = todo[owner]
    if not every:
        counted &= np.arange(owner.size) == choice[owner]
    moved, still = rows._replace(paid=steps), TwoPart(np.zeros(todo.size), np.zeros(todo.size))
    gain, error = np.zeros(owner.size), np.zeros(owner.size)
    side = RowReading(sign, asked.nature_max, 1.0, relative=True, pays=True, scaled=True)
    collect(moved, counted, still, gain[:0], side, (0, todo.size), listed_order(moved), (gain, error))
    with np.errstate(invalid="ignore"):
        holds = sign * gain + error < 0.0
        if asked.reward != (sign > 0.0):  # on this side equality is enough
            holds |= (gain == 0.0) & (error == 0.0)
    holds &= ~np.logical_or.reduceat(~np.isfinite(steps), rows.choice_ptr[:-1])
    fails[owner[counted & ~holds]] = True
    return fails
