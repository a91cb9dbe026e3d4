"""How much the checker computes for one file before it refuses: a few large numbers could keep it busy for days."""

from __future__ import annotations

from umdp.errors import FormatError

__all__ = ["Work"]


class Work:
    """What may still be computed, counted in operations and not by the clock: the same file gets the same answer everywhere.

    Parameters
    ----------
    left : how many operations
    refusal : what is said where they are used up

    Examples
    --------
    >>> work = Work(10, "learning, counts: there are too many to check")
    >>> work.spend(8)
    >>> work.spend(8)
    Traceback (most recent call last):
        ...
    umdp.errors.FormatError: learning, counts: there are too many to check
    """

    def __init__(self, left: int, refusal: str) -> None:
        self.left, self.refusal = left, refusal

    def spend(self, operations: int) -> None:
        """Take something from it, or refuse."""
        self.left -= operations
        if self.left < 0:
            raise FormatError(self.refusal)
