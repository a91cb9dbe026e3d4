"""The three metrics of learning runs, one function each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from umdp.plot.curves import Run, grid, last
from umdp.plot.figure import legend_handles, picture
from umdp.plot.lines import draw_bands
from umdp.plot.metric import ESTIMATION_ERROR, MODEL_ERROR, PERFORMANCE, Metric
from umdp.plot.style import Style
from umdp.plot.style import styles as choose

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["estimation_error", "model_error", "performance"]

COLUMN = (3.4, 2.5)  # inches: one column of a paper
Runs = Mapping[str, Sequence[Run]]


class DrawOptions(TypedDict, total=False):
    """Options of the functions that draw a metric; `performance` says what they are."""

    optimum: float | None
    logarithmic: bool
    trajectories: int | None
    ax: Axes | None
    styles: Mapping[str, Style] | None
    change: tuple[int, float | None] | None


def performance(runs: Runs, **options: Unpack[DrawOptions]) -> Axes:
    """Draw how well the policies of some learners do: the mean over runs, and its 95 % confidence interval as a band.

    Parameters
    ----------
    runs : the runs of every label of the legend
    optimum : the best possible value, as a dashed line
    logarithmic : a logarithmic axis, and geometric means
    trajectories : where the axis ends; with the longest run unless given
    ax : where to draw; a new figure, with a legend, unless given
    styles : the looks of labels, as `umdp.plot.styles` gives them; for several plots with labels in common
    change : after how many trajectories the environment changes, and the best possible value from then on

    Returns
    -------
    Axes
        What was drawn on. Its ``figure`` can be shown, or given to `save`.

    Raises
    ------
    MissingExtra
        Without matplotlib.

    Examples
    --------
    >>> runs = {"LUI": [{"trajectories": [0, 10, 100], "performance": [0.1, 0.2, 0.3]}]}
    >>> ax = performance(runs, optimum=0.35)
    >>> ax.get_ylabel(), ax.get_xlim()
    ('performance', (np.float64(0.0), np.float64(100.0)))
    """
    return _draw(PERFORMANCE, runs, **options)


def estimation_error(runs: Runs, **options: Unpack[DrawOptions]) -> Axes:
    """Draw by how much the policies of some learners promise more than they deliver; below zero they are conservative.

    Parameters
    ----------
    optimum : with `logarithmic`, the scale is linear up to about a hundredth of it
    logarithmic : an axis that is logarithmic on both sides of zero, and means on that scale
    runs, trajectories, ax, styles, change : as for `performance`
    """
    return _draw(ESTIMATION_ERROR, runs, **options)


def model_error(runs: Runs, **options: Unpack[DrawOptions]) -> Axes:
    """Draw how far the bounds of the learned models are from the truth, on average; the best value is 0.

    Parameters
    ----------
    optimum : makes no difference; the three functions can be called alike
    logarithmic : a logarithmic axis, and geometric means
    runs, trajectories, ax, styles, change : as for `performance`
    """
    return _draw(MODEL_ERROR, runs, **options)


def _draw(
    metric: Metric, runs: Runs, *, optimum: float | None = None, logarithmic: bool = False, trajectories: int | None = None,
    ax: Axes | None = None, styles: Mapping[str, Style] | None = None, change: tuple[int, float | None] | None = None,
) -> Axes:  # fmt: skip
    """Draw one metric, on a plot of its own unless there is one."""
    ends = [last(run) for some in runs.values() for run in some]
    at = grid(trajectories if trajectories is not None else max(ends, default=1))
    if change is not None:
        at = np.union1d(at, [change[0]])
    bands = metric.bands(runs, at, logarithmic=logarithmic, optimum=optimum)
    later = None if change is None else change[1]
    dashed = [value for value in (optimum, later) if value is not None and metric is PERFORMANCE]
    axis = metric.axis(bands.values(), logarithmic=logarithmic, optimum=optimum, show=dashed)
    looks = choose(runs) if styles is None else styles

    def draw(target: Axes) -> list[Any]:
        draw_bands(target, bands, axis, looks, optimum=optimum if dashed else None, change=change, zero=metric.signed)
        target.set_xlabel("trajectories")
        target.set_ylabel(metric.title)
        return legend_handles({label: looks[label] for label in runs}, "optimum" if dashed else "")

    return picture(COLUMN, ax, "", draw)
