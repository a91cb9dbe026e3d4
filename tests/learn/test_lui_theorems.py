"""The paper's theorems and lemmas on LUI, as properties."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from learn.small import counted, definition_3, fan
from thoroughness import examples
from umdp.learn import LUI

ROUNDING = 1e-12


@dataclass(frozen=True)
class Prior:
    """A valid prior of one choice, with strengths and some batches of counts."""

    lower: list[float]
    upper: list[float]
    weak: float
    strong: list[float]
    batches: list[list[int]]

    @property
    def size(self) -> int:
        return len(self.lower)

    def learner(self) -> LUI:
        full = [np.ones(self.size)]  # for the states that stay where they are
        pairs = [np.concatenate([x, *full]) for x in (self.lower, self.upper)]
        return LUI(tuple(pairs), (self.weak, np.concatenate([self.strong, self.weak * full[0]]))).bind(fan(self.size))


@st.composite
def priors(draw: st.DrawFn) -> Prior:
    """Draw bounds around a distribution, wide or not at all, and counts near it or far away."""
    size = draw(st.integers(2, 5))
    parts = draw(st.lists(st.integers(1, 1000), min_size=size, max_size=size))
    middle = [p / sum(parts) for p in parts]
    shares = st.lists(st.floats(0, 0.999), min_size=size, max_size=size)
    width = draw(st.sampled_from([0.0, 0.1, 1.0]))
    lower = [p * (1 - width * t) for p, t in zip(middle, draw(shares), strict=True)]
    upper = [p + width * t * (1 - p) for p, t in zip(middle, draw(shares), strict=True)]
    weak = draw(st.floats(1, 1e4))
    strong = [weak * draw(st.floats(1, 100)) for _ in range(size)]
    batches = []
    for _ in range(draw(st.integers(1, 4))):
        most = 10 ** draw(st.integers(0, 6))
        counts = draw(st.lists(st.integers(0, most), min_size=size, max_size=size))
        if draw(st.booleans()):
            counts = [round(p * most) for p in middle]
        batches.append(counts)
    return Prior(lower, upper, weak, strong, batches)


def steps(prior: Prior) -> list[tuple[LUI, LUI, NDArray[np.int64]]]:
    """Return, for every batch with samples, the learner before, the learner after, and the counts of the choice."""
    learner = prior.learner()
    found = []
    for counts in prior.batches:
        before = learner.clone()
        learner.learn(counted(learner.graph, counts))
        if sum(counts):
            found.append((before, learner.clone(), np.array(counts)))
    assume(found)
    return found


@settings(max_examples=examples(300))
@given(priors())
def test_it_is_definition_3(prior: Prior) -> None:
    for before, after, counts in steps(prior):
        m = prior.size
        share = counts / counts.sum()
        # Exact and rounded frequencies may disagree on which side of a bound they are.
        assume(np.abs(np.concatenate([share - before.lower[:m], share - before.upper[:m]])).min() > 1e-15)
        bounds = [(Fraction(a), Fraction(b)) for a, b in zip(before.lower[:m], before.upper[:m], strict=True)]
        strength = [
            (Fraction(a), Fraction(b))
            for a, b in zip(before.strength_lower[:m], before.strength_upper[:m], strict=True)
        ]
        exact = np.array(definition_3(bounds, strength, counts.tolist()), dtype=np.float64)
        np.testing.assert_allclose(after.lower[:m], exact[:, 0], rtol=1e-14)
        np.testing.assert_allclose(after.upper[:m], exact[:, 1], rtol=1e-14)


@settings(max_examples=examples(300))
@given(priors())
def test_theorem_1_intervals_stay_intervals(prior: Prior) -> None:
    for _, after, _ in steps(prior):
        assert (after.lower > 0).all()
        assert (after.lower <= after.upper).all()
        assert (after.upper <= 1).all()


@settings(max_examples=examples(300))
@given(priors())
def test_theorem_2_distributions_stay_inside(prior: Prior) -> None:
    m = prior.size
    for before, after, counts in steps(prior):
        share = counts / counts.sum()
        assert after.lower[:m].sum() <= 1 + ROUNDING
        assert after.upper[:m].sum() >= 1 - ROUNDING
        if (share >= before.lower[:m]).all():  # agreement
            assert after.lower[:m].sum() >= before.lower[:m].sum() - ROUNDING
        if (share <= before.upper[:m]).all():
            assert after.upper[:m].sum() <= before.upper[:m].sum() + ROUNDING


@settings(max_examples=examples(300))
@given(priors())
@example(Prior([1e-4, 1e-4], [0.9999, 0.9999], 5, [10, 10], [[1, 0]]))
def test_lemma_at_most_all_but_one_successor_are_in_conflict(prior: Prior) -> None:
    m = prior.size
    for before, _, counts in steps(prior):
        share = counts / counts.sum()
        assert (share > before.upper[:m] + ROUNDING).sum() <= m - 1
        assert (share < before.lower[:m] - ROUNDING).sum() <= m - 1


@settings(max_examples=examples(300))
@given(priors())
def test_lemma_no_successor_is_in_conflict_with_both_of_its_bounds(prior: Prior) -> None:
    # One successor, that is: a choice may well be in conflict at both ends, as after a single sample of the default prior.
    for before, _, counts in steps(prior):
        share = counts / counts.sum()
        assert not ((share > before.upper[: prior.size]) & (share < before.lower[: prior.size])).any()


@settings(max_examples=examples(100))
@given(priors())
def test_bounds_move_towards_the_data(prior: Prior) -> None:
    m = prior.size
    for before, after, counts in steps(prior):
        share = counts / counts.sum()
        for old, new in ((before.lower, after.lower), (before.upper, after.upper)):
            inside = np.minimum(old[:m], share) - ROUNDING, np.maximum(old[:m], share) + ROUNDING
            assert ((inside[0] <= new[:m]) & (new[:m] <= inside[1])).all()
