"""The claim about the strength of the prior: C9."""

from __future__ import annotations

import numpy as np

from umdp.paper.claims.mean_curves import centred, first, gaps, interval
from umdp.paper.claims.measures import Evidence, Floats
from umdp.paper.claims.reach import NEAR, on_curves, whole
from umdp.paper.claims.verdict import Part, Ruling, count, number, percent, rule, series, unjudged, weigh

__all__ = ["strength_hardly_matters"]

STRENGTHS = ("[5, 15]", "[10, 15]", "[15, 20]", "[20, 30]", "[30, 40]", "[40, 50]")
HARDLY, MUCH = 0.10, 0.20
"""Distances between the best and the worst curve, as a share of the optimum: a tenth of a figure's height hardly matters."""


@on_curves
def strength_hardly_matters(evidence: Evidence, points: Floats) -> Ruling:
    """C9: prior strength hardly matters on grid.

    The distance between the best and the worst of the mean curves, averaged over the logarithmic axis, is at most 10 % of the
    optimum; beyond 20 % it clearly matters. It is not judged on less than two strengths, and holds partly at most on less than
    the six.
    """
    runs = {name: evidence.of("grid", name) for name in STRENGTHS}
    found = {name: each for name, each in runs.items() if each is not None}
    if len(found) < 2:
        return unjudged("none", "less than two of the six strengths were run on grid", evidence.seeds)
    curves = np.array([gaps(each, points) for each in found.values()])
    apart = np.ptp(curves, axis=0)
    mean, widest = interval(centred(apart.mean(1))), int(apart[0].argmax())
    names = list(found)
    worst, best = names[int(curves[:, 0, widest].argmax())], names[int(curves[:, 0, widest].argmin())]
    times = {name: float(first(curve, points, NEAR)[0]) for name, curve in zip(names, curves, strict=True)}
    early, late = min(times, key=lambda name: times[name]), max(times, key=lambda name: times[name])
    more = f"Most, {percent(float(apart[0, widest]))}, after {count(whole(points[widest]))} ({best} above {worst}). "
    more += f"Within 5 % of the optimum after {count(whole(times[early]))} with {early}"
    more += "." if early == late else f" and {count(whole(times[late]))} with {late}."
    missing = [name for name in STRENGTHS if name not in found]
    parts = [Part("distance of the curves", weigh(mean, HARDLY, MUCH), f"{number(mean, 'percent')} of the optimum")]
    parts += [Part(series(missing), "open", "not run")] if missing else []
    ruling = rule(parts, "parts", evidence.seeds, more)
    return ruling._replace(number=f"{number(mean, 'percent')} of the optimum apart")
