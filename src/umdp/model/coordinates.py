"""Places of states: where a state is on a map, from its variables or its name, and which way an action leads there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from umdp.model.process import Graph

__all__ = ["ARROWS", "NOWHERE", "Places", "directions", "places"]

NOWHERE = -1
"""The value of x and y in a state that has no place, such as one before an episode."""
LARGEST = 400  # cells along an axis
LEAST = 0.3  # of the states must have a place
SHOWN = 12  # numbers to a line, where there is only one

ARROWS = {
    (0, 1): "↑", (0, -1): "↓", (1, 0): "→", (-1, 0): "←", (1, 1): "↗", (1, -1): "↘", (-1, 1): "↖", (-1, -1): "↙",
}  # fmt: skip
"""Directions, the second part upwards, as signs."""
_WORDS = {
    "north": (0, 1), "up": (0, 1), "south": (0, -1), "down": (0, -1), "east": (1, 0), "right": (1, 0), "west": (-1, 0),
    "left": (-1, 0), "n": (0, 1), "s": (0, -1), "e": (1, 0), "w": (-1, 0), "northeast": (1, 1), "northwest": (-1, 1),
    "southeast": (1, -1), "southwest": (-1, -1),
}  # fmt: skip
_TUPLE = re.compile(r"\(\s*-?\d+\s*(?:,\s*-?\d+\s*)+\)")


@dataclass(frozen=True, eq=False)
class Places:
    """Where states are on a map.

    Attributes
    ----------
    column, row : (S,) the cell of each state, row 0 on top; meaningless where it has none
    placed : (S,) whether a state has a cell
    sheet : (S,) which of several maps a state is on: one for each value of the other variables
    sheets : a title for each of them
    columns, rows : the values along both axes, as text
    axes : what they are called
    compass : whether actions can lead in a direction: both axes are distances
    """

    column: NDArray[np.int64]
    row: NDArray[np.int64]
    placed: NDArray[np.bool_]
    sheet: NDArray[np.int64]
    sheets: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    axes: tuple[str, str]
    compass: bool


def places(graph: Graph) -> Places | None:
    """Return where the states of a model are; None where nothing says so.

    States have a place by the variables x and y, by two variables or one that are whole numbers, or by names such as ``(3,4)``.
    Further variables make several maps. With x and y, rows go down the page, unless an action such as ``up`` makes y larger.

    Examples
    --------
    >>> from umdp.model.process import Graph
    >>> graph = Graph([0, 1, 2], [0, 1, 2], [1, 1], state_names=["(0,0)", "(1,0)"])
    >>> found = places(graph)
    >>> found.column, found.row, found.axes
    (array([0, 1]), array([0, 0]), ('x', 'y'))
    """
    variables = _whole(graph.variables) or _from_names(graph)
    if not variables:
        return None
    names = list(variables)
    if {"x", "y"} <= set(names):
        across, along, compass = "x", "y", True
    elif len(names) >= 2:
        across, along, compass = names[0], names[1], False
    else:
        return _line(names[0], variables[names[0]])
    others = [name for name in names if name not in (across, along)]
    placed = np.any([variables[name] != NOWHERE for name in (across, along)], axis=0)
    if placed.mean() < LEAST:
        return None
    column, columns = _cells(variables[across], placed, dense=compass)
    row, rows = _cells(variables[along], placed, dense=compass)
    if max(len(columns), len(rows)) > LARGEST:
        return None
    if not compass or _y_goes_up(graph, variables[along], placed):
        row, rows = len(rows) - 1 - row, rows[::-1]
    values = np.stack([variables[name] for name in others], axis=1) if others else np.zeros((graph.states, 0), np.int64)
    kinds, sheet = np.unique(values[placed], axis=0, return_inverse=True)
    every = np.zeros(graph.states, dtype=np.int64)
    every[placed] = sheet.reshape(-1)
    titles = tuple(", ".join(f"{n} = {v}" for n, v in zip(others, kind, strict=True)) for kind in kinds.tolist())
    if len(set(zip(every[placed].tolist(), column[placed].tolist(), row[placed].tolist(), strict=True))) < placed.sum():
        return None  # two states in one cell cannot both be drawn
    return Places(column, row, placed, every, titles, columns, rows, (across, along), compass)


def directions(graph: Graph, found: Places, chance: NDArray[np.float64] | None = None) -> list[tuple[int, int] | None]:
    """Return the direction of each action name on the map, the second part upwards; None where it has none.

    A name such as ``north`` says it. Any other action leads where it moves to on average, over all states.

    Parameters
    ----------
    chance : (T,) how likely each transition is, or any numbers that go with it; all alike unless given
    """
    codes, names = graph.action_codes, graph.action_names
    if codes is None or not found.compass:
        return [None] * len(names)
    known: list[tuple[int, int] | None] = [_WORDS.get(name.lower().replace("-", "").replace("_", "")) for name in names]
    weight = np.ones(graph.transitions) if chance is None else chance
    choice = np.repeat(np.arange(graph.choices), np.diff(graph.choice_ptr))
    source, target = graph.choice_state[choice], graph.successor
    # Far jumps, such as back to the start, are no directions; and states off the map have none.
    across, down = found.column[target] - found.column[source], found.row[target] - found.row[source]
    near = found.placed[source] & found.placed[target] & (np.abs(across) <= 1) & (np.abs(down) <= 1)
    weight = weight * near
    total = np.bincount(codes[choice], weight, len(names))
    east = np.bincount(codes[choice], weight * across, len(names)) / np.maximum(total, 1e-300)
    north = np.bincount(codes[choice], -weight * down, len(names)) / np.maximum(total, 1e-300)
    for code, name in enumerate(known):
        size = float(np.hypot(east[code], north[code]))
        if name is None and size > 0.1:
            turn = round(float(np.arctan2(north[code], east[code])) / (np.pi / 4))
            known[code] = (round(np.cos(turn * np.pi / 4)), round(np.sin(turn * np.pi / 4)))
    return known


def _whole(variables: Any) -> dict[str, NDArray[np.int64]]:
    """Return the variables that are whole numbers, unless there are others that vary."""
    found = {}
    for name, values in variables.items():
        if values.dtype.kind in "biu" or (values.dtype.kind == "f" and bool((values == np.rint(values)).all())):
            found[name] = values.astype(np.int64)
        else:
            return {}
    return {name: values for name, values in found.items() if name in ("x", "y") or values.min() < values.max()}


def _from_names(graph: Graph) -> dict[str, NDArray[np.int64]]:
    """Return variables from names such as ``(3,4)``; a few states may have other names."""
    if graph.state_names is None:
        return {}
    found = [
        [int(part) for part in name[1:-1].split(",")] if _TUPLE.fullmatch(name) else [] for name in graph.state_names
    ]
    sizes = {len(each) for each in found if each}
    if len(sizes) != 1 or sum(map(bool, found)) < LEAST * graph.states:
        return {}
    (size,) = sizes
    values = np.array([each or [NOWHERE] * size for each in found], dtype=np.int64)
    return {("x", "y")[k] if size == 2 else f"number {k + 1}": values[:, k] for k in range(size)}


def _line(name: str, values: NDArray[np.int64]) -> Places | None:
    """Return places along one variable, in lines of a dozen."""
    if len(set(values.tolist())) < values.size or values.size > LARGEST * SHOWN:
        return None
    rank = np.argsort(np.argsort(values))
    size = min(SHOWN, values.size)
    lines = -(-values.size // size)
    ordered = np.sort(values)
    return Places(
        rank % size, rank // size, np.ones(values.size, dtype=np.bool_), np.zeros(values.size, dtype=np.int64), ("",),
        tuple(str(k) for k in range(size)), tuple(str(ordered[line * size]) for line in range(lines)), ("", name), False,
    )  # fmt: skip


def _cells(
    values: NDArray[np.int64], placed: NDArray[np.bool_], *, dense: bool
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the cell of every value along an axis, and what the cells stand for."""
    own = np.unique(values[placed])
    if dense and own[-1] - own[0] <= LARGEST:
        own = np.arange(own[0], own[-1] + 1)
    return np.clip(np.searchsorted(own, values), 0, len(own) - 1), tuple(map(str, own.tolist()))


def _y_goes_up(graph: Graph, y: NDArray[np.int64], placed: NDArray[np.bool_]) -> bool:
    """Whether actions by the name of ``up`` or ``north`` make y larger, more than those by the name of ``down``."""
    if graph.action_codes is None:
        return False
    way = np.array([_WORDS.get(name.lower(), (0, 0))[1] for name in graph.action_names])
    choice = np.repeat(np.arange(graph.choices), np.diff(graph.choice_ptr))
    source = graph.choice_state[choice]
    moved = np.sign(y[graph.successor] - y[source]) * (placed[source] & placed[graph.successor])
    return bool((way[graph.action_codes[choice]] * moved).sum() > 0)
