"""Compiled use of a cached system: bounds are renewed, solved by elimination and judged; and a policy is evaluated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.confirm.witness import assemble
from umdp.solver.judge.graph import JudgedQuestion
from umdp.solver.judge.inductive import examine
from umdp.solver.judge.rows import ModelRows, TwoPart, ends_of
from umdp.solver.kernels.elimination import evaluate
from umdp.solver.kernels.structs import Block, ChainRows, eliminated
from umdp.solver.leaking import renew_leaking
from umdp.solver.methods.repetition import renew, resolve

__all__ = [
    "JUDGED",
    "SOLVED",
    "CachedArrays",
    "Guess",
    "SolveRequest",
    "SolvedArrays",
    "evaluate_policy",
    "solve_judged",
]

Array = NDArray[Any]
Arrays = tuple[Any, ...]
OPEN, SOLVED, JUDGED, JUDGED_LEAKING = 0, 1, 2, 3


class CachedArrays(NamedTuple):
    """The arrays of a cached system, as `Repetition.parts` has them.

    Attributes
    ----------
    undecided : (C,) choices of which the graph does not decide everything
    by_graph : (S,) choices to take where it does
    fixed, more : the graph with its unknowns, and what `renew` writes for new bounds
    about : number of unknowns, exits, origin of rows, state of choices
    equations, space : the rows, and work space
    leaky, leaky_space : the same for rows that leak, or once more the same arrays
    """

    undecided: Array
    by_graph: Array
    fixed: Arrays
    more: Arrays
    about: Arrays
    equations: Arrays
    space: Arrays
    leaky: Arrays
    leaky_space: Arrays


class Guess(NamedTuple):
    """What a solve starts from, which changes nothing but last digits: choices (S,) and values (n,), either may be empty."""

    choice: Array
    values: Array


class SolveRequest(NamedTuple):
    """What is wanted: who maximises, the relative width of brackets, the state whose bounds are shown; whether rows may leak."""

    agent_max: bool
    nature_max: bool
    precision: float
    initial: int
    leaks: bool


class SolvedArrays(NamedTuple):
    """What a solve writes.

    Attributes
    ----------
    found : values, relative errors (n + 2 each) and nature's answer
    taken : the rows of unknowns (n) and the choices of states (S)
    low, high : vectors (S,) that are judged
    open_below, open_above : (S,) where they do not pass
    counts : (2,) policy evaluations, components left loose
    ends : (2,) judged bounds of the initial state, rounded outwards
    """

    found: Array
    taken: Array
    low: TwoPart
    high: TwoPart
    open_below: Array
    open_above: Array
    counts: Array
    ends: Array


@kernel(allocates=False)
def solve_judged(
    kept: CachedArrays,
    rows: ModelRows,
    asked: JudgedQuestion,
    states: Arrays,
    guess: Guess,
    want: SolveRequest,
    out: SolvedArrays,
) -> int:
    """Renew the rows for the bounds of a model, solve by elimination, and ask the judge: JUDGED, SOLVED or OPEN.

    Where nature may cut transitions, rows leak if they may (see `leaking`): JUDGED_LEAKING or OPEN. `states` has the unknown of
    every state, the infinite ones, the levels of traps, and whether values are those of not reaching.
    """
    equations, space, leaking = kept.equations, kept.space, False
    if renew(kept.undecided, kept.fixed, rows.lower, rows.upper, kept.more):
        leaking = want.leaks
        if not leaking or not renew_leaking(kept.fixed, kept.more, rows, kept.leaky):
            return OPEN
        equations, space = kept.leaky, kept.leaky_space
    out.counts[0] = 0
    if not resolve(
        kept.about, guess.choice, kept.by_graph, guess.values, want.precision / 2, equations, want.agent_max,
        want.nature_max, want.precision / 4, space, out.found, out.taken, out.counts,
    ):  # fmt: skip
        return OPEN
    n = kept.about[0]
    index, infinite, trap, complement = states
    x, rel = out.found[: n + 2], out.found[n + 2 : 2 * n + 4]
    assemble(index, infinite, complement, x, rel, (space[7], space[8]), out.low, out.high)
    below, above = examine(rows, asked, out.low, out.high, out.taken[n:], trap, out.open_below, out.open_above)
    if below > 0 or above > 0:
        return OPEN if leaking else SOLVED
    out.ends[0], out.ends[1] = ends_of(out.low, out.high, want.initial, complement)
    return JUDGED_LEAKING if leaking else JUDGED


@kernel
def evaluate_policy(index: int, about: Arrays, equations: Arrays, space: Arrays, choice: Array) -> float:
    """Return what a policy (S,) is worth in the state of an unknown where nature has no choice; nan where it never leaves.

    The tuples are those of a `CachedArrays` for the process itself.
    """
    n, exits, origin, choice_state = about
    comp_ptr, row_ptr, entry_ptr, target, prob, reward = (
        equations[0], equations[1], equations[2], equations[3], equations[4], equations[7]
    )  # fmt: skip
    made = eliminated(space[0], space[1])
    row, x, never = np.empty(n, np.int64), np.empty(n + 2), np.zeros(2, np.int64)
    x[n], x[n + 1] = exits[0], exits[1]
    for q in range(n):
        row[q] = -1
        for r in range(row_ptr[q], row_ptr[q + 1]):
            if choice[choice_state[origin[r]]] == origin[r]:
                row[q] = r
        if row[q] < 0:
            return np.nan
    for k in range(comp_ptr.size - 1):
        begin, size = comp_ptr[k], comp_ptr[k + 1] - comp_ptr[k]
        if size == 1:
            total = reward[row[begin]]
            for t in range(entry_ptr[row[begin]], entry_ptr[row[begin] + 1]):
                if target[t] == begin:
                    return np.nan
                total += prob[t] * x[target[t]]
            x[begin] = total
            continue
        block, chain = Block(begin, size, 0), ChainRows(entry_ptr, target, reward, row, prob)
        if not evaluate(block, chain, x, made, never):
            return np.nan
        for i in range(size):
            x[begin + i] = made.value[i]
    return float(x[index])
