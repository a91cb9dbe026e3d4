"""Compiled updates of the paper's learners.

Arrays have one entry per transition unless said otherwise, and are written to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["add_counts", "bounds_around_mode", "move_intervals"]

Array = NDArray[Any]
LEAST = float(np.finfo(np.float64).tiny)  # of LUI's bounds
TINY = 1e-300


@kernel(allocates=False)
def move_intervals(
    choice_ptr: Array,
    counts: Array,
    bounds: tuple[Array, Array],
    strengths: tuple[Array, Array],
    most: tuple[float, float],
) -> None:
    """Move the lower and upper bounds of every choice that was sampled, by its own conflict or agreement: `LUI.update`.

    `most` bounds the lower and the upper strengths.
    """
    lower, upper = bounds
    strength_lower, strength_upper = strengths
    for c in range(choice_ptr.size - 1):
        begin, end = choice_ptr[c], choice_ptr[c + 1]
        samples = 0
        for t in range(begin, end):
            samples += counts[t]
        if samples == 0:
            continue
        below = above = False
        for t in range(begin, end):
            frequency = counts[t] / samples
            below = below or frequency < lower[t]
            above = above or frequency > upper[t]
        for t in range(begin, end):
            strength = strength_lower[t] if below else strength_upper[t]
            low = (strength * lower[t] + counts[t]) / (strength + samples)
            strength = strength_lower[t] if above else strength_upper[t]
            # Rounding may turn the smallest bounds to 0, and let bounds cross that are equal.
            high = max((strength * upper[t] + counts[t]) / (strength + samples), LEAST)
            lower[t], upper[t] = min(max(low, LEAST), high), high
            strength_lower[t] = min(strength_lower[t] + samples, most[0])
            strength_upper[t] = min(strength_upper[t] + samples, most[1])


@kernel(allocates=False)
def add_counts(choice_ptr: Array, counts: Array, excess: Array, samples: Array, bound: float) -> None:
    """Add counts to a posterior and to its samples (C,), and weaken it where it is above a bound: `Dirichlet.add`."""
    for c in range(choice_ptr.size - 1):
        begin, end = choice_ptr[c], choice_ptr[c + 1]
        seen, total = 0, 0.0
        for t in range(begin, end):
            seen += counts[t]
            excess[t] += counts[t]
            total += excess[t]
        samples[c] = min(samples[c] + seen, bound)
        limit = bound - (end - begin)
        if seen > 0 and end - begin > 1 and total > limit:
            for t in range(begin, end):  # what is scaled down again and again must not end at 0
                excess[t] = max(excess[t] * (limit / total), TINY)


@kernel(allocates=False)
def bounds_around_mode(
    choice_ptr: Array, excess: Array, half_width: Array, floor: float, lower: Array, upper: Array
) -> None:
    """Write the mode of a posterior, more or less a half-width per choice (C,), clipped to [floor, 1]: `Dirichlet.set_bounds`."""
    for c in range(choice_ptr.size - 1):
        begin, end = choice_ptr[c], choice_ptr[c + 1]
        if end - begin == 1:
            lower[begin] = upper[begin] = 1.0
            continue
        total = 0.0
        for t in range(begin, end):
            total += excess[t]
        total = max(total, TINY)
        least, crossed, under = 0.0, False, False
        for t in range(begin, end):
            estimate = excess[t] / total
            lower[t], upper[t] = max(estimate - half_width[c], floor), min(estimate + half_width[c], 1.0)
            least += lower[t]
            crossed = crossed or lower[t] > upper[t]
            under = under or estimate < floor
        if under and (least > 1.0 or crossed):
            for t in range(begin, end):
                lower[t] = min(lower[t], excess[t] / total)
