"""Brackets of MDPs against exact values: where nature has no choice the solvers take ways of their own."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.exact import Choice, Model
from properties.bridge import OBJECTIVES, exact_policy, exact_value, outside, to_model, to_spec, too_wide
from properties.generate import Instance, random_model
from umdp import MDP, solve

ALIKE = [objective for objective in OBJECTIVES if objective.agent == objective.nature]


def settled(drawn: Instance, rng: np.random.Generator) -> Instance:
    """Return the instance with nature's choice made: in each row a corner of its bounds, or a point inside."""

    def row(choice: Choice) -> Choice:
        low = np.array([float(lower) for _, lower, _ in choice.row])
        room = np.array([float(upper) for _, _, upper in choice.row]) - low
        rest = 1 - low.sum()
        if rest > 0 and rng.random() < 0.5:
            for i in rng.permutation(low.size):
                give = min(room[i], rest)
                low[i], rest = low[i] + give, rest - give
        elif rest > 0:
            low = low + room * (rest / room.sum() if room.sum() > 0 else 0.0)
        probabilities = [(t, float(p), float(p)) for (t, _, _), p in zip(choice.row, low, strict=True)]
        return Choice(probabilities, choice.reward, choice.transition_rewards)

    table = [[row(choice) for choice in choices] for choices in drawn.model.choices]
    return Instance(Model(table, drawn.model.state_rewards), drawn.goal, drawn.left, drawn.safe)


def mistakes(number: int, method: str, *, states: tuple[int, int] = (3, 8)) -> list[str]:
    """Return what is wrong with the answers to one random MDP."""
    rng = np.random.default_rng([4, number])
    drawn = settled(random_model(rng, states=states), rng)
    intervals = to_model(drawn)
    mdp: MDP = intervals.graph.with_probability(intervals.lower)
    found = []
    for objective in ALIKE:
        solution = solve(mdp, to_spec(objective), method=method)
        exact = exact_value(drawn, objective)
        for s, (low, high) in enumerate(zip(solution.lower, solution.upper, strict=True)):
            if outside(low, exact[s], high) or too_wide(low, high):
                found.append(f"model {number}, {objective}, state {s}: {float(exact[s])} and [{low!r}, {high!r}]")
        earned, own = exact_policy(drawn, objective, solution.policy)[mdp.initial], solution.policy_bracket
        if outside(own.lower, earned, own.upper):
            found.append(f"model {number}, {objective}: the policy earns {float(earned)}, outside {own}")
    return found


@pytest.mark.parametrize("method", ["auto", "policy", "value"])
def test_a_sample_of_plain_models(method: str) -> None:
    for number in range(120):
        assert not mistakes(number, method)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "policy", "value"])
@pytest.mark.parametrize("first", range(1000, 3000, 250))
def test_many_plain_models(method: str, first: int) -> None:
    found = [each for number in range(first, first + 250) for each in mistakes(number, method)]
    assert not found, "\n".join(found[:10])
