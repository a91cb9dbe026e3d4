"""What is said about a claim: the verdict its parts add up to, numbers in words, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

__all__ = [
    "FEWEST", "Judged", "Part", "Ruling", "Stand", "Verdict", "conclude", "count", "markdown", "number", "percent", "power",
    "rule", "series", "unjudged", "weigh",
]  # fmt: skip

Verdict = Literal["holds", "partly", "fails", "not judged"]
Stand = Literal["yes", "no", "close", "tied", "open"]
FEWEST = 10
"""Seeds below which nothing is judged: the interval of a mean over fewer runs says too little."""


@dataclass(frozen=True)
class Judged:
    """A claim of the paper, and what the runs say about it.

    Attributes
    ----------
    key : "C1" to "C10"
    claim : in one sentence
    published : whether judged on runs by the rules of the published code; else by the paper's definitions
    verdict : "holds", "partly", "fails" or "not judged"
    number : what its parts come to, in a few words
    detail : the number that decides each part with its interval, and what else there is to know
    criterion : what decides, in a sentence
    seeds : how many runs of each curve it rests on
    reason : why there was nothing to judge by, which the detail says, too; or empty
    """

    key: str
    claim: str
    published: bool
    verdict: Verdict
    number: str
    detail: str
    criterion: str = ""
    seeds: int = 0
    reason: str = ""


class Ruling(NamedTuple):
    """What one claim comes to; `reason` is why there was nothing to judge by, if so."""

    verdict: Verdict
    number: str
    detail: str
    seeds: int = 0
    reason: str = ""


class Part(NamedTuple):
    """A part of a claim: what it is about, how it stands, and the deciding number with its interval, in words."""

    name: str
    stands: Stand
    said: str = ""


def unjudged(number: str, reason: str, seeds: int = 0) -> Ruling:
    """Return that there is nothing to judge by, in a few words and in a sentence.

    Examples
    --------
    >>> unjudged("too short", "needs runs of 500 trajectories").detail
    'Not judged: needs runs of 500 trajectories.'
    """
    return Ruling("not judged", number, f"Not judged: {reason}.", seeds, f"{reason[:1].upper()}{reason[1:]}.")


def weigh(found: tuple[float, float, float], limit: float, hair: float, *, most: bool = True) -> Stand:
    """Return how a number with its interval stands to a limit, which it must not exceed (with `most`), or must reach.

    It is "yes" when the number keeps the limit and so does the whole interval, "no" when the number misses the weaker limit
    `hair` and the whole interval misses the limit, and "close" otherwise: then neither chance nor a threshold decides.

    Examples
    --------
    >>> weigh((8, 7, 9), 10, 20), weigh((13, 11, 15), 10, 20), weigh((31, 25, 40), 10, 20), weigh((31, 9, 40), 10, 20)
    ('yes', 'close', 'no', 'close')
    >>> weigh((0.9, 0.8, 1.0), 0.9, 0.75, most=False), weigh((0.5, 0.4, 0.6), 0.9, 0.75, most=False)
    ('close', 'no')
    """
    value, low, high = found if most else (-found[0], -found[2], -found[1])
    limit, hair = (limit, hair) if most else (-limit, -hair)
    if value <= limit and high <= limit:
        return "yes"
    return "no" if value > hair and low > limit else "close"


def conclude(parts: Sequence[Stand]) -> Verdict:
    """Return what the parts of a claim add up to.

    It holds when every part stands, tied ones aside; fails when more than half of the decided ones do not; and holds partly
    otherwise. It is not judged when more than half are open, or nothing is decided; with open parts it holds partly at most.

    Examples
    --------
    >>> conclude(["yes", "tied"]), conclude(["yes", "open"]), conclude(["yes", "no"]), conclude(["no", "no", "yes"])
    ('holds', 'partly', 'partly', 'fails')
    >>> conclude(["yes", "close"]), conclude(["close", "no"]), conclude(["yes", "open", "open"]), conclude([])
    ('partly', 'partly', 'not judged', 'not judged')
    """
    decided = [part for part in parts if part not in ("open", "tied")]
    unsettled = sum(part == "open" for part in parts)
    if not decided or unsettled > len(parts) - unsettled:
        return "not judged"
    if all(part == "yes" for part in decided) and not unsettled:
        return "holds"
    return "fails" if 2 * decided.count("no") > len(decided) else "partly"


def rule(parts: Sequence[Part], things: str, seeds: int, more: str = "") -> Ruling:
    """Return the ruling that parts come to: how many hold, and the deciding number of each.

    Examples
    --------
    >>> found = rule([Part("chain", "yes", "0.5 (0.4 to 0.6)"), Part("grid", "close", "1.1 (0.9 to 1.3)")], "environments", 100)
    >>> found.verdict, found.number
    ('partly', '1 of 2 environments, 1 close')
    >>> found.detail
    'Chain: 0.5 (0.4 to 0.6); grid: 1.1 (0.9 to 1.3), close.'
    """
    verdict = conclude([part.stands for part in parts])
    counts = {kind: sum(part.stands == kind for part in parts) for kind in ("yes", "close", "tied", "open")}
    decided = len(parts) - counts["tied"] - counts["open"]
    text = f"{counts['yes']} of {decided} {things}"
    text += "".join(f", {counts[kind]} {kind}" for kind in ("close", "tied", "open") if counts[kind])
    marks = {"yes": "", "no": ", no", "close": ", close", "tied": ", tied", "open": ", open"}
    detail = "; ".join(f"{part.name}: {part.said}{marks[part.stands]}" for part in parts)
    detail = f"{detail[:1].upper()}{detail[1:]}." + (f" {more}" if more else "")
    return Ruling(verdict, text, detail, seeds)


def number(found: tuple[float, float, float], form: str = "plain") -> str:
    """Return a number and its interval in words: as it is, as a share, as trajectories or as a factor.

    Examples
    --------
    >>> number((0.123, 0.1, 0.15)), number((0.123, 0.1, 0.15), "percent"), number((1234, 900, float("inf")), "count")
    ('0.123 (0.1 to 0.15)', '12 % (10 % to 15 %)', '1,234 (900 to never)')
    """
    shown = {"plain": _plain, "percent": percent, "count": _rounded}[form]
    value, low, high = map(shown, found)
    return value if value == low == high else f"{value} ({low} to {high})"


def _plain(value: float) -> str:
    return "infinite" if np.isinf(value) else f"{value:.3g}"


def _rounded(trajectories: float) -> str:
    return count(trajectories if np.isinf(trajectories) else np.floor(trajectories + 1e-9))


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


def series(items: Sequence[str]) -> str:
    """Return items as a list in a sentence.

    Examples
    --------
    >>> series(["chain", "grid", "bandit"])
    'chain, grid and bandit'
    """
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


def markdown(rows: Iterable[Sequence[str]], numbers: range = range(0)) -> str:
    """Return rows, the head first, as a table in Markdown; the columns of numbers are aligned to the right.

    Examples
    --------
    >>> print(markdown([["", "runs"], ["grid", "10"]], range(1, 2)))
    | | runs |
    |---|---:|
    | grid | 10 |
    """
    head, *others = ["|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows]
    columns = range(head.count("|") - 1)
    return "\n".join([head, "|" + "".join("---:|" if column in numbers else "---|" for column in columns), *others])
