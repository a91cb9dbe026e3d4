"""Claims about who is first to an optimal policy: C1, C2 and C4.

The first reach of a run is the first number of trajectories at which its policy is within 1 % of the optimum, infinite if it
never is; a learner's figure in an environment is the median over seeds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from umdp.paper.judging.measures import EXACT, OPTIMAL, Evidence, significance
from umdp.paper.judging.verdict import Ruling, among, conclude, count, series

__all__ = ["ENVIRONMENTS", "LEARNERS", "about_equal", "first_to_be_optimal", "slowest"]

ENVIRONMENTS = ("chain", "aircraft", "grid", "bandit", "betting-favourable", "betting-unfavourable")
LEARNERS = ("LUI", "PAC", "MAP", "UCRL2")
SIGNIFICANT = 0.01
"""The p-value below which two learners differ: among 18 comparisons of equal learners one errs in every sixth
reproduction."""
EQUAL = 2.0
"""Two medians up to a factor 2 apart are about equal: less than a third of a tenfold on the axis of the figures."""

Reach = dict[str, dict[str, NDArray[np.float64]]]


def first_to_be_optimal(evidence: Evidence) -> Ruling:
    """C1: LUI is first to reach an optimal policy in every environment.

    A part per environment: LUI's median first reach is at most that of PAC, MAP and UCRL2. Ties count for it. An
    environment in which no learner gets there in most runs is left open.
    """
    reach = _reach(evidence, OPTIMAL)
    parts, beaten, ties = _first(reach)
    strict, _, _ = _first(_reach(evidence, EXACT))
    detail = "By the median trajectory at which a run is first within 1 % of the optimum"
    if beaten:
        detail += f", LUI is not first on {series(beaten)}"
    detail += f"; ties at 0 trajectories: {ties}" if ties else ""
    detail += _open(reach, parts)
    detail += f". Within 1e-6 of the optimum: {among(strict, 'environments')}."
    return Ruling(conclude(parts), among(parts, "environments"), detail)


def about_equal(evidence: Evidence) -> Ruling:
    """C2: LUI and PAC are about equal on chain and grid.

    A part for each: the ratio of their median first reaches is at most 2, either way; 0 trajectories count as 1. Where one
    of them never gets there, the length of the runs stands for it, and decides only if that is more than twice the other.
    """
    parts: list[bool | None] = []
    numbers, details = [], []
    for environment in ("chain", "grid"):
        runs = [evidence.of(environment, learner) for learner in ("LUI", "PAC")]
        if runs[0] is None or runs[1] is None:
            parts.append(None)
            details.append(f"{environment} was not run with both")
            continue
        one, other = (float(np.median(each.first_reach())) for each in runs if each is not None)
        details.append(f"{environment}: LUI {count(one)}, PAC {count(other)}")
        low, high = max(min(one, other), 1.0), max(one, other, 1.0)
        if np.isinf(low):
            parts.append(None)
        elif np.isinf(high):
            parts.append(False if evidence.trajectories > EQUAL * low else None)
            numbers.append(f"over {evidence.trajectories / low:.2g} on {environment}")
        else:
            parts.append(high <= EQUAL * low)
            numbers.append(f"{high / low:.2g} on {environment}")
    detail = f"Median first trajectory within 1 % of the optimum, about equal up to a factor 2: {'; '.join(details)}."
    return Ruling(conclude(parts), f"factor {series(numbers)}" if numbers else "none", detail)


def slowest(evidence: Evidence) -> Ruling:
    """C4: UCRL2 is the slowest.

    A part per environment: UCRL2's median first reach is larger than that of LUI, PAC and MAP. If it is largest together
    with another one's, the environment is left open where they never get there, and left out where they do, as the claim
    then says nothing.
    """
    reach = _reach(evidence, OPTIMAL)
    parts: list[bool | None] = []
    quicker, never, ties = [], [], []
    for environment in ENVIRONMENTS:
        if environment not in reach:
            parts.append(None)
            continue
        medians = {learner: float(np.median(found)) for learner, found in reach[environment].items()}
        own, others = medians["UCRL2"], max(medians[learner] for learner in LEARNERS if learner != "UCRL2")
        if own != others:
            parts.append(own > others)
        elif np.isinf(own):
            parts.append(None)
            tied = [name for name, value in medians.items() if np.isinf(value) and name != "UCRL2"]
            never.append(f"{environment} (with {series(tied)}{_farthest(evidence, environment, tied)})")
        else:
            ties.append(f"{environment} (at {count(own)})")
        if own < others:
            slow = [f"{name} {count(value)}" for name, value in medians.items() if value > own]
            quicker.append(f"{environment} ({count(own)} against {series(slow)})")
    detail = "By the median trajectory at which a run is first within 1 % of the optimum"
    detail += f", UCRL2 is not the slowest on {series(quicker)}" if quicker else ""
    detail += f"; left open, as it is not alone in never getting there: {series(never)}" if never else ""
    detail += f"; tied for last, and left out: {series(ties)}" if ties else ""
    return Ruling(conclude(parts), among(parts, "environments"), f"{detail}{_missing(reach)}.")


def _reach(evidence: Evidence, tolerance: float) -> Reach:
    """Return the first reaches of the four learners, in the environments that have them all."""
    found: Reach = {}
    for environment in ENVIRONMENTS:
        runs = {learner: evidence.of(environment, learner) for learner in LEARNERS}
        if all(each is not None for each in runs.values()):
            found[environment] = {
                learner: each.first_reach(tolerance) for learner, each in runs.items() if each is not None
            }
    return found


def _first(reach: Reach) -> tuple[list[bool | None], list[str], int]:
    """Return per environment whether LUI is first, by whom it is beaten in words, and the number of ties at 0."""
    parts: list[bool | None] = []
    beaten = []
    ties = 0
    for environment in ENVIRONMENTS:
        if environment not in reach:
            parts.append(None)
            continue
        medians = {learner: float(np.median(found)) for learner, found in reach[environment].items()}
        own = medians.pop("LUI")
        best = min(medians.values())
        ties += own == best == 0
        parts.append(None if np.isinf(min(own, best)) else own <= best)
        if best < own:
            earlier = []
            for learner in (learner for learner, median in medians.items() if median < own):
                p = significance(reach[environment]["LUI"], reach[environment][learner])
                earlier.append(f"{learner} {count(medians[learner])}, {_chance(p)}")
            beaten.append(f"{environment} (LUI {count(own)}; {'; '.join(earlier)})")
    return parts, beaten, ties


def _farthest(evidence: Evidence, environment: str, others: list[str]) -> str:
    """Say whether UCRL2's median run is farther from the optimum in the end than the others' that do not get there either."""
    runs = [each for name in ("UCRL2", *others) if (each := evidence.of(environment, name)) is not None]
    own, *rest = (float(np.median(each.column("performance")[:, -1])) for each in runs)
    farther = own > max(rest) if runs[0].problem.minimise else own < min(rest)
    return ", and farthest from the optimum in the end" if farther else ""


def _chance(p: float) -> str:
    written = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
    return written if p < SIGNIFICANT else f"{written}, not significant"


def _open(reach: Reach, parts: list[bool | None]) -> str:
    nobody = [name for name, part in zip(ENVIRONMENTS, parts, strict=True) if part is None and name in reach]
    return (f"; nobody gets there in most runs on {series(nobody)}" if nobody else "") + _missing(reach)


def _missing(reach: Reach) -> str:
    missing = [name for name in ENVIRONMENTS if name not in reach]
    return f"; without runs of all four learners: {series(missing)}" if missing else ""
