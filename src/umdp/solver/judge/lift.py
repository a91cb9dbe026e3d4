"""The judge of products: whether they are lifts of the model as given, and whether what is to be reached there is what accepts.

A formula is answered as reachability in a product of the model and an automaton. Taken as given is the automaton: that it accepts
the formula, and the letter that each state of the model spells, or each transition where it counts what is paid. The rest is
judged, in one pass over the rows each.

*Lift.* A state of the product stands for a state s of the model and a state q of the automaton. It begins with the initial state
and what the automaton is in after reading that. If the rows of every state are those of s in order, bound for bound, each
successor standing for s' and what q becomes by the letter of s', and all that comes after them are the jumps of q, then plays of
product and model are the same, with the same probabilities, and the automaton reads what the model spells. After a jump there is
none before the next letter. A state q that is never left decides everything: there one loop stands for all rows.

*Goal, from below.* Give each state of the goal the number of a Rabin pair and a rank. Let by the rows used a play stay in the
goal, and the number never grow; let no state be one that its pair avoids, and each be one that its pair repeats, or have a
successor with a smaller number or rank. Then the play is accepted with probability 1: from some time on the number stays, nothing
to be avoided comes any more, and from everywhere something to be repeated comes with positive probability.

*Goal, from above.* Give each state a level for each pair, and let U be the states outside the goal that the pair does not avoid.
Let every row of a state in U possibly leave U or lead to a smaller level, or, where the pair does not repeat the state, keep its
level. Then no end component in U has a state that the pair repeats: on its smallest level the rows it uses keep that level, so
that all of it lies there, and a state to be repeated would have to lead further down. Plays end in end components with
probability 1. So those that are accepted have come to the goal.

*Goal of a reward.* It ends where the automaton has nothing left to read: where all letters lead to states that are never left and
accept. The automaton must not jump then, since a jump would pay what a state pays once more.

A transition is there if some distribution of its row uses it (`ambiguity.possible`), and has then positive probability.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.ambiguity import kind_of, possible
from umdp.solver.judge.question import ModelRows

__all__ = ["LiftedRows", "RabinTable", "is_accepted", "is_lift", "is_missed", "is_settled", "pursues"]

Array = NDArray[Any]


class RabinTable(NamedTuple):
    """An automaton: `step` (Q, L), jumps of q ``jump_to[jump_ptr[q]:jump_ptr[q + 1]]``, pairs `avoid` and `repeat` (K, Q)."""

    initial: int
    step: Array
    jump_ptr: Array
    jump_to: Array
    avoid: Array
    repeat: Array


class LiftedRows(NamedTuple):
    """A product: its rows, its initial state, and the state (P,), memory (P,) and choice (C,) that each of it stands for."""

    rows: ModelRows
    initial: int
    state: Array
    memory: Array
    origin: Array


def pursues(agent_max: bool, nature_max: bool, alone: bool, support_may_shrink: bool) -> bool:
    """Whether the automaton is to be that of the formula, not of its negation: the agent always wants it to accept.

    Where nature decides `alone`, the jumps are its own. If it may then cut transitions, a play that it keeps from going on must
    count for what nature wants: it never reaches what accepts.
    """
    return nature_max != support_may_shrink if alone else agent_max


@kernel(forceinline=True, allocates=False)
def is_sink(q: int, table: RabinTable) -> bool:
    """Whether a state of the automaton is never left."""
    for column in range(table.step.shape[1]):
        if table.step[q, column] != q:
            return False
    return bool(table.jump_ptr[q] == table.jump_ptr[q + 1])


@kernel(forceinline=True, allocates=False)
def sure_target(c: int, rows: ModelRows) -> int:
    """Return the one state that a row leads to, surely; -1 where there is none."""
    t = rows.choice_ptr[c]
    if rows.choice_ptr[c + 1] == t + 1 and rows.lower[t] == 1.0 and rows.upper[t] == 1.0:
        return int(rows.successor[t])
    return -1


@kernel
def is_labelled(model: ModelRows, initial: int, first: int, code: Array, table: RabinTable, made: LiftedRows) -> bool:
    """Whether arrays have the sizes that they must have, what they name exists, and a play begins where it must."""
    states, memories, letters = model.state_ptr.size - 1, table.step.shape[0], table.step.shape[1]
    rows, state, memory, origin = made.rows, made.state, made.memory, made.origin
    size = rows.state_ptr.size - 1
    if not (
        code.size == model.successor.size
        and state.size == memory.size == size
        and origin.size == rows.choice_ptr.size - 1
    ):
        return False
    if not 0 <= first < letters or code.min() < 0 or code.max() >= letters or state.min() < 0 or state.max() >= states:
        return False
    if memory.min() < 0 or memory.max() >= memories:
        return False
    earns = model.state_reward.size > 0, model.choice_reward.size > 0, model.paid.size > 0
    if earns != (rows.state_reward.size > 0, rows.choice_reward.size > 0, rows.paid.size > 0):
        return False
    begins: bool = memory[made.initial] == table.step[table.initial, first]
    return begins and state[made.initial] == initial


@kernel(forceinline=True, allocates=False)
def is_lifted_row(
    b: int, c: int, q: int, model: ModelRows, rows: ModelRows, step: Array, code: Array, whom: Array
) -> bool:
    """Whether the row c of a product, in memory q, is the row b of the model; `whom` (P,) is what each state stands for."""
    first, end = model.choice_ptr[b], model.choice_ptr[b + 1]
    shift = rows.choice_ptr[c] - first
    if rows.choice_ptr[c + 1] - shift != end:
        return False
    if model.choice_reward.size > 0 and rows.choice_reward[c] != model.choice_reward[b]:
        return False
    successor, target, low, lower = rows.successor, model.successor, rows.lower, model.lower
    same, plain, pays = True, model.lower is model.upper and rows.lower is rows.upper, model.paid.size > 0
    for u in range(first, end):
        t, j = u + shift, np.int64(target[u])
        same = same and whom[successor[t]] == j * step.shape[0] + step[q, code[u]] and low[t] == lower[u]
        same = same and (plain or rows.upper[t] == model.upper[u]) and (not pays or rows.paid[t] == model.paid[u])
    return same


@kernel
def is_lift(model: ModelRows, initial: int, first: int, code: Array, table: RabinTable, made: LiftedRows) -> bool:
    """Whether a product is the lift of a model, rewards included.

    `first` is the column of `step` for the initial state's letter, `code` (T,) that for what is read with each transition.
    """
    if not is_labelled(model, initial, first, code, table, made):
        return False
    rows, state, memory, origin = made.rows, made.state, made.memory, made.origin
    memories, by_state = table.step.shape[0], model.state_reward.size > 0
    earns = by_state or model.choice_reward.size > 0 or model.paid.size > 0
    sink, whom = np.empty(memories, np.bool_), np.empty(state.size, np.int64)  # a state and a memory as one number
    for q in range(memories):
        sink[q] = is_sink(q, table)
    for i in range(state.size):
        whom[i] = np.int64(state[i]) * memories + memory[i]
    for i in range(state.size):
        s, q = state[i], memory[i]
        c, last = rows.state_ptr[i], rows.state_ptr[i + 1]
        if sink[q]:  # a reward is at its end there, or infinite, whatever is paid
            if last != c + 1 or sure_target(c, rows) != i:
                return False
            if not model.state_ptr[s] <= origin[c] < model.state_ptr[s + 1]:
                return False
            continue
        jumps = table.jump_ptr[q + 1] - table.jump_ptr[q]
        if last - c != model.state_ptr[s + 1] - model.state_ptr[s] + jumps or (jumps > 0 and earns):
            return False
        if by_state and rows.state_reward[i] != model.state_reward[s]:
            return False
        for b in range(model.state_ptr[s], model.state_ptr[s + 1]):
            if origin[c] != b or not is_lifted_row(b, c, q, model, rows, table.step, code, whom):
                return False
            c += 1
        for k in range(table.jump_ptr[q], table.jump_ptr[q + 1]):
            only, to = sure_target(c, rows), table.jump_to[k]
            if only < 0 or origin[c] != -1 or whom[only] != np.int64(s) * memories + to:
                return False
            if table.jump_ptr[to] != table.jump_ptr[to + 1]:
                return False
            c += 1
    return True


@kernel
def is_accepted(
    rows: ModelRows, memory: Array, table: RabinTable, goal: Array, used: Array, pair: Array, rank: Array
) -> bool:
    """Whether from every state of the goal (P,) the rows `used` (C,) have the automaton accept, by numbers and ranks (P,)."""
    state_ptr, choice_ptr, successor, lower = rows.state_ptr, rows.choice_ptr, rows.successor, rows.lower
    pairs, number = table.avoid.shape[0], np.empty(goal.size, np.int32)
    for i in range(goal.size):
        number[i] = pair[i] if goal[i] else pairs
        if goal[i] and not 0 <= pair[i] < pairs:
            return False
    for i in range(goal.size):
        k = number[i]
        if k == pairs:
            continue
        if table.avoid[k, memory[i]]:
            return False
        moves, closer = False, table.repeat[k, memory[i]]
        for c in range(state_ptr[i], state_ptr[i + 1]):
            if not used[c]:
                continue
            moves = True
            for t in range(choice_ptr[c], choice_ptr[c + 1]):
                j = successor[t]
                if lower[t] > 0.0 or possible(t, kind_of(c, rows), lower, rows.upper):
                    if number[j] > k:
                        return False
                    closer = closer or number[j] < k or rank[j] < rank[i]
        if not (moves and closer):
            return False
    return True


@kernel
def is_missed(
    rows: ModelRows, memory: Array, table: RabinTable, goal: Array, used: Array, together: bool, levels: Array
) -> bool:
    """Whether no end component outside the goal (P,) has the automaton accept, by levels (K, P) of at least 0.

    The rows `used` (C,) are the agent's to choose from; or a policy takes all of them now and then, where they count `together`.
    """
    state_ptr, choice_ptr, successor, lower = rows.state_ptr, rows.choice_ptr, rows.successor, rows.lower
    level = np.empty(goal.size, np.int64)
    for k in range(table.avoid.shape[0]):
        some = False
        for i in range(goal.size):
            inside = not goal[i] and not table.avoid[k, memory[i]]
            if inside and levels[k, i] < 0:
                return False
            level[i] = levels[k, i] if inside else -1  # outside U is below all
            some = some or (inside and table.repeat[k, memory[i]])
        for i in range(goal.size if some else 0):
            own, last = level[i], state_ptr[i + 1]
            c = state_ptr[i] if own >= 0 else last
            while c < last:  # one row, or all of them
                down, keeps, end = False, not table.repeat[k, memory[i]], last if together else c + 1
                while c < end:
                    for t in range(choice_ptr[c], choice_ptr[c + 1] if used[c] and not down else choice_ptr[c]):
                        there = level[successor[t]]
                        if there != own and (lower[t] > 0.0 or possible(t, kind_of(c, rows), lower, rows.upper)):
                            down, keeps = there < own, False
                            if down:
                                break
                    c += 1
                if not (down or keeps or (not together and not used[c - 1])):
                    return False
    return True


@kernel
def is_settled(memory: Array, table: RabinTable, letters: int, goal: Array) -> bool:
    """Whether the goal (P,) of a reward is where the first `letters` of the automaton, whichever comes, lead to acceptance."""
    memories = table.step.shape[0]
    done, grown = np.zeros(memories, np.bool_), True
    for q in range(memories):
        for k in range(table.avoid.shape[0]):
            done[q] = done[q] or (is_sink(q, table) and table.repeat[k, q] and not table.avoid[k, q])
    while grown:
        grown = False
        for q in range(memories):
            every = not done[q]
            for column in range(letters):
                every = every and done[table.step[q, column]]
            done[q] = done[q] or every
            grown = grown or every
    for i in range(goal.size):  # noqa: SIM110 - compiled
        if goal[i] != done[memory[i]]:
            return False
    return True
