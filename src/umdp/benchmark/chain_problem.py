"""The chain problem: move forward thirty times in a row, or start again."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from string import ascii_lowercase

from umdp.benchmark.tabulation import decimal
from umdp.errors import ModelError
from umdp.model import MDP

__all__ = ["chain", "chain_switched"]

_FORWARD = (0.5, 0.05, 0.95)


def chain(length: int = 30, forward: Sequence[float] = _FORWARD) -> MDP:
    """Return the chain with positions 0 to `length`, in which every action moves forward or back to the start.

    It starts at 0, the last position has the label ``goal``, every action costs 1. All actions are offered at every
    position; forward from the goal stays there.

    Parameters
    ----------
    length : int
        The position of the goal.
    forward : sequence of float
        The probability of moving forward for the actions ``a``, ``b``, ``c`` and so on. The names do not tell the
        probabilities, so that a chain and its switched chain have the same graph.

    Examples
    --------
    >>> chain()
    MDP with 31 states, 93 choices, 186 transitions; initial state 0; labels "goal"; rewards "steps"
    >>> chain().probability[:6]
    array([0.5 , 0.5 , 0.05, 0.95, 0.95, 0.05])
    """
    if length < 1:
        raise ModelError(f"the length of a chain is at least 1, not {length}")
    if not 1 <= len(forward) <= len(ascii_lowercase):
        raise ModelError(f"a chain has between 1 and {len(ascii_lowercase)} actions, not {len(forward)}")
    chances = {action: decimal(p, "forward") for action, p in zip(ascii_lowercase, forward, strict=False)}

    def actions(position: int) -> dict[str, list[tuple[int, Fraction]]]:
        ahead = min(position + 1, length)
        return {action: [(ahead, p), (0, 1 - p)] for action, p in chances.items()}

    return MDP.from_function(
        0,
        actions,
        labels={"goal": [length]},
        rewards={"steps": lambda position, action: 1},
        variables={"position": range(length + 1)},
        state_names=range(length + 1),
    )


def chain_switched(length: int = 30, forward: Sequence[float] = _FORWARD) -> MDP:
    """Return the chain in which the second and the third action have exchanged their probabilities.

    States, actions and possible transitions are those of `chain` with the same parameters.

    Examples
    --------
    >>> chain_switched().probability[:6]
    array([0.5 , 0.5 , 0.95, 0.05, 0.05, 0.95])
    """
    if len(forward) < 3:
        raise ModelError(f"the second and the third action are exchanged, but the chain has {len(forward)}")
    first, second, third, *others = forward
    return chain(length, (first, third, second, *others))
