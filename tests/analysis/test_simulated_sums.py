"""Playing policies for sums and averages: what is measured agrees with what is known of the model."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import umdp
from umdp import MDP, Policy, Rewards, SpecError, evaluate, simulate, solve
from umdp.source import Gymnasium


def shop() -> MDP:
    """SamplingRequest little or much, which costs 1 or 3; with stock, sell for 4."""
    return MDP([0, 2, 3], [0, 2, 4, 6], [0, 1, 0, 1, 0, 1], [0.5, 0.5, 0.1, 0.9, 0.7, 0.3], labels={"open": [1]},
               rewards={"profit": Rewards(state=[0.0, 0.5], choice=[-1, -3, 4])})  # fmt: skip


@pytest.mark.parametrize(
    "ask", ["Rmax=? [ Cdiscount=0.9 ]", "Rmax=? [ S ]", 'Smin=? [ "open" ]', "Rmax=? [ I=3 ]", "Rmax=? [ C<=4 ]"]
)
def test_what_is_measured_is_the_value(ask: str) -> None:
    model = shop()
    solution = solve(model, ask)
    for policy in (solution.policy, Policy.uniform(model)):
        exact = evaluate(model, ask, policy).value
        short = 600 if "S" in ask else None  # the start counts for about 5 / 600 of such an average
        rows = [simulate(policy, model, ask, episodes=200, seed=seed, horizon=short) for seed in range(12)]
        inside = Counter(row.lower - 0.02 <= exact <= row.upper + 0.02 for row in rows)
        assert inside[True] >= 9, (ask, exact, [str(row) for row in rows])
        means = np.array([row.mean for row in rows])
        assert abs(means.mean() - exact) < 4 * means.std() / len(rows) ** 0.5 + 0.02
    assert ("average" in str(rows[0])) == (" S ]" in ask or ask.startswith("S"))
    assert rows[0].cut == 0


def test_totals_end_where_nothing_is_earned_any_more() -> None:
    job = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.75, 0.25, 1], rewards={"cost": Rewards(state=[2.0, 0.0])})
    row = simulate(solve(job, "Rmin=? [ C ]").policy, job, "Rmin=? [ C ]", episodes=4000)
    assert row.lower < 8.0 < row.upper  # 2 a step, 4 steps
    assert row.cut == 0
    endless = MDP([0, 1], [0, 1], [0], [1], rewards={"cost": Rewards(state=[1.0])})
    assert simulate(Policy(endless, [0]), endless, "Rmin=? [ C ]", episodes=3).cut == 3


class Stock:
    """An environment of the shop, which tells nothing of its probabilities."""

    def __init__(self) -> None:
        self.rng, self.stock = np.random.default_rng(0), 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.stock = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        chance = 0.3 if self.stock else (0.5, 0.9)[action]
        paid = 4.0 if self.stock else (-1.0, -3.0)[action]
        self.stock = int(self.rng.random() < chance)
        return self.stock, paid, False, False, {}


@pytest.mark.parametrize("ask", ["Rmax=? [ S ]", "Rmax=? [ Cdiscount=0.9 ]"])
def test_an_environment_with_gains_and_losses_is_learned_and_played(ask: str) -> None:
    """The inventory: rewards of both signs, a promise from data alone, and a policy that keeps it.

    Of an average nothing is promised: something that was never seen may happen once, and hold for ever.
    """
    exact = solve(
        MDP([0, 2, 3], [0, 2, 4, 6], [0, 1, 0, 1, 0, 1], [0.5, 0.5, 0.1, 0.9, 0.7, 0.3],
            rewards={"profit": Rewards(choice=[-1, -3, 4])}), ask,
    ).value  # fmt: skip
    source = Gymnasium(Stock(), actions=[0, 1], explore_steps=3000)
    snapshots = list(umdp.anytime(source, ask, "confidence-sequence", trajectories=400, horizon=60, seed=1))
    last = snapshots[-1]
    assert last.guarantee.kind == ("none" if "S" in ask else "any-time")
    assert all(each.bracket.lower <= exact + 1e-6 for each in snapshots)
    assert last.bracket.lower > snapshots[0].bracket.lower
    played = simulate(
        last.policy, source, ask, episodes=20, horizon=400, promised=(last.bracket.lower, last.bracket.upper)
    )
    assert played.kept
    assert played.cut == 0


def test_episodes_do_not_certify_what_has_no_end() -> None:
    model = shop()
    policy = solve(model, "Rmax=? [ S ]").policy
    with pytest.raises(SpecError, match="not certified by episodes"):
        umdp.certify(policy, model, "Rmax=? [ S ]", error_rate=0.05, episodes=10)
