"""The maps of Gymnasium's grid worlds: where each state of a table is, as variables of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["positions"]

OUTSIDE = -1  # the value of every variable in a state that is added to the table


def positions(env: Any, states: int) -> Mapping[str, NDArray[np.int64]]:
    """Return variables x and y, rows counted from the top, for an environment whose states are cells; others have none.

    FrozenLake has `nrow` and `ncol`, CliffWalking `shape`, and Taxi decodes a state into row, column, passenger, destination.

    Examples
    --------
    >>> class Lake:
    ...     nrow, ncol = 2, 2
    >>> positions(Lake(), 4)
    {'x': array([0, 1, 0, 1]), 'y': array([0, 0, 1, 1])}
    """
    bare = getattr(env, "unwrapped", env)
    shape = getattr(bare, "shape", (getattr(bare, "nrow", 0), getattr(bare, "ncol", 0)))
    decode = getattr(bare, "decode", None)
    try:
        if callable(decode):
            rows = [_numbers(decode(state)) for state in range(states)]
            if {len(row) for row in rows} != {4}:
                return {}
            y, x, passenger, destination = np.array(rows, dtype=np.int64).T
            return {"x": x, "y": y, "passenger": passenger, "destination": destination}
        height, width = (int(side) for side in shape)
    except Exception:  # whatever an environment by these names means by them, it is no map
        return {}
    if height < 1 or width < 1 or height * width != states:
        return {}
    return {"x": np.arange(states) % width, "y": np.arange(states) // width}


def _numbers(decoded: Iterable[Any]) -> list[int]:
    return [int(part) for part in decoded]
