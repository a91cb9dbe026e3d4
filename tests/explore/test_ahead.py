"""Compiled looks ahead against the plain versions in `reference`, and against rationals."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explore import reference
from thoroughness import examples
from umdp.explore import ahead

quick = settings(max_examples=examples(200))
SEEDS = st.integers(0, 2**32 - 1)


class Drawn(NamedTuple):
    """A model with a policy, and what its choices earn."""

    state_ptr: np.ndarray
    choice_ptr: np.ndarray
    successor: np.ndarray
    prob: np.ndarray
    earned: np.ndarray
    halt: np.ndarray
    choice: np.ndarray
    initial: int

    def visits(self, module: object, steps: int) -> np.ndarray:
        given = self.choice_ptr, self.successor, self.prob, self.choice, self.halt, self.initial, steps
        return module.visits(*given)  # type: ignore[attr-defined, no-any-return]

    def earnings(self, module: object, steps: int) -> np.ndarray:
        given = self.state_ptr, self.choice_ptr, self.successor, self.prob, self.earned, self.halt, steps
        return module.earnings(*given)  # type: ignore[attr-defined, no-any-return]


def drawn(seed: int, widest: int = 4) -> Drawn:
    """Return a model at random, with loops, states at which trajectories end, and choices that earn nothing."""
    rng = np.random.default_rng(seed)
    states = int(rng.integers(1, 12))
    state_ptr = np.concatenate(([0], np.cumsum(rng.integers(1, 4, states))))
    choices = int(state_ptr[-1])
    sizes = rng.integers(1, widest + 1, choices)
    choice_ptr = np.concatenate(([0], np.cumsum(sizes)))
    raw = rng.random(int(choice_ptr[-1])) + 0.01
    prob = raw / np.repeat(np.add.reduceat(raw, choice_ptr[:-1]), sizes)
    return Drawn(
        state_ptr, choice_ptr, rng.integers(0, states, raw.size).astype(np.int32), prob,
        np.where(rng.random(choices) < 0.5, 0.0, rng.random(choices)), rng.random(states) < 0.2,
        state_ptr[:-1] + rng.integers(0, np.diff(state_ptr)), int(rng.integers(states)),
    )  # fmt: skip


@quick
@given(SEEDS, st.integers(1, 1000))
def test_visits_are_those_of_the_plain_version(seed: int, steps: int) -> None:
    model = drawn(seed)
    np.testing.assert_allclose(model.visits(ahead, steps), model.visits(reference, steps), rtol=1e-12)


@quick
@given(SEEDS, st.integers(1, 1000))
def test_earnings_are_those_of_the_plain_version_to_the_last_digit(seed: int, steps: int) -> None:
    """Weights go to all choices that earn most, so that those which are equal must stay so."""
    model = drawn(seed)
    np.testing.assert_array_equal(model.earnings(ahead, steps), model.earnings(reference, steps))


@quick
@given(SEEDS, st.integers(1, 1000))
def test_earnings_of_wide_rows_are_those_of_the_plain_version(seed: int, steps: int) -> None:
    model = drawn(seed, widest=40)
    np.testing.assert_allclose(model.earnings(ahead, steps), model.earnings(reference, steps), rtol=1e-9)


def rows(model: Drawn) -> list[list[tuple[int, Fraction]]]:
    """Return the successors of each choice with their probabilities."""
    pairs = [(int(s), Fraction(float(p))) for s, p in zip(model.successor, model.prob, strict=True)]
    return [pairs[begin:end] for begin, end in pairwise(model.choice_ptr)]


@quick
@given(SEEDS, st.integers(1, 6))
def test_visits_of_a_few_steps_in_rationals(seed: int, steps: int) -> None:
    model = drawn(seed)
    now = {model.initial: Fraction(1)}
    total = [Fraction(int(s == model.initial)) for s in range(model.halt.size)]
    for _ in range(steps - 1):
        entered: dict[int, Fraction] = defaultdict(Fraction)
        for state, chance in now.items():
            for target, p in [] if model.halt[state] else rows(model)[model.choice[state]]:
                entered[target] += chance * p
        now = entered
        total = [each + now.get(s, 0) for s, each in enumerate(total)]
        if sum(chance for s, chance in now.items() if not model.halt[s]) <= reference.TAIL:
            break
    assert model.visits(ahead, steps).tolist() == pytest.approx([float(x) for x in total], rel=1e-12)


@quick
@given(SEEDS, st.integers(1, 6))
def test_earnings_of_a_few_steps_in_rationals(seed: int, steps: int) -> None:
    model = drawn(seed)
    best = [Fraction(0)] * model.halt.size
    for _ in range(steps):
        worth = [
            Fraction(float(own)) + sum(p * best[s] for s, p in row)
            for own, row in zip(model.earned, rows(model), strict=True)
        ]
        ends = enumerate(pairwise(model.state_ptr))
        before, best = best, [Fraction(0) if model.halt[s] else max(worth[a:b]) for s, (a, b) in ends]
        if max(abs(a - b) for a, b in zip(before, best, strict=True)) <= reference.TAIL * max(best):
            break
    assert model.earnings(ahead, steps).tolist() == pytest.approx([float(x) for x in worth], rel=1e-12)
