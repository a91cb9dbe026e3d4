"""Building an MDP from a transition function: reachable states in a chosen order, probabilities exact to the last decimal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from umdp.errors import ModelError
from umdp.model import MDP, Rewards

__all__ = ["State", "decimal", "tabulate"]

State: TypeAlias = tuple[int, ...]
Rule: TypeAlias = Callable[[State], Mapping[str, Iterable[tuple[State, Fraction]]]]


def decimal(probability: float, name: str) -> Fraction:
    """Return the decimal a probability was written as, so that one minus 0.95 is 0.05 to the last digit.

    Examples
    --------
    >>> 1 - decimal(0.95, "forward")
    Fraction(1, 20)
    """
    if not 0 <= probability <= 1:
        raise ModelError(f"{name} must be a probability between 0 and 1, not {probability}")
    return Fraction(str(probability))


def tabulate(
    initial: State,
    rule: Rule,
    *,
    variables: Sequence[str],
    order: Callable[[State], Any] | None = None,
    labels: Mapping[str, Callable[[State], bool]],
    rewards: Mapping[str, Callable[[State, str], float]] | None = None,
) -> MDP:
    """Return the MDP of everything reachable from `initial`, states sorted and named by their variables' values.

    Parameters
    ----------
    initial : tuple of int
        The initial state: a value for each of the variables.
    rule : function of a state
        Lists for every action of a state the successors with their probabilities; equal successors are added up.
    variables : sequence of str
    order : function of a state, optional
        What states are sorted by; by default their values from left to right.
    labels : mapping of str to a function of a state
    rewards : mapping of str to a function of a state and an action, optional

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> toss = tabulate(
    ...     (0,), lambda s: {"toss": [((1,), half), ((0,), half)]}, variables=["heads"], labels={"done": lambda s: s == (1,)}
    ... )
    >>> toss
    MDP with 2 states, 2 choices, 4 transitions; initial state (0); labels "done"
    """
    rows = _explore(initial, rule)
    states = sorted(rows, key=order)
    index = {state: number for number, state in enumerate(states)}
    choices = [(state, action) for state in states for action in rows[state]]
    outcomes = [rows[state][action] for state, action in choices]
    return MDP(
        np.cumsum([0, *(len(rows[state]) for state in states)]),
        np.cumsum([0, *map(len, outcomes)]),
        np.array([index[target] for outcome in outcomes for target in outcome]),
        np.array([float(p) for outcome in outcomes for p in outcome.values()]),
        initial=index[initial],
        labels={name: np.array([holds(state) for state in states]) for name, holds in labels.items()},
        rewards={
            name: Rewards(choice=np.array([float(earned(*choice)) for choice in choices]))
            for name, earned in (rewards or {}).items()
        },
        actions=[action for _, action in choices],
        state_names=["(" + ",".join(map(str, state)) + ")" for state in states],
        variables={name: np.array([state[k] for state in states]) for k, name in enumerate(variables)},
    )


def _explore(initial: State, rule: Rule) -> dict[State, dict[str, dict[State, Fraction]]]:
    found: dict[State, dict[str, dict[State, Fraction]]] = {}
    waiting = [initial]
    while waiting:
        state = waiting.pop()
        if state in found:
            continue
        found[state] = {action: _added_up(outcomes) for action, outcomes in rule(state).items()}
        waiting += [target for outcomes in found[state].values() for target in outcomes]
    return found


def _added_up(outcomes: Iterable[tuple[State, Fraction]]) -> dict[State, Fraction]:
    total: dict[State, Fraction] = {}
    for state, probability in outcomes:
        if probability:
            total[state] = total.get(state, Fraction(0)) + probability
    return total
