"""Step-bounded properties by backward induction; each step keeps its own choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solve.bellman import EPS, fill, sort_row

__all__ = ["Horizon", "induct"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Horizon:
    """The outcome of a backward induction.

    Attributes
    ----------
    x : (S,) values with all steps to go
    rel : relative error bound
    choice : (K, S) the choice at every step, or (0, S) where none was asked for
    trace : (S,) the values with one step less to go (what nature answered at the first step)
    faint : whether some value came close to the smallest numbers there are
    """

    x: Array
    rel: float
    choice: Array
    trace: Array
    faint: bool


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
) -> bool:
    """One step backwards over a range of states; `frozen` states keep their value, `weight` fixes the policy.

    Returns whether a value came close to the smallest numbers there are.
    """
    faint = False
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
            for i in range(size):
                key[i] = x[successor[lo + i]]
                if paid.size > 0:
                    key[i] += paid[lo + i]
            value = 0.0
            if slack[c] > 0.0 and size > 1:
                sort_row(lo, size, key, order, nature_max)
                fill(lo, size, lower, upper, slack[c], order, probe)
                for i in range(size):
                    value += probe[i] * key[i]
            else:
                for i in range(size):
                    value += lower[lo + i] * key[i]
            if reward.size > 0:
                value += reward[c]
            if weight.size > 0:
                mixed += weight[c] * value
            elif (value > best * (1 + tie) if agent_max else value < best * (1 - tie)) or (
                np.isinf(best) and value != best
            ):
                best = value
                choice[s] = c
        out[s] = mixed if weight.size > 0 else best
        faint = faint or 0.0 < out[s] < 1e-200
    return faint


def induct(
    shape: Any,
    lower: Array,
    upper: Array,
    steps: int,
    x: Array,
    frozen: Array,
    *,
    reward: Array,
    paid: Array,
    weights: Array | None,
    agent_max: bool,
    nature_max: bool,
    keep: bool = True,
    tell: Callable[[int], bool] = lambda left: False,
) -> Horizon:
    """Go `steps` steps backwards from `x`; all terms are at least 0, so that relative rounding errors just add up.

    Parameters
    ----------
    x : (S,) values at the end
    frozen : (S,) states that keep their value
    reward, paid : (C,) and (T,) or empty, what choices and transitions earn
    weights : (C,) or (K, C), a policy to evaluate; None to optimise
    keep : whether to return the choices of every step
    tell : called now and then with the steps left; ends the induction by returning True
    """
    low, slack = _normal(shape.choice_ptr, lower, upper)
    widest = int(np.diff(shape.choice_ptr).max())
    order = (np.arange(shape.transitions) - np.repeat(shape.choice_ptr[:-1], np.diff(shape.choice_ptr))).astype(
        np.int32
    )
    key = np.empty(widest)
    current, other = x.copy(), np.empty_like(x)
    choices = np.empty((steps if keep else 0, shape.states), dtype=np.int32)
    choice = np.array(shape.state_ptr[:-1])
    nothing, faint = np.empty(0), False
    tie = min(1e-12, 1e-8 / max(steps, 1))
    for k in range(steps - 1, -1, -1):
        weight = nothing if weights is None else (weights if weights.ndim == 1 else weights[k])
        faint |= _step(
            0, shape.states, shape.state_ptr, shape.choice_ptr, shape.successor, low, upper, slack, reward, paid,
            order, key, frozen, weight, current, other, choice, agent_max, nature_max, tie,
        )  # fmt: skip
        current, other = other, current
        if keep:
            choices[k] = choice
        if k % 64 == 63 and tell(k):
            if keep:
                choices[:k] = choice
            break
    rel = steps * ((4.0 * widest + 96.0) * EPS + (tie if weights is None else 0.0))
    return Horizon(current, rel, choices, other, bool(faint))


@kernel
def _normal(ptr: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return lower bounds and slack per row; rows without freedom are normalised distributions with slack 0."""
    low = lower.copy()
    slack = np.empty(ptr.size - 1)
    for c in range(ptr.size - 1):
        sums = np.array([-1.0, -1.0])
        rests = np.zeros(2)
        for t in range(ptr[c], ptr[c + 1]):
            for side in range(2):
                v = lower[t] if side == 0 else upper[t]
                total = sums[side] + v
                shift = total - sums[side]
                rests[side] += (sums[side] - (total - shift)) + (v - shift)
                sums[side] = total
        slack[c] = -(sums[0] + rests[0])
        if slack[c] <= 0.0 or sums[1] + rests[1] <= 0.0:
            use_low = slack[c] <= 0.0
            whole = 1.0 + (sums[0] if use_low else sums[1])
            slack[c] = 0.0
            for t in range(ptr[c], ptr[c + 1]):
                low[t] = (lower[t] if use_low else upper[t]) / whole
    return low, slack
