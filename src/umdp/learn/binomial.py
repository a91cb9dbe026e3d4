"""What the learners with a guarantee share: one interval per successor, its share of the error, and the others' help."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from umdp.learn.learner import Learner
from umdp.learn.learner_settings import as_rate

__all__ = ["Binomial", "infeasible", "log_likelihood", "lowest", "tighten"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Level = float | Floats

ULP = 2.0**-52
WITNESSES = ("lower_hits", "lower_samples", "upper_hits", "upper_samples")


class Binomial(Learner):
    """Bounds every probability by how often its transition was seen among the samples of its choice.

    The error rate is split over the bounds that are needed: one for a choice of two successors, whose intervals mirror each
    other, and m for one of m >= 3; only for choices that matter. Transitions of the others are not claimed, and stay [0, 1].
    It is split evenly, unless somebody has set `weights` before any data.

    Attributes
    ----------
    counts : (T,) how often each transition was seen in all
    weights : (C,) how much of the error rate each bound of a choice gets, in proportion; None if all get the same
    """

    kept: ClassVar[tuple[str, ...]] = ("counts",)
    counts: Ints
    weights: Floats | None = None

    def __init__(self, error_rate: float = 0.01) -> None:
        self.error_rate = as_rate(error_rate)

    @property
    def bounds(self) -> int:
        """The number of bounds that share the error rate."""
        return int(self._needed.sum())

    @property
    def _needed(self) -> Ints:
        """How many bounds each choice needs, shape (C,)."""
        return np.where(self.sizes > 2, self.sizes, self.sizes - 1) * self.matters

    @property
    def level(self) -> float:
        """The share of the error rate that each bound gets; rounded down, so that all of them together are not more."""
        return self.error_rate / max(self.bounds, 1) * (1 - ULP)

    @property
    def levels(self) -> Floats:
        """The share of the error rate that the bound of each transition gets, (T,); rounded down, too."""
        if self.weights is None:
            return np.full(self.graph.transitions, self.level)
        total = math.fsum((self._needed * self.weights).tolist())
        return self.per_transition(self.error_rate * self.weights / max(total, ULP) * (1 - 4 * ULP))

    @abstractmethod
    def end(self, hits: Floats, misses: Floats, level: Level) -> Floats:
        """Return the lower end of the interval after so many hits (at least 1) and misses, at a level; rather too low."""

    def begin(self) -> None:
        """Claim nothing."""
        self.weights = None
        self.counts = np.zeros(self.graph.transitions, np.int64)
        self.lower = np.where(self.uncertain, 0.0, 1.0)
        self.upper = np.ones(self.graph.transitions)

    def update(self, counts: Ints) -> None:
        """Add counts, and bound anew the choices that matter and were sampled."""
        self.counts = self.counts + counts
        fresh = (self.per_choice(counts) > 0) & self.matters & (self.sizes > 1)
        if fresh.any():
            choice = np.flatnonzero(fresh)
            transition = np.flatnonzero(self.per_transition(fresh))
            level = self.level if self.weights is None else self.levels[transition]
            self.adopt(choice, transition, *self._intervals(self.counts[transition], self.sizes[choice], level))

    def adopt(self, choice: Ints, transition: Ints, lower: Floats, upper: Floats) -> None:
        """Take over new bounds for some choices and their transitions, tightened by what the other successors leave."""
        low, high = tighten(lower, upper, self.sizes[choice])
        self.lower, self.upper = self.lower.copy(), self.upper.copy()
        self.lower[transition], self.upper[transition] = low, high

    @property
    def claimed(self) -> NDArray[np.bool_]:
        """Which transitions the claim is about, shape (T,)."""
        claimed: NDArray[np.bool_] = self.uncertain & self.per_transition(self.matters)
        return claimed

    def witnesses(self) -> dict[str, Ints]:
        """Return the counts (T,) that the ends of every interval follow from, before they were tightened."""
        samples = self.per_transition(self.per_choice(self.counts))
        return dict(zip(WITNESSES, (self.counts, samples, self.counts, samples), strict=True))

    def ledger(self) -> dict[str, Any] | None:
        """Return how the error rate is spent, and the counts that the bounds follow from.

        Two successors share one bound, more have one each: the levels of these bounds sum to the error rate at most. The
        interval of a transition is that of its counts at its level; tightened with those of its choice it is what is
        learned.
        """
        if not self.claim.holds:
            return None
        level = np.where(self.claimed, self.levels, 0.0)
        return {
            "method": self.name, "error_rate": self.error_rate, "prior": getattr(self, "prior", None), "graph": "listed",
            "levels": level, "lower_levels": level, "upper_levels": level, "claimed": self.claimed,
            **{name: counts.copy() for name, counts in self.witnesses().items()},
        }  # fmt: skip

    def _intervals(self, counts: Ints, sizes: Ints, level: Level) -> tuple[Floats, Floats]:
        start = np.cumsum(sizes) - sizes
        hits = counts.astype(np.float64)
        misses = (np.repeat(np.add.reduceat(counts, start), sizes) - counts).astype(np.float64)
        lower = self.ends(hits, misses, level)
        # The probability of a miss has the same kind of interval; among two successors it is the other's.
        missed = np.empty_like(lower)
        first = start[sizes == 2]
        missed[first], missed[first + 1] = lower[first + 1], lower[first]
        many = np.repeat(sizes > 2, sizes)
        missed[many] = self.ends(misses[many], hits[many], level if isinstance(level, float) else level[many])
        return lower, np.minimum(1 - missed + ULP, 1.0)

    def ends(self, hits: Floats, misses: Floats, level: Level) -> Floats:
        """Return the lower ends of intervals, 0 where there is no hit."""
        ends = np.zeros(hits.size)
        some = np.flatnonzero(hits > 0)
        if some.size:
            ends[some] = self.end(hits[some], misses[some], level if isinstance(level, float) else level[some])
        return ends


def tighten(lower: Floats, upper: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Cut off what the other successors of a choice leave no room for, rounding outwards.

    Parameters
    ----------
    lower, upper : (T,) bounds that some distribution fits
    sizes : (C,) the number of successors of each choice

    Examples
    --------
    >>> lower, upper = tighten(np.array([0.2, 0.5]), np.array([0.9, 0.7]), np.array([2]))
    >>> lower.round(6), upper.round(6)
    (array([0.3, 0.5]), array([0.5, 0.7]))
    """
    start = np.cumsum(sizes) - sizes
    slack = np.repeat((sizes + 2) * ULP, sizes)
    most = 1 - (np.repeat(np.add.reduceat(lower, start), sizes) - lower)
    least = 1 - (np.repeat(np.add.reduceat(upper, start), sizes) - upper)
    return np.maximum(lower, least - slack), np.minimum(upper, most + slack)


def infeasible(lower: Floats, upper: Floats, sizes: Ints) -> NDArray[np.bool_]:
    """Return which choices (C,) no distribution fits, but for rounding; theirs are `sizes` bounds each, one after the other."""
    start, rounding = np.cumsum(sizes) - sizes, (sizes + 2) * ULP
    found: NDArray[np.bool_] = (
        np.logical_or.reduceat(lower > upper, start)
        | (np.add.reduceat(lower, start) > 1 + rounding)
        | (np.add.reduceat(upper, start) < 1 - rounding)
    )
    return found


def log_likelihood(hits: Floats, misses: Floats) -> Floats:
    """Return the logarithm of the likelihood of the most likely probability, hits / (hits + misses)."""
    samples = hits + misses
    likelihood: Floats = hits * np.log(hits / samples)  # there is at least one hit
    likelihood += misses * np.log(np.where(misses > 0, misses, samples) / samples)
    return likelihood


def lowest(hits: Floats, misses: Floats, room: Floats) -> Floats:
    r"""Return the logarithm of the lowest p whose log-likelihood is at most `room` below the best, from outside.

    The end solves :math:`k \log p + (n - k) \log(1 - p) = g` for p < k/n. As a function of :math:`\log p` the left side is
    concave and rises, so Newton's method, started below the end, rises towards it and never passes it: wherever it is
    stopped, the answer is on the safe side. It starts from
    :math:`\mathrm{KL}(q, p) = \int_p^q (q - x) / x(1 - x) \, dx` with :math:`x (1-x)` replaced by 1/4, by q and by 1 - p,
    each of which gives a p below the end.

    Parameters
    ----------
    hits, misses : (K,) with at least one hit
    room : (K,) at least `ULP` times the number of samples
    """
    samples = hits + misses
    share, radius = hits / samples, room / samples
    width = np.sqrt(radius * np.minimum(0.5, 2 * share))
    width = np.minimum(width, radius + np.sqrt(radius * (radius + 2 * misses / samples)))
    goal = log_likelihood(hits, misses) - room
    log_p: Floats = np.maximum(goal / hits, np.log(np.maximum(share - width, 1e-300)))
    for _ in range(60):
        other = -np.expm1(log_p)
        gap = goal - hits * log_p - misses * np.log(other)
        slope = hits - samples * (1 - other)
        log_p = log_p + np.divide(gap * other, slope, out=np.zeros(gap.size), where=slope > 0)
        if (gap <= 8 * ULP * np.abs(goal)).all():
            break
    return log_p
