"""A system that is kept with its graph: its rows are written anew for other bounds, and solved by elimination."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.equations import Span, compress, find_rows
from umdp.solver.kernels.policy_iteration import solve_small
from umdp.solver.kernels.rounding import FAINT
from umdp.solver.kernels.structs import (
    ChoiceRows,
    EliminationOptions,
    EliminationSpace,
    Players,
    Quotient,
    SystemRows,
    Unknowns,
)

__all__ = ["CachedArrays", "Guess", "renew", "resolve", "write_rows"]

Array = NDArray[Any]


class CachedArrays(NamedTuple):
    """The arrays of a cached system.

    Attributes
    ----------
    undecided : (C,) choices of which the graph does not decide everything
    by_graph : (S,) choices to take where it does
    choice_state : (C,) the state of every choice
    quotient : the unknowns; all are states, none an end component
    reward : (C,) what a step earns, or empty
    exits : (2,) values of the exits
    lost : what never reaches the goal earns
    rows, origin : the system, and (rows,) the choice that each row stands for
    space : work space of its elimination
    """

    undecided: Array
    by_graph: Array
    choice_state: Array
    quotient: Quotient
    reward: Array
    exits: Array
    lost: float
    rows: SystemRows
    origin: Array
    space: EliminationSpace


class Guess(NamedTuple):
    """What a solve starts from, which changes nothing but last digits: choices (S,) and values (n,), either may be empty."""

    choice: Array
    values: Array


@kernel(allocates=False)
def is_open(choice_ptr: Array, undecided: Array, lower: Array, upper: Array) -> bool:
    """Whether nature may cut an edge of an undecided choice (C,), or a bound is so small that a division costs it digits."""
    for c in range(choice_ptr.size - 1):
        if not undecided[c]:
            continue
        most = 0.0
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            if 0.0 < lower[t] < 2.0 * FAINT or 0.0 < upper[t] < 2.0 * FAINT:
                return True
            most += upper[t]
        for t in range(choice_ptr[c], choice_ptr[c + 1]):
            if lower[t] <= 0.0 and most - upper[t] >= 1.0 - 1e-9:
                return True
    return False


@kernel(allocates=False, delegates=True)
def renew(kept: CachedArrays, model: ChoiceRows) -> bool:
    """Write the rows of new bounds, unless `is_open` says that more is needed; return whether it does."""
    if is_open(model.choice_ptr, kept.undecided, model.lower, model.upper):
        return True
    write_rows(kept, model)
    return False


@kernel(allocates=False, delegates=True)
def write_rows(kept: CachedArrays, model: ChoiceRows) -> None:
    """Write the rows of new bounds."""
    rows, first, n = kept.rows, kept.quotient.member_ptr[0], kept.quotient.member_ptr.size - 1
    made, used = compress(Span(first, n, first, first), kept.quotient, model, rows, kept.origin, kept.lost)
    rows.row_ptr[n], rows.entry_ptr[made] = made, used


@kernel(delegates=True)
def resolve(
    kept: CachedArrays,
    guess: Guess,
    players: Players,
    most: float,
    wanted: float,
    found: Array,
    taken: Array,
    counts: Array,
) -> bool:
    """Solve all components by elimination; return whether that gave what is `wanted`, and relative errors of at most `most`.

    `found` receives values, relative errors (n + 2 each) and nature's answer, `taken` the rows of unknowns (n) and the choices
    of states (S).
    """
    rows, origin, choice_state, start, before = kept.rows, kept.origin, kept.choice_state, guess.choice, guess.values
    n = kept.quotient.member_ptr.size - 1
    x, rel, prob = found[: n + 2], found[n + 2 : 2 * n + 4], found[2 * n + 4 :]
    row, choice = taken[:n], taken[n:]
    for s in range(choice.size):
        choice[s] = kept.by_graph[s]
    for q in range(n):
        x[q] = before[q] if before.size > 0 else 0.0
        rel[q] = 0.0
        row[q] = rows.row_ptr[q]
    if start.size > 0:
        find_rows(rows.row_ptr, origin, choice_state, start, row)
    for k in range(2):
        x[n + k], rel[n + k] = kept.exits[k], 0.0
    for t in range(rows.entry_ptr[rows.row_ptr[n]]):
        prob[t] = rows.lower[t]
    first, stop, subnormal = (
        rows.comp_ptr[0],
        rows.comp_ptr.size - 1,
        n < 0,
    )  # literals would have it compiled once more
    options = EliminationOptions(start.size > 0, before.size > 0, subnormal, wanted)
    unknowns, never = Unknowns(x, rel, row, prob), np.zeros(2, np.int64)
    largest = kept.space.matrix.shape[0]
    solved = solve_small(first, stop, largest, rows, unknowns, players, options, kept.space, counts, never)
    if solved < stop:
        return False
    for q in range(n):
        if not rel[q] <= most:
            return False
        choice[choice_state[origin[row[q]]]] = origin[row[q]]
    return True
