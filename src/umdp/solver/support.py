"""The support of a model: transitions that no distribution can use, and those that nature may cut.

Where it matters which sets of states can be kept for ever, two models enclose the value of one whose transitions may be cut.
*Harsher*: a choice of which nature may cut a transition leads to a state of its own, which earns the worst there is for ever (the
best, where nature is on that side). *Milder*: nature must leave every listed transition some probability, a little more than its
lower bound. Neither has anything to cut, so that both are solved. The value lies between them, and the policy of the side that
the agent wants keeps its bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import IntervalMDP, Policy, Rewards
from umdp.model.part import part_of
from umdp.solver.judge.question import consistent
from umdp.solver.result import Solution, Status
from umdp.solver.task import cut_rows

if TYPE_CHECKING:
    from umdp.solver.objective import Request

__all__ = ["enclosed", "harsher", "milder", "with_transitions", "without_transitions"]

Array = NDArray[Any]
Mask = NDArray[np.bool_]
PART = 1e-4  # of what nature may give away, that it must


def without_transitions(model: IntervalMDP, used: Mask) -> IntervalMDP:
    """Return the model with the transitions `used` (T,) alone."""
    return part_of(model, used, np.add.reduceat(used.astype(np.int64), model.choice_ptr[:-1]))


def with_transitions(solution: Solution, model: IntervalMDP) -> Solution:
    """Return a solution of `without_transitions` as one of the model itself."""
    if solution.product is not None:  # everything is about the product, whose model is its own
        return solution

    def policy() -> Policy:
        return Policy(model, solution.policy.choice, solution.policy.weight)

    # What nature makes of a model has the transitions that it uses: the same for both.
    return replace(solution, model=model, _policy=policy, unknowns=None, values=None, ends=None)


def harsher(model: IntervalMDP, rewards: Rewards, forever: float, name: str) -> tuple[IntervalMDP, Rewards]:
    """Return a model whose last state earns `forever` in every step; choices that nature may cut lead there.

    Its rewards, known by `name`, come with it.
    """
    cut = cut_rows(model)
    sizes = np.diff(model.choice_ptr)
    lengths = np.append(np.where(cut, 1, sizes), 1)
    choice_ptr = np.concatenate([[0], np.cumsum(lengths)])
    kept = np.repeat(~cut, sizes)
    whole = np.repeat(np.append(~cut, False), lengths)
    successor = np.full(int(choice_ptr[-1]), model.states, dtype=np.int32)
    lower, upper = np.ones(successor.size), np.ones(successor.size)
    successor[whole], lower[whole], upper[whole] = model.successor[kept], model.lower[kept], model.upper[kept]
    paid = None
    if rewards.transition is not None:
        paid = np.zeros(successor.size)
        paid[whole] = rewards.transition[kept]
    state = np.append(np.zeros(model.states) if rewards.state is None else rewards.state, forever)
    choice = None if rewards.choice is None else np.append(np.where(cut, 0.0, rewards.choice), 0.0)
    earned = Rewards(state, choice, paid)
    return IntervalMDP(
        np.append(model.state_ptr, model.choices + 1), choice_ptr, successor, lower, upper, initial=model.initial,
        rewards={name: earned},
    ), earned  # fmt: skip


def milder(model: IntervalMDP, rewards: Rewards, name: str) -> IntervalMDP:
    """Return the model in which nature must leave every transition of a choice some probability."""
    sizes = np.diff(model.choice_ptr)
    room = np.add.reduceat(model.upper - model.lower, model.choice_ptr[:-1])
    slack = np.maximum(1.0 - np.add.reduceat(model.lower, model.choice_ptr[:-1]), 0.0)
    share = np.divide(slack, room, out=np.zeros_like(room), where=room > 0)
    lower = model.lower + PART * np.repeat(np.minimum(share, 1.0), sizes) * (model.upper - model.lower)
    least = np.nextafter(0.0, 1.0)  # what a bound next to 0 leaves is rounded to nothing
    lower = np.minimum(np.maximum(lower, least), model.upper)
    return IntervalMDP(
        model.state_ptr, model.choice_ptr, model.successor, lower, model.upper, initial=model.initial,
        rewards={name: rewards},
    )  # fmt: skip


def enclosed(
    request: Request,
    rewards: Rewards,
    forever: float,
    answer: Callable[[IntervalMDP, Rewards], Solution],
    worst: Solution | None = None,
) -> Solution:
    """Return what two models without cuts prove of one with them.

    Parameters
    ----------
    rewards : what is paid
    forever : what a step earns in the state that stands for what nature may do, for ever
    answer : solves a model without cuts, with rewards of its own
    worst : in place of the harsher model's, a solution whose bound on nature's side holds
    """
    model, spec = request.model, request.spec
    assert isinstance(model, IntervalMDP)
    name = "paid" if spec.kind != "R" else spec.resolve_reward(list(model.rewards))
    worst = worst or answer(*harsher(model, rewards, forever, name))
    mild = answer(milder(model, rewards, name), rewards)
    below, above = (mild, worst) if request.nature_max else (worst, mild)
    own = below if request.agent_max else above

    def policy() -> Policy:
        assert own.policy.choice is not None
        return Policy(model, own.policy.choice[: model.states])

    low, high = consistent(below.lower[: model.states], above.upper[: model.states])
    return request.solution(low, high, policy, lambda: mild.nature.probability, otherwise=Status.OPEN_ENDS)
