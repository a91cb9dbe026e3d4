"""Sums without an end, as far as the judge confirms them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Policy
from umdp.solver.judge.question import TwoPart, rows_of
from umdp.solver.objective import Request

__all__ = ["confirm_average", "confirm_discounted"]

Array = NDArray[Any]
NOTHING: Array = np.empty(0)
NOTHING.flags.writeable = False
NOWHERE: Array = np.empty(0, np.int64)
WIDER = (0.0, *(2.0**-power for power in range(50, 21, -4)))  # of the largest value or reward


def confirm_discounted(request: Request, policy: Policy, bounds: tuple[Array, Array]) -> tuple[Array, Array, bool]:
    """Return bounds (S,) on a discounted sum that the judge confirms, and whether they are about those given.

    `policy` is the one found; where the request has one, both bounds are of its own value.
    """
    from umdp.solver.judge.horizons import Play, examine_discounted, span

    (agent_max, nature_max), model, asked = request.players, request.model, request.objective
    (low, high), given = bounds, request.policy is not None
    rows, sides, sure = rows_of(model, asked), [], True
    choice = NOWHERE if policy.choice is None else np.array(policy.choice)
    weight = policy.weights() if policy.choice is None else NOTHING
    fails = np.zeros(model.states, np.bool_)
    for bound, sign, every in ((low, -1.0, not agent_max and not given), (high, 1.0, agent_max and not given)):
        play = Play(nature_max, every, choice, weight)
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
    request: Request,
    choice: Array,
    values: Array,
    components: tuple[Array, Array],
    sides: tuple[tuple[float, Array], tuple[float, Array]],
) -> tuple[Array, Array, bool]:
    """Return bounds (S,) on a long-run average that the judge confirms, and whether they are about those given.

    `components` (S,) are those in which the policy stays, and all; `sides` are gains as sums, ``base + offset``.
    """
    from umdp.solver.judge.horizons import GainVectors, Play, examine_average

    (agent_max, nature_max), asked = request.players, request.objective
    rows, found, sure = rows_of(request.model, asked), [], True
    fails = np.zeros(request.model.states, np.bool_)
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
