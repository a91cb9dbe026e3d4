"""A Markov decision process: a graph with probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model.build import Builders
from umdp.model.graph import Graph
from umdp.model.rewards import Rewards
from umdp.model.structure import Compaction, held, owned, owner, row_sums

if TYPE_CHECKING:
    from umdp.model.interval import IntervalMDP

__all__ = ["MDP"]

ROUNDING = 1e-9  # how far the probabilities of a choice may miss 1


@dataclass(frozen=True, eq=False, repr=False)
class MDP(Builders, Graph):
    """A Markov decision process, immutable and validated; a Markov chain if every state has one choice.

    Transitions of probability 0 are dropped and equal successors of a choice merged (their rewards averaged by
    probability). Probabilities of a choice must sum to 1 up to rounding (1e-9).

    Parameters
    ----------
    state_ptr, choice_ptr, successor
        As for `Graph`.
    probability : array_like of float, shape (T,)
    **annotations
        As for `Graph`: initial, labels, rewards, actions, state_names, variables, constants, formulas.

    Examples
    --------
    >>> mdp = MDP([0, 2, 3], [0, 2, 3, 4], [0, 1, 0, 1], [0.5, 0.5, 1, 1], labels={"goal": [1]})
    >>> mdp
    MDP with 2 states, 3 choices, 4 transitions; initial state 0; labels "goal"
    >>> mdp.with_intervals(0.2).lower
    array([0.4, 0.4, 1. , 1. ])
    """

    probability: NDArray[np.float64]

    def __post_init__(self) -> None:
        self._check_structure()
        self._check_annotations()
        self._check_probability(compacting=True)

    def _check_probability(self, *, compacting: bool) -> None:
        p = owned(np.asarray(self.probability, dtype=np.float64))
        if p.shape != (self.transitions,):
            raise ModelError(f"probability has shape {p.shape}, but there are {self.transitions} transitions")
        if not (p.min(initial=0.0) >= 0 and p.max(initial=0.0) <= 1 + ROUNDING):  # nor where one is not a number
            bad = np.flatnonzero(~((p >= 0) & (p <= 1 + ROUNDING)))
            state, action = self._names_of(int(bad[0]))
            raise ModelError(f"state {state}, action {action}: {p[bad[0]]} is not a probability")
        sums = row_sums(self.choice_ptr, p)
        off = np.flatnonzero(np.abs(sums - 1) > ROUNDING)
        if off.size:
            state, action = self._names_of(int(self.choice_ptr[off[0]]))
            raise ModelError(f"state {state}, action {action}: probabilities sum to {sums[off[0]]:.12g}, not to 1")
        self._set("probability", p)
        if compacting:
            change = self._compact(p > 0)
            if change is not None:
                p = change.sums(p)
        elif not (p > 0).all():
            raise ModelError("a transition of the graph has probability 0; build the MDP from its own graph instead")
        self._set("probability", held(p if p.max(initial=0.0) <= 1 else np.minimum(p, 1.0)))

    def _merged(self, reward: Rewards, change: Compaction) -> Rewards:
        if reward.transition is None:
            return reward
        weighted = change.sums(reward.transition * self.probability) / change.sums(self.probability)
        # A transition that was not merged keeps its reward to the last digit.
        single = np.bincount(change.group[change.group >= 0], minlength=change.first.size) == 1
        return reward.with_transition(np.where(single, reward.transition[change.first], weighted))

    def _names_of(self, transition: int) -> tuple[str, str]:
        choice = int(owner(self.choice_ptr)[transition])
        return self.state_name(int(self.choice_state[choice])), self.action_name(choice)

    def with_intervals(self, width: float, *, floor: float = 0.0) -> IntervalMDP:
        """Return the interval MDP whose bounds lie half of `width` around every probability.

        Bounds are clipped to [0, 1]; certain transitions stay certain. A lower bound is at least `floor`, or the
        probability itself where that is smaller: a positive floor keeps nature from cutting transitions.
        """
        if not 0 <= width <= 2:
            raise ModelError(f"width must lie between 0 and 2, not {width}")
        p = self.probability
        lower = np.maximum(p - width / 2, np.minimum(p, floor))
        upper = np.minimum(p + width / 2, 1.0)
        certain = p >= 1.0
        return self.graph.with_bounds(np.where(certain, 1.0, lower), np.where(certain, 1.0, upper))

    def as_intervals(self) -> IntervalMDP:
        """Return this MDP as the interval MDP whose bounds coincide."""
        return self.graph.with_bounds(self.probability, self.probability)
