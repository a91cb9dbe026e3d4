"""The trajectory axis: logarithmic, and with the prior, which has seen none, at its left end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.plot.style import GUIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["from_log_position", "log_position", "power", "trajectory_axis"]

PRIOR = 0.5  # the room between 0 and 1, in decades
INCHES_PER_LABEL = 0.24

TICKDOWN: Final = 3  # matplotlib's number for a marker below the line

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(value: float) -> str:
    """Return a number as a tick label: powers of ten as such.

    Examples
    --------
    >>> [power(value) for value in (0.0, 1.0, 10.0, -1e4, 1e120, 0.01, 0.3)]
    ['0', '1', '10', '−10⁴', '10¹²⁰', '0.01', '0.3']
    """
    sign, size = "−" if value < 0 else "", abs(value)
    exponent = round(np.log10(size)) if size else 0
    if size and -3 <= exponent <= 1:
        return f"{sign}{size:g}"
    if size and abs(size / 10.0**exponent - 1) < 1e-9:
        return f"{sign}10{str(exponent).translate(_RAISED)}"
    return f"{sign}{size:g}"


def log_position(trajectories: ArrayLike) -> NDArray[np.float64]:
    """Return where numbers of trajectories are on the axis, in decades from 1; 0 is half a decade to the left of it."""
    numbers = np.asarray(trajectories, dtype=np.float64)
    return np.where(numbers < 1, (numbers - 1) * PRIOR, np.log10(np.maximum(numbers, 1)))


def from_log_position(positions: ArrayLike) -> NDArray[np.float64]:
    """Return the numbers of trajectories at positions on the axis."""
    where = np.asarray(positions, dtype=np.float64)
    return np.where(where < 0, 1 + where / PRIOR, 10 ** np.maximum(where, 0))


def trajectory_axis(ax: Axes, trajectories: int) -> None:
    """Give a plot the axis of trajectories, from 0 (the prior) to `trajectories`."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    # The scale "symlog" has the linear part in units of decades times 1 - 1/10.
    ax.set_xscale("symlog", linthresh=1, linscale=PRIOR * 0.9)
    ax.set_xlim(0, max(trajectories, 1))
    decades = int(np.floor(np.log10(max(trajectories, 1)) + 1e-9))
    figure = ax.get_figure(root=True)
    inches = ax.get_window_extent().width / figure.dpi if figure is not None else 3.0
    every = int(np.ceil((decades + 1 + PRIOR) * INCHES_PER_LABEL / max(inches, INCHES_PER_LABEL)))
    ticks = [0.0, *(10.0**exponent for exponent in range(0, decades + 1, every))]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
    ax.xaxis.set_minor_locator(NullLocator())
    # The marks in between are one line of markers: as ticks they would take longer to draw than all the curves.
    between = [factor * 10.0**exponent for exponent in range(decades + 1) for factor in range(1, 10)]
    between = [mark for mark in between if mark <= trajectories and mark not in ticks]
    ax.add_artist(
        Line2D(
            between, [0.0] * len(between), linestyle="none", marker=TICKDOWN, markersize=1.4, markeredgewidth=0.4, color=GUIDE,
            transform=ax.get_xaxis_transform(), clip_on=False, zorder=2,
        )
    )  # fmt: skip
