"""All that is ever earned, with rewards of at least 0: inductive bounds, where nothing is decided beforehand.

The value is the least vector with v = T v, in [0, inf]: after n steps no more than T^n 0 is earned, whoever plays, and that
grows towards it. So u >= T u proves an upper bound. For l <= T l, fix strategies without memory: on a set of states that the
chain keeps for ever, without earning anything, l is constant and every inequality tight; anywhere else l is made up for by what
is earned. Hence *strict, paying or ranked*: where l > 0, for each row that counts, the inequality is strict, or something is
paid, or there is a step of positive probability to a smaller rank or to l = 0.

*Infinite.* Let each row that counts either lead down to a smaller trap level with positive probability; or surely stay at its
level or below, and pay, or lead to a smaller rank of its level with positive probability. From every state a play then comes,
with positive probability, to where it is paid again and again.

*Listed transitions have a positive probability* (`endless`): where one answer of nature is enough, it leaves no edge out, or its
inequality is strict, and then a little of every edge can be mixed in. An edge to an infinite value is used by every such answer.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from fractions import Fraction

from umdp.statements import Refusal
from umdp.verify.document import Bound, Model
from umdp.verify.graph import ByGraph
from umdp.verify.inductive import Arena, Refused
from umdp.verify.numbers import Number, Vector, vector
from umdp.verify.objective import Question
from umdp.verify.rows import Row

__all__ = ["Placing", "TotalArena", "mass"]


class Placing(enum.Enum):
    """Where a step leads to, seen from an infinite state."""

    BELOW = "a smaller trap level"
    NEARER = "a smaller rank of the same level"
    LEVEL = "the same level"
    OUTSIDE = "anywhere else"


class TotalArena(Arena):
    """A model and a total: every state is open."""

    def __init__(self, model: Model, objective: Question, policy: list[int] | None) -> None:
        none = [False] * model.states
        super().__init__(model, objective, ByGraph(none, none, none, [True] * model.choices), policy)

    def pays(self, choice: int) -> list[bool]:
        """Return which transitions of a choice earn something, or its state does."""
        paid, first = self.model.paid, self.model.choice_ptr[choice]
        if self.model.reward[choice] > 0:
            return [True] * len(self.model.rows[choice].target)
        return [paid is not None and paid[first + i] > 0 for i in range(len(self.model.rows[choice].target))]

    def prove_lower(self, bound: Bound) -> Number:
        """Return what a vector proves from below of the initial state, or refuse it."""
        x = vector(bound.value, "lower", self.unit)
        for s, top in enumerate(x.top):
            for c in self.rows(s, not self.objective.agent_max, "lower") if top != 0 else ():
                if top is None:
                    self._endless(bound, s, c)
                elif not self.rises(s, top, c, x, bound.rank):
                    raise Refused(Refusal.NEED_NOT_PAY, side="lower", state=s, choice=c)
        return x[self.model.initial]

    def rises(self, state: int, top: int, choice: int, x: Vector, rank: Sequence[int]) -> bool:
        """Whether the inequality of a choice is strict, or it pays, or leads to a smaller rank; refused where it is wrong."""
        good = [
            pays or x.top[t] == 0 or 0 <= rank[t] < rank[state]
            for pays, t in zip(self.pays(choice), self.model.rows[choice].target, strict=True)
        ]
        found = self.backup(choice, x, good, self.objective.nature_max)
        if found is None:
            return True
        total, whole, share, given = found
        if top * whole > total:
            raise Refused(Refusal.VALUE, side="lower", state=state, choice=choice)
        if self.objective.nature_max and self.model.rows[choice].cut(given) and top * whole == total:
            raise Refused(Refusal.CUT, side="lower", state=state, choice=choice)
        return top * whole < total or share > 0

    def prove_upper(self, bound: Bound) -> Number:
        """Return what a vector proves from above of the initial state, or refuse it."""
        x = vector(bound.value, "upper", self.unit)
        for s, top in enumerate(x.top):
            for c in self.rows(s, self.objective.agent_max, "upper") if top is not None else ():
                found = self.backup(c, x, None, True)
                row = self.model.rows[c]
                if found is None or (top or 0) * found[1] < found[0] or any(x.top[t] is None for t in row.edges):
                    raise Refused(Refusal.VALUE, side="upper", state=s, choice=c)
                if not self.objective.nature_max and row.cut(found[3]) and (top or 0) * found[1] == found[0]:
                    raise Refused(Refusal.CUT, side="upper", state=s, choice=c)
        return x[self.model.initial]

    def _endless(self, bound: Bound, state: int, choice: int) -> None:
        level, rank = bound.trap[state], bound.rank[state]
        if level < 0:
            raise Refused(Refusal.NO_TRAP, side="lower", state=state)

        def place(t: int) -> Placing:
            if isinstance(bound.value[t], Fraction) or not 0 <= bound.trap[t] <= level:
                return Placing.OUTSIDE
            if bound.trap[t] < level:
                return Placing.BELOW
            return Placing.NEARER if bound.rank[t] < rank else Placing.LEVEL

        if not self.goes_on(choice, place):
            raise Refused(Refusal.STOPS_PAYING, side="lower", state=state, choice=choice)

    def goes_on(self, choice: int, place: Callable[[int], Placing]) -> bool:
        """Whether a choice may lead below; or stays at its level, and pays or comes nearer to where it does."""
        row = self.model.rows[choice]
        places = [place(t) for t in row.target]
        down = [p is Placing.BELOW for p in places]
        inside = [p is not Placing.OUTSIDE for p in places]
        good = [pays or p is Placing.NEARER for pays, p in zip(self.pays(choice), places, strict=True)]
        if self.objective.nature_max:  # its answer uses all edges
            edges = [i for i, each in enumerate(row.possible) if each]
            if any(down[i] for i in edges):
                return True
            return all(inside[i] for i in edges) and any(good[i] for i in edges)
        if mass(row, down, most=False) > 0:
            return True
        better = [d or g for d, g in zip(down, good, strict=True)]
        return mass(row, inside, most=False) == row.whole and mass(row, better, most=False) > 0


def mass(row: Row, chosen: Sequence[bool], *, most: bool) -> int:
    """Return the largest or smallest share of a row that can go to the chosen entries."""
    if not most:
        return row.whole - mass(row, [not c for c in chosen], most=True)
    taken = sum(high for high, c in zip(row.high, chosen, strict=True) if c)
    others = sum(low for low, c in zip(row.low, chosen, strict=True) if not c)
    return min(taken, row.whole - others)
