"""The oracle against closed forms, against the bare definition, and against itself by other routes."""

from fractions import Fraction
from itertools import product
from math import inf, prod

import pytest
from numpy.random import default_rng

from oracles.brute import brute_value
from oracles.exact import Choice, Direction, Formula, Model, Objective, exact, policy_value, value, vertices
from properties.generate import Instance, random_model

SIDES: list[tuple[Direction, Direction]] = [("max", "max"), ("max", "min"), ("min", "max"), ("min", "min")]
REACH: tuple[Formula, ...] = ("U", "F", "G")
SHORT: tuple[tuple[Formula, int], ...] = (("U", 3), ("G", 2))
UNBOUNDED = [Objective("P", a, n, f) for f in REACH for a, n in SIDES] + [Objective("R", a, n, "F") for a, n in SIDES]
BOUNDED = [Objective("P", a, n, f, k) for f, k in SHORT for a, n in SIDES]
BOUNDED += [Objective("P", a, n, "X") for a, n in SIDES] + [Objective("R", a, n, "C", 3) for a, n in SIDES]

HALF = Fraction(1, 2)


def loop(state: int, reward: float = 0) -> Choice:
    return Choice([(state, 1, 1)], reward)


def right_side(instance: Instance, objective: Objective) -> list[bool]:
    return instance.safe if objective.formula == "G" else instance.goal


def test_slow_chain_is_exact() -> None:
    leave = Fraction(1, 10**6)
    row = [(0, 1 - leave, 1 - leave), (1, leave * 2 / 5, leave * 4 / 5), (2, leave / 5, leave * 3 / 5)]
    model = Model([[Choice(row)], [loop(1)], [loop(2)]])
    goal = [False, True, False]
    assert value(model, Objective("P", "max", "min", "F"), goal)[0] == Fraction(2, 5)
    assert value(model, Objective("P", "max", "max", "F"), goal)[0] == Fraction(4, 5)
    assert value(model, Objective("P", "min", "min", "G"), goal) == [0, 1, 0]


def test_slow_chain_in_floats_is_off_by_rounding_only() -> None:
    row = [(0, 1 - 1e-6, 1 - 1e-6), (1, 4e-7, 8e-7), (2, 2e-7, 6e-7)]
    model = Model([[Choice(row)], [loop(1)], [loop(2)]])
    assert float(value(model, Objective("P", "max", "min", "F"), [False, True, False])[0]) == pytest.approx(0.4, 1e-9)


def test_chain_prior_costs_1e120() -> None:
    length, low = 30, 1e-4
    steps = [[Choice([(s + 1, low, 1 - low), (0, low, 1 - low)], 1)] for s in range(length)]
    model = Model([*steps, [loop(length)]])
    goal = [s == length for s in range(length + 1)]
    worst = value(model, Objective("R", "min", "max", "F"), goal)[0]
    p = exact(low)
    assert worst == sum(p ** -(i + 1) for i in range(length))
    assert float(worst) == 1.0001000100009987e120
    assert value(model, Objective("R", "max", "max", "F"), goal)[0] == worst


def test_gambler_with_interval_rows() -> None:
    # Up with q in [1/4, 1/2], else down, barriers 0 and 3: the ruin formula at either end.
    row = [[loop(0)], *([Choice([(s + 1, 0.25, 0.5), (s - 1, 0.5, 0.75)])] for s in (1, 2)), [loop(3)]]
    goal = [False, False, False, True]
    assert value(Model(row), Objective("P", "max", "min", "F"), goal) == [0, Fraction(1, 13), Fraction(4, 13), 1]
    assert value(Model(row), Objective("P", "max", "max", "F"), goal) == [0, Fraction(1, 3), Fraction(2, 3), 1]
    assert value(Model(row), Objective("P", "max", "max", "F", 2), goal) == [0, Fraction(1, 4), HALF, 1]


def test_nature_may_cut_an_edge_only_where_the_graph_decides_nothing() -> None:
    # State 0 loops or goes to the goal, decided by the graph; state 1 may also fall into the sink 3.
    model = Model(
        [
            [Choice([(0, 0, 1), (2, 0, 1)], 1)],
            [Choice([(1, 0, 1), (2, 0, 1), (3, 0, HALF)], 1)],
            [loop(2)],
            [loop(3)],
        ]
    )
    goal = [False, False, True, False]
    assert value(model, Objective("P", "max", "min", "F"), goal) == [1, 0, 1, 0]
    assert value(model, Objective("P", "max", "max", "F"), goal) == [1, 1, 1, 0]
    assert value(model, Objective("R", "min", "max", "F"), goal) == [inf, inf, 0, inf]
    assert value(model, Objective("R", "min", "min", "F"), goal) == [1, inf, 0, inf]


def test_zero_reward_loops_do_not_make_the_goal_free() -> None:
    model = Model([[Choice([(1, 1, 1)]), Choice([(2, 1, 1)], 5)], [Choice([(0, 1, 1)])], [loop(2, 7)]])
    goal = [False, False, True]
    assert value(model, Objective("R", "min", "max", "F"), goal) == [5, 5, 0]
    assert value(model, Objective("R", "max", "min", "F"), goal) == [inf, inf, 0]
    assert value(model, Objective("R", "min", "max", "C", 3), goal) == [0, 0, 21]


def test_transition_rewards_take_part_in_natures_choice() -> None:
    row = [(1, 0.25, 0.75), (2, 0.25, 0.75)]
    model = Model([[Choice(row, 1, [0, 8])], [Choice([(2, 1, 1)], 4)], [loop(2)]], [HALF, 0, 0])
    goal = [False, False, True]
    base = Fraction(3, 2)
    assert value(model, Objective("R", "min", "max", "F"), goal)[0] == base + 7
    assert value(model, Objective("R", "min", "min", "F"), goal)[0] == base + 5


def test_rounding_level_infeasibility_is_normalised() -> None:
    low = Choice([(0, 0.1, 0.1), (1, 0.2, 0.2), (2, 0.7, 0.7)])
    (only,) = vertices(low.row)
    assert sum(only) == 1
    assert only[0] == exact(0.1) / (exact(0.1) + exact(0.2) + exact(0.7))


def test_vertices_of_a_square() -> None:
    quarter, three = Fraction(1, 4), Fraction(3, 4)
    found = vertices(((0, quarter, three), (1, Fraction(0), HALF), (2, Fraction(0), HALF)))
    assert set(found) == {
        (three, quarter, 0),
        (three, 0, quarter),
        (HALF, HALF, 0),
        (HALF, 0, HALF),
        (quarter, HALF, quarter),
        (quarter, quarter, HALF),
    }


@pytest.mark.parametrize("seed", range(150))
def test_small_models_follow_the_definition(seed: int) -> None:
    instance = random_model(
        default_rng(seed), zero_lower=bool(seed % 3), states=(2, 4), choices=(1, 2), successors=(1, 3)
    )
    for objective in UNBOUNDED:
        goal = right_side(instance, objective)
        expected = brute_value(instance.model, objective, goal, instance.left)
        assert value(instance.model, objective, goal, instance.left) == expected, objective


@pytest.mark.parametrize("seed", range(60))
def test_strategy_iteration_equals_enumeration(seed: int) -> None:
    instance = random_model(default_rng(seed), zero_lower=bool(seed % 2), states=(3, 6))
    if prod(map(len, instance.model.choices)) > 100:
        instance = random_model(default_rng(seed), zero_lower=bool(seed % 2), states=(3, 6), choices=(1, 2))
    for objective in UNBOUNDED:
        goal = right_side(instance, objective)
        expected = value(instance.model, objective, goal, instance.left, method="enumerate")
        assert value(instance.model, objective, goal, instance.left) == expected, objective


@pytest.mark.parametrize("seed", range(40))
def test_optimum_is_the_best_policy(seed: int) -> None:
    """With positive lower bounds the optimum over policies is the value; bounded formulas bound every policy."""
    instance = random_model(default_rng(seed), states=(3, 4), choices=(1, 2))
    model, left = instance.model, instance.left
    policies = list(product(*(range(len(choices)) for choices in model.choices)))
    for objective in UNBOUNDED + BOUNDED:
        goal = right_side(instance, objective)
        columns = list(zip(*(policy_value(model, objective, p, goal, left) for p in policies), strict=True))
        best = [max(c) if objective.agent == "max" else min(c) for c in columns]
        optimum = value(model, objective, goal, left)
        if objective.bound is None:
            assert optimum == best, objective
        else:
            better = (a >= b if objective.agent == "max" else a <= b for a, b in zip(optimum, best, strict=True))
            assert all(better), objective


def unrolled(model: Model, weights: list[list[Fraction]]) -> Model:
    """A randomised policy as a model without choices: a coin in every state, then nature."""
    size = len(model.choices)
    rewards = model.state_rewards or ()
    coins: list[list[Choice]] = []
    rows: list[list[Choice]] = []
    for s, (choices, given) in enumerate(zip(model.choices, weights, strict=True)):
        coins.append([Choice([(size + len(rows) + a, w, w) for a, w in enumerate(given)], rewards[s])])
        rows += [[c] for c in choices]
    return Model(coins + rows)


@pytest.mark.parametrize("seed", range(40))
def test_randomised_policy_is_a_coin_and_then_nature(seed: int) -> None:
    rng = default_rng(seed)
    instance = random_model(rng, zero_lower=bool(seed % 2), states=(3, 5))
    weights = []
    for choices in instance.model.choices:
        parts = [int(x) for x in rng.integers(0, 4, size=len(choices))]
        parts[0] += not any(parts)
        weights.append([Fraction(x, sum(parts)) for x in parts])
    wide = unrolled(instance.model, weights)
    size = len(weights)
    owner = [s for s, choices in enumerate(instance.model.choices) for _ in choices]
    for objective in UNBOUNDED:
        goal = right_side(instance, objective)
        # The extra states are neither goals nor unsafe; what lies behind the left-hand side is never entered.
        inner = [objective.formula == "G"] * len(owner)
        found = policy_value(instance.model, objective, weights, goal, instance.left)
        expected = value(wide, objective, goal + inner, instance.left + [True] * len(owner))
        assert found == expected[:size], objective


def test_an_edge_without_room_is_not_there() -> None:
    model = Model([[Choice([(0, 1.0, 1.0), (1, 0.0, 0.5)])], [loop(1)]])
    for agent, nature in SIDES:
        assert value(model, Objective("P", agent, nature, "F"), [False, True]) == [0, 1]
        assert value(model, Objective("R", agent, nature, "F"), [False, True]) == [inf, 0]


@pytest.mark.parametrize("seed", range(60))
def test_edges_without_room_follow_the_definition(seed: int) -> None:
    rng = default_rng(seed)
    instance = random_model(rng, zero_lower=True, states=(2, 4), choices=(1, 2), successors=(1, 3))
    table = []
    for choices in instance.model.choices:
        table.append([])
        for choice in choices:
            rows = list(choice.row)
            if len(rows) > 1 and rng.random() < 0.6:
                full = int(rng.integers(len(rows)))
                rows = [
                    (t, Fraction(i == full), Fraction(1, 2) if i != full else Fraction(1))
                    for i, (t, _, _) in enumerate(rows)
                ]
            table[-1].append(Choice(rows, choice.reward, choice.transition_rewards))
    model = Model(table, instance.model.state_rewards)
    for objective in UNBOUNDED:
        goal = instance.safe if objective.formula == "G" else instance.goal
        assert value(model, objective, goal, instance.left) == brute_value(model, objective, goal, instance.left), (
            objective
        )
