"""Line styles: colours that colour-blind readers tell apart, and dashes and markers for print without colour."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from umdp.errors import MissingExtra

__all__ = ["GUIDE", "Style", "settings", "styles"]

GUIDE = "#404040"
"""The colour of lines that are not curves: the optimum, zero, a change."""
SHEET = Path(__file__).with_name("style.mplstyle")
"""Type and lines, as a sheet of matplotlib's."""


@dataclass(frozen=True)
class Style:
    """The look of one curve.

    Attributes
    ----------
    colour : as #rrggbb
    dashes : lengths drawn and left out, in line widths; none: an unbroken line
    marker : as matplotlib names it
    """

    colour: str
    dashes: tuple[float, ...] = ()
    marker: str = "o"


# The palette of Okabe and Ito, without its yellow, which is too light for a line on white.
KNOWN = {
    "LUI": Style("#0072B2", (), "o"),
    "PAC": Style("#D55E00", (4.5, 1.5), "s"),
    "MAP": Style("#009E73", (1.2, 1.2), "^"),
    "UCRL2": Style("#CC79A7", (6.0, 1.4, 1.2, 1.4), "D"),
    "Confidence sequence": Style("#56B4E9", (2.6, 1.1), "v"),
    "Clopper-Pearson": Style("#E69F00", (6.0, 1.4, 1.2, 1.4, 1.2, 1.4), "P"),
}
OTHERS = (*KNOWN.values(), Style("#000000", (8.0, 1.5), "X"), Style("#808080", (3.0, 1.2, 1.2, 1.2), "h"))


def styles(labels: Iterable[str]) -> dict[str, Style]:
    """Return a style for every label: its own for the learners of this package, the next free one for others.

    Examples
    --------
    >>> chosen = styles(["mine", "LUI"])
    >>> chosen["LUI"] == styles(["LUI"])["LUI"], chosen["mine"] == chosen["LUI"]
    (True, False)
    """
    distinct = list(dict.fromkeys(labels))
    taken = {KNOWN[label] for label in distinct if label in KNOWN}
    free = [style for style in OTHERS if style not in taken]
    # With more labels than styles, colours come again with the dashes and markers of others.
    size = len(OTHERS)
    rounds = (
        Style(OTHERS[i].colour, OTHERS[(i + turn) % size].dashes, OTHERS[(i + turn) % size].marker)
        for turn in range(1, size) for i in range(size)
    )  # fmt: skip
    free += list(dict.fromkeys(rounds))
    others = [label for label in distinct if label not in KNOWN]
    found = {label: free[i % len(free)] for i, label in enumerate(others)}
    return {label: KNOWN.get(label) or found[label] for label in distinct}


def settings() -> AbstractContextManager[None]:
    """Return a context in which figures are made: matplotlib's defaults, small type and thin lines; undone at the end.

    Raises
    ------
    MissingExtra
        Without matplotlib.
    """
    try:
        from matplotlib import style
    except ImportError:
        raise MissingExtra("plot", "drawing figures") from None
    return style.context(["default", SHEET])
