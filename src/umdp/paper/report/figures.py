"""The figures of an experiment: every metric in every environment, and what a change does."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING

from umdp import plot
from umdp.paper.report.captions import caption
from umdp.paper.report.panels import Panel, panels, weights
from umdp.paper.results import PAPERS, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Drawing", "figures"]

WIDTH = 7.0  # inches: a page of a paper
ROWS = 6  # of a figure that is to fit on a page
FIGURE = ("betting-favourable", "betting-unfavourable", "aircraft", "bandit", "chain", "grid")
"""The environments of the paper's figure of the performance, in its order; its appendix has them by name."""
ERRORS = ("betting-favourable", "betting-unfavourable", "bandit")
"""Those of its figure of the estimation error."""
RANDOMISED = (0.8, 1.0)
"""The weights on the optimistic action of its figures of changing environments."""


@dataclass(frozen=True)
class Drawing:
    """A figure that was written.

    Attributes
    ----------
    name : of its files, without the ending
    caption : in full sentences
    svg_path, pdf_path, png_path : the files
    published : whether the runs follow the rules of the published code
    experiment : its name
    """

    name: str
    caption: str
    svg_path: Path
    pdf_path: Path
    png_path: Path
    published: bool
    experiment: str = ""


def figures(results: Results, folder: Path) -> list[Drawing]:
    """Draw an experiment into a folder, every figure as PDF, SVG and PNG.

    Where nothing changes there is a figure per metric, with a panel per environment, and one of all three metrics, with a
    row per environment. Where environments change there is a figure per environment and weight on the optimistic action,
    of the performance: a row per panel, a column per change. Beside those stand the figures as the paper draws them, called
    ``NAME-paper-...``: its learners, its environments, in its order.

    Raises
    ------
    MissingExtra
        Without matplotlib.
    """
    written: dict[str, Drawing] = {}
    with plot.settings():
        for sheet in _sheets(results):
            stem = _free(sheet.stem, written)
            pdf, svg, png = plot.save(sheet.figure, folder / stem)
            text = caption(results, sheet.drawn)
            written[stem] = Drawing(stem, text, svg, pdf, png, results.published, results.name)
    return list(written.values())


@dataclass(frozen=True, eq=False)
class Sheet:
    """A figure that is drawn and not yet written, with the panels, metrics and axes that are in it."""

    stem: str
    figure: Figure
    looks: Mapping[str, plot.Style]
    drawn: list[tuple[Panel, plot.Metric, plot.ValueAxis]] = field(default_factory=list)

    def add(
        self, place: tuple[int, int, int], panel: Panel, metric: plot.Metric, *, axis: plot.ValueAxis | None = None,
        title: str = "", label: str = "", last: bool = True,
    ) -> Axes:  # fmt: skip
        """Draw a panel at a place, as matplotlib counts them, with a label to its left; the trajectories stand below the last."""
        ax = self.figure.add_subplot(*place)
        bands = panel.bands(metric)
        axis = panel.axis(metric, bands.values()) if axis is None else axis
        optimum = panel.problem.optimum if metric is plot.PERFORMANCE else None
        turn = None if panel.after is None else (panel.after, panel.problem.later)
        plot.draw_bands(ax, bands, axis, self.looks, optimum=optimum, change=turn, zero=metric.signed)
        self.drawn.append((panel, metric, axis))
        ax.set_title(title)
        ax.set_ylabel(label)
        ax.set_xlabel("trajectories" if last else "")
        return ax

    def with_legend(self, title: str = "") -> Sheet:
        """Put one legend above all panels, of the learners that are in some."""
        present = {label for panel, _, _ in self.drawn for label in panel.runs}
        dashed = any(metric is plot.PERFORMANCE for _, metric, _ in self.drawn)
        some = {label: look for label, look in self.looks.items() if label in present}
        plot.legend(self.figure, some, optimum="optimum" if dashed else "", title=title)
        return self


def _sheets(results: Results) -> Iterator[Sheet]:
    """Draw all figures, one after the other."""
    name = results.name + ("-as-published" if results.published else "")
    cells = results.cells()
    looks = plot.styles(cell.learner for cell in cells)
    sets = weights([cell for cell in cells if cell.after is None])
    for xi, some in sets:
        yield from _steady(name + (_suffix(xi) if len(sets) > 1 else ""), panels(results, some), looks)
    moving = [cell for cell in cells if cell.after is not None]
    for environment in dict.fromkeys(cell.environment for cell in moving):
        sets = weights([cell for cell in moving if cell.environment == environment])
        for xi, some in sets:
            stem = f"{name}-{environment}" + (_suffix(xi) if xi is not None or len(sets) > 1 else "")
            yield _changing(stem, panels(results, some), looks, xi)
    if not results.own:
        yield from _as_in_the_paper(results, f"{name}-paper", looks)


def _as_in_the_paper(results: Results, stem: str, looks: Mapping[str, plot.Style]) -> Iterator[Sheet]:
    """Draw what the paper draws, as far as it was run: its learners alone, and its order of environments and metrics."""
    cells = [cell for cell in results.cells() if cell.learner in PAPERS]
    steady = {name: [cell for cell in cells if cell.environment == name and cell.after is None] for name in FIGURE}

    def shown(names: Sequence[str]) -> list[Panel]:
        return [panel for name in names for panel in panels(results, steady[name])]

    if results.name == "basic":
        if found := shown(FIGURE):
            yield _one_metric(f"{stem}-performance", found, plot.PERFORMANCE, looks)
        if found := shown(ERRORS):
            yield _one_metric(f"{stem}-estimation-error", found, plot.ESTIMATION_ERROR, looks)
        if found := shown(sorted(FIGURE)):
            metrics = (plot.PERFORMANCE, plot.MODEL_ERROR, plot.ESTIMATION_ERROR)
            yield _all_metrics(f"{stem}-appendix", found, looks, metrics)
    for environment in dict.fromkeys(cell.environment for cell in cells if cell.after is not None):
        moving = [cell for cell in cells if cell.environment == environment and cell.after is not None]
        for xi, some in weights(moving):
            if xi in RANDOMISED:
                yield _changing(f"{stem}-{environment}{_suffix(xi)}", panels(results, some), looks, xi)


def _steady(stem: str, shown: Sequence[Panel], looks: Mapping[str, plot.Style]) -> Iterator[Sheet]:
    """Draw environments that do not change."""
    if len(shown) > 1:
        for metric in plot.METRICS:
            yield _one_metric(f"{stem}-{metric.title.replace(' ', '-')}", shown, metric, looks)
    for first in range(0, len(shown), ROWS):
        yield _all_metrics(f"{stem}-metrics", shown[first : first + ROWS], looks)


def _one_metric(stem: str, shown: Sequence[Panel], metric: plot.Metric, looks: Mapping[str, plot.Style]) -> Sheet:
    """Draw one metric, a panel per environment."""
    columns = 2 if len(shown) in {2, 4} else 3
    rows = -(-len(shown) // columns)
    sheet = Sheet(stem, plot.new_figure(WIDTH * min(1.0, columns / 2.6), 0.45 + 1.7 * rows), looks)
    for index, panel in enumerate(shown):
        less = ", less is better" if metric is plot.PERFORMANCE and panel.problem.minimise else ""
        sheet.add(
            (rows, columns, index + 1), panel, metric, title=panel.title + less,
            label="" if index % columns else metric.title, last=index + columns >= len(shown),
        )  # fmt: skip
    return sheet.with_legend()


def _all_metrics(
    stem: str,
    shown: Sequence[Panel],
    looks: Mapping[str, plot.Style],
    metrics: Sequence[plot.Metric] = plot.METRICS,
) -> Sheet:
    """Draw all metrics, a row per environment."""
    sheet = Sheet(stem, plot.new_figure(WIDTH, 0.6 + (1.4 if len(shown) > 1 else 1.7) * len(shown)), looks)
    for index, (panel, metric) in enumerate(product(shown, metrics)):
        row, column = divmod(index, len(metrics))
        last = row == len(shown) - 1
        ax = sheet.add(
            (len(shown), len(metrics), index + 1), panel, metric, title="" if row else metric.title,
            label="" if column else panel.title.replace(", ", ",\n"), last=last,
        )  # fmt: skip
        ax.tick_params(labelbottom=last)
    return sheet.with_legend()


def _changing(stem: str, shown: Sequence[Panel], looks: Mapping[str, plot.Style], xi: float | None) -> Sheet:
    """Draw the performance in one environment, a row per panel and a column per change, all on one axis."""
    rows = list(dict.fromkeys(panel.row for panel in shown))
    afters = sorted({panel.after for panel in shown if panel.after is not None})
    axis = shown[0].axis(plot.PERFORMANCE, [band for panel in shown for band in panel.bands(plot.PERFORMANCE).values()])
    width = min(WIDTH, 1.3 + 1.6 * len(afters)) if len(afters) > 1 else 3.4
    sheet = Sheet(stem, plot.new_figure(width, 0.75 + (1.35 if len(rows) > 1 else 1.7) * len(rows)), looks)
    for panel in shown:
        row, column = rows.index(panel.row), afters.index(panel.after or 0)
        last = row == len(rows) - 1
        ax = sheet.add(
            (len(rows), len(afters), row * len(afters) + column + 1), panel, plot.PERFORMANCE, axis=axis,
            title="" if row else f"change after {plot.power(panel.after or 0)}",
            label="" if column else f"{panel.row}\nperformance".strip(), last=last,
        )  # fmt: skip
        ax.tick_params(labelbottom=last, labelleft=column == 0)
    title = shown[0].problem.title + ("" if xi is None else f", ξ = {xi:g}")
    return sheet.with_legend(title + (", less is better" if shown[0].problem.minimise else ""))


def _suffix(xi: float | None) -> str:
    return "-uniform" if xi is None else f"-xi-{xi:g}" if xi != int(xi) else f"-xi-{xi:.1f}"


def _free(stem: str, taken: Container[str]) -> str:
    """Return a name that is fit for a file and not taken: letters, digits, dots and dashes."""
    plain = re.sub(r"[^a-z0-9.]+", "-", stem.lower()).strip("-.") or "figure"
    names = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    return next(name for name in names if name not in taken)
