"""Tasks: a property of a model, lowered to one objective over given bounds; and the values that come of it.

Where the lower bounds of the other successors sum to 1, nothing is left for a transition, whatever its upper bound says: it is
not there. The intervals rule over the graph here. Where they leave a transition any room, the graph rules over the intervals:
it has positive probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Rewards
from umdp.model.structure import mask_of
from umdp.solver.graph.decided import Decided, Edges, Shape, decide, decide_total, sealed
from umdp.solver.objective import bounds_of, objective_of, rewards_of_choices
from umdp.solver.result import DraftBounds
from umdp.spec import Spec
from umdp.verify.rationals import double

if TYPE_CHECKING:
    from umdp.solver.kernels.structs import ChoiceRows
    from umdp.solver.reduction.problem import Problem

__all__ = [
    "Analysis", "Task", "Values", "analyse", "cut_rows", "gate", "has_free_zero", "possible_transitions",
    "task_of",
]  # fmt: skip

Array = NDArray[Any]
Mask = NDArray[np.bool_]
NOTHING: Array = np.empty(0)
CLOSE = 1e-6  # a sum this close to 1 is looked at without rounding


def gate(model: MDP | IntervalMDP, rewards: Rewards) -> tuple[Shape, Array, Array, Array, float]:
    """Return the graph, bounds and rewards of choices (C,) of a model whose rewards are all on choices, and their relative error.

    On a row without freedom, or with the same reward on all transitions, the expectation is known. Elsewhere a
    transition with a reward leads through a state of its own, so that the reward takes part in nature's choice. So does one
    whose share of an expectation might underflow. Adding up is rounded once a sum, an expectation as a row is.
    """
    from umdp.solver.kernels.rounding import EPS, compose, row_error

    lower, upper = bounds_of(model)
    shape, reward = Shape.of(model), rewards_of_choices(model, rewards)
    state, choice, paid = rewards.state, rewards.choice, rewards.transition
    error = EPS if state is not None and choice is not None and state.any() and choice.any() else 0.0
    if paid is None or not paid.any():
        return shape, lower, upper, reward, error
    starts, sizes = shape.choice_ptr[:-1], np.diff(shape.choice_ptr)
    row = np.repeat(np.arange(shape.choices), sizes)
    with np.errstate(under="ignore"):
        earned = lower * paid
    faint = (lower > 0) & (paid > 0) & (earned < 1e-290)
    fixed = np.logical_and.reduceat((lower >= upper) & ~faint, starts)
    same = np.minimum.reduceat(paid, starts) == np.maximum.reduceat(paid, starts)
    sums = np.add.reduceat(lower, starts)
    expected = np.add.reduceat(earned, starts) / np.where(sums > 0, sums, 1)
    with np.errstate(over="ignore"):
        reward += np.where(same, paid[starts], np.where(fixed, expected, 0))
    error = float(compose(error, row_error(int(sizes[fixed & ~same].max(initial=1)))))
    gated = np.flatnonzero(~(fixed | same)[row] & (paid > 0))
    if gated.size == 0:
        return shape, lower, upper, reward, error
    pairs, which = np.unique(
        np.stack([shape.successor[gated].astype(np.float64), paid[gated]], axis=1), axis=0, return_inverse=True
    )
    successor = shape.successor.copy()
    successor[gated] = shape.states + which.ravel()
    gates, sure = np.arange(1, len(pairs) + 1), np.ones(len(pairs))
    shape = Shape(
        np.concatenate([shape.state_ptr, shape.choices + gates]),
        np.concatenate([shape.choice_ptr, shape.transitions + gates]),
        np.concatenate([successor, pairs[:, 0].astype(np.int32)]),
    )
    return shape, np.append(lower, sure), np.append(upper, sure), np.append(reward, pairs[:, 1]), error


@dataclass(frozen=True, eq=False)
class Analysis:
    """An objective on a graph with bounds: what is to be reached, and what is paid.

    Rewards are those of the model up to a factor in ``[1 - reward_error, 1 + reward_error]``. Bounds and rewards are read-only,
    as those of a `Shape` are.

    Attributes
    ----------
    edges, lower, upper, reward : the graph, its bounds (T,), and rewards (C,) or an empty array
    goal, left : (S,) the states to reach, and those that may be passed on the way
    memo : what the graph alone decides, for whoever asks next
    complement : whether one minus the probability is asked for
    kept : whether this is kept with the model's graph, for the next bounds
    total : whether all that is ever earned is asked for, so that an end component without reward is no end
    """

    edges: Edges
    lower: Array
    upper: Array
    reward: Array
    goal: Mask
    left: Mask
    memo: dict[Any, Any] | None
    complement: bool = False
    reward_error: float = 0.0
    kept: bool = False
    total: bool = False

    def __post_init__(self) -> None:
        plain = self.lower is self.upper
        for name in ("lower", "upper", "reward"):
            object.__setattr__(self, name, sealed(getattr(self, name)))
        if plain:
            object.__setattr__(self, "upper", self.lower)

    @property
    def graph(self) -> Shape:
        """The graph behind the bounds."""
        return self.edges.graph

    def decide(self, kind: str, reach_max: bool) -> Decided:
        """Return what the graph decides when the goal is to be reached more (or less) often; worked out once a graph."""
        memo = {} if self.memo is None else self.memo
        if reach_max not in memo:
            memo[reach_max] = (
                decide_total(self.edges, self.reward, reach_max)
                if self.total
                else decide(self.edges, kind, reach_max, self.goal, self.left)
            )
        decided: Decided = memo[reach_max]
        return decided


def analyse(model: MDP | IntervalMDP, spec: Spec, *, fresh: bool = False) -> Analysis:
    """Return what is asked of a model; models that share a graph, as learned ones do, share what it decides unless `fresh`."""
    graph = None if fresh else model.__dict__.get("graph")
    shared = graph.__dict__.setdefault("_analyses", {}) if graph is not None else {}
    key = (spec.kind, spec.formula, spec.reward)
    lower, upper = bounds_of(model)
    if key in shared:
        known: Analysis = shared[key]
        return replace(known, lower=lower, upper=upper)
    objective = objective_of(model, spec)
    goal, left = objective.goal, objective.through
    shape, reward, error, keep = Shape.of(model), NOTHING, 0.0, objective.aim != "total"
    if objective.rewards is not None:
        shape, lower, upper, reward, error = gate(model, objective.rewards)
        paid = objective.rewards.transition
        keep = keep and (paid is None or not paid.any())  # which need a state of their own depends on the bounds
        extra = shape.states - model.states
        goal = np.append(goal, np.zeros(extra, dtype=np.bool_))
        left = np.append(left, np.ones(extra, dtype=np.bool_))
    found = Analysis(
        Edges(shape), lower, upper, reward, goal, left, {}, objective.safety, error, keep, objective.aim == "total"
    )
    if keep:
        shared[key] = found
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(Analysis):
    """One objective over given bounds: who pulls which way, and what is decided.

    With `complement`, directions are those of one minus the probability; `support_may_shrink` says whether nature may set some
    probability to 0. Bounds are right up to a factor in ``[1 - perturbation, 1 + perturbation]``, a few roundings at most.
    """

    kind: str
    agent_max: bool
    nature_max: bool
    decided: Decided
    support_may_shrink: bool = False
    perturbation: float = 0.0

    @property
    def rows(self) -> ChoiceRows:
        """The model's choices, as kernels take them."""
        from umdp.solver.kernels.structs import ChoiceRows

        graph = self.graph
        return ChoiceRows.of(graph.state_ptr, graph.choice_ptr, graph.successor, self.lower, self.upper, self.reward)

    @property
    def exits(self) -> tuple[float, float]:
        """The values of what the graph decides: at the goal, and where it is never reached."""
        if self.kind == "R":
            return 0.0, 0.0
        return (0.0, 1.0) if self.complement else (1.0, 0.0)

    @property
    def reach_max(self) -> bool:
        """Whether the agent wants the goal reached more often (or later, where reaching it is what is paid for)."""
        return self.agent_max != self.complement

    @property
    def joint(self) -> bool:
        """Whether agent and nature pull the same way."""
        return self.agent_max == self.nature_max


def task_of(about: Analysis, kind: str, agent_max: bool, nature_max: bool) -> Task:
    """Return what is asked of a model that was analysed, with nature taken not to cut edges."""
    if about.graph.is_chain:  # nature decides alone
        agent_max = nature_max
    decided = about.decide(kind, agent_max != about.complement)
    task = Task(**vars(about), kind=kind, agent_max=agent_max, nature_max=nature_max, decided=decided)
    return replace(task, goal=decided.one) if about.total else task


@dataclass(frozen=True, eq=False)
class Values:
    """Certified values of all states, and nature's answer on the rows solved.

    What is asked of every state is worked out when it is asked for: often it is the initial state alone.

    Attributes
    ----------
    task : the objective
    found, error : (n+2,) values of unknowns and exits with their relative error bounds
    index : (S,) the unknown or exit of every state
    take : returns a choice for every state
    problem, row, prob : what was solved, the rows taken and nature's probabilities on them; None if the graph decides all
    exact : the unknowns of which the value is known without any error
    least : what unknowns solved in rationals are at least, even if that exceeds the largest number there is
    slow : which components sweeps did not settle in time
    parts : bounds in two parts, where elimination found them (`methods.workspace`)
    """

    task: Task
    found: Array
    error: Array
    index: Array
    take: Callable[[], Array]
    problem: Problem | None = None
    row: Array | None = None
    prob: Array | None = None
    exact: dict[int, Fraction] = field(default_factory=dict)
    least: dict[int, float] = field(default_factory=dict)
    slow: Array | None = None
    parts: tuple[Array, Array] | None = None

    def candidate(self, size: int) -> DraftBounds:
        """Return the bounds of the first `size` states, for the judge to look at."""
        from umdp.solver.kernels.rounding import spread_parts

        none = np.zeros(size)
        low, high = (self.lower[:size], none), (self.upper[:size], none)
        if self.parts is not None and not np.isnan(self.parts[0][1]).all():
            index, maybe, error = self.index[:size], self.task.decided.maybe[:size], 2.0 * self.task.reward_error
            low, high = (np.array(low[0]), np.zeros(size)), (np.array(high[0]), np.zeros(size))
            spread_parts(index, maybe, self.parts[0], 1.0 - error, *low)
            spread_parts(index, maybe, self.parts[1], 1.0 + error, *high)
        return DraftBounds(low, high, self.task.complement)

    @cached_property
    def x(self) -> Array:
        """A value inside the bounds, shape (S,)."""
        x: Array = self.found[self.index]
        np.copyto(x, np.inf, where=self.task.decided.infinite)
        return x

    @cached_property
    def choice(self) -> Array:
        """The choice taken, shape (S,)."""
        return self.take()

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        return self.between(slice(None))

    @property
    def lower(self) -> Array:
        """Bounds from below, shape (S,)."""
        return self._ends[0]

    @property
    def upper(self) -> Array:
        """Bounds from above, shape (S,)."""
        return self._ends[1]

    @cached_property
    def _unpaid(self) -> Mask:
        """The undecided states from which no reward can be collected: what seems to fade away there is exactly 0.

        For a maximal reward that is a matter of all choices, for a minimal one of those taken: their bound is finite, so that
        they do arrive.
        """
        task = self.task
        usable = task.decided.usable if task.agent_max else mask_of(self.choice, task.graph.choices)
        paying = task.decided.maybe & np.logical_or.reduceat(usable & (task.reward > 0), task.graph.state_ptr[:-1])
        reached, _ = task.edges.attract(paying, task.decided.maybe, usable, every=False)
        unpaid: Mask = task.decided.maybe & ~reached
        return unpaid

    def between(self, states: Array | slice) -> tuple[Array, Array]:
        """Return the bounds of some states."""
        from umdp.solver.kernels.rounding import spread_ends

        task, index, maybe = self.task, self.index[states], self.task.decided.maybe[states]
        low, high, most = np.empty(index.size), np.empty(index.size), 1.0 if task.kind == "P" else np.inf
        infinite = task.decided.infinite[states]
        faint = spread_ends(index, self.found, self.error, maybe, infinite, task.reward_error, most, low, high)
        if faint and task.kind == "R":
            np.copyto(high, 0.0, where=self._unpaid[states] & (high < 1e-300))
        if self.least:
            error = Fraction(self.task.reward_error)
            for i, unknown in enumerate(index.tolist()):
                if unknown in self.exact and maybe[i]:
                    value = self.exact[unknown]
                    low[i], high[i] = double(value * (1 - error), up=False), double(value * (1 + error), up=True)
                elif unknown in self.least and maybe[i]:
                    low[i] = max(low[i], self.least[unknown] * (1.0 - 2.0 * self.task.reward_error))
        return low, high


def cut_rows(rows: ChoiceRows | IntervalMDP) -> Mask:
    """Return the choices (C,) of which nature may set the probability of a transition to 0.

    A bound of 0 does not count where the other successors cannot take the whole probability.
    """
    ptr = rows.choice_ptr
    high = np.repeat(np.add.reduceat(rows.upper, ptr[:-1]), np.diff(ptr))
    return np.asarray(np.logical_or.reduceat((rows.lower <= 0.0) & (high - rows.upper >= 1 - 1e-9), ptr[:-1]))


def has_free_zero(task: Task) -> bool:
    """Whether nature can set the probability of some listed transition of an undecided state to 0."""
    if task.lower is task.upper or task.lower.min() > 0.0:
        return False
    return bool((cut_rows(task.rows) & task.decided.maybe[task.graph.choice_state] & task.decided.usable).any())


def possible_transitions(model: IntervalMDP) -> Mask | None:
    """Return which transitions (T,) some distribution can use; None where all are."""
    empty = model.lower <= 0.0
    if not empty.any():
        return None
    first = model.choice_ptr[:-1]
    sums = np.add.reduceat(model.lower, first)
    rows = np.flatnonzero(np.logical_or.reduceat(empty, first) & (sums >= 1.0 - CLOSE))
    if rows.size == 0:
        return None
    from umdp.solver.judge.ambiguity import excess

    used = np.ones(model.transitions, dtype=np.bool_)
    for c in rows.tolist():
        begin, end = int(model.choice_ptr[c]), int(model.choice_ptr[c + 1])
        if excess(begin, end, model.lower) >= 0.0:
            used[begin:end] = model.lower[begin:end] > 0.0
    return None if used.all() else used
