"""The learned intervals: how wide they are, choice by choice, with what was seen and with the truth where it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.learning.candidates.candidate import reached_states
from umdp.model.sketch import taken
from umdp.plot.figure import picture
from umdp.plot.style import GUIDE, Style, styles
from umdp.plot.subject import Drawable, Subject, subjects
from umdp.statements.text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from umdp.model import Graph, IntervalMDP

__all__ = ["intervals"]

CHOICES, ROWS = 8, 24  # in a picture
OUTCOMES = 6  # of a choice, where several are drawn
BEFORE = (("start", "reset"), ("the beginning", "begin"))  # what is before a trajectory is no choice of anybody's
LETTERS = 30  # of a name
SHARE: dict[str, Any] = {"marker": "o", "markersize": 3.2, "markeredgecolor": "white", "markeredgewidth": 0.5}
NARROW = 0.2  # probabilities below which the axis ends earlier than at 1
BAR = 0.9  # of a row's height, for all runs together

By = Literal["visits", "width"]


def intervals(
    given: Drawable | Sequence[Drawable] | Mapping[str, Drawable], *, by: By | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the learned intervals of a few choices as bars: the choices taken most, or those that are least certain.

    A dot is the share that was seen, a line the true probability, where they are known.

    Parameters
    ----------
    given : a run, its file, a snapshot, a solution or an interval model; a list of runs on one graph, or a mapping of names
    by : "visits" for the choices taken most, "width" for the least certain that the policy takes; by default visits, where known
    ax : where to draw; a new figure, with a legend, unless given

    Returns
    -------
    Axes
        What was drawn on. Its ``figure`` can be shown, or given to `save`.
    """
    from umdp.model import IntervalMDP

    shown = subjects(given)
    models = []
    for each in shown:
        found = each.model
        if not isinstance(found, IntervalMDP):
            raise ModelError(f"{each.place} has no intervals: all its probabilities are known")
        if not np.array_equal(found.successor, shown[0].model.successor):
            raise ModelError(f"{each.place} has another graph than {shown[0].place}, so that intervals do not compare")
        models.append(found)
    if by not in (None, "visits", "width"):
        raise ModelError(f'by is "visits" or "width", not {by!r}')
    rows = _rows(models, shown[0], by)
    looks = list(styles(f"run {number}" for number in range(len(shown))).values())

    def draw(target: Axes) -> list[Any]:
        _draw(target, shown, models, rows, looks)
        return _handles(shown, looks)

    height = 0.8 + 0.19 * (len(rows) + 0.6 * len({choice for choice, _ in rows}))
    title = _title(shown[0], rows, shown[0].counts is not None and by != "width")
    return picture((5.6, height), ax, title, draw)


def _rows(models: Sequence[IntervalMDP], first: Subject, by: By | None) -> list[tuple[int, int]]:
    """Return (choice, transition) of what is drawn, the most telling choice first."""
    graph, counts = models[0].graph, first.counts
    width = np.max([model.upper - model.lower for model in models], axis=0)
    widest = np.maximum.reduceat(width, graph.choice_ptr[:-1])
    open_ = np.diff(graph.choice_ptr) > 1
    if by == "visits" and counts is None:
        raise ModelError('nothing says how often choices were taken; give a run, or by="width"')
    weight = widest if by == "width" or counts is None else np.add.reduceat(counts, graph.choice_ptr[:-1]).astype(float)
    order = [c for c in np.lexsort((-widest, -weight)).tolist() if open_[c]]
    order = [c for c in order if not _before(graph, c)] or order
    if by == "width" or counts is None:  # of what the policy does not do, little is known and nothing matters
        used = _used(first)
        order = [c for c in order if used[c]] or order
    if not order:
        raise ModelError("every choice has one outcome, so that there is nothing to learn about probabilities")
    rows: list[tuple[int, int]] = []
    most = ROWS if len(order) == 1 else OUTCOMES
    for choice in order[:CHOICES]:
        own = list(range(int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1])))
        if rows and len(rows) + min(len(own), most) > ROWS:
            break
        own.sort(key=lambda t: -float(models[0].upper[t]))
        rows += [(choice, t) for t in own[:most]]
    return rows


def _before(graph: Graph, choice: int) -> bool:
    state = int(graph.choice_state[choice])
    return state == graph.initial and (graph.state_name(state), graph.action_name(choice)) in BEFORE


def _used(one: Subject) -> NDArray[np.bool_]:
    """Return the choices that a policy can come to take before the goal is reached or missed, shape (C,)."""
    graph = one.graph
    if one.find_policy is None:
        return np.ones(graph.choices, dtype=np.bool_)
    choice, over = taken(one.policy), one.marks.good | one.marks.bad
    used = np.zeros(graph.choices, dtype=np.bool_)
    used[choice[~over]] = True
    return np.asarray(used & reached_states(graph, used)[graph.choice_state])


def _draw(
    ax: Axes,
    shown: Sequence[Subject],
    models: Sequence[IntervalMDP],
    rows: Sequence[tuple[int, int]],
    looks: Sequence[Style],
) -> None:
    graph = models[0].graph
    y, at, last = 0.0, [], None
    for choice, _ in rows:
        if choice != last:
            y += 1.0 if last is not None else 0.0
            name = f"{graph.state_name(int(graph.choice_state[choice]))}, {graph.action_name(choice)}"
            count, all_ = sum(each == choice for each, _ in rows), int(np.diff(graph.choice_ptr)[choice])
            some = f" ({count} of {all_:,} outcomes)" if count < all_ else ""
            ax.text(
                0.0, y, shortened(name, LETTERS) + some, va="center", ha="left", fontsize=7, fontweight="bold",
                transform=ax.get_yaxis_transform(),
            )  # fmt: skip
            y += 0.85
            last = choice
        at.append(y)
        y += 0.8
    transitions = np.array([t for _, t in rows])
    places = np.array(at)
    height = BAR * 0.8 / len(shown)
    widest = max(float(model.upper[transitions].max()) for model in models)
    end = 1.0 if widest > NARROW else 1.1 * widest
    for number, (each, model, look) in enumerate(zip(shown, models, looks, strict=False)):
        middle = places + (number - (len(shown) - 1) / 2) * height
        lower, upper = model.lower[transitions], model.upper[transitions]
        ax.barh(
            middle, np.maximum(upper - lower, 0.002 * end), left=lower, height=0.82 * height, color=look.colour, alpha=0.55,
            linewidth=0, label=each.name or "learned interval", zorder=2,
        )  # fmt: skip
        seen = _shares(each, transitions, rows)
        if seen is not None:
            ax.plot(seen, middle, linestyle="none", color=look.colour, zorder=4, **SHARE)
    truth = next((each.truth for each in shown if each.truth is not None), None)
    if truth is not None:
        ax.vlines(truth.probability[transitions], places - 0.4, places + 0.4, color="black", linewidth=0.8, zorder=3)
    ax.set_yticks(places, [f"→ {shortened(graph.state_name(int(graph.successor[t])), LETTERS)}" for t in transitions])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(y - 0.1, -0.6)
    ax.set_xlim(0, end)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("probability")


def _shares(
    one: Subject, transitions: NDArray[np.int64], rows: Sequence[tuple[int, int]]
) -> NDArray[np.float64] | None:
    """Return the share of each outcome among those seen; None where nothing is known of it."""
    if one.counts is None:
        return None
    total = np.add.reduceat(one.counts, one.graph.choice_ptr[:-1])[[choice for choice, _ in rows]]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(one.counts[transitions] / total)


def _handles(shown: Sequence[Subject], looks: Sequence[Style]) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for each, look in zip(shown, looks, strict=False):
        promise = f" ({each.guarantee.short})" if each.guarantee is not None else ""
        name = "learned interval" if len(shown) == 1 else each.name
        handles.append(Patch(facecolor=look.colour, alpha=0.55, label=f"{name}{promise}"))
    if any(each.counts is not None for each in shown):
        handles.append(Line2D([], [], linestyle="none", color=GUIDE, label="share seen", **SHARE))
    if any(each.truth is not None for each in shown):
        line = Line2D([], [], linestyle="none", marker="|", markersize=9, markeredgewidth=0.8, color="black")
        line.set_label("true probability")
        handles.append(line)
    return handles


def _title(one: Subject, rows: Sequence[tuple[int, int]], visited: bool) -> str:
    where = f" on {one.parts[1]}" if len(one.parts) > 1 else ""
    count = len({choice for choice, _ in rows})
    if count == 1:
        return f"the choice {'taken most' if visited else 'that is least certain'}{where}"
    return f"the {count} choices {'taken most' if visited else 'that are least certain'}{where}"
