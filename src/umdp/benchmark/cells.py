"""Cells of a drawing: a symbol, a short number, and a shade that says how often the state was visited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.model import Graph

__all__ = ["WIDTH", "Cells", "cells", "line", "short"]

WIDTH = 80  # columns of a terminal
_SHADES = " ░▒▓█"


@dataclass(frozen=True)
class Cells:
    """What is written for every state, and the line that explains the shades.

    Attributes
    ----------
    texts : one for each state, all of one length
    legend : None where there are no shades
    """

    texts: list[str]
    legend: str | None


def cells(mdp: Graph, symbols: Sequence[str], values: ArrayLike | None, visits: ArrayLike | None, room: int) -> Cells:
    """Return the text of each cell: its symbol, a shade for its visits, and its value or else the number of visits.

    Parameters
    ----------
    mdp : Graph
    symbols : sequence of str, shape (S,)
    values : array_like of float, shape (S,), optional
    visits : array_like of float, shape (S,) or (T,), optional
        One of `values` and `visits` is given.
    room : int
        The characters there are for a cell and the border before it. A space is left between shade and number if it fits.
    """
    visited = None if visits is None else _visited(mdp, visits)
    shown = visited if values is None else _numbers(values, "values", [(mdp.states, "state")])
    assert shown is not None
    shades = [" "] * mdp.states if visited is None else _shaded(visited)
    numbers = [short(float(value)) for value in shown]
    width, number = max(map(len, symbols)), max(map(len, numbers))
    if visited is not None and width + number + 3 <= room:
        number += 1
    texts = [f"{m:{width}}{shade}{n:>{number}}" for m, shade, n in zip(symbols, shades, numbers, strict=True)]
    return Cells(texts, None if visited is None else _legend(visited, shades))


def line(texts: Sequence[str], start: int | None) -> str:
    """Return cells side by side, with brackets around the one that is the start.

    Examples
    --------
    >>> line(["→ .35", "↑ .41", "◎   1"], start=1)
    ' → .35[↑ .41]◎   1'
    """
    borders = [" "] * (len(texts) + 1)
    if start is not None:
        borders[start], borders[start + 1] = "[", "]"
    return "".join(border + text for border, text in zip(borders, [*texts, ""], strict=True)).rstrip()


def short(value: float) -> str:
    """Return a number in few characters; what is neither 0 nor 1 is not rounded to them.

    Examples
    --------
    >>> " ".join(map(short, [0, 1e-12, 0.001, 0.0514, 0.35, 0.9999, 1, 3.44, 73.1, 12_345, 3_400_000, 1e120]))
    '0 1e-12 1e-3 .05 .35 >.99 1 3.4 73 12k 3.4M 1e120'
    >>> " ".join(map(short, [-0.35, -73, float("inf"), float("nan")]))
    '-.35 -73 inf nan'
    """
    if value < 0:
        return "<-.99" if -1 < value <= -0.995 else f"-{short(-value)}"
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    if value < 0.00995:
        return _power(value)
    if value < 0.995:
        return f"{value:.2f}".removeprefix("0")
    if value < 1:
        return ">.99"
    scaled = value
    for suffix in ("", "k", "M", "G", "T"):
        if scaled < 9.95:
            return f"{scaled:.1f}".removesuffix(".0") + suffix
        if scaled < 999.5:
            return f"{scaled:.0f}{suffix}"
        scaled /= 1000
    return _power(value)


def _power(value: float) -> str:
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit}e{int(exponent)}"


def _visited(mdp: Graph, visits: ArrayLike) -> NDArray[np.float64]:
    """Return how often each state was visited; of a count for every transition, as often as it was left."""
    counts = _numbers(visits, "visits", [(mdp.states, "state"), (mdp.transitions, "transition")])
    wrong = np.flatnonzero(~((counts >= 0) & np.isfinite(counts)))
    if wrong.size:
        raise ModelError(f"visits counts entry {wrong[0]} as {counts[wrong[0]]}; a count is a number of at least 0")
    if counts.size == mdp.states:
        return counts
    left: NDArray[np.float64] = np.add.reduceat(counts, mdp.choice_ptr[mdp.state_ptr[:-1]])
    return left


def _numbers(given: ArrayLike, name: str, wanted: list[tuple[int, str]]) -> NDArray[np.float64]:
    expected = " or ".join(f"one number for each {what} ({size})" for size, what in wanted)
    try:
        array = np.asarray(given)
        array = array if array.dtype.kind in "biuf" else np.array([float(entry) for entry in array.tolist()])
    except (TypeError, ValueError):
        raise ModelError(f"{name} cannot be read as numbers; give {expected}") from None
    if array.shape not in [(size,) for size, _ in wanted]:
        raise ModelError(f"{name} has shape {array.shape}; give {expected}")
    return array.astype(np.float64)


def _shaded(visited: NDArray[np.float64]) -> list[str]:
    """Return a shade for each state: blank for none, else in four steps from the least to the most, by the logarithm."""
    level = np.zeros(visited.size, dtype=np.int64)
    if visited.any():
        seen = np.log(visited[visited > 0])
        least, most = seen.min(), seen.max()
        share = (seen - least) / (most - least) if most > least else np.ones_like(seen)
        level[visited > 0] = 1 + np.minimum(4 * share, 3).astype(np.int64)
    return [_SHADES[step] for step in level]


def _legend(visited: NDArray[np.float64], shades: Sequence[str]) -> str:
    parts = []
    for shade in _SHADES[1:]:
        own = [float(count) for count, given in zip(visited, shades, strict=True) if given == shade]
        if own:
            ends = dict.fromkeys((short(min(own)), short(max(own))))
            parts.append(f"{shade} {' to '.join(ends)}")
    return f"visits: {', '.join(parts) or 'none'}" + (", blank none" if parts and " " in shades else "")
