"""Coverage over trajectories: how often what a learner says is true, beside what it claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from umdp.plot.figure import course_picture
from umdp.plot.lines import BAND, LINE, OPTIMUM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from umdp.analysis.coverage import Calibration

__all__ = ["coverage"]

# The palette of Okabe and Ito; what is measured at all times is dashed, so that print without colour tells it apart.
COLOURS = {"interval": "#0072B2", "model": "#009E73", "policy": "#D55E00"}
NAMES = {"interval": "an interval", "model": "the model", "policy": "the value of the policy"}
DASHES: dict[str, Any] = {"then": "solid", "always": (0, (3.2, 1.4))}
WIDTHS = {"then": 0.9, "always": 1.5}
WORDS = {"then": "at that time", "always": "at all times until then"}


def coverage(calibration: Calibration, *, ax: Axes | None = None) -> Axes:
    """Draw how often intervals, model and value were true over trajectories, with 95 % intervals, and the level as a dashed line.

    Solid lines are at that time, broken ones at all times until then: the worst time.

    Parameters
    ----------
    calibration : what `umdp.calibrate` returned
    ax : where to draw; a new figure, with a legend, unless given

    Raises
    ------
    MissingExtra
        Without matplotlib.
    """
    times, rows = calibration.times, calibration.rows()

    def draw(target: Axes) -> list[Any]:
        target.set_xlim(min(1, int(times[0])), int(times[-1]) if times.size > 1 else int(times[-1]) + 1)
        target.set_ylim(-0.02, 1.02)
        target.axhline(calibration.level, zorder=1.6, **OPTIMUM)
        for name, colour in COLOURS.items():
            for when, dashes in DASHES.items():
                found = [row[name][when] for row in rows]
                share = np.array([np.nan if each["share"] is None else each["share"] for each in found])
                low, high = (np.array([each[end] for each in found]) for end in ("lower", "upper"))
                known = ~np.isnan(share)
                if not known.any():
                    continue
                at = times[known]
                if when == "always":
                    target.fill_between(at, low[known], high[known], color=colour, alpha=BAND, linewidth=0, zorder=1.4)
                target.plot(
                    at, share[known], color=colour, label=f"{NAMES[name]}, {WORDS[when]}",
                    **{**LINE, "linestyle": dashes, "linewidth": WIDTHS[when]},
                )  # fmt: skip
        return _handles(calibration)

    title = f"{calibration.learner} on {calibration.model}, {calibration.seeds.size:,} runs"
    return course_picture(ax, title, int(times[-1]), "share that is true", draw)


def _handles(calibration: Calibration) -> list[Any]:
    """Return what the legend shows: colours, line styles and the level, once each."""
    from matplotlib.lines import Line2D

    level = f"{100 * calibration.level:.10g} %"
    claimed = "claimed" if calibration.claim.holds else "nominal"
    return [
        *(Line2D([], [], color=colour, label=NAMES[name], **LINE) for name, colour in COLOURS.items()),
        *(
            Line2D([], [], color="black", label=WORDS[when], **{**LINE, "linestyle": dashes, "linewidth": WIDTHS[when]})
            for when, dashes in DASHES.items()
        ),
        Line2D([], [], label=f"{level}, {claimed}", **OPTIMUM),
    ]
