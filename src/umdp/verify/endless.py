"""Discounted sums and long-run averages: one exact step backwards from the vectors of a certificate.

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
"""

from __future__ import annotations

from fractions import Fraction

from umdp.statements import Refusal
from umdp.verify.document import Bound, Model
from umdp.verify.graph import SearchGraph
from umdp.verify.inductive import Refused
from umdp.verify.numbers import Number, Vector, vector
from umdp.verify.objective import Question

__all__ = ["OneStep", "check_average", "check_discounted"]


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
