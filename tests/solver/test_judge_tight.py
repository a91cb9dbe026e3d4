"""Inequalities that fail by less than a rounding are refused, and what is rounded is rounded outwards."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from solver.judged_rounding import EMPTY, Shown, tight_averages, tight_bounds, tight_discounted, tight_steps
from umdp.solver.judge.bellman import listed_order
from umdp.solver.judge.horizons import GainVectors, Play, examine_average, examine_discounted, step_back
from umdp.solver.judge.question import JudgedQuestion, ModelRows, TwoPart
from umdp.solver.judge.reachability import examine


def _play(shown: Shown, weighted: bool = False) -> Play:
    states = shown.arrays.states
    return Play(shown.nature_max, False, np.arange(states), np.full(states, 0.3) if weighted else EMPTY)


def test_bounds_that_fail_by_less_than_a_rounding_are_refused() -> None:
    for shown in tight_bounds():
        rows, states = ModelRows.of(*shown.arrays.fields()), shown.arrays.states
        goal, through, nowhere = np.zeros(states, np.bool_), np.ones(states, np.bool_), np.full(states, -1)
        x = TwoPart(shown.base, shown.offset)
        for total in (False, True):
            asked = JudgedQuestion(True, total, goal, through, shown.nature_max, False, False, 0.0)
            marks = np.zeros(states, np.bool_), np.zeros(states, np.bool_)
            examine(rows, asked, x, x, np.arange(states), nowhere, *marks)
            assert marks[int(shown.sign > 0)][0], shown.about


def test_discounted_sums_that_fail_by_less_than_a_rounding_are_refused() -> None:
    for shown in tight_discounted():
        rows, x = ModelRows.of(*shown.arrays.fields()), TwoPart(shown.base, shown.offset)
        for weighted in (False, True):
            fails = np.zeros(shown.arrays.states, np.bool_)
            examine_discounted(rows, _play(shown, weighted), shown.discount, 0.0, x, shown.sign, fails)
            assert fails[0], shown.about


def test_averages_that_fail_by_less_than_a_rounding_are_refused() -> None:
    for shown in tight_averages():
        rows, fails = ModelRows.of(*shown.arrays.fields()), np.zeros(shown.arrays.states, np.bool_)
        found = GainVectors(TwoPart(shown.base, shown.offset), shown.value, shown.component)
        examine_average(rows, _play(shown), 0.0, found, shown.sign, fails)
        assert fails[0], shown.about


def test_a_step_backwards_is_never_rounded_inwards() -> None:
    for shown, exact, size in tight_steps():
        rows, states = ModelRows.of(*shown.arrays.fields()), shown.arrays.states
        none, out = np.zeros(states, np.bool_), np.empty(states)
        for weighted in (False, True):
            play = _play(shown, weighted)
            step_back(rows, play, True, none, shown.base, shown.base, shown.sign, listed_order(rows), out)
            beyond = (Fraction(float(out[0])) - exact) * Fraction(shown.sign)
            assert 0 <= beyond <= Fraction(1, 10**12) * size + Fraction(1, 10**300), shown.about
