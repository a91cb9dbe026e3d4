"""Certificates of long-run averages: gains from reaching an end component, values from what is earned inside.

Inside an end component the gain is one number, and one step from the solver's values there earns no more (no less). Outside, and
where a component is left, gains are those of *stopping* in a component at the price of its gain, moved outwards by a little per
step, so that ``g(s) > P g`` strictly. Then a large multiple of g, added to the values, makes up for whatever such a step earns.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.proof.certificate import Ends, skeleton
from umdp.solver.proof.outward import move_outward
from umdp.verify.document import Bound, make_model
from umdp.verify.induction import Arena
from umdp.verify.one_step import OneStep
from umdp.verify.property import objective
from umdp.verify.rationals import Vector, double, vector

__all__ = ["average_bound"]

Array = NDArray[Any]
DIGITS = 256  # binary digits of a price after the point


def average_bound(step: OneStep, ends: Ends) -> Bound:
    """Return gains and values that prove a long-run average from one side."""
    ever, found = _ever(step), _by_stopping(step, ends)
    start, closest = step.model.initial, min if step.upper else max
    return ever if found is None else closest(found, ever, key=lambda bound: bound.gain[start])


def _ever(step: OneStep) -> Bound:
    """Return what no average is beyond: the most (least) that a single step earns."""
    states = step.model.states
    nothing = vector([Fraction(0)] * states, "proof", step.unit)
    most = (max if step.upper else min)(_change(step, nothing, s, c) for s, c in step.reached_rows())
    return Bound.unranked([Fraction(0)] * states, gain=[most] * states)


def _by_stopping(step: OneStep, ends: Ends) -> Bound | None:
    """Return gains of stopping in end components, with values; None where none are found."""
    model = step.model
    inside = ends.staying if step.own else ends.component >= 0
    if not inside.any():
        return None
    x = vector(
        [Fraction(float(v)) if k else Fraction(0) for v, k in zip(ends.x, inside, strict=True)], "proof", step.unit
    )
    earned = _earned(step, x, ends, inside)
    best = (max if step.asked.agent_max else min)(earned.values())
    unit = 1 + max(earned.values()) - min(earned.values())
    sign = -1 if step.asked.agent_max else 1
    price: list[Fraction | None] = [None] * model.states
    for s in np.flatnonzero(inside).tolist():
        price[s] = _dyadic(unit + sign * (earned[int(ends.component[s])] - best), up=step.own)
    away = _price(step, ends, price, inside)
    if away is None:
        return None
    gain = [best + sign * (w - unit) for w in away]
    return _scaled(step, ends, x, gain)


def _earned(step: OneStep, x: Vector, ends: Ends, inside: Array) -> dict[int, Fraction]:
    """Return the most (least) that a step changes of the values in each component, by the rows that count and stay there."""
    extreme = max if step.upper else min
    found: dict[int, Fraction] = {}
    for s in np.flatnonzero(inside).tolist():
        k = int(ends.component[s])
        for c in step.counted(s):
            if ends.stays[c]:
                change = _change(step, x, s, c)
                found[k] = extreme(found.get(k, change), change)
    return found


def _change(step: OneStep, x: Vector, state: int, choice: int) -> Fraction:
    """Return by how much a step of a choice raises the values, what it earns included."""
    total, below, _ = step.collect(choice, x)
    return Fraction(total - x.finite(state) * below, below * x.below)


def _dyadic(value: Fraction, *, up: bool) -> Fraction:
    """Return a number next to another, at least (at most) as large, with a denominator as those of doubles have."""
    top, below = value.numerator << DIGITS, value.denominator
    return Fraction(-(-top // below) if up else top // below, 1 << DIGITS)


def _price(step: OneStep, ends: Ends, price: list[Fraction | None], inside: Array) -> list[Fraction] | None:
    """Return the price of stopping from every state, moved outwards: more on the policy's side, less on the other.

    `price` (S,) is that of stopping right there, None where one cannot. The solver is given it as doubles, the proof as it is.
    """
    solution, origin = ends.stop(np.array([np.nan if each is None else double(each, up=step.own) for each in price]))
    content = skeleton(solution.model, solution.spec)
    model = make_model(content["model"])
    for state, each in enumerate(price):
        if each is not None:
            model.reward[model.state_ptr[state + 1] - 1] = each
    policy = None
    if step.own and step.policy is not None:
        place = {int(c): i for i, c in enumerate(origin) if c >= 0}
        stopping = [model.state_ptr[s + 1] - 1 for s in range(model.states)]
        policy = [stopping[s] if k else place[step.policy[s]] for s, k in enumerate(inside)] + [model.choices - 1]
    arena = Arena.of(model, objective(model, solution.spec), policy)
    group = np.append(np.where(inside, ends.component, -1), -1)
    bound = move_outward(arena, solution, lower=not step.own, group=group)
    if bound is None:
        return None
    return [value for value in bound.value[:-1] if isinstance(value, Fraction)]


def _scaled(step: OneStep, ends: Ends, x: Vector, gain: list[Fraction]) -> Bound | None:
    """Return gains with values that make up, by a multiple of the gains, for what steps out of components earn."""
    model, asked = step.model, step.asked
    if len(gain) != model.states:
        return None
    g = vector(gain, "proof")
    lost: list[Fraction] = []
    for s, c in step.reached_rows():
        if not (ends.stays[c] and all(g.top[t] == g.top[s] for t in model.rows[c].target)):
            lost.append(_lost(step, s, c, g))
    if lost and min(lost) <= 0:
        return None
    size = max(map(abs, asked.reward), default=Fraction(0)) + max(map(abs, asked.paid or ()), default=Fraction(0))
    size += 2 * max(abs(Fraction(top or 0, x.below)) for top in x.top) + max(map(abs, gain))
    times = 1 << max(0, (int(4 * size / min(lost)) + 1).bit_length()) if lost else 0
    values = [x[s] + times * gain[s] for s in range(model.states)]
    return Bound.unranked(values, gain=gain)


def _lost(step: OneStep, state: int, choice: int, g: Vector) -> Fraction:
    """Return by how much a step of a choice falls short of the gain of its state, on the side to be proved."""
    row = step.model.rows[choice]
    worth = [g.finite(t) for t in row.target]
    given = row.optimum(worth, step.asked.nature_max)
    later = sum(p * v for p, v in zip(given, worth, strict=True))
    lost = Fraction(g.finite(state) * row.whole - later, row.whole * g.below)
    return lost if step.upper else -lost
