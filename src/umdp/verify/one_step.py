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

import enum
from collections.abc import Callable, Sequence
from fractions import Fraction

from umdp.statements import Refusal
from umdp.verify.distributions import Row
from umdp.verify.document import Bound, Model
from umdp.verify.induction import Arena, Refused
from umdp.verify.property import Question
from umdp.verify.qualitative import ByGraph, SearchGraph
from umdp.verify.rationals import Number, Vector, vector

__all__ = ["OneStep", "Placing", "TotalArena", "check_average", "check_discounted"]


class OneStep:
    """One step backwards by the rows that count for one side of a bracket, in integers.

    Parameters
    ----------
    model, asked : what is asked of what
    policy : the choice of every state; needed where the bound is for the agent's own side
    upper : which side
    """

    def __init__(self, model: Model, asked: Question, policy: list[int] | None, *, upper: bool) -> None:
        self.model, self.asked, self.upper = model, asked, upper
        self.side = "upper" if upper else "lower"
        self.own = asked.agent_max != upper
        if self.own and policy is None:
            raise Refused(Refusal.NEEDS_POLICY, side=self.side)
        self.policy = policy
        self.reached = SearchGraph(model, policy if self.own else None).reachable(model.initial)
        units = {r.denominator for r in asked.reward} | {r.denominator for r in asked.paid or ()}
        self.unit = max(units, default=1)  # rewards are doubles: denominators are powers of two

    def rows(self, state: int) -> list[int]:
        """Return the choices that an inequality must hold for."""
        if self.own and self.policy is not None:
            return [self.policy[state]]
        return list(self.model.of(state))

    def backup(
        self, choice: int, x: Vector, discount: Fraction, tie: list[bool] | None = None
    ) -> tuple[int, int, list[int]]:
        """Return the worth of a choice, as (numerator, what to divide by besides the unit of `x`), and nature's answer."""
        row, asked = self.model.rows[choice], self.asked
        over, under = discount.numerator, discount.denominator
        worth = [over * _finite(x.top[t], self.side) for t in row.target]
        if asked.paid is not None:
            first = self.model.choice_ptr[choice]
            for i in range(len(worth)):
                paid = asked.paid[first + i]
                worth[i] += paid.numerator * (x.below // paid.denominator) * under
        given = row.optimum(worth, asked.nature_max, tie)
        own = asked.reward[choice]
        total = own.numerator * (x.below // own.denominator) * under * row.whole
        total += sum(p * v for p, v in zip(given, worth, strict=True) if p)
        return total, row.whole * under, given


def check_discounted(step: OneStep, bound: Bound) -> Number:
    """Return what a vector proves of the discounted sum of the initial state, or refuse it."""
    x = vector(bound.value, step.side, step.unit)
    for s, needed in enumerate(step.reached):
        if not needed:
            continue
        here = _finite(x.top[s], step.side, s)
        for c in step.rows(s):
            total, below, _ = step.backup(c, x, step.asked.discount)
            if here * below < total if step.upper else here * below > total:
                raise Refused(Refusal.VALUE, side=step.side, state=s, choice=c)
    return x[step.model.initial]


def check_average(step: OneStep, bound: Bound) -> Number:
    """Return what gains and a vector prove of the long-run average from the initial state, or refuse them."""
    if not bound.gain:
        raise Refused(Refusal.NO_GAIN, side=step.side)
    h, g = vector(bound.value, step.side, step.unit), vector(bound.gain, step.side)
    one = Fraction(1)
    helped = step.asked.nature_max != step.upper  # whether one answer of nature is enough
    for s, needed in enumerate(step.reached):
        if not needed:
            continue
        here = _finite(h.top[s], step.side, s) * g.below
        gain = _finite(g.top[s], step.side, s)
        for c in step.rows(s):
            row = step.model.rows[c]
            worth = [_finite(g.top[t], step.side) for t in row.target]
            order = sorted(set(worth), reverse=step.asked.nature_max)
            tie = [v == order[0] for v in worth]
            total, whole, given = step.backup(c, h, one, tie)
            if not helped:
                given = row.optimum(worth, step.asked.nature_max)
            later = sum(p * v for p, v in zip(given, worth, strict=True))
            lost = gain * row.whole - later
            missing = (gain * h.below + here) * whole - total * g.below
            if lost < 0 if step.upper else lost > 0:
                raise Refused(Refusal.GAIN, side=step.side, state=s, choice=c)
            if missing < 0 if step.upper else missing > 0:
                raise Refused(Refusal.GAIN_AND_VALUE, side=step.side, state=s, choice=c)
            alike = len({v for v, each in zip(worth, row.possible, strict=True) if each}) == 1
            if helped and row.cut(given) and not (missing and (lost or alike)):
                raise Refused(Refusal.CUT, side=step.side, state=s, choice=c)
    return g[step.model.initial]


def _finite(top: int | None, side: str, state: int | None = None) -> int:
    if top is None:
        raise Refused(Refusal.INFINITE, side=side, state=state)
    return top


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
