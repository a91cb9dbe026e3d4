"""Claims about learners that go wrong and recover: C5 on chain, and C6 in the unfavourable betting game."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from umdp.paper.claims.mean_curves import for_good, gaps, interval
from umdp.paper.claims.measures import OPTIMAL, Evidence, Floats, Runs, logarithmic_grid
from umdp.paper.claims.reach import NEAR, comparable, near
from umdp.paper.claims.verdict import Part, Ruling, Stand, number, power, rule, unjudged, weigh

__all__ = ["dips", "only_map_suboptimal"]

FACTOR, FAR = 5.0, 10.0
"""The paper's trajectories are read off logarithmic axes: a factor 5 either way is the same, beyond a factor 10 it is not."""
DIP, DENT = float(np.log10(2.0)), float(np.log10(1.2))
"""A curve dips when it becomes at least twice as bad as the prior's policy; by less than a fifth it does not."""
EARLY, LEARNED, MIDDLE, SLOW, ALMOST = 5, 100, 1_000, 100_000, 10_000
"""The paper's trajectories: LUI and PAC dip at 5 and recover by 100, UCRL2 dips at 1,000 and recovers after 100,000, MAP is
sub-optimal until almost 10,000."""


def dips(evidence: Evidence) -> Ruling:
    """C5: on chain LUI and PAC dip near trajectory 5 and recover by about 100; UCRL2 near 10^3, and after 10^5.

    Six parts, for each learner that it dips and that it recovers. A dip is where the mean of the logarithm of the
    performance is worst, at least twice as bad as the prior's; it is near a trajectory when within a factor 5, and clearly
    is not beyond a factor 10. It has recovered from where on the mean curve stays within 5 % of the optimum: at most 5 * 100
    for LUI and PAC, and at least 10^5 / 5 for UCRL2, whose parts need runs of 5 * 10^5.
    """
    if evidence.trajectories < FACTOR * LEARNED:
        return unjudged("too short", f"needs runs of {FACTOR * LEARNED:,.0f} trajectories", evidence.seeds)
    points = logarithmic_grid(evidence.trajectories)
    parts = []
    for learner, where in (("LUI", EARLY), ("PAC", EARLY), ("UCRL2", MIDDLE)):
        runs = evidence.of("chain", learner)
        late = learner == "UCRL2"
        if runs is None or (late and evidence.trajectories < FACTOR * SLOW):
            why = "not run" if runs is None else f"needs runs of {FACTOR * SLOW:,.0f} trajectories"
            parts += [Part(f"{learner} dips", "open", why), Part(f"{learner} recovers", "open", why)]
            continue
        dip = _dip(runs, points)
        parts.append(Part(f"{learner} dips", dip.near(where), str(dip)))
        back = interval(dip.recovered)
        if late:
            stands = "no" if np.isinf(back[0]) else weigh(back, SLOW / FACTOR, SLOW / FAR, most=False)
        else:
            stands = weigh(back, FACTOR * LEARNED, FAR * LEARNED)
        parts.append(Part(f"{learner} recovers", stands, f"for good from {number(back, 'count')}"))
    return rule(parts, "parts", evidence.seeds)


def only_map_suboptimal(evidence: Evidence) -> Ruling:
    """C6: in the unfavourable betting game only MAP is ever sub-optimal, until almost 10^4.

    Three parts: none of the mean curves of LUI, PAC and UCRL2 is ever more than 1 % of the optimum below it, which it clearly is
    from 5 % on; that of MAP is, by 5 % at some point, and clearly is not up to 1 %; and it stays within 1 % from 10^4 on, within
    a factor 5. Runs shorter than 10^4 / 5 are not judged.
    """
    name = "betting-unfavourable"
    if evidence.trajectories < ALMOST / FACTOR:
        return unjudged("too short", f"needs runs of {ALMOST / FACTOR:,.0f} trajectories", evidence.seeds)
    points = logarithmic_grid(evidence.trajectories)
    others = comparable(evidence, name, ("LUI", "PAC", "UCRL2"))
    parts = [Part("others", "open", "not all of LUI, PAC and UCRL2 were run")]
    if others is not None:
        below = {learner: interval(gaps(runs, points).max(1)) for learner, runs in others.items()}
        most = max(below, key=lambda learner: below[learner][0])
        said = f"{most} most, up to {number(below[most], 'percent')} below"
        parts = [Part("others", weigh(below[most], OPTIMAL, NEAR), said)]
    found = evidence.of(name, "MAP")
    if found is None:
        parts += [Part("MAP", "open", "not run"), Part("MAP recovers", "open", "not run")]
    else:
        gap = gaps(found, points)
        own = interval(gap.max(1))
        parts.append(Part("MAP", weigh(own, NEAR, OPTIMAL, most=False), f"up to {number(own, 'percent')} below"))
        parts.append(_recovers(evidence, gap, points, own[0]))
    other = evidence.of(name, "MAP, uniform")
    more = ""
    if other is not None:
        gap = gaps(other, points)
        back = interval(for_good(gap, points, OPTIMAL))
        more = f"MAP that explores uniformly: up to {number(interval(gap.max(1)), 'percent')} below, "
        more += f"within 1 % for good from {number(back, 'count')}; greedy MAP does not bet, and learns nothing that is wrong."
    return rule(parts, "parts", evidence.seeds, more)


def _recovers(evidence: Evidence, gap: Floats, points: Floats, below: float) -> Part:
    """Return whether MAP is back at the optimum after about 10^4."""
    if below <= OPTIMAL:
        return Part("MAP recovers", "no", "it is never sub-optimal")
    back = interval(for_good(gap, points, OPTIMAL))
    said = f"within 1 % for good from {number(back, 'count')}"
    short = evidence.trajectories < (ALMOST if np.isfinite(back[0]) else FACTOR * ALMOST)
    return Part("MAP recovers", "open" if short else _about(back, ALMOST), said)


class Dip(NamedTuple):
    """Where a curve is worst, how much worse than the prior in decimal logarithm, and from where on it is at the optimum."""

    at: Floats
    factor: Floats
    recovered: Floats

    def near(self, trajectory: float) -> Stand:
        """How it stands to a dip about there."""
        depth = weigh(interval(self.factor), DIP, DENT, most=False)
        if depth == "no":
            return depth
        where = _about(interval(self.at), trajectory)
        return where if depth == "yes" or where == "no" else "close"

    def __str__(self) -> str:
        if self.factor[0] < DENT:
            return "no dip"
        low, high = (power(each) for each in interval(self.factor)[1:])
        return (
            f"{power(float(self.factor[0]))} times the prior ({low} to {high}) at {number(interval(self.at), 'count')}"
        )


def _about(found: tuple[float, float, float], trajectory: float) -> Stand:
    """Return how a trajectory stands to another, which it should be within a factor 5."""
    up = weigh(found, FACTOR * trajectory, FAR * trajectory)
    down = weigh(found, trajectory / FACTOR, trajectory / FAR, most=False)
    return "no" if "no" in (up, down) else "yes" if up == down == "yes" else "close"


def _dip(runs: Runs, points: Floats) -> Dip:
    gap = gaps(runs, np.concatenate([[0.0], points]))
    curve, prior = gap[:, 1:], gap[:, 0]
    worst = curve.argmax(1)
    depth = np.take_along_axis(curve, worst[:, None], 1)[:, 0] - prior
    return Dip(points[worst], depth, for_good(curve, points, near("chain")))
