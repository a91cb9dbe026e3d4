"""What is known about the environments without knowing a probability: which choices share one distribution over outcomes."""

from __future__ import annotations

from typing import Any

from umdp.benchmark.grid_world import MOVES
from umdp.model import Graph
from umdp.model.tying import Tying

__all__ = ["tie_aircraft", "tie_betting", "tie_chain", "tie_grid"]

_TURNED = ("as told", "to the right", "back", "to the left")
_CHANGES = {"up": (1, 0), "down": (-1, 0), "stay": (0,)}


def tie_chain(graph: Graph) -> Tying:
    """Tie an action at all positions: it moves forward or back to the start.

    Examples
    --------
    >>> from umdp import benchmark
    >>> tie_chain(benchmark.chain())
    Tying of 93 choices: 3 classes of several (a: 31 choices, 2 outcomes; b: 31 choices, ...), 0 choices alone
    """
    return Tying.of(graph, lambda state, action, after: (action, "forward" if after.position else "back"))


def tie_grid(graph: Graph) -> Tying:
    """Tie all moves in all cells: a move goes as told, or in one of the other directions, which are named from there.

    Examples
    --------
    >>> from umdp import benchmark
    >>> tie_grid(benchmark.grid())
    Tying of 374 choices: 1 class of several (move: 348 choices, 4 outcomes), 26 choices alone
    """
    east, south = (int(graph.variables[name].max()) for name in ("x", "y"))
    names = list(MOVES)

    def moved(state: Any, direction: str) -> tuple[int, int]:
        x, y = MOVES[direction]
        return min(max(state.x + x, 0), east), min(max(state.y + y, 0), south)

    def move(state: Any, action: str, after: Any) -> tuple[str, list[str]] | None:
        if action not in MOVES:
            return None
        there = [name for name in MOVES if moved(state, name) == (after.x, after.y)]
        return "move", [_TURNED[(names.index(name) - names.index(action)) % 4] for name in there]

    return Tying.of(graph, move)


def tie_aircraft(graph: Graph) -> Tying:
    """Tie an action wherever the aircraft are: both change their altitude, or keep it, within what there is of it.

    Examples
    --------
    >>> from umdp import benchmark
    >>> tie_aircraft(benchmark.aircraft())
    Tying of 138 choices: 3 classes of several (up: 37 choices, 6 outcomes; ...), 27 choices alone
    """

    def altitude(number: int) -> int:
        return min(max(number, 0), 2)

    def change(state: Any, action: str, after: Any) -> tuple[str, list[str]] | None:
        if state == after:
            return None  # they have passed
        return action, [
            f"own {own:+d}, other {other:+d}"
            for own in _CHANGES[action]
            for other in (1, -1, 0)
            if altitude(state.y + own) == after.y and altitude(state.other + other) == after.other
        ]

    return Tying.of(graph, change)


def tie_betting(graph: Graph) -> Tying:
    """Tie all bets: they are won or lost.

    Examples
    --------
    >>> from umdp import benchmark
    >>> tie_betting(benchmark.betting())
    Tying of 901 choices: 1 class of several (bet: 601 choices, 2 outcomes), 300 choices alone
    """

    def bet(state: Any, action: str, after: Any) -> tuple[str, str] | None:
        if action in ("0", "end", "stay"):
            return None
        return "bet", "won" if after.money > state.money else "lost"

    return Tying.of(graph, bet)
