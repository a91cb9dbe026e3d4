"""Vectors in integers: the judge confirms none that is false, and those of values that agree in hundreds of digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from properties.bridge import OBJECTIVES, exact_value, to_model, to_spec
from properties.generate import random_model
from umdp import IntervalMDP, Rewards, Spec, Status, solve
from umdp.solver.confirm.integers import rounded, solve_in_integers
from umdp.solver.judge.digits import ScaledIntegers, differences, examine_digits
from umdp.solver.judge.question import JudgedQuestion, ModelRows, case_of
from umdp.solver.objective import objective_of, players

BITS = 1400
Exact = Fraction | float


def units(values: list[Fraction], up: bool) -> ScaledIntegers:
    """Return numbers in integers, rounded up or down."""
    found = [math.ceil(v * 2**BITS) if up else math.floor(v * 2**BITS) for v in values]
    return ScaledIntegers(np.array(found, dtype=object), BITS)


def exactly(x: ScaledIntegers) -> list[Fraction]:
    return [Fraction(int(v), 1 << x.bits) for v in x.units]


class Asked(NamedTuple):
    """A random model, its values, and what the judge is asked of it."""

    model: IntervalMDP
    rows: ModelRows
    question: JudgedQuestion
    values: list[Exact]
    choice: np.ndarray
    where: str


def drawn(seed: int, count: int) -> list[Asked]:
    found = []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        instance = random_model(rng, zero_lower=number % 4 == 3, hard=number % 3 == 2, states=(3, 7))
        model = to_model(instance)
        for objective in OBJECTIVES:
            spec = to_spec(objective)
            asked = objective_of(model, spec)
            rows, question, safety, _ = case_of(model, asked, *players(model, spec), complement=asked.safety)
            values = [-v if safety else v for v in exact_value(instance, objective)]
            choice = np.array(solve(model, spec).policy.choice)
            found.append(Asked(model, rows, question, values, choice, f"seed {seed}, model {number}, {spec}"))
    return found


# -- the judge -----------------------------------------------------------------------------------------------


def lie(rng: np.random.Generator, values: list[Exact]) -> list[Fraction]:
    """Return numbers near the values, off by much or by 1e-100, in some states or in all."""
    finite = [v if isinstance(v, Fraction) else Fraction(10**6) for v in values]
    by = Fraction(10) ** -int(rng.choice([1, 6, 15, 17, 40, 100, 300])) * int(rng.choice([-1, 1]))
    some = rng.random(len(values)) < rng.choice([0.2, 0.6, 1.0])
    kind = int(rng.integers(4))
    if kind == 0:
        return [v * (1 + by) if each else v for v, each in zip(finite, some, strict=True)]
    if kind == 1:
        return [v + by if each else v for v, each in zip(finite, some, strict=True)]
    if kind == 2:  # a spurious fixed point: one number in a set of states
        one = finite[int(rng.integers(len(finite)))]
        return [one if each else v for v, each in zip(finite, some, strict=True)]
    return [v + by * Fraction(float(rng.random())) for v in finite]


def confirmed(seed: int, count: int) -> tuple[int, int]:
    """Return how many vectors were confirmed, of how many; assert that none of them is false."""
    passed = looked = 0
    for number, asked in enumerate(drawn(seed, count)):
        rng = np.random.default_rng([seed, number, 1])
        for _ in range(6):
            choice = asked.choice
            if rng.random() < 0.3:
                choice = asked.model.state_ptr[:-1] + rng.integers(0, np.diff(asked.model.state_ptr))
            for sign in (-1.0, 1.0):
                x = units(lie(rng, asked.values), sign > 0)
                looked += 1
                if not examine_digits(asked.rows, asked.question, x, choice, sign).any():
                    passed += 1
                    pairs = zip(exactly(x), asked.values, strict=True)
                    assert all(v <= true if sign < 0 else v >= true for v, true in pairs), asked.where
    return passed, looked


def test_nothing_false_is_confirmed() -> None:
    passed, looked = confirmed(1, 6)
    assert 0.02 * looked < passed < 0.9 * looked  # some are right, and some are not


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_nothing_false_is_confirmed_of_many(seed: int) -> None:
    confirmed(seed, 200)


def test_what_is_found_in_integers_contains_the_exact_values() -> None:
    found = 0
    for asked in drawn(7, 8):
        question = asked.question
        unknown = ~question.goal & question.through
        if any(v == math.inf for v in asked.values):
            continue
        if not question.reward:
            unknown &= np.array([v > question.top - 1 for v in asked.values])
        vectors = solve_in_integers(asked.rows, question, unknown, (asked.choice, asked.rows.lower), lambda: False)
        if vectors is not None:
            found += 1
            for low, true, high in zip(exactly(vectors.low), asked.values, exactly(vectors.high), strict=True):
                assert low <= true <= high, asked.where
    assert found > 10


def test_differences_are_rounded_once_and_outwards() -> None:
    rng = np.random.default_rng(0)
    ptr = np.arange(31)
    rows = ModelRows.of(ptr, ptr, rng.integers(0, 30, 30), np.ones(30), np.ones(30), *[np.empty(0)] * 3)
    for size in (-400, -360, -300, -16, 0, 200, 320):
        exact = [Fraction(int(v), 10**9) * Fraction(10) ** size for v in rng.integers(-(10**9), 10**9, 30)]
        exact[:5] = [exact[0]] * 5
        x = units(exact, True)
        true = exactly(x)
        up, down = differences(rows, x, 1.0), differences(rows, x, -1.0)
        for s, t in enumerate(rows.successor):
            apart = true[t] - true[s]
            assert down[s] == -math.inf or Fraction(down[s]) <= apart
            assert up[s] == math.inf or Fraction(up[s]) >= apart
            assert (down[s] == up[s]) == (apart == 0)


# -- chains --------------------------------------------------------------------------------------------------


def line(up: np.ndarray, width: float, kind: str, options: int = 1) -> IntervalMDP:
    """Return a walk with intervals around its odds, of `options` choices in every state; the goal is above, a trap below."""
    n = up.shape[0]
    state_ptr, choice_ptr, successor, lower, upper = [0], [0], [], [], []
    for s in range(n):
        if s in (0, n - 1):
            rows = [[(1 if s == 0 and kind == "R" else s, 1.0, 1.0)]]
        else:
            odds = np.atleast_1d(up[s])[:options]
            rows = [[(s - 1, 1 - p - width, 1 - p + width), (s + 1, p - width, p + width)] for p in odds.tolist()]
        for row in rows:
            successor += [t for t, _, _ in row]
            lower += [low for _, low, _ in row]
            upper += [high for _, _, high in row]
            choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    return IntervalMDP(
        state_ptr, choice_ptr, successor, lower, upper, initial=n // 3, labels={"goal": [n - 1], "trap": [0]},
        rewards={"steps": Rewards(state=np.ones(n))},
    )  # fmt: skip


def exact_line(
    model: IntervalMDP, kind: str, agent_max: bool, nature_max: bool, number: type[Fraction | Decimal] = Fraction
) -> list[Any]:
    """Return the values of `line`: odds are best taken at an end, for a walk's value rises (or falls) along it."""
    n = model.states
    odds = [number(1)] * n
    # The probability of a step up: large for those who want the goal reached, or early; the same in all states.
    upwards = nature_max == (kind == "P"), agent_max == (kind == "P")
    for s in range(1, n - 1):
        ends = []
        for c in range(model.state_ptr[s], model.state_ptr[s + 1]):
            first = model.choice_ptr[c]
            (low_down, low_up), (high_down, high_up) = (
                [number(float(b)) for b in bounds[first : first + 2]] for bounds in (model.lower, model.upper)
            )
            ends.append(min(high_up, 1 - low_down) if upwards[0] else max(low_up, 1 - high_down))
        odds[s] = max(ends) if upwards[1] else min(ends)
    if kind == "P":
        steps = [number(1)]
        for p in odds[1:-1]:
            steps.append(steps[-1] * (1 - p) / p)
        sums = [number(0)]
        for step in steps:
            sums.append(sums[-1] + step)
        return [part / sums[-1] for part in sums]
    steps = [number(1)]
    for p in odds[1:-1]:
        steps.append((1 + (1 - p) * steps[-1]) / p)
    sums = [number(0)]
    for step in reversed(steps):
        sums.append(sums[-1] + step)
    return sums[::-1]


VALLEYS = [np.repeat([0.8, 0.3, 0.9, 0.1], 40), np.repeat([0.2, 0.8, 0.2], 50), np.repeat([0.95, 0.05], 60)]


@pytest.mark.parametrize("kind", ["P", "R"])
@pytest.mark.parametrize("valley", range(3))
@pytest.mark.parametrize(("agent", "nature"), [("max", "max"), ("max", "min"), ("min", "max"), ("min", "min")])
def test_bounds_contain_the_exact_values_and_are_narrow(kind: str, valley: int, agent: str, nature: str) -> None:
    rng = np.random.default_rng(valley)
    up = VALLEYS[valley][:, None] + rng.uniform(-0.02, 0.02, (VALLEYS[valley].size, 2))
    model = line(up, 0.01, kind, 2)
    asked = objective_of(model, Spec.parse(f'{kind}{agent}{nature}=? [ F "goal" ]'))
    rows, question, *_ = case_of(model, asked, agent == "max", nature == "max", complement=False)
    unknown = ~question.goal & (np.arange(model.states) > 0 if kind == "P" else True)
    # Neither the policy nor nature's answer is a good one to begin with.
    found = solve_in_integers(rows, question, unknown, (np.array(model.state_ptr[:-1]), model.lower), lambda: False)
    assert found is not None
    true = exact_line(model, kind, agent == "max", nature == "max")
    if kind == "R" or valley == 0:
        assert any(abs(a - b) * 10**25 < abs(a) for a, b in pairwise(true))
    for low, value, high in zip(exactly(found.low), true, exactly(found.high), strict=True):
        assert low <= value <= high
        assert high - low <= value / 10**9
    # What is rounded to one number is rounded outwards; one minus it, too.
    for x, up_ in ((found.low, False), (found.high, True)):
        plain, less = rounded(x, up_, False), rounded(x, up_, True)
        for exact, here, there in zip(exactly(x), plain, less, strict=True):
            assert (Fraction(here) >= exact, Fraction(there) >= 1 - exact) == (up_, up_) or Fraction(here) == exact


@pytest.mark.parametrize("kind", ["P", "R"])
def test_a_vector_that_is_moved_inwards_in_one_state_is_refused(kind: str) -> None:
    model = line(VALLEYS[0], 0.0, kind)
    asked = objective_of(model, Spec.parse(f'{kind}max=? [ F "goal" ]'))
    rows, question, *_ = case_of(model, asked, True, True, complement=False)
    unknown = ~question.goal & (np.arange(model.states) > 0 if kind == "P" else True)
    choice = np.arange(model.states)
    found = solve_in_integers(rows, question, unknown, (choice, model.lower), lambda: False)
    assert found is not None
    true = exact_line(model, kind, True, True)
    for sign, x in ((-1, found.low), (1, found.high)):
        assert not examine_digits(rows, question, x, choice, sign).any()
        assert examine_digits(rows, question, x, choice, -sign).any()
        for s in np.flatnonzero(unknown)[::7].tolist():
            apart = min(abs(true[s] - true[s - 1]) if s else Fraction(1), abs(true[s + 1] - true[s]))
            moved = ScaledIntegers(x.units.copy(), x.bits)
            moved.units[s] -= sign * math.ceil(apart * 2**x.bits / 10**9)  # far less than a number, or two, could tell
            assert examine_digits(rows, question, moved, choice, sign)[s]


def test_what_nature_may_cut_and_what_takes_too_long_is_left_to_others() -> None:
    model = line(VALLEYS[0], 0.0, "R")
    asked = objective_of(model, Spec.parse('Rmax=? [ F "goal" ]'))
    rows, question, *_ = case_of(model, asked, True, True, complement=False)
    start = np.arange(model.states), model.lower
    assert solve_in_integers(rows, question, ~question.goal, start, lambda: True) is None
    free = rows._replace(lower=np.zeros(rows.lower.size), upper=np.ones(rows.upper.size))
    assert solve_in_integers(free, question, ~question.goal, start, lambda: False) is None
    x = units([Fraction(10) ** 9] * model.states, True)
    assert examine_digits(free, question, x, start[0], 1.0).all()
    assert examine_digits(rows, question._replace(total=True), x, start[0], 1.0).all()


# -- through the solver --------------------------------------------------------------------------------------


def assert_certified(model: IntervalMDP, spec: str, true: Decimal) -> None:
    solution = solve(model, spec)
    assert solution.status is Status.CERTIFIED
    assert solution.diagnostics == ()
    assert Decimal(solution.bracket.lower) <= true <= Decimal(solution.bracket.upper)
    assert solution.bracket.upper - solution.bracket.lower <= 1e-6 * solution.bracket.upper


@pytest.mark.parametrize(
    ("agent", "nature"),
    [
        ("max", "min"),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("max", "max"), ("min", "max"), ("min", "min"))),
    ],
)
def test_slow_walks_with_choices_and_intervals_are_certified(agent: str, nature: str) -> None:
    rng = np.random.default_rng(5)
    up = np.repeat(rng.uniform(0.4, 0.6, 30), 60)[:, None] + rng.uniform(-0.02, 0.02, (1800, 2))
    with localcontext(prec=300):
        for kind in ("P", "R"):
            model = line(up, 0.01, kind, 2)
            true = exact_line(model, kind, agent == "max", nature == "max", Decimal)[model.initial]
            assert_certified(model, f'{kind}{agent}{nature}=? [ F "goal" ]', true)
        model = line(up, 0.01, "P", 2)
        true = 1 - exact_line(model, "P", agent == "min", nature == "min", Decimal)[model.initial]
        assert_certified(model, f'P{agent}{nature}=? [ G !"goal" ]', true)


def test_the_policy_and_nature_are_those_of_the_proof() -> None:
    rng = np.random.default_rng(5)
    up = np.repeat(rng.uniform(0.3, 0.7, 30), 60)[:, None] + rng.uniform(-0.02, 0.02, (1800, 2))
    model, spec = line(up, 0.01, "P", 2), 'Pmaxmin=? [ F "goal" ]'
    solution = solve(model, spec)
    assert solution.status is Status.CERTIFIED
    assert solution.policy_bracket == solution.bracket
    inner = np.arange(1, model.states - 1)
    taken = solution.policy.choice[inner]
    # The walk is best off with the choice of the larger odds, and nature takes all it may of them.
    assert np.array_equal(taken, model.state_ptr[inner] + np.argmax(up[inner], axis=1))
    np.testing.assert_allclose(
        solution.nature.probability[model.choice_ptr[taken] + 1], up[inner].max(axis=1) - 0.01, rtol=1e-12
    )


def test_birth_and_death_with_intervals_is_certified() -> None:
    """10,000 states that drift away from the goal; nature makes it worse."""
    n = 10_001
    up = np.where(np.arange(n) > 0.2 * n, 0.5 - 0.011, 0.5)
    model = line(up, 0.001, "R")
    steps, total = 1.0, 0.0
    for s in range(1, n - 1):
        p = max(float(model.lower[2 * s]), 1 - float(model.upper[2 * s - 1]))
        total += steps * (s - 1 >= model.initial)
        steps = (1 + (1 - p) * steps) / p
    total += steps
    solution = solve(model, 'Rmaxmax=? [ F "goal" ]')
    assert solution.status is Status.CERTIFIED
    assert total > 1e90
    assert solution.bracket.upper - solution.bracket.lower <= 1e-6 * solution.bracket.upper
    assert solution.bracket.lower <= total * (1 + 1e-10)
    assert solution.bracket.upper >= total * (1 - 1e-10)
