"""Claims about the estimation error, the value promised less the value kept: C3 and C7."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from umdp.paper.judging.measures import Evidence, Runs, logarithmic_grid
from umdp.paper.judging.reach import ENVIRONMENTS, LEARNERS
from umdp.paper.judging.verdict import Ruling, among, conclude, percent, series

__all__ = ["LONG", "misleading", "smallest_error"]

LONG = 1000
"""Curves are judged over three tenfolds of trajectories at least: in shorter runs most of a curve is the prior."""
LOGARITHMIC = ("chain",)
"""Where errors span a hundred orders of magnitude, and a mean is set by a single run."""
OFTEN, RARELY = 0.25, 0.10
"""Shares of the time (on the logarithmic axis) that count as often and as rarely; between them is neither."""


def smallest_error(evidence: Evidence) -> Ruling:
    """C3: LUI has the smallest estimation error.

    A part per environment: the mean of the absolute estimation error, over the logarithmic axis of trajectories and over
    seeds, is smallest for LUI among the four; on chain the mean of log10(1 + error). A bad policy that is known to be bad has a
    small error too, so the detail also compares with those learners only that end, like LUI, within 1 % of the optimum in
    most runs; and it looks at the end of the runs alone.
    """
    if evidence.trajectories < LONG:
        return _short(evidence)
    points = logarithmic_grid(evidence.trajectories)
    parts: list[bool | None] = []
    capable: list[bool | None] = []
    final: list[bool | None] = []
    beaten, missing = [], []
    for environment in ENVIRONMENTS:
        found = {learner: evidence.of(environment, learner) for learner in LEARNERS}
        runs = {learner: each for learner, each in found.items() if each is not None}
        if len(runs) < len(LEARNERS):
            parts.append(None)
            missing.append(environment)
            continue
        means = {learner: _mean(environment, each, points) for learner, each in runs.items()}
        slack = runs["LUI"].misleading()
        parts.append(_smallest(means, slack))
        best = min(means, key=lambda learner: means[learner])
        if parts[-1] is False:
            beaten.append(f"{environment} ({best} {means[best]:.3g}, LUI {means['LUI']:.3g})")
        able = {learner: mean for learner, mean in means.items() if _ends_optimal(runs[learner])}
        if "LUI" in able and len(able) > 1:
            capable.append(_smallest(able, slack))
        ends = {learner: _mean(environment, each, points[-1:]) for learner, each in runs.items()}
        final.append(_smallest(ends, slack))
    detail = "By the mean absolute error over the logarithmic axis and seeds (chain: of log10(1 + error))"
    detail += f", another learner's is smaller on {series(beaten)}" if beaten else ""
    detail += f"; without runs of all four learners: {series(missing)}" if missing else ""
    detail += ". A policy that is poor and known to be poor has a small error, too: among the learners that end within 1 % of "
    detail += f"the optimum LUI's is smallest in {among(capable, 'environments')}"
    number = f"{among(parts, 'environments')} over the runs, {among(final, 'environments')} at their end"
    return Ruling(conclude(parts), number, f"{detail}.")


def misleading(evidence: Evidence) -> Ruling:
    """C7: MAP often has positive estimation error; the interval methods rarely.

    Four parts: the share of the time (logarithmic axis), over seeds and then over environments, with an error above 1e-6 is
    at least 25 % for MAP, and at most 10 % for each of LUI, PAC and UCRL2.
    """
    if evidence.trajectories < LONG:
        return _short(evidence)
    points = logarithmic_grid(evidence.trajectories)
    shares: dict[str, dict[str, float]] = {}
    for learner in LEARNERS:
        shares[learner] = {}
        for environment in ENVIRONMENTS:
            runs = evidence.of(environment, learner)
            if runs is not None:
                above = runs.at("estimation_error", points) > runs.misleading()
                shares[learner][environment] = float(above.mean())
    means = {learner: float(np.mean([*found.values()])) for learner, found in shares.items() if found}
    parts: list[bool | None] = []
    for learner in LEARNERS:
        mean = means.get(learner)
        parts.append(None if mean is None else mean >= OFTEN if learner == "MAP" else mean <= RARELY)
    number = ", ".join(f"{learner} {percent(mean)}" for learner, mean in means.items())
    by_place = [f"{name} {percent(share)}" for name, share in shares["MAP"].items()]
    worst = []
    for learner in (learner for learner in means if learner != "MAP" and means[learner] > RARELY):
        place = max(shares[learner], key=lambda environment: shares[learner][environment])
        worst.append(f"{learner} (most on {place}: {percent(shares[learner][place])})")
    detail = "Share of the time, on the logarithmic axis, with an error above 1e-6, mean over seeds and environments"
    detail += f" (often: from {percent(OFTEN)} on; rarely: up to {percent(RARELY)})"
    detail += f"; MAP: {', '.join(by_place)}" if by_place else ""
    detail += f"; more than rarely: {series(worst)}" if worst else ""
    absent = [name for name in ENVIRONMENTS if not any(name in found for found in shares.values())]
    detail += f"; without {series(absent)}, not run" if absent else ""
    return Ruling(conclude(parts), number or "none", f"{detail}.")


def _mean(environment: str, runs: Runs, points: NDArray[np.float64]) -> float:
    error = np.abs(runs.at("estimation_error", points))
    if environment in LOGARITHMIC:
        error = np.log10(1 + error)
    return float(error.mean())


def _smallest(means: dict[str, float], slack: float) -> bool | None:
    """Return whether LUI's is the smallest, up to the precision of the solver; None where all are infinite."""
    least = min(means.values())
    return None if np.isinf(least) else means["LUI"] <= least + slack


def _ends_optimal(runs: Runs) -> bool:
    return float(runs.optimal()[:, -1].mean()) > 0.5


def _short(evidence: Evidence) -> Ruling:
    reason = f"curves are judged from {LONG:,} trajectories on; these runs have {evidence.trajectories:,}"
    return Ruling("not judged", "too short", f"Not judged: {reason}.")
