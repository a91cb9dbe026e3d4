"""The optima that learned policies are measured by, against other ways to find them, and a row of the table."""

from __future__ import annotations

import numpy as np
import pytest
from bench.environments import TASKS, blackjack_optimum, inventory_optimum, learned

import umdp

pytest.importorskip("gymnasium")


def test_blackjack_by_playing_it_well() -> None:
    """The known good rule (hit below 17, below 12 to 16 only against a strong card) earns about the optimum, never more."""
    import gymnasium

    env, rng, total = gymnasium.make("Blackjack-v1"), np.random.default_rng(0), []
    for _ in range(20_000):
        (own, face, ace), _ = env.reset(seed=int(rng.integers(2**31)))
        while True:
            strong = face == 1 or face >= 7
            stick = (
                own >= (19 if ace and (face >= 9 or face == 1) else 18)
                if ace
                else own >= (17 if strong else 12 + (face < 4))
            )
            (own, face, ace), reward, over, _, _ = env.step(0 if stick else 1)
            if over:
                total.append(reward)
                break
    mean, error = float(np.mean(total)), float(np.std(total)) / np.sqrt(len(total))
    best = blackjack_optimum()
    assert -0.06 < best < -0.03
    assert best - 5 * error < mean < best + 4 * error


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


def test_a_row_of_the_table() -> None:
    task = next(task for task in TASKS if task.name == "inventory")
    row, last = learned(task, umdp.LUI(), 2.0, 0)
    assert last.trajectories == row["trajectories"] > 100
    assert row["lower"] <= row["mean"] <= row["upper"]
    assert row["optimum"] == pytest.approx(179.68, abs=0.01)
    assert row["upper"] > 100
    assert not row["promised"]
