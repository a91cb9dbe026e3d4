"""The test that two groups of samples have one probability: by exact rationals, and by how often it fails."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp.learn.two_samples import contradiction

counts = st.integers(0, 40)


def mixture(hits: int, misses: int) -> Fraction:
    """Return the integral of p^k (1-p)^l over the arcsine law: a product of odd numbers over even ones."""
    odd = [Fraction(2 * i + 1, 2) for i in range(max(hits, misses))]
    return math.prod(odd[:hits]) * math.prod(odd[:misses]) / Fraction(math.factorial(hits + misses))


@given(counts, counts, counts, counts)
def test_the_evidence_is_the_ratio_of_likelihoods(a: int, b: int, c: int, d: int) -> None:
    n = a + b + c + d
    if n == 0:
        return
    likelihood = Fraction(a + c, n) ** (a + c) * Fraction(b + d, n) ** (b + d)
    exact = mixture(a, b) * mixture(c, d) / likelihood
    level = 0.9
    (found,) = contradiction(*(np.array([float(x)]) for x in (a, b, c, d)), level)
    wanted = math.log(exact) + math.log(level)
    if found == -np.inf:
        assert wanted < 0
    else:
        assert wanted - 1e-9 <= found <= wanted


def test_it_fails_as_seldom_as_promised_though_it_is_made_after_every_sample() -> None:
    rng, runs, level = np.random.default_rng(3), 2000, 0.2
    failed = np.zeros(runs, np.bool_)
    k, n = np.zeros((2, runs)), np.zeros((2, runs))
    for _ in range(300):
        # Which group is next depends on what was seen: the one that makes the difference larger, if the last draws did.
        group = (rng.random(runs) < np.where(k[0] * n[1] > k[1] * n[0], 0.8, 0.3)).astype(np.int64)
        hit = rng.random(runs) < 0.3
        k[group, np.arange(runs)] += hit
        n[group, np.arange(runs)] += 1
        failed |= contradiction(k[0], n[0] - k[0], k[1], n[1] - k[1], level) >= 0
    assert failed.mean() <= level


@pytest.mark.parametrize(("one", "other", "enough"), [(0.5, 0.6, 3500), (0.95, 0.05, 25), (0.8, 0.2, 80)])
def test_differences_are_found(one: float, other: float, enough: int) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.binomial(enough, one, 200).astype(float), rng.binomial(enough, other, 200).astype(float)
    assert (contradiction(a, enough - a, b, enough - b, 0.01 / 100) >= 0).mean() > 0.95


def test_huge_counts_do_not_contradict_by_rounding() -> None:
    n = np.array([1e10, 1e12])
    assert (contradiction(n / 2, n / 2, n / 2, n / 2, 0.5) < 0).all()
    assert (contradiction(n / 2, n / 2, n / 2 + 1, n / 2 - 1, 0.999) < 0).all()
