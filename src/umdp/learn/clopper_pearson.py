"""Clopper-Pearson intervals, for a data set of a size fixed before."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from umdp.learn.binomial import ULP, Binomial, Floats, Level, lowest
from umdp.statements.guarantee import Guarantee

__all__ = ["ClopperPearson"]


class ClopperPearson(Binomial):
    r"""Exact binomial intervals; a guarantee for one look after numbers of samples fixed before.

    After k sightings among n samples, at level a, the lower end is the p at which k or more sightings have probability
    a/2, the upper end the p at which k or fewer have. Only small tails are ever computed, never :math:`1 - a/2`, so that levels
    far below :math:`10^{-16}` work. Then each bound is tightened by what the other successors leave.

    All claimed bounds hold at once with probability 1 - `error_rate`, **if they are looked at once**. For repeated looks
    there is `ConfidenceSequence`.

    Parameters
    ----------
    error_rate : float
        The probability with which something may be wrong.

    Attributes
    ----------
    counts : (T,) how often each transition was seen in all

    Examples
    --------
    >>> from umdp import Graph
    >>> coin = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> learner = ClopperPearson(0.05).bind(coin).learn([4, 6, 0])
    >>> learner.lower.round(4), learner.upper.round(4)
    (array([0.1216, 0.2624, 1.    ]), array([0.7376, 0.8784, 1.    ]))
    >>> learner
    ClopperPearson(error_rate=0.05): with probability 95 %, if you look once, ...
    """

    name: ClassVar[str] = "clopper-pearson"

    @property
    def claim(self) -> Guarantee:
        """One look, after numbers of samples fixed before."""
        return Guarantee("fixed-N", 1 - self.error_rate)

    def end(self, hits: Floats, misses: Floats, level: Level) -> Floats:
        """Return the p at which so many hits or more have probability level / 2."""
        from scipy.special import betainc, betaln

        noise = (hits + misses) * ULP + 1e-10  # the logarithm of the tail is known no better
        goal = np.log(level / 2) - noise
        # The tail is a log-concave function of log p: Newton's method from below, as in `lowest`, and Chernoff's bound is
        # below. Beyond 1e14 samples the density is so inexact that steps may lead astray; those are taken back.
        safe = ahead = lowest(hits, misses, -goal)
        middle, scale = np.log(hits / (hits + misses)), betaln(hits, misses + 1)
        done = np.zeros(hits.size, np.bool_)
        for _ in range(20):
            tail = betainc(hits, misses + 1, np.exp(ahead))
            density = np.exp(np.minimum(hits * ahead + misses * np.log(-np.expm1(ahead)) - scale, 700.0))
            usable = (tail > 0) & (density > 0)
            gap = np.where(usable, goal - np.log(np.where(usable, tail, 1.0)), -1.0)
            safe = np.where(gap >= 0, ahead, safe)
            step = (gap - noise / 2) * np.divide(tail, density, out=np.zeros(tail.size), where=usable)
            ahead = np.where(gap >= 0, np.minimum(ahead + step, (ahead + middle) / 2), (safe + ahead) / 2)
            done |= (gap >= 0) & (gap <= noise)
            if done.all():
                break
        end: Floats = np.exp(safe)
        return end
