"""What is said below a figure, in full sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from umdp import plot
from umdp.paper.claims.verdict import series
from umdp.paper.report.panels import Panel
from umdp.paper.results import Results

__all__ = ["caption"]

_SHOWN = {
    plot.PERFORMANCE: "The performance of robust policies, their value in the true environment, against the number of "
    "trajectories processed; 0 is the prior.",
    plot.ESTIMATION_ERROR: "The estimation error of robust policies, by how much they promise more than they deliver in the "
    "true environment, against the number of trajectories processed; below zero they are conservative.",
    plot.MODEL_ERROR: "The model error, the mean distance from a true probability to the farther of its learned bounds, against "
    "the number of trajectories processed.",
}  # fmt: skip
_ALL = (
    "Performance, estimation error (above zero a policy promises more than it delivers) and model error against the number of "
    "trajectories processed; 0 is the prior."
)


Drawn = Sequence[tuple[Panel, plot.Metric, plot.ValueAxis]]


def caption(results: Results, drawn: Drawn) -> str:
    """Return the caption of a figure with these panels, metrics and axes."""
    metrics = list(dict.fromkeys(metric for _, metric, _ in drawn))
    shown = [panel for panel, _, _ in drawn]
    sentences = [_SHOWN[metrics[0]] if len(metrics) == 1 else _ALL]
    if any(panel.after is not None for panel in shown):
        sentences = [_changing(shown)]
    sentences += [_made(results, shown), _promised(results, shown), _lines(drawn)]
    if plot.PERFORMANCE in metrics:
        smaller = _titles(panel for panel, metric, _ in drawn if panel.problem.minimise and metric is plot.PERFORMANCE)
        steps = " before and after the change" if any(panel.after is not None for panel in shown) else ""
        sentences.append(f"Dashed lines are the optimum{steps}{f'; for {smaller}, less is better' if smaller else ''}.")
    outside = _titles(panel for panel, metric, axis in drawn if _leaves(panel, metric, axis))
    if outside:
        sentences.append(f"Where curves of {outside} leave the picture, their values are beyond the axis.")
    return " ".join(sentences)


def _changing(shown: Sequence[Panel]) -> str:
    afters = sorted({panel.after for panel in shown if panel.after is not None})
    rows = dict.fromkeys(panel.row for panel in shown if panel.row)
    by_row = f"; the rows are: {', '.join(rows)}" if rows else ""
    return (
        f"The performance of robust policies in {_titles(shown)} against the number of trajectories processed, where the "
        f"environment changes after {series([f'{after:,}' for after in afters])} trajectories (vertical line){by_row}."
    )  # fmt: skip


def _made(results: Results, shown: Sequence[Panel]) -> str:
    """Say by which rules the runs were made, how many there are, and how they explore."""
    rules = "the rules of the published code" if results.published else "the paper's definitions"
    counts = {len(runs) for panel in shown for runs in panel.runs.values()}
    fewest, most = min(counts), max(counts)
    seeds = "one seed" if most == 1 else f"{most} seeds" if fewest == most else f"{fewest} to {most} seeds"
    uniform = dict.fromkeys(label for panel in shown for label, xi in panel.weights.items() if xi is None)
    alone = f"; {series(list(uniform))} explore{'s' if len(uniform) == 1 else ''} uniformly" if uniform else ""
    made = "The runs are made" if results.own else f"The runs follow {rules},"
    return f"{made} with {seeds}{_weights(shown)}{alone}."


def _promised(results: Results, shown: Sequence[Panel]) -> str:
    """Say which learners promise something at the end of their runs, and which do not; the weakest run counts."""
    labels = dict.fromkeys(label for panel in shown for label in panel.runs)
    problems = {id(panel.problem) for panel in shown}
    said: dict[str, set[str]] = {label: set() for label in labels}
    for outcome in results.outcomes:
        if outcome.cell.learner in said and id(results.problems[outcome.cell.environment]) in problems:
            said[outcome.cell.learner].add(outcome.guarantee.short if outcome.guarantee.holds else "")
    none = [label for label in labels if said[label] <= {""}]
    if len(none) == len(labels):
        return "No guarantee comes with these curves: none of the learners promises anything."
    parts = []
    for label in labels:
        promises = sorted(each for each in said[label] if each)
        if promises:
            parts.append(f"{label} promises ({series(promises)}){' in some of its runs' if '' in said[label] else ''}")
    rest = f"; {series(none)} {'has' if len(none) == 1 else 'have'} no guarantee" if none else ""
    return f"{series(parts)}{rest}."


def _weights(shown: Sequence[Panel]) -> str:
    """Say how much weight the optimistic action has, and where if that differs."""
    found: dict[float, list[str]] = {}
    for panel in shown:
        for xi in dict.fromkeys(xi for xi in panel.weights.values() if xi is not None):
            found.setdefault(xi, []).append(panel.problem.title)
    usual = max(found, key=lambda xi: len(found[xi]), default=None)
    if usual is None:
        return ""
    if len(found) == 1:
        return f" and exploration weight ξ = {usual:g}"
    rest = [f"ξ = {xi:g} in {series(list(dict.fromkeys(places)))}" for xi, places in found.items() if xi != usual]
    return f" and exploration weight {', '.join(rest)}, and ξ = {usual:g} elsewhere"


def _lines(drawn: Drawn) -> str:
    """Say what lines and bands are."""
    if all(len(runs) == 1 for panel, _, _ in drawn for runs in panel.runs.values()):
        return "Lines are single runs."
    parts = ["Lines are means"]
    kinds = {axis.kind for _, _, axis in drawn}
    if "logarithmic" in kinds:
        parts.append(f"geometric ones where the axis is logarithmic ({_of_kind(drawn, 'logarithmic')})")
    if "symmetric" in kinds:
        parts.append(
            f"on the axis's own scale where it is logarithmic on both sides of zero ({_of_kind(drawn, 'symmetric')})"
        )
    return f"{', '.join(parts)}, and bands are 95 % confidence intervals of the mean."


def _of_kind(drawn: Drawn, kind: str) -> str:
    several = len({metric for _, metric, _ in drawn}) > 1
    some = [(panel, metric) for panel, metric, axis in drawn if axis.kind == kind]
    return series(
        list(dict.fromkeys(panel.problem.title + (f", {metric.title}" if several else "") for panel, metric in some))
    )


def _leaves(panel: Panel, metric: plot.Metric, axis: plot.ValueAxis) -> bool:
    """Whether a mean is outside the axis."""
    positions = np.concatenate([axis.position(band.mean) for band in panel.bands(metric).values()])
    return bool(((positions > 1) | (positions < 0)).any())


def _titles(shown: Iterable[Panel]) -> str:
    return series(list(dict.fromkeys(panel.problem.title for panel in shown)))
