"""What calibration found: coverage of intervals, model and value over seeds, with exact intervals, beside what is claimed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.statements.guarantee import Guarantee
from umdp.statements.text import nouns

__all__ = ["LEVEL", "QUANTITIES", "WHEN", "Calibration", "Frequency", "clopper_pearson"]

Quantity = Literal["interval", "model", "policy", "optimum"]
When = Literal["then", "always"]

QUANTITIES: Mapping[Quantity, str] = {
    "interval": "an interval holds the true probability",
    "model": "all intervals do at once",
    "policy": "the policy is worth the bound",
    "optimum": "the bound is no better than the optimum",
}
"""What is measured, in words; ``policy`` is the promise that counts."""
WHEN: Mapping[When, str] = {"then": "at that time", "always": "at all times"}
_COMPARED = {"above": "above", "agrees": "agrees with", "below": "below"}
ROUND = 1e-9  # of numbers of trajectories that are powers of ten


@dataclass(frozen=True, eq=False)
class Calibration:
    """Measured coverage: how often what a learner says is true, over N runs, at K numbers of trajectories.

    Attributes
    ----------
    learner, model, spec : what was run, in words
    claim : what the learner claims of its bounds
    level : the level that coverage is compared with: the claimed one, or a nominal one where nothing is claimed
    optimum : the best value of the process
    rises : whether larger values are better
    times : (K,) numbers of trajectories
    seeds : (N,) the runs
    columns : (N, K) arrays by name. ``interval_then`` is the share of intervals, of choices that were tried, that hold the
        true probability; ``interval_always`` of those that did at every look until then. ``model``, ``policy`` and ``optimum``
        (see `QUANTITIES`) are 1 where they hold. ``bound`` is what is said, ``worth`` what the policy is worth on the process,
        ``promised`` 1 where a promise was made.
    interrupted : whether some of the runs that were asked for are missing
    played : what playing candidates claims of the value, together with the learner; None where none are played

    Examples
    --------
    >>> from umdp import LUI, calibrate, benchmark
    >>> found = calibrate(LUI(), benchmark.chain(), 'Rmin=? [ F "goal" ]', seeds=20, trajectories=100, horizon=100)
    >>> found.frequency("model", "always").share
    0.0
    """

    learner: str
    model: str
    spec: str
    claim: Guarantee
    level: float
    optimum: float
    rises: bool
    times: NDArray[np.int64]
    seeds: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.float64]]
    interrupted: bool = False
    played: Guarantee | None = None

    def frequency(self, quantity: Quantity, when: When = "always", trajectories: int | None = None) -> Frequency:
        """Return how often something held, with its interval; after the last trajectory unless told otherwise.

        Parameters
        ----------
        quantity : one of `QUANTITIES`
        when : ``"then"``, at that time; ``"always"``, at every look until then: the worst time
        trajectories : one of `times`
        """
        return self._at(quantity, when, self._row(trajectories))

    def verdict(self, quantity: Quantity, when: When = "always", trajectories: int | None = None) -> str:
        """Return how what was measured compares with the level: ``"above"``, ``"agrees"`` or ``"below"``."""
        found = self.frequency(quantity, when, trajectories)
        if found.upper < self.level:
            return "below"
        return "above" if found.lower >= self.level else "agrees"

    def claims(self, quantity: Quantity, when: When = "always") -> bool:
        """Whether a quantity is claimed to hold at that time, or at all times."""
        claim = self.claim if self.played is None or quantity in ("interval", "model") else self.played
        return claim.kind == "any-time" or (when == "then" and claim.holds)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per number of trajectories: the frequencies, and the medians of bound and worth."""
        return [
            {
                "trajectories": int(at),
                **{name: {when: self._at(name, when, row).as_dict() for when in WHEN} for name in QUANTITIES},
                "bound": float(np.median(self.columns["bound"][:, row])),
                "worth": float(np.median(self.columns["worth"][:, row])),
                "promised": float(self.columns["promised"][:, row].mean()),
            }
            for row, at in enumerate(self.times)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it by name, for JSON."""
        return {
            "learner": self.learner, "model": self.model, "property": self.spec, "guarantee": self.claim.as_dict(),
            "nominal": self.level, "optimum": self.optimum, "side": "at least" if self.rises else "at most",
            "trajectories": int(self.times[-1]), "runs": self.seeds.size, "seed": int(self.seeds.min()),
            "interrupted": self.interrupted, "evidence": None if self.played is None else self.played.as_dict(),
            "verdict": {name: {when: self.verdict(name, when) for when in WHEN} for name in QUANTITIES},
            "rows": self.rows(),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """Return what was found as lines of text: a table over trajectories, then the last of it with intervals."""
        runs, end = self.seeds.size, int(self.times[-1])
        cut = ", interrupted" if self.interrupted else ""
        about = [
            f"{self.learner} on {self.model}: {self.spec}, optimum {self.optimum:.6g}",
            f"{runs:,} {nouns(runs, 'run')} of {end:,} {nouns(end, 'trajectory')}{cut}; {self._compared()}",
            "",
        ]
        return [*about, *self._course(), "", *self._end(), *self._said()]

    @property
    def _claimed(self) -> bool:
        return self.claim.holds or self.played is not None

    def _compared(self) -> str:
        level = f"{100 * self.level:.10g} %"
        if self.played is not None and not self.claim.holds:
            return f"playing candidates claims {level} of the value, at all times, and the learner nothing"
        if self.claim.kind == "any-time":
            return f"the learner claims {level}, at all times" + (", with what is played" if self.played else "")
        if self.claim.holds:
            return f"the learner claims {level}, for one look at numbers of samples fixed before"
        return f"the learner claims nothing, and is compared with {level}"

    def _course(self) -> list[str]:
        """Return the table over trajectories: powers of ten, and the end."""
        head = ("trajectories", *("interval", "model", "policy", "optimum") * 2, "bound", "worth")
        table: list[tuple[str, ...]] = [head]
        for row in self._shown():
            cells = [percent(self._at(name, when, row).share) for when in WHEN for name in QUANTITIES]
            medians = [_number(float(np.median(self.columns[name][:, row]))) for name in ("bound", "worth")]
            table.append((f"{int(self.times[row]):,}", *cells, *medians))
        widths = [max(len(line[k]) for line in table) for k in range(len(head))]
        gaps = ["  " if k not in (5, 9) else "   " for k in range(len(head))]
        rows = [
            "".join(f"{gap}{cell:>{width}}" for gap, cell, width in zip(gaps, line, widths, strict=True))[2:]
            for line in table
        ]
        starts = [sum(widths[:k]) + sum(map(len, gaps[: k + 1])) - 2 for k in (1, 5, 9)]
        title = f"{'':<{starts[0]}}at that time"
        title = f"{title:<{starts[1]}}at all times until then"
        return [f"{title:<{starts[2]}}medians", *rows]

    def _end(self) -> list[str]:
        """Return the end with its intervals, a line each."""
        end = int(self.times[-1])
        said = [f"after {end:,} {nouns(end, 'trajectory')}, with 95 % intervals"]
        for name, words in QUANTITIES.items():
            for when, whole in WHEN.items():
                found = self.frequency(name, when)
                verdict = self.verdict(name, when)
                mark = ", which is not claimed" if self._claimed and not self.claims(name, when) else ""
                told = "" if np.isnan(found.share) else f"   {_COMPARED[verdict]} {100 * self.level:.10g} %{mark}"
                said.append(f"  {words + ', ' + whole:<55}  {found!s:<24}{told}".rstrip())
        return said

    def _said(self) -> list[str]:
        """Return what else there is to say."""
        lost = int(np.count_nonzero(self.columns["promised"][:, -1] == 0))
        if self.claim.kind != "any-time" or self.played is not None or not lost:
            return []
        return [
            "",
            f"in {lost:,} {nouns(lost, 'run')} the learner found that its bounds contradict each other, and withdrew its promise",
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _at(self, quantity: Quantity, when: When, row: int) -> Frequency:
        found = self.columns[f"{quantity}_{when}"][:, row]
        return Frequency.mean(found) if quantity == "interval" else Frequency.of(found > 0)

    def _row(self, trajectories: int | None) -> int:
        if trajectories is None:
            return self.times.size - 1
        return int(np.flatnonzero(self.times == trajectories)[0])

    def _shown(self) -> list[int]:
        """Return the rows of the table: powers of ten, and the end; all where there are none."""
        powers = np.log10(self.times)
        round_ones = np.flatnonzero(np.abs(powers - np.rint(powers)) < ROUND)
        return sorted({*round_ones.tolist(), self.times.size - 1})


def _number(value: float) -> str:
    return "none" if np.isinf(value) else f"{value:.4g}"


LEVEL = 0.95  # of the intervals of what is measured
GRID = 1000  # means that are told apart


@dataclass(frozen=True)
class Frequency:
    """A measured frequency, with its 95 % interval.

    Attributes
    ----------
    share : the part of the runs in which something held; or the mean of a share that every run has
    lower, upper : its interval
    runs : how many there were

    Examples
    --------
    >>> Frequency.of(np.array([True] * 99 + [False]))
    Frequency(share=0.99, lower=0.945..., upper=0.999..., runs=100)
    >>> print(Frequency.of(np.ones(200, np.bool_)))
    100 % (98.1 .. 100)
    """

    share: float
    lower: float
    upper: float
    runs: int

    @classmethod
    def of(cls, held: NDArray[np.bool_]) -> Frequency:
        """Return how often something held, (N,) one per run; the interval is Clopper and Pearson's, which is exact."""
        runs, hits = held.size, int(np.count_nonzero(held))
        return cls(hits / runs, *clopper_pearson(hits, runs), runs) if runs else cls(math.nan, 0.0, 1.0, 0)

    @classmethod
    def mean(cls, shares: NDArray[Any]) -> Frequency:
        """Return the mean of shares, (N,) one per run, without those that are not there (nan).

        Shares within a run depend on each other, and only runs are independent. The interval holds for every variable between 0
        and 1, and for so many runs: it is that of hedged bets (Waudby-Smith and Ramdas), rounded outwards to thousandths.
        """
        given = shares[~np.isnan(shares)]
        if not given.size:
            return cls(math.nan, 0.0, 1.0, 0)
        return cls(float(given.mean()), *_betting(given), given.size)

    def as_dict(self) -> dict[str, float | None]:
        """Return the numbers by name, for JSON."""
        return {"share": None if math.isnan(self.share) else self.share, "lower": self.lower, "upper": self.upper}

    def __str__(self) -> str:
        if math.isnan(self.share):
            return "nothing yet"
        # A share that is not 1 must not look like it, and neither end may promise more than it has.
        low, high = math.floor(1000 * self.lower) / 10, math.ceil(1000 * self.upper) / 10
        return f"{percent(self.share)} ({low:.3g} .. {high:.3g})"


def clopper_pearson(hits: int, tries: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a probability.

    Examples
    --------
    >>> lower, upper = clopper_pearson(0, 100)
    >>> lower, round(upper, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    tail = (1 - LEVEL) / 2
    lower = 0.0 if hits == 0 else float(betaincinv(hits, tries - hits + 1, tail))
    upper = 1.0 if hits == tries else float(betaincinv(hits + 1, tries - hits, 1 - tail))
    return lower, upper


def percent(share: float) -> str:
    """Return a share in per cent; only what is all of it is 100 %.

    Examples
    --------
    >>> percent(1.0), percent(0.99999), percent(0.9512), percent(0.0001), percent(0.0)
    ('100 %', '99.9 %', '95.1 %', '0.1 %', '0 %')
    """
    if math.isnan(share) or share in (0.0, 1.0):
        return "" if math.isnan(share) else f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"


def _betting(values: NDArray[Any]) -> tuple[float, float]:
    """Return an interval of the mean of independent values in [0, 1].

    Whoever bets on values above m, or on values below it, stays poor if m is the mean: both stakes depend on the values before
    alone, so that either capital is a martingale, and their average passes 1 / error with at most that probability. The interval
    holds all m that nobody got rich on.
    """
    error, n = 1 - LEVEL, values.size
    means = np.arange(1, GRID) / GRID
    rich = np.zeros(means.size, np.bool_)
    up, down = np.zeros((2, means.size))  # logarithms of both capitals
    total, spread = 0.5, 0.25
    for i, value in enumerate(values, 1):
        stake = math.sqrt(2 * math.log(2 / error) * i / (n * spread))
        up += np.log1p(np.minimum(stake, 0.5 / means) * (value - means))
        down += np.log1p(np.minimum(stake, 0.5 / (1 - means)) * (means - value))
        rich |= np.logaddexp(up, down) - math.log(2) >= -math.log(error)
        total += value
        spread += (value - total / (i + 1)) ** 2
    left = np.flatnonzero(~rich)
    if not left.size:
        return 0.0, 1.0
    return float(max(left[0], 0) / GRID), float(min(left[-1] + 2, GRID) / GRID)
