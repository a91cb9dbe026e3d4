"""An interval Markov decision process: a graph with a lower and an upper bound per transition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from umdp.errors import InfeasibleChoice, ModelError
from umdp.model.build import IntervalBuilders
from umdp.model.graph import Graph
from umdp.model.mdp import MDP
from umdp.model.structure import held, owned, owner, row_sums

__all__ = ["IntervalMDP"]

ROUNDING = 1e-9  # how far the sums of bounds may miss 1


@dataclass(frozen=True, eq=False, repr=False)
class IntervalMDP(IntervalBuilders, Graph):
    """An uncertain MDP (Definition 2 of the paper) with intervals, immutable and validated.

    Nature picks, for every choice, a distribution with ``lower <= p <= upper``. A choice whose bounds admit none
    beyond rounding (1e-9) raises `InfeasibleChoice`. Transitions with upper bound 0 are dropped; equal successors
    of a choice are merged (unless their transition rewards differ, where nature's choice between them matters).

    A lower bound of 0 means positive, but not bounded away from 0.

    Parameters
    ----------
    state_ptr, choice_ptr, successor
        As for `Graph`.
    lower, upper : array_like of float, shape (T,)
    **annotations
        As for `Graph`: initial, labels, rewards, actions, state_names, variables, constants, formulas.

    Examples
    --------
    >>> model = IntervalMDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1],
    ...                     labels={"goal": [1]})
    >>> model
    IntervalMDP with 3 states, 3 choices, 4 transitions, 2 uncertain; initial state 0; labels "goal"
    >>> IntervalMDP([0, 1], [0, 1], [0], [0.2], [0.5])
    Traceback (most recent call last):
    ...
    umdp.errors.InfeasibleChoice: state 0, action 0: no distribution fits the bounds ...
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def __post_init__(self) -> None:
        self._check_structure()
        self._check_annotations()
        self._check_bounds(compacting=True)

    def _check_bounds(self, *, compacting: bool) -> None:
        lower = owned(np.asarray(self.lower, dtype=np.float64))
        upper = owned(np.asarray(self.upper, dtype=np.float64))
        if not compacting and lower.shape == upper.shape == (self.transitions,):
            from umdp.model.bounds import are_feasible

            if are_feasible(self.choice_ptr, lower, upper, ROUNDING):
                self.__dict__.update(lower=lower, upper=upper)
                return
        for name, bound in (("lower", lower), ("upper", upper)):
            if bound.shape != (self.transitions,):
                raise ModelError(f"{name} has shape {bound.shape}, but there are {self.transitions} transitions")
        right = lower >= 0
        right &= lower <= upper
        right &= upper <= 1 + ROUNDING
        if not right.all():
            bad = np.flatnonzero(~right)
            state, action, successor = self._names_of(int(bad[0]))
            raise ModelError(
                f"state {state}, action {action}, successor {successor}: [{lower[bad[0]]}, {upper[bad[0]]}] is not an "
                "interval of probabilities; bounds must satisfy 0 <= lower <= upper <= 1"
            )
        del right
        low, high = row_sums(self.choice_ptr, lower), row_sums(self.choice_ptr, upper)
        off = np.flatnonzero((low > 1 + ROUNDING) | (high < 1 - ROUNDING))
        if off.size:
            state, action, _ = self._names_of(int(self.choice_ptr[off[0]]))
            raise InfeasibleChoice(
                state=state, action=action, lower_sum=float(low[off[0]]), upper_sum=float(high[off[0]])
            )
        if compacting:
            change = self._compact(upper > 0, self._transition_rewards())
            if change is not None:
                lower, upper = change.sums(lower), change.sums(upper)
        elif not (upper > 0).all():
            raise ModelError("a transition of the graph has upper bound 0; build the model from its own graph instead")
        for name, bound in (("lower", lower), ("upper", upper)):
            self._set(name, held(bound if bound.max(initial=0.0) <= 1 else np.minimum(bound, 1.0)))

    def _names_of(self, transition: int) -> tuple[str, str, str]:
        choice = int(owner(self.choice_ptr)[transition])
        state = int(self.choice_state[choice])
        return (
            self.state_name(state),
            self.action_name(choice),
            self.state_name(int(self.successor[transition])),
        )

    def contains(self, mdp: MDP, *, tolerance: float = 0.0) -> bool:
        """Whether `mdp` is one of the MDPs this model stands for: probabilities within bounds, no other transitions.

        A transition whose lower bound is 0 may be missing.
        """
        if not np.array_equal(self.state_ptr, mdp.state_ptr):
            return False
        here, there = self._by_successor(self), self._by_successor(mdp)
        place = np.searchsorted(here[0], there[0])
        if (place == here[0].size).any() or not np.array_equal(here[0][place], there[0]):
            return False
        p = np.zeros(self.transitions)
        p[here[1][place]] = mdp.probability[there[1]]
        return bool(((p >= self.lower - tolerance) & (p <= self.upper + tolerance)).all())

    @staticmethod
    def _by_successor(model: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        key = owner(model.choice_ptr) * model.states + model.successor
        order = np.argsort(key, kind="stable")
        return key[order], order
