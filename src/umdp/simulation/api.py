"""Simulate a policy: in an environment, or on a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from umdp.errors import ModelError
from umdp.limits import default_horizon
from umdp.model import MDP, IntervalMDP, Policy
from umdp.simulation.account import account_of
from umdp.simulation.measured import Simulation, clopper_pearson, student
from umdp.simulation.on_model import play_model
from umdp.source import Source
from umdp.spec import Spec

__all__ = ["simulate"]


def simulate(
    policy: Policy,
    process: Any,
    spec: Spec | str,
    *,
    episodes: int = 1000,
    seed: int = 0,
    horizon: int | None = None,
    promised: tuple[float, float] | None = None,
    watch: Callable[[str], None] | None = None,
) -> Simulation:
    """Return what a policy earns, or how often a property holds, when it is played.

    An environment is played as it is, with its own time limit. Where the policy knows nothing of a state, an action is taken at
    random; of probabilities, an episode that meets such a state counts as the worst.

    Parameters
    ----------
    policy : Policy
    process : MDP, environment or Source
        Where to play: a model, an environment or its id (``gym:FrozenLake-v1``), or a source that plays one.
    spec : Spec or str
        What is asked for.
    episodes, seed : int
        How many, and from which seed; equal seeds give equal results where the environment can be seeded.
    horizon : int, optional
        The most steps of an episode.
    promised : (float, float), optional
        The bracket that was promised, of the value of the property; the bound that matters is shown beside what was measured.
    watch : callable, optional
        Given the lines of the first episode.

    Examples
    --------
    >>> from umdp import solve
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
    >>> question = 'Pmax=? [ F "heads" ]'
    >>> played = simulate(solve(coin, question).policy, coin, question, episodes=10_000)
    >>> played.lower < 0.5 < played.upper, played.steps
    (True, 10000)
    """
    asked = Spec.parse(spec) if isinstance(spec, str) else spec
    if episodes < 1:
        raise ModelError(f"at least 1 episode is needed, not {episodes}")
    if seed < 0:
        raise ModelError(f"a seed is a number of at least 0, not {seed}")
    if horizon is not None and horizon < 1:
        raise ModelError(f"the horizon is a number of steps and must be at least 1, not {horizon}")
    if isinstance(process, IntervalMDP):
        raise ModelError("a model with intervals cannot be played; give one with probabilities, or an environment")
    if isinstance(process, Source) and not process.pace:  # it is no environment
        if process.truth is None:
            raise ModelError("what was recorded cannot be played again; give an environment or a model")
        process = process.truth
    account = account_of(process if isinstance(process, MDP) else policy.graph, asked)
    longest = horizon or account.steps or 10 * default_horizon(policy.graph.states)
    if isinstance(process, MDP):
        played = play_model(policy, process, account, episodes, seed, longest, watch)
    else:
        from umdp.simulation.in_environment import play_environment

        played = play_environment(policy, process, account, episodes, seed, longest, watch)
    values = played.values
    if account.paid is None:
        lower, upper = clopper_pearson(round(float(values.sum())), episodes)
    else:
        lower, upper = student(values)
    bound, at_least = (None, True) if promised is None else account.promise(promised, played.quantity)
    return Simulation(
        episodes, played.steps, played.quantity, float(values.mean()), lower, upper, bound, at_least, played.cut,
        played.unseen,
    )  # fmt: skip
