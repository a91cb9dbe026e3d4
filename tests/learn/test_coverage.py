"""How often bounds hold, by simulation with fixed seeds: each choice of one graph is a run of its own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from learn.small import fan
from umdp.learn import LUI, PAC, ClopperPearson, ConfidenceSequence, Learner

RUNS = 2000
LEVEL = 0.1  # the error rate of one run


def covered(learner: Learner, truth: list[float], looks: list[int], seed: int = 0) -> NDArray[np.bool_]:
    """Return at which looks, after so many more samples each, which runs held the truth, shape (looks, RUNS)."""
    rng = np.random.default_rng(seed)
    graph = fan(len(truth), RUNS)
    bound = learner.bind(graph)
    inside = np.ones((len(looks), RUNS), np.bool_)
    edge = RUNS * len(truth)
    counts = np.zeros(graph.transitions, np.int64)
    for look, samples in enumerate(looks):
        counts[:edge] = rng.multinomial(samples, truth, size=RUNS).ravel()
        bound.learn(counts)
        low, high = (x[:edge].reshape(RUNS, -1) for x in (bound.lower, bound.upper))
        inside[look] = ((low <= truth) & (truth <= high)).all(axis=1)
    return inside


class Runs(ConfidenceSequence):
    """Spends the error rate on every choice anew, since each is a run of its own."""

    @property
    def level(self) -> float:
        return LEVEL * RUNS / self.bounds


class OneLook(ClopperPearson):
    """Spends the error rate on every choice anew."""

    @property
    def level(self) -> float:
        return LEVEL * RUNS / self.bounds


class Mean(PAC):
    """Spends the error rate on every choice anew."""

    @property
    def level(self) -> float:
        return LEVEL * RUNS / int(self.uncertain.sum())


TRUTHS = [[0.5, 0.5], [0.03, 0.97], [0.6, 0.25, 0.1, 0.05]]


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
def test_the_confidence_sequence_holds_at_all_times(truth: list[float]) -> None:
    assert covered(Runs(), truth, [1] * 400 + [100] * 20).all(axis=0).mean() >= 1 - LEVEL


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
@pytest.mark.parametrize("samples", [7, 100, 3000])
def test_clopper_pearson_holds_at_one_look(truth: list[float], samples: int) -> None:
    assert covered(OneLook(), truth, [samples]).mean() >= 1 - LEVEL


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
@pytest.mark.parametrize("samples", [7, 100, 3000])
def test_pac_holds_at_one_look_around_the_mean(truth: list[float], samples: int) -> None:
    assert covered(Mean(around="mean"), truth, [samples]).mean() >= 1 - LEVEL


def test_one_look_is_one_look() -> None:
    assert covered(OneLook(), [0.5, 0.5], [1] * 400 + [100] * 20).all(axis=0).mean() < 1 - 2 * LEVEL


def test_pac_fails_around_the_mode() -> None:
    assert covered(Mean(around="map"), [0.96, 0.02, 0.01, 0.01], [50]).mean() == 0


def test_intervals_of_lui_are_not_confidence_intervals() -> None:
    # After 16, 128 and 1024 samples in batches that double: 89 %, 45 % and 17 % of intervals hold p = 0.5.
    inside = covered(LUI(), [0.5, 0.5], [1] + [2**i for i in range(10)])
    assert inside[[4, 7, 10]].mean(axis=1) == pytest.approx([0.89, 0.45, 0.17], abs=0.03)
