"""The betting game: six bets, and the money left is the reward."""

from __future__ import annotations

from fractions import Fraction

from umdp.benchmark.tabulation import State, decimal, tabulate
from umdp.errors import ModelError
from umdp.model import MDP

__all__ = ["betting", "betting_favourable", "betting_unfavourable"]

_STAKES = (0, 1, 2, 5, 10)
_MOST = 70  # the most money a player can have
_START = 10


def betting(win: float = 0.8, *, bets: int = 6, money: int = _START) -> MDP:
    """Return the game of `bets` bets, each won with probability `win`, after which the money left is paid out.

    A state is (step, money). The actions ``0``, ``1``, ``2``, ``5`` and ``10`` are bets, offered when there is that much
    money, those above 0 only while there is at most 60: the stake is won or lost. After the last bet the action ``end``
    pays the money and leads to a state with the same money and the label ``done``, which loops.

    Parameters
    ----------
    win : float
        The probability of winning a bet.
    bets : int
        The number of bets.
    money : int
        The money at the start, 0 to 70.

    Examples
    --------
    >>> betting()
    MDP with 300 states, 901 choices, 1,502 transitions; initial state (0,10); labels "done"; rewards "money"
    """
    if bets < 1:
        raise ModelError(f"a betting game has at least one bet, not {bets}")
    if not 0 <= money <= _MOST:
        raise ModelError(f"the money at the start must lie between 0 and {_MOST}, not {money}")
    chance = decimal(win, "win")

    def actions(state: State) -> dict[str, list[tuple[State, Fraction]]]:
        step, left = state
        if step > bets:
            return {"stay": [(state, Fraction(1))]}
        if step == bets:
            return {"end": [((step + 1, left), Fraction(1))]}
        affordable = [stake for stake in _STAKES if stake <= left and (stake == 0 or left <= _MOST - max(_STAKES))]
        return {
            str(stake): [((step + 1, left + stake), chance), ((step + 1, left - stake), 1 - chance)]
            for stake in affordable
        }

    return tabulate(
        (0, money),
        actions,
        variables=["step", "money"],
        labels={"done": lambda state: state[0] > bets},
        rewards={"money": lambda state, action: state[1] if action == "end" else 0},
    )


def betting_favourable() -> MDP:
    """Return the betting game in which a bet is won with probability 0.8.

    Examples
    --------
    >>> betting_favourable().probability[1:3]
    array([0.8, 0.2])
    """
    return betting(0.8)


def betting_unfavourable() -> MDP:
    """Return the betting game in which a bet is won with probability 0.2.

    Examples
    --------
    >>> betting_unfavourable().probability[1:3]
    array([0.2, 0.8])
    """
    return betting(0.2)
