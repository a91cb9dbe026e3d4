"""The slippery grid world: from the north-west to the north-east corner, around traps."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from umdp.benchmark.tabulation import State, decimal, tabulate
from umdp.errors import ModelError
from umdp.model import MDP

__all__ = ["MOVES", "grid"]

MOVES = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
"""How each action changes x, which grows to the east, and y, which grows to the south."""

_TRAPS = ((0, 4), (1, 4), (3, 4), (4, 4), (5, 4), (8, 4), (9, 4), (4, 0), (4, 1), (4, 3), (4, 5), (4, 8), (4, 9))
_FREE = Fraction(1, 10)  # the probability of leaving a trap in each direction


def grid(
    width: int = 10, height: int = 10, *, success: float = 0.55, traps: Iterable[tuple[int, int]] | None = None
) -> MDP:
    """Return the grid whose cells (x, y) are states, row by row from the north-west corner, where it starts.

    Every move succeeds with probability `success` and otherwise goes in one of the other three directions; a move off
    the grid stays. In a trap there are two actions instead: ``reset`` goes to the start, ``free`` moves with probability
    0.1 in each direction and otherwise stays. Labels: ``goal`` on the north-east corner, ``trap``.

    Parameters
    ----------
    width, height : int
        The number of columns and rows.
    success : float
        The probability of moving north, east, south or west when that is the action.
    traps : iterable of (int, int), optional
        The cells with a trap; by default the thirteen of the 10 x 10 grid, less those that do not fit a smaller one.

    Examples
    --------
    >>> grid()
    MDP with 100 states, 374 choices, 1,450 transitions; initial state (0,0); labels "trap", "goal"
    >>> small = grid(3, 2, traps=[(1, 0)])
    >>> small.state_names
    ('(0,0)', '(1,0)', '(2,0)', '(0,1)', '(1,1)', '(2,1)')
    """
    if width < 2 or height < 1:
        raise ModelError(f"a grid has at least two columns and one row, not {width} x {height}")
    start, goal = (0, 0), (width - 1, 0)
    trapped = _checked(traps, width, height, {start, goal})
    chance = decimal(success, "success")
    slip = (1 - chance) / 3

    def moved(state: State, action: str) -> State:
        (x, y), (east, south) = state, MOVES[action]
        return (min(max(x + east, 0), width - 1), min(max(y + south, 0), height - 1))

    def actions(state: State) -> dict[str, list[tuple[State, Fraction]]]:
        targets = {action: moved(state, action) for action in MOVES}
        if state in trapped:
            freed = [(target, _FREE) for target in targets.values()]
            return {"reset": [(start, Fraction(1))], "free": [(state, 1 - 4 * _FREE), *freed]}
        return {
            action: [(target, chance if other == action else slip) for other, target in targets.items()]
            for action in MOVES
        }

    return tabulate(
        start,
        actions,
        variables=["x", "y"],
        order=lambda state: (state[1], state[0]),
        labels={"trap": trapped.__contains__, "goal": lambda state: state == goal},
    )


def _checked(
    traps: Iterable[tuple[int, int]] | None, width: int, height: int, free: set[tuple[int, int]]
) -> frozenset[State]:
    """Return the traps as a set, once it is sure that they lie on the grid and off the cells that must be free."""
    if traps is None:
        return frozenset((x, y) for x, y in _TRAPS if x < width and y < height and (x, y) not in free)
    given = frozenset((int(x), int(y)) for x, y in traps)
    for x, y in sorted(given):
        if not (0 <= x < width and 0 <= y < height):
            raise ModelError(f"the trap ({x},{y}) lies outside the grid of {width} x {height} cells")
        if (x, y) in free:
            raise ModelError(f"the trap ({x},{y}) lies on the start or on the goal; leave these free")
    return given
