"""Rows of recorded data, decoded: which transition each one is, where trajectories begin, and what is wrong."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.source.logs.rejected import Cause, Fault
from umdp.source.lookup import Memo

__all__ = ["Carry", "Chunk", "Outcome", "Rows", "Triple", "decode"]

Array = NDArray[Any]
Triple = tuple[Any, Any, Any]
Outcome = tuple[Any, ...]


@dataclass(frozen=True)
class Carry:
    """What one row must know of the row before it: its trajectory, where it ended (-1: unknown), whether that was all."""

    trajectory: Any = None
    successor: int = -1
    over: bool = True


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows as a reader gives them.

    Attributes
    ----------
    size : how many, malformed and blank ones included
    index : (m,) which of them are well-formed, increasing
    triples : (m,) state, action and next state of each of those
    names : (m,) the names of their trajectories, None where a row has none; None without such a column
    over : (m,) whether a row says that its recording ends with it
    final : (m,) whether it says that its trajectory is over for good
    malformed : by row, what is wrong; in increasing order
    extra : what other columns that are asked for say, (m,) each
    where : what a row is called in messages, such as "line 7", and its line number where it has one
    raw : a row as it was found
    position : what the reader needs to go on after that many of these rows
    within : what tells trajectories of several files apart, in front of their names
    """

    size: int
    index: Array
    triples: Iterable[Triple]
    names: Sequence[Any] | None
    over: Array
    final: Array
    malformed: Mapping[int, Fault]
    extra: Sequence[Sequence[Any]]
    where: Callable[[int], tuple[str, int | None]]
    raw: Callable[[int], Any]
    position: Callable[[int], dict[str, int]]
    within: str = ""

    def codes(self, memo: Memo) -> Array:
        """Return what `Memo` says of each well-formed row, shape (m,)."""
        return np.fromiter(map(memo.__getitem__, self.triples), np.int64, self.index.size)

    def steps(self) -> list[Triple]:
        """Return state, action and next state of each well-formed row."""
        return list(self.triples)

    def outcomes(self, steps: Sequence[Triple]) -> Iterable[Outcome]:
        """Return the steps with whether they are final and what other columns say; those that are alike may be returned once."""
        for step, *more in zip(steps, self.final.tolist(), *self.extra, strict=True):
            yield (*step, *more)

    @cached_property
    def named(self) -> Array:
        """Which well-formed rows name their trajectory, shape (m,)."""
        if self.names is None or None not in self.names:
            return np.full(self.index.size, self.names is not None)
        return np.fromiter((name is not None for name in self.names), np.bool_, self.index.size)

    @property
    def changes(self) -> Array:
        """Whether the name of a trajectory differs from that of the row before, shape (m-1,)."""
        most = max(self.index.size - 1, 0)
        if self.names is None:
            return np.zeros(most, np.bool_)
        return np.fromiter(map(operator.ne, self.names[1:], self.names), np.bool_, most)

    def trajectories(self, rows: Sequence[int]) -> list[Any]:
        """Return the names of the trajectories of some of the m rows."""
        own = [None if self.names is None else self.names[row] for row in rows]
        return [f"{self.within}{name}" if self.within and name is not None else name for name in own]


@dataclass(frozen=True, eq=False)
class Rows:
    """Decoded rows, joined to each other.

    Attributes
    ----------
    transition : (n,) the transition each row is; -1 where there is none, or none that may be counted
    begins : (n,) whether a trajectory begins with a row
    last : (n,) whether a trajectory is known to end with a row
    bad, reasons : rows that must not be counted, in increasing order, and why
    unlisted : those of them that the graph does not list
    scattered : whether rows of one trajectory stand apart from each other
    ends : (m,) the state in which each well-formed row ended, -1 where it is unknown
    chunk, before : what was decoded, and what came before it
    """

    transition: Array
    begins: Array
    last: Array
    bad: list[int]
    reasons: Mapping[int, Fault]
    unlisted: Set[int]
    scattered: bool
    ends: Array
    chunk: Chunk
    before: Carry

    def carry(self, taken: int) -> Carry:
        """Return what the row after the first `taken` ones must know."""
        chunk = self.chunk
        well = int(np.searchsorted(chunk.index, taken))
        at = int(chunk.index[well - 1]) if well else -1
        torn = any(at < row < taken for row in chunk.malformed)
        if well == 0:
            return Carry(self.before.trajectory, -1, self.before.over) if torn else self.before
        name = chunk.trajectories([well - 1])[0]
        return Carry(name, -1 if torn else int(self.ends[well - 1]), bool(self.last[at]))


def decode(chunk: Chunk, memo: Memo, before: Carry) -> Rows:
    """Return the rows of a chunk, each joined to the one before it.

    A row contradicts its trajectory if it does not start where the row before it ended, unless one that could not be read
    stands between them. A row that does not name its trajectory begins a new one instead.
    """
    lookup, index, codes = memo.lookup, chunk.index, chunk.codes(memo)
    graph = lookup.graph
    listed = codes >= 0
    known = np.where(listed, codes, 0)
    start = np.where(listed, lookup.start[known], -1)
    ends = np.where(listed, graph.successor[known], -1).astype(np.int64)
    reasons, unlisted = dict(chunk.malformed), set[int]()
    if graph.rest is not None:
        ends[ends == graph.rest] = -1  # wherever such a row really led, the next one may start there
    for row in np.flatnonzero(~listed).tolist():
        place = memo.failed[-1 - int(codes[row])]
        start[row], ends[row] = place.state, place.successor
        reasons[int(index[row])] = Fault(place.reason, Cause.EMPTY if place.nowhere else Cause.OTHER)
        if not place.nowhere:  # what it does not say is no outcome by which it could have been left out
            unlisted.add(int(index[row]))
    memo.failed.clear()

    unread = np.searchsorted(np.fromiter(chunk.malformed, np.int64, len(chunk.malformed)), index)
    previous = np.where(_after(unread, 0) == unread, _after(ends, before.successor), -1)
    apart = (previous >= 0) & (start >= 0) & (previous != start)
    begins = _after(chunk.over, before.over) | (apart & ~chunk.named)
    if index.size:
        begins[0] |= chunk.trajectories([0])[0] != before.trajectory
        begins[1:] |= chunk.changes
    torn = apart & ~begins
    for row in np.flatnonzero(torn).tolist():
        reasons.setdefault(
            int(index[row]),
            Fault(
                f"the row starts in state {graph.state_name(int(start[row]))}, but the row before it in its trajectory ended "
                f"in state {graph.state_name(int(previous[row]))}",
                Cause.CONTRADICTS,
            ),
        )
    names = [] if chunk.over.any() else chunk.trajectories(np.flatnonzero(begins & chunk.named).tolist())
    return Rows(
        _spread(np.where(listed & ~torn, codes, -1), chunk, -1),
        _spread(begins, chunk, False),
        _spread(chunk.over, chunk, False),
        sorted(reasons),
        reasons,
        unlisted,
        len(set(names)) < len(names),
        ends,
        chunk,
        before,
    )


def _after(values: Array, first: Any) -> Array:
    """Return what stands before each value."""
    shifted = np.empty_like(values)
    shifted[1:] = values[:-1]
    shifted[:1] = first
    return shifted


def _spread(values: Array, chunk: Chunk, fill: Any) -> Array:
    if chunk.index.size == chunk.size:
        return values
    spread = np.full(chunk.size, fill, dtype=values.dtype)
    spread[chunk.index] = values
    return spread
