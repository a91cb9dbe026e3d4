"""What stands behind a bracket: which numbers are possible at all, how narrow it is, and whether it is called certified."""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Status",
    "as_probabilities",
    "as_rewards",
    "consistent",
    "is_narrow",
    "plausible",
    "plausible_end",
    "status_of",
    "sure_where",
]

Array = NDArray[Any]


class Status(enum.Enum):
    """What stands behind a bracket; the value is a sentence for people."""

    CERTIFIED = "certified to the precision asked for"
    IMPRECISE = "certified, but wider than the precision asked for: rounding leaves no room for a tighter bound"
    OPEN_GAME = (
        "certified, but wider than asked for: lower bounds of 0 let nature cut transitions, and the bound on the "
        "optimum did not close; the policy's own value is bracketed to the precision"
    )
    OPEN_ENDS = (
        "certified, but wider than asked for: lower bounds of 0 let nature decide where the process can stay for ever; the "
        "policy keeps the bound that it wants"
    )
    STOPPED = "certified, but wider than the precision asked for: stopped at the limit on time or iterations"

    @property
    def is_precise(self) -> bool:
        """Whether the precision asked for is met."""
        return self is Status.CERTIFIED


def as_probabilities(low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds of probabilities, none of which is below 0 or above 1."""
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def as_rewards(low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds of sums of rewards that are at least 0."""
    return np.maximum(low, 0.0), high


def plausible(kind: str, low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds within what is possible at all for a property of this kind, just that where they contradict each other."""
    low, high = as_probabilities(low, high) if kind == "P" else as_rewards(low, high)
    absurd = ~(low <= high)
    return np.where(absurd, 0.0, low), np.where(absurd, 1.0 if kind == "P" else np.inf, high)


def plausible_end(kind: str, low: float, high: float) -> tuple[float, float]:
    """Return `plausible` bounds of one state."""
    most = 1.0 if kind == "P" else math.inf
    low, high = max(low, 0.0), min(high, most)
    return (low, high) if low <= high else (0.0, most)


def consistent(low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds of which those that contradict each other say nothing."""
    absurd = ~(low <= high)
    return np.where(absurd, -np.inf, low), np.where(absurd, np.inf, high)


def sure_where(missed: Array, low: Array) -> Array:
    """Return lower bounds that are 1 where the opposite has no probability at all."""
    return np.where(missed == 0.0, 1.0, low)


def is_narrow(lower: float, upper: float, precision: float, unit: float = 0.0) -> bool:
    """Whether two bounds coincide, or are no further apart than `precision`, relative to the larger in size or to `unit`."""
    if lower == upper:
        return True
    size = max(abs(lower), abs(upper), unit)
    return size < math.inf and 0.0 <= upper - lower <= precision * size


def status_of(lower: float, upper: float, precision: float, otherwise: Status, unit: float = 0.0) -> Status:
    """Return what stands behind a bracket; its width counts relative to it, or to `unit`, and then it must be finite."""
    finite = unit == 0.0 or math.isfinite(lower)
    return Status.CERTIFIED if finite and is_narrow(lower, upper, precision, unit) else otherwise
