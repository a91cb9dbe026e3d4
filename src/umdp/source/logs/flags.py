"""What says yes and what says no in a column."""

from __future__ import annotations

from typing import Any

__all__ = ["FLAGS", "flag"]

FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}


def flag(given: Any) -> bool | None:
    """Return whether a cell says yes; None where it says neither yes nor no.

    Examples
    --------
    >>> flag("Yes"), flag(0), flag(1.0), flag(None), flag("maybe")
    (True, False, True, False, None)
    """
    if given is None:
        return False
    if isinstance(given, int | float) and given in (0, 1):
        return bool(given)
    return FLAGS.get(str(given).strip().lower())
