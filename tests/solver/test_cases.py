"""Models on which a certified answer was wrong, or a solve crashed: what each needs must stay as it is.

The models were found by random search against exact rationals; `exact` is the value of the initial state (or the one named).
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import umdp.io
from umdp import MDP, IntervalMDP, Policy, Rewards, Solution, Status, solve

CASES = Path(__file__).parent / "cases"
MOST = np.finfo(np.float64).max


def answer(name: str, spec: str, precision: float, method: str, start: list[int] | None) -> Solution:
    model = umdp.io.read(CASES / f"{name}.umb")
    policy = None if start is None else Policy(model, np.array(start))
    return solve(model, spec, precision=precision, method=method, start=policy)


def test_a_policy_that_never_arrives_is_not_believed() -> None:
    # Differences of the second parts of values are rounded too: relative to the parts, not to the difference.
    start = [1, 6, 8, 9, 10, 12, 15, 19, 22, 26, 28, 29, 30]
    found = answer("reward-start", 'Rminmin=? [ F "goal" ]', 1e-3, "value", start)
    assert 9761825084887300 in found.bracket
    assert found.status.is_precise


def test_probabilities_of_nature_are_a_distribution_to_the_last_digit() -> None:
    # What is left after lower bounds that almost sum to 1 loses its digits unless it is computed with care.
    start = [0, 3, 4, 6, 8, 10, 14, 15, 17, 20, 21, 22, 23]
    found = answer("until-inverted", 'Pminmax=? [ "left" U "goal" ]', 1e-9, "value", start)
    assert (found.lower <= found.upper).all()
    assert found.lower[1] <= 2.911494093302566e-12 <= found.upper[1]


def test_a_leak_of_1e_292_is_a_leak() -> None:
    found = answer("safety-tiny", 'Pmaxmax=? [ G "safe" ]', 1e-6, "value", None)
    for state in (0, 1):
        assert found.lower[state] <= 9.617713645060137e-141 <= found.upper[state]
        assert found.upper[state] <= 9.618e-141


def test_values_near_the_largest_number_do_not_overflow() -> None:
    start = [0, 4, 6, 9, 11, 13, 16, 18, 21, 23, 28, 31, 32, 33, 34]
    found = answer("overflow", 'Rminmax=? [ F "goal" ]', 1e-6, "policy", start)
    assert 7.649130897056824e299 in found.bracket


def test_values_above_the_largest_number_are_at_least_that() -> None:
    found = answer("overflow-mild", 'Rminmax=? [ F "goal" ]', 0.5, "auto", None)
    assert found.bracket.upper == np.inf
    assert found.bracket.lower > 0.99 * MOST
    assert not found.status.is_precise


@pytest.mark.parametrize("method", ["auto", "policy", "value"])
@pytest.mark.parametrize("precision", [1e-6, 1e-15])
def test_what_underflows_is_not_zero(method: str, precision: float) -> None:
    # Ten steps of 1e-40 each: 1e-400.
    chain = [[(s + 1, 1e-40), (11, 1.0)] for s in range(10)] + [[(10, 1.0)], [(11, 1.0)]]
    successor = [t for row in chain for t, _ in row]
    probability = [p for row in chain for _, p in row]
    choice_ptr = np.concatenate([[0], np.cumsum([len(row) for row in chain])])
    model = MDP(
        np.arange(13), choice_ptr, successor, probability, labels={"goal": [10], "end": [10, 11]},
        rewards={"r": Rewards(choice=[*([0.0] * 9), 1e-300, 0.0, 0.0])},
    )  # fmt: skip
    for spec in ('P=? [ F "goal" ]', 'R=? [ F "end" ]'):
        found = solve(model, spec, method=method, precision=precision)
        assert found.bracket.lower == 0
        assert 0 < found.bracket.upper <= 1e-300
        assert not found.status.is_precise


def birth_death(states: int, seed: int) -> tuple[MDP, Fraction]:
    """Return a chain that may stay, go up or go down, and the exact probability of ending at the top."""
    rng = np.random.default_rng(seed)
    rows = rng.random((states, 3)) + 0.05
    rows = rows / rows.sum(axis=1, keepdims=True)
    state_ptr = np.arange(states + 3)
    successor, probability, ptr = [], [], [0]
    for s in range(states):
        successor += [s, s + 1 if s + 1 < states else states, s - 1 if s else states + 1]
        probability += [float(p) for p in rows[s]]
        ptr.append(len(successor))
    for s in (states, states + 1):
        successor.append(s)
        probability.append(1.0)
        ptr.append(len(successor))
    # Going down over going up, multiplied: the ruin formula.
    product, total, first = Fraction(1), Fraction(1), Fraction(1)
    half = states // 2
    for s in range(states):
        product *= Fraction(float(rows[s, 2])) / Fraction(float(rows[s, 1]))
        total += product
        if s < half:
            first += product
    labels = {"goal": [states]}
    return MDP(state_ptr, ptr, successor, probability, labels=labels, initial=half), first / total


@pytest.mark.parametrize("precision", [1e-6, 1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize("states", [6, 12, 40, 90])
def test_self_loops_cost_no_digit(states: int, precision: float) -> None:
    for seed in range(4):
        model, exact = birth_death(states, seed)
        for method in ("auto", "policy", "value"):
            found = solve(model, 'P=? [ F "goal" ]', precision=precision, method=method)
            assert Fraction(found.bracket.lower) <= exact <= Fraction(found.bracket.upper), (seed, method)
            if states <= 40 and (states <= 12 or method == "auto"):
                assert found.status.is_precise, (seed, method, found)


def test_one_minus_a_tiny_probability_is_below_one() -> None:
    model = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [1e-20, 0.5, 1, 1], [1e-20, 1, 1, 1], labels={"bad": [1]}
    )
    found = solve(model, 'Pmin=? [ G !"bad" ]', precision=1e-15)
    assert Fraction(found.bracket.lower) <= 1 - Fraction(1e-20) <= Fraction(found.bracket.upper)


@pytest.mark.parametrize("method", ["auto", "policy", "value"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Pmax=? [ F "goal" ]', 0.0),
        ('Pmin=? [ F "goal" ]', 0.0),
        ('Pmax=? [ G "safe" ]', 1.0),
        ('Pmin=? [ G "safe" ]', 1.0),
        ('R{"none"}min=? [ F "end" ]', np.inf),
        ('R{"none"}max=? [ F "end" ]', np.inf),
        ('R{"steps"}min=? [ F "end" ]', np.inf),
        ('R{"steps"}max=? [ F "end" ]', np.inf),
    ],
)
def test_edges_are_listed_but_bounds_let_nobody_leave(method: str, text: str, value: float) -> None:
    # The lower bound of staying is 1. A system without a row for the state was solved all the same, or crashed.
    model = IntervalMDP(
        [0, 1, 2, 3],
        [0, 3, 4, 5],
        [0, 1, 2, 1, 2],
        [1, 0, 0, 1, 1],
        [1, 1e-30, 1e-300, 1, 1],
        labels={"goal": [1], "safe": [0, 1], "end": [1, 2]},
        rewards={"none": Rewards(choice=[0, 0, 0]), "steps": Rewards(choice=[1, 0, 0])},
    )
    solution = solve(model, text, method=method)
    assert solution.bracket.lower <= value <= solution.bracket.upper
    assert text[0] == "R" or solution.status is Status.CERTIFIED
    assert not solution.certificate().notes
