"""Discounted sums, totals, averages and rewards of any sign against exact values in rationals, on random interval MDPs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from oracles.exact import Choice, Model, Objective, value
from oracles.infinite_horizon import discounted, listed
from properties.bridge import PLAYERS, to_model
from properties.generate import Instance, random_model
from umdp import IntervalMDP, Policy, Solution, Status, evaluate, solve

SAMPLE, FULL = 11, 12
DISCOUNTS = (0.5, 0.9, 0.95, 0.999, 1 - 2.0**-20, 2.0**-30)


def drawn(run: int, number: int, *, signed: bool = True, zero_lower: bool = False, small: bool = False) -> Instance:
    rng = np.random.default_rng([run, number])
    sizes = {"states": (2, 3), "choices": (1, 2), "successors": (1, 3)} if small else {"states": (2, 6)}
    instance = random_model(rng, zero_lower=zero_lower, **sizes)  # type: ignore[arg-type]
    if not signed:
        return instance
    shift = [float(rng.choice([0.0, 1.0, 2.5, -0.25, 1000.0])) for _ in range(3)]
    choices = [
        [
            Choice(c.rows, float(c.reward) - shift[0], [float(r) - shift[1] for r in c.transition_rewards or ()])
            for c in each
        ]
        for each in instance.model.choices
    ]
    return replace(instance, model=Model(choices, [float(r) - shift[2] for r in instance.model.state_rewards or ()]))


def outside(solution: Solution, exact: list[Fraction | float]) -> list[str]:
    """Return a line for every state whose value is not within its bounds."""
    found = []
    for s, v in enumerate(exact):
        low, high = float(solution.lower[s]), float(solution.upper[s])
        inside = (
            low == high == v if v == math.inf else Fraction(low) <= v <= Fraction(high) if high < math.inf else low <= v
        )
        if not inside:
            found.append(f"state {s}: {float(v)} is not in [{low}, {high}]")
    return found


def own_value(model: IntervalMDP, spec: str, solution: Solution) -> list[str]:
    """Return what is wrong with the policy returned: its own value must lie on the right side, and meet the optimum."""
    own = evaluate(model, spec, solution.policy).bracket
    room = 1e-5 * max(1.0, abs(solution.bracket.lower), abs(solution.bracket.upper), 4000.0)
    close = own.lower <= solution.bracket.upper + room and own.upper >= solution.bracket.lower - room
    same = own.lower == own.upper == solution.bracket.upper
    return [] if same or close else [f"the policy has {own}, the optimum is {solution.bracket}"]


def check_discounted(run: int, number: int, *, zero_lower: bool) -> None:
    instance = drawn(run, number, zero_lower=zero_lower)
    model = to_model(instance)
    factor = DISCOUNTS[number % len(DISCOUNTS)]
    for agent, nature in PLAYERS:
        spec = f"R{agent}{nature}=? [ Cdiscount={factor!r} ]"
        solution = solve(model, spec)
        assert not outside(solution, discounted(instance.model, agent, nature, Fraction(factor))), (number, spec)
        assert solution.status is Status.CERTIFIED, (number, spec, solution)
        assert not own_value(model, spec, solution), (number, spec)


def check_policy(run: int, number: int) -> None:
    instance = drawn(run, number)
    model = to_model(instance)
    rng = np.random.default_rng([13, number])
    raw = rng.integers(0, 3, model.choices) + np.isin(np.arange(model.choices), model.state_ptr[:-1])
    weight = raw / np.repeat(np.add.reduceat(raw, model.state_ptr[:-1]), np.diff(model.state_ptr))
    policy = Policy(model, weight=weight)
    shares = [
        [
            (c, Fraction(int(raw[int(model.state_ptr[s]) + i])))
            for i, c in enumerate(choices)
            if raw[int(model.state_ptr[s]) + i] > 0
        ]
        for s, choices in enumerate(instance.model.choices)
    ]
    weights = [[(c, w / sum(w for _, w in taken)) for c, w in taken] for taken in shares]
    for nature in ("max", "min"):
        solution = evaluate(model, f"Rmax{nature}=? [ Cdiscount=0.9 ]", policy)
        exact = discounted(instance.model, "max", nature, Fraction(0.9), weights)  # type: ignore[arg-type]
        assert not outside(solution, exact), (number, nature)  # type: ignore[arg-type]


def check_listed(run: int, number: int, what: str) -> int:
    """Check averages or totals of one model; return how many brackets are wider than asked for."""
    wide = 0
    instance = drawn(run, number, signed=what == "S", small=True)
    model = to_model(instance)
    for agent, nature in PLAYERS:
        spec = f"R{agent}{nature}=? [ {what} ]"
        solution = solve(model, spec)
        exact = listed(instance.model, agent, nature, what)  # type: ignore[arg-type]
        assert not outside(solution, exact), (number, spec)
        assert not own_value(model, spec, solution), (number, spec)
        wide += solution.status is not Status.CERTIFIED
    return wide


def check_bounded(run: int, number: int) -> None:
    instance = drawn(run, number, zero_lower=number % 2 == 1)
    model = to_model(instance)
    for agent, nature in PLAYERS:
        objective = Objective("R", agent, nature, "C", bound=5)  # type: ignore[arg-type]
        solution = solve(model, f"R{agent}{nature}=? [ C<=5 ]")
        exact = value(instance.model, objective, goal=[False] * model.states)
        assert not outside(solution, exact), (number, agent, nature)
        assert not own_value(model, f"R{agent}{nature}=? [ C<=5 ]", solution)


@pytest.mark.parametrize("zero_lower", [False, True])
def test_discounted_sums(zero_lower: bool) -> None:
    for number in range(30):
        check_discounted(SAMPLE, number, zero_lower=zero_lower)


def test_discounted_sums_of_randomised_policies() -> None:
    for number in range(12):
        check_policy(SAMPLE, number)


def test_bounded_sums_of_any_sign() -> None:
    for number in range(20):
        check_bounded(SAMPLE, number)


@pytest.mark.parametrize("what", ["S", "C"])
def test_averages_and_totals(what: str) -> None:
    for number in range(30):
        assert check_listed(SAMPLE, number, what) == 0, number


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_full(first: int) -> None:
    wide = 0
    for number in range(first, first + 250):
        check_discounted(FULL, number, zero_lower=number % 2 == 1)
        check_policy(FULL, number)
        check_bounded(FULL, number)
        wide += check_listed(FULL, number, "S")
        assert check_listed(FULL, number, "C") == 0
    assert wide <= 10  # slow components of games, of a thousand averages
