"""Automata that count: what was earned so far along a path, up to the bound a formula sets.

With every transition such an automaton reads what the step pays and what holds where it leads. Rewards and bounds are the
decimals they are written as, and whole multiples of a unit; beyond the bound all amounts are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, floor, gcd
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from umdp.automata.automaton import Automaton, Pair
from umdp.spec.expression import Literal
from umdp.spec.names import listed, suggestion

if TYPE_CHECKING:
    from umdp.model import Graph
    from umdp.spec.temporal_formula import RewardBounded

__all__ = ["PaidSteps", "counter", "letters", "paid_steps"]

RIGHT, LEFT, PAID = (
    1,
    2,
    4,
)  # a letter: whether the goal is there, whether it may be passed, and PAID times what is paid
MOST = 2**26  # entries of an automaton's table


@dataclass(frozen=True)
class PaidSteps:
    """What steps pay in whole units, and between which units the goal counts.

    Attributes
    ----------
    unit : what all rewards are multiples of
    paid : (T,) the units that each transition pays, those beyond `levels` as one more
    lower, upper : from how many units on the goal counts, and up to how many; None where there is no end
    """

    unit: Fraction
    paid: NDArray[np.int64]
    lower: int
    upper: int | None

    @property
    def levels(self) -> int:
        """The largest amount that is told from larger ones."""
        return self.lower if self.upper is None else self.upper


def paid_steps(formula: RewardBounded, model: Graph) -> PaidSteps:
    """Return what the steps of a model pay, or raise `SpecError` where that cannot be counted.

    Examples
    --------
    >>> from umdp import MDP, Rewards, Spec
    >>> model = MDP([0, 2, 3], [0, 1, 2, 3], [1, 1, 1], [1, 1, 1], rewards={"cost": Rewards(choice=[0.3, 0.2, 0])})
    >>> steps = paid_steps(Spec.parse('Pmax=? [ F{"cost"}<0.5 true ]').formula, model)
    >>> steps.unit, steps.paid.tolist(), steps.upper
    (Fraction(1, 10), [3, 2, 0], 4)
    """
    bound, place = formula.bound, Literal(0, location=formula.location)
    names = list(model.rewards)
    if bound.reward not in names:
        has = f"the model has: {listed(names, quoted=True)}" if names else "the model has none"
        raise place.error(f'unknown reward "{bound.reward}"', has + suggestion(bound.reward, names, quoted=True))
    rewards = model.rewards[bound.reward]
    if rewards.averaged:
        raise place.error(
            f'"{bound.reward}" is known on average alone, where transitions of a choice lead to one state and pay differently',
            "let them lead to different states, or give the model as an IntervalMDP, which keeps them apart",
        )
    row = np.repeat(np.arange(model.choices), np.diff(model.choice_ptr))
    parts = [
        np.zeros(model.transitions) if each is None else each[owner]
        for each, owner in (
            (rewards.state, model.choice_state[row]), (rewards.choice, row), (rewards.transition, slice(None)),
        )
    ]  # fmt: skip
    kinds, which = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)
    amounts = [sum((Fraction(repr(part)) for part in kind), Fraction(0)) for kind in kinds.tolist()]
    if min(amounts) < 0:
        raise place.error(
            f'a step pays {float(min(amounts)):g} of the reward "{bound.reward}"',
            "what is counted up to a bound must be at least 0",
        )
    unit = reduce(_divisor, amounts, Fraction(0)) or Fraction(1)
    low, high = bound.ends(model)
    lower = 0 if low is None else max(floor(low / unit) + 1 if bound.above else ceil(low / unit), 0)
    upper = None if high is None else ceil(high / unit) - 1 if bound.below else floor(high / unit)
    levels = lower if upper is None else upper
    if (levels + 3) * 4 * len(amounts) > MOST:
        raise place.error(
            f"up to the bound there are {levels:,} amounts to tell apart, multiples of {float(unit):g}, which is too many",
            "round the rewards, or lower the bound",
        )
    paid = np.array([min(int(each / unit), levels + 1) for each in amounts], dtype=np.int64)
    return PaidSteps(unit, paid[which.reshape(-1)], lower, upper)


def letters(formula: RewardBounded, model: Graph, steps: PaidSteps) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the letters that begin in each state (S,), where nothing is paid, and come with each transition (T,)."""
    there = formula.right.evaluate(model) * RIGHT + formula.left.evaluate(model) * LEFT
    return there.astype(np.int64), there[model.successor] + steps.paid * PAID


def counter(steps: PaidSteps, known: NDArray[np.int64], *, negated: bool) -> Automaton:
    """Return the automaton over letters that are `known`, rising: its states are amounts, then accepted, then rejected."""
    levels = steps.levels
    accepted, rejected = levels + 1, levels + 2
    amount = np.minimum(np.arange(levels + 1)[:, None] + known // PAID, levels + 1)
    over = np.zeros_like(amount, dtype=np.bool_) if steps.upper is None else amount > steps.upper
    amount = np.minimum(amount, levels)
    right, left = (known & RIGHT) > 0, (known & LEFT) > 0
    reached = right & (amount >= steps.lower) & ~over
    step = np.where(reached, accepted, np.where(left & ~over, amount, rejected))
    step = np.vstack([step, np.full((2, known.size), [[accepted], [rejected]])]).astype(np.int32)
    done = np.arange(levels + 3) == accepted
    pair = Pair(done, ~done) if negated else Pair(np.zeros_like(done), done)
    names = (*(f"{float(steps.unit * k):g} so far" for k in range(levels + 1)), "accepted", "rejected")
    return Automaton(0, known, step, ((),) * (levels + 3), (pair,), names)


def _divisor(one: Fraction, other: Fraction) -> Fraction:
    """Return the largest number that both are multiples of."""
    common = one.denominator * other.denominator
    return Fraction(gcd(one.numerator * other.denominator, other.numerator * one.denominator), common)
