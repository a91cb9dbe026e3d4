"""Compiled use of a cached system: bounds are renewed, solved by elimination and judged; and a policy is evaluated.

*Leaking rows* are for a nature that may cut transitions. Where lower bounds are 0, it may close the ways out of a part of the
graph. Such a part is worth nothing. For a largest probability in the worst case, states from which nature can hold everybody
back are led to the exit of value 0; where both pull the same way nobody is held back. Elsewhere a row in which something can
be cut loses a tiny part to that exit, so that the equations of every policy have a solution, and where a policy is held back
it is 0. The solution is off by less than rounding; whether it holds for the model as given, the judge says.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.confirm.witness import assemble
from umdp.solver.judge.question import JudgedQuestion, ModelRows, TwoPart
from umdp.solver.judge.reachability import ends_of, examine
from umdp.solver.kernels.elimination import evaluate
from umdp.solver.kernels.end_components import confined
from umdp.solver.kernels.equations import Span, compress, find_rows
from umdp.solver.kernels.policy_iteration import solve_small
from umdp.solver.kernels.rounding import FAINT, ends
from umdp.solver.kernels.structs import (
    Block,
    ChoiceRows,
    EliminationOptions,
    EliminationSpace,
    EliminationTask,
    Players,
    Quotient,
    SystemRows,
    Unknowns,
    chain_of,
)

__all__ = [
    "JUDGED", "JUDGED_LEAKING", "OPEN", "CachedArrays", "Guess", "SolveRequest", "SolvedArrays", "bounds_at",
    "evaluate_policy", "renew",
    "renew_leaking", "resolve", "solve_judged",
]  # fmt: skip

Array = NDArray[Any]
Arrays = tuple[Any, ...]
LEAK = 1e-30  # far less than rounding, and far more than the smallest number
OPEN, JUDGED, JUDGED_LEAKING = 0, 1, 2


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
    x, relative_error, prob = found[: n + 2], found[n + 2 : 2 * n + 4], found[2 * n + 4 :]
    row, choice = taken[:n], taken[n:]
    for s in range(choice.size):
        choice[s] = kept.by_graph[s]
    for q in range(n):
        x[q] = before[q] if before.size > 0 else 0.0
        relative_error[q] = 0.0
        row[q] = rows.row_ptr[q]
    if start.size > 0:
        find_rows(rows.row_ptr, origin, choice_state, start, row)
    for k in range(2):
        x[n + k], relative_error[n + k] = kept.exits[k], 0.0
    for t in range(rows.entry_ptr[rows.row_ptr[n]]):
        prob[t] = rows.lower[t]
    # Literals would have it compiled once more.
    first, stop, subnormal = rows.comp_ptr[0], rows.comp_ptr.size - 1, n < 0
    options = EliminationOptions(start.size > 0, before.size > 0, subnormal, wanted)
    unknowns, never = Unknowns(x, relative_error, row, prob), np.zeros(2, np.int64)
    largest = kept.space.made.value.size
    work = EliminationTask(rows, unknowns, players, options, kept.space, counts, never)
    solved = solve_small(first, stop, largest, work)
    if solved < stop:
        return False
    for q in range(n):
        if not relative_error[q] <= most:
            return False
        choice[choice_state[origin[row[q]]]] = origin[row[q]]
    return True


@kernel(allocates=False)
def bounds_at(unknown: int, n: int, x: Array, relative_error: Array, reward_error: float) -> tuple[float, float]:
    """Return the bounds of an unknown, or of an exit, given values and relative errors (n+2,) and that of rewards."""
    if unknown >= n:
        return x[unknown], x[unknown]
    error = relative_error[unknown]
    if reward_error > 0.0:
        error = (error + reward_error + error * reward_error) * (1.0 + 2.0**-50)
    return ends(x[unknown], error)


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
                if usable[c] and not confined(c, rows, group, 1):
                    group[s] = 0
                    changed = True
                    break
    held: Array = group == 1
    return held


@kernel
def renew_leaking(kept: CachedArrays, model: ModelRows, leaky: SystemRows, joint: bool) -> bool:
    """Write the rows of new bounds, and from them those that leak; False where a bound is so small that a division costs digits.

    `leaky` are the rows written to, which share the pointers of rows and the slack of the system. `joint` says that nature
    pulls the way the agent does.
    """
    for t in range(model.lower.size):
        if 0.0 < model.lower[t] < 2.0 * FAINT or 0.0 < model.upper[t] < 2.0 * FAINT:
            return False
    write_rows(
        kept, ChoiceRows(model.state_ptr, model.choice_ptr, model.successor, model.lower, model.upper, kept.reward)
    )
    own, members, member_ptr = kept.rows, kept.quotient.members, kept.quotient.member_ptr
    n, at = member_ptr.size - 1, 0
    index, usable = kept.quotient.unknown, kept.quotient.usable
    held = np.zeros(index.size, np.bool_) if joint else held_back(model, index, n, usable)
    for q in range(n):
        for r in range(own.row_ptr[q], own.row_ptr[q + 1]):
            leaky.entry_ptr[r] = begin = at
            is_held, leak = held[members[member_ptr[q]]], 1.0
            cut = is_held
            if is_held:
                own.slack[r] = 0.0
            else:
                leak = LEAK
                for t in range(own.entry_ptr[r], own.entry_ptr[r + 1]):
                    leaky.target[at], leaky.order[at] = own.target[t], at - begin
                    leaky.lower[at], leaky.upper[at] = own.lower[t], own.upper[t]
                    cut = cut or own.lower[t] <= 0.0
                    at += 1
            if cut:
                leaky.target[at], leaky.order[at] = n + 1, at - begin
                leaky.lower[at] = leaky.upper[at] = leak
                at += 1
    leaky.entry_ptr[own.row_ptr[n]] = at
    return True


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


@kernel(allocates=False, delegates=True)
def solve_judged(
    kept: CachedArrays,
    leaky: CachedArrays,
    rows: ModelRows,
    asked: JudgedQuestion,
    states: Arrays,
    guess: Guess,
    want: SolveRequest,
    out: SolvedArrays,
) -> int:
    """Renew the rows for the bounds of a model, solve by elimination, and ask the judge: JUDGED or OPEN.

    Where nature may cut transitions, rows leak if they may (see above), which are those of `leaky`: JUDGED_LEAKING or OPEN.
    `states` has the unknown of every state, the infinite ones, the levels of traps, and whether values are those of not reaching.
    """
    system, leaking = kept, False
    model = ChoiceRows(rows.state_ptr, rows.choice_ptr, rows.successor, rows.lower, rows.upper, kept.reward)
    if renew(kept, model):
        leaking = want.leaks
        if not leaking or not renew_leaking(kept, rows, leaky.rows, want.agent_max == want.nature_max):
            return OPEN
        system = leaky
    out.counts[0] = 0
    players = Players(want.agent_max, want.nature_max)
    if not resolve(system, guess, players, want.precision / 2, want.precision / 4, out.found, out.taken, out.counts):
        return OPEN
    n, space = kept.quotient.member_ptr.size - 1, system.space
    index, infinite, trap, complement = states
    x, relative_error = out.found[: n + 2], out.found[n + 2 : 2 * n + 4]
    assemble(index, infinite, complement, x, relative_error, (space.low, space.high), out.low, out.high)
    below, above = examine(rows, asked, out.low, out.high, out.taken[n:], trap, out.open_below, out.open_above)
    if below > 0 or above > 0:
        return OPEN
    out.ends[0], out.ends[1] = ends_of(out.low, out.high, want.initial, complement)
    return JUDGED_LEAKING if leaking else JUDGED


@kernel
def evaluate_policy(index: int, kept: CachedArrays, choice: Array) -> float:
    """Return what a policy (S,) is worth in the state of an unknown where nature has no choice; nan where it never leaves.

    The system is that of the process itself.
    """
    rows, exits, origin, choice_state = kept.rows, kept.exits, kept.origin, kept.choice_state
    comp_ptr, row_ptr, entry_ptr, target, prob = rows.comp_ptr, rows.row_ptr, rows.entry_ptr, rows.target, rows.lower
    n, reward, made = row_ptr.size - 1, rows.reward, kept.space.made
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
        block, chain = Block(begin, size, 0), chain_of(rows, row, prob)
        if not evaluate(block, chain, x, made, never):
            return np.nan
        for i in range(size):
            x[begin + i] = made.value[i]
    return float(x[index])
