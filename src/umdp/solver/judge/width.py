"""How narrow a bracket must be to be called certified: the one place that compares it with the precision asked for."""

from __future__ import annotations

import math

__all__ = ["is_narrow"]


def is_narrow(lower: float, upper: float, precision: float, unit: float = 0.0) -> bool:
    """Whether two bounds coincide, or are no further apart than `precision`, relative to the larger in size or to `unit`."""
    if lower == upper:
        return True
    size = max(abs(lower), abs(upper), unit)
    return size < math.inf and 0.0 <= upper - lower <= precision * size
