"""Claims about learners that go wrong and recover: C5 on chain, and C6 in the unfavourable betting game."""

from __future__ import annotations

from math import log10
from typing import NamedTuple

import numpy as np

from umdp.paper.judging.measures import EXACT, Evidence, Runs
from umdp.paper.judging.verdict import Ruling, conclude, count, percent, power, series

__all__ = ["dips", "only_map_suboptimal"]

FACTOR = 5.0
"""The paper's trajectories are read off logarithmic axes: a factor 5 either way is the same order of magnitude."""
DIP = 2.0
"""A curve dips when it becomes at least twice as bad as the prior's policy: far less than what one wrong action costs."""
MOST = 0.5
"""Sub-optimal in at least half of the runs: then a figure of means shows it plainly."""
LEARNED, SLOW, ALMOST = 100, 100_000, 10_000
"""The paper's trajectories: LUI and PAC recover by 100, UCRL2 after 100,000, MAP is sub-optimal until almost 10,000."""


class Dip(NamedTuple):
    """Where a curve is worst, by what factor above the prior in decimal logarithm, and when it is optimal for good."""

    at: float
    factor: float
    recovered: float

    @property
    def real(self) -> bool:
        """Whether it is one."""
        return self.factor >= log10(DIP)

    def near(self, trajectory: float) -> bool:
        """Whether it is one, about there."""
        return self.real and trajectory / FACTOR <= self.at <= trajectory * FACTOR

    def __str__(self) -> str:
        dip = f"{power(self.factor)} times the prior at {count(self.at)}" if self.real else "no dip"
        return f"{dip}, {_for_good(self.recovered)}"


def dips(evidence: Evidence) -> Ruling:
    """C5: on chain LUI and PAC dip near trajectory 5 and recover by about 100; UCRL2 near 10^3, and after 10^5.

    Six parts, for each learner that it dips and that it recovers. A dip is where the geometric mean of the performance is
    worst after the prior, at least twice the prior's; it is near a trajectory when within a factor 5. Recovery is the median
    trajectory from which on a run stays within 1 % of the optimum: at most 5 * 100 for LUI and PAC, and finite and at least
    10^5 / 5 for UCRL2. UCRL2's parts need runs of 5 * 10^5 trajectories, the others 5 * 100.
    """
    if evidence.trajectories < FACTOR * LEARNED:
        return Ruling("not judged", "too short", f"Not judged: needs runs of {FACTOR * LEARNED:,.0f} trajectories.")
    parts: list[bool | None] = []
    said = []
    for learner, where in (("LUI", 5), ("PAC", 5), ("UCRL2", 1000)):
        runs = evidence.of("chain", learner)
        if runs is None:
            parts += [None, None]
            said.append(f"{learner} was not run")
            continue
        dip = _dip(runs)
        said.append(f"{learner}: {dip}")
        if learner != "UCRL2":
            parts += [dip.near(where), dip.recovered <= FACTOR * LEARNED]
        elif evidence.trajectories < FACTOR * SLOW:
            parts += [None, None]
            said[-1] += f" (not judged: that needs runs of {FACTOR * SLOW:,.0f} trajectories)"
        else:
            parts += [dip.near(where), SLOW / FACTOR <= dip.recovered < np.inf]
    detail = f"Geometric mean of the performance where it is worst, and the median recovery: {'; '.join(said)}."
    decided = [part for part in parts if part is not None]
    return Ruling(conclude(parts), f"{sum(decided)} of {len(decided)} parts, within a factor 5", detail)


def only_map_suboptimal(evidence: Evidence) -> Ruling:
    """C6: in the unfavourable betting game only MAP is ever sub-optimal, until almost 10^4.

    Three parts: MAP is sub-optimal (by more than 1e-6) at some iteration in at least half of the runs; LUI, PAC and UCRL2 in
    none; and the median trajectory, over the runs of MAP that were, from which on they are optimal for good is 10^4 within a
    factor 5. The last is left open when runs are shorter than 10^4, or than 5 * 10^4 and MAP does not recover; runs shorter
    than 10^4 / 5 are not judged.
    """
    name = "betting-unfavourable"
    if evidence.trajectories < ALMOST / FACTOR:
        return Ruling("not judged", "too short", f"Not judged: needs runs of {ALMOST / FACTOR:,.0f} trajectories.")
    runs = {learner: evidence.of(name, learner) for learner in ("LUI", "PAC", "MAP", "UCRL2")}
    shares = {
        learner: float((~each.optimal(EXACT)).any(1).mean()) for learner, each in runs.items() if each is not None
    }
    number = ", ".join(f"{learner} {percent(share)}" for learner, share in shares.items())
    found = runs["MAP"]
    if found is None or len(shares) < len(runs):
        missing = [learner for learner in runs if learner not in shares]
        return Ruling("not judged", number or "none", f"Not judged: {series(missing)} not run on {name}.")
    others = all(share == 0 for learner, share in shares.items() if learner != "MAP")
    detail = "Share of runs that are sub-optimal (by more than 1e-6) at some iteration"
    parts: list[bool | None] = [shares["MAP"] >= MOST, others]
    if shares["MAP"] > 0:
        settled = found.settled(EXACT)
        until = float(np.median(settled[settled > 0]))
        detail += f"; the median one of MAP's is {_for_good(until)}"
        short = evidence.trajectories < (ALMOST if np.isfinite(until) else FACTOR * ALMOST)
        if short:
            detail += f" (not judged: runs of {evidence.trajectories:,} trajectories are too short)"
        parts.append(None if short else ALMOST / FACTOR <= until <= ALMOST * FACTOR)
    else:
        parts.append(False)
    return Ruling(conclude(parts), number, f"{detail}.")


def _for_good(trajectory: float) -> str:
    if np.isinf(trajectory):
        return "never optimal for good"
    return f"optimal for good from {count(trajectory)} on"


def _dip(runs: Runs) -> Dip:
    changes = np.unique(runs.trajectories)[:-1]  # the curve is a step function: it can only be worst where it changes
    curve = np.log10(runs.at("performance", changes)).mean(0)
    worst = int(curve.argmax())
    factor = 0.0 if curve[worst] == curve[0] else float(curve[worst] - curve[0])
    return Dip(float(changes[worst]), factor, float(np.median(runs.settled())))
