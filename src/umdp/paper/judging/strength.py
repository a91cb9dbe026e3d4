"""The claim about the strength of the prior: C9."""

from __future__ import annotations

import numpy as np

from umdp.paper.judging.error import LONG
from umdp.paper.judging.measures import OPTIMAL, Evidence, logarithmic_grid
from umdp.paper.judging.verdict import Ruling, conclude, count, percent, series

__all__ = ["strength_hardly_matters"]

STRENGTHS = ("[5, 15]", "[10, 15]", "[15, 20]", "[20, 30]", "[30, 40]", "[40, 50]")
HARDLY = 0.10
"""The largest gap between two curves that hardly matters, as a share of the optimum: a tenth of a figure's height."""
ALIKE = 2.0
"""First reaches up to a factor 2 apart are alike, as between learners (C2)."""
NEARLY = 0.05
"""What is reached is looked at within 5 % where some strength does not come within 1 %."""


def strength_hardly_matters(evidence: Evidence) -> Ruling:
    """C9: prior strength hardly matters on grid.

    It holds when the mean performances of the strengths are never more than 10 % of the optimum apart, holds partly when they
    are but the medians of their first reaches are at most a factor 2 apart, and fails otherwise. First reach is within 1 % of
    the optimum, or within 5 % where some strength does not get there. It is not judged on less than two strengths, and holds
    partly at most on less than the six.
    """
    runs = {name: evidence.of("grid", name) for name in STRENGTHS}
    found = {name: each for name, each in runs.items() if each is not None}
    if evidence.trajectories < LONG:
        reason = f"needs runs of {LONG:,} trajectories; these have {evidence.trajectories:,}"
        return Ruling("not judged", "too short", f"Not judged: {reason}.")
    if len(found) < 2:
        return Ruling("not judged", "none", "Not judged: less than two of the six strengths were run on grid.")
    points = logarithmic_grid(evidence.trajectories)
    optimum = evidence.results.problems["grid"].optimum
    shares = {name: each.at("performance", points) / optimum for name, each in found.items()}
    curves = np.array([each.mean(0) for each in shares.values()])
    widest = int(np.ptp(curves, axis=0).argmax())
    best, worst = (list(found)[int(place)] for place in (curves[:, widest].argmax(), curves[:, widest].argmin()))
    gap = float(np.ptp(curves[:, widest]))
    error = float(np.hypot(*(shares[name][:, widest].std() / np.sqrt(len(found[name])) for name in (best, worst))))
    tolerance = OPTIMAL
    reach = {name: float(np.median(each.first_reach())) for name, each in found.items()}
    if np.isinf([*reach.values()]).any():
        tolerance = NEARLY
        reach = {name: float(np.median(each.first_reach(NEARLY))) for name, each in found.items()}
    early, late = min(reach, key=lambda name: reach[name]), max(reach, key=lambda name: reach[name])
    alike = np.isfinite(reach[late]) and reach[late] <= ALIKE * max(reach[early], 1.0)
    if np.isinf(reach[early]):
        reached = f"no strength comes within {percent(tolerance)} of it in most runs"
    else:
        reached = f"the median first trajectory within {percent(tolerance)} of it is {count(reach[early])} with "
        reached += "every strength" if early == late else f"{early} and {count(reach[late])} with {late}"
        if early != late and np.isfinite(reach[late]):
            reached += f", a factor {max(reach[late], 1.0) / max(reach[early], 1.0):.2g}"
    detail = (
        f"Mean performances are at most {percent(gap)} of the optimum apart (standard error {percent(error)}), after "
    )
    detail += f"{count(np.floor(points[widest]))} trajectories ({best} above {worst}); {reached}."
    missing = [name for name in STRENGTHS if name not in found]
    detail += f" Not run: {series(missing)}." if missing else ""
    verdict = conclude([True, *(None for _ in missing[:1])]) if gap <= HARDLY else "partly" if alike else "fails"
    return Ruling(verdict, f"gap {percent(gap)} of the optimum", detail)
