"""Claims about environments that change on the way: C8 and C10.

A run has returned when its policy was within 1 % of the earlier optimum just before the change, and is within 1 % of the
later one all through the last fifth of the run. The first half matters in the betting game: a learner that never bets is
optimal after the change without having learned anything, while the paper speaks of policies that are optimal both before and
after. The time to return counts from the change to the trajectory from which on the policy stays optimal.

A change is looked at when at least nine tenths of the run come after it, and when LUI without a bound was optimal just before
it in at least 90 % of its runs: earlier ones come before anything has been learned that could be wrong afterwards.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.paper.judging.measures import Evidence
from umdp.paper.judging.verdict import Ruling, conclude, count, percent, series
from umdp.paper.results import Cell

__all__ = ["BOUNDS", "not_without_randomisation", "only_lui_returns"]

BOUNDS = ("unbounded", "bound [200, 300]", "bound [20, 30]")
"""The panels, from no bound on the strength to the lowest."""
LAST = 0.8
"""From this share of the run on a policy that has returned must be optimal: the last tenth of a tenfold on the axis."""
MARGIN = 10
"""A run must be this many times as long as the time before the change, so that there is time to unlearn."""
RETURNS, FEW, NONE = 0.90, 0.50, 0.10
"""Shares of runs: a method returns, does not return as a rule, and does not return at all."""
SLACK = 1.1
"""Medians over a hundred runs differ by a tenth by chance; a bound that is slower by less is not slower."""
RANDOMISED = (0.9, 0.8)
"""The weights on the optimistic action that leave room for others."""


class Change(NamedTuple):
    """A change that is looked at."""

    after: int
    xi: float


class Share(NamedTuple):
    """What the runs of a cell do: a flag or a time each."""

    before: NDArray[np.bool_]  # optimal just before the change
    returned: NDArray[np.bool_]  # and again in the end
    later: NDArray[np.bool_]  # optimal in the end, whatever was before
    time: NDArray[np.float64]  # from the change until it stays optimal


class Scene(NamedTuple):
    """An environment with its changes: those looked at, and those that came too early to have learned anything."""

    evidence: Evidence
    environment: str
    changes: list[Change]
    early: list[Change]

    def share(self, learner: str, bound: str, change: Change) -> Share | None:
        """Return what the runs of a cell do, None if there are none; a learner that explores uniformly has one for every xi."""
        cells = (Cell(self.environment, learner, bound, xi, change.after) for xi in (change.xi, None))
        runs = next((found for cell in cells if (found := self.evidence.runs(cell)) is not None), None)
        if runs is None:
            return None
        before, settled = runs.optimal_before(change.after), runs.settled(since=change.after)
        later = settled <= LAST * self.evidence.trajectories
        return Share(before, before & later, later, settled - change.after)

    def shares(self, learner: str, bounds: tuple[str, ...]) -> dict[str, Share]:
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
    least 90 % of the runs after every change looked at; no other learner does in half of the runs after any, with any bound;
    and after every change LUI's median time to return, over the runs that were optimal before, falls with the bound.
    """
    parts: list[bool | None] = []
    details, early, nothing = [], [], []
    means: dict[str, list[float]] = {}
    for environment in ("chain", "betting"):
        scene = _scene(evidence, environment, RANDOMISED)
        early += scene.too_early()
        shares = {learner: scene.shares(learner, BOUNDS) for learner in ("LUI", "MAP", "UCRL2")}
        shares["LUI"] = scene.shares("LUI", BOUNDS[1:])
        if not all(shares.values()):
            parts += [None, None, None]
            nothing.append(environment)
            continue
        falls = [each for each in (_falls(scene, change) for change in scene.changes) if each is not None]
        returned = {
            learner: {cell: float(share.returned.mean()) for cell, share in found.items()}
            for learner, found in shares.items()
        }
        parts += [
            min(returned["LUI"].values()) >= RETURNS,
            max(max(found.values()) for learner, found in returned.items() if learner != "LUI") < FEW,
            all(falls) if falls else None,
        ]
        for learner, found in returned.items():
            means.setdefault(learner, []).extend(found.values())
        text = f"{environment}, share of runs that returned: LUI with a bound {_extremes(returned['LUI'], least=True)}"
        for learner in ("MAP", "UCRL2"):
            text += f"; {learner} {_extremes(returned[learner], least=False)}"
            alone = float(np.mean([share.later.mean() for share in shares[learner].values()]))
            if alone >= float(np.mean([*returned[learner].values()])) + NONE:
                text += f" (on average {percent(alone)} if it need not be optimal before)"
        times = [count(_time(scene, bound)) for bound in BOUNDS]
        details.append(f"{text}; LUI's median time unbounded {times[0]}, [200, 300] {times[1]}, [20, 30] {times[2]}")
    if not details:
        return _nothing(evidence, early)
    details += [f"{environment}: no change to look at" for environment in nothing]
    detail = ". ".join(["Returned: within 1 % of the optimum before the change, and from 80 % of the run on", *details])
    detail += f". Too early, as LUI had not learned by then: {', '.join(early)}" if early else ""
    return Ruling(conclude(parts), _means(means), f"{detail}.")


def not_without_randomisation(evidence: Evidence) -> Ruling:
    """C10: without randomisation (xi = 1) chain does not recover.

    Five parts: LUI returns in less than 10 % of the runs at xi = 1 with each of the three bounds, and in at least 90 % at
    xi = 0.8 with each of the two that are bounds; over all changes looked at.
    """
    parts: list[bool | None] = []
    said: dict[float, list[str]] = {}
    means: dict[str, list[float]] = {}
    early = []
    for xi, bounds in ((1.0, BOUNDS), (0.8, BOUNDS[1:])):
        scene = _scene(evidence, "chain", (xi,))
        early += scene.too_early()
        for bound in bounds:
            found = scene.shares("LUI", (bound,)).values()
            if not found:
                parts.append(None)
                continue
            share = float(np.concatenate([each.returned for each in found]).mean())
            parts.append(share < NONE if xi == 1.0 else share >= RETURNS)
            means.setdefault(f"xi {xi:g}:", []).append(share)
            said.setdefault(xi, []).append(f"{bound.removeprefix('bound ')} {percent(share)}")
    if not said:
        return _nothing(evidence, early)
    shares = "; ".join(f"xi = {xi:g}: {', '.join(found)}" for xi, found in said.items())
    detail = f"Share of LUI's runs within 1 % of the optimum before the change and from 80 % of the run on, {shares}"
    detail += f". Too early, as LUI had not learned by then: {', '.join(early)}" if early else ""
    return Ruling(conclude(parts), _means(means), f"{detail}.")


def _scene(evidence: Evidence, environment: str, weights: tuple[float, ...]) -> Scene:
    """Return the changes of an environment that are looked at."""
    scene = Scene(evidence, environment, [], [])
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


def _falls(scene: Scene, change: Change) -> bool | None:
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


def _time(scene: Scene, bound: str) -> float:
    """Return the median time to return over all changes looked at."""
    times = np.concatenate([share.time[share.before] for share in scene.shares("LUI", (bound,)).values()])
    return float(np.median(times)) if len(times) else float("inf")


def _extremes(shares: dict[str, float], *, least: bool) -> str:
    """Return the range of shares, with the cell at the end that may break the claim."""
    low, high = min(shares.values()), max(shares.values())
    if low == high:
        return percent(low)
    cell = next(cell for cell, share in shares.items() if share == (low if least else high))
    return f"{percent(low)} ({cell}) to {percent(high)}" if least else f"{percent(low)} to {percent(high)} ({cell})"


def _means(shares: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} {percent(float(np.mean(found)))}" for name, found in shares.items())


def _nothing(evidence: Evidence, early: list[str]) -> Ruling:
    if early:
        reason = f"in runs of {evidence.trajectories:,} trajectories every change comes before LUI has learned"
    else:
        reason = f"no change of these runs of {evidence.trajectories:,} trajectories comes in their first tenth"
    return Ruling("not judged", "too short", f"Not judged: {reason}.")
