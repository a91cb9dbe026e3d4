"""The bound behind direct evidence: checked in decimals, by exact sums, and by playing coins."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umdp.learning.candidates.candidate import JEFFREYS, informed, lower_end
from umdp.verify.statistics import mixture_rules_out, ruled_out


def exact(mixture):
    return [tuple(Fraction(each) for each in part) for part in mixture]


@settings(max_examples=60)
@given(
    plays=st.integers(1, 5000), share=st.floats(0, 1), level=st.floats(1e-12, 0.5), guess=st.floats(0, 1),
    weight=st.floats(0, 3000), fraction=st.sampled_from([0.0, 0.25, 0.3]),
)  # fmt: skip
def test_the_end_is_ruled_out_in_decimals_and_little_above_it_is_not(plays, share, level, guess, weight, fraction):
    hits = min(math.floor(plays * share) + fraction, float(plays))
    mixture = informed(guess, weight)
    end = lower_end(hits, plays, level, mixture)
    given = (Fraction(hits), plays, Fraction(level), exact(mixture))
    assert end <= hits / plays
    assert mixture_rules_out(Fraction(end) * (1 - Fraction(1, 10**9)), *given)
    above = end + 1e-7
    if hits > 0 and above < hits / plays:
        assert not mixture_rules_out(Fraction(above), *given)


@settings(max_examples=40)
@given(plays=st.integers(1, 800), hits=st.integers(0, 800), p=st.floats(0.001, 0.999), level=st.floats(1e-6, 0.5))
def test_one_part_of_a_half_is_the_confidence_sequence(plays, hits, p, level):
    hits = min(hits, plays)
    one = ruled_out(Fraction(p), hits, plays, Fraction(level), "confidence-sequence", Fraction(1, 2))
    assert mixture_rules_out(Fraction(p), Fraction(hits), plays, Fraction(level), exact(JEFFREYS)) == one


@pytest.mark.parametrize("mixture", [JEFFREYS, informed(0.3, 40), informed(0.9, 40)])
def test_a_mixture_of_likelihoods_is_a_distribution(mixture):
    """Ville's inequality needs the mixture, over all sequences of one length, to be at most 1: exactly, for ten plays."""
    total = Fraction(0)
    for hits in range(11):
        for weight, a, b in exact(mixture):
            part = weight * math.comb(10, hits)
            for i in range(hits):
                part *= a + i
            for i in range(10 - hits):
                part *= b + i
            for i in range(10):
                part /= a + b + i
            total += part
    assert total == 1


@pytest.mark.parametrize(("mean", "guess"), [(0.3, 0.3), (0.3, 0.6), (0.9, 0.5)])
def test_coins_are_seldom_underestimated_whenever_one_looks(mean, guess):
    """At level 0.1, over all looks of a run; counts that pass are looked up in a table of ends."""
    rng, level, plays, runs = np.random.default_rng(5), 0.1, 150, 1500
    mixture = informed(guess, 30)
    ends = np.array(
        [[lower_end(k, n, level, mixture) if k <= n else 1.0 for k in range(plays + 1)] for n in range(plays + 1)]
    )
    hits = np.cumsum(rng.random((runs, plays)) < mean, axis=1)
    wrong = (ends[np.arange(1, plays + 1), hits] > mean).any(axis=1).mean()
    assert wrong <= level + 3 * math.sqrt(level * (1 - level) / runs)


def test_fractions_are_no_more_than_coins():
    """Plays that count for a half each: the mean is known exactly, and never underestimated."""
    assert all(lower_end(n / 2, n, 0.2) < 0.5 for n in range(1, 2000, 7))
