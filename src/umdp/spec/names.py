"""Names in messages: a list of those there are, and the closest one ("did you mean ...?")."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["listed", "suggestion"]

_LISTED = 15


def listed(names: Iterable[str], *, quoted: bool = False) -> str:
    """Return the names as a list for people, cut short when there are many.

    Examples
    --------
    >>> listed(["goal", "trap"], quoted=True)
    '"goal", "trap"'
    >>> listed([f"s{i}" for i in range(27)]).endswith("s14 ... and 12 more")
    True
    """
    every = [f'"{name}"' if quoted else name for name in names]
    head = ", ".join(every[:_LISTED])
    return head if len(every) <= _LISTED else f"{head} ... and {len(every) - _LISTED} more"


def suggestion(name: str, names: Iterable[str], *, quoted: bool = False) -> str:
    """Return ``. Did you mean ...?`` for the closest of the names, or nothing when none is close.

    Examples
    --------
    >>> suggestion("gaol", ["goal", "trap"], quoted=True)
    '. Did you mean "goal"?'
    >>> suggestion("gaol", ["trap"])
    ''
    """
    folded = {other.casefold(): other for other in names}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if not close:
        return ""
    best = folded[close[0]]
    return f'. Did you mean "{best}"?' if quoted else f". Did you mean {best}?"
