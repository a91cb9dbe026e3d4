"""What was learned: the policy, the visits and the intervals, of a run, a snapshot or a solution."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model.coordinates import places
from umdp.plot.figure import picture
from umdp.plot.maps import Board, draw_policy_map, draw_visits_map
from umdp.plot.network import Network, draw_network
from umdp.plot.subject import Drawable, Subject, subject
from umdp.plot.trajectory import power
from umdp.statements.text import nouns, shortened, were

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["policy", "visits"]

BARS = 20  # choices in a picture of visits
LETTERS = 38  # of a name


def policy(given: Drawable, *, ax: Axes | None = None) -> Axes:
    """Draw a policy: on a map where states have a place, otherwise as a graph of the part it visits most.

    States have a place by variables x and y, by two whole numbers, or by names such as ``(3,4)``. An arrow is where an action
    leads on average; other actions are written out. Of a policy that depends on the step, the first step is drawn.

    Parameters
    ----------
    given : a run, its file, a snapshot, a list of snapshots (the last), a solution or a policy
    ax : where to draw; a new figure, with a legend, unless given

    Returns
    -------
    Axes
        What was drawn on. Its ``figure`` can be shown, or given to `save`.
    """
    one = subject(given)
    seen = None if one.counts is None or not one.counts.any() else _visited(one, one.counts)
    found = places(one.graph)
    steps = one.policy.steps
    when = f", step 1 of {steps}" if steps is not None else ""
    if found is None:
        net = Network(one, seen)
        more = f", {net.left_out:,} more {nouns(net.left_out, 'state')} left out" if net.left_out else ""
        more += f", {net.not_reached:,} {nouns(net.not_reached, 'state')} not reached" if net.not_reached else ""
        size, draw = net.size(), partial(draw_network, net=net)
    else:
        board = Board(one, found, seen)
        size, more, draw = board.size(), board.left_out, partial(draw_policy_map, board=board)
    return picture(size, ax, _title(one, "policy", when + more), draw)


def visits(given: Drawable, *, ax: Axes | None = None) -> Axes:
    """Draw how often states were visited, on a map where they have a place, otherwise choices as bars, the most taken first.

    Parameters
    ----------
    given : a run or its file; or a snapshot that knows its counts
    ax : where to draw; a new figure unless given
    """
    one = subject(given)
    if one.counts is None:
        raise ModelError(f"{one.place} does not know how often states were visited; give a run")
    seen = _visited(one, one.counts)
    found = places(one.graph)
    if found is None:
        return _bars(one, one.counts, ax)
    board = Board(one, found, seen)

    def draw(target: Axes) -> list[Any]:
        scale, handles = draw_visits_map(target, board)
        figure = target.get_figure()
        if ax is None and figure is not None and not board.numbered:
            bar = figure.colorbar(scale, ax=target, fraction=0.04, pad=0.02, format=lambda count, _: power(count))
            bar.outline.set_visible(False)
            bar.ax.grid(visible=False)
            bar.set_label("times left")
        return handles

    return picture(board.size(), ax, _title(one, "how often each state was left", board.left_out), draw)


def _bars(one: Subject, counts: NDArray[np.int64], ax: Axes | None) -> Axes:
    graph = one.graph
    own = np.add.reduceat(counts, graph.choice_ptr[:-1])
    most = np.argsort(-own, kind="stable")[:BARS]
    most = most[own[most] > 0]
    names = [f"{graph.state_name(int(graph.choice_state[c]))}, {graph.action_name(int(c))}" for c in most]

    def draw(target: Axes) -> list[Any]:
        target.barh(np.arange(len(most)), own[most], color="#0072B2", height=0.7)
        target.set_yticks(np.arange(len(most)), [shortened(name, LETTERS) for name in names])
        target.set_xscale("log")
        target.set_xlim(left=0.8)
        target.xaxis.set_major_formatter(lambda count, _: power(count))
        target.set_ylim(len(most) - 0.4, -0.6)
        target.grid(visible=False, axis="y")
        target.set_xlabel("times taken")
        return []

    left = int((own > 0).sum()) - len(most)
    more = f", the {len(most)} choices taken most; {left} more {were(left)} taken" if left > 0 else ""
    return picture((4.8, 0.9 + 0.19 * max(len(most), 1)), ax, _title(one, "visits", more), draw)


def _visited(one: Subject, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how often each state was left, shape (S,)."""
    graph = one.graph
    if counts.shape != (graph.transitions,):
        raise ModelError(f"{one.place} has counts that do not fit its graph")
    left: NDArray[np.float64] = np.add.reduceat(counts, graph.choice_ptr[graph.state_ptr[:-1]]).astype(np.float64)
    return left


def _title(one: Subject, what: str, more: str = "") -> str:
    asked = "" if one.spec is None else f" for {one.spec}"
    where = f" on {one.parts[1]}, {one.parts[0]}" if len(one.parts) > 1 else asked
    return f"{what}{where}{more}"
