"""Small graphs for tests of learners, and Definition 3 in exact rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from umdp import Graph

Pairs = list[tuple[Fraction, Fraction]]


def coin() -> Graph:
    """Return one choice with two successors and two that stay: three states, four transitions."""
    return fan(2)


def fan(successors: int, copies: int = 1) -> Graph:
    """Return a graph whose state 0 has `copies` choices over the same successors; those stay where they are."""
    return Graph(
        [0, *range(copies, copies + successors + 1)],
        np.concatenate([np.arange(copies) * successors, copies * successors + np.arange(successors + 1)]),
        np.concatenate([np.tile(np.arange(1, successors + 1), copies), np.arange(1, successors + 1)]),
    )


def counted(graph: Graph, counts: Sequence[int]) -> np.ndarray:
    """Return counts over all transitions, given those of the first."""
    full = np.zeros(graph.transitions, np.int64)
    full[: len(counts)] = counts
    return full


def definition_3(bounds: Pairs, strength: Pairs, counts: Sequence[int]) -> Pairs:
    """Return the posterior intervals of one choice, one case of the paper's definition at a time."""
    samples = sum(counts)
    share = [Fraction(k, samples) for k in counts]
    lower_agrees = all(f >= low for f, (low, _) in zip(share, bounds, strict=True))
    upper_agrees = all(f <= high for f, (_, high) in zip(share, bounds, strict=True))
    result = []
    for (low, high), (weak, strong), k in zip(bounds, strength, counts, strict=True):
        n, m = (strong if lower_agrees else weak), (strong if upper_agrees else weak)
        result.append(((n * low + k) / (n + samples), (m * high + k) / (m + samples)))
    return result
