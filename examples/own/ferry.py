import numpy as np

from umdp import MDP, Guarantee, Learner


def ferry(current: float = 0.3) -> MDP:
    """Cross a river of five lanes, rowing or sailing; the current, strongest in the middle, may carry the ferry off."""

    def actions(lane):
        if lane in ("sea", 5):
            return {"stay": {lane: 1.0}}
        danger = current * (1 - abs(lane - 2.5) / 5)
        return {
            "row": {lane + 1: 0.6, lane: 0.4 - danger / 2, "sea": danger / 2},
            "sail": {min(lane + 2, 5): 0.7 - danger, max(lane - 1, 0): 0.3, "sea": danger},
        }

    return MDP.from_function(0, actions, labels={"home": [5]})


class Wilson(Learner):
    """Wilson's score intervals: short, and right on average rather than always."""

    name, claim = "wilson", Guarantee("none")
    kept = ("counts",)

    def __init__(self, z: float = 2.0) -> None:
        self.z = z  # how many standard deviations wide

    def begin(self) -> None:
        self.counts = np.zeros(self.graph.transitions, np.int64)
        self.update(self.counts)

    def update(self, counts: np.ndarray) -> None:
        self.counts = self.counts + counts
        n = self.per_transition(self.per_choice(self.counts)) + self.z**2
        middle = (self.counts + self.z**2 / 2) / n
        around = self.z * np.sqrt(middle * (1 - middle) / n)
        self.lower = np.where(self.uncertain, np.maximum(middle - around, 1e-6), 1.0)
        self.upper = np.where(self.uncertain, np.minimum(middle + around, 1.0), 1.0)
