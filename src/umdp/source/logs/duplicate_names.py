"""Trajectories of the same name: the same trajectory again, or rows of one that stand apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.statements import Code, Statement, say

__all__ = ["SameName", "numbers_of"]

Array = NDArray[Any]

KEPT = 2048  # names kept: a sample of all
ENOUGH = float(np.log(3e6))  # evidence at which chance is ruled out: wrong with probability 1 / 3,000,000
MOST = 100_000  # comparisons, after which enough is known
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
SALT = hash("umdp")


class SameName:
    """Bets that a trajectory whose name occurred before is the same as then (a test by an e-value).

    By chance it is the same with at most the probability of its outcomes, exp(-surprise). Each bet puts half of what there is on
    a copy; it multiplies the stake by (1 + exp(surprise)) / 2 if the trajectory is the same, and halves it if not. Without
    copies, a stake of 1 grows to 3,000,000 with a probability of at most 1 / 3,000,000, whenever one looks.

    Of many names a sample is kept, chosen by the name.

    Attributes
    ----------
    apart : whether some name occurred again with other rows, so that rows of one trajectory stand apart

    Examples
    --------
    >>> names = SameName()
    >>> number, print_, surprise = numbers_of(["x"] * 40), np.full(40, 7, np.uint64), np.full(40, 0.7)
    >>> names.take(number, print_, surprise)
    >>> print(names.finding)
    trajectories of the same name are the same, 39 times: more often than chance allows; remove the copies
    """

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._limit = np.uint64(2**64 - 1)
        self._evidence, self._same, self._compared = 0.0, 0, 0
        self.apart = self._found = False

    def __bool__(self) -> bool:
        return bool(self._known)

    @property
    def finding(self) -> Statement | None:
        """What speaks against the data; None if nothing does."""
        return say(Code.SAME_NAME, same=self._same) if self._found else None

    def take(self, names: Array, prints: Array, surprise: Array) -> None:
        """Take in trajectories: the number of the name of each (0: none), its fingerprint, and how improbable it is."""
        chosen = np.flatnonzero((names > 0) & (names <= self._limit))
        for i in chosen.tolist() if self._compared < MOST else ():
            name, print_ = int(names[i]), int(prints[i])
            before = self._known.get(name)
            if before is None:
                self._known[name] = print_
                continue
            self._compared += 1
            if before == print_:
                self._same += 1
                self._evidence += float(np.logaddexp(surprise[i], 0.0) - np.log(2))
                self._found |= self._evidence > ENOUGH
            else:
                self.apart = True
                self._evidence -= float(np.log(2))
        if len(self._known) > KEPT:
            kept = sorted(self._known)[: KEPT // 2]
            self._known = {name: self._known[name] for name in kept}
            self._limit = np.uint64(kept[-1])

    # -- going on --------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs."""
        return {
            "names_known": np.array([list(self._known), list(self._known.values())], dtype=np.uint64),
            "names_limit": str(self._limit),
            "names_numbers": [self._same, self._compared, int(self._found), int(self.apart), SALT],
            "names_evidence": repr(self._evidence),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state; another process has other numbers for names, and starts with none that are known."""
        self._same, self._compared, found, apart, salt = map(int, state["names_numbers"])
        self._found, self.apart = bool(found), bool(apart)
        names, prints = np.array(state["names_known"], dtype=np.uint64).tolist() if salt == SALT else ([], [])
        self._known = dict(zip(names, prints, strict=True))
        self._limit = np.uint64(int(state["names_limit"]))
        self._evidence = float(state["names_evidence"])


def numbers_of(names: Sequence[Any]) -> Array:
    """Return a number for each name, the same for the same name while this process lives; 0 for None.

    Examples
    --------
    >>> one, other, none = numbers_of(["a", "b", None])
    >>> bool(one != other), int(none)
    (True, 0)
    """
    numbers = np.fromiter(map(hash, names), np.int64, len(names)).astype(np.uint64) * GOLDEN | np.uint64(1)
    if None in names:
        numbers[[name is None for name in names]] = 0
    return numbers
