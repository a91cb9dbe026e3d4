"""Inductive bounds of unbounded properties: one pass over the rows for each side, in integers.

Everything speaks of reaching: undecided states have rows, decided ones are exits with known values. Fix a strategy of
whoever the bound is for, and any strategy of the others: a Markov chain. On a class of undecided states that it never
leaves, a vector with x <= r + P x (or >=) satisfies it with equality, weigh it by the stationary distribution; and
r = 0 there, if x >= r + P x. So a state whose inequality is strict lies in no such class. Neither does, of a set of
states, the one of least rank, if a step from it leads with positive probability to an exit or to a smaller rank. What
is asked of a state is therefore: *strict, or ranked*. (docs/explanation/certificates.md has the theorems in full.)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from umdp.statements import Refusal, say
from umdp.verify.document import Bound, Model
from umdp.verify.property import Question
from umdp.verify.qualitative import ByGraph
from umdp.verify.rationals import Vector, vector

__all__ = ["Arena", "Refused"]


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
    """A model, an objective and what the graph decides: everything a bound is checked against."""

    def __init__(self, model: Model, objective: Question, decided: ByGraph, policy: list[int] | None) -> None:
        self.model, self.objective, self.decided, self.policy = model, objective, decided, policy
        self.open = [decided.open(s) for s in range(model.states)]
        units = {r.denominator for r in model.reward} | {r.denominator for r in model.paid or ()}
        self.unit = max(units, default=1) if objective.kind == "R" else 1

    def place(self, bound: Bound, side: str) -> Vector:
        """Return the values of one side; those of decided states must be what the graph says."""
        decided, rewards = self.decided, self.objective.kind == "R"
        for s, value in enumerate(bound.value):
            if self.open[s]:
                if not rewards and value > 1:
                    raise Refused(Refusal.ABOVE_ONE, side=side, state=s)
                continue
            known = float("inf") if decided.infinite[s] else Fraction(int(decided.one[s] and not rewards))
            if value != known:
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
        self, choice: int, x: Vector, inside: Callable[[int], bool] | list[bool] | None, favour: bool
    ) -> tuple[int, int, int, list[int]] | None:
        """Return nature's exact optimum in a row as (numerator, `whole`, share `inside`, distribution), None if infinite.

        Of the optimal distributions the one with most (`favour`) or least `inside` is taken: a set of states, or entries of the
        row.
        """
        row, nature_max = self.model.rows[choice], self.objective.nature_max
        tops: list[int] = []
        lost = False
        for t in row.target:
            top = x.top[t]
            lost = lost or top is None
            tops.append(0 if top is None else top)
        reward = 0
        if self.objective.kind == "R":
            if lost:
                infinite = lambda t: x.top[t] is None  # noqa: E731
                if (row.most(infinite) if nature_max else row.least(infinite)) > 0:
                    return None
            own = self.model.reward[choice]
            reward = own.numerator * (x.below // own.denominator) * row.whole
            if self.model.paid is not None:
                first = self.model.choice_ptr[choice]
                for i in range(len(tops)):
                    paid = self.model.paid[first + i]
                    tops[i] += paid.numerator * (x.below // paid.denominator)
            if lost:  # nature keeps away from infinite states: serve them last
                last = max(tops) + 1
                tops = [last if x.top[t] is None else v for t, v in zip(row.target, tops, strict=True)]
                if nature_max:
                    tops = [-1 if x.top[t] is None else v for t, v in zip(row.target, tops, strict=True)]
        within = [inside(t) for t in row.target] if callable(inside) else inside
        tie = None if within is None else [each == favour for each in within]
        given = row.optimum(tops, nature_max, tie)
        total = reward + sum(p * v for p, v in zip(given, tops, strict=True) if p)
        share = 0 if within is None else sum(p for p, each in zip(given, within, strict=True) if each)
        return total, row.whole, share, given

    def check_lower(self, bound: Bound) -> Vector:
        """Refuse a bound from below that does not hold."""
        x = self.place(bound, "lower")
        rewards = self.objective.kind == "R"
        if rewards:
            self.check_trap(bound)
        for s in range(self.model.states):
            top = x.top[s]
            if not self.open[s] or top is None or top == 0:
                continue
            inside = None
            if not rewards:
                rank = bound.rank[s]
                inside = lambda t, rank=rank: not self.open[t] or x.top[t] == 0 or bound.rank[t] < rank  # noqa: E731
            for c in self.rows(s, not self.objective.agent_max, "lower"):
                found = self.backup(c, x, inside, self.objective.nature_max)
                if found is None:
                    continue
                total, whole, share, _ = found
                if top * whole > total:
                    raise Refused(Refusal.VALUE, side="lower", state=s, choice=c)
                if not rewards and top * whole == total and share == 0:
                    raise Refused(Refusal.RANK, side="lower", state=s, choice=c)
        return x

    def check_upper(self, bound: Bound) -> Vector:
        """Refuse a bound from above that does not hold."""
        x = self.place(bound, "upper")
        rewards = self.objective.kind == "R"
        for s in range(self.model.states):
            top = x.top[s]
            if not self.open[s] or top is None or (not rewards and top == x.below):
                continue
            inside = None
            if rewards:
                rank = bound.rank[s]
                inside = lambda t, rank=rank: not self.open[t] or bound.rank[t] < rank  # noqa: E731
            for c in self.rows(s, self.objective.agent_max, "upper"):
                found = self.backup(c, x, inside, not self.objective.nature_max)
                if found is None:
                    raise Refused(Refusal.MAY_BE_INFINITE, side="upper", state=s, choice=c)
                total, whole, share, _ = found
                if top * whole < total:
                    raise Refused(Refusal.VALUE, side="upper", state=s, choice=c)
                if rewards and top * whole == total and share == 0:
                    raise Refused(Refusal.RANK, side="upper", state=s, choice=c)
        return x

    def check_trap(self, bound: Bound) -> None:
        """Refuse an infinite lower bound unless the goal is missed with positive probability.

        Each choice either may lead to a smaller trap level or stays at its own: sooner or later a play goes down, or it
        stays for ever. Where nature helps, one answer must do so; where it does not, all must.
        """
        nature_max, level = self.objective.nature_max, bound.trap
        for s in range(self.model.states):
            if not self.open[s] or isinstance(bound.value[s], Fraction):
                continue
            if level[s] < 0:
                raise Refused(Refusal.NO_TRAP, side="lower", state=s)
            down = self._levels(bound, range(level[s]))
            same = self._levels(bound, range(level[s], level[s] + 1))
            held_in = self._levels(bound, range(level[s] + 1))
            for c in self.rows(s, not self.objective.agent_max, "lower"):
                row = self.model.rows[c]
                if nature_max:
                    held = row.most(down) > 0 or row.most(same) == row.whole
                else:
                    held = row.least(down) > 0 or row.least(held_in) == row.whole
                if not held:
                    raise Refused(Refusal.LEAVES_TRAP, side="lower", state=s, choice=c)

    def _levels(self, bound: Bound, levels: range) -> Callable[[int], bool]:
        """Return the set of infinite states at some trap levels."""
        infinite = float("inf")
        return lambda t: self.open[t] and bound.trap[t] in levels and bound.value[t] == infinite
