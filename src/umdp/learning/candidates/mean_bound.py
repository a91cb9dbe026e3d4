"""The confidence sequence behind direct evidence: a bound on a mean from below, whenever one looks."""

from __future__ import annotations

import math

import numpy as np

from umdp.learn.binomial import ULP, log_likelihood, lowest

__all__ = ["JEFFREYS", "Mixture", "informed", "lower_end"]

Mixture = tuple[tuple[float, float, float], ...]
JEFFREYS: Mixture = ((1.0, 0.5, 0.5),)


def informed(guess: float, weight: float) -> Mixture:
    """Return a mixture that is ready for anything, and half of it for a mean close to a guess that so many plays are worth.

    It must be fixed before the plays that it judges. A bad guess costs next to nothing, log 2 of what the data must say.

    Examples
    --------
    >>> informed(0.3, 100.0)
    ((0.5, 0.5, 0.5), (0.5, 30.5, 70.5))
    """
    near = min(max(guess, 0.0), 1.0)
    # Whole and half numbers, so that whoever checks the bound computes with the same numbers.
    return ((0.5, 0.5, 0.5), (0.5, 0.5 + round(weight * near), 0.5 + round(weight * (1 - near))))


def lower_end(hits: float, plays: int, level: float, mixture: Mixture = JEFFREYS) -> float:
    r"""Return the lowest mean that plays, of which each counted for 0 to 1 and all for `hits`, do not rule out; rather too low.

    A mean p is ruled out if

    .. math:: k \log p + (n-k) \log(1-p) < \log \sum_i w_i \frac{B(a_i + k, b_i + n - k)}{B(a_i, b_i)} + \log \text{level}.

    By Ville's inequality the true mean is ever ruled out with at most the probability `level`, for any weights w that sum to 1
    and were fixed before. For plays that count for something between 0 and 1 the likelihood ratio is convex in that, so that its
    mean is no more than that of coins.

    Examples
    --------
    >>> round(lower_end(540, 1600, 0.005), 4), lower_end(0, 100, 0.01)
    (0.2881, 0.0)
    >>> round(lower_end(540, 1600, 0.005, informed(0.34, 400)), 4)
    0.295
    """
    from scipy.special import betaln, gammaln

    if hits <= 0 or plays <= 0:
        return 0.0
    misses = max(plays - hits, 0.0)
    parts = []
    for weight, a, b in mixture:
        part = gammaln(a + hits) + gammaln(b + misses) - gammaln(a + b + hits + misses) - betaln(a, b)
        # The logarithms of gamma functions are known to a few units in the last place, and much of them cancels.
        size = hits + misses + a + b
        slack = 32 * ULP * size * math.log(size + 2)
        parts.append(math.log(weight) + float(part) - slack)
    top = max(parts)
    mixed = top + math.log(sum(math.exp(part - top) for part in parts)) - 16 * ULP * (1 + abs(top))
    k, m = np.array([float(hits)]), np.array([float(misses)])
    room = log_likelihood(k, m) - mixed - math.log(level)
    end = float(np.exp(lowest(k, m, room))[0])
    return math.nextafter(end, 0.0)
