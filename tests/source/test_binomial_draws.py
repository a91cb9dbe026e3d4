"""Binomial and hypergeometric numbers in compiled code: the right law, and hats that are above what they cover."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from thoroughness import examples
from umdp.kernel import kernel
from umdp.source.simulator import draws
from umdp.source.simulator.draws import binomial, hypergeometric, log_binomial

SIZE = examples(200_000)
STRICT = 1e-6  # the share of wrong alarms of one test


@kernel
def _binomials(n: int, p: float, q: float, random: np.ndarray, out: np.ndarray) -> None:
    for i in range(out.size):
        out[i] = binomial(n, p, q, random)


@kernel
def _hypergeometrics(good: int, bad: int, number: int, random: np.ndarray, out: np.ndarray) -> None:
    for i in range(out.size):
        out[i] = hypergeometric(good, bad, number, random)


def generator(*seed: int) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


def fits(drawn: np.ndarray, law: Any) -> bool:
    """Whether numbers fit a law: chi-square over single values where they are few, else over intervals of equal shares."""
    middle, reach = float(law.mean()), 9 * float(law.std()) + 20
    low, high = (int(end) for end in law.support())
    values = np.arange(max(low, math.floor(middle - reach)), min(high, math.ceil(middle + reach)) + 1)
    if values.size > 400:
        values = np.unique(np.linspace(values[0], values[-1], 2000).astype(np.int64))
    below = law.cdf(values)
    # Intervals that end at these values, merged until each is expected to be hit some ten times.
    ends, last = [], 0.0
    for value, share in zip(values[:-1].tolist(), below[:-1].tolist(), strict=True):
        if min(share - last, 1 - share) * drawn.size >= 10:
            ends.append(value)
            last = share
    shares = np.diff(np.concatenate([[0.0], law.cdf(np.array(ends, np.int64)), [1.0]]))
    seen = np.bincount(np.searchsorted(ends, drawn), minlength=shares.size)
    statistic = ((seen - shares * drawn.size) ** 2 / (shares * drawn.size)).sum()
    assert ((drawn >= low) & (drawn <= high)).all()
    return not ends or bool(statistic < stats.chi2.isf(STRICT, len(ends)))


@pytest.mark.parametrize("n", [1, 2, 7, 30, 1000, 10**6, 10**9])
@pytest.mark.parametrize("p", [1e-12, 1e-9, 1e-3, 0.02, 0.3, 0.5, 0.8, 1 - 1e-3, 1 - 1e-9, 1 - 1e-12])
def test_binomial_numbers_have_their_law(n: int, p: float) -> None:
    out = np.empty(SIZE, np.int64)
    _binomials(n, p, 1 - p, generator(n, int(1e12 * p)), out)
    assert fits(out if p <= 0.5 else n - out, stats.binom(n, min(p, 1 - p)))


def test_what_is_close_to_1_keeps_what_it_lacks() -> None:
    out = np.empty(SIZE, np.int64)
    _binomials(10**9, 1.0, 1e-17, generator(1), out)  # no number below 1 is as close to it
    assert (out >= 10**9 - 1).all()
    _binomials(2**40, 1.0, 1e-12, generator(2), out)
    assert fits(2**40 - out, stats.binom(2**40, 1e-12))


def test_nothing_and_all() -> None:
    random = generator(3)
    assert [binomial(0, 0.3, 0.7, random), binomial(9, 0.0, 1.0, random), binomial(9, 1.0, 0.0, random)] == [0, 0, 9]
    assert [hypergeometric(0, 5, 3, random), hypergeometric(5, 0, 3, random), hypergeometric(4, 6, 10, random)] == [
        0,
        3,
        4,
    ]
    assert hypergeometric(3, 4, 0, random) == 0


@pytest.mark.parametrize("whole", [5, 20, 60, 1000, 10**5, 10**6])
@pytest.mark.parametrize("good", [0.001, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("number", [0.01, 0.3, 0.5, 0.9])
def test_hypergeometric_numbers_have_their_law(whole: int, good: float, number: float) -> None:
    out = np.empty(SIZE // 2, np.int64)
    some, many = max(1, int(good * whole)), max(1, int(number * whole))
    _hypergeometrics(some, whole - some, many, generator(whole, some, many), out)
    assert fits(out, stats.hypergeom(whole, some, many))


def test_hypergeometric_numbers_of_a_thousand_million_are_normal() -> None:
    out = np.empty(SIZE, np.int64)
    _hypergeometrics(3 * 10**8, 7 * 10**8, 5 * 10**8, generator(8), out)
    spread = math.sqrt(5e8 * 0.3 * 0.7 * 0.5)
    assert fits(np.floor((out + 0.5 - 1.5e8) / spread * 50).astype(np.int64), _Steps(0.0, 50.0))


class _Steps:
    """The law of the floor of a normal number."""

    def __init__(self, middle: float, spread: float) -> None:
        self.law = stats.norm(middle, spread)

    def mean(self) -> float:
        return float(self.law.mean())

    def std(self) -> float:
        return float(self.law.std())

    def support(self) -> tuple[int, int]:
        return -(10**9), 10**9

    def cdf(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.law.cdf(values + 1.0))


def test_logarithms_are_those_of_exact_arithmetic() -> None:
    for n in (1, 2, 5, 16, 17, 40, 300):
        for p in (1e-9, 0.125, 0.5, 0.75):
            for k in range(n + 1):
                exact = math.comb(n, k) * Fraction(p) ** k * (1 - Fraction(p)) ** (n - k)
                wanted = math.log(exact.numerator) - math.log(exact.denominator)
                assert log_binomial(float(k), float(n), p, 1 - p) == pytest.approx(wanted, rel=1e-12, abs=1e-10)


def test_ratios_of_probabilities_far_out_are_those_of_their_factors() -> None:
    for n, p in ((10**9, 0.3), (10**12, 0.5), (10**12, 1e-6)):
        mode = math.floor((n + 1) * p)
        reach = 4 * math.isqrt(int(n * p * (1 - p)))
        assert reach < 10**7
        x = np.arange(1, reach + 1, dtype=np.float64)
        for sign in (1, -1):
            # f(k + 1) / f(k) = (n - k) p / ((k + 1) q), one factor after another.
            over = (n - mode - x + 1) if sign > 0 else (mode - x + 1)
            under = (mode + x) if sign > 0 else (n - mode + x)
            ratio = p / (1 - p) if sign > 0 else (1 - p) / p
            wanted = math.fsum(np.log1p((over * ratio - under) / under).tolist())
            found = log_binomial(float(mode + sign * reach), float(n), p, 1 - p) - log_binomial(
                float(mode), float(n), p, 1 - p
            )
            assert found == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("p", [1e-6, 1e-3, 0.05, 0.3, 0.5])
@pytest.mark.parametrize("mean", [draws.SMALL, 10.7, 13.0, 30.0, 200.0, 5000.0])
def test_the_hat_of_binomial_numbers_is_above_them_and_the_squeeze_below(p: float, mean: float) -> None:
    n = math.ceil(mean / p)
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    inner, alpha = 0.92 - 4.2 / b, (2.83 + 5.1 / b) * spread
    u = np.linspace(-0.5, 0.5, 400_003)[1:-1]
    away = 0.5 - np.abs(u)
    k = np.floor((2 * a / away + b) * u + n * p + 0.5)
    ratio = np.exp(stats.binom(n, p).logpmf(k) - stats.binom(n, p).logpmf(math.floor((n + 1) * p)))
    accepted = ratio * (a / away**2 + b) / alpha
    assert accepted.max() <= 1 + 1e-9
    assert accepted[away >= 0.07].min() >= inner - 1e-9


@pytest.mark.parametrize("whole", [45, 100, 1000, 10**5])
def test_the_hat_of_hypergeometric_numbers_is_above_them(whole: int) -> None:
    for good, number in product(np.linspace(0.02, 0.5, 9).tolist(), repeat=2):
        some, many = int(good * whole), int(number * whole)
        if many > some or many <= draws.FEW or many * some / whole < draws.SMALL:
            continue  # drawn in another way
        law, mean = stats.hypergeom(whole, some, many), many * some / whole
        b = draws.D1 * math.sqrt(law.var() + 0.5) + draws.D2
        k = np.arange(many + 1)
        root = np.sqrt(np.exp(law.logpmf(k) - law.logpmf(math.floor((many + 1) * (some + 1) / (whole + 2)))))
        assert root.max() <= 1 + 1e-9
        for end in (k, k + 1):  # a step is highest above the ends of it
            assert (np.abs(end - mean - 0.5) * root).max() <= b / 2 * (1 + 1e-9)
