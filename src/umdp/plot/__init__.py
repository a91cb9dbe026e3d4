"""Curves of learning runs: means and confidence bands over a logarithmic trajectory axis. Plots draw, callers show."""

from __future__ import annotations

from umdp.plot.axis import ValueAxis, fit
from umdp.plot.curves import Band, Run, band, grid, step
from umdp.plot.draw import estimation_error, model_error, performance
from umdp.plot.figure import legend, new_figure, save
from umdp.plot.lines import draw_bands
from umdp.plot.metric import ESTIMATION_ERROR, METRICS, MODEL_ERROR, PERFORMANCE, Metric
from umdp.plot.style import Style, settings, styles
from umdp.plot.trajectory import power

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
    "draw_bands",
    "estimation_error",
    "fit",
    "grid",
    "legend",
    "model_error",
    "new_figure",
    "performance",
    "power",
    "save",
    "settings",
    "step",
    "styles",
]  # fmt: skip
