"""The test of independence: whether what comes next depends on something it should not depend on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

__all__ = ["dependence"]

EXPECTED = 10.0  # fewest expected in a cell: the chi-square law is wrong in its tail for fewer


def dependence(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Return the p-value of the chi-square test of independence of (circumstance, outcome), None for too few of them.

    Circumstances and outcomes that are too rare to be expected 10 times together are thrown together first.

    Examples
    --------
    >>> dependence([(i % 2, i % 2) for i in range(100)])
    1.5...e-23
    >>> dependence([(i % 2, i // 2 % 2) for i in range(100)])
    1.0
    >>> dependence([(0, 0), (1, 1)]) is None
    True
    """
    if len(pairs) < 4 * EXPECTED:
        return None
    rows, columns = Counter(row for row, _ in pairs), Counter(column for _, column in pairs)
    if len(rows) < 2 or len(columns) < 2:
        return None
    row_of = _grouped(rows, len(pairs) * EXPECTED / columns.most_common(1)[0][1])
    fewest = min(sum(n for row, n in rows.items() if row_of[row] == group) for group in set(row_of.values()))
    column_of = _grouped(columns, len(pairs) * EXPECTED / fewest)
    table = np.zeros((max(row_of.values()) + 1, max(column_of.values()) + 1))
    for row, column in pairs:
        table[row_of[row], column_of[column]] += 1
    if min(table.shape) < 2:
        return None
    from scipy.stats import chi2_contingency

    found = chi2_contingency(table, correction=False)
    return float(found.pvalue) if found.expected_freq.min() >= EXPECTED else None


def _grouped(times: Counter[Hashable], fewest: float) -> dict[Hashable, int]:
    """Return a group for each value, so that every group has at least `fewest`, if possible; the rare share one."""
    groups: dict[Hashable, int] = {}
    rare = []
    for value, count in times.most_common():
        if count >= fewest:
            groups[value] = len(groups)
        else:
            rare.append(value)
    if rare:
        together = len(groups)
        if sum(times[value] for value in rare) < fewest and groups:
            together -= 1
        groups.update(dict.fromkeys(rare, together))
    return groups
