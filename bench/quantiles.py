"""Why Clopper-Pearson's ends are not SciPy's quantiles: `python -m bench.quantiles` prints time and tails, side by side.

An end must be outside: the tail probability at it is at most half the level. SciPy's inverse (`betaincinv`, which is what
`scipy.stats.beta.ppf` calls) is excellent for up to a million samples and levels above 1e-25. Beyond, it is on the wrong
side, or 0, or far off; so it would have to be checked and moved outwards, which is what "guarded" does, at several times the
cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from umdp.learn import ClopperPearson
from umdp.learn.binomial import ULP, lowest

Floats = NDArray[np.float64]
COUNT = 2000
SAMPLES = (30, 10**3, 10**6, 10**9, 10**12)
LEVELS = (0.05, 1e-12, 1e-25, 1e-100, 1e-250)


def ours(hits: Floats, misses: Floats, level: float) -> Floats:
    """Return the ends of the package: Newton's method from outside."""
    return ClopperPearson().end(hits, misses, level)


def plain(hits: Floats, misses: Floats, level: float) -> Floats:
    """Return SciPy's quantiles as they are."""
    quantile: Floats = betaincinv(hits, misses + 1, level / 2)
    return quantile


def guarded(hits: Floats, misses: Floats, level: float) -> Floats:
    """Return SciPy's quantiles, moved outwards until a check of the tail succeeds."""
    noise = (hits + misses) * ULP + 1e-10
    goal = level / 2 * np.exp(-noise)
    floor = np.exp(lowest(hits, misses, noise - np.log(level / 2)))
    end: Floats = np.fmax(betaincinv(hits, misses + 1, goal), floor)
    step = 1e-12
    while (inside := (end > floor) & ~(betainc(hits, misses + 1, end) <= goal)).any():
        end = np.where(inside, np.maximum(end * (1 - step), floor), end)
        step = min(2 * step, 0.5)
    return end


def measure(ends: Callable[[Floats, Floats, float], Floats], hits: Floats, misses: Floats, level: float) -> str:
    """Return the time an end takes, and the least and largest excess of its tail over half the level, relatively."""
    begun = time.perf_counter()
    found = ends(hits, misses, level)
    spent = (time.perf_counter() - begun) / hits.size
    excess = betainc(hits, misses + 1, found) / (level / 2) - 1
    return f"{1e6 * spent:7.2f} us {np.nanmin(excess):9.1e} {np.nanmax(excess):9.1e}"


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    print(f"{'samples':>8} {'level':>6} | {'ours':^30} | {'SciPy':^30} | {'SciPy, guarded':^30}")
    for samples in SAMPLES:
        hits = np.maximum(1.0, np.floor(10 ** rng.uniform(0, np.log10(samples), COUNT)))
        for level in LEVELS:
            row = (measure(ends, hits, samples - hits, level) for ends in (ours, plain, guarded))
            print(f"{samples:8.0e} {level:6.0e} | {' | '.join(row)}", flush=True)


if __name__ == "__main__":
    main()
