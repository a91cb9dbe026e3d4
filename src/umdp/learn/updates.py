"""Compiled updates of the paper's learners, for runs that stay in compiled code; the learners themselves are the reference.

Arrays are those of the learners: one entry per transition unless said otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.learn.dirichlet import TINY
from umdp.learn.kinds import LUI_KIND, MAP_KIND, PAC_KIND, UCRL2_KIND

__all__ = ["update"]

Array = NDArray[Any]
LEAST = float(np.finfo(np.float64).tiny)  # of LUI's bounds


@kernel
def _move(
    choice_ptr: Array,
    counts: Array,
    lower: Array,
    upper: Array,
    strength_lower: Array,
    strength_upper: Array,
    least: float,
    most: float,
) -> None:
    """Do what `LUI.update` does; `least` and `most` bound the strengths."""
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
            high = max((strength * upper[t] + counts[t]) / (strength + samples), LEAST)
            lower[t], upper[t] = min(max(low, LEAST), high), high
            strength_lower[t] = min(strength_lower[t] + samples, least)
            strength_upper[t] = min(strength_upper[t] + samples, most)


@kernel
def _absorb(choice_ptr: Array, counts: Array, excess: Array, samples: Array, bound: float) -> None:
    """Do what `Dirichlet.absorb` does; a `bound` of infinity is none."""
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
            for t in range(begin, end):
                excess[t] = max(excess[t] * (limit / total), TINY)


@kernel
def _surround(
    kind: int,
    choice_ptr: Array,
    excess: Array,
    samples: Array,
    factor: Array,
    lower: Array,
    upper: Array,
    floor: float,
) -> None:
    """Do what `Dirichlet.surround` does, with half-widths ``sqrt(factor / samples)`` (C,), and 1 where `PAC` has no sample."""
    for c in range(choice_ptr.size - 1):
        begin, end = choice_ptr[c], choice_ptr[c + 1]
        if end - begin == 1:
            lower[begin] = upper[begin] = 1.0
            continue
        total = 0.0
        for t in range(begin, end):
            total += excess[t]
        total = max(total, TINY)
        width = 0.0
        if kind != MAP_KIND:
            width = np.sqrt(factor[c] / max(samples[c], 1.0))
        if kind == PAC_KIND and samples[c] <= 0.0:
            width = 1.0
        least, crossed, under = 0.0, False, False
        for t in range(begin, end):
            estimate = excess[t] / total
            lower[t], upper[t] = max(estimate - width, floor), min(estimate + width, 1.0)
            least += lower[t]
            crossed = crossed or lower[t] > upper[t]
            under = under or estimate < floor
        if under and (least > 1.0 or crossed):
            for t in range(begin, end):
                lower[t] = min(lower[t], excess[t] / total)


@kernel
def update(
    kind: int,
    choice_ptr: Array,
    counts: Array,
    lower: Array,
    upper: Array,
    first: Array,
    second: Array,
    steps: Array,
    factor: Array,
    settings: Array,
) -> None:
    """Let a learner take in counts.

    `first` and `second` are the strengths of LUI, or the posterior's excess (T,) and the samples (C,) of the others. `factor`
    (C,) is what half-widths squared are, times samples: for PAC all of it, for UCRL2 the number of states times 14; there
    `settings` begin with the error rate and go on with the number of actions beside each choice (C,). Otherwise they are the
    bounds of the strengths, two for LUI and one for the others.
    """
    if kind == LUI_KIND:
        _move(choice_ptr, counts, lower, upper, first, second, settings[0], settings[1])
        return
    _absorb(choice_ptr, counts, first, second, settings[0])
    floor = 0.0 if kind == MAP_KIND else settings[1]
    if kind == UCRL2_KIND:
        for t in range(counts.size):
            steps[0] += counts[t]
        rate, scale = settings[2], settings[3]
        for c in range(factor.size):
            factor[c] = scale * (np.log(settings[4 + c]) + np.log(2 * max(steps[0], 1) / rate))
    _surround(kind, choice_ptr, first, second, factor, lower, upper, floor)
