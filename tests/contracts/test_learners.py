"""Every learner keeps the contract, and so does one written elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from contracts.learner_contract import CHECKS, approaches_the_truth, bounds_stay_valid, check_learner
from umdp.learn import LEARNERS, LUI, MAP, PAC, UCRL2, Guarantee, Learner

EACH = [
    *(each() for each in LEARNERS.values()),
    LUI(strength_bound=(20, 30)),
    LUI(prior=(0.1, 0.9), strength=(1, 1)),
    PAC(around="mean"),
    PAC(error_rate=0.9),
    MAP(strength_bound=60),
]
STAYS_WIDE = UCRL2(strength_bound=60)


class Chebyshev(Learner):
    """Chebyshev's inequality around the mean, by a third party."""

    name: ClassVar[str] = "chebyshev"
    kept: ClassVar[tuple[str, ...]] = ("counts",)

    def __init__(self, error_rate: float = 0.05) -> None:
        self.error_rate = error_rate

    @property
    def claim(self) -> Guarantee:
        return Guarantee("fixed-N", 1 - self.error_rate)

    def begin(self) -> None:
        self.counts = np.zeros(self.graph.transitions, np.int64)
        self.update(self.counts)

    def update(self, counts: NDArray[np.int64]) -> None:
        self.counts = self.counts + counts
        samples = self.per_transition(self.per_choice(self.counts))
        mean = self.counts / np.maximum(samples, 1)
        width = np.sqrt(self.uncertain.sum() / (4 * np.maximum(samples, 1) * self.error_rate))
        width = np.where(samples > 0, width, 1)
        self.lower = np.where(self.uncertain, np.maximum(mean - width, 0), 1.0)
        self.upper = np.where(self.uncertain, np.minimum(mean + width, 1), 1.0)


class Careless(Chebyshev):
    """Forgets that a certain transition is certain."""

    def update(self, counts: NDArray[np.int64]) -> None:
        super().update(counts)
        self.lower = np.minimum(self.lower, 0.5)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("learner", EACH, ids=lambda learner: repr(learner).split(":")[0])
def test_learner(learner: Learner, check: Callable[[Learner], None]) -> None:
    check(learner)


@pytest.mark.parametrize(
    "check", [c for c in CHECKS if c is not approaches_the_truth], ids=lambda check: check.__name__
)
def test_a_learner_that_stays_wide(check: Callable[[Learner], None]) -> None:
    check(STAYS_WIDE)


def test_a_learner_written_elsewhere() -> None:
    check_learner(Chebyshev())


def test_the_suite_finds_what_is_wrong() -> None:
    with pytest.raises(AssertionError):
        bounds_stay_valid(Careless())


def test_learners_by_name() -> None:
    assert {"lui", "pac", "map", "ucrl2", "clopper-pearson", "confidence-sequence"} <= set(LEARNERS)
    assert all(name == each.name for name, each in LEARNERS.items())


@pytest.mark.parametrize("learner", EACH, ids=lambda learner: repr(learner).split(":")[0])
def test_the_label_is_shown(learner: Learner) -> None:
    assert str(learner.claim) in repr(learner)
