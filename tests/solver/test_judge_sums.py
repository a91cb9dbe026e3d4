"""Sums and single steps, by random cases whose verdict is known in rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from solver.judged_sums import SumCase, average_cases, discounted_cases, steps
from umdp.solver.judge.bellman import listed_order
from umdp.solver.judge.horizons import GainVectors, Play, examine_average, examine_discounted, step_back
from umdp.solver.judge.question import ModelRows, TwoPart


def _play(case: SumCase) -> Play:
    return Play(case.nature_max, case.every, case.choice, case.weight)


def _sandwiched(cases: list[SumCase]) -> tuple[int, int]:
    """Assert that what must be refused is, and that what may not be is not; return how many passed, and failed in one state."""
    passed = refused = 0
    for number, case in enumerate(cases):  # what was marked before does not matter
        rows, fails = ModelRows.of(*case.arrays.fields()), np.full(case.arrays.states, number % 2 == 0)
        if case.component is None:
            count = examine_discounted(
                rows, _play(case), case.discount, case.reward_error, TwoPart(*case.x), case.sign, fails
            )
        else:
            found = GainVectors(TwoPart(*case.gain), case.x[0], case.component)
            count = examine_average(rows, _play(case), case.reward_error, found, case.sign, fails)
        marked = set(np.flatnonzero(fails).tolist())
        assert count == len(marked), case.name
        assert case.must_refuse <= marked, f"{case.name}: {case.must_refuse - marked} do not satisfy the theorem"
        assert marked <= case.may_refuse, f"{case.name}: {marked - case.may_refuse} satisfy it with room"
        passed += not marked
        refused += len(case.must_refuse) == 1
    return passed, refused


def test_discounted_sums_that_fail_are_refused_and_those_with_room_confirmed() -> None:
    passed, refused = _sandwiched(discounted_cases(400))
    assert passed > 60
    assert refused > 60


def test_averages_that_fail_are_refused_and_those_with_room_confirmed() -> None:
    passed, refused = _sandwiched(average_cases(500))
    assert passed > 60
    assert refused > 60


def test_a_step_backwards_is_rounded_outwards_and_not_far() -> None:
    for case, exact in steps(300):
        rows, out = ModelRows.of(*case.arrays.fields()), np.full(case.arrays.states, np.nan)
        step_back(
            rows, _play(case), case.agent_max, case.decided, case.worth, case.x[0], case.sign, listed_order(rows), out
        )
        for s, worth in enumerate(exact):
            if worth is None:
                assert out[s] == case.sign * np.inf, case.name
                continue
            beyond = (Fraction(float(out[s])) - worth) * Fraction(case.sign)
            assert 0 <= beyond <= Fraction(1, 10**13), f"{case.name}, state {s}: {out[s]} for {worth}"
            if case.decided[s]:
                assert beyond == 0


def test_parts_are_rounded_by_their_sizes() -> None:
    """One state that stays and earns a little more than a bound of two parts says, which nearly cancel or are nearly the same."""
    rng, state, stay = np.random.default_rng(139), np.zeros(1, np.int64), np.ones(1)
    play, fails, none = Play(True, True, state, np.empty(0)), np.zeros(1, np.bool_), np.empty(0)
    for _ in range(3000):
        discount, sign = float(1 - 0.5 * rng.random() ** 3), float(rng.choice([-1.0, 1.0]))
        base = float(rng.random())
        parts = np.array([base]), np.array([base * rng.choice([-1, 1]) + rng.normal() * 2.0 ** rng.integers(-60, -3)])
        bound = sum(Fraction(float(part[0])) for part in parts)
        for share in (1 - Fraction(discount), Fraction(1)):
            reward = float(share * bound)
            while (Fraction(reward) - share * bound) * Fraction(sign) <= 0:
                reward = float(np.nextafter(reward, sign * np.inf))
            earned = np.array([reward])
            rows = ModelRows.of(np.array([0, 1]), np.array([0, 1]), state, stay, stay, earned, none, none)
            if share < 1:
                assert examine_discounted(rows, play, discount, 0.0, TwoPart(*parts), sign, fails) == 1
            else:
                found = GainVectors(TwoPart(*parts), np.zeros(1), state)
                assert examine_average(rows, play, 0.0, found, sign, fails) == 1
