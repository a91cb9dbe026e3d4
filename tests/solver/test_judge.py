"""The judge against exact rationals: whatever vectors it is shown, it confirms none that is false."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from oracles.exact import Objective
from properties.bridge import BOUNDED, OBJECTIVES, exact_value, to_model, to_spec
from properties.generate import random_model
from umdp import MDP, IntervalMDP, Policy, Rewards, solve
from umdp.solver.confirm.witness import trap_levels
from umdp.solver.judge.ambiguity import FREE, LOWER, UPPER, exact_excess, excess, read_row
from umdp.solver.judge.bellman import RowReading, collect, listed_order
from umdp.solver.judge.horizons import GainVectors, Play, bounds_of_steps, examine_average, examine_discounted
from umdp.solver.judge.question import ModelRows, TwoPart, case_of, rows_of
from umdp.solver.judge.reachability import examine
from umdp.solver.objective import objective_of, players

Exact = Fraction | float


def _objective(model: IntervalMDP, objective: Objective):
    spec = to_spec(objective)
    asked = objective_of(model, spec)
    return case_of(model, asked, *players(model, spec), complement=asked.safety)


def _reached(values: list[Exact], safety: bool) -> list[Exact]:
    """Return the values in the judge's coordinates: of reaching, less 1 where staying away was asked for."""
    return [-v for v in values] if safety else values


def _vectors(rng: np.random.Generator, values: list[Exact]) -> TwoPart:
    """Return a vector near the values, or a lie: raised or lowered, in some states or all, to one number or by a little."""
    size = len(values)
    huge = Fraction(10) ** 300
    base = np.array([float(v) if isinstance(v, float) or abs(v) < huge else 1e300 for v in values])
    kind = int(rng.integers(7))
    some = rng.random(size) < rng.choice([0.2, 0.6, 1.0])
    by = float(rng.choice([1e-16, 1e-12, 1e-6, 1e-2, 0.5])) * float(rng.choice([-1, 1]))
    finite = np.isfinite(base)
    if kind == 0:
        base = np.where(some & finite, base * (1 + by), base)
    elif kind == 1:
        base = np.where(some & finite, base + by, base)
    elif kind == 2:  # a spurious fixed point: one number in a set of states
        base = np.where(some, float(rng.choice(base[finite])) if finite.any() else 1.0, base)
    elif kind == 3:
        base = np.where(some, float(rng.choice([0.0, 1.0, -1.0, np.inf, 1e-300, 0.5])), base)
    elif kind == 4:
        base = np.where(finite, base * (1 + by), base)
    elif kind == 5:
        base = rng.random(size) * float(rng.choice([1.0, 100.0])) - float(rng.choice([0.0, 1.0]))
    offset = np.zeros(size)
    if rng.random() < 0.5:
        offset = np.where(np.isfinite(base), base * rng.normal(size=size) * float(rng.choice([1e-17, 1e-13])), 0.0)
    return TwoPart(base, offset)


def _exactly(x: TwoPart, s: int) -> Exact:
    return float(x.base[s]) if math.isinf(x.base[s]) else Fraction(float(x.base[s])) + Fraction(float(x.offset[s]))


def _confirmed(seed: int, count: int) -> tuple[int, int]:
    """Return how many sides were confirmed, of how many; assert that none of them is false."""
    passed = looked = 0
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        drawn = random_model(rng, zero_lower=number % 2 == 1, hard=number % 3 == 2, states=(3, 7))
        model = to_model(drawn)
        for objective in OBJECTIVES:
            rows, asked, safety, _ = _objective(model, objective)
            values = _reached(exact_value(drawn, objective), safety)
            for _ in range(8):
                low, high = _vectors(rng, values), _vectors(rng, values)
                choice = model.state_ptr[:-1] + rng.integers(0, np.diff(model.state_ptr))
                if rng.random() < 0.5:
                    choice = solve(model, to_spec(objective)).policy.choice
                every = asked.all_below if asked.reward else asked.all_above
                trap = trap_levels(rows, asked, choice, every, asked.reward and asked.nature_max)
                if rng.random() < 0.3:
                    trap = rng.integers(-1, 3, size=model.states)
                marks = np.zeros(model.states, np.bool_), np.zeros(model.states, np.bool_)
                below, above = examine(rows, asked, low, high, np.array(choice), trap, *marks)
                looked += 2
                where = f"seed {seed}, model {number}, {to_spec(objective)}"
                if below == 0:
                    passed += 1
                    assert all(_exactly(low, s) <= v for s, v in enumerate(values)), f"{where}: from below"
                if above == 0:
                    passed += 1
                    assert all(_exactly(high, s) >= v for s, v in enumerate(values)), f"{where}: from above"
    return passed, looked


def test_nothing_false_is_confirmed() -> None:
    passed, looked = _confirmed(1, 10)
    assert 0.1 * looked < passed < 0.9 * looked  # some are right, and some are not


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_nothing_false_is_confirmed_of_many(seed: int) -> None:
    _confirmed(seed, 400)


def test_what_is_moved_outwards_is_confirmed() -> None:
    """Exact values, moved by a part in 10^9 of what they are, pass wherever nature cannot cut and values are ordinary numbers."""
    right = looked = 0
    for number in range(30):
        drawn = random_model(np.random.default_rng([9, number]), zero_lower=False, hard=False, states=(3, 7))
        model = to_model(drawn)
        for objective in OBJECTIVES:
            solution = solve(model, to_spec(objective))
            rows, asked, safety, _ = _objective(model, objective)
            low, high = (-solution.upper, -solution.lower) if safety else (solution.lower, solution.upper)
            none, marks = np.zeros(model.states), (np.zeros(model.states, np.bool_), np.zeros(model.states, np.bool_))
            every = asked.all_below if asked.reward else asked.all_above
            trap = trap_levels(rows, asked, np.array(solution.policy.choice), every, asked.nature_max)
            left = examine(
                rows,
                asked,
                TwoPart(low.copy(), none),
                TwoPart(high.copy(), none),
                np.array(solution.policy.choice),
                trap,
                *marks,
            )
            looked += 2
            right += sum(count == 0 for count in left)
    assert right >= 0.95 * looked


def test_sums_are_compared_with_one_exactly() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        values = rng.random(int(rng.integers(1, 9)))
        values /= values.sum()
        if rng.random() < 0.5:
            values = np.append(values, rng.choice([1e-17, 1e-40, 5e-324, -1e-17]))
        exact = sum(map(Fraction, values.tolist())) - 1
        for found in (excess(0, values.size, values), exact_excess(0, values.size, values)):
            assert np.sign(found) == np.sign(
                float(exact) if exact == 0 or abs(exact) > 1e-300 else (1 if exact > 0 else -1)
            )
            assert abs(Fraction(found) - exact) <= abs(exact) * Fraction(1, 2**50)


def _rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n = int(rng.integers(1, 7))
    p = rng.dirichlet(np.ones(n)) if rng.random() < 0.7 else np.full(n, 1 / n)
    width = float(rng.choice([0.0, 1e-16, 0.1, 1.0]))
    lower = p * (1 - width * rng.random(n))
    upper = np.minimum(p * (1 + width * rng.random(n)), 1.0)
    if rng.random() < 0.3:
        lower[int(rng.integers(n))] = 0.0
    return lower, np.maximum(upper, np.maximum(lower, 1e-12))


def _optimum(lower: np.ndarray, upper: np.ndarray, key: np.ndarray, largest: bool) -> Fraction:
    """Return nature's optimum over all vertices, in rationals."""
    low, high = [Fraction(v) for v in lower.tolist()], [Fraction(v) for v in upper.tolist()]
    best = None
    for order in itertools.permutations(range(len(low))):
        given, left = list(low), 1 - sum(low)
        for i in order:
            share = min(left, high[i] - low[i])
            given[i] += share
            left -= share
        value = sum(p * Fraction(v) for p, v in zip(given, key.tolist(), strict=True))
        best = value if best is None or (value > best if largest else value < best) else best
    assert best is not None
    return best


def _collected(lower, upper, key, largest: bool, sign: float) -> tuple[float, float]:
    """Return what a row from a state of its own to states worth `key` collects, and the error."""
    n = lower.size
    ptr, none = np.array([0, 1]), np.empty(0)
    rows = ModelRows.of(np.minimum(np.arange(n + 2), 1), ptr * n, np.arange(1, n + 1), lower, upper, none, none, none)
    x = TwoPart(np.concatenate([[0.0], key]), np.zeros(n + 1))
    gain, error = np.empty(1), np.empty(1)
    side = RowReading(sign, largest, 1.0, relative=False, pays=True, scaled=False)
    collect(rows, np.ones(1, np.bool_), x, none, side, (0, 1), listed_order(rows), (gain, error))
    return float(gain[0]), float(error[0])


def test_natures_answer_is_bounded() -> None:
    rng = np.random.default_rng(1)
    free = 0
    for _ in range(100):
        lower, upper = _rows(rng)
        kind, _ = read_row(0, lower.size, lower, upper)
        low, high = sum(map(Fraction, lower.tolist())), sum(map(Fraction, upper.tolist()))
        point = bool((lower == upper).all())
        assert kind == (LOWER if point or low >= 1 else UPPER if high <= 1 else FREE)
        if kind != FREE:
            continue
        free += 1
        key = rng.normal(size=lower.size) * 10.0 ** rng.integers(-3, 4, size=lower.size)
        key[rng.random(key.size) < 0.2] = 0.0
        for largest in (True, False):
            exact = _optimum(lower, upper, key, largest)
            for one in (True, False):
                found, error = _collected(lower, upper, key, largest, -1.0 if one == largest else 1.0)
                # All answers collect no more (less) than what is found; one collects as much.
                beyond = exact - Fraction(found) if largest == (not one) else Fraction(found) - exact
                assert beyond <= Fraction(error)
                assert error <= 1e-12 * (1 + np.abs(key).max()) + 1e-300
    assert free > 25


def _sum_model(rng: np.random.Generator) -> IntervalMDP:
    size = int(rng.integers(2, 5))
    state_ptr, choice_ptr = [0], [0]
    successor: list[int] = []
    lower: list[float] = []
    upper: list[float] = []
    paid: list[float] = []
    for _ in range(size):
        for _ in range(int(rng.integers(1, 3))):
            n = int(rng.integers(1, size + 1))
            p = rng.dirichlet(np.ones(n))
            width = float(rng.choice([0.0, 0.3]))
            successor += rng.choice(size, n, replace=False).tolist()
            lower += (p * (1 - width)).tolist()
            upper += np.minimum(p * (1 + width), 1.0).tolist()
            choice_ptr.append(len(successor))
            paid.append(float(rng.integers(-3, 4)))
        state_ptr.append(len(choice_ptr) - 1)
    return IntervalMDP(state_ptr, choice_ptr, successor, lower, upper, rewards={"r": Rewards(choice=paid)})


@pytest.mark.parametrize("formula", ["Cdiscount=0.9", "S"])
def test_sums_move_no_nearer_than_they_may(formula: str) -> None:
    """A vector that bounds the sum on the wrong side of a narrow bracket is not confirmed."""
    rng = np.random.default_rng(3)
    confirmed = 0
    for _ in range(40):
        model = _sum_model(rng)
        for agent in ("max", "min"):
            for nature in ("max", "min"):
                spec = f'R{{"r"}}{agent}{nature}=? [ {formula} ]'
                solution = solve(model, spec, precision=1e-9)
                asked = objective_of(model, solution.spec)
                rows, fails = rows_of(model, asked), np.zeros(model.states, np.bool_)
                choice = np.array(solution.policy.choice)
                for sign, bound, other, every in (
                    (-1.0, solution.lower, solution.upper, agent == "min"), (1.0, solution.upper, solution.lower, agent == "max"),
                ):  # fmt: skip
                    play = Play(nature == "max", every, choice, np.empty(0))
                    for share in (1e-6, -1e-6, 0.1, -0.1, float(rng.normal())):
                        moved = bound + sign * share
                        if rng.random() < 0.5:
                            moved = np.where(rng.random(model.states) < 0.5, moved, bound + sign * 1e-3)
                        vector = TwoPart(moved, np.zeros(model.states))
                        if formula == "S":
                            component = np.where(rng.random(model.states) < 0.7, 0, rng.integers(-1, 2, model.states))
                            gains = GainVectors(vector, rng.normal(size=model.states), component)
                            left = examine_average(rows, play, 0.0, gains, sign, fails)
                        else:
                            left = examine_discounted(rows, play, asked.discount, 0.0, vector, sign, fails)
                        if left == 0:
                            confirmed += 1
                            beyond = moved <= other + 1e-7 if sign < 0 else moved >= other - 1e-7
                            assert beyond.all(), (spec, moved, solution.lower, solution.upper)
    assert confirmed > (0 if formula == "S" else 100)


def test_step_bounded_properties_are_confirmed_as_far_as_they_are_true() -> None:
    for number in range(12):
        drawn = random_model(np.random.default_rng([5, number]), zero_lower=number % 2 == 1, hard=False, states=(3, 6))
        model = to_model(drawn)
        for objective in BOUNDED:
            spec, exact = to_spec(objective), exact_value(drawn, objective)
            solution, asked = solve(model, spec), objective_of(model, spec)
            own = (solution.policy.choice, None)
            low, high = bounds_of_steps(rows_of(model, asked), asked, players(model, spec), own, False, lambda: False)
            for s, value in enumerate(exact):
                assert Fraction(low[s]) <= value <= Fraction(high[s])
                assert high[s] - low[s] <= 1e-12 * (1 + abs(high[s]))


def test_a_policy_of_no_choice_of_the_state_is_not_believed() -> None:
    coin = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1.0], labels={"goal": [1]})
    solution = solve(coin, 'Pmax=? [ F "goal" ]')
    asked = objective_of(coin, solution.spec)
    rows, question, *_ = case_of(coin, asked, True, True, complement=False)
    vector, marks = TwoPart(np.ones(2), np.zeros(2)), (np.zeros(2, np.bool_), np.zeros(2, np.bool_))
    trap = np.full(2, -1)
    assert examine(rows, question, vector, vector, np.array([0, 1]), trap, *marks) == (0, 0)
    assert examine(rows, question, vector, vector, np.array([1, 1]), trap, *marks)[0] == 1
    assert Policy(coin, [0, 1]).choice is not None
