"""Updates of the paper's learners are compiled; here they are once more in NumPy, from the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from umdp import LUI, MAP, PAC, UCRL2, Graph

Array = NDArray[Any]
FAN = Graph(
    [0, 3, 4, 5, 6, 7], [0, 2, 5, 6, 10, 11, 12, 13], [1, 2, 1, 2, 3, 4, 0, 1, 2, 3, 2, 3, 4]
)  # choices of two, three, one and four successors
BEGIN, SIZES = FAN.choice_ptr[:-1], np.diff(FAN.choice_ptr)
SETTINGS: list[Any] = [
    LUI(), LUI(strength_bound=(20, 40)), LUI(prior=(0.05, 0.9)), PAC(), PAC(error_rate=0.3, prior=2), PAC(around="mean"), MAP(),
    MAP(strength_bound=60), MAP(prior=1.001), UCRL2(), UCRL2(prior=1.5, strength_bound=30),
]  # fmt: skip
batches = st.lists(st.lists(st.integers(0, 50), min_size=13, max_size=13), min_size=1, max_size=5)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    for learner in (LUI(), PAC()):
        learner.bind(FAN).learn(np.ones(FAN.transitions, np.int64))


def over(values: Array) -> Array:
    """Return the sums over each choice, for each of its transitions."""
    return np.repeat(np.add.reduceat(values, BEGIN), SIZES)


def lui(learner: LUI, counts: Array) -> dict[str, Array]:
    samples = over(counts)
    frequency = counts / np.maximum(samples, 1)
    found: dict[str, Array] = {}
    for name, against in (("lower", frequency < learner.lower), ("upper", frequency > learner.upper)):
        strength = np.where(over(against.astype(int)) > 0, learner.strength_lower, learner.strength_upper)
        bound = getattr(learner, name)
        found[name] = np.where(samples > 0, (strength * bound + counts) / (strength + samples), bound)
    for name, most in zip(("lower", "upper"), learner.strength_bound or (np.inf, np.inf), strict=True):
        found[f"strength_{name}"] = np.minimum(getattr(learner, f"strength_{name}") + samples, most)
    return found


def dirichlet(learner: Any, counts: Array) -> dict[str, Array]:
    bound = getattr(learner, "strength_bound", None) or np.inf
    excess = learner.excess + counts
    total, limit = over(excess), np.repeat(bound - SIZES, SIZES)
    scaled = (over(counts) > 0) & (total > limit) & learner.uncertain
    excess = np.where(scaled, excess * np.where(scaled, limit / np.maximum(total, 1e-300), 1.0), excess)
    samples = np.minimum(learner.samples + np.add.reduceat(counts, BEGIN), bound)
    estimate = excess / np.maximum(over(excess), 1e-300)
    width, floor = np.zeros(FAN.choices), 0.0
    if isinstance(learner, PAC):
        width = np.sqrt(np.log(2 / learner.level) / (2 * np.maximum(samples, 1)))
        width, floor = np.where(samples > 0, width, 1.0), 1e-4 if learner.around == "map" else 0.0
    if isinstance(learner, UCRL2):
        steps = max(int(learner.steps[0]) + int(counts.sum()), 1)
        actions = np.diff(FAN.state_ptr)[FAN.choice_state]
        width, floor = (
            np.sqrt(14 * FAN.states * np.log(2 * actions * steps / learner.error_rate) / np.maximum(samples, 1)),
            1e-4,
        )
    around = np.repeat(width, SIZES)
    lower, upper = np.maximum(estimate - around, floor), np.minimum(estimate + around, 1.0)
    infeasible = (over(lower) > 1) | (over((lower > upper).astype(int)) > 0)
    lower = np.where(infeasible & (over((estimate < floor).astype(int)) > 0), np.minimum(lower, estimate), lower)
    return {
        "excess": excess, "samples": samples, "lower": np.where(learner.uncertain, lower, 1.0),
        "upper": np.where(learner.uncertain, upper, 1.0),
    }  # fmt: skip


@pytest.mark.parametrize("number", range(len(SETTINGS)))
@given(batches)
def test_an_update_is_that_of_the_formulas(number: int, given: list[list[int]]) -> None:
    learner = SETTINGS[number].bind(FAN)
    for counts in given:
        batch = np.array(counts, np.int64)
        expected = (lui if isinstance(learner, LUI) else dirichlet)(learner, batch)
        before = {name: getattr(learner, name) for name in expected}
        kept = {name: array.copy() for name, array in before.items()}
        learner.update(batch)
        for name, array in expected.items():
            np.testing.assert_allclose(getattr(learner, name), array, rtol=1e-12, atol=1e-15)
            np.testing.assert_array_equal(before[name], kept[name])  # who holds an array still has what was in it
