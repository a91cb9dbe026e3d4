"""How often something held among independent runs, with an interval that is exact for so many runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEVEL", "Frequency"]

LEVEL = 0.95  # of the intervals of what is measured
GRID = 1000  # means that are told apart


@dataclass(frozen=True)
class Frequency:
    """A measured frequency, with its 95 % interval.

    Attributes
    ----------
    share : the part of the runs in which something held; or the mean of a share that every run has
    lower, upper : its interval
    runs : how many there were

    Examples
    --------
    >>> Frequency.of(np.array([True] * 99 + [False]))
    Frequency(share=0.99, lower=0.945..., upper=0.999..., runs=100)
    >>> print(Frequency.of(np.ones(200, np.bool_)))
    100 % (98.1 .. 100)
    """

    share: float
    lower: float
    upper: float
    runs: int

    @classmethod
    def of(cls, held: NDArray[np.bool_]) -> Frequency:
        """Return how often something held, (N,) one per run; the interval is Clopper and Pearson's, which is exact."""
        from scipy.special import betaincinv

        runs, hits, tail = held.size, int(np.count_nonzero(held)), (1 - LEVEL) / 2
        if not runs:
            return cls(math.nan, 0.0, 1.0, 0)
        lower = 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, tail))
        upper = 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1 - tail))
        return cls(hits / runs, lower, upper, runs)

    @classmethod
    def mean(cls, shares: NDArray[Any]) -> Frequency:
        """Return the mean of shares, (N,) one per run, without those that are not there (nan).

        Shares within a run depend on each other, and only runs are independent. The interval holds for every variable between 0
        and 1, and for so many runs: it is that of hedged bets (Waudby-Smith and Ramdas), rounded outwards to thousandths.
        """
        given = shares[~np.isnan(shares)]
        if not given.size:
            return cls(math.nan, 0.0, 1.0, 0)
        return cls(float(given.mean()), *_betting(given), given.size)

    def as_dict(self) -> dict[str, float | None]:
        """Return the numbers by name, for JSON."""
        return {"share": None if math.isnan(self.share) else self.share, "lower": self.lower, "upper": self.upper}

    def __str__(self) -> str:
        if math.isnan(self.share):
            return "nothing yet"
        # A share that is not 1 must not look like it, and neither end may promise more than it has.
        low, high = math.floor(1000 * self.lower) / 10, math.ceil(1000 * self.upper) / 10
        return f"{percent(self.share)} ({low:.3g} .. {high:.3g})"


def percent(share: float) -> str:
    """Return a share in per cent; only what is all of it is 100 %.

    Examples
    --------
    >>> percent(1.0), percent(0.99999), percent(0.9512), percent(0.0001), percent(0.0)
    ('100 %', '99.9 %', '95.1 %', '0.1 %', '0 %')
    """
    if math.isnan(share) or share in (0.0, 1.0):
        return "" if math.isnan(share) else f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"


def _betting(values: NDArray[Any]) -> tuple[float, float]:
    """Return an interval of the mean of independent values in [0, 1].

    Whoever bets on values above m, or on values below it, stays poor if m is the mean: both stakes depend on the values before
    alone, so that either capital is a martingale, and their average passes 1 / error with at most that probability. The interval
    holds all m that nobody got rich on.
    """
    error, n = 1 - LEVEL, values.size
    means = np.arange(1, GRID) / GRID
    rich = np.zeros(means.size, np.bool_)
    up, down = np.zeros((2, means.size))  # logarithms of both capitals
    total, spread = 0.5, 0.25
    for i, value in enumerate(values, 1):
        stake = math.sqrt(2 * math.log(2 / error) * i / (n * spread))
        up += np.log1p(np.minimum(stake, 0.5 / means) * (value - means))
        down += np.log1p(np.minimum(stake, 0.5 / (1 - means)) * (means - value))
        rich |= np.logaddexp(up, down) - math.log(2) >= -math.log(error)
        total += value
        spread += (value - total / (i + 1)) ** 2
    left = np.flatnonzero(~rich)
    if not left.size:
        return 0.0, 1.0
    return float(max(left[0], 0) / GRID), float(min(left[-1] + 2, GRID) / GRID)
