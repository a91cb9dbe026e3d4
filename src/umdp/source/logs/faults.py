"""What is wrong with rows that cannot be counted, and whether chance spoilt them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from umdp.statements import Cause, Code, Statement, say

__all__ = ["FEW", "Cause", "Causes", "Fault"]

FEW = 5  # rows rejected for one cause that are not judged
LEVEL = 1e-3  # probability with which rows that were spoilt by chance are said not to have been
KEPT = 200  # different names kept, for a cause and a role


class Fault(str):
    """What is wrong with a row, a sentence; its `cause` is what decides."""

    __slots__ = ("cause",)
    cause: Cause

    def __new__(cls, text: str, cause: Cause = Cause.OTHER) -> Fault:
        """Return a sentence with its cause."""
        made = super().__new__(cls, text)
        made.cause = cause
        return made


class Causes:
    """Counts, for every cause, what rejected rows say as far as they can be read; and tells what was not spoilt by chance.

    A row that is spoilt by chance is spoilt whatever it says. So among rows rejected for one cause a state, action or next state
    stands as often as among all others. Where one stands there more often (binomial test, Bonferroni over all that are compared,
    level 1e-3), and more than 5 rows were rejected for that cause, it is something in these rows that spoils them: the encoding
    of a name, a decimal comma.

    Examples
    --------
    >>> causes = Causes()
    >>> for n in range(10):
    ...     causes.take(Cause.ENCODING, {"state": "defect" if n < 8 else "fine"})
    >>> print(causes.uneven({"state": {"defect": 20, "fine": 980}.get}, 1000))
    rows were not rejected by chance: of 10 because they are not text in UTF-8, 8 have the state 'defect', and of the others ...
    """

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, Counter[str]]] = {}

    def take(self, cause: Cause, cells: Mapping[str, str]) -> None:
        """Take in a rejected row: what it says, by role."""
        own = self._cells.setdefault(cause.name, {})
        for role, name in cells.items():
            counts = own.setdefault(role, Counter())
            if name in counts or len(counts) < KEPT:
                counts[name] += 1

    def uneven(self, counted: Mapping[str, Callable[[str], int | None]], rows: int) -> Statement | None:
        """Return what speaks against chance, if anything does.

        Parameters
        ----------
        counted : by role, a function that returns how many of the rows that were counted say a name; None for one of another log
        rows : how many were counted
        """
        found = [
            (cause, role, name, times, sum(counts.values()))
            for cause, roles in self._cells.items()
            for role, counts in roles.items()
            if sum(counts.values()) > FEW and role in counted
            for name, times in counts.items()
        ]
        if not found:
            return None
        from scipy.stats import binom

        worst, best = None, LEVEL / len(found)
        for cause, role, name, times, size in found:
            share = ((counted[role](name) or 0) + 1) / (rows + 1)
            if share < 1 and (p := float(binom.sf(times - 1, size, share))) < best:
                worst, best = (cause, role, name, times, size, share), p
        if worst is None:
            return None
        cause, role, name, times, size, share = worst
        return say(Code.UNEVEN, rejected=size, cause=Cause[cause], role=role, name=name, times=times, share=share)

    def state(self) -> str:
        """Return what `restore` needs, as text."""
        return msgspec.json.encode(self._cells).decode()

    def restore(self, given: Any) -> None:
        """Go back to a state."""
        cells = msgspec.json.decode(given) if given else {}
        self._cells = {cause: {role: Counter(own) for role, own in roles.items()} for cause, roles in cells.items()}
