"""Where in a property a piece of it stands, so that errors can point at it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from umdp.errors import SpecError

_LISTED = 15
_WINDOW = 70


@dataclass(frozen=True)
class Mark:
    """A position in a text: of a property, or of a formula of the model.

    Parameters
    ----------
    text : str
        The whole text that was read.
    position : int
        Offset of the character pointed at, from 0.
    origin : str, optional
        What the text is where it is not the property itself, such as ``formula "busy"``.

    Examples
    --------
    >>> print(Mark('Pmax=? [ F "gaol" ]', 11).error('unknown label "gaol"', 'did you mean "goal"?'))
    unknown label "gaol" at column 12; did you mean "goal"?
      Pmax=? [ F "gaol" ]
                 ^
    """

    text: str
    position: int
    origin: str = ""

    @property
    def column(self) -> int:
        """Column of the character, from 1, in its own line."""
        return self.position - (self.text.rfind("\n", 0, self.position) + 1) + 1

    @property
    def line(self) -> int:
        """Line of the character, from 1."""
        return self.text.count("\n", 0, self.position) + 1

    def moved(self, position: int) -> Mark:
        """Return the mark of another position in the same text."""
        return Mark(self.text, position, self.origin)

    def error(self, problem: str, remedy: str = "") -> SpecError:
        """Return the error whose message names the column, the remedy, the line, and has a caret under it."""
        shown, before = self._excerpt()
        # Tabs are kept, so that the caret stands under its character however wide a tab is drawn.
        indent = "".join("\t" if c == "\t" else " " for c in before)
        place = f"column {self.column}" if "\n" not in self.text else f"line {self.line}, column {self.column}"
        if self.origin:
            place += f" of {self.origin}"
        advice = f"; {remedy}" if remedy else ""
        return SpecError(f"{problem} at {place}{advice}\n  {shown}\n  {indent}^")

    def _excerpt(self) -> tuple[str, str]:
        """Return the line, cut to a window when long and without control characters, and its part left of the place."""
        line = self.text.split("\n")[self.line - 1].rstrip()
        line = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line)
        first = max(0, self.column - _WINDOW) if len(line) > 2 * _WINDOW else 0
        lead = "..." if first else ""
        tail = "..." if first + 2 * _WINDOW < len(line) else ""
        return lead + line[first : first + 2 * _WINDOW] + tail, (lead + line[first : self.column - 1]).ljust(
            len(lead) + self.column - 1 - first
        )


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
