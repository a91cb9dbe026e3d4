"""Step-bounded properties by backward induction; each step keeps its own choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model.structure import read_only
from umdp.solver.kernels.backward import StepOptions, steps_back
from umdp.solver.kernels.rounding import MOST, repeated, row_error
from umdp.solver.kernels.structs import Players, row_space
from umdp.solver.methods.signed import step_rows

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
    relative_error, absolute_error : relative and absolute error bounds
    choice : (K, S) the choice at every step, or (0, S) where none was asked for
    trace : (S,) the values with one step less to go (what nature answered at the first step)
    capped : whether some value exceeded the largest number there is, and was replaced by that
    done : how many steps were made: all, unless time was up
    """

    x: Array
    relative_error: float
    absolute_error: float
    choice: Array
    trace: Array
    capped: bool
    done: int


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
    widest = int(np.diff(shape.choice_ptr).max())
    rows = step_rows(shape, lower, upper, reward, paid)
    space, players = row_space(widest), Players(agent_max, nature_max)
    current, other = x.copy(), x.copy()
    choices = np.empty((steps if keep else 0, shape.states), dtype=np.int32)
    choice = np.array(shape.state_ptr[:-1])
    nothing, absolute_error, capped, before = np.empty(0), 0.0, False, None
    tie = float(row_error(widest))
    block = int(min(max(BLOCK // max(shape.transitions, 1), 1), 4096))
    left, fixed = steps, weights is None or weights.ndim == 1
    while left > 0:
        frozen, worth = kept(left - 1)
        weight = nothing if weights is None else (weights if weights.ndim == 1 else weights[left - 1])
        count = 1
        while frozen is before and fixed and count < min(block, left) and kept(left - 1 - count)[0] is frozen:
            count += 1
        made, top, lost = steps_back(
            count, rows, space, StepOptions(read_only(frozen), read_only(weight), players, tie), current, other, choice,
            choices[left - count : left] if keep else choices, watch,
        )  # fmt: skip
        absolute_error, capped = 1.0000001 ** (made + 1) * absolute_error + lost, capped or top > MOST
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
    relative_error = repeated(float(row_error(widest)) + 2.0 * chosen, steps - left)
    return Horizon(current, relative_error, absolute_error, choices, other, capped, steps - left)
