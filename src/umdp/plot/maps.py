"""Maps: a cell per state where states have a place, with arrows for a policy or shades for visits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model.coordinates import Places, directions
from umdp.model.sketch import taken
from umdp.plot.subject import Subject
from umdp.statements.text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Board", "draw_policy_map", "draw_visits_map"]

GOOD, BAD, START = "#009E73", "#D55E00", "#0072B2"
PLAIN, EDGE, SEEN = "#FFFFFF", "#C8C8C8", "#56B4E9"
GOAL: dict[str, Any] = {"linestyle": "none", "marker": "*", "color": GOOD}
AVOIDED: dict[str, Any] = {"linestyle": "none", "marker": "x", "color": BAD}
GAP = 1.0  # cells between maps
WIDEST = 6.8  # inches
SHEETS = 24  # maps in one picture
LABELS = 60  # rows and columns up to which axes are numbered
MOST_CELLS = 26  # side by side, unless one map has more
NOTED = 1500  # cells up to which actions are written


class Board:
    """Maps side by side in one plot: where every state is drawn, and what is known of it.

    Attributes
    ----------
    states : (D,) the states that are drawn
    x, y : (D,) the middle of their cells, y upwards
    good, bad : (D,) whether the property wants them, and whether it does not
    visits : (D,) how often they were left; None where that is not known
    width, height : of all maps together, in cells
    left_out : that maps are not drawn, for there are too many, as the end of a title
    """

    def __init__(self, one: Subject, found: Places, visits: NDArray[np.float64] | None) -> None:
        self.one, self.found = one, found
        self.chosen = _chosen(found, visits, one.graph.initial)
        left_out = len(found.sheets) - len(self.chosen)
        self.left_out = f", {left_out} more maps left out" if left_out else ""
        w, h = len(found.columns), len(found.rows)
        titled = len(found.sheets) > 1
        self.across = _across(len(self.chosen), w)
        self.down = -(-len(self.chosen) // self.across)
        pitch = (w + GAP, h + (GAP if not titled else GAP + 0.9))
        self.width, self.height = (self.across - 1) * pitch[0] + w, (self.down - 1) * pitch[1] + h
        self.stretch = float(np.clip(h / w / 2, 1, 3)) if len(self.chosen) == 1 else 1.0
        number = {sheet: k for k, sheet in enumerate(self.chosen)}
        self.states = np.flatnonzero(found.placed & np.isin(found.sheet, self.chosen))
        self.good, self.bad = one.marks.good[self.states], one.marks.bad[self.states]
        self.visits = None if visits is None else visits[self.states]
        k = np.array([number[sheet] for sheet in found.sheet[self.states].tolist()], dtype=np.int64)
        self.corner = [((k % self.across) * pitch[0], -(k // self.across) * pitch[1]) for k in range(len(self.chosen))]
        self.x = found.column[self.states] + 0.5 + (k % self.across) * pitch[0]
        self.y = -(found.row[self.states] + 0.5) - (k // self.across) * pitch[1]

    @property
    def cell(self) -> float:
        """The height of a cell in inches."""
        return float(min(0.42, WIDEST / max(self.width * self.stretch, 1), 8.0 / max(self.height, 1)))

    @property
    def numbered(self) -> bool:
        """Whether there is room for a number in every cell."""
        return self.states.size <= NOTED and self.cell * self.stretch >= 0.22

    def size(self) -> tuple[float, float]:
        """Return the inches that a figure of the board takes."""
        titles = 0.9 * self.cell if len(self.found.sheets) > 1 else 0.0
        return max(self.width * self.stretch * self.cell + 0.8, 3.2), max(self.height * self.cell + titles + 1.0, 1.7)

    def draw(self, ax: Axes, colours: list[str] | Any, edges: str = EDGE) -> None:
        """Draw the cells, and what the axes are."""
        from matplotlib.collections import PolyCollection

        corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
        middles = np.stack([self.x, self.y], axis=1)
        ax.add_collection(
            PolyCollection(
                middles[:, None, :] + corners, facecolors=colours, edgecolors=edges, linewidths=min(0.5, 3 * self.cell),
                zorder=1,
            )
        )  # fmt: skip
        ax.set_xlim(-0.3, self.width + 0.3)
        ax.set_ylim(-self.height - 0.3, 0.3 + (0.9 if len(self.found.sheets) > 1 else 0))
        ax.set_aspect(1 / self.stretch)
        ax.grid(visible=False)
        for side in ax.spines.values():
            side.set_visible(False)
        self._axes(ax)
        if len(self.found.sheets) > 1:
            for (left, top), sheet in zip(self.corner, self.chosen, strict=True):
                width = len(self.found.columns)
                size = min(7.0, 72 * self.cell * (width + GAP) / (0.6 * max(len(self.found.sheets[sheet]), 1)))
                ax.text(left + width / 2, top + 0.15, self.found.sheets[sheet], ha="center", va="bottom", fontsize=size)

    def _axes(self, ax: Axes) -> None:
        """Put numbers to rows and columns, of one map as of several."""
        from matplotlib.ticker import FixedLocator, NullLocator

        found = self.found
        ax.tick_params(length=0)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_minor_locator(NullLocator())
        if max(len(found.columns), len(found.rows)) > LABELS * 2 or found.axes[0] == "":
            ax.set_xticks([])
            ax.set_yticks([])
            if found.axes[0] == "":  # positions along one variable: the first of each line is named
                ax.set_yticks([-(row + 0.5) for row in range(len(found.rows))], list(map(one_line, found.rows)))
                ax.set_ylabel(found.axes[1])
            return
        space = max(7.0 * 1.3 / 72 / self.cell, 1e-9)  # cells that a number takes
        left, top = self.corner[(self.down - 1) * self.across]
        every = max(1, int(np.ceil(space * max(map(len, found.columns)) * 0.6)))
        ax.xaxis.set_major_locator(FixedLocator([left + k + 0.5 for k in range(0, len(found.columns), every)]))
        ax.set_xticklabels(list(map(one_line, found.columns))[::every])
        every = max(1, int(np.ceil(space)))
        ax.yaxis.set_major_locator(FixedLocator([top - k - 0.5 for k in range(0, len(found.rows), every)]))
        ax.set_yticklabels(list(map(one_line, found.rows))[::every])
        ax.set_xlabel(found.axes[0])
        ax.set_ylabel(found.axes[1])


def draw_policy_map(ax: Axes, board: Board) -> list[Any]:
    """Draw a policy: an arrow, or the action, in every cell; return what the legend explains."""
    one, graph, states, x, y = board.one, board.one.graph, board.states, board.x, board.y
    seen = None if board.visits is None else board.visits > 0
    board.draw(ax, _policy_colours(board))
    ways = directions(graph, board.found, one.chance)
    choice = taken(one.policy)[states]
    single = np.diff(graph.state_ptr)[states] == 1
    codes = graph.action_codes
    plain = ~board.good & ~board.bad
    way = [None if codes is None else ways[codes[c]] for c in choice.tolist()]
    dark = ["#202020" if seen is None or sight else "#A0A0A0" for sight in (plain if seen is None else seen)]
    arrows = np.array([w is not None for w in way], dtype=np.bool_) & plain
    if arrows.any():
        u = np.array([0 if w is None else w[0] for w in way], dtype=np.float64)
        v = np.array([0 if w is None else w[1] for w in way], dtype=np.float64)
        size = 0.62 / np.maximum(np.hypot(u, v), 1)
        ax.quiver(
            x[arrows], y[arrows], (u * size)[arrows], (v * size)[arrows], color=np.array(dark)[arrows].tolist(),
            angles="xy", scale_units="xy", scale=1, pivot="mid", units="xy", width=0.085, headwidth=4, headlength=3.6,
            headaxislength=3.2, zorder=3,
        )  # fmt: skip
    spoken = np.flatnonzero(plain & ~arrows & ~single)
    if spoken.size <= NOTED:
        for i in spoken.tolist():
            text = graph.action_name(int(choice[i]))
            _write(ax, float(x[i]), float(y[i]), text, board.cell, dark[i])
    _mark(ax, board)
    return [*_start(ax, board), *_legend(board, board.visits)]


def draw_visits_map(ax: Axes, board: Board) -> tuple[Any, list[Any]]:
    """Draw how often states were left, on a logarithmic scale of shades; return what a colour bar needs, and the legend."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    own = board.visits
    assert own is not None
    most, least = max(float(own.max(initial=1)), 2.0), max(float(own[own > 0].min(initial=np.inf)), 1.0)
    least = least if least < most / 2 else most / 2
    scale = ScalarMappable(LogNorm(least, most), _shades())
    shades = scale.to_rgba(np.maximum(own, least))
    shades[own == 0] = 1.0
    board.draw(ax, shades)
    _mark(ax, board)
    if board.numbered:
        plain = np.flatnonzero((own > 0) & ~board.good & ~board.bad)
        for x, y, count in zip(board.x[plain].tolist(), board.y[plain].tolist(), own[plain].tolist(), strict=True):
            light = np.log(count / least) > 0.5 * np.log(most / least)
            _write(ax, x, y, _short(count), board.cell, "white" if light else "#202020")
    return scale, [*_start(ax, board), *_legend(board, None)]


def _shades() -> Any:
    """Return shades of one colour, from light to dark: read alike by all, and in print without colour."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("visits", ["#E3F1FA", "#9CCBEA", "#3D8DC4", "#0B5A8F", "#06304F"])


def _short(count: float) -> str:
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= 0.9995 * size:
            text = f"{count / size:.1f}" if count < 9.95 * size else f"{count / size:.0f}"
            return text.removesuffix(".0") + sign
    return f"{count:.0f}"


def _policy_colours(board: Board) -> list[Any]:
    from matplotlib.colors import to_rgba

    visits, shade = board.visits, np.zeros(board.states.size)
    if visits is not None and visits.max(initial=0) > 0:
        shade = np.where(visits > 0, 0.12 + 0.5 * np.log1p(visits) / np.log1p(visits.max()), 0.0)
    colours: list[Any] = []
    for g, b, s in zip(board.good.tolist(), board.bad.tolist(), shade.tolist(), strict=True):
        colours.append(to_rgba(GOOD, 0.35) if g else to_rgba(BAD, 0.35) if b else to_rgba(SEEN, s))
    return colours


def _write(ax: Axes, x: float, y: float, text: str, cell: float, colour: str) -> None:
    """Write in a cell, as large as it fits; what cannot be read is not written."""
    size = min(9.0, 72 * cell * 0.6, 72 * cell * 0.95 / (0.62 * max(len(text), 1)))
    if size >= 2.2:
        ax.text(x, y, text, ha="center", va="center_baseline", fontsize=size, color=colour, zorder=3)


def _mark(ax: Axes, board: Board) -> None:
    size = 72 * board.cell * 0.38
    for where, looks, large, edge in (
        (board.good, GOAL, size * 1.3, 0.0),
        (board.bad, AVOIDED, size, max(size / 7, 0.5)),
    ):
        ax.plot(board.x[where], board.y[where], markersize=large, markeredgewidth=edge, zorder=3, **looks)


def _start(ax: Axes, board: Board) -> list[Any]:
    """Frame the initial state, if it is on a map."""
    from matplotlib.patches import Patch, Rectangle

    at = np.flatnonzero(board.states == board.one.graph.initial)
    if not at.size:
        return []
    x, y = float(board.x[at[0]]), float(board.y[at[0]])
    ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor=START, linewidth=1.6, zorder=4))
    return [Patch(facecolor="none", edgecolor=START, linewidth=1.4, label="start")]


def _legend(board: Board, visits: NDArray[np.float64] | None) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    if board.good.any():
        handles.append(Line2D([], [], markersize=7, label="goal", **GOAL))
    if board.bad.any():
        handles.append(Line2D([], [], markersize=5, markeredgewidth=1.1, label="to be avoided", **AVOIDED))
    if visits is not None and (visits > 0).any():
        handles.append(Patch(facecolor=SEEN, alpha=0.5, edgecolor=EDGE, label="visited, darker is more often"))
    if visits is not None and (visits[~(board.good | board.bad)] == 0).any():
        handles.append(Patch(facecolor=PLAIN, edgecolor=EDGE, label="never visited"))
    return handles


def _chosen(found: Places, visits: NDArray[np.float64] | None, initial: int) -> list[int]:
    """Return the maps to draw: all if they are few, else those visited most."""
    count = len(found.sheets)
    if count <= SHEETS:
        return list(range(count))
    weight = np.bincount(found.sheet[found.placed], None if visits is None else visits[found.placed], count)
    if found.placed[initial]:
        weight[found.sheet[initial]] = np.inf
    return sorted(np.argsort(-weight, kind="stable")[:SHEETS].tolist())


def _across(count: int, width: int) -> int:
    """Return how many maps go side by side: what fits, and no line of maps much shorter than the others."""
    most = max(1, int((MOST_CELLS + GAP) // (width + GAP)))
    lines = -(-count // most)
    return -(-count // lines)
