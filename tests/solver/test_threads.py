"""The number of threads changes no answer, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest
from bench.families import FAMILIES, build

from umdp import Status, solve

CASES = [
    (family, kind, asked)
    for family in ("random", "grid", "maze", "clusters", "layered")
    for kind in ("plain", "interval")
    for asked in getattr(FAMILIES[family], kind)
]


@pytest.mark.parametrize(("family", "kind", "asked"), CASES)
def test_threads_change_nothing(family: str, kind: str, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("umdp.solver.threads.SHARE", 20)
    monkeypatch.setattr("umdp.solver.methods.by_component.LARGE", 100)
    model = build(FAMILIES[family], 4_000, kind)
    one, *others = (solve(model, asked, threads=threads) for threads in (1, 2, 5))
    assert one.status is Status.CERTIFIED
    for other in others:
        assert np.array_equal(one.lower, other.lower)
        assert np.array_equal(one.upper, other.upper)
        assert np.array_equal(one.policy.weights(), other.policy.weights())
        assert one.statistics.iterations == other.statistics.iterations
