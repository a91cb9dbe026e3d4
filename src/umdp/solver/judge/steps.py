"""The judge of step-bounded properties: the induction once more, every backup rounded outwards.

A bound on the values with k steps to go gives one with k + 1: T is monotone. Nothing else is needed, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.rows import EPS, LEAST, ModelRows, RowReading, TwoPart, collect, listed_order
from umdp.solver.judge.sums import Play
from umdp.solver.judge.width import as_probabilities, as_rewards, sure_where

if TYPE_CHECKING:
    from umdp.solver.objective import Objective

__all__ = ["bounds_of_steps", "step_back"]

Array = NDArray[Any]
Own = tuple[Array | None, Array | None]
NOWHERE: Array = np.empty(0, np.int64)
NOTHING: Array = np.empty(0)
NOBODY: Own = (None, None)
MOST = 1.7976931348623157e308
OFTEN = 16  # steps after which the clock is looked at


@kernel
def step_back(
    rows: ModelRows,
    play: Play,
    agent_max: bool,
    decided: Array,
    worth: Array,
    x: Array,
    sign: float,
    order: Array,
    out: Array,
) -> None:
    """Write bounds (S,) on values with one step more to go; `decided` states (S,) have theirs in `worth` (S,).

    With `play.every`, the agent's best row counts, else the policy's, or all of its rows with their weights.
    """
    choices, weighted = rows.choice_ptr.size - 1, play.weight.size > 0
    counted, value, error = np.empty(choices, np.bool_), np.empty(choices), np.empty(choices)
    for s in range(x.size):
        for c in range(rows.state_ptr[s], rows.state_ptr[s + 1]):
            counted[c] = not decided[s] and (play.weight[c] > 0.0 if weighted else play.every or c == play.choice[s])
    side = RowReading(sign, play.nature_max, 1.0, False, True, False)
    collect(rows, counted, TwoPart(x, np.zeros(x.size)), value[:0], side, (0, x.size), order, value, error)
    for s in range(x.size):
        if decided[s]:
            out[s] = worth[s]
            continue
        first, last = rows.state_ptr[s], rows.state_ptr[s + 1]
        best, total, whole = -np.inf if agent_max else np.inf, 0.0, 0.0
        for c in range(first, last):
            if counted[c]:
                found = value[c]
                if error[c] > 0.0:
                    found += sign * (error[c] + 2.0 * EPS * abs(found) + LEAST)
                if np.isnan(found):  # what is no number bounds nothing
                    found = sign * np.inf
                if weighted:
                    part = play.weight[c] * found
                    total += part + sign * (4.0 * (last - first) + 8.0) * EPS * abs(part)
                    total += sign * (LEAST if found != 0.0 else 0.0)  # a product next to 0 may vanish
                    whole += play.weight[c]
                best = max(best, found) if agent_max else min(best, found)
        if weighted:  # weights sum to 1 up to rounding, and are meant to do so exactly
            best = total / whole
            best += sign * ((4.0 * (last - first) + 8.0) * EPS * abs(best) + (LEAST if best != 0.0 else 0.0))
        elif not (play.every or first <= play.choice[s] < last):
            best = sign * np.inf
        if np.isnan(best):
            best = sign * np.inf
        out[s] = min(best, MOST) if sign < 0.0 else max(best, -MOST)  # a sum beyond all numbers is not infinite


def bounds_of_steps(
    rows: ModelRows, asked: Objective, players: tuple[bool, bool], own: Own, given: bool, late: Callable[[], bool]
) -> tuple[Array, Array]:
    """Return bounds (S,) on a step-bounded property, as wide as can be where time runs out.

    `own` are a policy's choices (S,) or (K, S), else its weights (C,) or (K, C). On the side that the agent wants, they are
    bounds of what this policy is worth; if it was `given`, on both.
    """
    agent_max, nature_max = players
    if own[0] is None and own[1] is None:
        raise ValueError("there is no policy")
    below = _induct(rows, asked, players, own if given or agent_max else NOBODY, -1.0, late)
    above = _induct(rows, asked, players, own if given or not agent_max else NOBODY, 1.0, late)
    if asked.kind == "P":
        below, above = as_probabilities(below, above)
        if bool((above == 1.0).any()) and not late():
            # Where the opposite is exactly 0, this is exactly 1.
            assert asked.final is not None
            turned = replace(asked, final=1.0 - asked.final, safety=not asked.safety)
            others = (not agent_max, not nature_max)
            missed = _induct(rows, turned, others, own if given or agent_max else NOBODY, 1.0, late)
            below = sure_where(missed, below)
        return below, above
    below, above = np.where(np.isnan(below), -np.inf, below), np.where(np.isnan(above), np.inf, above)
    return (below, above) if asked.signed else as_rewards(below, above)


def _induct(
    rows: ModelRows, asked: Objective, players: tuple[bool, bool], own: Own, sign: float, late: Callable[[], bool]
) -> Array:
    """Return bounds from one side (S,), of a policy where there is one; infinite where time runs out."""
    assert asked.steps is not None and asked.final is not None  # noqa: PT018 - what a step bound comes with
    x = np.array(asked.final, dtype=np.float64)
    out, order = np.empty_like(x), listed_order(rows)
    choices, weights = own
    free = choices is None and weights is None
    least, most = -np.inf if asked.signed else 0.0, 1.0 if asked.kind == "P" else np.inf
    for k in range(asked.steps - 1, -1, -1):
        if k % OFTEN == OFTEN - 1 and late():
            return np.full(x.size, sign * np.inf)
        choice, weight = NOWHERE, NOTHING
        if choices is not None:
            choice = np.array(choices if choices.ndim == 1 else choices[k], dtype=np.int64)
        elif weights is not None:
            weight = np.array(weights if weights.ndim == 1 else weights[k])
        decided, worth = asked.kept(k)
        play = Play(players[1], free, choice, weight)
        step_back(rows, play, players[0], decided, np.asarray(worth, dtype=np.float64), x, sign, order, out)
        np.clip(out, least, most, out=out)
        x, out = out, x
    return x
