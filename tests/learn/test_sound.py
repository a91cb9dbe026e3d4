"""Clopper-Pearson and the confidence sequence: ends in exact rationals, the budget, tightening, what breaks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import betainc, betaln

from learn.small import coin, counted, fan
from thoroughness import examples
from umdp import Graph, ModelError
from umdp.learn import ClopperPearson, ConfidenceSequence, Learner
from umdp.learn.binomial import Binomial, tighten

F = Fraction
SOUND = [ClopperPearson, ConfidenceSequence]
LEVELS = [0.5, 0.05, 1e-3, 1e-9, 1e-25]


def interval(learner: Binomial, hits: int, misses: int) -> tuple[float, float]:
    """Return the first successor's interval after one look, for a learner over one choice of two."""
    bound = learner.bind(coin()).learn([hits, misses, 0, 0])
    return float(bound.lower[0]), float(bound.upper[0])


# -- ends in exact rationals ---------------------------------------------------------------------------------


def rising(n: int) -> F:
    """Return (1/2) (3/2) (5/2) ..., n factors."""
    return math.prod((F(2 * i + 1, 2) for i in range(n)), start=F(1))


def outside_sequence(p: F, hits: int, misses: int, level: float) -> bool:
    """Whether the data are too unlikely under p; B(1/2 + k, 1/2 + n - k) / B(1/2, 1/2) is a rational."""
    mixture = rising(hits) * rising(misses) / math.factorial(hits + misses)
    return p**hits * (1 - p) ** misses <= F(level) * mixture


def outside_clopper_pearson(p: F, hits: int, misses: int, level: float) -> bool:
    """Whether as many hits or more, or as many or fewer, have a probability of at most half the level."""
    n = hits + misses
    law = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    return min(sum(law[hits:]), sum(law[: hits + 1])) <= F(level) / 2


@settings(max_examples=examples(200))
@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from(LEVELS), st.sampled_from(SOUND))
def test_ends_are_just_outside(hits: int, misses: int, level: float, kind: type[Binomial]) -> None:
    outside = outside_sequence if kind is ConfidenceSequence else outside_clopper_pearson
    low, high = interval(kind(level), hits, misses)
    if hits == 0:
        assert low == 0
    else:
        assert outside(F(low), hits, misses, level)
        assert not outside(F(low) * (1 + F(1, 10**8)), hits, misses, level)
    if misses == 0:
        assert high == 1
    else:
        assert outside(F(high), hits, misses, level)
        assert not outside(1 - (1 - F(high)) * (1 + F(1, 10**8)) - F(1, 10**15), hits, misses, level)


def test_before_any_sample_nothing_is_known() -> None:
    for kind in SOUND:
        assert interval(kind(0.05), 0, 0) == (0, 1)


def test_clopper_pearson_by_hand() -> None:
    # One hit in one sample: p >= a/2. No hit in n: (1 - p)^n >= a/2.
    assert interval(ClopperPearson(0.1), 1, 0) == pytest.approx((0.05, 1))
    assert interval(ClopperPearson(0.1), 0, 3) == pytest.approx((0, 1 - 0.05 ** (1 / 3)))
    assert interval(ClopperPearson(1e-30), 2, 0) == pytest.approx((math.sqrt(5e-31), 1))


def test_confidence_sequence_by_hand() -> None:
    # One hit in one sample: the mixture gives it probability 1/2, so p >= a/2. Two of two: 3/8, so p^2 >= 3 a / 8.
    assert interval(ConfidenceSequence(0.1), 1, 0) == pytest.approx((0.05, 1))
    assert interval(ConfidenceSequence(0.1), 2, 0) == pytest.approx((math.sqrt(0.0375), 1))
    # With b = 1, the uniform mixture: 1/2, then 1/3.
    assert interval(ConfidenceSequence(0.1, prior=1), 2, 0) == pytest.approx((math.sqrt(0.1 / 3), 1))


@pytest.mark.parametrize("samples", [10**3, 10**5, 10**7, 10**9, 10**12])
@pytest.mark.parametrize("share", [1e-9, 1e-3, 0.05, 0.5, 0.97])
@pytest.mark.parametrize("level", [0.05, 1e-20])
def test_confidence_sequence_for_many_samples(samples: int, share: float, level: float) -> None:
    hits = max(1, round(share * samples))
    misses = samples - hits
    goal = betaln(0.5 + hits, 0.5 + misses) - betaln(0.5, 0.5) + math.log(level)

    def excess(p: float) -> float:
        return float(hits * math.log(p) + misses * math.log1p(-p) - goal)

    low, high = interval(ConfidenceSequence(level), hits, misses)
    middle = hits / samples
    expected = brentq(excess, 1e-300, middle, xtol=1e-300, rtol=1e-14), brentq(excess, middle, 1 - 1e-16, xtol=1e-17)
    # Where gamma functions cancel, both the expectation and the learner know less; the learner errs outwards.
    width = expected[1] - expected[0]
    near, noise = (5e-3 * width, 1e-5 * width) if samples > 10**7 else (1e-6 * width, 1e-9 * width)
    assert expected[0] - near <= low <= expected[0] + noise
    assert expected[1] - noise <= high <= expected[1] + near


@pytest.mark.parametrize(
    ("hits", "samples"), [(1000, 359_939_642_931), (10**6, 10**12), (3, 10**12), (10**12 - 3, 10**12)]
)
def test_clopper_pearson_for_many_samples(hits: int, samples: int) -> None:
    # scipy's own inverse is far off, on the wrong side, for the first of these.
    for level in (0.05, 1e-12):
        low, high = interval(ClopperPearson(level), hits, samples - hits)
        assert low < hits / samples < high
        assert betainc(hits, samples - hits + 1, low) == pytest.approx(level / 2, rel=1e-2)
        assert betainc(samples - hits, hits + 1, 1 - high) == pytest.approx(level / 2, rel=1e-2)


@pytest.mark.parametrize(("samples", "width"), [(10**2, 0.468), (10**3, 0.163), (10**4, 0.054), (10**5, 0.0178)])
def test_the_widths_of_chain(samples: int, width: float) -> None:
    low, high = interval(ConfidenceSequence(0.01 / 186), samples // 2, samples // 2)
    assert high - low == pytest.approx(width, rel=0.01)


def test_rare_events_are_bounded_more_tightly_than_by_hoeffding() -> None:
    low, high = interval(ConfidenceSequence(0.01 / 186), 500, 9500)
    assert high - low < 0.55 * 2 * math.sqrt(math.log(2 * 186 / 0.01) / (2 * 10**4))


# -- all successors together ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SOUND)
def test_two_successors_mirror_each_other(kind: type[Binomial]) -> None:
    learner = kind(0.01).bind(coin()).learn([17, 230, 0, 0])
    assert learner.lower[0] == pytest.approx(1 - learner.upper[1], abs=1e-15)
    assert learner.upper[0] == pytest.approx(1 - learner.lower[1], abs=1e-15)


@pytest.mark.parametrize("kind", SOUND)
def test_error_is_spent_on_what_matters(kind: type[Binomial]) -> None:
    graph = Graph([0, 4, 5, 6, 7], [0, 2, 5, 8, 10, 11, 12, 13], [0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 1, 2, 3])
    assert kind(0.01).bind(graph).bounds == 1 + 3 + 3 + 1
    learner = kind(0.01).bind(graph, matters=[True, True, False, False, True, True, True])
    assert learner.bounds == 1 + 3
    assert learner.level == pytest.approx(0.01 / 4)
    assert 4 * F(learner.level) <= F(0.01)
    learner.learn(np.full(graph.transitions, 50))
    assert learner.lower[5:10].tolist() == [0] * 5
    assert learner.upper[5:10].tolist() == [1] * 5
    assert learner.lower[0] == pytest.approx(interval(kind(0.01 / 4), 50, 50)[0], rel=1e-12)
    assert learner.lower[2] == pytest.approx(interval(kind(0.01 / 4), 50, 100)[0], rel=1e-12)


@pytest.mark.parametrize("kind", SOUND)
def test_nothing_to_pay_for(kind: type[Binomial]) -> None:
    learner = kind(0.01).bind(coin(), matters=[False] * 3).learn([5, 5, 5, 5])
    assert learner.bounds == 0
    assert learner.lower.tolist() == [0, 0, 1, 1]
    assert learner.upper.tolist() == [1, 1, 1, 1]


def test_tightening() -> None:
    # [0.5, 0.6] and [0.2, 0.3] leave [0.1, 0.3] for the third, which leaves the first two as they are.
    lower, upper = tighten(np.array([0.5, 0.2, 0.0]), np.array([0.6, 0.3, 1.0]), np.array([3]))
    assert lower.tolist() == pytest.approx([0.5, 0.2, 0.1])
    assert upper.tolist() == pytest.approx([0.6, 0.3, 0.3])


@pytest.mark.parametrize("kind", SOUND)
def test_bounds_are_tightened(kind: type[Binomial]) -> None:
    graph = fan(3)
    learner = kind(0.01).bind(graph).learn(counted(graph, [900, 95, 5]))
    low, high = learner.lower[:3], learner.upper[:3]
    rest = np.array([low.sum() - low, high.sum() - high])
    assert (high <= 1 - rest[0] + 1e-14).all()
    assert (low >= 1 - rest[1] - 1e-14).all()
    alone = interval(kind(0.01 / 3), 900, 100)
    assert alone[0] <= low[0] <= high[0] <= alone[1]


@pytest.mark.parametrize("kind", SOUND)
def test_only_what_was_sampled_is_bounded_anew(kind: type[Binomial]) -> None:
    graph = fan(3, copies=2)
    learner = kind(0.01).bind(graph).learn(counted(graph, [5, 5, 5, 9, 9, 9]))
    before = learner.clone()
    learner.learn(counted(graph, [10, 0, 0]))
    assert np.array_equal(learner.lower[3:], before.lower[3:])
    assert np.array_equal(learner.upper[3:], before.upper[3:])
    assert learner.lower[0] > before.lower[0]


# -- over time -----------------------------------------------------------------------------------------------


def test_what_was_excluded_stays_excluded() -> None:
    rng = np.random.default_rng(3)
    learner = ConfidenceSequence(0.01).bind(fan(4))
    low, high = learner.lower, learner.upper
    for _ in range(300):
        learner.learn(counted(learner.graph, rng.multinomial(5, [0.6, 0.2, 0.15, 0.05]).tolist()))
        assert (learner.lower >= low).all()
        assert (learner.upper <= high).all()
        low, high = learner.lower, learner.upper
    assert not learner.broken.any()
    assert learner.claim.kind == "any-time"


def test_clopper_pearson_depends_on_the_totals_only() -> None:
    at_once = ClopperPearson().bind(fan(3)).learn(counted(fan(3), [30, 20, 10]))
    in_parts = ClopperPearson().bind(fan(3))
    for _ in range(10):
        in_parts.learn(counted(fan(3), [3, 2, 1]))
    assert np.array_equal(at_once.lower, in_parts.lower)
    assert np.array_equal(at_once.upper, in_parts.upper)


def test_a_change_empties_the_intersection_and_is_told() -> None:
    graph = fan(2, copies=2)
    learner = ConfidenceSequence(0.01).bind(graph).learn(counted(graph, [9000, 1000, 100, 100]))
    assert "whenever you stop" in repr(learner)
    learner.learn(counted(graph, [0, 90_000, 100, 100]))
    assert learner.broken.tolist() == [1, 0, 0, 0]
    assert learner.lower[0] < 0.09 < learner.upper[0]  # the newest interval, 9 of 100
    assert learner.model.contains(graph.with_probability([0.09, 0.91, 0.5, 0.5, 1, 1]))
    assert learner.claim.kind == "none"
    assert "no guarantee" in repr(learner)
    assert learner.bind(graph).claim.kind == "any-time"


def test_an_intersection_without_a_distribution_is_empty() -> None:
    # Each of the three keeps an interval, but their lower ends come from different times and sum to more than 1.
    learner = ConfidenceSequence(0.5).bind(fan(3))
    learner.least = np.array([0.4, 0.0, 0.0, 1, 1, 1])
    learner.learn(counted(learner.graph, [36, 40, 34]))
    assert learner.broken[0] == 0
    learner.least = np.array([0.4, 0.38, 0.25, 1, 1, 1])
    learner.learn(counted(learner.graph, [1, 1, 1]))
    assert learner.broken[0] == 1
    assert learner.model.lower[:3].sum() <= 1


@pytest.mark.parametrize("kind", SOUND)
def test_bad_settings_are_refused(kind: type[Learner]) -> None:
    for rate in (0, 1, -1, "half", float("nan")):
        with pytest.raises(ModelError, match=r"error_rate is .*; give"):
            kind(rate)  # type: ignore[call-arg]
    for prior in (0, -1, float("inf"), float("nan"), [0.5, 0.5]):
        with pytest.raises(ModelError, match=r"prior is .*; give"):
            ConfidenceSequence(0.01, prior=prior)  # type: ignore[arg-type]
