"""The arrays that travel together: a system's rows, what is known of its unknowns, work space, and what is asked for.

All are NamedTuples, which compiled functions take as they are. Kernels bind the fields they use to names before a loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.model.structure import read_only

__all__ = [
    "Block",
    "ChainRows",
    "ChoiceRows",
    "Eliminated",
    "EliminationOptions",
    "EliminationSpace",
    "EliminationTask",
    "Players",
    "Quotient",
    "RowSpace",
    "Section",
    "SingleOptions",
    "SweepOptions",
    "SweepSpace",
    "Sweeping",
    "SystemRows",
    "Unknowns",
    "chain_of",
    "eliminated",
    "inherit",
    "position",
    "read",
    "row_space",
]

Array = NDArray[Any]


class SystemRows(NamedTuple):
    """A system of Bellman equations over n unknowns and two exits; a `Problem` has more about it.

    Attributes
    ----------
    comp_ptr : (components+1,) the unknowns of every strongly connected component
    row_ptr, entry_ptr : (n+1,), (rows+1,) the rows of every unknown, the entries of every row
    target, lower, upper : (entries,) int32, float64, float64
    slack, reward : (rows,) what lower bounds leave to hand out, at most 0 where nature has no choice; what a step earns
    order : (entries,) the entries of each row in the order in which nature served them last; empty where it never has a choice
    """

    comp_ptr: Array
    row_ptr: Array
    entry_ptr: Array
    target: Array
    lower: Array
    upper: Array
    slack: Array
    reward: Array
    order: Array


class ChoiceRows(NamedTuple):
    """The choices of a model, each of them a row.

    Attributes
    ----------
    state_ptr, choice_ptr, successor : (S+1,), (C+1,), (T,)
    lower, upper : (T,) bounds; one array where nature has no choice
    reward : (C,) what a step earns, or empty
    """

    state_ptr: Array
    choice_ptr: Array
    successor: Array
    lower: Array
    upper: Array
    reward: Array

    @classmethod
    def of(cls, *arrays: Array) -> Self:
        """Return the rows as kernels are given them; what is one array stays one."""
        shown = {id(each): read_only(each) for each in arrays}
        return cls(*(shown[id(each)] for each in arrays))


class Quotient(NamedTuple):
    """How the states of a model become unknowns of a system.

    Attributes
    ----------
    member_ptr, members : (n+1,) the states that became each unknown; a last member that belongs to none may follow
    unknown : (S,) the unknown, or the exit, that every state became
    usable, stays : (C,) the choices left, and those among them that may stay within a collapsed end component
    """

    member_ptr: Array
    members: Array
    unknown: Array
    usable: Array
    stays: Array


class Players(NamedTuple):
    """Which way the players pull."""

    agent_max: bool
    nature_max: bool


class ChainRows(NamedTuple):
    """The Markov chain of two strategies: of a system's rows, the one that every unknown takes, with nature's distribution.

    Attributes
    ----------
    entry_ptr, target, reward : as in `SystemRows`
    row : (n,) the row every unknown takes
    prob : (entries,) nature's distribution on the rows taken
    """

    entry_ptr: Array
    target: Array
    reward: Array
    row: Array
    prob: Array


class Unknowns(NamedTuple):
    """What is found of the unknowns.

    Attributes
    ----------
    x, relative_error : (n+2,) values and their relative errors, those of the exits included
    row : (n,) the row every unknown takes
    prob : (entries,) nature's distribution on the rows taken
    """

    x: Array
    relative_error: Array
    row: Array
    prob: Array


class RowSpace(NamedTuple):
    """Work space for one row, (widest,) each.

    Attributes
    ----------
    key : what nature compares: the value each entry leads to, or a difference
    size : what the rounding of a key is relative to
    share : nature's distribution
    """

    key: Array
    size: Array
    share: Array


class Section(NamedTuple):
    """The unknowns of a system from `begin` to `end`, work space for one of their rows, and which way the players pull."""

    begin: int
    end: int
    rows: SystemRows
    space: RowSpace
    players: Players


def row_space(widest: int) -> RowSpace:
    """Return new work space for rows of so many entries."""
    return RowSpace(np.empty(widest), np.empty(widest), np.empty(widest))


class SingleOptions(NamedTuple):
    """What is asked for of unknowns that are a component of their own.

    Attributes
    ----------
    wanted : how far bounds may be apart, relatively
    tie : a relative difference between rows that does not count
    ceiling : what no value exceeds
    subnormal : whether probabilities may have lost digits to divisions
    """

    wanted: float
    tie: float
    ceiling: float
    subnormal: bool


class SweepOptions(NamedTuple):
    """How components are swept.

    Attributes
    ----------
    proper : whether the rows taken are those of a policy to start from
    heads_out : whether to look for rows that lead out first
    wanted : how far bounds may be apart, relatively
    ceiling : what no value exceeds
    """

    proper: bool
    heads_out: bool
    wanted: float
    ceiling: float


class SweepSpace(NamedTuple):
    """Work space of sweeps.

    Attributes
    ----------
    row : for one row
    above, below : (n+2,) bounds
    tail : (n+2,) zeros
    proof : (n,) rows that prove a bound
    counts : (policy evaluations and sweeps, components left loose)
    watch : the flag of a clock
    """

    row: RowSpace
    above: Array
    below: Array
    tail: Array
    proof: Array
    counts: Array
    watch: Array


class Sweeping(NamedTuple):
    """What sweeps work on: the system, what is found of its unknowns, which way the players pull, how, and work space."""

    rows: SystemRows
    found: Unknowns
    players: Players
    options: SweepOptions
    space: SweepSpace


class EliminationOptions(NamedTuple):
    """How components are solved by elimination.

    Attributes
    ----------
    warm : whether the rows taken are a policy to start from
    informed : whether the values are those of a problem like this one, and tell what nature answers
    subnormal : whether probabilities may have lost digits to divisions
    wanted : how far bounds may be apart, relatively; infinity where no proof is asked for
    """

    warm: bool
    informed: bool
    subnormal: bool
    wanted: float


class Block(NamedTuple):
    """A component at work: its first unknown, how many there are, and the number among them of the reference state.

    By *position* the reference state comes first: it has changed places with the state that does.
    """

    begin: int
    n: int
    ref: int


class Eliminated(NamedTuple):
    """The chain of a component, eliminated; all by position, (m,) but for the matrix.

    Attributes
    ----------
    matrix : (m, m) with what probability states lead to others; multipliers in its upper part
    out, gone, load : with what probability states lead on at all, or out of the component; what they collect
    c, e, h : what is collected before the reference state or an exit is reached, and the probabilities that the exit comes first,
        or the reference state
    value : what states are worth
    first : the columns before which rows are empty
    again, part, other : work space
    """

    matrix: Array
    out: Array
    gone: Array
    load: Array
    c: Array
    e: Array
    h: Array
    value: Array
    first: Array
    again: Array
    part: Array
    other: Array


class EliminationSpace(NamedTuple):
    """Work space of elimination.

    Attributes
    ----------
    made : the chain of the component at hand, eliminated; it has room for the largest component
    row : for one row
    tail : (n+2,) zeros
    allowed, gains, sizes : (rows,); rows one may take (all true), what each gains by a step, what that is rounded relative to
    low, high : (3, n+2) bounds, and the same as sums of two numbers, not a number where there are none
    other_row, other_prob : (n,), (entries,) another strategy
    """

    made: Eliminated
    row: RowSpace
    tail: Array
    allowed: Array
    gains: Array
    sizes: Array
    low: Array
    high: Array
    other_row: Array
    other_prob: Array


class EliminationTask(NamedTuple):
    """What elimination works on.

    Attributes
    ----------
    rows, found, players : the system, what is found of its unknowns, and which way the players pull
    options, space : how, and work space
    counts : (policy evaluations, components left loose)
    watch : the flag of a clock
    """

    rows: SystemRows
    found: Unknowns
    players: Players
    options: EliminationOptions
    space: EliminationSpace
    counts: Array
    watch: Array


def eliminated(size: int) -> Eliminated:
    """Return room for a chain of so many states."""
    return Eliminated(np.empty((size, size)), *np.empty((11, size)))


@kernel(forceinline=True, allocates=False)
def position(i: int, ref: int) -> int:
    """Return the position of the state with a number, or the number of the state at a position: 0 and `ref` change places."""
    return 0 if i == ref else (ref if i == 0 else i)


@kernel(inline="always")
def chain_of(rows: SystemRows, row: Array, prob: Array) -> ChainRows:
    """Return the chain of the rows taken and nature's distributions on them."""
    return ChainRows(rows.entry_ptr, rows.target, rows.reward, row, prob)


@kernel(forceinline=True, allocates=False)
def inherit(begin: int, end: int, rows: SystemRows, relative_error: Array) -> tuple[float, bool]:
    """Return the largest error of the values a component reads, and whether it has edges within."""
    target, inherited, loops = rows.target, 0.0, False
    for t in range(rows.entry_ptr[rows.row_ptr[begin]], rows.entry_ptr[rows.row_ptr[end]]):
        j = target[t]
        if begin <= j < end:
            loops = True
        else:
            inherited = max(inherited, relative_error[j])
    return inherited, loops


@kernel(forceinline=True, allocates=False)
def read(begin: int, end: int, rows: SystemRows, x: Array, bound: Array) -> None:
    """Copy into `bound` the values a component reads."""
    target = rows.target
    for t in range(rows.entry_ptr[rows.row_ptr[begin]], rows.entry_ptr[rows.row_ptr[end]]):
        if target[t] < begin or target[t] >= end:
            bound[target[t]] = x[target[t]]
