"""What the judge may confirm, and what it must, worked out in rationals from the theorems;

Nothing here imports the package. Rows are lists of vertices (`oracles.exact`), inequalities are compared exactly, and orders are
fixed points over the graph. A case is read twice. Read *exactly*, a state that does not satisfy its theorem must be refused. Read
*with room*, inequalities must hold by more than any rounding, or all their terms be 0: a state that does so must be confirmed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from oracles.exact import vertices

Exact = Fraction | float
Vector = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
ROOM = Fraction(1, 10**11)  # relative to the terms of a row: far above rounding, far below what random cases differ by
FAILS, TIES, STRICT = 0, 1, 2


@dataclass(frozen=True)
class Line:
    """One row of a model, exact: its vertices, where each transition leads, what it pays, and what the choice earns."""

    successor: tuple[int, ...]
    points: tuple[tuple[Fraction, ...], ...]
    paid: tuple[Fraction, ...]
    earned: Fraction

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The transitions that some distribution uses."""
        return tuple(t for t in range(len(self.successor)) if any(p[t] > 0 for p in self.points))

    def leads(self, to: set[int]) -> bool:
        """Whether some transition may lead into a set."""
        return any(self.successor[t] in to for t in self.edges)

    def stays(self, inside: set[int]) -> bool:
        """Whether all transitions lead into a set."""
        return all(self.successor[t] in inside for t in self.edges)

    def can_stay(self, inside: set[int]) -> bool:
        """Whether some distribution leads nowhere but into a set."""
        return any(all(p[t] == 0 or self.successor[t] in inside for t in self.edges) for p in self.points)

    def optima(self, keys: list[Exact], largest: bool) -> tuple[Exact, list[tuple[Fraction, ...]]]:
        """Return nature's optimum of ``earned + sum p key`` and the vertices that attain it."""
        if any(keys[t] == math.inf for t in self.edges):
            return math.inf, []
        used = [(p, self.earned + sum(p[t] * keys[t] for t in self.edges)) for p in self.points]
        best = (max if largest else min)(worth for _, worth in used)
        return best, [p for p, worth in used if worth == best]


@dataclass(frozen=True)
class Arrays:
    """A model as arrays, in the order of the judge's `ModelRows`."""

    state_ptr: Any
    choice_ptr: Any
    successor: Any
    lower: Any
    upper: Any
    state_reward: Any
    choice_reward: Any
    paid: Any

    def fields(self) -> tuple[Any, ...]:
        """Return the arrays, as a model has them."""
        given = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return tuple({**given, "successor": np.asarray(self.successor, np.int32)}.values())

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.state_ptr) - 1

    @cached_property
    def lines(self) -> list[list[Line]]:
        """The rows of every state."""
        out = []
        for s in range(self.states):
            rows = []
            for c in range(self.state_ptr[s], self.state_ptr[s + 1]):
                part = range(self.choice_ptr[c], self.choice_ptr[c + 1])
                row = tuple(
                    (int(self.successor[t]), Fraction(float(self.lower[t])), Fraction(float(self.upper[t])))
                    for t in part
                )
                earned = sum(
                    (Fraction(float(r[k])) for r, k in ((self.state_reward, s), (self.choice_reward, c)) if r.size),
                    Fraction(0),
                )
                paid = tuple(Fraction(float(self.paid[t])) if self.paid.size else Fraction(0) for t in part)
                rows.append(Line(tuple(t for t, _, _ in row), vertices(row), paid, earned))
            out.append(rows)
        return out

    @cached_property
    def can_cut(self) -> bool:
        """Whether nature may set the probability of a transition to 0 that it may also use."""
        return any(p[t] == 0 for rows in self.lines for line in rows for t in line.edges for p in line.points)


def exact(x: Vector) -> list[Exact]:
    """Return the sums that a vector in two parts stands for."""
    return [float(b) if math.isinf(b) else Fraction(float(b)) + Fraction(float(o)) for b, o in zip(*x, strict=True)]


def size_of(line: Line, x: Vector, s: int) -> Fraction:
    """Return the size of the largest terms of a row, 0 if all of them are."""
    base, offset = x
    parts = [abs(line.earned)]
    for t in line.edges:
        j = line.successor[t]
        if not math.isinf(base[j]):
            parts.append(
                abs(Fraction(float(base[j])) - Fraction(float(base[s])))
                + abs(Fraction(float(offset[j])) - Fraction(float(offset[s])))
                + abs(line.paid[t])
            )
    return sum(parts, Fraction(0))


@dataclass(frozen=True)
class Case:
    """A model, a question, two vectors, a policy and levels of traps: all that `examine` is shown."""

    arrays: Arrays
    reward: bool
    total: bool
    goal: Any
    through: Any
    nature_max: bool
    all_below: bool
    all_above: bool
    top: float
    low: Vector
    high: Vector
    choice: Any
    trap: Any
    name: str = field(default="", compare=False)

    @property
    def bottom(self) -> float:
        """The least value."""
        return 0.0 if self.reward else self.top - 1.0

    def rows(self, s: int, below: bool) -> list[Line]:
        """Return the rows that count on a side."""
        lines = self.arrays.lines[s]
        if self.all_below if below else self.all_above:
            return lines
        own = self.choice[s] - self.arrays.state_ptr[s]
        return [lines[own]] if 0 <= own < len(lines) else []

    def verdict(self, line: Line, s: int, below: bool, room: bool) -> tuple[int, list[tuple[Fraction, ...]]]:
        """Return whether one inequality holds, and nature's best answers."""
        x = self.low if below else self.high
        values = exact(x)
        keys: list[Exact] = [
            math.inf if values[j] == math.inf else values[j] - values[s] + paid
            for j, paid in zip(line.successor, line.paid, strict=True)
        ]
        gain, best = line.optima(keys, self.nature_max)
        ahead = gain if below else -gain
        size = size_of(line, x, s)
        if ahead > (ROOM * size if room else 0):
            return STRICT, best
        if ahead == 0 and (size == 0 or not room):
            return TIES, best
        return FAILS, best

    def leads_on(self, line: Line, best: list[tuple[Fraction, ...]], settled: set[int], one: bool, room: bool) -> bool:
        """Whether nature's best answers (with `one`: some) lead to a settled state."""
        reached = [sum((p[t] for t in line.edges if line.successor[t] in settled), Fraction(0)) for p in best]
        if one:
            return any(p > 0 for p in reached)
        return all(p > (Fraction(1, 10**8) if room else 0) for p in reached)

    def ranked(self, below: bool, room: bool) -> set[int]:
        """Return the states that pass on the side that needs an order, as far as that goes."""
        x = exact(self.low if below else self.high)
        one = self.nature_max == below
        free = {s for s in range(len(x)) if not self.goal[s] and self.through[s]}
        settled = {s for s in range(len(x)) if self.goal[s]}
        if below:
            settled |= {s for s in free if self._at_most(self.low, s, self.bottom, room)}
        todo = {s for s in free - settled if x[s] != math.inf}
        verdicts = {s: [(line, *self.verdict(line, s, below, room)) for line in self.rows(s, below)] for s in todo}
        at_top = {
            s for s in range(len(x))
            if not self.reward and x[s] == self.top and not (room and (self.low if below else self.high)[1][s])
        }  # fmt: skip
        grown = True
        while grown:
            grown = False
            for s in sorted(todo - settled):
                others = settled - {s}
                passes = bool(verdicts[s]) and all(
                    how == STRICT or (how == TIES and self.leads_on(line, best, others, one, room))
                    for line, how, best in verdicts[s]
                )
                by_graph = (
                    s in at_top
                    and bool(verdicts[s])
                    and all(line.stays(at_top) and line.leads(others) for line, _, _ in verdicts[s])
                )
                if room and s in at_top and all(line.stays(at_top) for line, _, _ in verdicts[s]):
                    passes = by_graph  # where the graph says enough, it alone is asked
                if passes or by_graph:
                    settled.add(s)
                    grown = True
        return settled

    @staticmethod
    def _at_most(x: Vector, s: int, level: float, room: bool) -> bool:
        if math.isinf(x[0][s]):
            return bool(x[0][s] < 0)
        base, offset = Fraction(float(x[0][s])), Fraction(float(x[1][s]))
        if not room:
            return base + offset <= Fraction(level)
        away = base - Fraction(level)
        return (away <= 0 and offset <= 0) or away + offset <= -ROOM * abs(away)

    def _within(self, s: int, level: float, below: bool, room: bool) -> bool:
        if below:
            return self._at_most(self.low, s, level, room)
        return self._at_most((-self.high[0], -self.high[1]), s, -level, room)

    def held(self, s: int, side: bool) -> bool:
        """Whether the level of a trap is right: rows that count lead further down, or stay."""
        own = int(self.trap[s])
        down = {j for j in range(self.arrays.states) if 0 <= self.trap[j] < own}
        same = {j for j in range(self.arrays.states) if self.trap[j] == own}
        helped = self.reward and self.nature_max
        every = self.all_below if side else self.all_above
        rows = self.rows(s, side) if self.reward else self.arrays.lines[s]
        found = [line.leads(down) or line.stays(same) or (helped and line.can_stay(same)) for line in rows]
        return all(found) if every else any(found)

    def arrives(self) -> set[int]:
        """Return the states from which, by the graph, the goal is reached surely through finite bounds."""
        finite = {s for s in range(self.arrays.states) if self.high[0][s] < math.inf}
        settled = {s for s in range(self.arrays.states) if self.goal[s]}
        for _ in range(self.arrays.states):
            settled |= {
                s for s in finite
                if (rows := self.rows(s, below=False)) and all(line.stays(finite) and line.leads(settled) for line in rows)
            }  # fmt: skip
        return settled

    def rich(self) -> set[int]:
        """Return the states from which payments go on for ever with positive probability, by the levels given."""
        level = {s: int(v) for s, v in enumerate(self.trap) if v >= 0}
        settled: set[int] = set()
        for _ in range(self.arrays.states):
            for s, own in level.items():
                down = {j for j, other in level.items() if other < own}
                same = {j for j, other in level.items() if other == own}
                rows = self.rows(s, below=True)
                if rows and all(
                    line.leads(down)
                    or (
                        line.stays(down | same)
                        and (line.earned > 0 or any(line.paid[t] > 0 for t in line.edges) or line.leads(settled & same))
                    )
                    for line in rows
                ):
                    settled.add(s)
        return settled

    def refused(self, room: bool) -> tuple[set[int], set[int]]:
        """Return the states that do not satisfy their theorem from below, and from above."""
        states = range(self.arrays.states)
        below, above = set(), set()
        from_above = self.reward and not self.total
        cuts = self.arrays.can_cut
        cutting = cuts and not self.nature_max
        trapping = from_above or (cutting and not self.reward)
        ordered = self.ranked(not from_above, room)
        for s in states:
            if self.goal[s] or not self.through[s]:
                level = self.top if self.goal[s] else self.bottom
                below |= set() if self._within(s, level, True, room) else {s}
                above |= set() if self._within(s, level, False, room) else {s}
                if trapping and self.goal[s] and self.trap[s] >= 0:
                    (below if from_above else above).add(s)
                continue
            if not self._within(s, self.bottom, False, room):
                above.add(s)
            if not self.reward and not self._within(s, self.top, True, room):
                below.add(s)
            for side, mine in ((True, below), (False, above)):
                if not self.rows(s, side):
                    mine.add(s)
            if self.total and cuts:  # nothing is known but that nobody earns less than nothing, or more than u >= T u
                below |= set() if self._within(s, self.bottom, True, room) else {s}
                above |= set() if self.nature_max else {s}
            x, y = (self.high, self.low) if from_above else (self.low, self.high)
            if x[0][s] < math.inf and s not in ordered:
                (above if from_above else below).add(s)
            # The other side.
            side = from_above
            mine = below if side else above
            if trapping and self.trap[s] >= 0 and not self.held(s, side):
                mine.add(s)
            if self._within(s, 0.0, True, room) if side else self._trivial_above(s, room):
                continue
            if trapping and self.trap[s] < 0 and (not self.reward or self.low[0][s] == math.inf):
                mine.add(s)
            if y[0][s] < math.inf and any(self.verdict(line, s, side, room)[0] == FAILS for line in self.rows(s, side)):
                mine.add(s)
        if cutting and from_above:
            settled = self.arrives()
            above |= {s for s in states if self.high[0][s] < math.inf and s not in settled}
        if self.total:
            rich = self.rich()
            below |= {s for s in states if (self.low[0][s] == math.inf or self.trap[s] >= 0) and s not in rich}
        return below, above

    def _trivial_above(self, s: int, room: bool) -> bool:
        if self.high[0][s] == math.inf:
            return True
        return not self.reward and self._within(s, self.top, False, room)

    @cached_property
    def must_refuse(self) -> tuple[set[int], set[int]]:
        """The states that the judge may not confirm, on each side."""
        return self.refused(room=False)

    @cached_property
    def may_refuse(self) -> tuple[set[int], set[int]]:
        """The states that the judge need not confirm: all, where something is not even a bound."""
        everything = set(range(self.arrays.states))
        for s in everything:
            inside = self.through[s] and not self.goal[s]
            known = (self.all_below and self.all_above) or (self.rows(s, True) and self.rows(s, False))
            if inside and (
                not known
                or not self._within(s, self.bottom, False, True)
                or not (self.reward or self._within(s, self.top, True, True))
            ):
                return everything, everything
        return self.refused(room=True)
