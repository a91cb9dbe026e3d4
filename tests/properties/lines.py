"""Random lines of any length (see `oracles.ruin`), and the brackets of all their states against exact values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oracles.ruin import Row, chances
from properties.bridge import outside
from properties.soundness import METHODS, PRECISIONS, Tally, shown
from umdp import IntervalMDP, Policy, solve


def _row(rng: np.random.Generator) -> Row:
    stay = float(rng.choice([0.0, 0.3, 0.9, 1 - 1e-9, 1 - 1e-15]))
    up, down = 0.2 + rng.random(2)
    up, down = (1 - stay) * up / (up + down), (1 - stay) * down / (up + down)
    width = float(rng.choice([0.0, 1e-12, 1e-3, 0.5]))
    if width == 0.0:
        return (stay, stay), (float(up), float(up)), (float(down), float(down))
    return (stay * (1 - width), 1.0), (up * (1 - width), up * (1 + width)), (down * (1 - width), down * (1 + width))


def draw(seed: int, number: int, states: tuple[int, int]) -> tuple[list[list[Row]], IntervalMDP]:
    """Return a line, and the package's model of it."""
    rng = np.random.default_rng([seed, number])
    size = int(rng.integers(states[0], states[1] + 1))
    line = [[_row(rng) for _ in range(int(rng.integers(1, 3)))] for _ in range(size)]
    state_ptr, choice_ptr, successor, lower, upper = [0], [0], [], [], []
    for s, rows in enumerate(line):
        for row in rows:
            for target, (low, high) in zip(
                (s, s + 1 if s + 1 < size else size, s - 1 if s else size + 1), row, strict=True
            ):
                if high > 0:
                    successor.append(target)
                    lower.append(low)
                    upper.append(min(high, 1.0))
            choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    for s in (size, size + 1):
        successor.append(s)
        lower.append(1.0)
        upper.append(1.0)
        choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    labels = {"goal": [size]}
    return line, IntervalMDP(state_ptr, choice_ptr, successor, lower, upper, labels=labels, initial=size // 2)


def misses(seed: int, number: int, tally: Tally, *, states: tuple[int, int] = (40, 400)) -> Iterator[str]:
    """Yield a sentence for every bracket of one line that misses the exact value."""
    line, model = draw(seed, number, states)
    rng = np.random.default_rng([seed, number, 1])
    tally.models += 1
    for agent, nature in (("max", "min"), ("max", "max"), ("min", "max"), ("min", "min")):
        exact = chances(line, agent == "max", nature == "max")
        method, precision = str(rng.choice(METHODS)), float(rng.choice(PRECISIONS))
        start = model.state_ptr[:-1] + rng.integers(0, np.diff(model.state_ptr))
        found = solve(
            model, f'P{agent}{nature}=? [ F "goal" ]', method=method, precision=precision,
            start=Policy(model, start) if rng.random() < 0.5 else None,
        )  # fmt: skip
        tally.solved += 1
        tally.certified += found.status.is_precise
        for s, value in enumerate(exact):
            tally.brackets += 1
            if outside(found.lower[s], value, found.upper[s]):
                yield (
                    f"seed {seed} line {number}, P{agent}{nature}, {method}, {precision}, state {s} of {len(line)}: "
                    f"[{found.lower[s]!r}, {found.upper[s]!r}] misses {shown(value)}"
                )
