"""Inductive bounds of unbounded properties: one pass over the rows for each side, in integers.

Everything speaks of reaching: undecided states have rows, decided ones are exits with known values. Fix a strategy of
whoever the bound is for, and any strategy of the others: a Markov chain. On a class of undecided states that it never
leaves, a vector with x <= r + P x (or >=) satisfies it with equality, weigh it by the stationary distribution; and
r = 0 there, if x >= r + P x. So a state whose inequality is strict lies in no such class. Neither does, of a set of
states, the one of least rank, if a step from it leads with positive probability to an exit or to a smaller rank. What
is asked of a state is therefore: *strict, or ranked*. (docs/explanation/certificates.md has the theorems in full.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from umdp.statements import Refusal, say
from umdp.verify.document import Bound, Model
from umdp.verify.property import Question
from umdp.verify.qualitative import ByGraph, SearchGraph, decide
from umdp.verify.rationals import Vector, vector

__all__ = ["Arena", "Refused"]

ONE = Fraction(1)


class Refused(Exception):
    """A line of a certificate does not hold; `said` is which, by its code and data.

    Examples
    --------
    >>> Refused(Refusal.NO_TRAP, side="lower", state=3).said.code
    <Refusal.NO_TRAP: 'no-trap'>
    """

    def __init__(self, why: Refusal, **data: Any) -> None:
        self.said = say(why, **data)
        super().__init__(str(self.said))


class Arena:
    """A model, what is asked of it and what the graph decides: everything a bound is checked against."""

    def __init__(self, model: Model, asked: Question, decided: ByGraph, policy: list[int] | None) -> None:
        self.model, self.asked, self.decided, self.policy = model, asked, decided, policy
        self.open = [decided.open(s) for s in range(model.states)]
        units = {r.denominator for r in asked.reward} | {r.denominator for r in asked.paid or ()}
        self.unit = max(units, default=1)  # rewards are doubles: denominators are powers of two

    @classmethod
    def of(cls, model: Model, asked: Question, policy: list[int] | None) -> Arena:
        """Return what is asked, where a goal is to be reached, with what the graph decides of it."""
        return cls(model, asked, decide(SearchGraph(model), asked), policy)

    def place(self, bound: Bound, side: str) -> Vector:
        """Return the values of one side; those of decided states must be what the graph says."""
        for s, value in enumerate(bound.value):
            if self.open[s]:
                if self.asked.kind == "P" and value > 1:
                    raise Refused(Refusal.ABOVE_ONE, side=side, state=s)
            elif value != (known := self.decided.value(s, self.asked.kind)):
                raise Refused(Refusal.DECIDED, side=side, state=s, known=known)
        return vector(bound.value, side, self.unit)

    def rows(self, state: int, all_rows: bool, side: str) -> list[int]:
        """Return the choices an inequality must hold for: all that are left, or the policy's."""
        if all_rows:
            return [c for c in self.model.of(state) if self.decided.usable[c]]
        if self.policy is None:
            raise Refused(Refusal.NEEDS_POLICY, side=side)
        choice = self.policy[state]
        if not self.decided.usable[choice]:
            raise Refused(Refusal.LEADS_TO_INFINITE, side=side, state=state, choice=choice)
        return [choice]

    def backup(
        self,
        choice: int,
        x: Vector,
        inside: Callable[[int], bool] | list[bool] | None = None,
        favour: bool = True,
        discount: Fraction = ONE,
    ) -> tuple[int, int, int, list[int]] | None:
        """Return nature's exact optimum in a row: (numerator, denominator, share `inside`, distribution), None if infinite.

        The denominator comes besides that of `x`. Of the optimal distributions the one with most (`favour`) or least `inside` is
        taken: a set of states, or entries of the row.
        """
        row, asked = self.model.rows[choice], self.asked
        infinite = [x.top[t] is None for t in row.target]
        if any(infinite) and (row.most(infinite) if asked.nature_max else row.least(infinite)) > 0:
            return None
        over, under = discount.numerator, discount.denominator
        earned = self.earned(choice, x.below)
        worth = [over * (x.top[t] or 0) + under * each for t, each in zip(row.target, earned, strict=True)]
        if any(infinite):  # nature keeps away from infinite states: serve them last
            last = -1 if asked.nature_max else max(worth) + 1
            worth = [last if lost else v for lost, v in zip(infinite, worth, strict=True)]
        within = [inside(t) for t in row.target] if callable(inside) else inside
        tie = None if within is None else [each == favour for each in within]
        given = row.optimum(worth, asked.nature_max, tie)
        total = sum(p * v for p, v in zip(given, worth, strict=True) if p)
        share = 0 if within is None else sum(p for p, each in zip(given, within, strict=True) if each)
        return total, row.whole * under, share, given

    def earned(self, choice: int, below: int) -> list[int]:
        """Return what a choice earns along each of its transitions, over `below`: a multiple of the unit."""
        begin, end = self.model.choice_ptr[choice], self.model.choice_ptr[choice + 1]
        own = self.asked.reward[choice]
        units = own.numerator * (below // own.denominator)
        if self.asked.paid is None:
            return [units] * (end - begin)
        return [units + each.numerator * (below // each.denominator) for each in self.asked.paid[begin:end]]

    def check(self, bound: Bound, *, upper: bool) -> Vector:
        """Refuse a bound from above, or from below, that does not hold."""
        side, asked = "upper" if upper else "lower", self.asked
        x = self.place(bound, side)
        rewards = asked.kind == "R"
        if rewards and not upper:
            self.check_trap(bound)
        ranked = rewards == upper  # the side on which equality is not enough
        trivial = 0 if not upper else None if rewards else x.below
        at_end = [not self.open[s] or (not upper and top == 0) for s, top in enumerate(x.top)]
        for s, top in enumerate(x.top):
            if not self.open[s] or top is None or top == trivial:
                continue
            nearer = lambda t, rank=bound.rank[s]: at_end[t] or bound.rank[t] < rank  # noqa: E731
            for c in self.rows(s, asked.agent_max == upper, side):
                found = self.backup(c, x, nearer if ranked else None, asked.nature_max != upper)
                if found is None:
                    if upper:
                        raise Refused(Refusal.MAY_BE_INFINITE, side=side, state=s, choice=c)
                    continue
                total, whole, share, _ = found
                if top * whole < total if upper else top * whole > total:
                    raise Refused(Refusal.VALUE, side=side, state=s, choice=c)
                if ranked and top * whole == total and share == 0:
                    raise Refused(Refusal.RANK, side=side, state=s, choice=c)
        return x

    def levels(self, bound: Bound) -> list[int]:
        """Return the trap level of every state whose value is infinite, and not by the graph; -1 elsewhere."""
        states = zip(self.open, bound.value, bound.trap, strict=True)
        return [level if is_open and value == math.inf else -1 for is_open, value, level in states]

    def check_trap(self, bound: Bound) -> None:
        """Refuse an infinite lower bound unless the goal is missed with positive probability.

        Each choice either may lead to a smaller trap level or stays at its own: sooner or later a play goes down, or it
        stays for ever. Where nature helps, one answer must do so; where it does not, all must.
        """
        level = self.levels(bound)
        for s, value in enumerate(bound.value):
            if not self.open[s] or value != math.inf:
                continue
            own = level[s]
            if own < 0:
                raise Refused(Refusal.NO_TRAP, side="lower", state=s)
            for c in self.rows(s, not self.asked.agent_max, "lower"):
                row = self.model.rows[c]
                places = [level[t] for t in row.target]
                down = [0 <= place < own for place in places]
                if self.asked.nature_max:
                    held = row.most(down) > 0 or row.most([place == own for place in places]) == row.whole
                else:
                    held = row.least(down) > 0 or row.least([0 <= place <= own for place in places]) == row.whole
                if not held:
                    raise Refused(Refusal.LEAVES_TRAP, side="lower", state=s, choice=c)
