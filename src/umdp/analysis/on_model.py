"""Playing a policy on a model, all episodes at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.analysis.episode_account import Account, Played
from umdp.model import MDP, Policy
from umdp.solver.graph.decided import Edges, Shape

__all__ = ["play_model"]

Array = NDArray[Any]


def play_model(
    policy: Policy,
    mdp: MDP,
    account: Account,
    episodes: int,
    seed: int,
    longest: int,
    watch: Callable[[str], None] | None = None,
) -> Played:
    """Return what episodes on a model count for, with a policy for its graph; `watch` is given the lines of the first."""
    rng = np.random.default_rng(seed)
    edges = np.cumsum(mdp.probability)
    choose = _chooser(policy, rng)
    own = np.repeat(mdp.choice_state, np.diff(mdp.choice_ptr))
    stuck = np.ones(mdp.states, dtype=np.bool_)
    stuck[own[mdp.successor != own]] = False
    quiet = stuck.copy()  # of these, where nothing is earned any more
    if account.paid is not None:
        quiet[own[account.paid != 0]] = False
    hopeless = _hopeless(policy, mdp, account)
    state = np.full(episodes, mdp.initial, dtype=np.int64)
    earned, active, steps = np.zeros(episodes), np.arange(episodes), 0
    undecided, when = np.zeros(episodes, dtype=np.bool_), np.zeros(episodes, dtype=np.int64)
    for step in range(longest + 1):
        here, when[active] = state[active], step
        over = account.over(here, step)
        if account.endless:
            over = over | quiet[here]
        elif account.objective.steps is None:
            # Nothing more happens in a state that is never left: the sum, which goes until the goal, is infinite there.
            if account.paid is not None:
                undecided[active[stuck[here] & ~over]] = True
            over = over | stuck[here]
            if step >= account.objective.wait:
                over = over | hopeless[here]
        active = active[~over]
        if not active.size:
            break
        if step == longest:
            undecided[active] = account.objective.aim not in ("discounted", "average")
            break
        here = state[active]
        choice = choose(here, step)
        taken = _drawn(edges, mdp.choice_ptr, choice, rng)
        state[active] = mdp.successor[taken]
        steps += active.size
        if account.paid is not None:
            earned[active] += account.objective.discount**step * account.paid[taken]
        if watch is not None and active[0] == 0:
            names = mdp.state_name(int(here[0])), mdp.action_name(int(choice[0])), mdp.state_name(int(state[0]))
            watch(f"{step + 1}: {names[0]}, {names[1]} -> {names[2]}")
    nothing = np.zeros(episodes, dtype=np.bool_)  # a policy for the model's graph knows all of its states
    quantity = account.quantity(raw=account.units is not None)
    values = account.worth(earned, state, when, longest)  # in a state where nothing is earned any more time goes on
    return Played(quantity, account.returned(values) if quantity == "return" else values, steps, undecided, nothing)


def _hopeless(policy: Policy, mdp: MDP, account: Account) -> NDArray[np.bool_]:
    """Return from which states (S,) the policy never comes to where a probability without a step bound is decided."""
    if account.objective.steps is not None or account.paid is not None or account.endless or policy.steps is not None:
        return np.zeros(mdp.states, dtype=np.bool_)
    anywhere = np.ones(mdp.states, dtype=np.bool_)
    return ~Edges(Shape.of(mdp)).attract(account.objective.goal, anywhere, policy.weights() > 0, every=False)[0]


def _chooser(policy: Policy, rng: np.random.Generator) -> Callable[[Array, int], Array]:
    """Return a function that gives the choices taken in some states at a step."""
    choice, ptr = policy.choice, policy.graph.state_ptr
    if choice is not None:
        return (lambda state, step: choice[state]) if choice.ndim == 1 else (lambda state, step: choice[step, state])
    assert policy.weight is not None
    edges = np.cumsum(policy.weight)
    return lambda state, step: _drawn(edges, ptr, state, rng)


def _drawn(edges: Array, ptr: Array, rows: Array, rng: np.random.Generator) -> Array:
    """Return an entry of each of some rows, drawn by weights whose sums over all rows are the edges."""
    first, last = ptr[rows], ptr[rows + 1]
    below = np.where(first > 0, edges[first - 1], 0.0)
    drawn = below + rng.random(rows.size) * (edges[last - 1] - below)
    taken: Array = np.clip(np.searchsorted(edges, drawn, side="right"), first, last - 1)
    return taken
