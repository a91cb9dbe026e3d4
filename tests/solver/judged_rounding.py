"""Rows on which rounding goes wrong: inequalities that fail by less than a rounding, so that floating point alone says they hold.

Every row is that of state 0, to states of given values. The exact value of a step is worked out in rationals, and state 0 gets a
value in two parts that lies on the wrong side of it, by as little as can be said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from solver.judged import Arrays, Line

EMPTY: Any = np.empty(0)
ROWS = 40  # of each family
WIDTHS = (2, 12, 13, 14, 16, 17, 23, 32, 33, 50)


class Tight(NamedTuple):
    """A row of state 0, what states are worth (base and offset; state 0 aside), and what is earned, in the judge's order."""

    family: str
    lower: list[float]
    upper: list[float]
    base: list[float]
    offset: list[float]
    paid: list[float]
    earned: tuple[float, float]

    def arrays(self) -> Arrays:
        """Return the model: state 0 with the row, and states that are never left."""
        n = len(self.lower)
        successor = np.array([*range(1, n + 1), *range(1, n + 1)])
        ptr = np.concatenate([[0], np.arange(n, 2 * n + 1)])
        one = np.ones(n)
        lower, upper = np.concatenate([self.lower, one]), np.concatenate([self.upper, one])
        zero = np.zeros(n)
        state, choice = (np.concatenate([[v], zero]) if v else EMPTY for v in self.earned)
        paid = np.concatenate([self.paid, zero]) if any(self.paid) else EMPTY
        same = bool((lower == upper).all())
        return Arrays(np.arange(n + 2), ptr, successor, lower, lower if same else upper, state, choice, paid)

    def worth(self, line: Line, largest: bool, factor: float = 1.0) -> Fraction:
        """Return what a step from state 0 is worth, exactly."""
        keys = [
            Fraction(factor) * (Fraction(b) + Fraction(o)) + p
            for b, o, p in zip(self.base, self.offset, line.paid, strict=True)
        ]
        best, _ = line.optima(list(keys), largest)
        assert isinstance(best, Fraction)
        return best


def beside(value: Fraction, above: bool) -> tuple[float, float]:
    """Return two numbers whose exact sum lies beyond a value, above or below it, as close as can be."""
    base = float(value)
    offset = float(value - Fraction(base))
    away = math.inf if above else -math.inf
    while (Fraction(base) + Fraction(offset) <= value) if above else (Fraction(base) + Fraction(offset) >= value):
        offset = math.nextafter(offset, away)
    return base, offset


def _freed(rng: Generator, p: list[float], width: float) -> tuple[list[float], list[float]]:
    """Return bounds with two entries that nature may choose between, around the largest two."""
    lower, upper = list(p), list(p)
    for i in np.argsort(p)[-2:]:
        lower[i] -= width * p[i] * rng.random()
        upper[i] = min(upper[i] + width * p[i] * rng.random(), 1.0)
    return lower, upper


def same_way(rng: Generator, free: bool) -> Tight:
    """Many terms that are all rounded the same way when they are added up."""
    n = 48
    share = float(rng.choice([0.51, 1.49]))
    small = [share * 2.0**-53 * (1 + 1e-3 * rng.random()) for _ in range(n)]
    p = [0.5, *small, 0.5 - sum(small)]
    turned = bool(rng.integers(2))
    base = [2.0, *([1.0 + float(rng.choice([1.0, 0.5]))] * n), 0.0]
    base = [2.0 - b for b in base] if turned else base
    lower, upper = list(p), list(p)
    if free:
        lower[-1] -= 2.0**-50
        upper[-1] = 1.0
        lower[0], upper[0] = 0.5 - 2.0**-52, 0.5 + 2.0**-51
    return Tight("same way", lower, upper, base, [0.0] * len(p), [0.0] * len(p), (0.0, 0.0))


def cancelling(rng: Generator, free: bool) -> Tight:
    """Terms that nearly cancel: values against payments, first parts against second, rewards against all of it."""
    n = int(rng.integers(1, 5))
    p = rng.dirichlet(np.ones(n)).tolist()
    if not free:  # bounds that do not quite sum to 1 are divided by their sum
        uneven = 1 + 1e-12 * rng.normal()
        p = [q * uneven for q in p]
    lower, upper = _freed(rng, p, 0.3) if free and n > 1 else (p, p)
    size = float(rng.choice([1.0, 1e3, 1e8]))
    here = size * (1 + rng.random())
    paid = [float(size * rng.random()) if rng.random() < 0.6 else 0.0 for _ in range(n)]
    offset = [float(rng.normal() * size / 4) if rng.random() < 0.5 else 0.0 for _ in range(n)]
    small = float(rng.choice([1e-3, 1e-9, 1e-14]))
    earned = (0.0, 0.0)
    if rng.random() < 0.5:
        earned = (float(size * rng.random()), float(size * rng.random()) if rng.random() < 0.5 else 0.0)
    base = [here * (1 + small * rng.normal()) - v - o - sum(earned) for v, o in zip(paid, offset, strict=True)]
    return Tight("cancelling", lower, upper, base, offset, paid, earned)


def scattered(rng: Generator, free: bool) -> Tight:
    """Probabilities of all sizes, values of the opposite sizes, and what is left of 1 for one of them is tiny."""
    a = float(rng.random() * 0.5 + 0.25)
    p = [a, 1.0 - a]
    for scale in (1e-17, 1e-33, 1e-49, 1e-65)[: int(rng.integers(1, 5))]:
        p.append(float(scale * rng.random()))
    last = min(range(2), key=lambda i: p[i])
    p[last] -= 1.5 * max(sum(p[2:]), 2.0**-54)
    base = [float(min(1 / q, 1e60) * rng.random()) for q in p]
    lower, upper = list(p), list(p)
    if free:
        at = int(rng.integers(2, len(p)))
        lower[at], upper[at] = 0.0, 1.0
        base[at] = float(1e16 * rng.random() * max(base))
        if rng.random() < 0.5:  # what is left is just more than it may have, and the rest goes to another
            left = 1 - sum((Fraction(q) for i, q in enumerate(p) if i != at), Fraction(0))
            upper[at] = min(max(math.nextafter(float(left), 0.0), 0.0), 1.0)
            spill = (at + 1) % len(p)
            upper[spill] = 1.0
            base[spill] = float(1e20 * rng.random() * max(base))
        elif rng.random() < 0.5:
            upper[0] = lower[0] * (1 + 2.0**-50)
    return Tight("scattered", lower, upper, base, [0.0] * len(p), [0.0] * len(p), (0.0, 0.0))


def tiny(rng: Generator, free: bool) -> Tight:
    """Numbers next to the smallest there are."""
    n = int(rng.integers(2, 6))
    p = rng.dirichlet(np.ones(n)).tolist()
    lower, upper = _freed(rng, p, 0.3) if free else (p, p)
    base = [float(5e-324 * int(k)) for k in rng.integers(0, 12, n)]
    paid = [float(5e-324 * int(k)) for k in rng.integers(0, 3, n)] if rng.random() < 0.3 else [0.0] * n
    return Tight("tiny", lower, upper, base, [0.0] * n, paid, (float(5e-324 * int(rng.integers(0, 2))), 0.0))


def brimming(rng: Generator, free: bool) -> Tight:
    """Bounds at which nature's probability runs out where one entry ends and the next begins, up to a rounding."""
    n = int(rng.integers(3, 7))
    p = rng.dirichlet(np.ones(n))
    if not free:
        p = p * (1 + 2.0**-52 * rng.integers(-2, 3, n))
        return Tight("brimming", p.tolist(), p.tolist(), rng.random(n).tolist(), [0.0] * n, [0.0] * n, (0.0, 0.0))
    base = np.sort(rng.random(n))[:: int(rng.choice([-1, 1]))]
    served = int(rng.integers(1, n))
    lower, upper = p.copy(), p.copy()
    lower[:served] *= rng.random(served)
    upper[served:] = np.minimum(upper[served:] * (1 + rng.random(n - served)), 1.0)
    upper[:served] *= 1 + 2.0**-52 * rng.integers(-1, 2, served)
    return Tight(
        "brimming", lower.tolist(), np.maximum(lower, upper).tolist(), base.tolist(), [0.0] * n, [0.0] * n, (0.0, 0.0)
    )


def spilling(rng: Generator, free: bool) -> Tight:
    """All but one may have, together, a rounding more or less than all there is; what the last one gets decides."""
    n = int(rng.integers(2, 5))
    upper = (rng.dirichlet(np.ones(n + 1))[:n] * (0.5 + rng.random())).clip(0.0, 0.9).tolist()
    upper.append(float(1 - sum(map(Fraction, upper), Fraction(0))))
    if upper[-1] <= 0.0:
        return spilling(rng, free)
    lower = [u * float(rng.random()) for u in upper] if free else list(upper)
    height = float(10.0 ** rng.integers(15, 25))
    base = [height] * len(upper)
    last = 0.0
    if rng.random() < 0.5:
        base, last = [float(k) for k in rng.integers(0, 3, len(upper))], height
    return Tight(
        "spilling",
        [*lower, 0.0],
        [*upper, 1.0 if free else 0.0],
        [*base, last],
        [0.0] * (n + 2),
        [0.0] * (n + 2),
        (0.0, 0.0),
    )


FAMILIES = (same_way, cancelling, scattered, tiny, brimming, spilling)


def _drawn(count: int) -> Iterator[Tight]:
    for number in range(count):
        for k, family in enumerate(FAMILIES):
            if family is same_way and number % 4:  # these are long
                continue
            rng = np.random.default_rng([31, k, number])
            yield family(rng, number % 3 > 0)


class Shown(NamedTuple):
    """A vector that is false in state 0 by less than a rounding, from above if `sign` is 1, and what else there is to say."""

    about: str
    arrays: Arrays
    nature_max: bool
    sign: float
    base: Any
    offset: Any
    discount: float = 1.0
    value: Any = EMPTY
    component: Any = EMPTY


@cache
def tight_rows() -> list[tuple[str, Tight, Arrays]]:
    """Return rows of all families."""
    return [(f"{tight.family} {i}", tight, tight.arrays()) for i, tight in enumerate(_drawn(ROWS))]


def _sides() -> Iterator[tuple[str, Tight, Arrays, bool, float]]:
    for name, tight, arrays in tight_rows():
        for nature_max in (False, True):
            for sign in (-1.0, 1.0):
                yield f"{name}, nature maximises: {nature_max}, sign {sign}", tight, arrays, nature_max, sign


def _with(here: tuple[float, float], tight: Tight) -> tuple[Any, Any]:
    return np.array([here[0], *tight.base]), np.array([here[1], *tight.offset])


@cache
def tight_bounds() -> list[Shown]:
    """Return vectors for what is reached or earned."""
    out = []
    for about, tight, arrays, nature_max, sign in _sides():
        here = beside(tight.worth(arrays.lines[0][0], nature_max), above=sign < 0)
        if Fraction(here[0]) + Fraction(here[1]) >= 0:
            out.append(Shown(about, arrays, nature_max, sign, *_with(here, tight)))
    return out


@cache
def tight_discounted() -> list[Shown]:
    """Return vectors for discounted sums."""
    out = []
    for about, tight, arrays, nature_max, sign in _sides():
        for discount in (0.9, 1e-3, 1.0 - 2.0**-30):
            here = beside(tight.worth(arrays.lines[0][0], nature_max, discount), above=sign < 0)
            out.append(Shown(f"{about}, {discount}", arrays, nature_max, sign, *_with(here, tight), discount))
    return out


@cache
def tight_averages() -> list[Shown]:
    """Return gains: of a state outside components, whose gain is what a step leads to; and inside one, what a step earns."""
    out = []
    for about, tight, arrays, nature_max, sign in _sides():
        states, line = arrays.states, arrays.lines[0][0]
        if not any(tight.paid) and not any(tight.earned):
            gain = _with(beside(tight.worth(line, nature_max), above=sign < 0), tight)
            more = np.zeros(states), np.arange(states)
            out.append(Shown(f"{about}, outside", arrays, nature_max, sign, *gain, 1.0, *more))
        value = np.array([1.0, *(b + o for b, o in zip(tight.base, tight.offset, strict=True))])
        keys = [Fraction(float(v)) - 1 + p for v, p in zip(value[1:], line.paid, strict=True)]
        best, _ = line.optima(list(keys), nature_max)
        assert isinstance(best, Fraction)
        here = beside(best, above=sign < 0)
        gain = np.full(states, here[0]), np.full(states, here[1])
        more = value, np.zeros(states, np.int64)
        out.append(Shown(f"{about}, inside", arrays, nature_max, sign, *gain, 1.0, *more))
    return out


@cache
def tight_steps() -> list[tuple[Shown, Fraction, Fraction]]:
    """Return values after a step, what it is worth from state 0, and the size of its terms."""
    out = []
    for about, tight, arrays, nature_max, sign in _sides():
        line = arrays.lines[0][0]
        x = np.array([0.0, *(b + o for b, o in zip(tight.base, tight.offset, strict=True))])
        keys = [Fraction(float(v)) + p for v, p in zip(x[1:], line.paid, strict=True)]
        best, _ = line.optima(list(keys), nature_max)
        assert isinstance(best, Fraction)
        size = sum((abs(k) for k in keys), abs(line.earned))
        out.append((Shown(about, arrays, nature_max, sign, x, EMPTY), best, size))
    return out


def _greedy(lower: Any, upper: Any, key: Any, largest: bool) -> Fraction:
    """Return nature's optimum in rationals: everyone gets the lower bound, the rest goes out in order."""
    low, high, worth = ([Fraction(float(v)) for v in part] for part in (lower, upper, key))
    total, left = sum(p * v for p, v in zip(low, worth, strict=True)), 1 - sum(low)
    for i in sorted(range(len(low)), key=worth.__getitem__, reverse=largest):
        share = min(left, high[i] - low[i])
        total += share * worth[i]
        left -= share
    return Fraction(total)


def _wide(n: int, seed: int) -> tuple[Arrays, Any, Any, Any]:
    """Return a model in which state 0 has a wide row to states that are never left, its bounds, and what these are worth."""
    rng = np.random.default_rng([41, n, seed])
    p = rng.dirichlet(np.ones(n))
    lower, upper = p * rng.random(n), np.minimum(p * (1 + 3 * rng.random(n)), 1.0)
    worth = rng.permutation(n) * 1.0 if seed % 2 else rng.integers(0, 4, n) * 1.0
    one = np.ones(n)
    arrays = Arrays(
        np.arange(n + 2), np.concatenate([[0], np.arange(n, 2 * n + 1)]), np.concatenate([np.arange(1, n + 1)] * 2),
        np.concatenate([lower, one]), np.concatenate([upper, one]), EMPTY, EMPTY, EMPTY,
    )  # fmt: skip
    return arrays, lower, upper, worth


@cache
def wide_rows() -> list[tuple[Arrays, Any, dict[bool, float]]]:
    """Return models with wide rows, what successors are worth, and nature's optimum, least and largest."""
    out = []
    for n in WIDTHS:
        for seed in range(4):
            arrays, lower, upper, worth = _wide(n, seed)
            out.append((arrays, worth, {way: float(_greedy(lower, upper, worth, way)) for way in (False, True)}))
    return out


@cache
def sums_next_to_one() -> list[tuple[Any, Fraction]]:
    """Return numbers whose sum is next to 1: off by a rounding, by far less, or not at all."""
    out = []
    for seed in range(300):
        rng = np.random.default_rng([42, seed])
        scales = 10.0 ** -rng.choice([0, 0, 1, 5, 16, 17, 33, 50, 120], int(rng.integers(1, 9)))
        values = (rng.random(scales.size) * scales / (2 * scales.size)).tolist()
        for _ in range(int(rng.integers(1, 5))):
            left = 1 - sum(map(Fraction, values), Fraction(0))
            if left > 0:
                values.append(float(left))
        values = rng.permutation(values) if rng.random() < 0.7 else np.array(values)
        if rng.random() < 0.4:
            at = int(rng.integers(values.size))
            values[at] = np.nextafter(values[at], float(rng.choice([0.0, 2.0])))
        if rng.random() < 0.3:
            values = np.insert(values, int(rng.integers(values.size)), float(rng.choice([5e-324, 1e-200, 1e-30, 0.25])))
        out.append((values, sum(map(Fraction, values.tolist()), Fraction(0)) - 1))
    return out


PREPARED = (tight_bounds, tight_discounted, tight_averages, tight_steps, wide_rows, sums_next_to_one)
