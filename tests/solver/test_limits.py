"""Time limits: whenever time is up, the bracket is right, and nobody goes on for long.

The clock is one that runs out after a number of looks, so that every place where the solver looks at it is a place to stop, the
same on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from oracles.exact import Objective
from oracles.infinite_horizon import discounted, listed
from properties.bridge import BOUNDED, OBJECTIVES, PLAYERS, exact_value, outside, to_model, to_spec
from properties.soundness import draw
from properties.test_infinite_horizon import drawn
from properties.test_infinite_horizon import outside as outside_infinite
from umdp import MDP, IntervalMDP, Policy, Rewards, Solution, Spec, Status, evaluate, solve
from umdp.errors import SpecError
from umdp.solver import answer
from umdp.solver.finite_horizon import policy_of
from umdp.solver.objective import SolveOptions
from umdp.solver.threads import Watch

MANY = 4000  # looks after which a solve of a small model is done


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Watch]]:
    """Let time be up after as many looks as the list's `looks` says, and collect the clocks."""

    class Clocks(list[Watch]):
        looks = 0

    made = Clocks()

    def options(*given: object) -> SolveOptions:
        made.append(Watch(looks=made.looks))
        return replace(own(*given), watch=made[-1])

    own = answer._options
    monkeypatch.setattr(answer, "_options", options)
    yield made
    made.clear()


def stops(clock: list[Watch], answer: object, every: int = 1) -> Iterator[tuple[int, Solution]]:
    """Yield what is answered if time is up at the first look, at the second, and so on until it is not up any more."""
    looks = 1
    while True:
        clock.looks = looks  # type: ignore[attr-defined]
        clock.clear()
        yield looks, answer()  # type: ignore[operator]
        if all(not each.flag[0] for each in clock):
            return
        assert looks < MANY, "a small model takes too many looks"
        looks += every + looks // 8


@pytest.mark.parametrize("method", ["auto", "value", "policy"])
def test_whenever_time_is_up_the_bracket_is_right(clock: list[Watch], method: str) -> None:
    stopped = 0
    for number in range(8):
        instance = draw(5, number, (3, 8))
        model, precision = to_model(instance), (1e-6, 1e-12)[number % 2]
        for objective in (o for i, o in enumerate(OBJECTIVES) if i % 3 == number % 3):
            exact, spec = exact_value(instance, objective), to_spec(objective)
            for looks, found in stops(
                clock, lambda m=model, s=spec, p=precision: solve(m, s, method=method, precision=p)
            ):
                stopped += found.status is Status.STOPPED
                for s in range(model.states):
                    assert not outside(found.lower[s], exact[s], found.upper[s]), (number, spec, looks, s)
    assert stopped > 20


@pytest.mark.parametrize("number", range(5))
def test_some_steps_prove_what_they_say_of_all(clock: list[Watch], number: int) -> None:
    instance = draw(6, number, (3, 6))
    model = to_model(instance)
    objectives = [*BOUNDED, *(Objective("P", a, n, f, bound=9) for f in "UG" for a, n in PLAYERS)]
    told = set()
    for objective in objectives:
        exact, spec = exact_value(instance, objective), to_spec(objective)
        for looks, found in stops(clock, lambda s=spec: solve(model, s)):
            for s in range(model.states):
                assert not outside(found.lower[s], exact[s], found.upper[s]), (objective, looks, s, exact[s])
            if found.status is Status.STOPPED:
                told.add(found.bracket.lower > 0 or found.bracket.upper < 1)
            clock.looks = 0  # type: ignore[attr-defined]
            own = evaluate(model, spec, found.policy).bracket
            kept = found.policy_bracket
            assert own.upper >= kept.lower, (objective, looks, "the policy does not keep its bound")
            assert own.lower <= kept.upper, (objective, looks, "the policy does not keep its bound")
    assert True in told  # some steps do say something


@pytest.mark.parametrize("number", range(4))
def test_some_steps_of_a_sum_of_any_sign(clock: list[Watch], number: int) -> None:
    instance = drawn(7, number)
    model = to_model(instance)
    narrow = 0
    for agent, nature in PLAYERS:
        spec = f"R{agent}{nature}=? [ C<=11 ]"
        exact = exact_value(instance, Objective("R", agent, nature, "C", bound=11))  # type: ignore[arg-type]
        for _, found in stops(clock, lambda s=spec: solve(model, s)):
            assert not outside_infinite(found, exact), (spec, found)
            narrow += found.status is Status.STOPPED and found.bracket.width < np.inf
            clock.looks = 0  # type: ignore[attr-defined]
            own = evaluate(model, spec, found.policy).bracket
            assert own.upper >= found.policy_bracket.lower
            assert own.lower <= found.policy_bracket.upper
    assert narrow


@pytest.mark.parametrize("number", range(4))
def test_stopped_discounted_sums_and_averages(clock: list[Watch], number: int) -> None:
    instance = drawn(8, number, small=True)
    model = to_model(instance)
    for agent, nature in PLAYERS:
        sums = discounted(instance.model, agent, nature, Fraction(0.999))  # type: ignore[arg-type]
        means = listed(instance.model, agent, nature, "S")  # type: ignore[arg-type]
        for path, exact in (("Cdiscount=0.999", sums), ("S", means)):
            spec = f"R{agent}{nature}=? [ {path} ]"
            for looks, found in stops(clock, lambda s=spec: solve(model, s, precision=1e-9)):
                assert not outside_infinite(found, exact), (spec, looks, found)  # type: ignore[arg-type]


def test_a_stopped_average_lies_between_the_rewards_of_single_steps(clock: list[Watch]) -> None:
    clock.looks = 1  # type: ignore[attr-defined]
    model = MDP([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 0], [0.5, 0.5, 1, 1], rewards={"r": Rewards(choice=[-2, 3, 1])})
    found = solve(model, "Rmax=? [ S ]")
    assert found.status is Status.STOPPED
    assert -2 - 1e-9 <= found.bracket.lower <= 2 <= found.bracket.upper <= 3 + 1e-9


def test_a_stopped_average_does_not_take_staying_for_the_best(clock: list[Watch]) -> None:
    # From the first states, which could stay among themselves for nothing, the last one is reached surely.
    size = 40
    successor = np.array([[max(s - 1, 0), s + 1] for s in range(size)])
    rows = np.repeat(successor, 2, axis=0).ravel()
    low = np.tile([0.3, 0.3, 0.2, 0.2], size)
    model = IntervalMDP(
        [*range(0, 2 * size + 1, 2), 2 * size + 1], np.append(np.arange(0, 4 * size + 1, 2), 4 * size + 1),
        np.append(rows, size), np.append(low, 1.0), np.append(np.full(4 * size, 0.8), 1.0), labels={"goal": [size]},
    )  # fmt: skip
    for _, found in stops(clock, lambda: solve(model, 'Smaxmin=? [ "goal" ]')):
        assert (found.lower <= 1.0).all()
        assert (found.upper == 1.0).all()


@pytest.mark.parametrize("factor", [1 - 1e-12, 1 - 1e-7, 1 - 2.0**-52])
def test_a_discounted_sum_ends_where_doubles_cannot_reach_the_precision(factor: float) -> None:
    model = MDP([0, 1, 2], [0, 2, 3], [0, 1, 0], [0.3, 0.7, 1], rewards={"r": Rewards(choice=[-1, 2])})
    found = solve(model, f"Rmin=? [ Cdiscount={factor!r} ]", precision=1e-14)
    g, stay = Fraction(factor), Fraction(0.3) / (Fraction(0.3) + Fraction(0.7))
    exact = (-1 + 2 * g * (1 - stay)) / (1 - g * stay - g * g * (1 - stay))
    assert found.status is Status.IMPRECISE
    assert Fraction(found.bracket.lower) <= exact <= Fraction(found.bracket.upper)
    assert found.statistics.iterations < 1000


def test_averages_that_do_not_close_end(clock: list[Watch]) -> None:
    # Nature may make any of these edges as rare as 1e-9: strategies go round in circles.
    eps = 1e-9
    model = IntervalMDP(
        [0, 2, 4, 6], [0, 2, 4, 6, 8, 10, 12], [0, 1, 0, 2, 0, 2, 1, 2, 0, 1, 0, 2], [eps] * 12, [1 - eps] * 12,
        rewards={"r": Rewards(state=[0, 5, -1])},
    )  # fmt: skip
    found = solve(model, "Rmaxmin=? [ S ]")
    assert found.status is not Status.STOPPED
    assert found.statistics.iterations < 20_000


@pytest.mark.parametrize("operator", ["max", "avg"])
def test_a_filter_over_values_that_time_did_not_settle_says_so(clock: list[Watch], operator: str) -> None:
    clock.looks = 1  # type: ignore[attr-defined]
    moves = [[s - 1, s + 1] for s in range(1, 9)]  # ruin: nothing, or all
    model = MDP(
        range(11),
        [0, *range(1, 18, 2), 18],
        [0, *np.ravel(moves), 9],
        [1, *[0.5] * 16, 1],
        initial=4,
        labels={"all": [9]},
    )
    plain = solve(model, 'P=? [ F "all" ]', method="value")
    found = solve(model, f'filter({operator}, P=? [ F "all" ], !"all")', method="value")
    assert plain.status is found.status is Status.STOPPED


# -- formulas ------------------------------------------------------------------------------------------------


def ring(states: int) -> MDP:
    pairs = np.sort([[s, (s + 1) % states] for s in range(states)], axis=1)
    return MDP(
        np.arange(states + 1), 2 * np.arange(states + 1), pairs.ravel(), np.full(2 * states, 0.5),
        labels={"a": np.arange(0, states, 2), "b": np.arange(0, states, 3)},
    )  # fmt: skip


@pytest.mark.parametrize("count", [2, 30, 200])
def test_next_after_next_is_no_work(count: int) -> None:
    looks = []
    found = solve(ring(6), f'P=? [ {"X " * count}"a" ]', progress=lambda *_: looks.append(1))
    chain = np.linalg.matrix_power(0.5 * (np.eye(6) + np.roll(np.eye(6), 1, axis=1)), count)
    assert found.value == pytest.approx(chain[0, ::2].sum())
    assert found.product is not None
    assert found.product.reading.automaton.states <= count + 3


def test_a_formula_nested_too_deeply_is_refused_in_words() -> None:
    with pytest.raises(SpecError, match=r"nested too deeply.*column"):
        solve(ring(6), f'P=? [ {"X " * 700}"a" ]')


def test_a_translation_ends_when_time_is_up(clock: list[Watch]) -> None:
    clock.looks = 300  # type: ignore[attr-defined]
    spec = Spec.parse(f'P=? [ G (F ("a" & ({"X " * 14}"b"))) ]')
    found = solve(ring(6), spec)
    assert found.status is Status.STOPPED
    assert (found.bracket.lower, found.bracket.upper) == (0.0, 1.0)
    assert found.policy.choice is not None
    assert found.nature.states == 6


# -- the clock -----------------------------------------------------------------------------------------------


def test_the_flag_goes_up_at_the_deadline() -> None:
    watch, later = Watch(time.monotonic() + 0.05), Watch(time.monotonic() + 3600)
    assert not watch.flag[0]
    ends = time.monotonic() + 20
    while not watch.flag[0] and time.monotonic() < ends:  # nobody looks, as in compiled code
        time.sleep(0.01)
    assert watch.flag[0]
    assert not later.flag[0]
    assert 3500 < later.left <= 3600


def test_policies_that_repeat_what_was_worked_out() -> None:
    model = MDP([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1])
    choices = np.array([[9, 9], [9, 9], [9, 9], [1, 2], [0, 2]], dtype=np.int32)
    made = policy_of(model, choices, 2).choice
    assert made is not None
    assert made[:, 0].tolist() == [1, 0, 1, 0, 1]
    assert policy_of(model, choices, 0) == Policy(model, [0, 2]) or policy_of(model, choices, 0).choice is not None
