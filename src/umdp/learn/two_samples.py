"""Whether two groups of samples have one probability: a test that holds at all times, however often it is made."""

from __future__ import annotations

import numpy as np

from umdp.learn.binomial import ULP, Floats, Level

__all__ = ["contradiction"]


PRIOR = 0.5  # the parameter b of the mixtures


def contradiction(hits: Floats, misses: Floats, other_hits: Floats, other_misses: Floats, level: Level) -> Floats:
    r"""Return by how much two groups of samples contradict that they have one probability, at a level; an alarm from 0 on.

    With k hits among n samples, and k' among n', the evidence is

    .. math:: E = \frac{m(k, n) \; m(k', n')}{\max_p p^{k + k'} (1 - p)^{n + n' - k - k'}}, \qquad
              m(k, n) = \frac{B(b + k, b + n - k)}{B(b, b)},

    with b = `PRIOR`, and what is returned is :math:`\log E + \log a` at level a, rather too small.

    *Why this holds at all times.* Say all samples have the probability p. The product of the two Beta mixtures is the
    probability of the data under a law that draws one probability for each group; what is sampled next, and for which group,
    may depend on what was seen, since it has the same chance under both laws and cancels. So the product, divided by the
    likelihood under p, is a martingale that starts at 1, and E is at most that. By Ville's inequality it ever reaches 1/a with
    probability a at most. Where one group ends and the other begins may be a stopping time: it must not depend on later samples.

    Parameters
    ----------
    hits, misses, other_hits, other_misses : arrays of one shape
    level : float, or an array of that shape

    Returns
    -------
    excess : array of that shape
        -inf where it is below 0 for certain.

    Examples
    --------
    >>> few, many = np.array([50.0, 1000.0]), np.array([60.0, 1200.0])  # 0.5 and 0.6, of 100 and of 2000 samples
    >>> contradiction(few, few, many, np.array([40.0, 800.0]), 0.01).round(2)
    array([-inf, 7.58])
    """
    samples, others = hits + misses, other_hits + other_misses
    total = samples + others
    share = (hits + other_hits) / np.maximum(total, 1)
    # No mixture is more likely than its best p, and divergences are at most chi-squared: few need more than arithmetic.
    spread = hits / np.maximum(samples, 1) - other_hits / np.maximum(others, 1)
    most = samples * others / np.maximum(total, 1) * spread**2
    needed = -np.log(level)
    likely = (most * (1 + 1e-6) >= needed * share * (1 - share)) & (most > 0)
    excess = np.full(total.shape, -np.inf)
    if likely.any():
        one, other = (hits[likely], misses[likely]), (other_hits[likely], other_misses[likely])
        excess[likely] = _evidence(*one, *other) - np.broadcast_to(needed, likely.shape)[likely]
    return excess


def _evidence(hits: Floats, misses: Floats, other_hits: Floats, other_misses: Floats) -> Floats:
    """Return the logarithm of the evidence, rather too small."""
    from scipy.special import betaln, xlogy

    k, n = hits + other_hits, hits + misses + other_hits + other_misses
    mixed = betaln(PRIOR + hits, PRIOR + misses) + betaln(PRIOR + other_hits, PRIOR + other_misses)
    best = xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
    # Logarithms of gamma functions are known to a few units in the last place, and much of them cancels.
    slack = 64 * ULP * (n + PRIOR) * np.log(n + PRIOR + 2)
    return np.asarray(mixed - 2 * betaln(PRIOR, PRIOR) - best - slack, dtype=np.float64)
