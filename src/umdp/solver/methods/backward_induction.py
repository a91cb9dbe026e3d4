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
from umdp.solver.methods.signed import normal_rows

__all__ = ["Horizon", "induct"]

Array = NDArray[Any]


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
    """

    x: Array
    rel: float
    off: float
    choice: Array
    trace: Array
    capped: bool


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
            whole = 0.0
            for i in range(size):
                key[i] = x[successor[lo + i]]
                if paid.size > 0:
                    key[i] += paid[lo + i]
                    top = max(top, key[i])
                    key[i] = min(key[i], MOST)
                whole += key[i]
                probe[i] = lower[lo + i]
            blur = 0.0
            if slack[c] > 0.0 and size > 1:
                sort_row(lo, size, key, order, nature_max)
                blur = fill(lo, size, lower, upper, slack[c], order, probe)
            value = reward[c] if reward.size > 0 else 0.0
            positive = value > 0.0 or (blur > 0.0 and whole > 0.0)
            for i in range(size):
                value += probe[i] * key[i]
                positive = positive or (probe[i] > 0.0 and key[i] > 0.0)
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
    """
    low, slack = normal_rows(shape.choice_ptr, lower, upper)
    widest = int(np.diff(shape.choice_ptr).max())
    order = (np.arange(shape.transitions) - np.repeat(shape.choice_ptr[:-1], np.diff(shape.choice_ptr))).astype(
        np.int32
    )
    key = np.empty(widest)
    current, other = x.copy(), np.empty_like(x)
    choices = np.empty((steps if keep else 0, shape.states), dtype=np.int32)
    choice = np.array(shape.state_ptr[:-1])
    nothing, off, capped, before = np.empty(0), 0.0, False, None
    tie = float(row_error(widest))
    for k in range(steps - 1, -1, -1):
        frozen, worth = kept(k)
        weight = nothing if weights is None else (weights if weights.ndim == 1 else weights[k])
        top, lost = _step(
            0, shape.states, shape.state_ptr, shape.choice_ptr, shape.successor, low, upper, slack, reward, paid,
            order, key, frozen, weight, current, other, choice, agent_max, nature_max, tie,
        )  # fmt: skip
        off, capped = 1.0000001 * (off + lost), capped or top > MOST
        current, other = other, current
        if frozen is not before:  # what is decided may be decided otherwise than a step later
            np.copyto(current, worth, where=frozen)
            before = frozen
        if keep:
            choices[k] = choice
        if k % 64 == 63 and tell(k):
            if keep:
                choices[:k] = choice
            break
    # One rounding error for the row, one for the choice: between equals, or of weights that are summed and have a sum near 1.
    chosen = tie if weights is None else float(row_error(int(np.diff(shape.state_ptr).max())))
    rel = repeated(float(row_error(widest)) + 2.0 * chosen, steps)
    return Horizon(current, rel, off, choices, other, capped)
