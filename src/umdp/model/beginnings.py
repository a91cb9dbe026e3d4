"""Where runs of a model begin: in one state, or in any of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError

if TYPE_CHECKING:
    from umdp.model.process import Graph

__all__ = ["check_one_initial", "initial_states"]


def initial_states(model: Graph) -> NDArray[np.int64]:
    """Return the initial states: those labelled "init" where that label marks ``model.initial``, otherwise this alone.

    Examples
    --------
    >>> from umdp import MDP
    >>> initial_states(MDP([0, 1, 2], [0, 1, 2], [0, 1], [1.0, 1.0], labels={"init": [0, 1]}))
    array([0, 1])
    """
    marked = model.labels.get("init")
    alone = marked is None or not marked[model.initial]
    return np.array([model.initial]) if marked is None or alone else np.flatnonzero(marked)


def check_one_initial(model: Graph) -> None:
    """Raise `ModelError` where there are several initial states: a trajectory begins in one."""
    count = initial_states(model).size
    if count > 1:
        raise ModelError(
            f"the model has {count} initial states, and trajectories begin in one; add a state before them that leads to each"
        )
