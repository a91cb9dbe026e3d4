"""Line plots with confidence bands: step curves, bands, markers, and the lines that guide the eye."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.plot.axis import ValueAxis
from umdp.plot.curves import Band
from umdp.plot.style import GUIDE, Style
from umdp.plot.trajectory import from_log_position, log_position, trajectory_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BAND", "LINE", "OPTIMUM", "draw_bands", "line_style"]

LINE: dict[str, Any] = {"linewidth": 1.15, "solid_capstyle": "butt", "dash_capstyle": "butt"}
MARKER: dict[str, Any] = {"markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.4}
OPTIMUM: dict[str, Any] = {"color": GUIDE, "linewidth": 0.8, "linestyle": (0, (5, 3))}
BAND = 0.14
MARKERS = 5  # along a curve
FINE = 2000  # steps smaller than this part of the height are not drawn


def draw_bands(
    ax: Axes,
    bands: Mapping[str, Band],
    axis: ValueAxis,
    styles: Mapping[str, Style],
    *,
    optimum: float | None = None,
    change: tuple[int, float | None] | None = None,
    zero: bool = False,
) -> None:
    """Draw means as step curves with their confidence bands, the first label on top.

    Parameters
    ----------
    optimum : draw a dashed line there
    change : after how many trajectories the environment changes, and the optimum from then on (None: as before): a thin
        vertical line, and a step of the dashed one
    zero : draw a thin line at zero
    """
    end = max((int(band.at[-1]) for band in bands.values()), default=1)
    trajectory_axis(ax, end)
    axis.apply(ax)
    if change is not None:
        ax.axvline(change[0], color=GUIDE, linewidth=0.6, zorder=1.5)
    if zero:
        ax.axhline(0, color=GUIDE, linewidth=0.6, zorder=1.5)
    if optimum is not None and np.isfinite(optimum):
        turn, later = (end, optimum) if change is None or change[1] is None else (change[0], change[1])
        ax.step([0, turn, end], [optimum, later, later], where="post", zorder=1.6, label="_optimum", **OPTIMUM)
    for index, (label, band) in reversed(list(enumerate(bands.items()))):
        _curve(ax, label, band, axis, styles[label], 2 + (len(bands) - index) / 100, (index + 0.5) / len(bands))


def line_style(style: Style) -> dict[str, Any]:
    """Return a style as matplotlib's arguments of a line without markers."""
    return {"color": style.colour, "linestyle": (0, style.dashes) if style.dashes else "solid", **LINE}


def _curve(ax: Axes, label: str, band: Band, axis: ValueAxis, style: Style, order: float, shift: float) -> None:
    """Draw one curve; `shift` (0 to 1) moves its markers, so that those of curves that coincide lie side by side."""
    keep = _needed(band, axis)
    at = band.at[keep]
    mean, lower, upper = (axis.clip(values) for values in (band.mean, band.lower, band.upper))
    if np.isfinite(band.lower).any():
        ax.fill_between(
            at, lower[keep], upper[keep], where=~np.isnan(lower[keep]), step="post", color=style.colour, alpha=BAND, linewidth=0,
            zorder=order - 1,
        )  # fmt: skip
    ax.step(at, mean[keep], where="post", zorder=order, label=label, **line_style(style))
    positions = log_position(band.at)
    spots = from_log_position(positions[0] + (np.arange(MARKERS) + shift) / MARKERS * (positions[-1] - positions[0]))
    rows = np.searchsorted(band.at, spots, side="right") - 1
    ax.plot(
        spots, mean[rows], linestyle="none", marker=style.marker, color=style.colour, zorder=order, label=f"_{label}", **MARKER
    )  # fmt: skip


def _needed(band: Band, axis: ValueAxis) -> NDArray[np.bool_]:
    """Return which points to draw: those where something visible changes, and both ends."""
    heights = np.stack([axis.position(axis.clip(values)) for values in (band.mean, band.lower, band.upper)])
    rounded = np.rint(np.nan_to_num(heights, nan=-9.0) * FINE)
    needed = np.ones(len(band.at), dtype=np.bool_)
    needed[1:-1] = (rounded[:, 1:-1] != rounded[:, :-2]).any(axis=0)
    return needed
