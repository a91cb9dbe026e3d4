"""Pictures of learning: the course of runs, what was learned, policies and visits; means and bands over many runs.

Plots draw, callers show.
"""

from __future__ import annotations

from umdp.plot.axis import ValueAxis, fit
from umdp.plot.boxes import parameters
from umdp.plot.calibrated import coverage
from umdp.plot.course import error, model, value
from umdp.plot.curves import Band, Run, band, grid, step
from umdp.plot.draw import estimation_error, model_error, performance
from umdp.plot.figure import legend, new_figure, save, save_as
from umdp.plot.learned import policy, visits
from umdp.plot.lines import draw_bands
from umdp.plot.metric import ESTIMATION_ERROR, METRICS, MODEL_ERROR, PERFORMANCE, Metric
from umdp.plot.style import Style, settings, styles
from umdp.plot.trajectory import power
from umdp.plot.widths import intervals

__all__ = [
    "ESTIMATION_ERROR",
    "METRICS",
    "MODEL_ERROR",
    "PERFORMANCE",
    "Band",
    "Metric",
    "Run",
    "Style",
    "ValueAxis",
    "band",
    "coverage",
    "draw_bands",
    "error",
    "estimation_error",
    "fit",
    "grid",
    "intervals",
    "legend",
    "model",
    "model_error",
    "new_figure",
    "parameters",
    "performance",
    "policy",
    "power",
    "save",
    "save_as",
    "settings",
    "step",
    "styles",
    "value",
    "visits",
]  # fmt: skip
