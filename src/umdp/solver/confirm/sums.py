"""Sums without an end, as far as the judge confirms them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.judge.width import as_probabilities, sure_where

if TYPE_CHECKING:
    from umdp.solver.judge import ModelRows
    from umdp.solver.objective import Objective

__all__ = ["confirm_average", "confirm_bounded", "confirm_discounted"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)
NOTHING.flags.writeable = False
NOWHERE: Array = np.empty(0, np.int64)
FINE = 1e-3  # relative width up to which a bracket is taken as it is, if it holds
WIDER = (
    0.0,
    2.0**-50,
    2.0**-46,
    2.0**-42,
    2.0**-38,
    2.0**-34,
    2.0**-30,
    2.0**-26,
    2.0**-22,
)  # of the largest value or reward


def confirm_discounted(
    model: MDP | IntervalMDP,
    asked: Objective,
    players: tuple[bool, bool],
    policy: Policy,
    given: bool,
    bounds: tuple[Array, Array],
) -> tuple[Array, Array, bool]:
    """Return bounds (S,) on a discounted sum that the judge confirms, and whether they are about those given.

    `given` says that the policy was: both bounds are then of its own value.
    """
    from umdp.solver.judge.question import rows_of
    from umdp.solver.judge.rows import TwoPart
    from umdp.solver.judge.sums import Play, examine_discounted, span

    agent_max, nature_max = players
    low, high = bounds
    rows, sides, sure = rows_of(model, asked), [], True
    choice, weight = policy.choice, NOTHING
    if choice is None:
        weight = policy.weights()
    fails = np.zeros(model.states, np.bool_)
    for bound, sign, every in ((low, -1.0, not agent_max and not given), (high, 1.0, agent_max and not given)):
        play = Play(nature_max, every, NOWHERE if choice is None else np.array(choice), weight)
        size = float(np.abs(bound).max(initial=0.0))
        found = None
        if np.isfinite(bound).all():
            for share in WIDER:
                moved = TwoPart(bound + sign * share * size, np.zeros(bound.size))
                if examine_discounted(rows, play, asked.discount, asked.off, moved, sign, fails) == 0:
                    found = moved.base
                    break
        sure = sure and (found is not None or not np.isfinite(bound).all())
        if found is None:  # what every step earns at least (at most), for ever
            extreme = span(rows)[int(sign > 0)]
            ever = (extreme + sign * asked.off) / (1.0 - asked.discount)
            flat = TwoPart(np.full(bound.size, ever + sign * 2.0**-40 * abs(ever)), np.zeros(bound.size))
            held = examine_discounted(rows, play, asked.discount, asked.off, flat, sign, fails) == 0
            found = flat.base if held else np.full(bound.size, sign * np.inf)
        sides.append(found)
    return sides[0], sides[1], sure


def confirm_average(
    model: MDP | IntervalMDP,
    asked: Objective,
    players: tuple[bool, bool],
    choice: Array,
    values: Array,
    components: tuple[Array, Array],
    sides: tuple[tuple[float, Array], tuple[float, Array]],
) -> tuple[Array, Array, bool]:
    """Return bounds (S,) on a long-run average that the judge confirms, and whether they are about those given.

    `components` (S,) are those in which the policy stays, and all; `sides` are gains as sums, ``base + offset``.
    """
    from umdp.solver.judge.question import rows_of
    from umdp.solver.judge.rows import TwoPart
    from umdp.solver.judge.sums import GainVectors, Play, examine_average

    agent_max, nature_max = players
    rows, found, sure = rows_of(model, asked), [], True
    fails = np.zeros(model.states, np.bool_)
    for (base, offset), sign, every in zip(sides, (-1.0, 1.0), (not agent_max, agent_max), strict=True):
        component = components[1 if every else 0]
        inside = component >= 0
        offset = np.array(offset)
        if inside.any():  # one gain a component, the outer one
            ends = np.full(int(component.max()) + 1, -sign * np.inf)
            (np.maximum if sign > 0 else np.minimum).at(ends, component[inside], offset[inside])
            offset[inside] = ends[component[inside]]
        play = Play(nature_max, every, np.array(choice), NOTHING)
        size = max(abs(base), float(np.abs(offset).max(initial=0.0)), float(np.abs(values).max(initial=0.0)))
        held = None
        if np.isfinite(base) and np.isfinite(offset).all():
            for share in WIDER:
                gain = TwoPart(np.full(offset.size, base + sign * share * size), offset)
                if examine_average(rows, play, asked.off, GainVectors(gain, values, component), sign, fails) == 0:
                    total = gain.base + gain.offset
                    held = np.nextafter(total, sign * np.inf)
                    break
        sure = sure and held is not None
        found.append(np.full(offset.size, sign * np.inf) if held is None else held)
    return found[0], found[1], sure


def confirm_bounded(
    model: MDP | IntervalMDP,
    asked: Objective,
    players: tuple[bool, bool],
    played: tuple[Array | None, Array | None, bool],
    bounds: tuple[Array, Array],
    late: Callable[[], bool],
) -> tuple[Array, Array]:
    """Return the bounds (S,) of a step-bounded property as far as an induction that is rounded outwards confirms them.

    `played` are the choices (S,) or (K, S), else the weights (C,) or (K, C), and whether they were given: both bounds are then
    of that policy's own value. Where time runs out nothing is confirmed.
    """
    from umdp.solver.judge.question import rows_of

    agent_max, nature_max = players
    choices, weights, given = played
    if given and choices is None and weights is None:
        raise RuntimeError("a policy was given, and is not known here: please report the model and the property")
    low, high = bounds
    rows = rows_of(model, asked)
    own = (choices, weights)
    nobody = (None, None)
    below = _induct(rows, asked, players, own if given or agent_max else nobody, -1.0, late)
    above = _induct(rows, asked, players, own if given or not agent_max else nobody, 1.0, late)
    if asked.kind == "P":
        below, above = as_probabilities(below, above)
        if bool(((low > below) & (low == 1.0)).any()) and not late():
            # Where the opposite is exactly 0, this is exactly 1.
            turned = replace(asked, final=None if asked.final is None else 1.0 - asked.final, safety=not asked.safety)
            others = (not agent_max, not nature_max)
            missed = _induct(rows, turned, others, own if given or agent_max else nobody, 1.0, late)
            below = sure_where(missed, below)
    else:
        below, above = np.where(np.isnan(below), -np.inf, below), np.where(np.isnan(above), np.inf, above)
    if not asked.signed:
        below = np.maximum(below, 0.0)
    with np.errstate(invalid="ignore"):
        wide = ~(high - low <= FINE * np.maximum(np.abs(low), np.abs(high)))  # what is confirmed may be narrower then
    return np.where((low <= below) & ~wide, low, below), np.where((high >= above) & ~wide, high, above)


def _induct(
    rows: ModelRows,
    asked: Objective,
    players: tuple[bool, bool],
    own: tuple[Array | None, Array | None],
    sign: float,
    late: Callable[[], bool],
) -> Array:
    """Return bounds from one side (S,), of a policy where there is one; infinite where time runs out."""
    from umdp.solver.judge.rows import listed_order
    from umdp.solver.judge.steps import step_back
    from umdp.solver.judge.sums import Play

    assert asked.steps is not None and asked.final is not None  # noqa: PT018 - what a step bound comes with
    x = np.array(asked.final, dtype=np.float64)
    out, order = np.empty_like(x), listed_order(rows)
    choices, weights = own
    free = choices is None and weights is None
    for k in range(asked.steps - 1, -1, -1):
        if k % 16 == 15 and late():
            return np.full(x.size, sign * np.inf)
        choice, weight = NOWHERE, NOTHING
        if choices is not None:
            choice = np.array(choices if choices.ndim == 1 else choices[k], dtype=np.int64)
        elif weights is not None:
            weight = np.array(weights if weights.ndim == 1 else weights[k])
        decided, worth = asked.kept(k)
        play = Play(players[1], free, choice, weight)
        step_back(rows, play, players[0], decided, np.asarray(worth, dtype=np.float64), x, sign, order, out)
        x, out = out, x
    return x
