"""Drawings of a policy made of characters: an arrow or an action per state, where states have a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from umdp.model.coordinates import ARROWS, Places, directions, places
from umdp.statements.text import one_line

if TYPE_CHECKING:
    from umdp.model.policy import Policy
    from umdp.model.process import Graph

__all__ = ["BAD", "GOOD", "Marks", "marks_of", "sketch", "taken"]

GOOD, BAD = "◎", "×"
_BLANK, _PLAIN = " ", "·"
MOST = 60  # lines of a drawing, above which it is no help
SHEETS = 4  # maps that are drawn one below the other


@dataclass(frozen=True, eq=False)
class Marks:
    """States that stand out in a drawing: where the policy wants to go, and where it does not; shape (S,) each."""

    good: NDArray[np.bool_]
    bad: NDArray[np.bool_]


def marks_of(graph: Graph) -> Marks:
    """Return the states that labels by the usual names mark."""

    def members(*names: str) -> NDArray[np.bool_]:
        found = np.zeros(graph.states, dtype=np.bool_)
        for name in names:
            found |= graph.labels.get(name, False)
        return found

    good = members("goal", "target")
    return Marks(good, members("trap", "fail", "failed", "collision", "crash", "crater") & ~good)


def taken(policy: Policy, step: int = 0) -> NDArray[np.int64]:
    """Return the choice that a policy takes in every state, the likeliest where it draws one, at a step, shape (S,)."""
    if policy.choice is not None:
        row = policy.choice if policy.choice.ndim == 1 else policy.choice[step]
        return row.astype(np.int64)
    graph, weight = policy.graph, policy.weights()
    order = np.lexsort((-weight, graph.choice_state))
    return np.asarray(order[graph.state_ptr[:-1]], dtype=np.int64)


def sketch(
    policy: Policy, *, marks: Marks | None = None, chance: NDArray[np.float64] | None = None, width: int = 80
) -> str:
    """Return a policy as text on the places of its states; "" where they have none, or do not fit.

    An arrow, or the first letters of an action, stands in each cell; ``◎`` is where the policy wants to go, ``×`` where it
    does not, ``[ ]`` the start. Of a policy that depends on the step, the first is drawn.

    Parameters
    ----------
    marks : by default, labels by the usual names
    chance : (T,) how likely transitions are, for the direction of actions that have no name for it
    width : the characters there are to a line

    Examples
    --------
    >>> from umdp.model import Graph, Policy
    >>> names = {"actions": ["east", "stay"], "state_names": ["(0,0)", "(1,0)"]}
    >>> graph = Graph([0, 1, 2], [0, 1, 2], [1, 1], labels={"goal": [1]}, **names)
    >>> print(sketch(Policy(graph, [0, 1])))
    [→] ◎
    """
    graph = policy.graph
    found = places(graph)
    if found is None:
        return ""
    marks = marks_of(graph) if marks is None else marks
    ways = directions(graph, found, chance)
    signs = [ARROWS.get(way) if way is not None else None for way in ways]
    symbols = []
    for state, choice in enumerate(taken(policy).tolist()):
        single = graph.state_ptr[state + 1] - graph.state_ptr[state] == 1
        code = None if graph.action_codes is None else int(graph.action_codes[choice])
        symbol = (signs[code] if code is not None else None) or (
            _PLAIN if single else one_line(graph.action_name(choice))
        )
        symbols.append(GOOD if marks.good[state] else BAD if marks.bad[state] else symbol)
    room = max((len(symbols[s]) for s in np.flatnonzero(found.placed)), default=1)
    most = max(width // len(found.columns) - 2, 0)
    if most < 1 or len(found.rows) * min(len(found.sheets), SHEETS) > MOST:
        return ""
    size = min(room, most, 6)
    return "\n".join(_sheets(graph, found, [symbol[:size] for symbol in symbols], size))


def _sheets(graph: Graph, found: Places, symbols: list[str], size: int) -> list[str]:
    """Return the lines of all maps, one below the other."""
    lines: list[str] = []
    chosen = _chosen(graph, found)
    for sheet in chosen:
        if found.sheets[sheet]:
            lines.append(one_line(found.sheets[sheet]))
        cells = [[f" {_BLANK:<{size}} "] * len(found.columns) for _ in found.rows]
        for state in np.flatnonzero(found.placed & (found.sheet == sheet)).tolist():
            text = f"{symbols[state]:<{size}}"
            cells[found.row[state]][found.column[state]] = f"[{text}]" if state == graph.initial else f" {text} "
        lines += ["".join(row).rstrip() for row in cells]
    if len(chosen) < len(found.sheets):
        lines.append(f"and {len(found.sheets) - len(chosen)} more maps")
    return lines


def _chosen(graph: Graph, found: Places) -> list[int]:
    """Return the maps to draw: all if they are few, else the first, that of the initial state among them."""
    if len(found.sheets) <= SHEETS:
        return list(range(len(found.sheets)))
    first = int(found.sheet[graph.initial]) if found.placed[graph.initial] else 0
    return [first, *(sheet for sheet in range(SHEETS) if sheet != first)][:SHEETS]
