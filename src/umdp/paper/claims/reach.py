"""Claims about who is quick: C1, C2 and C4, by the mean curves of the performance that the paper's figures show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

import numpy as np

from umdp.paper.claims.mean_curves import LOGARITHMIC, centred, first, gaps, interval
from umdp.paper.claims.measures import EXACT, OPTIMAL, Evidence, Floats, Runs, logarithmic_grid
from umdp.paper.claims.verdict import Part, Ruling, count, number, rule, unjudged, weigh

__all__ = [
    "ENVIRONMENTS", "LEARNERS", "LONG", "NEAR", "VISIBLE", "about_equal", "comparable", "compared", "first_to_be_optimal", "near",
    "on_curves", "slowest", "whole",
]  # fmt: skip

ENVIRONMENTS = ("chain", "aircraft", "grid", "bandit", "betting-favourable", "betting-unfavourable")
LEARNERS = ("LUI", "PAC", "MAP", "UCRL2")
LONG = 1000
"""Curves are judged over three tenfolds of trajectories at least: in shorter runs most of a curve is the prior."""
NEAR = 0.05
"""A mean curve within 5 % of the optimum has arrived: on a figure it is at the dashed line."""
SLOWER = 1.25
"""A curve that arrives later by less than a quarter is not clearly later: a tenth of a tenfold on the axis."""
VISIBLE = 1e-3
"""Distances below a thousandth of the optimum cannot be seen on a figure."""
ALIKE, UNLIKE = 0.10, 0.20
"""Mean distances between two curves, as a share of the height they span, up to which they are alike, and beyond which not."""


def on_curves(measure: Callable[[Evidence, Floats], Ruling]) -> Callable[[Evidence], Ruling]:
    """Return a measure of mean curves, given the points of their axis; it does not judge runs that are too short for it."""

    @wraps(measure)
    def judged(evidence: Evidence) -> Ruling:
        if evidence.trajectories < LONG:
            reason = f"curves are judged from {LONG:,} trajectories on; these runs have {evidence.trajectories:,}"
            return unjudged("too short", reason, evidence.seeds)
        return measure(evidence, logarithmic_grid(evidence.trajectories))

    return judged


def near(environment: str) -> float:
    """Return the gap, in the units of `gaps`, within which a curve counts as at the optimum."""
    return float(np.log10(1 + NEAR)) if environment in LOGARITHMIC else NEAR


def comparable(evidence: Evidence, environment: str, learners: Sequence[str] = LEARNERS) -> dict[str, Runs] | None:
    """Return the runs of some learners in an environment, None where some are missing."""
    found = {learner: evidence.of(environment, learner) for learner in learners}
    runs = {learner: each for learner, each in found.items() if each is not None}
    return runs if len(runs) == len(learners) else None


def compared(
    evidence: Evidence, part: Callable[[str, dict[str, Runs]], Part], environments: Sequence[str] = ENVIRONMENTS,
    learners: Sequence[str] = LEARNERS,
) -> list[Part]:  # fmt: skip
    """Return a part per environment, of the runs of some learners; it is open where some are missing."""
    found = {environment: comparable(evidence, environment, learners) for environment in environments}
    missing = f"not run with {'both' if len(learners) == 2 else 'all four'}"
    return [Part(name, "open", missing) if runs is None else part(name, runs) for name, runs in found.items()]


@on_curves
def first_to_be_optimal(evidence: Evidence, points: Floats) -> Ruling:
    """C1: LUI is first to reach an optimal policy in every environment.

    A part per environment: the trajectory at which LUI's mean curve first comes within 5 % of the optimum, divided by that of
    the quickest of PAC, MAP and UCRL2, is at most 1; beyond 1.25 it clearly is not.
    """
    exact = []

    def part(environment: str, runs: dict[str, Runs]) -> Part:
        medians = {name: float(np.median(each.first_reach())) for name, each in runs.items()}
        if np.isfinite(min(medians.values())):
            exact.append(medians["LUI"] <= min(medians.values()))
        times = {name: first(gaps(each, points), points, near(environment)) for name, each in runs.items()}
        quickest = min((name for name in times if name != "LUI"), key=lambda name: float(times[name][0]))
        ratio = interval(_ratio(times["LUI"], np.min([times[name] for name in times if name != "LUI"], axis=0)))
        said = f"LUI {count(whole(times['LUI'][0]))}, {quickest} {count(whole(times[quickest][0]))}"
        if np.isinf(times["LUI"][0]) and np.isinf(times[quickest][0]):
            return Part(environment, "open", "nobody gets there")
        tied = times["LUI"][0] == times[quickest][0] == points[0]
        return Part(environment, "tied" if tied else weigh(ratio, 1.0, SLOWER), f"{said}, ratio {number(ratio)}")

    parts = compared(evidence, part)
    more = f"By the median run and within {OPTIMAL:.0%} LUI is first in {sum(exact)} of {len(exact)}." if exact else ""
    return rule(parts, "environments", evidence.seeds, more)


@on_curves
def about_equal(evidence: Evidence, points: Floats) -> Ruling:
    """C2: LUI and PAC are about equal on chain and grid.

    A part for each: the mean distance between their mean curves over the logarithmic axis, as a share of the height that the
    two span, is at most 10 %; beyond 20 % they clearly differ.
    """

    def part(environment: str, runs: dict[str, Runs]) -> Part:
        one, other = (gaps(each, points) for each in runs.values())
        height = np.maximum(np.maximum(one, other).max(1), EXACT)
        apart = interval(centred(np.abs(one - other).mean(1) / height))
        times = [count(whole(first(each, points, near(environment))[0])) for each in (one, other)]
        said = f"{number(apart, 'percent')} apart; within 5 % of the optimum LUI after {times[0]}, PAC after {times[1]}"
        return Part(environment, weigh(apart, ALIKE, UNLIKE), said)

    return rule(compared(evidence, part, ("chain", "grid"), ("LUI", "PAC")), "environments", evidence.seeds)


@on_curves
def slowest(evidence: Evidence, points: Floats) -> Ruling:
    """C4: UCRL2 is the slowest.

    A part per environment: the mean gap to the optimum over the logarithmic axis is larger for UCRL2 than for each of LUI,
    PAC and MAP; where the interval of the ratio to the largest of theirs contains 1, that is close, and where they differ by less
    than a thousandth of the optimum they are tied.
    """

    def part(environment: str, runs: dict[str, Runs]) -> Part:
        means = {name: gaps(each, points).mean(1) for name, each in runs.items()}
        others = {name: mean for name, mean in means.items() if name != "UCRL2"}
        last = max(others, key=lambda name: float(others[name][0]))
        own, worst = means["UCRL2"], np.max(list(others.values()), axis=0)
        said = f"UCRL2 {own[0]:.3g}, {last} {worst[0]:.3g}"
        if abs(own[0] - worst[0]) <= VISIBLE:  # less than a line is wide; a run in a hundred does not decide
            return Part(environment, "tied", said)
        ratio = interval(own / np.maximum(worst, EXACT))
        return Part(environment, weigh(ratio, 1.0, 1.0, most=False), f"{said}, ratio {number(ratio)}")

    more = "On chain the gap is in decimal orders of magnitude."
    return rule(compared(evidence, part), "environments", evidence.seeds, more)


def whole(point: float) -> float:
    """Return the number of trajectories that a point of the grid stands for: what holds there holds since then."""
    return float(point) if np.isinf(point) else float(np.floor(point + 1e-9))


def _ratio(one: Floats, other: Floats) -> Floats:
    """Return a ratio of trajectories; where neither is ever reached it is 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isinf(one) & np.isinf(other), 1.0, one / other)
