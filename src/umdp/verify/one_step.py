"""Sums without an end: discounted sums, long-run averages and totals, by one exact step backwards.

*Discounted.* A step T shrinks distances, so that u >= T u leads down to the value and l <= T l up to it: nothing else is needed.
*Averages.* With a gain g and a vector h, let every row that counts satisfy ``g(s) >= P g`` and ``g(s) + h(s) >= r + P h``. Then n
steps earn at most ``n g(s) + h(s) - P^n h``, whatever is done, and the average is at most g(s); from below likewise.

"The rows that count" are the policy's on the agent's side and all on the other. Of nature's answers the best one counts on its
side, all on the other; one optimum stands for both. Where two inequalities must hold for one answer, it is the one that h asks
for, and ties go to g.

*Listed transitions have a positive probability.* Bounds for all answers of nature hold for those too that leave an edge out, more
than is asked. One answer that is enough must leave none out. Mixed with a little of any other answer it leaves none out, and
still satisfies an inequality that it satisfies strictly; so a strict inequality will do, or one that is the same for all answers.
(A discounted sum changes little where probabilities do: there the ends of an interval do no harm.)

*Totals.* Rewards are at least 0, and nothing is decided beforehand. The value is the least vector with v = T v, in [0, inf]:
after n steps no more than T^n 0 is earned, whoever plays, and that grows towards it. So u >= T u proves an upper bound. For
l <= T l, fix strategies without memory: on a set of states that the chain keeps for ever, without earning anything, l is
constant and every inequality tight; anywhere else l is made up for by what is earned. Hence *strict, paying or ranked*:
where l > 0, for each row that counts, the inequality is strict, or something is paid, or there is a step of positive
probability to a smaller rank or to l = 0.

*Infinite.* Let each row that counts either lead down to a smaller trap level with positive probability; or surely stay at its
level or below, and pay, or lead to a smaller rank of its level with positive probability. From every state a play then comes,
with positive probability, to where it is paid again and again.

*Listed transitions have a positive probability* here, too: where one answer of nature is enough, it leaves no edge out, or its
inequality is strict, and then a little of every edge can be mixed in. An edge to an infinite value is used by every such answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from umdp.statements import Refusal
from umdp.verify.document import Bound, Model
from umdp.verify.induction import ONE, Arena, Refused
from umdp.verify.property import Question
from umdp.verify.qualitative import ByGraph, SearchGraph
from umdp.verify.rationals import Number, Vector, vector

__all__ = ["OneStep"]


class OneStep(Arena):
    """One step backwards by the rows that count for one side of a bracket: every state is open.

    Parameters
    ----------
    model, asked : what is asked of what
    policy : the choice of every state; needed where the bound is for the agent's own side
    upper : which side
    """

    def __init__(self, model: Model, asked: Question, policy: list[int] | None, *, upper: bool) -> None:
        none = [False] * model.states
        super().__init__(model, asked, ByGraph(none, none, none, [True] * model.choices), policy)
        self.upper, self.side = upper, "upper" if upper else "lower"
        self.own = asked.agent_max != upper
        self.helped = asked.nature_max != upper  # whether one answer of nature is enough

    @cached_property
    def reached(self) -> list[bool]:
        """The states that the rows which count can reach from the initial one."""
        if self.own and self.policy is None:
            raise Refused(Refusal.NEEDS_POLICY, side=self.side)
        return SearchGraph(self.model, self.policy if self.own else None).reachable(self.model.initial)

    def counted(self, state: int) -> list[int]:
        """Return the choices that an inequality must hold for."""
        return self.rows(state, not self.own, self.side)

    def reached_rows(self) -> Iterator[tuple[int, int]]:
        """Return the states that are reached, each with every choice that an inequality must hold for.

        Which are reached is found at once, so that a policy that is missing is missed before anything else.
        """
        return ((s, c) for s, needed in enumerate(self.reached) if needed for c in self.counted(s))

    def prove(self, bound: Bound) -> Number:
        """Return what a bound on every state proves of the initial one, or refuse it."""
        if self.asked.aim == "total":
            return self._prove_total(bound)
        return self._prove_discounted(bound) if self.asked.aim == "discounted" else self._prove_average(bound)

    def collect(
        self, choice: int, x: Vector, discount: Fraction = ONE, tie: list[bool] | None = None
    ) -> tuple[int, int, list[int]]:
        """Return the worth of a choice, as (numerator, what to divide by besides the unit of `x`), and nature's answer."""
        for t in self.model.rows[choice].target:
            self._finite(x.top[t])
        found = self.backup(choice, x, tie, True, discount)
        assert found is not None
        return found[0], found[1], found[3]

    def _finite(self, top: int | None, state: int | None = None) -> int:
        if top is None:
            raise Refused(Refusal.INFINITE, side=self.side, state=state)
        return top

    def _falls_short(self, by: int) -> bool:
        """Whether an inequality fails whose larger side, seen from above, exceeds the other by so much."""
        return by < 0 if self.upper else by > 0

    def _prove_discounted(self, bound: Bound) -> Number:
        rows, x = self.reached_rows(), vector(bound.value, self.side, self.unit)
        for s, c in rows:
            here = self._finite(x.top[s], s)
            total, below, _ = self.collect(c, x, self.asked.discount)
            if self._falls_short(here * below - total):
                raise Refused(Refusal.VALUE, side=self.side, state=s, choice=c)
        return x[self.model.initial]

    def _prove_average(self, bound: Bound) -> Number:
        rows = self.reached_rows()
        if not bound.gain:
            raise Refused(Refusal.NO_GAIN, side=self.side)
        h, g = vector(bound.value, self.side, self.unit), vector(bound.gain, self.side)
        for s, c in rows:
            here = self._finite(h.top[s], s) * g.below
            gain = self._finite(g.top[s], s)
            row = self.model.rows[c]
            worth = [self._finite(g.top[t]) for t in row.target]
            best = max(worth) if self.asked.nature_max else min(worth)
            total, whole, given = self.collect(c, h, tie=[v == best for v in worth])
            if not self.helped:
                given = row.optimum(worth, self.asked.nature_max)
            later = sum(p * v for p, v in zip(given, worth, strict=True))
            lost = gain * row.whole - later
            missing = (gain * h.below + here) * whole - total * g.below
            if self._falls_short(lost):
                raise Refused(Refusal.GAIN, side=self.side, state=s, choice=c)
            if self._falls_short(missing):
                raise Refused(Refusal.GAIN_AND_VALUE, side=self.side, state=s, choice=c)
            alike = len({v for v, each in zip(worth, row.possible, strict=True) if each}) == 1
            if self.helped and row.cut(given) and not (missing and (lost or alike)):
                raise Refused(Refusal.CUT, side=self.side, state=s, choice=c)
        return g[self.model.initial]

    def _prove_total(self, bound: Bound) -> Number:
        x, level = vector(bound.value, self.side, self.unit), self.levels(bound)
        for s, top in enumerate(x.top):
            if top == (None if self.upper else 0):
                continue
            least = -1 if top is None else 0  # on a trap level, a state without a rank counts as the first
            nearer = lambda t, least=least, rank=bound.rank[s]: least <= bound.rank[t] < rank  # noqa: E731
            for c in self.counted(s):
                if top is None and level[s] < 0:
                    raise Refused(Refusal.NO_TRAP, side=self.side, state=s)
                if top is None and not self.goes_on(s, c, level, nearer):
                    raise Refused(Refusal.STOPS_PAYING, side=self.side, state=s, choice=c)
                if self.upper and top is not None:
                    self._check_above(s, top, c, x)
                if not self.upper and top is not None and not self.rises(s, c, x, nearer):
                    raise Refused(Refusal.NEED_NOT_PAY, side=self.side, state=s, choice=c)
        return x[self.model.initial]

    def _check_above(self, state: int, top: int, choice: int, x: Vector) -> None:
        """Refuse a total from above that is less than a choice is worth."""
        found, row = self.backup(choice, x), self.model.rows[choice]
        if found is None or top * found[1] < found[0] or any(x.top[t] is None for t in row.edges):
            raise Refused(Refusal.VALUE, side=self.side, state=state, choice=choice)
        if self.helped and row.cut(found[3]) and top * found[1] == found[0]:
            raise Refused(Refusal.CUT, side=self.side, state=state, choice=choice)

    def rises(self, state: int, choice: int, x: Vector, nearer: Callable[[int], bool]) -> bool:
        """Whether a total from below is strictly less than a choice is worth, or the choice pays, or leads `nearer` or to 0.

        It is refused where it is more.
        """
        row, top = self.model.rows[choice], x.finite(state)
        good = [pays or x.top[t] == 0 or nearer(t) for pays, t in zip(self.pays(choice), row.target, strict=True)]
        found = self.backup(choice, x, good, self.asked.nature_max)
        if found is None:
            return True
        total, whole, share, given = found
        if top * whole > total:
            raise Refused(Refusal.VALUE, side=self.side, state=state, choice=choice)
        if self.helped and row.cut(given) and top * whole == total:
            raise Refused(Refusal.CUT, side=self.side, state=state, choice=choice)
        return top * whole < total or share > 0

    def pays(self, choice: int) -> list[bool]:
        """Return which transitions of a choice earn something, or its state does."""
        paid, first, size = self.asked.paid, self.model.choice_ptr[choice], len(self.model.rows[choice].target)
        if self.asked.reward[choice] > 0 or paid is None:
            return [self.asked.reward[choice] > 0] * size
        return [each > 0 for each in paid[first : first + size]]

    def goes_on(self, state: int, choice: int, level: Sequence[int], nearer: Callable[[int], bool]) -> bool:
        """Whether a choice may lead to a smaller trap level; or stays at its own or below, and pays or comes nearer there."""
        row, own = self.model.rows[choice], level[state]
        places = [level[t] for t in row.target]
        down, inside = [0 <= place < own for place in places], [0 <= place <= own for place in places]
        good = [pays or (level[t] == own and nearer(t)) for pays, t in zip(self.pays(choice), row.target, strict=True)]
        if self.asked.nature_max:  # its answer uses all edges
            edges = [i for i, each in enumerate(row.possible) if each]
            if any(down[i] for i in edges):
                return True
            return all(inside[i] for i in edges) and any(good[i] for i in edges)
        if row.least(down) > 0:
            return True
        better = [d or g for d, g in zip(down, good, strict=True)]
        return row.least(inside) == row.whole and row.least(better) > 0
