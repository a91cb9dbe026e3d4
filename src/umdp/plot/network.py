"""A policy as a graph: the states it visits most, from left to right, and where its actions lead."""

from __future__ import annotations

import heapq
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from umdp.model.sketch import taken
from umdp.plot.style import GUIDE
from umdp.plot.subject import Subject
from umdp.statements.text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = ["Network", "draw_network"]

MOST = 18  # states in a picture
GOOD, BAD, START, PLAIN = "#009E73", "#D55E00", "#0072B2", "#909090"
LETTERS = 14  # of a name
CLEAR = 24  # transitions up to which there is room for their likelihood
FAINT = 0.02  # transitions less likely than this are not drawn


class Network:
    """The part of a model that a policy visits most, in layers by the number of steps from the initial state.

    Attributes
    ----------
    states : the states that are drawn, the initial one first
    position : the middle of each, by state; layers from left to right
    edges : (state, state, likelihood) for the choices that the policy takes
    left_out : how many states the policy can reach are not drawn
    not_reached : how many states it never comes to
    """

    def __init__(self, one: Subject, visits: NDArray[np.float64] | None) -> None:
        graph, choice = one.graph, taken(one.policy)
        chance = one.chance
        self.one, self.choice = one, choice
        weight = np.ones(graph.transitions) if chance is None else chance
        over = one.marks.good | one.marks.bad  # what comes after is not what was asked for

        def outcomes(state: int) -> list[tuple[int, float]]:
            if over[state]:
                return []
            span = slice(int(graph.choice_ptr[choice[state]]), int(graph.choice_ptr[choice[state] + 1]))
            total = float(weight[span].sum()) or 1.0
            return [
                (int(t), float(w) / total) for t, w in zip(graph.successor[span], weight[span], strict=True) if w > 0
            ]

        # The likeliest ways first: by visits where they are known, else by the probability of getting there.
        self.depth: dict[int, int] = {}
        known: dict[int, int] = {graph.initial: 0}
        waiting: list[tuple[float, int, int]] = [(-np.inf, 0, graph.initial)]
        while waiting and len(self.depth) < MOST:
            score, depth, state = heapq.heappop(waiting)
            if state in self.depth:
                continue
            self.depth[state] = depth
            for target, p in outcomes(state):
                if target not in self.depth:
                    reached = max(p * (1.0 if np.isinf(score) else -score), 1e-300)
                    known.setdefault(target, depth + 1)
                    heapq.heappush(
                        waiting, (-(reached if visits is None else visits[target] + reached), depth + 1, target)
                    )
        self.states = list(self.depth)
        self.left_out = len(set(known) - set(self.states))
        self.not_reached = graph.states - len(known)
        inside = set(self.states)
        every = [(s, t, p) for s in self.states for t, p in outcomes(s) if t in inside]
        self.edges = [edge for edge in every if edge[2] >= FAINT]
        # A state to which nothing but faint ways lead would hang loose: the likeliest of them is drawn.
        for state in self.states[1:]:
            ways = [edge for edge in every if edge[1] == state != edge[0]]
            if ways and not any(edge[2] >= FAINT for edge in ways):
                self.edges.append(max(ways, key=lambda edge: (self.depth[edge[0]] < self.depth[state], edge[2])))
        self.position = self._layers()

    def _layers(self) -> dict[int, tuple[float, float]]:
        """Return positions: a column per layer, ordered so that edges cross little."""
        self._deepen()
        layers: dict[int, list[int]] = {}
        for state in self.states:
            layers.setdefault(self.depth[state], []).append(state)
        order: dict[int, float] = {}
        for depth in sorted(layers):
            layer = layers[depth]

            def middle(state: int) -> float:
                above = [order[s] for s, t, _ in self.edges if t == state and s in order and s != state]
                return float(np.mean(above)) if above else 0.0

            layer.sort(key=middle)
            for place, state in enumerate(layer):
                order[state] = (len(layer) - 1) / 2 - place
            layer.sort(key=lambda state: -order[state])
        columns = {depth: column for column, depth in enumerate(sorted(layers))}
        return {state: (float(columns[self.depth[state]]), order[state]) for state in self.states}

    def _deepen(self) -> None:
        """Give layers numbers by the shortest way, so that a state is right of where it is first reached from."""
        start = self.states[0]
        depth, layer = {start: 0}, [start]
        ahead: dict[int, list[int]] = {}
        for s, t, _ in self.edges:
            ahead.setdefault(s, []).append(t)
        while layer:
            later = [t for s in layer for t in ahead.get(s, ()) if t not in depth]
            for t in later:
                depth[t] = depth[layer[0]] + 1
            layer = list(dict.fromkeys(later))
        self.depth = {state: depth.get(state, self.depth[state]) for state in self.states}

    def size(self) -> tuple[float, float]:
        """Return the inches that a figure takes."""
        xs, ys = zip(*self.position.values(), strict=True)
        return min(max(3.4, 1.5 * (max(xs) - min(xs) + 1)), 10.0), max(1.9, 0.72 * (max(ys) - min(ys) + 1) + 0.8)


def draw_network(ax: Axes, net: Network) -> list[Any]:
    """Draw the graph; return what the legend explains."""
    from matplotlib.lines import Line2D

    boxes = {state: _box(ax, net, state) for state in net.states}
    marks, arrow = net.one.marks, _arrows()
    pairs = {(s, t) for s, t, _ in net.edges}
    for source, target, p in net.edges:
        (x0, y0), (x1, y1) = net.position[source], net.position[target]
        width, colour = 0.5 + 1.6 * p, "#707070"
        if source == target:
            if p < 0.995:  # what never leaves needs no arrow
                loop = arrow(
                    boxes[source], boxes[source], (x0 - 0.12, y0), (x0 + 0.12, y0), connectionstyle="arc3,rad=-1.3",
                    arrowstyle="-|>", mutation_scale=6, color=colour, linewidth=width, shrinkA=0, shrinkB=0, zorder=1,
                    alpha=0.85,
                )  # fmt: skip
                ax.add_patch(loop)
            continue
        back = x1 <= x0
        far = abs(x1 - x0) > 1
        bend = 0.28 if back or (target, source) in pairs else 0.16 if far and y0 == y1 else 0.0
        ax.add_patch(
            arrow(
                boxes[source], boxes[target], (x0, y0), (x1, y1), connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>",
                mutation_scale=7, color=colour, linewidth=width, shrinkA=0, shrinkB=1, zorder=1, alpha=0.85,
            )
        )  # fmt: skip
        if p < 0.995 and len(net.edges) <= CLEAR:
            mx, my = (x0 + x1) / 2 + bend * (y1 - y0) / 2, (y0 + y1) / 2 - bend * (x1 - x0) / 2
            share = f"{p:.2f}".removeprefix("0") if p >= 0.005 else "<.01"
            ax.text(mx, my, share, fontsize=5.5, ha="center", va="center", color=GUIDE, zorder=2,
                    bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"})  # fmt: skip
    xs, ys = zip(*net.position.values(), strict=True)
    ax.set_xlim(min(xs) - 0.55, max(xs) + 0.55)
    ax.set_ylim(min(ys) - 0.6, max(ys) + 0.7)
    ax.axis("off")
    handles = [Line2D([], [], color=START, linewidth=1.6, label="start")]
    if any(marks.good[state] for state in net.states):
        handles.append(Line2D([], [], color=GOOD, linewidth=1.6, label="goal"))
    if any(marks.bad[state] for state in net.states):
        handles.append(Line2D([], [], color=BAD, linewidth=1.6, label="to be avoided"))
    return handles


def _box(ax: Axes, net: Network, state: int) -> Text:
    """Write a state and its action in a box."""
    graph, marks, (x, y) = net.one.graph, net.one.marks, net.position[state]
    edge = GOOD if marks.good[state] else BAD if marks.bad[state] else START if state == graph.initial else PLAIN
    line = 0.8 if edge == PLAIN else 1.6
    single = graph.state_ptr[state + 1] - graph.state_ptr[state] == 1
    name = shortened(graph.state_name(state), LETTERS)
    action = "" if single else shortened(graph.action_name(int(net.choice[state])), LETTERS)
    return ax.text(
        x, y, f"{name}\n▸ {action}" if action else name, ha="center", va="center", fontsize=6.3, zorder=4, linespacing=1.25,
        bbox={"boxstyle": "round,pad=0.32", "facecolor": "white", "edgecolor": edge, "linewidth": line},
    )  # fmt: skip


@cache
def _arrows() -> Any:
    """Return arrows from one box of text to another, or back to its own: how large boxes are is known when they are drawn."""
    from matplotlib.patches import FancyArrowPatch

    class BoxArrow(FancyArrowPatch):
        def __init__(self, source: Text, target: Text, *positions: Any, **looks: Any) -> None:
            super().__init__(*positions, **looks)
            self.texts: tuple[Text, ...] = (source, target)
            self.boxes: Any = cast(Any, (source.get_bbox_patch(), target.get_bbox_patch()))
            if source is not target:
                self.set_patchA(self.boxes[0])
                self.set_patchB(self.boxes[1])

        def draw(self, renderer: Any) -> None:
            for text in self.texts:
                text.update_bbox_position_size(renderer)
            if self.texts[0] is self.texts[1] and self.axes is not None:
                box = self.boxes[0].get_window_extent(renderer)
                half, middle = min(box.width / 4, box.height / 2), (box.x0 + box.x1) / 2
                ends = self.axes.transData.inverted().transform([(middle - half, box.y1), (middle + half, box.y1)])
                self.set_positions(tuple(ends[0]), tuple(ends[1]))
            super().draw(renderer)

    return BoxArrow
