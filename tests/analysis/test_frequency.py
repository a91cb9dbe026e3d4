"""Measured frequencies: their intervals against the definition, and by coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from umdp.analysis.coverage import Frequency, percent


@pytest.mark.parametrize(("hits", "runs"), [(0, 20), (1, 20), (190, 200), (200, 200), (7, 9)])
def test_the_ends_are_where_a_tail_has_two_and_a_half_per_cent(hits: int, runs: int) -> None:
    found = Frequency.of(np.arange(runs) < hits)
    assert found.share == hits / runs
    if hits:
        assert binom.sf(hits - 1, runs, found.lower) == pytest.approx(0.025)
    else:
        assert found.lower == 0
    if hits < runs:
        assert binom.cdf(hits, runs, found.upper) == pytest.approx(0.025)
    else:
        assert found.upper == 1


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.1), (30.0, 10.0), (2.0, 2.0)])
def test_the_interval_of_a_mean_share_holds_it(a: float, b: float) -> None:
    rng = np.random.default_rng(5)
    found = [Frequency.mean(rng.beta(a, b, 40)) for _ in range(200)]
    missed = sum(not each.lower <= a / (a + b) <= each.upper for each in found)
    assert missed <= binom.ppf(0.999, 200, 0.05)
    assert all(0 <= each.lower <= each.share <= each.upper <= 1 for each in found)


def test_shares_that_vary_little_are_known_well() -> None:
    found = Frequency.mean(np.random.default_rng(1).normal(0.75, 0.02, 200))
    assert found.upper - found.lower < 0.05


def test_what_is_not_there_does_not_count() -> None:
    assert Frequency.mean(np.array([np.nan, 0.5, np.nan])).runs == 1
    assert np.isnan(Frequency.mean(np.array([np.nan])).share)
    assert str(Frequency.mean(np.array([np.nan]))) == "nothing yet"


def test_only_all_of_it_is_a_hundred_per_cent() -> None:
    assert (percent(1.0), percent(1 - 1e-9), percent(1e-9), percent(0.0)) == ("100 %", "99.9 %", "0.1 %", "0 %")
