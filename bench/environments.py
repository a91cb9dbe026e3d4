"""Environments as people have them: what is learned of each in a minute, what the policy earns, and what could be earned.

    python -m bench.environments [--seconds 60] [--only NAME] [--learner lui|confidence-sequence]

The optimum is solved from the environment's own table where it has one. Blackjack's is worked out here from the rules, and the
inventory has its own. What the policy is worth is worked out in the same way where it can be, and otherwise what was measured.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import umdp
from umdp.learning.validation import units_of
from umdp.run import Config
from umdp.source import Environment
from umdp.spec import Spec

COST = 'R{"cost"}min=? [ F "terminated" ]'
INVENTORY = str(Path(__file__).parents[1] / "examples" / "inventory.py")


@dataclass(frozen=True)
class Task:
    """An environment, what is asked of it, and how many episodes to measure.

    Where no table tells it, `optimum` does, and `worth` what a policy is worth, if that can be worked out.
    """

    name: str
    model: str
    question: str
    episodes: int = 5000
    optimum: Callable[[], float] | None = None
    worth: Callable[[umdp.Policy], float] | None = None


def blackjack_optimum() -> float:
    """The best expected return of Gymnasium's Blackjack (no naturals), from the rules."""
    return _blackjack(None)


def blackjack_worth(policy: umdp.Policy) -> float:
    """The expected return of a policy, from the rules; where it knows nothing, it tosses a coin."""

    def hits(own: int, face: int, ace: bool) -> float:
        try:
            return float(policy.act((own, face, int(ace))))
        except umdp.ModelError:
            return 0.5

    return _blackjack(hits)


def _blackjack(hits: Callable[[int, int, bool], float] | None) -> float:
    """The expected return of hitting with some probability, or of the best: cards are drawn with replacement."""
    card = {value: (4 if value == 10 else 1) / 13 for value in range(1, 11)}

    def total(hard: int, ace: bool) -> int:
        return hard + 10 if ace and hard + 10 <= 21 else hard

    @cache
    def dealer(hard: int, ace: bool) -> dict[int, float]:
        """The distribution of the dealer's score, 0 if bust, from a hand."""
        if total(hard, ace) >= 17:
            return {total(hard, ace) if total(hard, ace) <= 21 else 0: 1.0}
        found: dict[int, float] = {}
        for value, share in card.items():
            for score, p in dealer(hard + value, ace or value == 1).items():
                found[score] = found.get(score, 0.0) + share * p
        return found

    @cache
    def shown(value: int) -> dict[int, float]:
        found: dict[int, float] = {}
        for hidden, share in card.items():
            for score, p in dealer(value + hidden, 1 in (value, hidden)).items():
                found[score] = found.get(score, 0.0) + share * p
        return found

    @cache
    def player(hard: int, ace: bool, face: int) -> float:
        if hard > 21:
            return -1.0
        own = total(hard, ace)
        stick = sum(p * ((own > score) - (own < score)) for score, p in shown(face).items())
        hit = sum(share * player(hard + value, ace or value == 1, face) for value, share in card.items())
        if hits is None:
            return max(stick, hit)
        share = hits(own, face, own != hard)
        return share * hit + (1 - share) * stick

    return sum(
        one * two * face_share * player(first + second, 1 in (first, second), face)
        for first, one in card.items()
        for second, two in card.items()
        for face, face_share in card.items()
    )


def inventory_optimum() -> float:
    """The inventory's own."""
    spec = importlib.util.spec_from_file_location("inventory", INVENTORY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return float(module.Inventory().optimum())


TASKS = (
    Task("Taxi", "gym:Taxi-v4", COST),
    Task("Taxi, rainy", "gym:Taxi-v4,is_rainy=true", COST),
    Task("CliffWalking", "gym:CliffWalking-v1", COST, 1000),
    Task("CliffWalking, slippery", "gym:CliffWalking-v1,is_slippery=true", COST),
    Task("FrozenLake 4x4", "gym:FrozenLake-v1", 'Pmax=? [ F<=100 "goal" ]'),
    Task("FrozenLake 8x8", "gym:FrozenLake8x8-v1", 'Pmax=? [ F<=200 "goal" ]'),
    Task(
        "Blackjack",
        "gym:Blackjack-v1",
        'R{"reward"}max=? [ F "terminated" ]',
        50_000,
        blackjack_optimum,
        blackjack_worth,
    ),
    Task("inventory", f"{INVENTORY}:Inventory", 'R{"reward"}max=? [ C<=21 ]', 5000, inventory_optimum),
)
LEARNERS: dict[str, Callable[[], umdp.Learner]] = {
    "LUI": umdp.LUI,
    "95 %": lambda: umdp.ConfidenceSequence(0.05),
}


def optimum(task: Task, source: Environment) -> float:
    """What can be earned, in the environment's own units."""
    if task.optimum is not None:
        return task.optimum()
    assert source.truth is not None
    spec = Spec.parse(task.question)
    value = umdp.solve(source.truth, spec).value
    return in_return(source, spec, value)


def learned(
    task: Task, learner: umdp.Learner, seconds: float | None, seed: int, *, trajectories: int | None = None
) -> tuple[dict[str, Any], umdp.Snapshot]:
    """Learn for some time, or from so many trajectories; return a row of the table and the last snapshot."""
    config = Config(model=task.model, question=task.question)
    source, spec, _ = config.build_source()
    assert isinstance(source, Environment)
    begun = time.perf_counter()
    *_, last = umdp.anytime(source, spec, learner, seconds=seconds, trajectories=trajectories, seed=seed)
    spent = time.perf_counter() - begun
    played = umdp.simulate(
        last.policy, source, spec, episodes=task.episodes, seed=1, promised=(last.bracket.lower, last.bracket.upper)
    )
    best, worth = optimum(task, source), played.mean
    if task.worth is not None:
        worth = task.worth(last.policy)
    elif last.performance is not None:
        worth = in_return(source, spec, last.performance)
    source.close()
    return {
        "trajectories": last.trajectories, "iterations": last.iteration, "seconds": spent, "promise": played.promised,
        "mean": played.mean, "lower": played.lower, "upper": played.upper, "worth": worth, "optimum": best,
        "near": worth >= best - 0.05 * abs(best), "promised": last.guarantee.holds,
    }, last  # fmt: skip


def in_return(source: Environment, spec: Spec, value: float) -> float:
    """A value in the environment's own units."""
    units = units_of(source.graph, spec)
    return value if units is None else units.sign * value + units.once


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="", help="the beginning of an environment's name")
    parser.add_argument("--learner", default="", help=", ".join(LEARNERS).replace("%", "%%"))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    umdp.solve(umdp.benchmark.chain(), 'Rmin=? [ F "goal" ]')  # compile before the clock runs
    columns = (
        "environment",
        "property",
        "learner",
        "trajectories",
        "iterations",
        "seconds",
        "promise",
        "measured (95 %)",
        "worth",
        "optimum",
    )
    print(f"| {' | '.join(columns)} | within 5 % |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for task in TASKS:
        if not task.name.lower().startswith(given.only.lower()):
            continue
        for name, make in LEARNERS.items():
            if given.learner and name != given.learner:
                continue
            row, _ = learned(task, make(), given.seconds, given.seed)
            promise = f"{row['promise']:.4g}" if row["promised"] else f"({row['promise']:.4g}, none)"
            measured = f"{row['mean']:.4g} ({row['lower']:.4g} .. {row['upper']:.4g})"
            print(
                f"| {task.name} | `{task.question}` | {name} | {row['trajectories']:,} | {row['iterations']} | "
                f"{row['seconds']:.1f} | {promise} | {measured} | {row['worth']:.4g} | {row['optimum']:.4g} | "
                f"{'yes' if row['near'] else 'no'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
