"""The optima that learned policies are measured by, against other ways to find them, and a row of the table."""

from __future__ import annotations

import numpy as np
import pytest
from bench.environments import TASKS, blackjack_optimum, blackjack_worth, inventory_optimum, learned

import umdp

pytest.importorskip("gymnasium")


class Rule:
    """The rule that people know: more cards against a strong dealer, and with an ace that may count 1."""

    def act(self, observation: tuple[int, int, int]) -> int:
        own, face, ace = observation
        strong = face == 1 or face >= 7
        if ace:
            return int(own < (19 if face >= 9 or face == 1 else 18))
        return int(own < (17 if strong else 12 + (face < 4)))


@pytest.mark.slow
def test_blackjack_by_playing_it() -> None:
    import gymnasium

    env, rng, rule, total = gymnasium.make("Blackjack-v1"), np.random.default_rng(0), Rule(), []
    for _ in range(20_000):
        hand, _ = env.reset(seed=int(rng.integers(2**31)))
        over = False
        while not over:
            hand, reward, over, _, _ = env.step(rule.act(hand))
        total.append(reward)
    mean, error = float(np.mean(total)), float(np.std(total)) / np.sqrt(len(total))
    worth, best = blackjack_worth(rule), blackjack_optimum()  # type: ignore[arg-type]
    assert abs(mean - worth) < 4 * error
    assert best - 0.005 < worth <= best + 1e-12  # it is nearly the best there is


def test_the_inventory_by_solving_what_its_days_are() -> None:
    """The same optimum from a model of days and stock, by this package's solver."""
    from scipy.stats import poisson

    def day(stock: int) -> dict[str, dict[int, float]]:
        moves = {}
        for action in range(6):
            morning = min(stock + 4 * action, 29)
            share = poisson.pmf(np.arange(morning + 1), 5.0)
            share[-1] = poisson.sf(morning - 1, 5.0)
            moves[str(action)] = {morning - sold: float(p) for sold, p in enumerate(share)}
        return moves

    def paid(stock: int, action: str) -> float:
        morning = min(stock + 4 * int(action), 29)
        ordered = morning - stock
        sold = sum(p * (morning - left) for left, p in day(stock)[action].items())
        return 100 + 4 * sold - 2 * ordered - 3 * (ordered > 0) - 0.1 * (morning - sold)

    shop = umdp.MDP.from_function(10, day, rewards={"gain": paid})
    assert umdp.solve(shop, "Rmax=? [ C<=20 ]").value - 2000 == pytest.approx(inventory_optimum(), abs=1e-3)


@pytest.mark.slow
def test_a_row_of_the_table() -> None:
    task = next(task for task in TASKS if task.name == "inventory")
    row, last = learned(task, umdp.LUI(), None, 0, trajectories=500)
    assert last.trajectories == row["trajectories"] == 500
    assert row["lower"] <= row["mean"] <= row["upper"]
    assert row["optimum"] == pytest.approx(179.68, abs=0.01)
    assert row["upper"] > 100
    assert not row["promised"]
