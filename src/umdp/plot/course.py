"""The course of runs: the bound, the optimistic value and the errors, over the number of trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from umdp.errors import ModelError
from umdp.plot.axis import Kind, ValueAxis, fit
from umdp.plot.curves import Band
from umdp.plot.draw import estimation_error, model_error
from umdp.plot.figure import course_picture
from umdp.plot.lines import BAND, LINE, OPTIMUM
from umdp.plot.style import GUIDE, Style, styles
from umdp.plot.subject import Drawable, Subject, subjects

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["error", "model", "value"]

FEW = 1  # runs whose gap is shaded
SPREAD = 100  # how many times larger than others values must be for a logarithmic axis
BOUND: dict[str, Any] = {**LINE, "linewidth": 1.6}
OPTIMISTIC: dict[str, Any] = {**LINE, "linewidth": 0.7}
TRUE: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (1, 1.3))}
THRESHOLD: dict[str, Any] = {"color": GUIDE, "linewidth": 0.8, "linestyle": (0, (1, 2.5))}
END: dict[str, Any] = {"marker": "o", "markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.8}
PROMISE: dict[str, Any] = {**LINE, "linewidth": 1.6, "linestyle": (0, (4, 1.2))}
LINES = {
    "optimistic": ("optimistic value", OPTIMISTIC, 0.0),
    "performance": ("true value of the policy", TRUE, 0.0),
    "promised": ("promised, by the model or by playing", PROMISE, 0.6),
}
"""Curves besides the bound, in the order in which they are drawn: by column a label, a look, and how far in front of others."""

Several = Drawable | Sequence[Drawable] | Mapping[str, Drawable]


def value(given: Several, *, ax: Axes | None = None) -> Axes:
    """Draw the bound on the worst case and the optimistic value over trajectories, and what is promised.

    The true value of the policies and the optimum are drawn where the process is known. The threshold that a run was to reach
    is a dotted line, its end a dot.

    Parameters
    ----------
    given : a run, its file, a list of snapshots; a list of runs; or a mapping of names to any of these
    ax : where to draw; a new figure, with a legend, unless given. Curves have labels, so that ``ax.legend()`` names them.

    Returns
    -------
    Axes
        What was drawn on. Its ``figure`` can be shown, or given to `save`.

    Raises
    ------
    MissingExtra
        Without matplotlib.
    """
    shown = _alone(subjects(given))
    looks = _looks(shown)
    axis = _axis(shown)
    end = max(int(each.curves["trajectories"][-1]) for each in shown)

    def draw(target: Axes) -> list[Any]:
        axis.apply(target)
        _guides(target, shown)
        for number, each in enumerate(shown):
            _draw(target, each, axis, looks[each.name], shade=len(shown) <= FEW, order=3 - number / 100)
        return _handles(shown, looks)

    return course_picture(ax, _title(shown), end, _quantity(shown), draw)


def error(given: Several, *, ax: Axes | None = None) -> Axes:
    """Draw by how much the policies promise more than they deliver; below zero they are conservative.

    Parameters
    ----------
    given, ax : as for `value`

    Raises
    ------
    ModelError
        If the process itself is not known.
    """
    return _metric(estimation_error, "estimation_error", "the estimation error", given, ax)


def model(given: Several, *, ax: Axes | None = None) -> Axes:
    """Draw how far the learned bounds are from the true probabilities, on average.

    Parameters
    ----------
    given, ax : as for `value`

    Raises
    ------
    ModelError
        If the process itself is not known.
    """
    return _metric(model_error, "model_error", "the model error", given, ax)


def _metric(draw: Any, column: str, title: str, given: Several, ax: Axes | None) -> Axes:
    """Draw a metric that compares with the truth."""
    shown = subjects(given)
    for each in shown:
        if np.isnan(each.columns[column]).all():
            raise ModelError(
                f"{each.place}: {title} compares with the true probabilities, which are not known for a log or an environment "
                "without a table; draw the value instead"
            )
    looks = _looks(shown)
    labels = {each.name: _label(each) for each in shown}
    optimum = next((each.optimum for each in shown if each.optimum is not None), None)
    runs = {labels[each.name]: [each.columns] for each in shown}
    values = np.concatenate([each.columns[column] for each in shown])
    finite = np.abs(values[np.isfinite(values)])
    spread = column == "estimation_error" and bool(optimum) and bool((finite > SPREAD * abs(optimum or 1)).any())
    axes: Axes = draw(
        runs, optimum=optimum, logarithmic=spread, ax=ax, styles={labels[each.name]: looks[each.name] for each in shown}
    )
    return axes


def _axis(shown: Sequence[Subject]) -> ValueAxis:
    """Return an axis on which all curves can be read."""
    guides = [each.optimum for each in shown] + [None if each.until is None else each.until.value for each in shown]
    show = [guide for guide in guides if guide is not None]
    bands = []
    for each in shown:
        at = each.curves["trajectories"].astype(np.int64)
        empty = np.full(at.size, np.nan)
        bands += [Band(at, each.curves[name], empty, empty) for name in ("bound", *LINES) if each.has(name)]
    ends = np.array([band.mean[-1] for band in bands])
    values = np.concatenate([band.mean for band in bands])
    values = values[np.isfinite(values)]
    usual = np.median(np.abs(ends[np.isfinite(ends)])) if np.isfinite(ends).any() else 0.0
    kind: Kind = "linear"
    if not all(each.rises for each in shown) and usual > 0 and (values > SPREAD * usual).any():
        kind = "logarithmic"
    return fit(bands, kind, show=show)


def _draw(ax: Axes, one: Subject, axis: ValueAxis, look: Style, *, shade: bool, order: float) -> None:
    at = one.curves["trajectories"]
    curve = {name: axis.clip(one.curves[name]) for name in ("bound", *LINES)}
    bound = curve["bound"]
    if shade and one.has("optimistic"):
        known = ~np.isnan(curve["optimistic"])
        ax.fill_between(
            at, bound, curve["optimistic"], where=known, step="post", color=look.colour, alpha=BAND, linewidth=0, zorder=1
        )  # fmt: skip
    for name, (label, style, front) in LINES.items():
        if one.has(name):
            ax.step(
                at, curve[name], where="post", color=look.colour, zorder=order + front, label=_first(ax, label), **style
            )
    ax.step(at, bound, where="post", zorder=order + 0.5, label=_label(one), color=look.colour, **BOUND)
    if one.reason is not None:
        ax.plot(
            at[-1:], bound[-1:], linestyle="none", color=look.colour, zorder=order + 1, label="_end", clip_on=False, **END
        )  # fmt: skip


def _guides(ax: Axes, shown: Sequence[Subject]) -> None:
    """Draw the optimum and the thresholds."""
    for optimum in _different(each.optimum for each in shown):
        ax.axhline(optimum, zorder=1.6, label=_first(ax, "optimum"), **OPTIMUM)
    said = _limits(shown)
    for limit in _different(None if each.until is None else each.until.value for each in shown):
        ax.axhline(limit, zorder=1.6, label=_first(ax, said), **THRESHOLD)


def _first(ax: Axes, label: str) -> str:
    """Return the label of a curve; lines of one kind stand in a legend once, and the others' labels are hidden."""
    return f"_{label}" if any(line.get_label() == label for line in ax.get_lines()) else label


def _limits(shown: Sequence[Subject]) -> str:
    limits = dict.fromkeys(each.until for each in shown if each.until is not None)
    return f"threshold {', '.join(f'{limit.operator} {limit.value:g}' for limit in limits)}"


def _different(values: Any) -> list[float]:
    """Return the numbers that differ visibly."""
    found: list[float] = []
    for each in values:
        if each is not None and not any(abs(each - other) <= 1e-6 * max(abs(each), abs(other)) for other in found):
            found.append(each)
    return found


def _handles(shown: Sequence[Subject], looks: Mapping[str, Style]) -> list[Any]:
    """Return what the legend explains: every run with what is promised, then the kinds of lines."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=_label(each), color=looks[each.name].colour, **BOUND) for each in shown]
    if len(shown) > 1:
        handles.append(Line2D([], [], label="worst-case bound", color=GUIDE, **BOUND))
    for name, (label, style, _) in LINES.items():
        if any(each.has(name) for each in shown):
            handles.append(Line2D([], [], label=label, color=GUIDE, **style))
    if any(each.optimum is not None for each in shown):
        handles.append(Line2D([], [], label="optimum", **OPTIMUM))
    if any(each.until is not None for each in shown):
        handles.append(Line2D([], [], label=_limits(shown), **THRESHOLD))
    ends = [each.reason for each in shown if each.reason is not None]
    if ends:
        label = f"end: {ends[0]}" if len(shown) == 1 else "end of the run"
        handles.append(Line2D([], [], linestyle="none", color=GUIDE, label=label, **END))
    return handles


def _label(one: Subject) -> str:
    """Return the name of a curve, with what is promised of it."""
    promise = "no guarantee" if one.guarantee is None else one.guarantee.short
    certain = one.guarantee is not None and one.guarantee.holds
    return f"{one.name or ('certified bound' if certain else 'worst-case bound')} ({promise})"


def _alone(shown: list[Subject]) -> list[Subject]:
    """Return the subjects; one that is alone needs no name, because the title has it."""
    return [replace(shown[0], name="")] if len(shown) == 1 and shown[0].parts else shown


def _looks(shown: Sequence[Subject]) -> dict[str, Style]:
    """Return the look of every subject: its learner's own where it is alone, else one after the other, far apart."""
    if len(shown) == 1:
        return {shown[0].name: styles([shown[0].style])[shown[0].style]}
    found = styles(f"run {number}" for number in range(len(shown)))
    return {each.name: look for each, look in zip(shown, found.values(), strict=True)}


def _title(shown: Sequence[Subject]) -> str:
    asked = list(dict.fromkeys(str(each.spec) for each in shown if each.spec is not None))
    models = list(dict.fromkeys(each.parts[1] for each in shown if len(each.parts) > 1))
    if len(asked) != 1:
        return "different properties: values do not compare" if len(asked) > 1 else ""
    alone = f", {shown[0].parts[0]}" if len(shown) == 1 and shown[0].parts else ""
    return asked[0] + (f"  on {models[0]}{alone}" if len(models) == 1 else "")


def _quantity(shown: Sequence[Subject]) -> str:
    found = {(each.spec.kind, each.spec.reward) for each in shown if each.spec is not None}
    if len(found) != 1:
        return "value"
    ((kind, reward),) = found
    return "probability" if kind == "P" else "expected reward" + (f' "{reward}"' if reward else "")
