"""Step-bounded properties by backward induction; each step keeps its own choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.certification.rounding import LEAST, MOST, repeated, row_error, underflow
from umdp.solver.certification.row import fill, sort_row
from umdp.solver.methods.clock import is_up
from umdp.solver.methods.signed import normal_rows

__all__ = ["Horizon", "induct"]

Array = NDArray[Any]
BLOCK = 2**23  # transitions to go over between reports
NEVER = np.zeros(2, dtype=np.int64)  # the flag of no clock


@dataclass(frozen=True, eq=False)
class Horizon:
    """The outcome of a backward induction.

    Attributes
    ----------
    x : (S,) values with all steps to go
    rel, off : relative and absolute error bounds
    choice : (K, S) the choice at every step, or (0, S) where none was asked for
    trace : (S,) the values with one step less to go (what nature answered at the first step)
    capped : whether some value exceeded the largest number there is, and was replaced by that
    done : how many steps were made: all, unless time was up
    """

    x: Array
    rel: float
    off: float
    choice: Array
    trace: Array
    capped: bool
    done: int


@kernel
def _step(
    begin: int,
    end: int,
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    reward: Array,
    paid: Array,
    order: Array,
    key: Array,
    frozen: Array,
    weight: Array,
    x: Array,
    out: Array,
    choice: Array,
    agent_max: bool,
    nature_max: bool,
    tie: float,
) -> tuple[float, float]:
    """One step backwards over a range of states; `frozen` states keep their value, `weight` fixes the policy.

    Nothing positive becomes 0, and nothing infinite. Returns the largest value, infinity if it had to be capped, and the largest
    absolute error of a row.
    """
    top, off = 0.0, 0.0
    probe = np.empty(key.size)
    for s in range(begin, end):
        if frozen[s]:
            out[s] = x[s]
            continue
        best = -np.inf if agent_max else np.inf
        mixed = 0.0
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if weight.size > 0 and weight[c] == 0.0:
                continue
            lo, hi = choice_ptr[c], choice_ptr[c + 1]
            size = hi - lo
            rest = slack[c] if size > 1 else 0.0
            value, whole = reward[c] if reward.size > 0 else 0.0, 0.0
            blur, delicate = 0.0, False
            if rest <= 0.0 and paid.size == 0:
                for t in range(lo, hi):
                    whole += x[successor[t]]
                    value += lower[t] * x[successor[t]]
            else:
                for i in range(size):
                    key[i] = x[successor[lo + i]]
                    if paid.size > 0:
                        key[i] += paid[lo + i]
                        top = max(top, key[i])
                        key[i] = min(key[i], MOST)
                    whole += key[i]
                if rest > 0.0:
                    sort_row(lo, size, key, order, nature_max)
                # What is left to hand out is off by a few roundings of all that is handed out. That is little for the one share
                # it decides if that is as large, and changes nothing for others unless it comes close to what they take. Where
                # it may matter, shares are found in twice the working precision.
                delicate = 0.0 < rest < 2.0**-40
                for i in range(size):
                    k = order[lo + i] if slack[c] > 0.0 else i
                    share = lower[lo + k]
                    if rest > 0.0:
                        room = upper[lo + k] - share
                        if room < rest:
                            share = upper[lo + k]
                            rest -= room
                            delicate = delicate or rest < 2.0**-30 * slack[c]
                        else:
                            share += rest
                            delicate = delicate or share < 0.5 * slack[c] or room - rest < 2.0**-30 * slack[c]
                            rest = 0.0
                    value += share * key[k]
                if delicate:
                    blur = fill(lo, size, lower, upper, slack[c], order, probe)
                    value = reward[c] if reward.size > 0 else 0.0
                    for i in range(size):
                        value += probe[i] * key[i]
            positive = value > 0.0 or (blur > 0.0 and whole > 0.0)
            if not positive and whole > 0.0:  # all products may have underflowed
                if slack[c] > 0.0 and size > 1:
                    blur = fill(lo, size, lower, upper, slack[c], order, probe)
                    positive = blur > 0.0
                for i in range(size):
                    share = probe[i] if slack[c] > 0.0 and size > 1 else lower[lo + i]
                    worth = x[successor[lo + i]] + (paid[lo + i] if paid.size > 0 else 0.0)
                    positive = positive or (share > 0.0 and worth > 0.0)
            if positive:
                value = max(value, LEAST)
                off = max(off, blur * whole + underflow(size) * (1.0 + whole))
            if weight.size > 0:
                mixed += weight[c] * value
                if value > 0.0:
                    mixed = max(mixed, LEAST)
            elif value > best * (1 + tie) if agent_max else value < best * (1 - tie):
                best = value
                choice[s] = c
        found = mixed if weight.size > 0 else best
        top = max(top, found)
        out[s] = min(found, MOST)
    return top, off


@kernel
def _steps(
    count: int,
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    slack: Array,
    reward: Array,
    paid: Array,
    order: Array,
    key: Array,
    frozen: Array,
    weight: Array,
    x: Array,
    out: Array,
    choice: Array,
    kept: Array,
    agent_max: bool,
    nature_max: bool,
    tie: float,
    watch: Array,
) -> tuple[int, float, float]:
    """Make up to `count` steps, fewer where time is up; (how many, the largest value, what absolute errors add up to).

    The values are in `out` after an odd number of steps, else in `x`, and in the other those before the last step. `kept`
    (count, S) receives the choices, those of the last step first, unless it is empty.
    """
    top, off, done = 0.0, 0.0, 0
    while done < count and not is_up(watch):
        one, other = (x, out) if done % 2 == 0 else (out, x)
        most, lost = _step(
            0, state_ptr.size - 1, state_ptr, choice_ptr, successor, lower, upper, slack, reward, paid, order, key, frozen,
            weight, one, other, choice, agent_max, nature_max, tie,
        )  # fmt: skip
        top, off = max(top, most), 1.0000001 * (off + lost)
        done += 1
        if kept.shape[0] > 0:
            for s in range(choice.size):
                kept[count - done, s] = choice[s]
    return done, top, off


def induct(
    shape: Any,
    lower: Array,
    upper: Array,
    steps: int,
    x: Array,
    kept: Callable[[int], tuple[Array, Array]],
    *,
    reward: Array,
    paid: Array,
    weights: Array | None,
    agent_max: bool,
    nature_max: bool,
    keep: bool = True,
    tell: Callable[[int], bool] = lambda left: False,
    watch: Array = NEVER,
) -> Horizon:
    """Go `steps` steps backwards from `x`; all terms are at least 0, so that relative rounding errors multiply step by step.

    Absolute ones (underflow, shares of which only an absolute error is known) are passed on by probabilities, and add up.

    Parameters
    ----------
    x : (S,) values at the end
    kept : of each step, the states (S,) that are decided then, and what they are worth (S,)
    reward, paid : (C,) and (T,) or empty, what choices and transitions earn
    weights : (C,) or (K, C), a policy to evaluate; None to optimise
    keep : whether to return the choices of every step
    tell : called now and then with the steps left; ends the induction by returning True
    watch : the flag of a `Watch`, which ends it too
    """
    low, slack = normal_rows(shape.choice_ptr, lower, upper)
    widest = int(np.diff(shape.choice_ptr).max())
    order = (np.arange(shape.transitions) - np.repeat(shape.choice_ptr[:-1], np.diff(shape.choice_ptr))).astype(
        np.int32
    )
    key = np.empty(widest)
    current, other = x.copy(), x.copy()
    choices = np.empty((steps if keep else 0, shape.states), dtype=np.int32)
    choice = np.array(shape.state_ptr[:-1])
    nothing, off, capped, before = np.empty(0), 0.0, False, None
    tie = float(row_error(widest))
    block = int(min(max(BLOCK // max(shape.transitions, 1), 1), 4096))
    left, fixed = steps, weights is None or weights.ndim == 1
    while left > 0:
        frozen, worth = kept(left - 1)
        weight = nothing if weights is None else (weights if weights.ndim == 1 else weights[left - 1])
        count = 1
        while frozen is before and fixed and count < min(block, left) and kept(left - 1 - count)[0] is frozen:
            count += 1
        made, top, lost = _steps(
            count, shape.state_ptr, shape.choice_ptr, shape.successor, low, upper, slack, reward, paid, order, key, frozen,
            weight, current, other, choice, choices[left - count : left] if keep else choices, agent_max, nature_max, tie, watch,
        )  # fmt: skip
        off, capped = 1.0000001 ** (made + 1) * off + lost, capped or top > MOST
        if made % 2:
            current, other = other, current
        left -= made
        if made and frozen is not before:  # what is decided may be decided otherwise than a step later
            np.copyto(current, worth, where=frozen)
            before = frozen
        if made < count or (left > 0 and tell(left)):
            break
    # One rounding error for the row, one for the choice: between equals, or of weights that are summed and have a sum near 1.
    chosen = tie if weights is None else float(row_error(int(np.diff(shape.state_ptr).max())))
    rel = repeated(float(row_error(widest)) + 2.0 * chosen, steps - left)
    return Horizon(current, rel, off, choices, other, capped, steps - left)
