"""A chart made of characters: the bound and the optimistic value over trajectories, with a scale on both axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from umdp.benchmark.cells import short

__all__ = ["Point", "chart", "remaining"]

BARS = " ▁▂▃▄▅▆▇█"
HEIGHT = 6  # lines
SPREAD = 100  # how many times larger than the last value others must be for a logarithmic scale
DECADES = 6  # above the last value, on such a scale


@dataclass(frozen=True)
class Point:
    """What is known after some trajectories: the bound and, where there is one, the optimistic value."""

    trajectories: int
    bound: float
    optimistic: float | None = None


def chart(points: Sequence[Point], width: int, height: int = HEIGHT) -> list[str]:
    """Return the lines of a chart: blocks up to the bound, dots at the optimistic value; none without a finite bound.

    The number of trajectories is on a logarithmic scale, and values that differ a hundredfold are, too.

    Examples
    --------
    >>> for line in chart([Point(1, 0.0, 1.0), Point(10, 0.5, 1.0), Point(100, 0.75, 0.8)], 34, 4):
    ...     print(line)
       1 ┤···························
         │                           ▃
         │             ▅▅▅▅▅▅▅▅▅▅▅▅▅▅█
       0 ┤▁▁▁▁▁▁▁▁▁▁▁▁▁███████████████
         └┴─────────────┴────────────┴
          1             10
    """
    known = [value for each in points for value in (each.bound, each.optimistic) if value is not None]
    finite = [value for value in known if math.isfinite(value)]
    if not finite or not any(math.isfinite(each.bound) for each in points):
        return []
    low, high, logarithmic = _scale(points, finite)
    labels = [_label(low, high, line / (height - 1), logarithmic) for line in range(height)]
    margin = max(map(len, labels)) + 1
    columns = max(width - margin - 2, 8)
    heights: list[float] = []
    dots: list[int | None] = []
    for each in _spread_out(points, columns):
        heights.append(_share(each.bound, low, high, logarithmic) * (height - 1))
        dots.append(
            None if each.optimistic is None else round(_share(each.optimistic, low, high, logarithmic) * (height - 1))
        )
    lines = []
    for line in range(height - 1, -1, -1):
        marked = line in (0, height - 1) or (height > 4 and line == height // 2)
        cells = [
            "·" if dot == line and _block(top, line) == " " else _block(top, line)
            for top, dot in zip(heights, dots, strict=True)
        ]
        lines.append(f"{labels[line] if marked else '':>{margin}} {'┤' if marked else '│'}{''.join(cells)}".rstrip())
    return [*lines, *_below(points[-1].trajectories, columns, margin)]


def remaining(
    done: tuple[int, int], before: tuple[int, int], spent: float, limits: tuple[int | None, int | None, float | None]
) -> tuple[float, float | None] | None:
    """Return how much of a budget is used up, 0 to 1, and the seconds left; None without a budget.

    Parameters
    ----------
    done, before : trajectories and steps now, and when this sitting began
    spent : seconds since then
    limits : on trajectories, steps and seconds

    Examples
    --------
    >>> remaining((50, 0), (0, 0), 10.0, (200, None, None))
    (0.25, 30.0)
    >>> remaining((50, 0), (0, 0), 10.0, (200, None, 20.0))
    (0.5, 10.0)
    """
    found: list[tuple[float, float | None]] = []
    for now, first, limit in zip(done, before, limits[:2], strict=True):
        if limit is not None:
            pace = (now - first) / spent if spent > 0 else 0.0
            found.append((min(now / limit, 1.0), max(limit - now, 0) / pace if pace > 0 else None))
    seconds = limits[2]
    if seconds is not None:
        found.append((min(spent / seconds, 1.0), max(seconds - spent, 0.0)))
    if not found:
        return None
    return min(found, key=lambda each: (math.inf if each[1] is None else each[1], -each[0]))


def _scale(points: Sequence[Point], finite: Sequence[float]) -> tuple[float, float, bool]:
    """Return the ends of the scale of values, and whether it is logarithmic."""
    last = next(each.bound for each in reversed(points) if math.isfinite(each.bound))
    usual = abs(last)
    if min(finite) > 0 and usual > 0 and max(finite) > SPREAD * max(usual, 1.0):
        low = 10.0 ** math.floor(math.log10(max(min(finite), usual * 10.0**-DECADES)))
        return low, 10.0 ** math.ceil(math.log10(min(max(finite), usual * 10.0**DECADES))), True
    low, high = min(0.0, *finite), max(finite)
    return low, high if high > low else low + 1.0, False


def _share(value: float, low: float, high: float, logarithmic: bool) -> float:
    if not math.isfinite(value):
        return 1.0 if value > 0 else 0.0
    if logarithmic:
        value, low, high = math.log10(max(value, low)), math.log10(low), math.log10(high)
    return min(max((value - low) / (high - low), 0.0), 1.0)


def _label(low: float, high: float, share: float, logarithmic: bool) -> str:
    value = low * (high / low) ** share if logarithmic else low + share * (high - low)
    return short(value)


def _spread_out(points: Sequence[Point], columns: int) -> list[Point]:
    """Return the point that each column shows: the last one not later than it."""
    last = math.log(max(points[-1].trajectories, 2))
    shown, at = [], 0
    for column in range(columns):
        while at + 1 < len(points) and math.log(max(points[at + 1].trajectories, 1)) / last <= (column + 1) / columns:
            at += 1
        shown.append(points[at])
    return shown


def _block(top: float, line: int) -> str:
    """Return the character of a line that a bar of this height fills; the lowest line is never empty."""
    filled = min(max(top - line + (1 / 8), 0.0), 1.0)
    return BARS[int(filled * 8)]


def _below(trajectories: int, columns: int, margin: int) -> list[str]:
    """Return the axis of trajectories and its numbers, powers of ten."""
    last = math.log(max(trajectories, 2))
    axis, text = ["─"] * columns, [" "] * (columns + 6)
    free = 0
    for power in range(int(math.log10(max(trajectories, 1))) + 1):
        column = min(int(math.log(10**power) / last * columns), columns - 1)
        label = short(10.0**power)
        axis[column] = "┴"
        if column >= free and column + len(label) <= columns:
            text[column : column + len(label)] = label
            free = column + len(label) + 1
    numbers = "".join(text).rstrip()
    pad = " " * (margin + 1)
    return [f"{pad}└{''.join(axis)}", f"{pad} {numbers}"]
