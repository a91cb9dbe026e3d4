"""Random rows, problems and graphs as bare arrays, for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from umdp.solver.kernels.structs import ChoiceRows, SystemRows
from umdp.solver.reduction.problem import Problem

Floats = NDArray[np.float64]
VALUES = [0.0, 1.0, 0.5, 0.25, 3.0]


def fractions(values: Floats) -> NDArray[np.object_]:
    """Return the numbers as they are, exactly."""
    return np.array([Fraction(float(v)) for v in values], dtype=object)


def slack_of(lower: Floats) -> float:
    """Return 1 minus the sum of the lower bounds, rounded once."""
    return float(1 - fractions(lower).sum())


@dataclass(frozen=True)
class Row:
    """Bounds that admit a distribution, exactly, and one value per entry."""

    lower: Floats
    upper: Floats
    x: Floats


@st.composite
def rows(draw: st.DrawFn, *, smallest: int = 1) -> Row:
    """Draw a row of up to 8 entries: wide, narrow, certain, with tiny shares, with tied values."""
    size = draw(st.integers(smallest, 8))
    parts = draw(st.lists(st.sampled_from([1, 1, 2, 3, 7, 1e-6, 1e-12]), min_size=size, max_size=size))
    p = np.array(parts) / sum(parts)
    margins = st.sampled_from([0.0, 0.0, 1e-12, 1e-3, 0.25, 0.5, 1.0])
    down = np.array(draw(st.lists(margins, min_size=size, max_size=size)))
    up = np.array(draw(st.lists(margins, min_size=size, max_size=size)))
    lower, upper = p * (1 - down), np.minimum(p * (1 + up), 1.0)
    if fractions(lower).sum() > 1 or fractions(upper).sum() < 1:  # by rounding: make room for it
        lower, upper = lower * (1 - 2.0**-50), np.minimum(upper * (1 + 2.0**-50), 1.0)
    if size == 1:
        lower = upper = np.ones(1)
    value = st.one_of(
        st.sampled_from(VALUES), st.floats(0, 1), st.floats(0, 1e120, allow_subnormal=False), st.just(1e-200)
    )
    x = np.array(draw(st.lists(value, min_size=size, max_size=size)))
    return Row(lower, upper, x)


def random_row(rng: Generator, size: int) -> tuple[Floats, Floats]:
    """Return bounds of a row: a distribution, or room around one on some entries."""
    raw = rng.integers(1, 9, size).astype(float)
    p = raw / raw.sum()
    if size == 1 or rng.random() < 0.25:
        return p, p.copy()
    free = rng.random(size) < 0.7
    lower = np.where(free, p * rng.choice([0.0, 0.5, 0.9]), p)
    return lower, np.where(free, np.minimum(p * rng.choice([1.1, 2.0, 9.0]), 1.0), p)


def random_problem(rng: Generator, *, exits: tuple[float, float] = (1.0, 0.0), rewards: bool = False) -> Problem:
    """Return a system of 2 to 9 unknowns, 1 to 3 rows each of 1 to 8 entries, as one component."""
    n = int(rng.integers(2, 10))
    row_ptr, entry_ptr = [0], [0]
    target: list[int] = []
    lower: list[float] = []
    upper: list[float] = []
    slack: list[float] = []
    for _ in range(n):
        for _ in range(int(rng.integers(1, 4))):
            size = int(rng.integers(1, min(8, n + 2) + 1))
            low, high = random_row(rng, size)
            target += [int(t) for t in rng.choice(n + 2, size=size, replace=False)]
            lower += list(low)
            upper += list(high)
            slack.append(0.0 if (low == high).all() else slack_of(low))
            entry_ptr.append(len(target))
        row_ptr.append(len(slack))
    sizes = np.diff(entry_ptr)
    order = (np.arange(len(target)) - np.repeat(entry_ptr[:-1], sizes)).astype(np.int32)
    reward = rng.choice([0.0, 1.0, 2.5], len(slack)) if rewards else np.zeros(len(slack))
    return Problem(
        SystemRows(
            np.array([0, n]),
            np.array(row_ptr),
            np.array(entry_ptr),
            np.array(target, np.int32),
            np.array(lower),
            np.array(upper),
            np.array(slack),
            reward,
            order,
        ),
        np.arange(len(slack), dtype=np.int32),
        np.arange(n, dtype=np.int32),
        exits,
    )


@dataclass(frozen=True)
class Arrays:
    """A graph as arrays, with bounds some of which are 0."""

    state_ptr: NDArray[np.int64]
    choice_ptr: NDArray[np.int64]
    successor: NDArray[np.int32]
    lower: Floats
    upper: Floats

    @property
    def states(self) -> int:
        return self.state_ptr.size - 1

    @property
    def choices(self) -> int:
        return self.choice_ptr.size - 1

    @property
    def rows(self) -> ChoiceRows:
        """Return the arrays as kernels take them."""
        return ChoiceRows.of(self.state_ptr, self.choice_ptr, self.successor, self.lower, self.upper, np.empty(0))

    def own(self, state: int) -> range:
        """Return the choices of a state."""
        return range(int(self.state_ptr[state]), int(self.state_ptr[state + 1]))

    def edges(self, choice: int) -> range:
        """Return the transitions of a choice."""
        return range(int(self.choice_ptr[choice]), int(self.choice_ptr[choice + 1]))

    def targets(self, choice: int) -> set[int]:
        """Return the successors of a choice."""
        return {int(self.successor[t]) for t in self.edges(choice)}


def random_graph(rng: Generator, *, states: int, zero_lower: bool = False) -> Arrays:
    """Return a sparse graph with 1 to 3 choices per state and 1 to 3 successors per choice."""
    state_ptr, choice_ptr = [0], [0]
    successor: list[int] = []
    lower: list[float] = []
    upper: list[float] = []
    for s in range(states):
        for _ in range(int(rng.integers(1, 4))):
            size = int(rng.integers(1, min(3, states) + 1))
            drawn = rng.choice(states, size=size, replace=False)
            if rng.random() < 0.2:
                drawn[0] = s
            drawn = np.unique(drawn)
            low, high = random_row(rng, drawn.size)
            if zero_lower and drawn.size > 1 and rng.random() < 0.6:
                cut = rng.random(drawn.size) < 0.6
                low, high = np.where(cut, 0.0, low), np.where(cut, 1.0, high)
            successor += [int(t) for t in drawn]
            lower += list(low)
            upper += list(high)
            choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    return Arrays(
        np.array(state_ptr), np.array(choice_ptr), np.array(successor, np.int32), np.array(lower), np.array(upper)
    )
