"""Aircraft collision avoidance: pass an oncoming aircraft that changes its altitude at random."""

from __future__ import annotations

from fractions import Fraction

from umdp.benchmark.tabulation import State, decimal, tabulate
from umdp.errors import ModelError
from umdp.model import MDP

__all__ = ["aircraft"]

_PASSED = 5  # the own position at which the aircraft have passed; the other is there at the start
_TOP = 2  # the highest altitude
_MOVES = {"up": 1, "down": -1, "stay": 0}
_OTHER = (0.3, 0.3, 0.4)
_OTHER_AS_PUBLISHED = (0.4, 0.4, 0.2)


def aircraft(
    success: float = 0.8, other: tuple[float, float, float] | None = None, *, as_published: bool = False
) -> MDP:
    """Return the game of passing an oncoming aircraft on one of three altitudes, five steps apart.

    A state is (x, y, other): the own position 0 to 5, and both altitudes 0 to 2; the other aircraft is at 5 - x. The
    start is (0,1,1). Each step brings either aircraft one position ahead and changes its altitude, within 0 to 2; after
    the passage nothing moves. Label ``collision``: the positions differ by less than 3 and the altitudes by less than 2;
    a collision does not end the flight. Label ``goal``: x is 5.

    Parameters
    ----------
    success : float
        The probability that the actions ``up`` and ``down`` change the own altitude; ``stay`` is certain to keep it.
    other : tuple of float, optional
        The probabilities that the other aircraft moves up, moves down and keeps its altitude; by default 0.3, 0.3, 0.4.
    as_published : bool
        Take 0.4, 0.4, 0.2 for `other`, as the published code does.

    Examples
    --------
    >>> aircraft()
    MDP with 46 states, 138 choices, 406 transitions; initial state (0,1,1); labels "collision", "goal"
    """
    if other is None:
        other = _OTHER_AS_PUBLISHED if as_published else _OTHER
    elif as_published:
        raise ModelError("give either the probabilities of the other aircraft or as_published, not both")
    obeys = decimal(success, "success")
    theirs = {move: decimal(p, "other") for move, p in zip(_MOVES.values(), other, strict=False)}
    if len(other) != len(_MOVES) or sum(theirs.values()) != 1:
        raise ModelError(f"the other aircraft needs three probabilities that sum to 1, not {other}")

    def actions(state: State) -> dict[str, list[tuple[State, Fraction]]]:
        x, y, their_y = state
        if x == _PASSED:
            return {action: [(state, Fraction(1))] for action in _MOVES}
        return {
            action: [
                ((x + 1, _clamped(y + change), _clamped(their_y + their_change)), p * q)
                for change, p in ((move, obeys), (0, 1 - obeys))
                for their_change, q in theirs.items()
            ]
            for action, move in _MOVES.items()
        }

    return tabulate(
        (0, 1, 1),
        actions,
        variables=["x", "y", "other"],
        labels={"collision": _collided, "goal": lambda state: state[0] == _PASSED},
    )


def _clamped(altitude: int) -> int:
    return min(max(altitude, 0), _TOP)


def _collided(state: State) -> bool:
    x, y, their_y = state
    return abs(x - (_PASSED - x)) < 3 and abs(y - their_y) < 2
