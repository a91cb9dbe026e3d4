"""Discounted sums, averages and single steps, as `judged` has reaching: exact verdicts from the theorems, and random cases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from solver.judged import ROOM, Arrays, Exact, Line, Vector, exact, size_of
from solver.judged_cases import draw_arrays


def _zero(states: int) -> Vector:
    return np.zeros(states), np.zeros(states)


@dataclass(frozen=True)
class SumCase:
    """All that `examine_discounted`, `examine_average` or `step_back` are shown; what one of them does not need is empty."""

    arrays: Arrays
    nature_max: bool
    every: bool
    choice: Any
    weight: Any
    sign: float
    reward_error: float
    x: Vector
    discount: float = 1.0
    gain: Vector = (np.empty(0), np.empty(0))
    component: Any = None
    agent_max: bool = True
    decided: Any = None
    worth: Any = None
    name: str = ""

    def rows(self, s: int) -> list[Line]:
        """Return the rows that count."""
        lines = self.arrays.lines[s]
        if self.every or self.weight.size:
            return lines
        own = self.choice[s] - self.arrays.state_ptr[s]
        return [lines[own]] if 0 <= own < len(lines) else []

    def weights(self, s: int) -> list[Fraction]:
        """Return how likely the rows of a state are."""
        begin, end = self.arrays.state_ptr[s], self.arrays.state_ptr[s + 1]
        return [Fraction(float(w)) for w in self.weight[begin:end]]

    def step(self, line: Line, s: int, x: Vector, factor: float, paying: bool) -> tuple[Fraction, Fraction]:
        """Return ``reward + sum p (factor (x_j - x_s) + paid)`` for nature's answer, and the size of its terms."""
        bare = line if paying else replace(line, earned=Fraction(0), paid=(Fraction(0),) * len(line.paid))
        values = exact(x)
        keys: list[Exact] = [
            Fraction(factor) * (values[j] - values[s]) + p for j, p in zip(bare.successor, bare.paid, strict=True)
        ]
        best, _ = bare.optima(keys, self.nature_max)
        assert isinstance(best, Fraction)
        return best, size_of(bare, x, s)

    def _passes(self, missing: Fraction, size: Fraction, room: bool, share: Fraction = Fraction(1)) -> bool:
        reward_error = Fraction(self.reward_error) * share
        return missing + 2 * reward_error <= -ROOM * size if room else missing + reward_error <= 0

    def discounted(self, room: bool) -> set[int]:
        """Return the states in which ``x >= T x`` (from below: ``x <= T x``) does not hold."""
        out = set()
        left, sign = 1 - Fraction(self.discount), Fraction(self.sign)
        values = [Fraction(v) for v in exact(self.x)]
        for s in range(self.arrays.states):
            lost = left * values[s]
            size = left * (abs(Fraction(float(self.x[0][s]))) + abs(Fraction(float(self.x[1][s]))))
            found = [self.step(line, s, self.x, self.discount, paying=True) for line in self.rows(s)]
            if self.weight.size:
                shares = self.weights(s)
                missing = sum(w * (sign * (gain - lost)) for w, (gain, _) in zip(shares, found, strict=True))
                terms = sum(w * (size + more) for w, (_, more) in zip(shares, found, strict=True))
                passes = sum(shares) > 0 and self._passes(
                    Fraction(missing), Fraction(terms), room, Fraction(sum(shares))
                )
            else:
                passes = bool(found) and all(
                    self._passes(sign * (gain - lost), size + more, room) for gain, more in found
                )
            out |= set() if passes else {s}
        return out

    def average(self, room: bool) -> set[int]:
        """Return the states in which gains do not satisfy the theorem of averages, or that have no place in the order."""
        states = range(self.arrays.states)
        everything = set(states)
        if self.arrays.can_cut:
            return everything
        gains, sign = [Fraction(v) for v in exact(self.gain)], Fraction(self.sign)
        groups = [int(k) if k >= 0 else -1 - s for s, k in enumerate(self.component)]
        members = {k: {s for s in states if groups[s] == k} for k in groups}
        out = set()
        for s in states:
            home = members[groups[s]] if groups[s] >= 0 else set()
            if groups[s] >= self.arrays.states or not self.rows(s):
                out.add(s)
                continue
            first = min(members[groups[s]])
            same = [part[s] == part[first] for part in self.gain] if room else [gains[s] == gains[first]]
            if not all(same):
                out.add(s)
            for line in self.rows(s):
                if home and line.stays(home):
                    more, size = self.step(line, s, self.x, 1.0, paying=True)
                    size += abs(Fraction(float(self.gain[0][s]))) + abs(Fraction(float(self.gain[1][s])))
                    passes = self._passes(sign * (more - gains[s]), size, room)
                else:
                    more, size = self.step(line, s, self.gain, 1.0, paying=False)
                    passes = sign * more <= (-ROOM * size if room else 0)
                out |= set() if passes else {s}
        settled: set[int] = set()
        for _ in range(len(members) + 1):
            for k, group in members.items():
                if not (room and group & out) and all(
                    (k >= 0 and line.stays(group)) or line.leads(settled) for s in group for line in self.rows(s)
                ):
                    settled |= group
        return out | (everything - settled)

    def after(self) -> list[Fraction | None]:
        """Return what one step more is worth in every state; None where the policy takes no choice of the state."""
        out: list[Fraction | None] = []
        for s in range(self.arrays.states):
            if self.decided[s]:
                out.append(Fraction(float(self.worth[s])))
                continue
            found = []
            for line in self.rows(s):
                keys: list[Exact] = [
                    Fraction(float(self.x[0][j])) + p for j, p in zip(line.successor, line.paid, strict=True)
                ]
                worth, _ = line.optima(keys, self.nature_max)
                assert isinstance(worth, Fraction)
                found.append(worth)
            if self.weight.size:
                shares = self.weights(s)
                out.append(sum((w * v for w, v in zip(shares, found, strict=True)), Fraction(0)) / sum(shares))
            else:
                out.append(None if not found else max(found) if self.agent_max else min(found))
        return out

    @cached_property
    def must_refuse(self) -> set[int]:
        """The states that the judge may not confirm."""
        return self.average(room=False) if self.component is not None else self.discounted(room=False)

    @cached_property
    def may_refuse(self) -> set[int]:
        """The states that it need not confirm."""
        return self.average(room=True) if self.component is not None else self.discounted(room=True)


def _drawn_play(rng: Generator, arrays: Arrays, weighted: bool) -> dict[str, Any]:
    choice = arrays.state_ptr[:-1] + rng.integers(0, np.diff(arrays.state_ptr))
    weight = np.empty(0)
    if weighted and rng.random() < 0.4:
        weight = rng.integers(0, 4, int(arrays.state_ptr[-1])) / 4
        weight[choice] += 0.25
        for s in range(arrays.states):
            weight[arrays.state_ptr[s] : arrays.state_ptr[s + 1]] /= float(rng.choice([1.0, 2.0]))
    elif rng.random() < 0.05:
        wrong = int(rng.integers(arrays.states))
        choice[wrong] = int(rng.choice([arrays.state_ptr[wrong] - 1, arrays.state_ptr[wrong + 1]]))
    every = not weight.size and bool(rng.random() < 0.5)
    return {"nature_max": bool(rng.integers(2)), "every": every, "choice": choice, "weight": weight}


def _split(rng: Generator, base: Any) -> Vector:
    """Return a vector as it is, or the same as a sum of two."""
    part = np.zeros(base.size)
    if rng.random() < 0.4:
        part = float(rng.choice([0.5, 2.0**-10])) * rng.choice([-1.0, 0.0, 1.0], base.size)
    return base - part, part


def _lie(rng: Generator, base: Any) -> Any:
    if rng.random() < 0.6:
        base = base.copy()
        base[int(rng.integers(base.size))] += float(rng.choice([-1, 1])) * float(
            rng.choice([1.0, 2.0**-4, 2.0**-9, 2.0**-40])
        )
    return base


def draw_discounted(rng: Generator, name: str) -> SumCase:
    """Draw a discounted sum, roughly its value less (plus) something a step, with a lie in a state or without."""
    arrays = draw_arrays(rng, signed=True)
    sign, reward_error = float(rng.choice([-1, 1])), float(rng.choice([0.0, 0.0, 2.0**-10]))
    case = SumCase(
        arrays, **_drawn_play(rng, arrays, True), sign=sign, reward_error=reward_error, x=_zero(arrays.states),
        discount=float(rng.choice([0.5, 0.75, 0.0])), name=name,
    )  # fmt: skip
    x = np.zeros(arrays.states)
    cost = float(rng.choice([0.0, 2.0**-6, 2.0**-8]))
    for _ in range(12):
        for s in range(x.size):
            found = [
                float(case.step(line, s, (x, np.zeros(x.size)), case.discount, True)[0]) + case.discount * x[s]
                for line in case.rows(s)
            ]
            if case.weight.size:
                shares = list(map(float, case.weights(s)))
                found = [float(np.dot(shares, found) / sum(shares))]
            if found:
                x[s] = np.round((sign * max(sign * v for v in found) + sign * cost) * 2**12) / 2**12
    return replace(case, x=_split(rng, _lie(rng, x)))


def draw_average(rng: Generator, name: str) -> SumCase:
    """Draw gains: what the rows of components earn at most (least), and averages of that elsewhere, with a lie or without."""
    arrays = draw_arrays(rng, signed=True, sink=bool(rng.random() < 0.4))
    states, sign = arrays.states, float(rng.choice([-1, 1]))
    reward_error = float(rng.choice([0.0, 0.0, 2.0**-10]))
    x = rng.integers(-4, 5, states) / 4 * (rng.random() < 0.7)
    component = rng.integers(-1, 2, states) if rng.random() < 0.7 else np.zeros(states, np.int64)
    if rng.random() < 0.05:
        component[int(rng.integers(states))] = states + int(rng.integers(2))
    case = SumCase(
        arrays, **_drawn_play(rng, arrays, False), sign=sign, reward_error=reward_error, x=(x, np.zeros(states)),
        gain=_zero(states), component=component, name=name,
    )  # fmt: skip
    gain = np.full(states, -sign * 8.0)
    room = float(rng.choice([0.0, 2.0**-8, 0.5]))
    staying = {}
    for s in range(states):
        home = {j for j in range(states) if component[j] == component[s] >= 0}
        staying[s] = [line for line in case.rows(s) if home and line.stays(home)]
        for line in staying[s]:
            needed = float(case.step(line, s, case.x, 1.0, True)[0])
            for j in home:
                gain[j] = sign * max(sign * gain[j], sign * needed + room)
    for _ in range(12):
        for s in range(states):
            for line in case.rows(s):
                if line not in staying[s]:
                    needed = float(case.step(line, s, (gain, np.zeros(states)), 1.0, False)[0]) + gain[s]
                    gain[s] = sign * max(sign * gain[s], np.round((sign * needed + room / 8) * 2**12) / 2**12)
        for s in range(states):
            for j in range(states):
                if component[s] == component[j] >= 0:
                    gain[s] = sign * max(sign * gain[s], sign * gain[j])
    return replace(case, gain=_split(rng, _lie(rng, gain)) if rng.random() < 0.8 else (gain, np.zeros(states)))


def draw_step(rng: Generator, name: str) -> SumCase:
    """Draw a step backwards."""
    arrays = draw_arrays(rng, signed=True)
    states = arrays.states
    x = rng.integers(-8, 9, states) / 8 * (rng.random() < 0.9)
    return SumCase(
        arrays, **_drawn_play(rng, arrays, True), sign=float(rng.choice([-1, 1])), reward_error=0.0, x=(x, np.zeros(states)),
        agent_max=bool(rng.integers(2)), decided=rng.random(states) < 0.2, worth=rng.integers(-4, 5, states) / 2, name=name,
    )  # fmt: skip


@cache
def discounted_cases(count: int) -> list[SumCase]:
    """Return discounted sums whose verdicts are worked out."""
    return _telling(draw_discounted, 21, count)


@cache
def average_cases(count: int) -> list[SumCase]:
    """Return averages whose verdicts are worked out."""
    return _telling(draw_average, 22, count)


@cache
def steps(count: int) -> list[tuple[SumCase, list[Fraction | None]]]:
    """Return steps backwards, and what they are worth."""
    drawn = [draw_step(np.random.default_rng([23, number]), f"step {number}") for number in range(count)]
    return [(case, case.after()) for case in drawn]


def _telling(draw: Any, seed: int, count: int) -> list[SumCase]:
    out: list[SumCase] = []
    number = 0
    while len(out) < count:
        case = draw(np.random.default_rng([seed, number]), f"{draw.__name__} {number}")
        number += 1
        if len(case.must_refuse) <= 1 or len(case.may_refuse) < case.arrays.states or number % 5 == 0:
            out.append(case)
    return out


PREPARED = (lambda: discounted_cases(150), lambda: average_cases(150), lambda: steps(150))
