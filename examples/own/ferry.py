"""An environment and a learner, for the experiment in ferry.toml."""

import numpy as np
from scipy.stats import norm

from umdp import MDP, Guarantee, Learner


def ferry(current: float = 0.3) -> MDP:
    """Cross a river of five lanes; the current carries the ferry off, for good if it rests in the middle."""

    def actions(lane):
        if lane in ("sea", 5):
            return {"stay": {lane: 1.0}}
        danger = current * (1 - abs(lane - 2.5) / 5)
        return {
            "row": {lane + 1: 0.6, lane: 0.4 - danger / 2, "sea": danger / 2},
            "rest": {lane: 1 - danger, "sea": danger},
            "sail": {min(lane + 2, 5): 0.7 - danger, max(lane - 1, 0): 0.3, "sea": danger},
        }

    return MDP.from_function(0, actions, labels={"home": [5]})


class Wilson(Learner):
    """Wilson's score intervals: short, and right on average rather than always."""

    name = "wilson"
    guarantee = Guarantee("none")

    def __init__(self, error_rate: float = 0.05) -> None:
        self.z = norm.isf(error_rate / 2)

    def begin(self) -> None:
        self.counts = np.zeros(self.graph.transitions, np.int64)
        self.update(self.counts)

    def update(self, counts: np.ndarray) -> None:
        self.counts = self.counts + counts
        n = self.per_transition(self.per_choice(self.counts)) + self.z**2
        middle = (self.counts + self.z**2 / 2) / n
        around = self.z * np.sqrt(middle * (1 - middle) / n)
        lower, upper = np.maximum(middle - around, 1e-6), np.minimum(middle + around, 1.0)
        self.lower, self.upper = np.where(self.uncertain, lower, 1.0), np.where(self.uncertain, upper, 1.0)
