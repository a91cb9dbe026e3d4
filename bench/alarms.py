"""When the process changes: `python -m bench.alarms [--trajectories N] [--seeds N] [--out FOLDER]` prints what is noticed.

Both change experiments of the paper, with alarms and a new start (`RestartingSequence`, which forgets the choice that changed,
its state, or all; and with choices tied), beside LUI with bounded strength, which forgets a little all the time, and
`ConfidenceSequence`, which does not. Everything is counted from the change on: trajectories until the first alarm, samples of
that choice until then, and trajectories until the policy is within 1 % of the new optimum and stays there. With `--out`, the
curves of what the policies are worth, a picture for each change.

`python -m bench.alarms false` counts false alarms instead: runs of an unchanged chain, every choice up to a million samples.
`python -m bench.alarms ties` says how long it takes until ties that are wrong are found out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from umdp import LUI, ConfidenceSequence, Learner, RestartingSequence, Snapshot, Tying, anytime, benchmark, solve
from umdp.explore import Optimism
from umdp.learn.homogeneity import misfits
from umdp.learn.learner import Changed
from umdp.learn.tied import Tied
from umdp.model import Graph
from umdp.source.simulator import Simulator

NEAR = 0.01
CHANGES = {"chain": ("chain", "chain-switched"), "betting": ("betting-favourable", "betting-unfavourable")}


@dataclass
class Course:
    """What came of a run: its curve, and what was noticed."""

    trajectories: list[int]
    performance: list[float]
    false: int = 0
    first: int | None = None
    samples: int | None = None
    alarms: int = 0
    last: Snapshot | None = None

    def recovered(self, after: int, optimum: float) -> int | None:
        """Return the trajectories after the change from which on the policy is near the optimum, None where it is not."""
        since = None
        for at, worth in zip(self.trajectories, self.performance, strict=True):
            if at < after:
                continue
            good = abs(worth - optimum) <= NEAR * abs(optimum)
            since = (at if since is None else since) if good else None
        return None if since is None else since - after


def learners(false_alarms: float, name: str) -> dict[str, Callable[[Graph], Learner]]:
    """Return what is compared, by name."""
    tie = benchmark.BENCHMARKS[CHANGES[name][0]].tie
    found: dict[str, Callable[[Graph], Learner]] = {
        "alarms": lambda graph: RestartingSequence(false_alarms=false_alarms),
        "alarms, forget state": lambda graph: RestartingSequence(false_alarms=false_alarms, forget="state"),
        "alarms, forget all": lambda graph: RestartingSequence(false_alarms=false_alarms, forget="all"),
        "LUI [20, 30]": lambda graph: LUI(strength_bound=(20, 30)),
        "LUI [200, 300]": lambda graph: LUI(strength_bound=(200, 300)),
        "confidence sequence": lambda graph: ConfidenceSequence(),
    }
    if tie is not None:
        found["alarms, tied, forget all"] = lambda graph: Tied(
            RestartingSequence(false_alarms=false_alarms, forget="all"), tie(graph)
        )
    return found


def follow(name: str, make: Callable[[Graph], Learner], after: int, xi: float, trajectories: int, seed: int) -> Course:
    """Return the course of a run."""
    before, later = (benchmark.BENCHMARKS[each] for each in CHANGES[name])
    process = before.build()
    source = Simulator(process, later=later.build(), after=after, sampling="auto")
    course = Course([], [])
    for snapshot in anytime(
        source, before.spec, make(process.graph), explorer=Optimism(xi), trajectories=trajectories, seed=seed,
        horizon=before.horizon,
    ):  # fmt: skip
        course.trajectories.append(snapshot.trajectories)
        course.performance.append(snapshot.performance or 0.0)
        course.last = snapshot
        fresh = [alarm for alarm in snapshot.alarms if alarm.fresh and isinstance(alarm, Changed)]
        course.alarms += len(fresh)
        if fresh and snapshot.trajectories <= after:
            course.false += len(fresh)
        elif fresh and course.first is None:
            course.first = snapshot.trajectories - after
            course.samples = min(alarm.samples - alarm.after for alarm in fresh)
    return course


def middle(values: list[int | None]) -> str:
    """Return the median of numbers, of which None are the largest."""
    found = sorted(np.inf if value is None else value for value in values)
    median = found[len(found) // 2]
    return "never" if np.isinf(median) else f"{median:,.0f}"


def compare(given: argparse.Namespace) -> None:
    """Print the table, and draw the curves."""
    seeds = range(given.seeds)
    print(f"medians of {given.seeds} seeds, {given.trajectories:,} trajectories, false_alarms={given.false_alarms:g}\n")
    print(
        "| change | after | xi | learner | false alarms | first alarm | its samples | alarms | near the optimum | promise | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in given.only or CHANGES:
        optimum = benchmark.BENCHMARKS[CHANGES[name][1]].optimum
        for after in given.after:
            for xi in given.xi:
                curves = {}
                for label, make in learners(given.false_alarms, name).items():
                    begun = time.perf_counter()
                    runs = [follow(name, make, after, xi, given.trajectories, seed) for seed in seeds]
                    last = runs[0].last
                    assert last is not None
                    value = last.bracket.value
                    kept = f"{value:.5g} ({'any-time, if' if last.guarantee.holds else 'none'})"
                    print(
                        f"| {name} | {after:,} | {xi:g} | {label} | {sum(run.false for run in runs)} | "
                        f"{middle([run.first for run in runs])} | {middle([run.samples for run in runs])} | "
                        f"{middle([run.alarms for run in runs])} | {middle([run.recovered(after, optimum) for run in runs])} | "
                        f"{kept} | {(time.perf_counter() - begun) / len(runs):.1f} |",
                        flush=True,
                    )
                    curves[label] = runs
                if given.out is not None:
                    draw(given.out / f"alarms-{name}-{after}-xi-{xi:g}.png", name, after, optimum, curves)


def draw(file: Path, name: str, after: int, optimum: float, curves: dict[str, list[Course]]) -> None:
    """Draw what the policies are worth, over trajectories since the change."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    ax: Any = figure.add_subplot()
    for label, runs in curves.items():
        dashes = "--" if label.startswith("LUI") else ":" if label == "confidence sequence" else "-"
        at = np.unique(np.concatenate([run.trajectories for run in runs]))
        steps = [np.array(run.performance)[np.searchsorted(run.trajectories, at, side="right") - 1] for run in runs]
        shown = at > after
        ax.step(at[shown] - after, np.median(steps, axis=0)[shown], dashes, where="post", label=label)
    ax.axhline(optimum, color="grey", linewidth=0.8)
    ax.set_xscale("log")
    if name == "chain":
        ax.set_yscale("log")
    ax.set_xlabel(f"trajectories since the change, after {after:,}")
    ax.set_ylabel("performance (median)")
    figure.legend(loc="outside right upper")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)


class Many(RestartingSequence):
    """Many runs in one: the bounds of one of them share its rates."""

    runs = 1

    @property
    def bounds(self) -> int:
        """The number of bounds of one run."""
        return super().bounds // self.runs


def count_false(runs: int, rates: tuple[float, ...] = (0.01, 0.05, 0.2)) -> None:
    """Print how many of so many runs ever raise an alarm though nothing changes."""
    chain = benchmark.chain()
    at = np.arange(chain.choices * runs + 1) * 2
    graph = Graph(
        [0, chain.choices * runs, chain.choices * runs + 1, chain.choices * runs + 2],
        np.concatenate([at, [at[-1] + 1, at[-1] + 2]]),
        np.concatenate([np.tile([1, 2], chain.choices * runs), [1, 2]]),
    )
    forward = np.tile(chain.probability[::2], runs)
    print(f"{runs:,} runs of {chain.choices} choices of two successors that never change, up to 1,000,000 samples each")
    for rate in rates:
        learner = Many(0.01, rate)
        learner.runs = runs
        bound, rng = learner.bind(graph), np.random.default_rng(round(1 / rate))
        total = updates = 0
        counts = np.zeros(graph.transitions, np.int64)
        while total < 1_000_000:
            batch = max(1, total // 10)
            hits = rng.binomial(batch, forward)
            counts[: at[-1]] = np.stack([hits, batch - hits], axis=1).ravel()
            bound.update(counts)
            total, updates = total + batch, updates + 1
        raised = int((bound.raised[: chain.choices * runs].reshape(runs, -1) > 0).any(axis=1).sum())
        print(f"false_alarms={rate:g}: {raised} of {runs:,} runs raised one, in {updates} updates", flush=True)


def find_ties(seeds: int) -> None:
    """Print how many samples, and how many trajectories, it takes to find out that choices are not alike."""
    graph = Graph([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], actions=["a", "b", "stay", "stay"])
    coins = Tying.of(graph, lambda state, action: "coin" if state == "0" else None, lambda *where: where[2])
    for one, other in ((0.5, 0.6), (0.5, 0.55), (0.95, 0.9), (0.9, 0.1)):
        needed = []
        for seed in range(seeds):
            rng, counts, samples = np.random.default_rng(seed), np.zeros(6, np.int64), 0
            while not misfits(coins, counts, 0.01).any():
                more = max(1, samples // 50)
                hits = rng.binomial(more, (one, other))
                counts[:4] += [hits[0], more - hits[0], hits[1], more - hits[1]]
                samples += more
            needed.append(samples)
        print(
            f"two coins, {one:g} and {other:g}: found after {np.median(needed):,.0f} tosses of each (9 of 10 after ",
            end="",
        )
        print(f"{np.quantile(needed, 0.9):,.0f})", flush=True)
    bench = benchmark.BENCHMARKS["grid"]
    grid = bench.build()
    assert bench.tie is not None
    x = grid.variables["x"][grid.choice_state]
    east = np.repeat((x >= 5) & (np.diff(grid.choice_ptr) == 4), np.diff(grid.choice_ptr))
    for told in (0.52, 0.45, 0.25):
        scaled = np.where(grid.probability > 0.5, told, (1 - told) / 3)
        wrong = grid.graph.with_probability(np.where(east, scaled, grid.probability))
        optimum = solve(wrong, bench.spec).value
        found, most = [], 0.0
        for seed in range(seeds):
            for snapshot in anytime(
                wrong, bench.spec, ConfidenceSequence(), tie=bench.tie(grid), trajectories=200_000, seed=seed,
                horizon=bench.horizon,
            ):  # fmt: skip
                if snapshot.alarms:
                    break
                most = max(most, snapshot.bracket.lower)
            found.append(snapshot.trajectories if snapshot.alarms else None)
        print(
            f"grid, tied, the eastern half with {told:g} for 0.55: found after {middle(found)} trajectories; the largest promise "
            f"before was {most:.3f}, the optimum is {optimum:.3f}",
            flush=True,
        )


def main() -> None:
    """Compare, count false alarms, or look for ties that are wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.alarms", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("compare", "false", "ties"), default="compare")
    parser.add_argument("--trajectories", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--after", type=lambda text: int(float(text)), nargs="+", default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--xi", type=float, nargs="+", default=[1.0, 0.9])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=CHANGES)
    parser.add_argument("--false-alarms", type=float, default=0.01)
    parser.add_argument("--runs", type=int, default=500, help="of `false`")
    parser.add_argument("--out", type=Path, help="a folder for pictures")
    given = parser.parse_args()
    if given.what == "false":
        count_false(given.runs)
    elif given.what == "ties":
        find_ties(given.seeds)
    else:
        compare(given)


if __name__ == "__main__":
    main()
