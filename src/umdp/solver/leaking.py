"""Compiled rows for a nature that may cut transitions: what is held back for ever is worth nothing.

Where lower bounds are 0, nature may close the ways out of a part of the graph. For a largest probability in the worst case such a
part is worth nothing. States from which nature can hold everybody back are led to the exit of value 0. Elsewhere a row in which
something can be cut loses a tiny part to that exit, so that the equations of every policy have a solution, and where a policy is
held back it is 0. The solution is off by less than rounding; whether it holds for the model as given, the judge says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.rows import ModelRows
from umdp.solver.kernels.cached_system import CachedArrays, write_rows
from umdp.solver.kernels.end_components import confined
from umdp.solver.kernels.rounding import FAINT
from umdp.solver.kernels.structs import ChoiceRows, SystemRows

__all__ = ["held_back", "renew_leaking"]

Array = NDArray[Any]
LEAK = 1e-30  # far less than rounding, and far more than the smallest number


@kernel
def held_back(rows: ModelRows, index: Array, n: int, usable: Array) -> Array:
    """Return the states (S,) in which nature can hold the agent back from the goal for ever, whatever it does.

    `index` has the unknown of every state, `n` where the goal is reached surely, and what is above where it cannot be reached.
    """
    group = np.ones(index.size, np.int32)
    for s in range(index.size):
        if index[s] == n:
            group[s] = 0
    changed, turn = True, 0
    while changed:
        changed = False
        turn += 1
        for i in range(index.size):
            s = i if turn % 2 == 0 else index.size - 1 - i
            if group[s] == 0 or index[s] >= n:
                continue
            for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
                begin, end = rows.choice_ptr[c], rows.choice_ptr[c + 1]
                if usable[c] and not confined(begin, end, rows.successor, rows.lower, rows.upper, group, 1):
                    group[s] = 0
                    changed = True
                    break
    held: Array = group == 1
    return held


@kernel
def renew_leaking(kept: CachedArrays, model: ModelRows, leaky: SystemRows) -> bool:
    """Write the rows of new bounds, and from them those that leak; False where a bound is so small that a division costs digits.

    `leaky` are the rows written to, which share the pointers of rows and the slack of the system.
    """
    for t in range(model.lower.size):
        if 0.0 < model.lower[t] < 2.0 * FAINT or 0.0 < model.upper[t] < 2.0 * FAINT:
            return False
    write_rows(
        kept, ChoiceRows(model.state_ptr, model.choice_ptr, model.successor, model.lower, model.upper, kept.reward)
    )
    members, member_ptr, slack = kept.quotient.members, kept.quotient.member_ptr, kept.rows.slack
    row_ptr, entry_ptr, target, low, high = (
        kept.rows.row_ptr, kept.rows.entry_ptr, kept.rows.target, kept.rows.lower, kept.rows.upper
    )  # fmt: skip
    own_ptr, own_target, own_low, own_high, own_order = (
        leaky.entry_ptr,
        leaky.target,
        leaky.lower,
        leaky.upper,
        leaky.order,
    )
    n = member_ptr.size - 1
    held = held_back(model, kept.quotient.unknown, n, kept.quotient.usable)
    at = 0
    for q in range(n):
        for r in range(row_ptr[q], row_ptr[q + 1]):
            own_ptr[r] = at
            if held[members[member_ptr[q]]]:
                own_target[at], own_low[at], own_high[at], own_order[at] = n + 1, 1.0, 1.0, 0
                slack[r] = 0.0
                at += 1
                continue
            begin, cut = at, False
            for t in range(entry_ptr[r], entry_ptr[r + 1]):
                own_target[at], own_low[at], own_high[at], own_order[at] = target[t], low[t], high[t], at - begin
                cut = cut or low[t] <= 0.0
                at += 1
            if cut:
                own_target[at], own_low[at], own_high[at], own_order[at] = n + 1, LEAK, LEAK, at - begin
                at += 1
    own_ptr[row_ptr[n]] = at
    return True
