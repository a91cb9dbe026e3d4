"""Strategy iteration for the exact value of the undecided part: where proofs come from.

One side wants the goal reached (the maximiser of a probability, the minimiser of a reward) and *leads*: its strategy is
improved, strictly, against the other's best response. Each of the two players, agent and nature, is on one of the sides. The
best response finds on the graph where a play can be trapped, and is policy iteration elsewhere. Its Markov chains are solved in
rationals by elimination without fractions, component by component.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from operator import gt, lt

import numpy as np

from umdp.solver.kernels.graph_search import components
from umdp.verify.induction import Arena
from umdp.verify.rationals import Number, Vector, vector

__all__ = ["Game", "Outcome", "Picks"]

Picks = dict[int, tuple[int, list[int]]]
ROUNDS = 1000


@dataclass(frozen=True)
class Outcome:
    """The value of every state, the choices that attain it, and how far down a trap each infinite state lies."""

    value: list[Number]
    choice: dict[int, int]
    trap: list[int]


class Game:
    """The undecided states of an arena with some of their choices; `policy` leaves each state one."""

    def __init__(self, arena: Arena, policy: list[int] | None = None) -> None:
        self.arena = arena
        self.states = [s for s in range(arena.model.states) if arena.open[s]]
        usable = arena.decided.usable
        self.rows = {
            s: [c for c in arena.model.of(s) if usable[c]] if policy is None else [policy[s]] for s in self.states
        }
        self.rewards = arena.asked.kind == "R"
        self.agent_leads = arena.asked.agent_max != self.rewards
        self.nature_leads = arena.asked.nature_max != self.rewards
        self.choice = {s: rows[0] for s, rows in self.rows.items()}
        self.answer: dict[int, list[int]] = {}
        if self.nature_leads:
            self.answer = {c: self._any(c) for rows in self.rows.values() for c in rows}
        self.trap = [-1] * arena.model.states
        self.infinite: set[int] = set()

    def run(self) -> Outcome:
        """Return the value of the game."""
        if self.rewards:
            self.find_traps()
        for _ in range(ROUNDS):
            value, choice = self._respond()
            if not self._lead(value):
                break
        else:
            raise ArithmeticError("strategies do not settle")
        return Outcome(value, self.choice if self.agent_leads else choice, self.trap)

    def _any(self, choice: int) -> list[int]:
        row = self.arena.model.rows[choice]
        return row.fill(range(len(row.target)))

    def _share(self, choice: int, inside: Callable[[int], bool]) -> int:
        """Return what the follower can bring (or, if nature leads, what its answer brings) into a set."""
        row = self.arena.model.rows[choice]
        if not self.nature_leads:
            return row.most([inside(t) for t in row.target])
        return sum(p for p, t in zip(self.answer[choice], row.target, strict=True) if inside(t))

    def _options(self, state: int) -> Iterable[int]:
        return (self.choice[state],) if self.agent_leads else self.rows[state]

    def find_traps(self) -> None:
        """Find where the leader can reach the goal with probability 1, how, and how it is missed elsewhere."""
        arena, region, level = self.arena, set(self.states), 0
        goal = arena.decided.one
        while True:
            reached: set[int] = set()
            outside = lambda t, region=region: not goal[t] and t not in region  # noqa: E731
            hit = lambda t, reached=reached: goal[t] or t in reached  # noqa: E731
            before = -1
            while before < len(reached):
                before = len(reached)
                for s in sorted(region - reached):
                    good = [c for c in self.rows[s] if self._good(c, outside, hit)]
                    if (good if self.agent_leads else len(good) == len(self.rows[s])) and good:
                        reached.add(s)
                        self.choice[s] = good[0]
            for s in region - reached:
                self.trap[s] = level
                self.infinite.add(s)
                if not self.agent_leads:
                    self.choice[s] = next(c for c in self.rows[s] if not self._good(c, outside, hit))
            if reached == region:
                return
            region, level = reached, level + 1

    def _good(self, choice: int, outside: Callable[[int], bool], hit: Callable[[int], bool]) -> bool:
        """Whether the leader can make sure that a choice stays in the region and may come closer to the goal."""
        row = self.arena.model.rows[choice]
        if not self.nature_leads:
            away, on = ([test(t) for t in row.target] for test in (outside, hit))
            return row.most(away) == 0 and row.least(on) > 0
        order = sorted(range(len(row.target)), key=lambda i: (outside(row.target[i]), not hit(row.target[i])))
        given = row.fill(order)
        used = [t for p, t in zip(given, row.target, strict=True) if p]
        if any(map(outside, used)) or not any(map(hit, used)):
            return False
        self.answer[choice] = given
        return True

    def _trapped(self) -> tuple[set[int], set[int]]:
        """Return the states where the follower can stay away from the goal for ever, and those that may get there."""
        kept = set(self.states) - self.infinite
        while gone := {s for s in kept if self._keeping(s, kept) is None}:
            kept -= gone
        lost = kept | self.infinite if self.rewards else set(kept)
        while self.rewards and (more := {s for s in set(self.states) - lost if self._may_reach(s, lost)}):
            lost |= more
        return kept, lost

    def _may_reach(self, state: int, inside: set[int]) -> bool:
        return any(self._share(c, inside.__contains__) > 0 for c in self._options(state))

    def _keeping(self, state: int, kept: set[int]) -> int | None:
        """Return a choice with which a state stays among trapped ones, or where the value is 0; None where there is none."""
        zero = self.arena.decided.zero
        for c in self._options(state):
            if self._share(c, lambda t: t in kept or zero[t]) == self.arena.model.rows[c].whole:
                return c
        return None

    def _respond(self) -> tuple[list[Number], dict[int, int]]:
        """Return the follower's best response to the leader's strategy: its value, and the choices in it."""
        arena = self.arena
        kept, lost = self._trapped()
        value = [arena.decided.value(s, arena.asked.kind) for s in range(arena.model.states)]
        for s in lost:
            value[s] = math.inf if self.rewards else Fraction(0)
        rest = [s for s in self.states if s not in lost]
        picks: Picks = {}
        for s in rest:
            c = next(iter(self._options(s)))
            picks[s] = (c, self.answer.get(c) or self._any(c))
        better = gt if self.rewards else lt
        for _ in range(ROUNDS):
            solve_exactly(arena, picks, value)
            changed = False
            x = vector(value, "proof", arena.unit)
            for s in rest:
                best = value[s]
                for c in self._options(s):
                    found, given = self._worth(c, x, self.answer.get(c))
                    if better(found, best):
                        best, picks[s], changed = found, (c, given), True
            if not changed:
                staying = {s: at for s in kept if (at := self._keeping(s, kept)) is not None}
                return value, {s: c for s, (c, _) in picks.items()} | {s: self.choice[s] for s in lost} | staying
        raise ArithmeticError("the response does not settle")

    def _worth(self, choice: int, x: Vector, given: list[int] | None) -> tuple[Number, list[int]]:
        """Return the value of a choice under nature's best (or the given) distribution."""
        row = self.arena.model.rows[choice]
        if given is None:
            found = self.arena.backup(choice, x)
            if found is None:
                return math.inf, row.low
            return Fraction(found[0], found[1] * x.below), found[3]
        total = 0
        for p, t, earned in zip(given, row.target, self.arena.earned(choice, x.below), strict=True):
            if p:
                here = x.top[t]
                if here is None:
                    return math.inf, given
                total += p * (here + earned)
        return Fraction(total, row.whole * x.below), given

    def _lead(self, value: list[Number]) -> bool:
        """Improve the leader's strategy strictly somewhere; return whether that was possible."""
        if not self.agent_leads and not self.nature_leads:
            return False
        better = lt if self.rewards else gt
        x = vector(value, "proof", self.arena.unit)
        changed = False
        for s in self.states:
            best = value[s]
            for c in self.rows[s] if s not in self.infinite else ():
                found, given = self._worth(c, x, None)
                if better(found, best if self.agent_leads else self._worth(c, x, self.answer[c])[0]):
                    changed = True
                    if self.nature_leads:
                        self.answer[c] = given
                    if self.agent_leads:
                        best, self.choice[s] = found, c
        return changed


def solve_exactly(arena: Arena, picks: Picks, value: list[Number]) -> None:
    """Write the value of every picked state into `value`; the others are known, and no picks can stay for ever."""
    for states in _components(arena, picks):
        _solve(arena, {s: picks[s] for s in states}, value)


def _components(arena: Arena, picks: Picks) -> list[list[int]]:
    """Return the strongly connected components of the chain, successors first."""
    place = {s: i for i, s in enumerate(picks)}
    after = [
        [place[t] for p, t in zip(given, arena.model.rows[c].target, strict=True) if p and t in place]
        for c, given in picks.values()
    ]
    every, ends = np.arange(len(picks) + 1), np.cumsum([0, *map(len, after)])
    inside = np.ones(len(picks), np.bool_)
    successor = np.array([i for each in after for i in each], np.int32)
    component, _, count, _ = components(every, ends, successor, inside, inside, every[:0])
    found: list[list[int]] = [[] for _ in range(count)]
    for s, k in zip(picks, component.tolist(), strict=True):
        found[k].append(s)
    return found


def _solve(arena: Arena, picks: Picks, value: list[Number]) -> None:
    """Eliminate one component without fractions: every division leaves no rest (Bareiss)."""
    states = list(picks)
    column = {s: i for i, s in enumerate(states)}
    size = len(states)
    rows = []
    for i, (choice, given) in enumerate(picks.values()):
        row, earned = arena.model.rows[choice], arena.earned(choice, arena.unit)
        line = [0] * size
        line[i] = row.whole
        known = Fraction(sum(p * each for p, each in zip(given, earned, strict=True)), arena.unit)
        for p, t in zip(given, row.target, strict=True):
            there = value[t]
            if t in column:
                line[column[t]] -= p
            elif p:
                if not isinstance(there, Fraction):
                    raise ArithmeticError("a choice may lead to an infinite value")
                known += p * there
        scale = known.denominator
        rows.append([v * scale for v in line] + [known.numerator])
        divisor = math.gcd(*rows[-1])
        rows[-1] = [v // divisor for v in rows[-1]]
    previous = 1
    for k in range(size):
        pivot_row, pivot = rows[k], rows[k][k]
        if pivot <= 0:
            raise ArithmeticError("the chain can stay for ever among the states to be solved")
        for i, line in enumerate(rows):
            if i == k:
                continue
            factor = line[k]
            if i < k:
                line[i] = pivot
            if factor:
                for j in range(k, size + 1):
                    line[j] = (pivot * line[j] - factor * pivot_row[j]) // previous
            elif pivot != previous:
                for j in range(k, size + 1):
                    if line[j]:
                        line[j] = pivot * line[j] // previous
        previous = pivot
    for i, s in enumerate(states):
        value[s] = Fraction(rows[i][size], previous)
