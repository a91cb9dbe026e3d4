"""Exact policy iteration in rationals, for small components in which rounding leaves a bracket too wide.

Slow values. It starts from the strategies floating-point arithmetic found, which are almost always optimal already, so that one
elimination and one check of all rows settle the value beyond doubt. The rows are the model's own, as they are before anything
is divided or added up: where lower bounds sum to 1 or more, the row is ``lower / sum(lower)`` without rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from umdp.solver.kernels.structs import Players
    from umdp.solver.reduction.problem import Problem

__all__ = ["serve", "solve_exactly"]

Array = NDArray[Any]
Row = list[tuple[int, Fraction]]  # target and probability
Entry = tuple[int, Fraction, Fraction]  # target, lower and upper bound


def solve_exactly(
    problem: Problem,
    begin: int,
    end: int,
    known: dict[int, Fraction],
    row: Array,
    prob: Array,
    players: Players,
    stop: Callable[[], bool] = lambda: False,
) -> list[Fraction] | None:
    """Return the exact values of a component's states given those of its exits, `known`; None where no strategy is proper.

    `row` and `prob` are replaced by optimal ones. `stop` is asked now and then whether time is up, which ends in None as well.
    """
    agent_max, nature_max = players.agent_max, players.nature_max
    rows = _Rows(problem, begin, end, known, stop)
    taken = [int(r) for r in row[begin:end]]
    dist = {r: _near(rows.entries(r), _shares(problem, r, prob)) for r in taken}
    values = rows.evaluate(taken, dist)
    if values is None:
        # These strategies cannot leave: start over from some that can.
        taken = rows.leaving()
        dist = {r: _inside(rows.entries(r)) for r in taken}
        values = rows.evaluate(taken, dist)
    while values is not None:
        changed = False
        for r in taken:  # nature first
            if stop():
                return None
            best = rows.respond(r, values, nature_max)
            old, new = rows.worth(r, dist[r], values), rows.worth(r, best, values)
            if (new > old) if nature_max else (new < old):
                dist[r] = best
                changed = True
        if not changed:
            for s in range(end - begin):
                if stop():
                    return None
                own = values[s]
                for r in range(int(problem.rows.row_ptr[begin + s]), int(problem.rows.row_ptr[begin + s + 1])):
                    best = rows.respond(r, values, nature_max)
                    worth = rows.worth(r, best, values)
                    if (worth > own) if agent_max else (worth < own):
                        own, taken[s] = worth, r
                        dist[r] = best
                        changed = True
        if not changed:
            break
        values = rows.evaluate(taken, dist)
    if values is None:
        return None
    row[begin:end] = taken
    for r in taken:
        _write(problem, r, dist[r], prob)
    return values


@dataclass(eq=False)
class _Rows:
    """The rows of one component, in rationals."""

    problem: Problem
    begin: int
    end: int
    known: dict[int, Fraction]
    stop: Callable[[], bool]
    _entries: dict[int, list[Entry]] = field(default_factory=dict)

    def entries(self, r: int) -> list[Entry]:
        """Return the model's own entries of a row; a row that is one way out of an end component has just that."""
        if r not in self._entries:
            p, given = self.problem, self.problem.given
            c = int(p.origin[r])
            if given is None or p.stays is None or p.stays[c]:
                own = slice(*p.rows.entry_ptr[[r, r + 1]])
                listed = p.rows.target[own], p.rows.lower[own], p.rows.upper[own]
            else:
                own = slice(*given.choice_ptr[[c, c + 1]])
                listed = p.index[given.successor[own]], given.lower[own], given.upper[own]
            rows = zip(*(each.tolist() for each in listed), strict=True)
            self._entries[r] = [(t, Fraction(low), Fraction(high)) for t, low, high in rows]
        return self._entries[r]

    def leaving(self) -> list[int]:
        """Return a row for every state such that an exit is in reach from everywhere, if nature uses all successors."""
        p = self.problem
        taken = [int(r) for r in p.rows.row_ptr[self.begin : self.end]]
        away = set(range(self.begin, self.end))
        grown = True
        while away and grown:
            grown = False
            for s in sorted(away):
                for r in range(int(p.rows.row_ptr[s]), int(p.rows.row_ptr[s + 1])):
                    if any(q and t not in away for t, q in _inside(self.entries(r))):
                        taken[s - self.begin] = r
                        away.discard(s)
                        grown = True
                        break
        return taken

    def reward(self, r: int) -> Fraction:
        given = self.problem.given
        if given is None:
            return Fraction(float(self.problem.rows.reward[r]))
        return Fraction(float(given.reward[self.problem.origin[r]])) if given.reward.size else Fraction(0)

    def value(self, target: int, values: list[Fraction]) -> Fraction:
        return values[target - self.begin] if self.begin <= target < self.end else self.known[target]

    def respond(self, r: int, values: list[Fraction], nature_max: bool) -> Row:
        entries = self.entries(r)
        fixed = _fixed(entries)
        if fixed is not None:
            return fixed
        keys = [self.value(t, values) for t, _, _ in entries]
        return _serve(entries, sorted(range(len(entries)), key=lambda i: keys[i], reverse=nature_max))

    def worth(self, r: int, dist: Row, values: list[Fraction]) -> Fraction:
        return self.reward(r) + sum((p * self.value(t, values) for t, p in dist if p), Fraction(0))

    def evaluate(self, taken: list[int], dist: dict[int, Row]) -> list[Fraction] | None:
        """Solve the Markov chain of the given strategies by sparse elimination; None where it cannot leave the component."""
        n = len(taken)
        matrix: list[dict[int, Fraction]] = []  # row s: {column: entry of I - P}, the right-hand side in column n
        for s, r in enumerate(taken):
            line: dict[int, Fraction] = {s: Fraction(1), n: self.reward(r)}
            for t, p in dist[r]:
                if self.begin <= t < self.end:
                    line[t - self.begin] = line.get(t - self.begin, Fraction(0)) - p
                elif p:
                    line[n] += p * self.known[t]
            matrix.append(line)
        # I - P is an M-matrix: no pivoting is needed, and a pivot is 0 only where a set of states cannot be left.
        for k in range(n):
            lead = matrix[k].pop(k, Fraction(0))
            if lead <= 0 or self.stop():
                return None
            pivot = {j: v / lead for j, v in matrix[k].items() if v}
            matrix[k] = pivot
            for i in range(k + 1, n):
                factor = matrix[i].pop(k, None)
                if factor:
                    if self.stop():
                        return None
                    line = matrix[i]
                    for j, v in pivot.items():
                        line[j] = line.get(j, Fraction(0)) - factor * v
        values = [Fraction(0)] * n
        for k in range(n - 1, -1, -1):
            if self.stop():
                return None
            line = matrix[k]
            values[k] = line.get(n, Fraction(0)) - sum((v * values[j] for j, v in line.items() if j < n), Fraction(0))
        return values


def _fixed(entries: list[Entry]) -> Row | None:
    """Return the distribution of a row without freedom: its bounds, normalised."""
    for side in (1, 2):
        total = sum((e[side] for e in entries), Fraction(0))
        if (total >= 1) if side == 1 else (total <= 1):
            return [(e[0], Fraction(e[side]) / total) for e in entries]
    return None


def _inside(entries: list[Entry]) -> Row:
    """Return a distribution that uses every entry the bounds allow."""
    fixed = _fixed(entries)
    if fixed is not None:
        return fixed
    rest = 1 - sum((low for _, low, _ in entries), Fraction(0))
    room = sum((high - low for _, low, high in entries), Fraction(0))
    return [(t, low + rest * (high - low) / room) for t, low, high in entries]


def _shares(problem: Problem, r: int, prob: Array) -> dict[int, float]:
    """Return what a row gives to every target, in floating-point numbers."""
    shares: dict[int, float] = {}
    for t in range(int(problem.rows.entry_ptr[r]), int(problem.rows.entry_ptr[r + 1])):
        shares[int(problem.rows.target[t])] = shares.get(int(problem.rows.target[t]), 0.0) + float(prob[t])
    return shares


def _near(entries: list[Entry], shares: dict[int, float]) -> Row:
    """Return the vertex next to given shares: targets with a larger part of their room are served first."""
    fixed = _fixed(entries)
    if fixed is not None:
        return fixed

    def served(i: int) -> float:
        target, low, high = entries[i]
        room = float(high - low)
        return (shares.get(target, 0.0) - float(low)) / room if room > 0 else 1.0

    return _serve(entries, sorted(range(len(entries)), key=served, reverse=True))


def serve(lower: list[Fraction], upper: list[Fraction], order: Iterable[int]) -> list[Fraction]:
    """Return the distribution that hands out, in the order given, what lower bounds leave."""
    share = list(lower)
    rest = 1 - sum(share, Fraction(0))
    for i in order:
        take = min(rest, upper[i] - lower[i])
        share[i] += take
        rest -= take
    return share


def _serve(entries: list[Entry], order: Iterable[int]) -> Row:
    share = serve([low for _, low, _ in entries], [high for _, _, high in entries], order)
    return [(e[0], p) for e, p in zip(entries, share, strict=True)]


def _write(problem: Problem, r: int, dist: Row, prob: Array) -> None:
    """Write a distribution over the model's entries into those of a row, which may have been merged by target."""
    if problem.plain:
        return
    given: dict[int, Fraction] = {}
    for t, p in dist:
        given[t] = given.get(t, Fraction(0)) + p
    own = range(int(problem.rows.entry_ptr[r]), int(problem.rows.entry_ptr[r + 1]))
    if problem.rows.slack[r] <= 0.0:  # the row has lost its self-loop: it is normalised already
        return
    for t in own:
        target = int(problem.rows.target[t])
        left = given.get(target, Fraction(0))
        low, high = Fraction(float(problem.rows.lower[t])), Fraction(float(problem.rows.upper[t]))
        later = sum(
            (Fraction(float(problem.rows.lower[u])) for u in own if u > t and problem.rows.target[u] == target),
            Fraction(0),
        )
        take = min(max(left - later, low), high)
        prob[t] = float(take)
        given[target] = left - take
