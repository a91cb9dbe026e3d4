"""The two sides of a bracket for models too large for rationals: the solver's values, refined and moved outwards."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.proof.approximate import Iteration, NotProved, Side, magnitude
from umdp.solver.proof.game import Game
from umdp.verify.document import Bound
from umdp.verify.induction import Arena, Refused
from umdp.verify.rationals import Number, exact

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["move_outward"]

FAINT = 64  # what is paid is smaller by that many bits than it could be, so that few strategies change for it
SEARCHED = 3000  # undecided states up to which traps are searched for
ELIMINATED = 600  # unknowns up to which chains that floating point does not solve are solved by elimination


def move_outward(arena: Arena, solution: Solution, *, lower: bool, group: NDArray[Any] | None = None) -> Bound | None:
    """Return a bound on every state that should pass the checker, and prove the solution's bracket; None if not found.

    States of the same number in `group` (S,) share a value, where it is not -1; without it, those of end components do.
    """
    try:
        return _move(arena, solution, lower, group)
    except (NotProved, Refused, ArithmeticError, ValueError):
        return None


def _move(arena: Arena, solution: Solution, lower: bool, group: NDArray[Any] | None) -> Bound:
    asked, model = arena.asked, arena.model
    low, high = solution.lower, solution.upper
    sure = (low == high) & ((low == 0) | (low == 1) & (asked.kind == "P"))
    if asked.complement:  # a small probability vanishes next to 1: what is not exactly known must not seem so
        low, high = 1 - high, 1 - low
    end = exact(solution.bracket.lower if lower != asked.complement else solution.bracket.upper)
    end = 1 - end if asked.complement else end
    trap = [-1] * model.states
    trivial: Number = Fraction(0) if lower else math.inf if asked.kind == "R" else Fraction(1)
    if not arena.open[model.initial] or end == trivial:
        kind = asked.kind
        return Bound.unranked([trivial if each else arena.decided.value(s, kind) for s, each in enumerate(arena.open)])
    if asked.aim == "reach" and asked.kind == "R" and np.isinf(low).any() and sum(arena.open) <= SEARCHED:
        game = Game(arena, arena.policy if lower and asked.agent_max else None)
        game.find_traps()
        trap = game.trap
    known = [_known(arena, s, bool(sure[s]), float(low[s]), float(high[s]), lower, trap) for s in range(model.states)]
    shared = _groups(arena, solution, known, lower) if group is None else group
    side = Side(arena, all_rows=asked.agent_max != lower, known=known, group=shared)
    if side.size == 0 or not isinstance(end, Fraction):
        return Bound.unranked([trivial if v is None else v for v in known], trap=trap)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isfinite(high), low + 0.5 * (high - low), low)
    width = Fraction(solution.bracket.upper) - Fraction(solution.bracket.lower)
    width = max(width, abs(end) / 2**60, Fraction(1, 2**1100)) / 2**12
    bits = 300 + max(0, -magnitude(width))
    attempts = [(bits, 0)] + ([(bits, 80), (2 * bits, 160), (6 * bits, 400)] if side.size <= ELIMINATED else [])
    for bits, digits in attempts:
        work = Iteration(side, middle.tolist(), bits, digits)
        with suppress(NotProved, ArithmeticError):
            extra = _pay(work, model.initial, end, width, lower)
            return Bound.unranked(_rounded(work, side, extra, lower), trap=trap)
    raise NotProved("more digits are needed")


def _pay(work: Iteration, initial: int, end: Fraction, width: Fraction, lower: bool) -> int:
    """Move the values outwards as far as the bracket allows; return what is paid per step for it."""
    fine = int(width * work.unit) >> 20
    work.run(0, fine, fine >> (80 if work.digits else 44))
    here = work.x.finite(initial)
    room = here - int(end * work.unit) if lower else int(end * work.unit) - here
    if room <= 0:
        room = max(here >> 58, int(width * work.unit))
    many = 1
    for _ in range(5):  # what is paid may make strategies better that take more steps
        own, steps = work.side.of[initial], work.steps()
        many = max(many * 2, (steps[own] if own >= 0 else max(steps)) + 1)
        extra = room // (2 * many) >> FAINT
        if extra < many << 20:
            raise NotProved("more digits are needed")
        work.run(-extra if lower else extra, extra >> 2, (extra >> 6) // many)
        if abs(work.x.finite(initial) - here) <= room:
            return extra
    return extra


def _known(
    arena: Arena, state: int, sure: bool, low: float, high: float, lower: bool, trap: list[int]
) -> Number | None:
    """Return the value of a state that needs no search: decided, or exactly known to the solver."""
    if not arena.open[state]:
        return arena.decided.value(state, arena.asked.kind)
    if arena.asked.kind == "R" and (trap[state] >= 0 if lower else math.isinf(high)):
        return math.inf
    return Fraction(low) if sure else None


def _groups(arena: Arena, solution: Solution, known: list[Number | None], lower: bool) -> NDArray[Any] | None:
    """Return the end components in which a value is shared, -1 elsewhere; None where there can be none."""
    asked, model = arena.asked, solution.model
    collects = asked.kind == "P" or asked.aim == "total"  # one who does loses nothing by leaving what pays nothing
    if lower in (asked.agent_max, collects):
        return None
    from umdp.solver.judge.question import bounds_of
    from umdp.solver.kernels.end_components import end_components
    from umdp.solver.kernels.structs import ChoiceRows

    usable = np.array(arena.decided.usable)
    if asked.kind == "R":
        usable &= np.array([not any(arena.earned(c, arena.unit)) for c in range(model.choices)])
    least, most = bounds_of(model)
    if asked.agent_max != asked.nature_max and asked.aim == "reach":  # nature will not help to stay
        least = np.ones_like(least)
    inside = np.array([value is None for value in known])
    rows = ChoiceRows.of(
        model.state_ptr, model.choice_ptr, model.successor, least, np.ascontiguousarray(most), np.empty(0)
    )
    component, _, _ = end_components(rows, inside, usable)
    groups = np.asarray(component).astype(np.int64)
    # A state that no choice can stay in is in no component of more than one state.
    return np.where(inside, groups, -1)


def _rounded(work: Iteration, side: Side, extra: int, lower: bool) -> list[Number]:
    """Return the values with no more digits than the room for rounding asks for."""
    shift = max((extra >> 4).bit_length() - 1, 0)
    rewards = work.arena.asked.kind == "R"
    found: list[Number] = []
    for s, known in enumerate(side.known):
        if known is not None:
            found.append(known)
            continue
        top = work.x.finite(s)
        top = max(top >> shift, 0) << shift if lower else -(-top >> shift) << shift
        value = Fraction(max(top, 0), work.unit)
        found.append(value if rewards else min(value, Fraction(1)))
    return found
