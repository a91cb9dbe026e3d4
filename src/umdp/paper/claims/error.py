"""Claims about the estimation error, the value promised less the value kept: C3 and C7."""

from __future__ import annotations

from functools import partial

import numpy as np

from umdp.paper.claims.mean_curves import above_zero, errors, gaps, interval
from umdp.paper.claims.measures import Evidence, Floats, Runs
from umdp.paper.claims.reach import ENVIRONMENTS, LEARNERS, SLOWER, VISIBLE, comparable, compared, near, on_curves
from umdp.paper.claims.verdict import Part, Ruling, number, percent, rule, series, weigh

__all__ = ["misleading", "smallest_error"]

SHOWN = ("betting-favourable", "betting-unfavourable", "bandit")
"""The environments of the figure that the paper's sentence speaks of."""
OFTEN, SOMETIMES, RARELY = 0.25, 0.15, 0.10
"""Shares of the logarithmic axis that count as often and as rarely; up to the one between them it is close."""


@on_curves
def smallest_error(evidence: Evidence, points: Floats) -> Ruling:
    """C3: LUI has the smallest estimation error.

    A part per environment of the paper's figure: the mean of the absolute estimation error, over the logarithmic axis and
    seeds, is smallest for LUI among the learners whose mean curve ends within 5 % of the optimum, since a poor policy that is
    known to be poor has a small error, too; beyond 1.25 times the smallest it clearly is not.
    """
    part = partial(_smallest, points)
    shown = compared(evidence, part, SHOWN)
    beside = compared(evidence, part, [name for name in ENVIRONMENTS if name not in SHOWN])
    more = "Beside the figure: " + "; ".join(f"{part.name}: {part.said} ({part.stands})" for part in beside)
    return rule(
        shown, "environments of the figure", evidence.seeds, f"{more}. On chain the mean is of log10(1 + error)."
    )


def _smallest(points: Floats, environment: str, runs: dict[str, Runs]) -> Part:
    able = {name: each for name, each in runs.items() if gaps(each, points[-1:])[0, 0] <= near(environment)}
    means = {name: errors(each, points, absolute=True).mean(1) for name, each in runs.items()}
    others = {name: means[name] for name in able if name != "LUI"}
    least = min(means, key=lambda name: float(means[name][0]))
    whole = f"of all four {least} with {means[least][0]:.3g}"
    if "LUI" not in able:
        return Part(environment, "open", f"LUI does not end near the optimum; {whole}")
    if not others:
        return Part(environment, "open", f"no other learner ends near the optimum; {whole}")
    best = min(others, key=lambda name: float(others[name][0]))
    own, other = means["LUI"], np.min(list(others.values()), axis=0)
    said = f"LUI {own[0]:.3g}, {best} {other[0]:.3g}"
    if max(own[0], other[0]) <= VISIBLE * abs(runs["LUI"].problem.optimum):
        return Part(environment, "tied", f"{said}, both invisible; {whole}")
    ratio = interval(own / np.maximum(other, runs["LUI"].misleading()))
    return Part(environment, weigh(ratio, 1.0, SLOWER), f"{said}, ratio {number(ratio)}; {whole}")


@on_curves
def misleading(evidence: Evidence, points: Floats) -> Ruling:
    """C7: MAP often has positive estimation error; the interval methods rarely.

    Four parts: the share of the logarithmic axis, averaged over environments, on which the mean error is above zero is at
    least 25 % for MAP and clearly less below 15 %; and at most 10 % for each of LUI, PAC and UCRL2, clearly more beyond 15 %.
    """
    parts, single = [], []
    absent = [name for name in ENVIRONMENTS if comparable(evidence, name) is None]
    for learner in LEARNERS:
        found = {name: evidence.of(name, learner) for name in ENVIRONMENTS if name not in absent}
        runs = {name: each for name, each in found.items() if each is not None}
        if not runs:
            parts.append(Part(learner, "open", "not run"))
            continue
        shares = {
            name: above_zero(errors(each, points, absolute=False), each.misleading()) for name, each in runs.items()
        }
        share = interval(np.mean(list(shares.values()), axis=0))
        often = learner == "MAP"
        stands = weigh(share, OFTEN, SOMETIMES, most=False) if often else weigh(share, RARELY, SOMETIMES)
        most = max(shares, key=lambda name: float(shares[name][0]))
        where = f", most on {most} ({percent(float(shares[most][0]))})" if shares[most][0] > 0 else ""
        parts.append(Part(learner, stands, number(share, "percent") + where))
        single.append(f"{learner} {percent(_runs_above(runs, points))}")
    more = f"Run by run, and not of the mean: {series(single)}." if single else ""
    more += f" Without {series(absent)}, not run with all four." if absent and single else ""
    return rule(parts, "learners", evidence.seeds, more)


def _runs_above(runs: dict[str, Runs], points: Floats) -> float:
    """Return the share of the time with an error above zero, over runs and environments."""
    shares = [float((each.at("estimation_error", points) > each.misleading()).mean()) for each in runs.values()]
    return float(np.mean(shares))
