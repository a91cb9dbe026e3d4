"""The rules of the published code where they differ from the paper's definitions; nothing else depends on them.

`docs/reproduction.md` has the table of differences. Values that are reported stay exact: the published code cuts its value
iteration after ten thousand sweeps, so that on chain it reports 19997 for what is 1e120; but what it *does* in consequence,
the policies found by such an iteration, is followed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp import learn
from umdp.explore import doubling
from umdp.kernel import kernel
from umdp.learn import Learner
from umdp.learn.dirichlet import Dirichlet
from umdp.learning.loop import LearningRun
from umdp.model import IntervalMDP, Policy
from umdp.solver import Solution, UncertifiedSolution, evaluate, solve
from umdp.solver.objective import objective_of, rewards_of_choices
from umdp.spec import Direction

__all__ = ["PUBLISHED", "Published", "PublishedLUI", "PublishedMAP", "PublishedPAC", "PublishedUCRL2"]

Array = NDArray[Any]
Ints = NDArray[np.int64]
FLOOR = 1 - (1 - 1e-8)  # the smallest lower bound; from 1 it is as far as the largest upper bound, rounding included
SWEEPS, ENOUGH = 10_000, 1e-6


class PublishedLUI(learn.LUI):
    """Conflicts are decided by a division of whole numbers, and both strengths are capped by the lower bound.

    The frequency k/N is rounded down: it is 0, below every lower bound, where two or more successors were seen in a batch,
    and 1, above every upper bound, where only one was.
    """

    def update(self, counts: Ints) -> None:
        """Move the bounds of every choice that was sampled."""
        samples = self.per_transition(self.per_choice(counts))
        different = self.per_transition(self.per_choice((counts > 0).astype(np.int64)))
        moves = self.uncertain & (samples > 0)
        lower = np.where(moves, self._toward(self.lower, different > 1, counts, samples), self.lower)
        upper = np.where(moves, self._toward(self.upper, different == 1, counts, samples), self.upper)
        # As conflicts are not those of the bounds, a lower bound may pass its upper bound; then they change places.
        self.lower, self.upper = np.minimum(lower, upper), np.maximum(lower, upper)
        most = np.inf if self.strength_bound is None else self.strength_bound[0]
        self.strength_lower = np.minimum(self.strength_lower + samples, most)
        self.strength_upper = np.minimum(self.strength_upper + samples, most)

    def _toward(self, bound: Array, conflict: Array, counts: Ints, samples: Ints) -> Array:
        strength = np.where(conflict, self.strength_lower, self.strength_upper)
        moved: Array = (strength * bound + counts) / (strength + samples)
        return moved


class _PriorCounted(Dirichlet):
    """A posterior whose samples include those the prior stands for, and whose largest parameter is bounded."""

    def add(self, counts: Ints) -> None:
        """Add counts; where a parameter is above the bound, scale all of the choice, round up, and keep at least 2."""
        self.excess = self.excess + counts
        self.samples = self.samples + self.per_choice(counts)
        if self.strength_bound is not None:
            parameter = self.excess + 1
            largest = self.per_transition(np.maximum.reduceat(parameter, self.graph.choice_ptr[:-1]))
            scaled = np.maximum(np.ceil(parameter * self.strength_bound / largest), 2.0)
            self.excess = np.where(largest > self.strength_bound, scaled, parameter) - 1

    @property
    def weight(self) -> Array:
        """The sum of the parameters of each choice, shape (C,)."""
        total: Array = self.per_choice(self.excess) + self.sizes
        return total

    @property
    def actions(self) -> Array:
        """The number of actions in the state of each choice, shape (C,)."""
        offered: Array = np.diff(self.graph.state_ptr)[self.graph.choice_state]
        return offered


class _Clipped(_PriorCounted):
    """Bounds within [1e-8, 1 - 1e-8]."""

    def set_bounds(self) -> None:
        """Set the bounds to the estimate, more or less the half-width."""
        estimate, around = self.estimate, self.per_transition(self.half_width)
        lower, upper = np.maximum(estimate - around, FLOOR), np.minimum(estimate + around, 1 - FLOOR)
        self.lower, self.upper = np.where(self.uncertain, lower, 1.0), np.where(self.uncertain, upper, 1.0)


class PublishedPAC(_Clipped, learn.PAC):
    """The error rate is also divided by the number of actions, and N includes the prior's samples."""

    @property
    def half_width(self) -> Array:
        """Hoeffding's width, shape (C,)."""
        level = self.error_rate / max(int(self.uncertain.sum()), 1) / self.actions
        return np.asarray(np.sqrt(np.log(2 / level) / (2 * self.weight)))


class PublishedMAP(_PriorCounted, learn.MAP):
    """Bounded by its largest parameter."""


class PublishedUCRL2(_Clipped, learn.UCRL2):
    """Both N and the number of all steps include the prior's samples."""

    @property
    def half_width(self) -> Array:
        """The radius of UCRL2's balls, shape (C,)."""
        weight = self.weight
        spread = np.log(2 * self.actions * weight.sum() / self.error_rate)
        return np.asarray(np.sqrt(14 * self.graph.states * spread / weight))


PUBLISHED: Mapping[str, type[Learner]] = MappingProxyType(
    {each.name: each for each in (PublishedLUI, PublishedPAC, PublishedMAP, PublishedUCRL2)}
)
"""The learners by name, as `umdp.learn.LEARNERS` has them by definition."""


@dataclass(eq=False)
class Published(LearningRun):
    """A run by the rules of the published code.

    Trajectories are one step longer and end where the true optimal value is 0 or 1 (0 or infinite, where some value is above
    1). The exploration policy is that of the model before the last update. Counters restart when the truth has changed.
    Policies come from value iteration, states in order, cut after 10 000 sweeps; only for worst-case probabilities, which it
    finds to six digits, are they computed exactly.
    """

    def __post_init__(self) -> None:
        self._now: Array | None = None
        self._late: Array | None = None
        super().__post_init__()
        self._truth, self._before = self.source.truth, self.state.counts

    def trajectory_ends(self, decided: Array, horizon: int) -> tuple[Array, int]:
        """End trajectories by the values of the truth, and one step later."""
        assert self.source.truth is not None
        values = solve(self.source.truth, self.spec).lower.round(9)
        halt = (values == 0) | ((values == 1) if values.max() <= 1 else np.isinf(values))
        self._known = np.where(halt & (self.spec.kind == "P"), values, 0.0)
        return halt, horizon + 1

    def towards(self, optimistic: Array | None) -> Array | None:
        """Return the choices of the model before the last update."""
        self._now = optimistic
        return optimistic if self._late is None else self._late

    def quota(self) -> Array:
        """Count from the last change on."""
        return doubling(self.source.graph, self.state.counts - self._before)

    def updated(self) -> None:
        """Remember what the model before the update directed exploration to, and whether the truth has changed."""
        self._late = self._now
        if self.source.truth is not self._truth:
            self._truth, self._before = self.source.truth, self.state.counts

    def solve_robust(self, model: IntervalMDP) -> Solution:
        """Find the policy by value iteration, unless probabilities are asked for."""
        if self.spec.kind == "P":
            return super().solve_robust(model)
        policy, _ = self._iterate(model, self.spec.deciding().agent is Direction.MIN)
        return evaluate(model, self.spec.robust(), policy)

    def solve_optimistic(self, model: IntervalMDP) -> UncertifiedSolution:
        """Find the policy by value iteration."""
        return UncertifiedSolution(*self._iterate(model, self.spec.deciding().agent is Direction.MAX))

    def _iterate(self, model: IntervalMDP, nature_max: bool) -> tuple[Policy, float]:
        """Return the policy, and the value, that value iteration ends with."""
        graph = self.source.graph
        fixed, reward = self.halt, np.zeros(graph.choices)
        if self.spec.kind == "R":
            objective = objective_of(graph, self.spec)
            assert objective.rewards is not None
            fixed, reward = objective.goal, rewards_of_choices(graph, objective.rewards)
        values = self._known.copy()
        choice = _sweeps(
            graph.state_ptr, graph.choice_ptr, graph.successor, model.lower, model.upper, reward, fixed, values,
            self.spec.deciding().agent is Direction.MAX, nature_max,
        )  # fmt: skip
        return Policy(graph, choice), float(values[graph.initial])


@kernel
def _sweeps(
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    reward: Array,
    fixed: Array,
    values: Array,
    agent_max: bool,
    nature_max: bool,
) -> Array:
    """Sweep over the states in order until no value changes by more than a millionth; return the choices (S,).

    Values are compared strictly: of two choices that differ by rounding alone, the larger number wins.
    """
    chosen = state_ptr[:-1].copy()
    order = np.empty(int((choice_ptr[1:] - choice_ptr[:-1]).max()), np.int64)
    for _ in range(SWEEPS):
        change = 0.0
        for s in range(chosen.size):
            if fixed[s]:
                continue
            best, taken = 0.0, -1
            for c in range(state_ptr[s], state_ptr[s + 1]):
                value, rest = reward[c], 1.0
                for n, t in enumerate(range(choice_ptr[c], choice_ptr[c + 1])):
                    x = values[successor[t]]
                    rest -= lower[t]
                    value += lower[t] * x
                    k = n
                    while k > 0 and (values[successor[order[k - 1]]] - x) * (1 if nature_max else -1) < 0:
                        order[k] = order[k - 1]
                        k -= 1
                    order[k] = t
                for t in order[: choice_ptr[c + 1] - choice_ptr[c]]:
                    share = max(min(upper[t] - lower[t], rest), 0.0)
                    value += share * values[successor[t]]
                    rest -= share
                if taken < 0 or (value > best if agent_max else value < best):
                    best, taken = value, c
            if best != values[s]:
                change = max(change, abs(best - values[s]) / abs(best))
            values[s], chosen[s] = best, taken
        if change < ENOUGH:
            break
    return chosen
