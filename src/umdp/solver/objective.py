"""Requests: what is asked of which model, who pulls which way, how hard to try and where to start.

A property is lowered to an `Objective`: who decides what, over which states, at what price. A formula says of itself how it is a
matter of reachability; whatever comes later reads the arrays of an `Objective`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP, IntervalMDP, Policy, Rewards
from umdp.model.reward_units import own_rewards
from umdp.solver.judge.question import Objective, Status, bounds_of, status_of
from umdp.solver.result import Bracket, Solution, Statistics, mdp_of
from umdp.solver.threads import UNLIMITED, Watch
from umdp.spec import Direction, Discounted, Instantaneous, Spec
from umdp.spec.spec import UNNAMED
from umdp.statements import DiagnosticCode, Statement, say

if TYPE_CHECKING:
    from umdp.model import Graph

__all__ = [
    "Objective", "Request", "SolveOptions", "SolveStatistics", "Start", "assumed", "bounds_of", "in_steps", "objective_of",
    "players",
    "rewards_of_choices",
]  # fmt: skip

Array = NDArray[Any]
Mask = NDArray[np.bool_]
TIE = 1e-9  # relative to the largest value: exploration need not tell more apart


def objective_of(model: Graph, spec: Spec) -> Objective:
    """Return the objective a property stands for on a model, or raise `SpecError` where it names what is not there.

    This is the one place where formulas become what the solver knows.
    """
    asked, steps, aim = spec.formula.reachability(), spec.steps(model), spec.aim
    goal, through = asked.goal.evaluate(model), asked.through.evaluate(model)
    none, every = np.zeros(model.states, dtype=np.bool_), np.ones(model.states, dtype=np.bool_)
    if spec.kind == "S":  # the share of time is what a step earns where earning means being there
        return Objective("P", None, none, every, rewards=Rewards(state=goal.astype(np.float64)), aim=aim)
    absorbing = none if asked.exact else goal | ~through
    if spec.kind == "P":
        final = (~goal if asked.safety else goal).astype(np.float64)
        wait = 0 if asked.wait is None else asked.wait.steps(model)[0]
        return Objective("P", steps, goal, through, asked.safety, final, absorbing, aim=aim, wait=wait)
    rewards = _rewards(model, spec, any_sign=aim in ("bounded", "discounted", "average"))
    if isinstance(spec.formula, Instantaneous):
        final = np.zeros(model.states) if rewards.state is None else rewards.state
        return Objective("R", steps, goal, through, final=final, absorbing=absorbing, aim=aim)
    rewards, reward_error = own_rewards(model, rewards) if aim in ("discounted", "average") else (rewards, 0.0)
    discount = spec.formula.factor(model) if isinstance(spec.formula, Discounted) else 1.0
    return Objective(
        "R", steps, goal, through, final=np.zeros(model.states), absorbing=absorbing, rewards=rewards, aim=aim,
        discount=discount, reward_error=reward_error,
    )  # fmt: skip


def in_steps(model: MDP | IntervalMDP, spec: Spec) -> tuple[MDP | IntervalMDP, Spec]:
    """Return a model and a property that ask for a reward of 1 a step where steps were asked for (`T`), otherwise what they are.

    Examples
    --------
    >>> chain = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], labels={"goal": [1]})
    >>> print(in_steps(chain, Spec.parse('T=? [ F "goal" ]'))[1])
    R{"steps"}=? [ F "goal" ]
    """
    if spec.kind != "T":
        return model, spec
    name = "steps"
    while name in model.rewards:
        known = model.rewards[name]
        if known.transition is None and (rewards_of_choices(model, known) == 1.0).all():
            return model, replace(spec, kind="R", reward=name)
        name += "'"
    counted = {**model.rewards, name: Rewards(choice=np.ones(model.choices))}
    return replace(model, rewards=counted), replace(spec, kind="R", reward=name)


def assumed(model: Graph, spec: Spec) -> list[Statement]:
    """Return what was taken for meant where a property does not say it: which reward of several."""
    names = list(model.rewards)
    if spec.kind != "R" or spec.reward is not None or len(names) < 2 or any(name in UNNAMED for name in names):
        return []
    return [say(DiagnosticCode.FIRST_REWARD, name=names[0], others=names[1:])]


def rewards_of_choices(model: Graph, rewards: Rewards) -> Array:
    """Return what a step by each choice (C,) earns, but for what transitions pay."""
    earned = np.zeros(model.choices)
    if rewards.state is not None:
        earned += rewards.state[model.choice_state]
    if rewards.choice is not None:
        with np.errstate(over="ignore"):
            earned += rewards.choice
    return earned


def players(model: MDP | IntervalMDP, spec: Spec, *, policy_given: bool = False) -> tuple[bool, bool]:
    """Return (agent maximises, nature maximises), or raise `SpecError` where the property leaves it open."""
    lower, upper = bounds_of(model)
    uncertain = lower is not upper and bool((lower < upper).any())
    choice = not model.is_chain and not policy_given
    spec = spec.deciding()
    if spec.agent is None:
        if uncertain or choice:
            who = "nature" if not choice else "the policy"
            first, second = (f"{spec.kind}{d}" for d in ("max", "min"))
            raise spec.error(
                f"the model leaves {'both the policy and nature' if choice and uncertain else who} a choice, "
                f"but the property does not say which way",
                f"write {first}min or {second}max" if choice and uncertain else f"write {first} or {second}",
            )
        return True, True
    agent = spec.agent is Direction.MAX
    if spec.nature is not None:
        return agent, spec.nature is Direction.MAX
    if uncertain and choice:
        raise spec.error(
            "the model has intervals, so the property must say what nature does",
            f"write {spec.kind}{spec.agent.value}{spec.agent.flipped.value} for the worst case or "
            f"{spec.kind}{spec.agent.value}{spec.agent.value} for the best case",
        )
    # Without uncertainty nature has nothing to say; on an interval chain the one direction is nature's.
    return agent, agent


def _rewards(model: Graph, spec: Spec, *, any_sign: bool) -> Rewards:
    """Return the reward structure a property means; negative rewards are refused where a sum may go on for ever."""
    name = spec.resolve_reward(list(model.rewards))
    rewards = model.rewards[name]
    for part in ("state", "choice", "transition"):
        array = getattr(rewards, part)
        if array is not None and not any_sign and (array < 0).any():
            where = int(np.flatnonzero(array < 0)[0])
            raise spec.error(
                f'reward "{name}" is {array[where]} on {part} {where}, and a sum without a last step need not have a value '
                "where gains and losses may go on for ever",
                "give rewards of at least 0 (turn the sign and the direction around), or ask for a number of steps (C<=100), a "
                "discounted sum (Cdiscount=0.95) or the long-run average (S)",
            )
    return rewards


@dataclass
class SolveStatistics:
    """What a solve has taken so far, in all its parts; `stopped` once a limit has ended it."""

    undecided: int = 0
    components: int = 0
    largest: int = 0
    iterations: int = 0
    stopped: bool = False

    def count(self, undecided: int, components: int, largest: int) -> None:
        """Note the size of a system; the largest one counts."""
        self.undecided = max(self.undecided, undecided)
        self.components, self.largest = max(self.components, components), max(self.largest, largest)


@dataclass(frozen=True, eq=False)
class SolveOptions:
    """How hard to try, and what was spent: shared by all parts of one solve.

    Attributes
    ----------
    precision, method, threads, progress : as in `umdp.solve`
    watch : says when time is up
    prove : whether a bracket is wanted; exploration needs a direction only
    cutoff : expected rewards of more than so many times the largest single one are not worth a proof
    begun : when it began, by `time.monotonic`
    statistics : what was spent; options that are derived from these count with them
    """

    precision: float
    method: str = "auto"
    threads: int = 1
    progress: Callable[[str, float], None] | None = None
    watch: Watch = UNLIMITED
    prove: bool = True
    cutoff: float = np.inf
    begun: float = field(default_factory=time.monotonic)
    statistics: SolveStatistics = field(default_factory=SolveStatistics)

    def is_late(self) -> bool:
        """Return whether time is up, and note it."""
        self.statistics.stopped = self.statistics.stopped or self.watch.is_up()
        return self.statistics.stopped

    def tell(self, what: str, width: float) -> None:
        """Report progress to the caller, if anyone listens; note when time is up."""
        if self.progress is not None:
            self.progress(what, width)
        self.is_late()

    def status(self, bracket: Bracket, otherwise: Status = Status.IMPRECISE, unit: float = 0.0) -> Status:
        """Return what the judge says stands behind a bracket; see `judge.question.status_of`."""
        stopped = self.statistics.stopped
        return status_of(bracket.lower, bracket.upper, self.precision, Status.STOPPED if stopped else otherwise, unit)

    def spent(self) -> Statistics:
        """Return what the solve took."""
        known = self.statistics
        took = time.monotonic() - self.begun
        return Statistics(known.undecided, known.components, known.largest, known.iterations, took)


class Start(NamedTuple):
    """Where a solve begins: choices (S,), and the values of a cached system's unknowns; either may be missing."""

    choice: Array | None = None
    unknowns: Array | None = None


@dataclass(frozen=True, eq=False)
class Request:
    """One question: the value of a property on a model, of the best policy or of a given one.

    Attributes
    ----------
    model, spec : what is asked
    agent_max, nature_max : which way the players pull
    options : how hard to try
    start : an earlier solution, a policy or their arrays to start from; the answer does not depend on it
    policy : the policy whose value is asked; None for the best
    lowered : what the property comes to, where that is not known from it
    """

    model: MDP | IntervalMDP
    spec: Spec
    agent_max: bool
    nature_max: bool
    options: SolveOptions
    start: Solution | Policy | Start | None = None
    policy: Policy | None = None
    lowered: Objective | None = None

    @property
    def players(self) -> tuple[bool, bool]:
        """Whether the agent maximises, and whether nature does."""
        return self.agent_max, self.nature_max

    @cached_property
    def objective(self) -> Objective:
        """What the property comes to on the model."""
        return objective_of(self.model, self.spec) if self.lowered is None else self.lowered

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The bounds (T,) on the model's probabilities."""
        return bounds_of(self.model)

    @property
    def first_choices(self) -> Array | None:
        """The choices (S,) to start from; None where there are none."""
        start = self.start.policy if isinstance(self.start, Solution) else self.start
        return None if start is None or start.choice is None or start.choice.ndim > 1 else start.choice

    @property
    def first_unknowns(self) -> Array | None:
        """The values to start from, of the unknowns of a cached system; None where there are none."""
        return None if self.start is None or isinstance(self.start, Policy) else self.start.unknowns

    def of(self, model: MDP | IntervalMDP, spec: Spec | None = None) -> Request:
        """Return the same request of another model, with nothing to start from."""
        return replace(
            self, model=model, spec=self.spec if spec is None else spec, start=None, policy=None, lowered=None
        )

    def of_policy(self, policy: Policy) -> Request:
        """Return the same request of the chain that a policy makes of the model: nature alone decides there."""
        chain: MDP | IntervalMDP = policy.induced(self.model)  # type: ignore[type-var]
        return replace(self.of(chain), agent_max=self.nature_max)

    def answer_to(self, worth: Array, paid: Array) -> tuple[Array, Array]:
        """Return nature's answer (T,) to what states are worth (S,) and transitions pay, and what choices (C,) then are."""
        from umdp.solver.kernels.best_response import respond

        model, prob = self.model, np.empty(self.model.transitions)
        q = respond(model.choice_ptr, model.successor, *self.bounds, worth, paid, self.nature_max, prob)
        return prob, q

    def ties(self, x: Array) -> NDArray[np.bool_]:
        """Return the choices (C,) by which one step is worth no less than by the best of their state, given values `x` (S,)."""
        model, asked = self.model, self.objective
        _, q = self.answer_to(asked.discount * x, asked.paid)
        if asked.rewards is not None and asked.rewards.choice is not None:
            q = q + asked.rewards.choice
        q = q if self.agent_max else -q
        best = np.repeat(np.maximum.reduceat(q, model.state_ptr[:-1]), np.diff(model.state_ptr))
        finite = np.abs(x[np.isfinite(x)])
        tied: NDArray[np.bool_] = (q == best) | (q >= best - TIE * finite.max(initial=0.0))
        return tied

    def solution(
        self, low: Array, high: Array, policy: Callable[[], Policy], prob: Callable[[], Array], *,
        otherwise: Status = Status.IMPRECISE, unit: float = 0.0, **more: Any,
    ) -> Solution:  # fmt: skip
        """Return the solution with bounds (S,); `policy` and `prob` return the policy and nature's answer (T,)."""
        model, options, start = self.model, self.options, self.model.initial
        bracket = Bracket(float(low[start]), float(high[start]))
        return Solution(
            model, self.spec, bracket, bracket, options.status(bracket, otherwise, unit), options.spent(), lambda: (low, high),
            policy, lambda: mdp_of(model, prob()), **more,
        )  # fmt: skip

    def solution_of(self, chain: Solution, policy: Policy, prob: Callable[[], Array]) -> Solution:
        """Return the solution that one of the chain of a policy is of the model; `prob` returns nature's answer (T,)."""
        model, size = self.model, self.model.states

        def nature() -> MDP:
            if policy.choice is None:
                raise ModelError(
                    "nature's answer to a randomised policy is part of the induced chain; solve that instead"
                )
            return mdp_of(model, prob())

        return Solution(
            model, self.spec, chain.bracket, chain.bracket, chain.status, chain.statistics,
            lambda: (chain.lower[:size], chain.upper[:size]), lambda: policy, nature,
        )  # fmt: skip
