"""Rewards of any sign as reward structures of at least 0, and the way back: the return in the process's own units."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from umdp.model.process import Graph
from umdp.model.rewards import TERMINATED, Rewards, Units
from umdp.statements import DiagnosticCode, Statement, say

__all__ = ["in_units", "own_rewards", "reward_structures"]


def reward_structures(
    paid: NDArray[np.float64], ending: NDArray[np.bool_], beyond: NDArray[np.bool_] | None = None
) -> tuple[dict[str, Rewards], Statement | None]:
    """Return rewards on transitions, of whatever sign, as a structure of numbers of at least 0, and what was done to them.

    Rewards that are never negative are the structure ``reward``, rewards that are never positive ``cost``, turned around. Of
    both signs:

    - where only the steps that end an episode can be positive, ``cost`` is what is missing at the end to the largest of them, so
      that the return is that largest reward minus the cost until the end;
    - where only the steps that end an episode can be negative, ``reward`` is what the end pays above the smallest of them;
    - otherwise ``reward`` is what every step pays above the smallest reward, for sums over a number of steps (``C<=k``).

    Parameters
    ----------
    paid : (T,) the reward of each transition, 0 where nobody is paid
    ending : (T,) whether the transition ends an episode
    beyond : (T,), optional
        Whether the transition stands for what was never seen; nothing is earned there.

    Examples
    --------
    >>> taxi, note = reward_structures(np.array([-1.0, -10.0, 20.0, 0.0]), np.array([False, False, True, False]))
    >>> taxi["cost"].transition, taxi["cost"].units
    (array([ 1., 10.,  0.,  0.]), Units(sign=-1, once=20.0, every=0.0, reward_error=0.0))
    >>> print(note)
    rewards range from -10 to 20: "cost" counts down from 20 at the end, so that the return is 20 - cost; ask for ...
    """
    if not (paid > 0).any():
        turned = {"cost": Rewards(transition=np.abs(paid), units=Units(sign=-1))}
        return turned if paid.any() else {}, None
    if not (paid < 0).any():
        return {"reward": Rewards(transition=paid)}, None
    least, most = float(paid.min()), float(paid.max())
    on_the_way = paid[~ending]
    if not (on_the_way < 0).any():
        shifted, reward_error = _sum(paid, np.where(ending, -least, 0.0))
        above = Rewards(transition=shifted, units=Units(once=least, reward_error=reward_error))
        note = say(DiagnosticCode.SUM_FROM_LEAST, least=least, most=most, label=TERMINATED)
        return {"reward": above}, note
    if not (on_the_way > 0).any():
        shifted, reward_error = _sum(-paid, np.where(ending, most, 0.0))
        below = Rewards(transition=shifted, units=Units(sign=-1, once=most, reward_error=reward_error))
        return {"cost": below}, say(DiagnosticCode.COST_TO_MOST, least=least, most=most, label=TERMINATED)
    shift = -least
    shifted, reward_error = _sum(paid, np.full(paid.size, shift))
    every = np.where(np.zeros_like(ending) if beyond is None else beyond, 0.0, shifted)
    structure = Rewards(transition=every, units=Units(every=shift, reward_error=reward_error))
    return {"reward": structure}, say(DiagnosticCode.EVERY_STEP, least=least, most=most)


def own_rewards(graph: Graph, rewards: Rewards) -> tuple[Rewards, float]:
    """Return rewards of any sign as the process pays them, and by how much each may be off.

    Shifts are undone. What costs were turned around stays so. Nothing is off where all sums are exact, as those of whole
    numbers are. What a graph does not list earns the least that was seen: on the way there that of any step, from then on that of
    steps that do not end an episode, or nothing.

    Examples
    --------
    >>> from umdp.model import Graph
    >>> paid = Rewards(transition=[4, 0], units=Units(every=3.0))
    >>> own_rewards(Graph([0, 1], [0, 2], [0, 0]), paid)[0].transition
    array([ 1., -3.])
    """
    units = rewards.units
    if units is None or rewards.transition is None or not (units.every or units.once):
        return rewards, 0.0
    shift = np.full(graph.transitions, -units.every)
    source = np.repeat(graph.choice_state, np.diff(graph.choice_ptr))
    ends = graph.labels.get(TERMINATED, np.zeros(graph.states, dtype=np.bool_))
    ending = ends[graph.successor] & ~ends[source]
    if units.once:
        shift = shift + np.where(ending, units.sign * units.once, 0.0)
    paid = rewards.transition + shift
    exact = units.reward_error == 0 and bool(
        ((paid - shift == rewards.transition) & (paid - rewards.transition == shift)).all()
    )
    size = np.abs(rewards.transition) + np.abs(shift) + np.abs(paid)
    reward_error = 0.0 if exact else units.reward_error + 2.0**-51 * float(size.max(initial=0.0))
    if graph.rest is not None:
        unlisted = graph.successor == graph.rest
        forever = float(paid[~unlisted & ~ending].min(initial=0.0))
        paid = np.where(unlisted, float(paid[~unlisted].min(initial=forever)), paid)
        paid = np.where(source == graph.rest, forever, paid)
    return Rewards(rewards.state, rewards.choice, paid, units=Units(sign=units.sign)), reward_error


def in_units(units: Units, lower: float, upper: float, steps: int | None) -> tuple[float, float]:
    """Return bounds on the return that bounds on the value of a reward structure stand for, rounded outwards.

    Examples
    --------
    >>> in_units(Units(sign=-1, once=20.0), 12.0, math.inf, None)
    (-inf, 8.0)
    >>> in_units(Units(every=3.0), 31.0, 32.0, 10)
    (1.0, 2.0)
    """
    low, high = (lower, upper) if units.sign > 0 else (upper, lower)
    return _end(units, low, steps, -1), _end(units, high, steps, 1)


def _end(units: Units, value: float, steps: int | None, way: int) -> float:
    """Return one end of a bracket of returns: worked out exactly, then rounded outwards."""
    if math.isinf(value):
        return units.sign * value
    count = steps or 0
    shift = Fraction(units.once) - Fraction(units.every) * count + way * Fraction(units.reward_error) * max(count, 1)
    exact = units.sign * Fraction(value) + shift
    near = float(exact)
    return near if way * (Fraction(near) - exact) >= 0 else math.nextafter(near, way * math.inf)


def _sum(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return sums, and the largest error that rounding them made, which is known exactly."""
    total = first + second
    shift = total - first
    return np.maximum(total, 0.0), float(np.abs((first - (total - shift)) + (second - shift)).max(initial=0.0))
