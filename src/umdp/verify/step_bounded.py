"""Step-bounded properties: backward induction once more, in integers rounded outwards. Nothing in a file is needed for it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from umdp.errors import FormatError
from umdp.verify.document import Model
from umdp.verify.property import Question

__all__ = ["induct"]

WORK = 2 * 10**8  # transitions times steps: some minutes


def induct(model: Model, objective: Question, *, up: bool, policy: Any, bits: int) -> Fraction:
    """Return a bound on the value of the initial state, from above (`up`) or below, to `bits` binary places.

    With a policy it is a bound on that policy's value: a list of choices, or one for every step.
    """
    steps = objective.steps
    assert steps is not None
    if steps * len(model.successor) > WORK:
        raise FormatError(f"{steps} steps of {len(model.successor)} transitions are too many to check")
    one = 1 << bits
    x = [one if g else 0 for g in objective.goal]
    if objective.final is not None:
        x = [_scaled(value, one, up) for value in objective.final]
    nested = bool(policy) and isinstance(policy[0], list)
    if nested and len(policy) < steps:
        raise FormatError(f"policy: {len(policy)} steps, but the property has {steps}")
    frozen = [objective.frozen and (g or not a) for g, a in zip(objective.goal, objective.left, strict=True)]
    reward = [_scaled(r, one, up) for r in objective.reward]
    paid = None if objective.paid is None else [_scaled(r, one, up) for r in objective.paid]
    best = max if objective.agent_max else min
    for step in range(steps - 1, -1, -1):
        now = policy[step] if nested else policy
        new = list(x)
        for s in range(model.states):
            if step < objective.wait:
                if not objective.left[s]:
                    new[s] = 0
                    continue
            elif frozen[s]:
                continue
            found = []
            for c in model.of(s) if now is None else (now[s],):
                row = model.rows[c]
                worth = [x[t] for t in row.target]
                if paid is not None:
                    worth = [v + paid[model.choice_ptr[c] + i] for i, v in enumerate(worth)]
                total = sum(p * v for p, v in zip(row.optimum(worth, objective.nature_max), worth, strict=True))
                found.append(reward[c] + (-(-total // row.whole) if up else total // row.whole))
            new[s] = best(found)
        x = new
    return Fraction(x[model.initial], one)


def _scaled(value: Fraction, one: int, up: bool) -> int:
    top = value.numerator * one
    return -(-top // value.denominator) if up else top // value.denominator
