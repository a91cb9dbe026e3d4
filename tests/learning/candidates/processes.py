"""Small processes, and a source that plays one in plain Python and remembers every trajectory."""

from __future__ import annotations

import numpy as np

from umdp import MDP
from umdp.model import Rewards
from umdp.source import Batch, Source


def random_mdp(seed: int, states: int = 6) -> MDP:
    """Two choices with three successors each; the last two states, "goal" and "bad", are for ever."""
    rng = np.random.default_rng(seed)
    state_ptr, choice_ptr, successor, probability = [0], [0], [], []
    for s in range(states):
        for _ in range(1 if s >= states - 2 else 2):
            to = [s] if s >= states - 2 else sorted(rng.choice(states, 3, replace=False).tolist())
            successor += to
            probability += [1.0] if s >= states - 2 else rng.dirichlet(np.ones(3)).tolist()
            choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    choices = len(choice_ptr) - 1
    labels = {"goal": [states - 2], "bad": [states - 1], "end": [states - 1, states - 2]}
    paid = Rewards(choice=np.where(np.arange(choices) < choices - 2, np.arange(choices) % 3, 0.0))
    return MDP(state_ptr, choice_ptr, successor, probability, labels=labels, rewards={"r": paid})


class Remembering(Source):
    """Plays an MDP step by step, and keeps (states, choices) of every trajectory; some are cut off for no reason."""

    stepwise = True

    def __init__(self, mdp: MDP, cut: float = 0.0) -> None:
        self.mdp, self.graph, self.cut = mdp, mdp.graph, cut
        self.paths: list[tuple[list[int], list[int]]] = []

    def begin(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def collect(self, order):
        graph, counts = self.graph, np.zeros(self.graph.transitions, np.int64)
        weights = np.atleast_2d(order.weight)
        for _ in range(order.trajectories):
            s, states, taken = graph.initial, [graph.initial], []
            while len(taken) < order.horizon and not order.halt[s] and self.rng.random() >= self.cut:
                own = np.arange(graph.state_ptr[s], graph.state_ptr[s + 1])
                row = weights[min(len(taken), len(weights) - 1)][own]
                c = int(self.rng.choice(own, p=row / row.sum()))
                t = np.arange(graph.choice_ptr[c], graph.choice_ptr[c + 1])
                i = int(self.rng.choice(t, p=self.mdp.probability[t] / self.mdp.probability[t].sum()))
                counts[i] += 1
                s = int(graph.successor[i])
                taken.append(c)
                states.append(s)
            self.paths.append((states, taken))
        return Batch(counts, order.trajectories, int(counts.sum()))
