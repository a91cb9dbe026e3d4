"""The parameters of a program: what is left of each over the number of trajectories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from umdp.errors import ModelError
from umdp.learning.snapshot import Snapshot
from umdp.plot.figure import course_picture
from umdp.plot.lines import BAND, LINE, OPTIMUM
from umdp.plot.style import styles
from umdp.run import OpenedRun, open_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["parameters"]


def parameters(given: OpenedRun | str | Path | Iterable[Snapshot], *, ax: Axes | None = None) -> Axes:
    """Draw the interval that is left of every parameter of a program, over trajectories; dashed, the true value where known.

    Parameters
    ----------
    given : a run of a program with unknown constants, its file, or a list of snapshots
    ax : where to draw; a new figure, with a legend, unless given. Curves have labels, so that ``ax.legend()`` names them.

    Returns
    -------
    Axes
        What was drawn on. Its ``figure`` can be shown, or given to `save`.

    Raises
    ------
    ModelError
        If there are no parameters.
    """
    rows, title, truth = _rows(given)
    names = list(rows[-1]["parameters"])
    looks = styles(f"parameter {name}" for name in names)

    def draw(target: Axes) -> list[Any]:
        at = np.array([row["trajectories"] for row in rows])
        handles: list[Any] = []
        for name, look in zip(names, looks.values(), strict=True):
            low, high = (np.array([row["parameters"][name][end] for row in rows]) for end in ("lower", "upper"))
            target.fill_between(at, low, high, step="post", color=look.colour, alpha=BAND, linewidth=0)
            line = {**LINE, "color": look.colour, "drawstyle": "steps-post"}
            (drawn,) = target.plot(at, low, label=name, **line)
            target.plot(at, high, **line)
            if name in truth:
                target.axhline(truth[name], **{**OPTIMUM, "color": look.colour})
            handles.append(drawn)
        return handles

    return course_picture(ax, title, int(rows[-1]["trajectories"]), "parameter", draw)


def _rows(given: Any) -> tuple[Sequence[Mapping[str, Any]], str, Mapping[str, float]]:
    """Return the rows, a title, and the true values where they are known."""
    from umdp.io.constants import parse_constants

    run = open_run(given) if isinstance(given, str | Path) else given
    if isinstance(run, OpenedRun):
        place, rows, config = str(run.path), list(run.rows), run.config
        title = f"{Path(config.model).name}: {', '.join(rows[-1].get('parameters', ())) if rows else ''}"
        values = parse_constants(config.constants) if config.log is None else {}
        truth = {name: float(value) for name, value in values.items()}
    else:
        place, rows = "the list of snapshots", [each.row() for each in run]
        title, truth = "parameters", {}
    if not rows or "parameters" not in rows[-1]:
        raise ModelError(f"{place} has no parameters; learn a program with --unknown, and draw that")
    return rows, title, truth
