"""Learning curves: runs as step functions of the number of trajectories, their means and confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import FormatError

__all__ = ["Band", "Run", "band", "grid", "last", "step"]

CONFIDENCE = 0.95


class Run(Protocol):
    """One run: a column by its name. A dictionary of lists or arrays is one, a polars frame is one."""

    def __getitem__(self, column: str, /) -> Any:
        """Return the values of a column."""


@dataclass(frozen=True, eq=False)
class Band:
    """The mean of many runs and its 95 % confidence interval, at some numbers of trajectories.

    Attributes
    ----------
    at : (P,) int64
    mean, lower, upper : (P,) float64; the bounds are nan where there is only one run, and where the mean is infinite
    """

    at: NDArray[np.int64]
    mean: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def grid(trajectories: int, points: int = 200) -> NDArray[np.int64]:
    """Return where to look at a curve: 0, 1, 2, ... up to `trajectories`, whole numbers, sparser as they grow.

    Examples
    --------
    >>> grid(1000, points=10)
    array([   0,    1,    2,    5,   10,   22,   46,  100,  215,  464, 1000])
    """
    if trajectories < 1:
        return np.zeros(1, dtype=np.int64)
    looks = np.rint(np.geomspace(1, trajectories, max(points, 2))).astype(np.int64)
    return np.unique(np.concatenate([np.zeros(1, dtype=np.int64), looks]))


def last(run: Run) -> int:
    """Return the number of trajectories in the last row of a run."""
    trajectories = _column(run, "trajectories")
    return int(trajectories[-1]) if len(trajectories) else 0


def step(run: Run, column: str, at: ArrayLike) -> NDArray[np.float64]:
    """Return what a column says after `at` trajectories: the value of the last row that is not later.

    Parameters
    ----------
    run : its rows are ordered by the column "trajectories"; where two rows share a number, the later row counts.
    at : (P,) whole numbers, in any order

    Returns
    -------
    (P,) float64
        nan before the first row.

    Examples
    --------
    >>> step({"trajectories": [0, 3, 10], "performance": [0.1, 0.2, 0.3]}, "performance", [0, 2, 3, 50])
    array([0.1, 0.1, 0.2, 0.3])
    """
    trajectories, values = _column(run, "trajectories"), _column(run, column)
    if len(trajectories) != len(values):
        raise FormatError(f'column "{column}" of a run has {len(values)} rows and "trajectories" {len(trajectories)}')
    row = np.searchsorted(trajectories, np.asarray(at), side="right")
    return np.concatenate([[np.nan], values])[row]


def band(
    runs: Sequence[Run], column: str, at: ArrayLike, *, logarithmic: bool = False, threshold: float | None = None
) -> Band:
    """Return the mean of a column over runs, with its 95 % confidence interval (Student's t).

    Parameters
    ----------
    runs : any number; their rows need not be at the same trajectories. Where a run says nothing (nan) the others count.
    at : (P,) whole numbers
    logarithmic : take the mean of logarithms, and return it as a value (the geometric mean).
    threshold : for values of both signs; with `logarithmic`, the mean is that of arsinh(value / threshold), which is
        close to a logarithm for values beyond the threshold, and close to linear below.

    Examples
    --------
    >>> runs = [{"trajectories": [0, 5], "performance": [1.0, 100.0]}, {"trajectories": [0], "performance": [1.0]}]
    >>> band(runs, "performance", [0, 9]).mean
    array([ 1. , 50.5])
    >>> band(runs, "performance", [0, 9], logarithmic=True).mean
    array([ 1., 10.])
    """
    where = np.asarray(at, dtype=np.int64)
    if not len(runs):
        raise FormatError(f'there is no run to take the mean of "{column}" over')
    values = np.stack([step(run, column, where) for run in runs])
    # Infinite and very large values are lawful here: they leave the picture, and say so without a warning.
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        if not logarithmic:
            return Band(where, *_interval(values))
        if threshold is None:
            mean, lower, upper = (np.exp(found) for found in _interval(np.log(values)))
        else:
            mean, lower, upper = (np.sinh(found) * threshold for found in _interval(np.arcsinh(values / threshold)))
    return Band(where, mean, lower, upper)


def _interval(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean over rows and the bounds of its confidence interval; nan is left out."""
    from scipy.special import stdtrit

    known = ~np.isnan(values)
    count = known.sum(axis=0)
    # Scaled by the largest value, so that squares of 1e200 do not overflow.
    size = np.max(np.abs(values), axis=0, where=np.isfinite(values), initial=0.0)
    size[size == 0] = 1.0
    scaled = values / size
    mean = np.sum(scaled, axis=0, where=known) / np.maximum(count, 1)
    mean[count == 0] = np.nan
    deviation = np.sqrt(np.sum((scaled - mean) ** 2, axis=0, where=known) / np.maximum(count - 1, 1))
    half = stdtrit(np.maximum(count - 1, 1), (1 + CONFIDENCE) / 2) * deviation / np.sqrt(np.maximum(count, 1))
    half[(count < 2) | ~np.isfinite(mean)] = np.nan
    return mean * size, (mean - half) * size, (mean + half) * size


def _column(run: Run, column: str) -> NDArray[np.float64]:
    """Return a column as numbers, or say which there are."""
    names = list(run if isinstance(run, Mapping) else getattr(run, "columns", ()))
    if names and column not in names:
        raise FormatError(f'a run has no column "{column}"; it has {", ".join(map(str, names))}')
    return np.asarray(run[column], dtype=np.float64)
