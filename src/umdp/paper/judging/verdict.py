"""What is said about a claim: the verdict its parts add up to, and numbers in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

__all__ = ["Judged", "Ruling", "Verdict", "among", "conclude", "count", "percent", "power", "series"]

Verdict = Literal["holds", "partly", "fails", "not judged"]


@dataclass(frozen=True)
class Judged:
    """A claim of the paper, and what the runs say about it.

    Attributes
    ----------
    key : "C1" to "C10"
    claim : in one sentence
    published : whether judged on runs by the rules of the published code; else by the paper's definitions
    verdict : "holds", "partly", "fails" or "not judged"
    number : the figure it rests on, in a few words
    detail : how it was measured, and where it breaks
    """

    key: str
    claim: str
    published: bool
    verdict: Verdict
    number: str
    detail: str


class Ruling(NamedTuple):
    """What one claim comes to."""

    verdict: Verdict
    number: str
    detail: str


def conclude(parts: Sequence[bool | None]) -> Verdict:
    """Return what the parts of a claim add up to; None is a part that the runs leave open.

    It holds when every part does, partly holds when at least half of the decided ones do, fails when fewer do, and is not
    judged when more than half are open. A claim with open parts holds partly at most.

    Examples
    --------
    >>> conclude([True, True]), conclude([True, None]), conclude([True, False]), conclude([False, False, True])
    ('holds', 'partly', 'partly', 'fails')
    >>> conclude([True, None, None]), conclude([])
    ('not judged', 'not judged')
    """
    decided = [part for part in parts if part is not None]
    if not decided or 2 * len(decided) < len(parts):
        return "not judged"
    if all(decided) and len(decided) == len(parts):
        return "holds"
    return "partly" if 2 * sum(decided) >= len(decided) else "fails"


def among(parts: Sequence[bool | None], things: str) -> str:
    """Return how many of the decided parts hold.

    Examples
    --------
    >>> among([True, False, None], "environments")
    '1 of 2 environments, 1 undecided'
    """
    unsettled = sum(part is None for part in parts)
    text = f"{sum(part is True for part in parts)} of {len(parts) - unsettled} {things}"
    return f"{text}, {unsettled} undecided" if unsettled else text


def count(trajectories: float) -> str:
    """Return a number of trajectories; inf is never.

    Examples
    --------
    >>> count(12345), count(2.5), count(float("inf"))
    ('12,345', '2.5', 'never')
    """
    if np.isinf(trajectories):
        return "never"
    return f"{trajectories:,.0f}" if float(trajectories).is_integer() else f"{trajectories:,.1f}"


def percent(share: float) -> str:
    """Return a share in per cent; only none is 0 % and only all are 100 %.

    Examples
    --------
    >>> percent(0.0), percent(0.001), percent(0.256), percent(0.999), percent(1.0)
    ('0 %', 'under 1 %', '26 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def power(logarithm: float) -> str:
    """Return a factor that is given by its decimal logarithm.

    Examples
    --------
    >>> power(0.5), power(31.4), power(float("inf"))
    ('3.2', '10^31', 'infinity')
    """
    if np.isinf(logarithm):
        return "infinity"
    return f"{10**logarithm:.2g}" if abs(logarithm) < 3 else f"10^{logarithm:.0f}"


def series(items: Sequence[str], last: str = "and") -> str:
    """Return items as a list in a sentence.

    Examples
    --------
    >>> series(["chain", "grid", "bandit"])
    'chain, grid and bandit'
    """
    return " ".join([", ".join(items[:-1]), last, items[-1]]) if len(items) > 1 else "".join(items)
