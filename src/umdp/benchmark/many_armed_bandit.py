"""The bandit: pull one of many arms, the last of which is the best."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction

from umdp.errors import ModelError
from umdp.model import MDP

__all__ = ["bandit"]

_PUBLISHED_ARMS = 99


def bandit(arms: int = 99, *, as_published: bool = False) -> MDP:
    """Return the bandit whose arms 1, 2, ... succeed with probability 1/(arms + 1), 2/(arms + 1), ...

    The states are ``start``, ``success``, ``failure`` and ``goal``. One pull leads to success or failure, from either of
    which the action ``end`` leads to the goal; it pays 1 from success. The goal, which has the label ``goal``, loops.
    There is also a label ``success``.

    Parameters
    ----------
    arms : int
        The number of arms; arm `k` is the action named by its number.
    as_published : bool
        Let the arms 1 to 9 succeed with probability 0.1, 0.2, ..., 0.9, as the published code does. This takes 99 arms.

    Examples
    --------
    >>> bandit()
    MDP with 4 states, 102 choices, 201 transitions; initial state start; labels "goal", "success"; rewards "success"
    >>> bandit().probability[:4], bandit(as_published=True).probability[:4]
    (array([0.01, 0.99, 0.02, 0.98]), array([0.1, 0.9, 0.2, 0.8]))
    """
    if arms < 1:
        raise ModelError(f"a bandit has at least one arm, not {arms}")
    if as_published and arms != _PUBLISHED_ARMS:
        raise ModelError(f"the published bandit has {_PUBLISHED_ARMS} arms, not {arms}")

    def chance(arm: int) -> Fraction:
        return Fraction(arm, 10) if as_published and arm < 10 else Fraction(arm, arms + 1)

    rules: dict[str, Mapping[str, Mapping[Hashable, Fraction | int]]] = {
        "start": {str(arm): {"success": chance(arm), "failure": 1 - chance(arm)} for arm in range(1, arms + 1)},
        "success": {"end": {"goal": 1}},
        "failure": {"end": {"goal": 1}},
        "goal": {"stay": {"goal": 1}},
    }
    return MDP.from_function(
        "start",
        rules.__getitem__,
        labels={"goal": ["goal"], "success": ["success"]},
        rewards={"success": lambda state, action: state == "success"},
    )
