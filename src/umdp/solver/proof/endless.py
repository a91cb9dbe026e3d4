"""Certificates of discounted sums: the solver's values, refined in integers until a step proves the claim."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.verify.document import Bound
from umdp.verify.endless import OneStep
from umdp.verify.numbers import Vector

__all__ = ["discounted_bound"]

Array = NDArray[Any]
ROUNDS = 40
DIGITS = 60  # binary places behind those of the width that is to be proved


class _Refinement:
    """Values as integers over a power of two, on the states that count, and what one exact step changes of them."""

    def __init__(self, step: OneStep, guess: Array, width: Fraction) -> None:
        self.step = step
        model = step.model
        bits = DIGITS + max(0, 1 - _log2(width))
        self.unit = max(1 << bits, step.unit)
        self.states = [s for s, needed in enumerate(step.reached) if needed]
        self.place = {s: i for i, s in enumerate(self.states)}
        tops = [
            round(Fraction(float(guess[s])) * self.unit) if math.isfinite(guess[s]) else 0 for s in range(model.states)
        ]
        self.x = Vector(list(tops), self.unit)
        self.discount = step.asked.discount

    def look(self) -> tuple[list[int], list[tuple[int, list[int]]]]:
        """Return what a step changes, rounded away from what is to be proved, with the choices and answers that it takes."""
        step, best = self.step, max if self.step.asked.agent_max else min
        change, picks = [], []
        for s in self.states:
            found = []
            for c in step.rows(s):
                total, below, given = step.backup(c, self.x, self.discount)
                found.append((-(-total // below) if step.upper else total // below, c, given))
            value, c, given = best(found, key=lambda each: each[0])
            here = self.x.top[s]
            assert here is not None
            change.append(value - here)
            picks.append((c, given))
        return change, picks

    def matrix(self, picks: list[tuple[int, list[int]]]) -> Any:
        """Return one minus the discounted chain of the picks, in floating point."""
        import scipy.sparse as sp

        source, target, entry = [], [], []
        factor = float(self.discount)
        for i, (c, given) in enumerate(picks):
            row = self.step.model.rows[c]
            for p, t in zip(given, row.target, strict=True):
                if p:
                    source.append(i)
                    target.append(self.place[t])
                    entry.append(-factor * (p / row.whole))
        size = len(self.states)
        return (sp.csr_matrix((entry, (source, target)), shape=(size, size)) + sp.identity(size, format="csr")).tocsc()

    def move(self, by: Array, scale: int) -> None:
        """Add corrections, given in parts of `scale` over the unit."""
        for s, part in zip(self.states, by.tolist(), strict=True):
            here = self.x.top[s]
            assert here is not None
            self.x.top[s] = here + (int(part * 2.0**60) * scale >> 60)


def discounted_bound(step: OneStep, guess: Array, width: Fraction) -> Bound:
    """Return a vector that proves the discounted sum from one side, to well within `width`.

    With D = T x - x, the vector x + min D / (1 - g) rises by a step, and x + max D / (1 - g) falls.
    """
    work = _Refinement(step, guess, width * (1 - step.asked.discount))
    extreme = max if step.upper else min
    enough = int(width * (1 - step.asked.discount) * work.unit) >> 12
    last = None
    change, picks = work.look()
    for _ in range(ROUNDS):
        worst = max(map(abs, change))
        if worst <= enough or (last is not None and 2 * worst > last):
            break
        last, kept = worst, list(work.x.top)
        work.move(_solved(work.matrix(picks), change, worst), worst)
        change, picks = work.look()
        if max(map(abs, change)) > worst:  # strategies that answer each other in turn: a plain step never leads away
            work.x.top[:] = kept
            change, picks = work.look()
            work.move(np.array([c / worst for c in change]), worst)
            change, picks = work.look()
    least = Fraction(extreme(change)) / (1 - step.asked.discount)
    shift = math.ceil(least) if step.upper else math.floor(least)
    return _bound(work, shift)


def _solved(matrix: Any, change: list[int], worst: int) -> Array:
    from scipy.sparse.linalg import splu

    scaled = np.array([float((c << 60) // worst) * 2.0**-60 for c in change])
    try:
        found: Array = splu(matrix).solve(scaled)
    except (RuntimeError, MemoryError):
        return np.zeros(len(change))
    return found if bool((np.abs(found) < 1e200).all()) else np.zeros(len(change))


def _bound(work: _Refinement, shift: int) -> Bound:
    model = work.step.model
    values = [Fraction(0)] * model.states
    for s in work.states:
        here = work.x.top[s]
        assert here is not None
        values[s] = Fraction(here + shift, work.unit)
    none = [-1] * model.states
    return Bound(list(values), none, none)


def _log2(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()
