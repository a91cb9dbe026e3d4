"""The oracle of temporal formulas against reachability by other formulas, and against what is known by hand."""

from fractions import Fraction

import pytest
from numpy.random import default_rng

from oracles.exact import Choice, Direction, Model, Objective, value
from oracles.temporal import AUTOMATA, Letter, end_components, temporal_reward, temporal_value
from properties.generate import Instance, random_model

SIDES: list[tuple[Direction, Direction]] = [("max", "max"), ("max", "min"), ("min", "max"), ("min", "min")]


def letters(instance: Instance) -> list[Letter]:
    return list(zip(instance.goal, instance.left, instance.safe, strict=True))


def test_end_components_by_hand() -> None:
    # 0 and 1 can be kept; 2 leaks into 3, which is absorbing.
    row = [[Choice([(1, 1, 1)]), Choice([(2, 1, 1)])], [Choice([(0, 1, 1)])]]
    model = Model([*row, [Choice([(2, 0.5, 0.5), (3, 0.5, 0.5)])], [Choice([(3, 1, 1)])]])
    assert sorted(map(sorted, end_components(model, {0, 1, 2, 3}))) == [[0, 1], [3]]


def test_again_and_again_by_hand() -> None:
    # A fair coin decides between a goal that is seen again and again, and one that is seen once.
    half = Fraction(1, 2)
    model = Model(
        [
            [Choice([(1, half, half), (2, half, half)])],
            [Choice([(1, 1, 1)])],
            [Choice([(3, 1, 1)])],
            [Choice([(3, 1, 1)])],
        ]
    )
    seen = [(s in (1, 2), s != 3, True) for s in range(4)]
    for agent, nature in SIDES:
        assert temporal_value(model, AUTOMATA["GF"], agent, nature, seen) == [half, 1, 0, 0]
        assert temporal_value(model, AUTOMATA["FG"], agent, nature, seen) == [half, 1, 0, 0]
        assert temporal_value(model, AUTOMATA["then"], agent, nature, seen) == [half, 1, 0, 0]
    assert temporal_reward(model, "min", "max", seen) == [float("inf"), 0, float("inf"), float("inf")]


@pytest.mark.parametrize("seed", range(40))
def test_weak_until_and_release_are_one_minus_until(seed: int) -> None:
    """With positive lower bounds, to which both ways of deciding by the graph agree."""
    instance = random_model(default_rng(seed), states=(2, 5), choices=(1, 2), successors=(1, 3))
    goal, left, safe = instance.goal, instance.left, instance.safe
    other: dict[Direction, Direction] = {"max": "min", "min": "max"}
    for agent, nature in SIDES:
        until = Objective("P", other[agent], other[nature], "U")
        lost = [not a and not b for a, b in zip(left, goal, strict=True)]
        expected = [1 - v for v in value(instance.model, until, lost, [not b for b in goal])]
        assert temporal_value(instance.model, AUTOMATA["W"], agent, nature, letters(instance)) == expected
        expected = [1 - v for v in value(instance.model, until, [not b for b in safe], [not a for a in left])]
        assert temporal_value(instance.model, AUTOMATA["R"], agent, nature, letters(instance)) == expected


@pytest.mark.parametrize("seed", range(40))
def test_a_formula_and_its_negation_add_up(seed: int) -> None:
    instance = random_model(default_rng(seed), states=(2, 4), choices=(1, 1), successors=(1, 3))
    for automaton in AUTOMATA.values():
        for nature in ("max", "min"):
            other: Direction = "min" if nature == "max" else "max"
            turned = type(automaton)("", automaton.step, automaton.negated, automaton.pairs)
            found = temporal_value(instance.model, automaton, nature, nature, letters(instance))
            opposite = temporal_value(instance.model, turned, other, other, letters(instance))
            assert [a + b for a, b in zip(found, opposite, strict=True)] == [1] * len(found)


def test_the_same_choice_twice_changes_nothing_and_what_lasts_was_reached() -> None:
    # Nature may stay in 0 for ever: neither is the goal reached then, nor seen again and again.
    rows = [[(0, 0, 1), (1, 0, 1)], [(2, 0.25, 0.25), (3, 0.75, 0.75)], [(2, 1, 1)], [(3, 1, 1)]]
    seen = [(s == 2, True, True) for s in range(4)]
    for times in (1, 2):
        model = Model([[Choice(row)] * times for row in rows])
        assert temporal_value(model, AUTOMATA["GF"], "max", "min", seen) == [0, Fraction(1, 4), 1, 0]
        assert value(model, Objective("P", "max", "min", "F"), [s == 2 for s in range(4)]) == [0, Fraction(1, 4), 1, 0]
