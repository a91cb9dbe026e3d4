"""Solving again from a solution: `python -m bench.again [--sizes 1e5,1e6] [--only NAMES]`.

Each model is solved; then, cold and from that solution, once more as it is, and with other numbers on one row in a hundred
(probabilities up to some ten percent off, intervals up to half as wide). Ratios are times over that of the cold solve, the best
of three, models built before the clock runs.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import numpy as np

import umdp
from bench.families import FAMILIES, build, cases
from umdp import MDP, IntervalMDP

SHARE = 0.01


def altered(model: MDP | IntervalMDP, share: float, rng: np.random.Generator) -> MDP | IntervalMDP:
    """Return the model with other numbers on a share of its rows."""
    width = np.diff(model.choice_ptr)
    rows = (rng.random(model.choices) < share) & (width > 1)
    touched = np.repeat(rows, width)
    count = int(np.count_nonzero(touched))
    if isinstance(model, MDP):
        probability = np.array(model.probability)
        probability[touched] *= np.exp(0.1 * rng.standard_normal(count))
        sums = np.repeat(np.add.reduceat(probability, model.choice_ptr[:-1]), width)
        return _with(model, np.where(touched, probability / sums, probability))
    lower, upper = np.array(model.lower), np.array(model.upper)
    middle, factor = (lower[touched] + upper[touched]) / 2, rng.uniform(0.5, 1.0, count)
    lower[touched] = middle - factor * (middle - lower[touched])
    upper[touched] = middle + factor * (upper[touched] - middle)
    return _with(model, lower, upper)


def _with(model: MDP | IntervalMDP, *numbers: np.ndarray) -> MDP | IntervalMDP:
    kind = MDP if isinstance(model, MDP) else IntervalMDP
    return kind(
        model.state_ptr, model.choice_ptr, model.successor, *numbers, initial=model.initial, labels=model.labels,
        rewards=model.rewards,
    )  # fmt: skip


def copies(model: MDP | IntervalMDP, count: int) -> list[MDP | IntervalMDP]:
    """Return models with the same arrays that share nothing that was worked out."""
    numbers = (model.probability,) if isinstance(model, MDP) else (model.lower, model.upper)
    return [_with(model, *numbers) for _ in range(count)]


def best(
    run: Callable[[MDP | IntervalMDP], umdp.Solution], models: list[MDP | IntervalMDP]
) -> tuple[float, umdp.Solution]:
    """Return the least time of several runs, and the last answer."""
    least = math.inf
    for model in models:
        begun = time.perf_counter()
        found = run(model)
        least = min(least, time.perf_counter() - begun)
    return least, found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1e5,1e6")
    parser.add_argument("--only", default="", help="only these families")
    given = parser.parse_args()
    sizes = tuple(int(float(size)) for size in given.sizes.split(","))
    print("| model | kind | property | transitions | cold | unchanged | 1 % of rows changed |")
    print("|---|---|---|---|---|---|---|")
    same, other = [], []
    for case in cases(sizes, tuple(given.only.split(",")) if given.only else ()):
        model = build(FAMILIES[case.family], case.size, case.kind)
        new = altered(model, SHARE, np.random.default_rng(0))
        base = umdp.solve(model, case.property)
        cold, found = best(lambda each, asked=case.property: umdp.solve(each, asked), copies(new, 3))  # type: ignore[misc]
        start = lambda each, asked=case.property, base=base: umdp.solve(each, asked, start=base)  # noqa: E731
        again, _ = best(start, copies(model, 3))
        warm, resumed = best(start, copies(new, 3))
        if max(found.bracket.lower, resumed.bracket.lower) > min(found.bracket.upper, resumed.bracket.upper):
            raise SystemExit(f"{case}: {resumed.bracket} from a solution, {found.bracket} without")
        same.append(again / cold)
        other.append(warm / cold)
        print(
            f"| {case.family} | {case.kind} | `{case.property}` | {model.transitions:,} | {cold:.3f} s | {same[-1]:.2f} | "
            f"{other[-1]:.2f} |",
            flush=True,
        )
    for name, ratios in (("unchanged", same), ("1 % of rows changed", other)):
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\n{name}: {mean:.3f} of a cold solve in the geometric mean, {max(ratios):.2f} at most", flush=True)


if __name__ == "__main__":
    main()
