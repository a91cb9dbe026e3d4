"""Nouns and verbs behind a number: one state was, two states were."""

from __future__ import annotations

__all__ = ["nouns", "were"]


def nouns(count: float, noun: str) -> str:
    """Return a noun in the singular for one, otherwise in the plural.

    Examples
    --------
    >>> [f"{count} {nouns(count, 'trajectory')}" for count in (0, 1, 2)], nouns(3, "step"), nouns(3, "class")
    (['0 trajectories', '1 trajectory', '2 trajectories'], 'steps', 'classes')
    """
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("s") else f"{noun}s"


def were(count: float) -> str:
    """Return the verb behind a number."""
    return "was" if count == 1 else "were"
