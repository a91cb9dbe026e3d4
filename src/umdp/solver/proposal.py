"""What exploration is offered: an optimal policy without a proof, and the choices that are as good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.objective import bounds_of, objective_of, players
from umdp.spec import Spec

__all__ = ["Proposal", "as_good"]

TIE = 1e-9  # relative to the largest value: exploration need not tell more apart


class Proposal(NamedTuple):
    """An optimal policy, its value, and a function that returns the choices (C,) that are as good as those taken, if known.

    `unknowns` are as in `Solution`; `values` returns those of all states, shape (S,), without a proof, if known.
    """

    policy: Policy
    value: float
    tied: Callable[[], NDArray[np.bool_] | None] = lambda: None
    unknowns: NDArray[np.float64] | None = None
    values: Callable[[], NDArray[np.float64] | None] = lambda: None


def as_good(model: MDP | IntervalMDP, spec: Spec, x: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the choices by which one step is worth no less than by the best of their state, given values `x` (S,).

    Examples
    --------
    >>> coin = MDP([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 1, 1, 2], [1.0, 1.0, 1.0, 1.0], labels={"goal": [1]})
    >>> as_good(coin, Spec.parse('Pmax=? [ F "goal" ]'), np.array([1.0, 1.0, 0.0])).tolist()
    [True, True, True, True]
    """
    from umdp.solver.kernels.nature import respond

    agent_max, nature_max = players(model, spec)
    lower, upper = bounds_of(model)
    asked = objective_of(model, spec)
    ahead = asked.discount * x
    q = respond(
        model.choice_ptr, model.successor, lower, upper, ahead, asked.paid, nature_max, np.empty(model.transitions)
    )
    if asked.rewards is not None and asked.rewards.choice is not None:
        q = q + asked.rewards.choice
    q = q if agent_max else -q
    best = np.repeat(np.maximum.reduceat(q, model.state_ptr[:-1]), np.diff(model.state_ptr))
    finite = np.abs(x[np.isfinite(x)])
    tied: NDArray[np.bool_] = (q == best) | (q >= best - TIE * finite.max(initial=0.0))
    return tied
