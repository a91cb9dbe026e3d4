"""Mean curves, as the paper's figures show them, with what they might as well have been: seeds drawn again.

Everything here has a first axis of 1 + ROUNDS: at 0 what the runs say, behind it what the same number of runs, drawn from them
with replacement, would have said. A number computed from curves therefore comes with its interval.
"""

from __future__ import annotations

import zlib

import numpy as np

from umdp.paper.claims.measures import Floats, Runs

__all__ = ["LOGARITHMIC", "above_zero", "centred", "errors", "first", "for_good", "gaps", "interval", "resampled"]

ROUNDS = 400
"""Drawn again so often: the ends of a 95 % interval then rest on ten of them each."""
LOGARITHMIC = ("chain",)
"""Where values span a hundred orders of magnitude, and a mean is set by a single run: the mean of logarithms there."""
FAR = 300.0
"""Decimal orders of magnitude that stand for infinity."""
MANY = 1e9
"""Times the optimum, which stand for infinity where values are of one order of magnitude."""


def resampled(values: Floats, name: str) -> Floats:
    """Return the mean over runs of (runs, points), and the means of runs drawn again: (1 + ROUNDS, points).

    `name` decides how they are drawn, so that the same runs always give the same interval.

    Examples
    --------
    >>> means = resampled(np.array([[0.0], [1.0]]), "two runs")
    >>> means.shape, float(means[0, 0]), sorted({float(mean) for mean in means[1:, 0]})
    ((401, 1), 0.5, [0.0, 0.5, 1.0])
    """
    rng, runs = np.random.default_rng(zlib.crc32(name.encode())), len(values)
    weights = np.concatenate([np.ones((1, runs)), rng.multinomial(runs, np.full(runs, 1 / runs), ROUNDS)])
    return np.asarray(weights @ values / runs)


def gaps(runs: Runs, points: Floats) -> Floats:
    """Return how far the mean curve is from the optimum, as a share of it; in decimal orders of magnitude on chain."""
    problem, cell, optimum = runs.problem, runs.outcomes[0].cell, runs.problem.optimum
    performance = runs.at("performance", points)
    if cell.environment in LOGARITHMIC:
        with np.errstate(divide="ignore"):
            values = np.clip(np.log10(performance / optimum), 0.0, FAR)
    else:
        values = (performance - optimum if problem.minimise else optimum - performance) / abs(optimum)
        values = np.clip(values, -MANY, MANY)
    return resampled(values, _name(runs))


def errors(runs: Runs, points: Floats, *, absolute: bool) -> Floats:
    """Return the mean estimation error, or its absolute value; on chain the mean of sign times log10(1 + its size)."""
    error = runs.at("estimation_error", points)
    if runs.outcomes[0].cell.environment in LOGARITHMIC:
        error = np.sign(error) * np.minimum(np.log10(1 + np.abs(error)), FAR)
    error = np.clip(np.abs(error) if absolute else error, -(10.0**FAR), 10.0**FAR)
    return resampled(error, _name(runs))


def first(gap: Floats, points: Floats, tolerance: float) -> Floats:
    """Return the first of the points (1 + ROUNDS,) at which a gap is within a tolerance; inf where it never is.

    Examples
    --------
    >>> first(np.array([[0.5, 0.01, 0.5], [0.5, 0.5, 0.5]]), np.array([1.0, 10.0, 100.0]), 0.05).tolist()
    [10.0, inf]
    """
    near = gap <= tolerance
    return np.where(near.any(1), points[near.argmax(1)], np.inf)


def for_good(gap: Floats, points: Floats, tolerance: float) -> Floats:
    """Return the point (1 + ROUNDS,) from which on a gap stays within a tolerance; inf where it is not in the end.

    Examples
    --------
    >>> for_good(np.array([[0.01, 0.5, 0.01], [0.0, 0.0, 0.5]]), np.array([1.0, 10.0, 100.0]), 0.05).tolist()
    [100.0, inf]
    """
    far = ~(gap <= tolerance)
    last = far.shape[1] - far[:, ::-1].argmax(1)  # behind the last point that is too far
    when = np.concatenate([points, [np.inf]])[np.where(far.any(1), last, 0)]
    return np.asarray(when)


def above_zero(error: Floats, slack: float) -> Floats:
    """Return the share of the points (1 + ROUNDS,) at which a mean error is above zero by more than the precision."""
    return np.asarray((error > slack).mean(1))


def interval(numbers: Floats) -> tuple[float, float, float]:
    """Return a number with its 95 % interval over seeds.

    Examples
    --------
    >>> interval(np.array([2.0, *range(400)]))
    (2.0, 9.0, 389.0)
    """
    low, high = np.quantile(numbers[1:], [0.025, 0.975], method="inverted_cdf")
    return float(numbers[0]), float(low), float(high)


def centred(numbers: Floats) -> Floats:
    """Return numbers of which drawing again makes more on the whole, as of a distance between curves, without that excess.

    Examples
    --------
    >>> centred(np.array([4.0, 6.0, 7.0, 9.0])).tolist()
    [4.0, 3.0, 4.0, 6.0]
    """
    excess = max(float(np.median(numbers[1:])) - float(numbers[0]), 0.0)
    return np.concatenate([numbers[:1], np.maximum(numbers[1:] - excess, 0.0)])


def _name(runs: Runs) -> str:
    cell = runs.outcomes[0].cell
    return f"{cell.environment} {cell.learner} {cell.panel} {cell.xi} {cell.after}"
