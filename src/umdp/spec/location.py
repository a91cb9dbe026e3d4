"""Source locations: where in a property a piece of it stands, so that errors can point at it."""

from __future__ import annotations

from dataclasses import dataclass

from umdp.errors import SpecError

_WINDOW = 70


@dataclass(frozen=True)
class SourceLocation:
    """A source location: a position in the text of a property, or of a formula of the model.

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
    >>> print(SourceLocation('Pmax=? [ F "gaol" ]', 11).error('unknown label "gaol"', 'did you mean "goal"?'))
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

    def moved(self, position: int) -> SourceLocation:
        """Return the location of another position in the same text."""
        return SourceLocation(self.text, position, self.origin)

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
