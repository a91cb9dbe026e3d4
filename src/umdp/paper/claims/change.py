"""Claims about environments that change on the way: C8 and C10.

A run has returned when its policy was within 5 % of the earlier optimum just before the change, and is within 5 % of the
later one all through the last fifth of the run. The first half matters in the betting game: a learner that never bets is
optimal after the change without having learned anything, while the paper speaks of policies that are optimal both before and
after. The time to return counts from the change to the trajectory from which on the policy stays optimal.

A change is looked at when at least nine tenths of the run come after it, and when LUI without a bound was optimal just before
it in at least 90 % of its runs: earlier ones come before anything has been learned that could be wrong afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.paper.claims.measures import Evidence
from umdp.paper.claims.reach import NEAR
from umdp.paper.claims.verdict import Part, Ruling, Stand, count, number, percent, rule, series, unjudged, weigh
from umdp.paper.results import Cell

__all__ = ["BOUNDS", "not_without_randomisation", "only_lui_returns"]

BOUNDS = ("unbounded", "bound [200, 300]", "bound [20, 30]")
"""The panels, from no bound on the strength to the lowest."""
LAST = 0.8
"""From this share of the run on a policy that has returned must be optimal: the last tenth of a tenfold on the axis."""
MARGIN = 10
"""A run must be this many times as long as the time before the change, so that there is time to unlearn."""
RETURNS, MOSTLY = 0.90, 0.75
"""Shares of runs in which a method returns, and below which it clearly does not."""
FEW, MANY = 0.50, 0.60
"""Shares of runs up to which a method does not return as a rule, and beyond which it clearly does."""
NONE, SOME = 0.10, 0.25
"""Shares of runs up to which a method does not return at all, and beyond which it clearly does."""
SLACK = 1.1
"""Medians over a hundred runs differ by a tenth by chance; a bound that is slower by less is not slower."""
RANDOMISED = (0.9, 0.8)
"""The weights on the optimistic action that leave room for others."""


class Change(NamedTuple):
    """A change that is looked at."""

    after: int
    xi: float


class Recoveries(NamedTuple):
    """Whether and when the runs of a cell become optimal again, a flag or a time each."""

    before: NDArray[np.bool_]  # optimal just before the change
    returned: NDArray[np.bool_]  # and again in the end
    later: NDArray[np.bool_]  # optimal in the end, whatever was before
    time: NDArray[np.float64]  # from the change until it stays optimal


class ChangingEnvironment(NamedTuple):
    """An environment with its changes: those looked at, and those that came too early to have learned anything."""

    evidence: Evidence
    environment: str
    changes: list[Change]
    early: list[Change]

    def share(self, learner: str, bound: str, change: Change) -> Recoveries | None:
        """Return what the runs of a cell do, None if there are none; a learner that explores uniformly has one for every xi."""
        cells = (Cell(self.environment, learner, bound, xi, change.after) for xi in (change.xi, None))
        runs = next((found for cell in cells if (found := self.evidence.runs(cell)) is not None), None)
        if runs is None:
            return None
        before, settled = runs.optimal_before(change.after, NEAR), runs.settled(NEAR, since=change.after)
        later = settled <= LAST * self.evidence.trajectories
        return Recoveries(before, before & later, later, settled - change.after)

    def shares(self, learner: str, bounds: tuple[str, ...]) -> dict[str, Recoveries]:
        """Return what the runs do, for all changes looked at and the given bounds, by the name of the cell."""
        found = {}
        for change in self.changes:
            for bound in bounds:
                share = self.share(learner, bound, change)
                if share is not None:
                    found[f"after {change.after:,}, xi {change.xi:g}, {bound.removeprefix('bound ')}"] = share
        return found

    def too_early(self) -> list[str]:
        """Return the changes that came too early, in words."""
        weights: dict[int, list[str]] = {}
        for change in self.early:
            weights.setdefault(change.after, []).append(f"{change.xi:g}")
        return [f"{self.environment} after {after:,} (xi {series(found)})" for after, found in weights.items()]


def only_lui_returns(evidence: Evidence) -> Ruling:
    """C8: after a change only LUI returns to an optimal policy, the faster the lower the bound.

    With randomised exploration (xi below 1). Three parts each for chain and betting: with either bound LUI returns in at
    least 90 % of the runs after every change looked at, and clearly does not below 75 %; no other learner does in half of the
    runs after any, with any bound, and clearly does beyond 60 %; and after every change LUI's median time to return, over the
    runs that were optimal before, falls with the bound.
    """
    parts: list[Part] = []
    early = []
    for environment in ("chain", "betting"):
        scene = _changing_environment(evidence, environment, RANDOMISED)
        early += scene.too_early()
        shares = {learner: scene.shares(learner, BOUNDS) for learner in ("LUI", "MAP", "UCRL2")}
        shares["LUI"] = scene.shares("LUI", BOUNDS[1:])
        if not all(shares.values()):
            parts += [
                Part(f"{environment}, {what}", "open", "no change to look at") for what in ("LUI", "others", "speed")
            ]
            continue
        returned = {
            learner: {cell: _interval(share.returned) for cell, share in found.items()}
            for learner, found in shares.items()
        }
        low = min(returned["LUI"], key=lambda cell: returned["LUI"][cell][0])
        parts.append(
            Part(
                f"{environment}, LUI returns",
                weigh(returned["LUI"][low], RETURNS, MOSTLY, most=False),
                f"least {number(returned['LUI'][low], 'percent')}, {low}",
            )
        )
        others = {f"{learner} {cell}": each for learner in ("MAP", "UCRL2") for cell, each in returned[learner].items()}
        high = max(others, key=lambda cell: others[cell][0])
        said = f"most {number(others[high], 'percent')}, {high}"
        alone = {name: float(np.mean([s.later.mean() for s in shares[name].values()])) for name in ("MAP", "UCRL2")}
        said += "".join(f"; {name} {percent(share)} if it need not be optimal before" for name, share in alone.items())
        parts.append(Part(f"{environment}, others do not", weigh(others[high], FEW, MANY), said))
        falls = [each for each in (_falls(scene, change) for change in scene.changes) if each is not None]
        stands: Stand = (
            "open" if not falls else "yes" if all(falls) else "close" if 2 * sum(falls) >= len(falls) else "no"
        )
        times = [count(_time(scene, bound)) for bound in BOUNDS]
        said = f"after {sum(falls)} of {len(falls)} changes; median time unbounded {times[0]}, [200, 300] {times[1]}, "
        parts.append(Part(f"{environment}, faster with the bound", stands, f"{said}[20, 30] {times[2]}"))
    return _ruling(evidence, parts, early)


def not_without_randomisation(evidence: Evidence) -> Ruling:
    """C10: without randomisation (xi = 1) chain does not recover.

    Five parts: LUI returns in at most 10 % of the runs at xi = 1 with each of the three bounds, and clearly does beyond 25 %;
    and in at least 90 % at xi = 0.8 with each of the two that are bounds, clearly not below 75 %; over all changes looked at.
    """
    parts: list[Part] = []
    early = []
    for xi, bounds in ((1.0, BOUNDS), (0.8, BOUNDS[1:])):
        scene = _changing_environment(evidence, "chain", (xi,))
        early += scene.too_early()
        for bound in bounds:
            found = scene.shares("LUI", (bound,)).values()
            name = f"xi = {xi:g}, {bound.removeprefix('bound ')}"
            if not found:
                parts.append(Part(name, "open", "no change to look at"))
                continue
            share = _interval(np.concatenate([each.returned for each in found]))
            stands = weigh(share, NONE, SOME) if xi == 1.0 else weigh(share, RETURNS, MOSTLY, most=False)
            parts.append(Part(name, stands, f"{number(share, 'percent')} of LUI's runs return"))
    return _ruling(evidence, parts, early)


def _ruling(evidence: Evidence, parts: Sequence[Part], early: Sequence[str]) -> Ruling:
    """Return what the parts come to, and which changes came too early."""
    if all(part.stands == "open" for part in parts):
        reason = f"no change of these runs of {evidence.trajectories:,} trajectories comes in their first tenth"
        if early:
            reason = f"in runs of {evidence.trajectories:,} trajectories every change comes before LUI has learned"
        return unjudged("too short", reason, evidence.seeds)
    more = f"Too early, as LUI had not learned by then: {', '.join(early)}." if early else ""
    return rule(parts, "parts", evidence.seeds, more)


def _interval(flags: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return a share of runs with Wilson's 95 % interval, which is one where all runs agree, too."""
    n, share, z = len(flags), float(flags.mean()), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return share, min(max(float(middle - half), 0.0), share), max(min(float(middle + half), 1.0), share)


def _changing_environment(evidence: Evidence, environment: str, weights: tuple[float, ...]) -> ChangingEnvironment:
    """Return the changes of an environment that are looked at."""
    scene = ChangingEnvironment(evidence, environment, [], [])
    problem = evidence.results.problems.get(environment)
    if problem is None or problem.later is None:
        return scene
    for cell in evidence.cells:
        if (cell.environment, cell.learner, cell.panel) != (environment, "LUI", BOUNDS[0]) or cell.xi not in weights:
            continue
        if cell.after is not None and cell.xi is not None and MARGIN * cell.after <= evidence.trajectories:
            change = Change(cell.after, cell.xi)
            share = scene.share("LUI", BOUNDS[0], change)
            learned = share is not None and share.before.mean() >= RETURNS
            (scene.changes if learned else scene.early).append(change)
    return scene


def _falls(scene: ChangingEnvironment, change: Change) -> bool | None:
    """Return whether LUI's median time to return falls with the bound; None where it never does."""
    times = []
    for bound in BOUNDS:
        share = scene.share("LUI", bound, change)
        if share is None or not share.before.any():
            return None
        times.append(float(np.median(share.time[share.before])))
    if np.isinf(times).all():
        return None
    steady = all(low <= SLACK * high for high, low in pairwise(times))
    return steady and times[-1] < times[0]


def _time(scene: ChangingEnvironment, bound: str) -> float:
    """Return the median time to return over all changes looked at."""
    times = np.concatenate([share.time[share.before] for share in scene.shares("LUI", (bound,)).values()])
    return float(np.median(times)) if len(times) else float("inf")
