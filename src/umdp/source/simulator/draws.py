"""Random numbers in compiled code: xoshiro256++, and exact draws of binomial and hypergeometric numbers.

Small means are drawn by inversion, large ones by rejection: BTRS (Hoermann, 1993) for binomial numbers, the ratio of uniforms
(Stadlober, 1990) for hypergeometric ones. What is accepted is decided by the probabilities themselves, in the form of deviances
(Loader, 2000), which keeps their ratios right to about 1e-10 where numbers go up to 1e12.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["binomial", "hypergeometric", "uniform"]

Array = NDArray[Any]
SMALL = 10.0  # means below it are drawn by inversion
FEW = 12  # draws from an urn that are made one by one
# What Stirling's formula lacks of log k!, exactly for small k.
LACKING = np.array(
    [math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - 0.5 * math.log(2 * math.pi) for k in range(1, 17)]
)
# The hat of the ratio of uniforms: b = D1 sqrt(variance + 1/2) + D2.
D1, D2 = 2 * math.sqrt(2 / math.e), 3 - 2 * math.sqrt(3 / math.e)


@kernel(allocates=False)
def uniform(random: Array) -> float:
    """Return the next number in [0, 1), of 53 bits; `random` (4,) is the state of the generator."""
    a, b, c, d = random[0], random[1], random[2], random[3]
    x = a + d
    r = ((x << np.uint64(23)) | (x >> np.uint64(41))) + a
    t = b << np.uint64(17)
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= t
    d = (d << np.uint64(45)) | (d >> np.uint64(19))
    random[0], random[1], random[2], random[3] = a, b, c, d
    return float(r >> np.uint64(11)) * 1.1102230246251565e-16


@kernel(allocates=False)
def _lacking(k: float) -> float:
    """Return log k! less Stirling's formula, for k > 0."""
    if k <= 16:
        return float(LACKING[int(k) - 1])
    square = k * k
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / k


@kernel(allocates=False)
def _deviance(k: float, mean: float) -> float:
    """Return k log(k / mean) + mean - k, for k > 0."""
    d = (k - mean) / mean
    return mean * ((1 + d) * math.log1p(d) - d)


@kernel(allocates=False)
def log_binomial(k: float, n: float, p: float, q: float) -> float:
    """Return the logarithm of the probability of k among n, with q = 1 - p, both positive."""
    if k <= 0:
        return n * (math.log1p(-p) if p < 0.5 else math.log(q))
    if k >= n:
        return n * (math.log1p(-q) if q < 0.5 else math.log(p))
    return (
        _lacking(n) - _lacking(k) - _lacking(n - k) - _deviance(k, n * p) - _deviance(n - k, n * q)
        + 0.5 * math.log(n / (2 * math.pi * k) / (n - k))
    )  # fmt: skip


@kernel(allocates=False)
def _by_inversion(n: int, p: float, q: float, random: Array) -> int:
    """Return a binomial number of a small mean, p <= 1/2."""
    while True:
        u = uniform(random)
        if u < 1 - n * p:  # Bernoulli's inequality: none at all, most often
            return 0
        share, k = math.exp(n * math.log1p(-p)), 0
        while u >= share and k < n:
            u -= share
            k += 1
            share *= (n - k + 1) / k * (p / q)
            if share < 1e-300:
                break
        if u < share:
            return k


@kernel(allocates=False)
def _by_rejection(n: int, p: float, q: float, random: Array) -> int:
    """Return a binomial number of a mean of at least `SMALL`, p <= 1/2: transformed rejection with squeeze (BTRS)."""
    spread = math.sqrt(n * p * q)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    inner, alpha, top = 0.92 - 4.2 / b, (2.83 + 5.1 / b) * spread, np.nan
    while True:
        u, v = uniform(random) - 0.5, uniform(random)
        away = 0.5 - abs(u)
        if away <= 0.0:
            continue
        k = math.floor((2 * a / away + b) * u + n * p + 0.5)
        if away >= 0.07 and v <= inner:
            return int(k)
        if k < 0 or k > n:
            continue
        if math.isnan(top):
            top = log_binomial(math.floor((n + 1) * p), n, p, q)
        if math.log(v * alpha / (a / (away * away) + b)) <= log_binomial(k, n, p, q) - top:
            return int(k)


@kernel(allocates=False)
def binomial(n: int, p: float, q: float, random: Array) -> int:
    """Return how many of n independent trials succeed, with probability p each and q = 1 - p.

    Both are given, so that one close to 1 keeps what it lacks.
    """
    if n <= 0 or p <= 0.0:
        return 0
    if q <= 0.0:
        return n
    if p > q:
        return n - (_by_inversion(n, q, p, random) if n * q < SMALL else _by_rejection(n, q, p, random))
    return _by_inversion(n, p, q, random) if n * p < SMALL else _by_rejection(n, p, q, random)


@kernel(allocates=False)
def _log_hypergeometric(x: float, good: float, bad: float, draws: float) -> float:
    """Return the logarithm of the probability of x good ones among the draws, up to a constant."""
    p, q = draws / (good + bad), (good + bad - draws) / (good + bad)
    return log_binomial(x, good, p, q) + log_binomial(draws - x, bad, p, q)


@kernel(allocates=False)
def _from_urn(good: int, bad: int, draws: int, random: Array) -> int:
    """Return a hypergeometric number where draws <= good <= bad and twice the draws are no more than all there is."""
    if draws <= FEW:
        found = 0
        for i in range(draws):
            found += int(uniform(random) * (good + bad - i) < good - found)
        return found
    whole = good + bad
    mean = draws * (good / whole)
    if mean < SMALL:
        p, q = draws / whole, (whole - draws) / whole
        none = math.exp(_log_hypergeometric(0.0, good, bad, draws) - log_binomial(draws, whole, p, q))
        while True:
            u, share, x = uniform(random), none, 0
            while u >= share and x < draws:
                u -= share
                share *= (good - x) / (x + 1) * ((draws - x) / (bad - draws + x + 1))
                x += 1
                if share < 1e-300:
                    break
            if u < share:
                return x
    spread = math.sqrt(mean * (bad / whole) * ((whole - draws) / (whole - 1)) + 0.5)
    b = D1 * spread + D2
    mode = math.floor((draws + 1.0) * ((good + 1.0) / (whole + 2.0)))
    top = _log_hypergeometric(mode, good, bad, draws)
    while True:
        u, v = uniform(random), uniform(random)
        if u <= 0.0:
            continue
        k = math.floor(mean + 0.5 + b * (v - 0.5) / u)
        if k < 0 or k > draws:
            continue
        if 2 * math.log(u) <= _log_hypergeometric(k, good, bad, draws) - top:
            return int(k)


@kernel(allocates=False)
def hypergeometric(good: int, bad: int, draws: int, random: Array) -> int:
    """Return how many good ones are among so many draws without replacement."""
    if good <= 0 or draws <= 0:
        return 0
    if bad <= 0:
        return draws
    if draws >= good + bad:
        return good
    if good > bad:
        return draws - hypergeometric(bad, good, draws, random)
    if 2 * draws > good + bad:
        return good - hypergeometric(good, bad, good + bad - draws, random)
    if draws > good:  # who draws whom does not matter
        return _from_urn(draws, good + bad - draws, good, random)
    return _from_urn(good, bad, draws, random)
