"""Ends of trajectories and ends of recordings: what columns such as end, terminated and truncated say of last states."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FINAL", "FLAGS", "RecordingEnds", "flag", "over_and_final"]

Flags = NDArray[np.bool_]

FINAL = ("end", "terminated", "truncated")  # roles of columns that say how a trajectory ended
RARE = 0.01  # recordings that end without the flag, below which these were cut by accident
MOST = 100_000  # recordings that are remembered as going on
FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}


def over_and_final(flags: Mapping[str, Flags], size: int) -> tuple[Flags, Flags]:
    """Return with which rows a recording is over, and with which of them its trajectory is said to be over for good.

    Where `terminated` is there it says so, otherwise `end`; what was truncated goes on, though nobody recorded it.

    Examples
    --------
    >>> yes, no = np.array([True, False]), np.array([False, True])
    >>> over_and_final({"terminated": yes, "truncated": no}, 2)
    (array([ True,  True]), array([ True, False]))
    """
    none = np.zeros(size, np.bool_)
    end, terminated, truncated = (flags.get(role, none) for role in FINAL)
    said = terminated if "terminated" in flags else end
    return end | terminated | truncated, said & ~truncated


class RecordingEnds:
    """Tells flags that say something of states from flags that only mark where recordings end.

    A flag that is true with the last row of every recording says nothing of the state it ends in: a recording that lasts three
    days ends after three days, whatever follows. It says something if it could have been otherwise: if some recordings end
    without it (not only the last of a file, nor a few that were cut by accident), or if a column says which were truncated.

    Attributes
    ----------
    flagged : recordings that ended with a flag
    column : the name of the column that says so
    told_apart : whether the data say themselves which recordings were truncated

    Examples
    --------
    >>> ends = RecordingEnds("done")
    >>> ends.take(["1", "1", "2"], [("a", "b"), ("b", "c"), ("a", "b")], [False, True, False])
    >>> ends.take(["2", "3"], [("b", "c"), ("a", "d")], [True, True])
    >>> ends.finish()
    >>> ends.flagged, ends.says_of_states
    (3, False)
    """

    def __init__(self, column: str = "end", *, told_apart: bool = False) -> None:
        self.column, self.told_apart = column, told_apart
        self.flagged = self._without = 0
        self._open: dict[Any, None] = {}
        self._last: tuple[Any, Any, bool] | None = None  # name, where it led, whether that was flagged

    @classmethod
    def of(cls, columns: Mapping[str, str]) -> RecordingEnds | None:
        """Return what is to be told by columns, given by their roles; None where no column says how recordings end."""
        said = next((columns[role] for role in ("terminated", *FINAL) if role in columns), None)
        return None if said is None else cls(said, told_apart="truncated" in columns)

    def take(
        self,
        names: Sequence[Any] | None,
        steps: Sequence[Sequence[Any]],
        final: Sequence[bool],
        torn: Collection[int] = (),
    ) -> None:
        """Take in rows, in order.

        Parameters
        ----------
        names : the trajectory of each row, None without names
        steps : of each row, the first entry is its state and the last the next state
        final : whether each says that its trajectory is over
        torn : rows after which some could not be read, so that nobody knows how their recordings ended
        """
        last = self._last
        for row, (step, flagged) in enumerate(zip(steps, final, strict=True)):
            name = None if names is None else names[row]
            if name is None:
                if last is not None and not last[2] and last[0] is None and step[0] != last[1]:
                    self._without += 1
            elif flagged:
                self._open.pop(name, None)
            else:
                self._open[name] = None
                if len(self._open) > MOST:  # of so many hardly any goes on
                    self._close(MOST // 2)
            self.flagged += flagged
            last = (name, step[-1], flagged)
            if row in torn:
                self._open.pop(name, None)
                last = None
        self._last = last

    def finish(self) -> None:
        """Take note that a file is over; how the recording that it ended with would have ended is not known."""
        if self._last is not None:
            self._open.pop(self._last[0], None)
        self._close(len(self._open))
        self._last = None

    def _close(self, count: int) -> None:
        for name in list(self._open)[:count]:
            del self._open[name]
        self._without += count

    @property
    def says_of_states(self) -> bool:
        """Whether a flag says that the state which a row leads to is terminal."""
        return self.told_apart or self._without > RARE * (self._without + self.flagged)


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
