"""Drift: whether the outcomes of a choice depend on where in the log they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.source.lookup import Lookup

__all__ = ["drift"]

Array = NDArray[Any]

SUSPECT = 12.0  # chi-square statistic below which no exact p-value is worth computing
MOST = 100  # exact p-values computed at a time


def drift(lookup: Lookup, first: Array, second: Array) -> tuple[int, float] | None:
    """Return the transition whose share changed most from the first to the second stretch of a log, and its p-value.

    The p-value is that of Fisher's exact test of the outcome against all others of its choice, times the number of outcomes
    tested (Bonferroni). None if there is nothing to suspect.

    Examples
    --------
    >>> from umdp import Graph
    >>> lookup = Lookup(Graph([0, 1, 2], [0, 2, 3], [0, 1, 1]))
    >>> drift(lookup, np.array([50, 0, 0]), np.array([0, 50, 0]))
    (0, 3.9...e-29)
    >>> drift(lookup, np.array([25, 25, 0]), np.array([26, 24, 0])) is None
    True
    """
    pointers, choice_of = lookup.graph.choice_ptr[:-1], lookup.choice_of
    early_all, late_all = np.add.reduceat(first, pointers), np.add.reduceat(second, pointers)
    total, both = first + second, (early_all > 0) & (late_all > 0)
    tested = np.flatnonzero(both[choice_of] & (total > 0) & (total < (early_all + late_all)[choice_of]))
    if not tested.size:
        return None
    early, late = first[tested], second[tested]
    rows_early, rows_late = early_all[choice_of[tested]], late_all[choice_of[tested]]
    share = (early + late) / (rows_early + rows_late)
    spread = share * (1 - share) * rows_early * rows_late / (rows_early + rows_late)
    statistic = (early - share * rows_early) ** 2 / spread
    suspects = np.flatnonzero(statistic > SUSPECT)
    if not suspects.size:
        return None
    from scipy.stats import fisher_exact

    suspects = suspects[np.argsort(-statistic[suspects])[:MOST]]
    p_values = [
        float(fisher_exact(np.array([[early[i], rows_early[i] - early[i]], [late[i], rows_late[i] - late[i]]])).pvalue)
        for i in suspects
    ]
    best = int(np.argmin(p_values))
    return int(tested[suspects[best]]), min(p_values[best] * tested.size, 1.0)
