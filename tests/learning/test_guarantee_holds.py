"""The any-time promise, kept: the truth inside the learned model, and the bracket below the optimum, at every look."""

from __future__ import annotations

import pytest

from umdp import ConfidenceSequence, anytime, benchmark
from umdp.explore import Optimism


def kept(name: str, seed: int, trajectories: int) -> bool:
    """Whether every snapshot of a run keeps what the guarantee promises."""
    bench = benchmark.BENCHMARKS[name]
    truth = bench.build()
    p, rises = truth.probability, name != "chain"
    for snapshot in anytime(
        truth, bench.spec, ConfidenceSequence(error_rate=0.01), explorer=Optimism(0.8), seed=seed, horizon=bench.horizon,
        trajectories=trajectories,
    ):  # fmt: skip
        learned = snapshot.model
        if not ((learned.lower <= p) & (p <= learned.upper)).all():
            return False
        low, high = snapshot.bracket.lower, snapshot.bracket.upper
        if (low > bench.optimum * (1 + 1e-9)) if rises else (high < bench.optimum * (1 - 1e-9)):
            return False
    return True


@pytest.mark.parametrize(
    ("name", "runs", "trajectories"),
    [("aircraft", 20, 60), pytest.param("aircraft", 1000, 300, marks=pytest.mark.slow)],
)
def test_the_promise_is_kept_at_every_look(name: str, runs: int, trajectories: int) -> None:
    failures = sum(not kept(name, seed, trajectories) for seed in range(runs))
    assert failures <= 0.01 * runs
