"""An inventory of at most 29 items: how many to order, when demand is not known beforehand?

Written as one would without this package. Play it with

    umdp learn examples/inventory.py:Inventory 'R{"reward"}max=? [ C<=21 ]' --seconds 60 --out shop.run
    umdp simulate shop.run --trust

An episode has 20 days; the first of the 21 steps is the reset.
"""

import gymnasium
import numpy as np


class Inventory(gymnasium.Env):
    """Every morning some items are ordered, during the day some are sold; what is left costs money overnight."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 - as Gymnasium has it

    def __init__(
        self, capacity=29, days=20, price=4.0, cost=2.0, holding=0.1, delivery=3.0, demand=5.0, render_mode=None
    ):
        self.capacity, self.days, self.demand, self.render_mode = capacity, days, demand, render_mode
        self.price, self.cost, self.holding, self.delivery = price, cost, holding, delivery
        self.observation_space = gymnasium.spaces.Discrete(capacity + 1)
        self.action_space = gymnasium.spaces.Discrete(6)  # order 0, 4, 8, 12, 16 or 20 items

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.stock, self.day = 10, 0
        return self.stock, {}

    def step(self, action):
        morning = min(self.stock + 4 * int(action), self.capacity)
        sold = min(int(self.np_random.poisson(self.demand)), morning)
        ordered = morning - self.stock
        paid = self.price * sold - self.cost * ordered - self.delivery * (ordered > 0) - self.holding * (morning - sold)
        self.stock, self.day = morning - sold, self.day + 1
        return self.stock, round(paid, 6), False, self.day >= self.days, {}

    def render(self):
        return f"day {self.day:2d} |{'#' * self.stock:<{self.capacity}}| {self.stock}"

    def optimum(self, days=None):
        """The largest expected return, by backward induction over the days: to compare with."""
        from scipy.stats import poisson

        value = np.zeros(self.capacity + 1)
        for _ in range(days or self.days):
            best = np.full(self.capacity + 1, -np.inf)
            for stock in range(self.capacity + 1):
                for action in range(6):
                    morning = min(stock + 4 * action, self.capacity)
                    sold = np.arange(morning + 1)
                    share = poisson.pmf(sold, self.demand)
                    share[-1] = poisson.sf(morning - 1, self.demand)
                    ordered = morning - stock
                    paid = self.price * sold - self.cost * ordered - self.delivery * (ordered > 0)
                    worth = share @ (paid - self.holding * (morning - sold) + value[morning - sold])
                    best[stock] = max(best[stock], worth)
            value = best
        return float(value[10])
