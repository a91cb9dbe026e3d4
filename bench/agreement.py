"""As published against the published code: the same numbers within sampling error, or not.

``published.csv`` holds results of the published implementation (LUIaard, Java on PRISM): of each run the last row it keeps
up to 0, 10, 100 and 1000 trajectories. It keeps the first iteration at or after each power of 1.25, and the last one; `kept`
does the same here, so that both sides are thinned alike.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from umdp.paper import Experiment

POINTS = (10, 100, 1000)
METRICS = ("performance", "model_error")
SEEDS = 30
LEVEL = 0.01  # over all comparisons together
CUT = 10_000  # its value iteration stops after so many sweeps; values on chain grow by 1 to 2 with each


class Row(NamedTuple):
    trajectories: int
    performance: float
    model_error: float
    optimistic: float


class Comparison(NamedTuple):
    environment: str
    learner: str
    at: int
    metric: str
    ours: float
    theirs: float
    runs: int
    p: float | None  # None: the published value is cut, so that there is nothing to compare


def experiment() -> Experiment:
    """Return what is run here for the comparison."""
    return Experiment.load("basic").cut(seeds=SEEDS, trajectories=max(POINTS)).as_published()


def published() -> dict[tuple[str, str], list[dict[int, Row]]]:
    """Return the published runs by environment and learner: of each run, what is in force at 0 and at `POINTS`."""
    found: dict[tuple[str, str], dict[str, dict[int, Row]]] = {}
    with (Path(__file__).parent / "published.csv").open() as file:
        for row in csv.DictReader(file):
            values = (float(row[name]) for name in ("performance", "model_error", "optimistic"))
            runs = found.setdefault((row["environment"], row["learner"]), {})
            runs.setdefault(row["seed"], {})[int(row["at"])] = Row(int(row["trajectories"]), *values)
    return {key: list(runs.values()) for key, runs in found.items()}


def compare(ours: Mapping[tuple[str, str], Iterable[Mapping[str, Any]]]) -> list[Comparison]:
    """Return all comparisons, by environment, learner, point and metric.

    Medians are shown and ranks compared: on chain means are set by a few runs.
    """
    compared = []
    for (environment, learner), runs in published().items():
        mine = list(ours[environment, learner])
        for at in POINTS:
            for metric in METRICS:
                a = _rounded(float(found[metric][kept(found["trajectories"], at)]) for found in mine)
                b = _rounded(getattr(rows[at], metric) for rows in runs)
                if metric == "performance" and max(b) >= CUT:
                    p = None
                else:
                    p = significance(a, b)
                shown = (float(np.median(a)), float(np.median(b)))
                compared.append(Comparison(environment, learner, at, metric, *shown, len(b), p))
    return compared


def significance(first: list[float], second: list[float]) -> float:
    """Return the two-sided p-value of the rank-sum test, exact also where most values are equal.

    Under the hypothesis that all values come from one distribution, every choice of which of them are the second sample's is
    equally likely; the choices are counted by the sum of their ranks. (The usual normal approximation gives 1e-5 for one odd
    value among 105, which has a chance of 5 in 105 to be among the five.)
    """
    together = sorted([*first, *second])
    rank = {value: together.index(value) + together.index(value) + together.count(value) for value in set(together)}
    doubled = [rank[value] for value in together]  # twice the mean rank, so that it is a whole number
    size = len(second)
    ways = np.zeros((size + 1, sum(sorted(doubled)[-size:]) + 1))
    ways[0, 0] = 1
    for each in doubled:
        ways[1:, each:] += ways[:-1, : ways.shape[1] - each].copy()
    middle = size * sum(doubled) / len(doubled)
    distance = np.abs(np.arange(ways.shape[1]) - middle)
    seen = abs(sum(rank[value] for value in second) - middle)
    return float(ways[size, distance >= seen - 1e-9].sum() / ways[size].sum())


def kept(trajectories: Iterable[int], at: int) -> int:
    """Return the index of the last row that the published code would have kept up to `at` trajectories."""
    points = [int(each) for each in trajectories]
    next_one, last = 0.0, 0
    for index, seen in enumerate(points):
        if seen > at:
            break
        if seen >= next_one or index == len(points) - 1:
            last = index
            power = math.floor(math.log(max(seen, 1)) / math.log(1.25) + 1e-9)
            next_one = 1.0 if seen == 0 else 1.25 ** (power + 1)
    return last


def _rounded(values: Iterable[float]) -> list[float]:
    """Return values as the published code knows them: it stops at a change of a millionth, and prints eight decimals."""
    return [float(f"{value:.4g}") if value > 1e-6 else 0.0 for value in values]


def table(compared: list[Comparison]) -> str:
    """Return the medians side by side as Markdown, a line per environment and learner."""
    lines = [
        "| environment | learner | published runs | metric | " + " | ".join(f"after {at}" for at in POINTS) + " |",
        "|---|---|---:|---|" + "---:|" * len(POINTS),
    ]
    for environment, learner in dict.fromkeys((each.environment, each.learner) for each in compared):
        for metric in METRICS:
            some = [e for e in compared if (e.environment, e.learner, e.metric) == (environment, learner, metric)]
            cells = [
                f"{e.ours:.4g} / {e.theirs:.4g}" + (", cut" if e.p is None else f", p {e.p:.2g}" if e.p < 0.05 else "")
                for e in some
            ]
            lines.append(
                f"| {environment} | {learner} | {some[0].runs} | {metric.replace('_', ' ')} | {' | '.join(cells)} |"
            )
    return "\n".join(lines)
