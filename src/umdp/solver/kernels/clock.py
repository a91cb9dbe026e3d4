"""A look at the clock from compiled code."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["is_up"]

Array = NDArray[Any]


@kernel(inline="always")
def is_up(watch: Array) -> bool:
    """Return whether time is up by the flag of a `Watch`; never, where that is two zeros."""
    if watch[1] > 0:
        watch[1] -= 1
        if watch[1] == 0:
            watch[0] = 1
    return bool(watch[0] != 0)
