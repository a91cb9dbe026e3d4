"""The judge in corners that random cases seldom see: wide rows, sums next to 1, models of one transition, what is exactly 0."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from solver.judged_rounding import sums_next_to_one, wide_rows
from umdp.solver.judge import refuse, refused
from umdp.solver.judge.ambiguity import FREE, LOWER, UPPER, excess, read_row
from umdp.solver.judge.bellman import listed_order
from umdp.solver.judge.horizons import GainVectors, Play, examine_average, examine_discounted, span, step_back
from umdp.solver.judge.question import JudgedQuestion, ModelRows, TwoPart
from umdp.solver.judge.reachability import examine

EMPTY: Any = np.empty(0)


def test_nature_takes_the_best_of_many_successors() -> None:
    for arrays, worth, best in wide_rows():
        rows = ModelRows.of(*arrays.fields())
        states = worth.size + 1
        goal, through = np.zeros(states, np.bool_), np.ones(states, np.bool_)
        for nature_max, value in best.items():
            asked = JudgedQuestion(True, True, goal, through, nature_max, False, False, 0.0)
            for share in (-1e-9, 1e-9):
                x = TwoPart(np.array([value * (1 + share), *worth]), np.zeros(states))
                marks = np.zeros(states, np.bool_), np.zeros(states, np.bool_)
                examine(rows, asked, x, x, np.arange(states), np.full(states, -1), *marks)
                assert marks[0][0] == (share > 0), (states, nature_max, share)
                assert marks[1][0] == (share < 0), (states, nature_max, share)


def test_sums_next_to_one_are_compared_with_it_exactly() -> None:
    for values, exact in sums_next_to_one():
        padded = np.concatenate([[0.5], values, [0.5]])
        if values.size > 1:
            assert read_row(1, 1 + values.size, np.zeros(padded.size), padded)[0] == (FREE if exact > 0 else UPPER), (
                values
            )
        found = Fraction(float(excess(0, values.size, values)))
        assert (found > 0, found < 0) == (exact > 0, exact < 0), values
        assert abs(found - exact) <= abs(exact) * Fraction(1, 2**51), values
        kind, slack = read_row(1, 1 + values.size, padded, padded + 1e-30)
        free = exact < 0 and sum(map(Fraction, (padded + 1e-30)[1:-1].tolist())) > 1
        moves = bool((padded + 1e-30 > padded)[1:-1].any())
        assert kind == (LOWER if exact >= 0 or not moves else FREE if free else UPPER), values
        if kind == FREE:
            assert abs(Fraction(slack) + exact) <= -exact * Fraction(1, 2**51)


def _one_transition(state: Any, choice: Any, paid: Any) -> ModelRows:
    one = np.ones(1)
    return ModelRows.of(np.array([0, 1]), np.array([0, 1]), np.array([0]), one, one, state, choice, paid)


def test_a_model_of_one_transition_earns_what_it_says() -> None:
    one, none = np.ones(1), np.zeros(1, np.bool_)
    play = Play(True, False, np.zeros(1, np.int64), EMPTY)
    for rewards in ((one, EMPTY, EMPTY), (EMPTY, one, EMPTY), (EMPTY, EMPTY, one), (one, one, one)):
        rows, earned = _one_transition(*rewards), float(sum(part.size for part in rewards))
        free = rows._replace(lower=np.ones(1) / 2, upper=np.ones(1) * 2)
        for sign in (-1.0, 1.0):
            for given in (rows, free):
                out, fails = np.empty(1), np.zeros(1, np.bool_)
                for each in (play, play._replace(choice=np.empty(0, np.int64), weight=one)):
                    step_back(given, each, True, none, out, np.zeros(1), sign, listed_order(given), out)
                    assert 0.0 <= sign * (out[0] - earned) < 1e-12
                for share in (-1e-9, 1e-9):
                    x = TwoPart(np.array([2 * earned * (1 + share)]), np.zeros(1))
                    assert examine_discounted(given, play, 0.5, 0.0, x, sign, fails) == int(sign * share < 0)
                    gain = TwoPart(np.array([earned * (1 + share)]), np.zeros(1))
                    found = GainVectors(gain, np.zeros(1), np.zeros(1, np.int64))
                    assert examine_average(given, play, 0.0, found, sign, fails) == int(sign * share < 0)
        # Paid for ever, the total has no bound from above; from below it is infinite.
        asked = JudgedQuestion(True, True, none, np.ones(1, np.bool_), True, False, False, 0.0)
        marks = np.zeros(1, np.bool_), np.zeros(1, np.bool_)
        endless, some = TwoPart(np.array([np.inf]), np.zeros(1)), TwoPart(np.array([9.0]), np.zeros(1))
        for given in (rows, free):
            assert examine(given, asked, endless, some, np.zeros(1, np.int64), np.zeros(1, np.int64), *marks) == (0, 1)


def test_what_is_exactly_nothing_stays_nothing() -> None:
    """Zero values are confirmed and handed on as they are: nothing is rounded where nothing is added."""
    lower, upper = np.array([0.25, 0.5, 1.0]), np.array([0.5, 0.75, 1.0])
    for low, high in ((lower, upper), (upper, upper), (lower, lower)):
        rows = ModelRows.of(
            np.array([0, 1, 2]), np.array([0, 2, 3]), np.array([0, 1, 1]), low, high, EMPTY, EMPTY, EMPTY
        )
        x, fails, out = TwoPart(np.zeros(2), np.zeros(2)), np.ones(2, np.bool_), np.ones(2)
        for sign in (-1.0, 1.0):
            for weight in (EMPTY, np.array([0.5, 0.5])):
                play = Play(True, False, np.arange(2), weight)
                step_back(rows, play, True, np.zeros(2, np.bool_), out, np.zeros(2), sign, listed_order(rows), out)
                assert out.tolist() == [0.0, 0.0]
                assert examine_discounted(rows, play, 0.9, 0.0, x, sign, fails) == 0
            found = GainVectors(x, np.zeros(2), np.zeros(2, np.int64))
            assert examine_average(rows, play, 0.0, found, sign, fails) == 0


def _two_states(lower: list[float], upper: list[float]) -> ModelRows:
    """Return state 0, which stays or goes to state 1; and state 1, which goes to state 2 or 3 alike; these are never left."""
    return ModelRows.of(
        np.arange(5), np.array([0, 2, 4, 5, 6]), np.array([0, 1, 2, 3, 2, 3]),
        np.array([*lower, 0.5, 0.5, 1.0, 1.0]), np.array([*upper, 0.5, 0.5, 1.0, 1.0]), EMPTY, EMPTY, EMPTY,
    )  # fmt: skip


def test_a_state_that_nature_need_not_leave_is_worth_nothing() -> None:
    """The chance of going on may be cut: then its value of 1/2 is a fixed point, and a lie; not if nature must go on."""
    goal, through = np.array([False, False, True, False]), np.ones(4, np.bool_)
    asked = JudgedQuestion(False, False, goal, through, False, False, False, 1.0)
    low = TwoPart(np.array([0.4375, 0.4375, 1.0, 0.0]), np.zeros(4))
    high = TwoPart(np.ones(4), np.zeros(4))
    for lower, upper, holds in (
        ([0.0, 0.0], [1.0, 1.0], False), ([0.0, 0.0], [0.75, 1.0], True), ([0.0, 0.25], [1.0, 1.0], True),
        ([0.5, 0.5], [0.5, 0.5], True), ([0.0, 0.5], [0.5, 0.5], True), ([1.0, 0.0], [1.0, 0.5], False),
        ([0.5, 0.0], [1.0, 0.0], False),
    ):  # fmt: skip
        marks = np.zeros(4, np.bool_), np.zeros(4, np.bool_)
        examine(_two_states(lower, upper), asked, low, high, np.arange(4), np.full(4, -1), *marks)
        assert marks[0][0] == (not holds), (lower, upper)


def test_what_the_graph_says_is_reached_surely_is_worth_one() -> None:
    """Listed transitions are there: a state that can only stay or reach the goal reaches it, however small the chance."""
    goal, through = np.array([False, True]), np.ones(2, np.bool_)
    rows = ModelRows.of(
        np.arange(3),
        np.array([0, 2, 3]),
        np.array([0, 1, 1]),
        np.array([0.0, 0.0, 1.0]),
        np.ones(3),
        EMPTY,
        EMPTY,
        EMPTY,
    )
    for top in (1.0, 0.0):
        asked = JudgedQuestion(False, False, goal, through, False, False, False, top)
        x, marks = TwoPart(np.full(2, top), np.zeros(2)), (np.zeros(2, np.bool_), np.zeros(2, np.bool_))
        assert examine(rows, asked, x, x, np.arange(2), np.full(2, -1), *marks) == (0, 0)
        # A transition that has no room is not there.
        stuck = rows._replace(lower=np.array([1.0, 0.0, 1.0]), upper=np.array([1.0, 0.5, 1.0]))
        examine(stuck, asked, x, x, np.arange(2), np.full(2, -1), *marks)
        assert marks[0].tolist() == [True, False]
        # Nor is the goal reached surely where upper bounds that sum to 1 lead elsewhere, too.
        halves = _two_states([0.0, 0.0], [1.0, 1.0])._replace(
            lower=np.array([0.0, 1.0, 0.0, 0.5, 1.0, 1.0]), upper=np.array([0.0, 1.0, 0.5, 0.5, 1.0, 1.0])
        )
        for lower in ([0.0, 0.5], [0.5, 0.0]):
            halves.lower[2:4] = lower
            four = asked._replace(goal=np.array([False, False, True, False]), through=np.ones(4, np.bool_))
            low = TwoPart(np.array([top, top, top, top - 1.0]), np.zeros(4))
            found = np.zeros(4, np.bool_), np.zeros(4, np.bool_)
            examine(halves, four, low, low, np.arange(4), np.full(4, -1), *found)
            assert found[0][1]


def test_payments_that_may_end_are_not_endless() -> None:
    """State 0 pays and stays, or goes to state 1, which pays nothing: its upper bounds sum to 1, so that it goes there."""
    goal, through = np.zeros(2, np.bool_), np.ones(2, np.bool_)
    asked = JudgedQuestion(True, True, goal, through, True, False, False, 0.0)
    endless, paying = TwoPart(np.array([np.inf, 0.0]), np.zeros(2)), np.array([1.0, 0.0])
    for lower, upper in (([0.5, 0.0], [0.5, 0.5]), ([0.25, 0.0], [0.5, 0.75]), ([0.5, 0.25], [0.75, 0.5])):
        rows = ModelRows.of(
            np.arange(3), np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([*lower, 1.0]), np.array([*upper, 1.0]),
            EMPTY, paying, EMPTY,
        )  # fmt: skip
        marks = np.zeros(2, np.bool_), np.zeros(2, np.bool_)
        examine(rows, asked, endless, endless, np.arange(2), np.array([0, -1]), *marks)
        assert marks[0][0], (lower, upper)


def test_nature_holds_back_only_what_it_may() -> None:
    """Whether nature, who maximises, can keep a play from the goal: not if the goal has a positive lower bound."""
    goal, through = np.array([False, True]), np.ones(2, np.bool_)
    asked = JudgedQuestion(True, False, goal, through, True, False, False, 0.0)
    endless = TwoPart(np.array([np.inf, 0.0]), np.zeros(2))
    for lower, upper, holds in (
        ([0.5, 0.25], [1.0, 0.5], False), ([0.5, 0.0], [1.0, 0.5], True), ([0.5, 0.0], [0.875, 0.5], False),
        ([0.5, 0.0], [0.5, 0.5], False), ([1.0, 0.0], [1.0, 0.5], True),
    ):  # fmt: skip
        for way in (1, -1):  # the order of a row does not matter
            rows = ModelRows.of(
                np.arange(3), np.array([0, 2, 3]), np.array([*[0, 1][::way], 1]), np.array([*lower[::way], 1.0]),
                np.array([*upper[::way], 1.0]), EMPTY, EMPTY, EMPTY,
            )  # fmt: skip
            marks = np.zeros(2, np.bool_), np.zeros(2, np.bool_)
            examine(rows, asked, endless, endless, np.arange(2), np.array([0, -1]), *marks)
            assert marks[0][0] == (not holds), (lower, upper)


def test_almost_one_is_not_one() -> None:
    """State 0 goes to state 1, which misses the goal once in 2^60: whoever calls that certain is refused, on either scale."""
    rows = ModelRows.of(
        np.arange(5), np.array([0, 1, 3, 4, 5]), np.array([1, 2, 3, 2, 3]), *(np.array([1.0, 1.0, 2.0**-60, 1.0, 1.0]),) * 2,
        EMPTY, EMPTY, EMPTY,
    )  # fmt: skip
    goal, through = np.array([False, False, True, False]), np.ones(4, np.bool_)
    for top in (1.0, 0.0):
        asked = JudgedQuestion(False, False, goal, through, True, False, False, top)
        low = TwoPart(np.array([top, top, top, top - 1.0]), np.array([0.0, -(2.0**-59), 0.0, 0.0]))
        marks = np.zeros(4, np.bool_), np.zeros(4, np.bool_)
        examine(rows, asked, low, low, np.arange(4), np.full(4, -1), *marks)
        assert marks[0].tolist() == [True, False, False, False]


def test_weighted_choices_are_rounded_outwards() -> None:
    """Choices that earn any numbers, weighted by any: the exact mean lies on the right side, and not far."""
    rng = np.random.default_rng(43)
    for _ in range(60):
        n = int(rng.integers(1, 6))
        earned, weight, own = rng.normal(size=n) ** 3, rng.dirichlet(np.ones(n)), rng.normal(size=1)
        one = np.ones(n)
        rows = ModelRows.of(np.array([0, n]), np.arange(n + 1), np.zeros(n, np.int64), one, one, own, earned, EMPTY)
        shares, worth = ([Fraction(float(v)) for v in part] for part in (weight, earned))
        worth = [v + Fraction(float(own[0])) for v in worth]
        mean = sum(w * v for w, v in zip(shares, worth, strict=True)) / sum(shares)
        size = 1 + max(map(abs, worth))
        for sign in (-1.0, 1.0):
            out, play = np.zeros(1), Play(True, False, np.zeros(1, np.int64), weight)
            step_back(rows, play, True, np.zeros(1, np.bool_), out, np.zeros(1), sign, listed_order(rows), out)
            assert 0 <= (Fraction(float(out[0])) - mean) * Fraction(sign) <= size / 10**13
            step_back(
                rows,
                play._replace(weight=EMPTY),
                True,
                np.zeros(1, np.bool_),
                out,
                np.zeros(1),
                sign,
                listed_order(rows),
                out,
            )
            assert 0 <= (Fraction(float(out[0])) - worth[0]) * Fraction(sign) <= size / 10**13


def test_an_endless_reward_that_cannot_come_is_no_reason() -> None:
    """State 0 stays or reaches the goal, and earns nothing; the transition to where rewards are endless has no room."""
    goal, through = np.array([False, True, False]), np.ones(3, np.bool_)
    low = TwoPart(np.array([5.0, 0.0, np.inf]), np.zeros(3))
    for lower, upper in (([0.25, 0.25, 0.0], [0.75, 0.75, 0.0]), ([0.5, 0.5, 0.0], [0.5, 0.5, 0.5])):
        rows = ModelRows.of(
            np.arange(4), np.array([0, 3, 4, 5]), np.array([0, 1, 2, 1, 2]), np.array([*lower, 1.0, 1.0]),
            np.array([*upper, 1.0, 1.0]), EMPTY, EMPTY, EMPTY,
        )  # fmt: skip
        for nature_max in (False, True):
            asked = JudgedQuestion(True, False, goal, through, nature_max, False, False, 0.0)
            marks = np.zeros(3, np.bool_), np.zeros(3, np.bool_)
            examine(rows, asked, low, low, np.arange(3), np.array([-1, -1, 0]), *marks)
            assert marks[0].tolist() == [True, False, False]


def test_products_next_to_nothing_do_not_vanish() -> None:
    """What is worth the smallest number there is, once in a thousand times, is worth more than nothing."""
    least, one = 5e-324, np.ones(2)
    weight, none = np.array([1e-3, 0.999]), np.zeros(1, np.bool_)
    rows = ModelRows.of(
        np.array([0, 2]), np.arange(3), np.zeros(2, np.int64), one, one, EMPTY, np.array([least, 0.0]), EMPTY
    )
    out, fails, play = np.zeros(1), np.zeros(1, np.bool_), Play(True, False, np.zeros(1, np.int64), weight)
    step_back(rows, play, True, none, out, np.zeros(1), 1.0, listed_order(rows), out)
    assert out[0] > 0.0
    nothing = TwoPart(np.zeros(1), np.zeros(1))
    assert examine_discounted(rows, play, 0.5, 0.0, nothing, 1.0, fails) == 1
    # d x = 5e-324 / 1000 is left over, and so is what comes after it.
    single = _one_transition(np.full(1, least), EMPTY, EMPTY)
    alone = Play(True, False, np.zeros(1, np.int64), EMPTY)
    assert examine_discounted(single, alone, 1e-3, 0.0, TwoPart(np.full(1, least), np.zeros(1)), 1.0, fails) == 1


def test_averages_need_an_order_and_one_gain_a_component() -> None:
    # State 0 never leaves, though a transition to state 1, which earns 5 for ever, is listed.
    rows = ModelRows.of(
        np.arange(3), np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([1.0, 0.0, 1.0]), np.array([1.0, 0.5, 1.0]),
        np.array([0.0, 5.0]), EMPTY, EMPTY,
    )  # fmt: skip
    fails, play = np.zeros(2, np.bool_), Play(True, False, np.arange(2), EMPTY)
    five = TwoPart(np.array([5.0 - 1e-9, 5.0 - 1e-9]), np.zeros(2))
    examine_average(rows, play, 0.0, GainVectors(five, np.zeros(2), np.array([-1, 0])), -1.0, fails)
    assert fails.tolist() == [True, False]
    # Two states in turn, which earn 0 and 1: the average is 1/2 in both, and not what each earns.
    turns = ModelRows.of(
        np.arange(3), np.arange(3), np.array([1, 0]), np.ones(2), np.ones(2), np.array([0.0, 1.0]), EMPTY, EMPTY
    )
    for gain in (TwoPart(np.array([0.5, 1.5]), np.zeros(2)), TwoPart(np.full(2, 0.5), np.array([0.0, 1.0]))):
        for sign in (-1.0, 1.0):
            assert examine_average(turns, play, 0.0, GainVectors(gain, np.zeros(2), np.zeros(2, np.int64)), sign, fails)


def test_a_value_is_compared_with_a_level_to_the_last_digit() -> None:
    asked = JudgedQuestion(False, False, np.ones(1, np.bool_), np.ones(1, np.bool_), True, False, False, 1.0)
    rows = _one_transition(EMPTY, EMPTY, EMPTY)
    for base, offset in (
        (1.0, 0.0), (1.0, 5e-324), (1.0, -5e-324), (1.0 + 2.0**-52, -(2.0**-52) * (1 - 2.0**-50)), (1.0 + 2.0**-52, -(2.0**-51)),
        (1.0 - 2.0**-53, 2.0**-53 * (1 + 2.0**-50)), (1.0 - 2.0**-53, 2.0**-54), (2.0, -1.0 + 2.0**-53), (2.0, -1.0 - 2.0**-40),
        (0.0, 1.0 - 2.0**-40), (0.0, 1.0 + 2.0**-52), (0.75, 0.25 - 2.0**-54), (3.0, -2.0),
    ):  # fmt: skip
        x, marks = TwoPart(np.array([base]), np.array([offset])), (np.zeros(1, np.bool_), np.zeros(1, np.bool_))
        examine(rows, asked, x, x, np.zeros(1, np.int64), np.full(1, -1), *marks)
        exact = Fraction(base) + Fraction(offset) - 1
        assert marks[0][0] or exact <= 0, (base, offset)
        assert marks[1][0] or exact >= 0, (base, offset)
        if abs(exact) > Fraction(1, 2**50) * abs(Fraction(base) - 1) or (base == 1.0 and offset == 0.0):
            assert (marks[0][0], marks[1][0]) == (exact > 0, exact < 0), (base, offset)


def test_refusals_are_counted() -> None:
    before = refused()
    refuse()
    assert refused() == before + 1


def test_no_average_is_beyond_what_a_step_earns() -> None:
    """Rewards of a state, a choice and a transition each; sums that are rounded are rounded outwards."""
    rng = np.random.default_rng(131)
    for _ in range(200):
        state, choice, paid = (rng.normal(size=size) * 10.0 ** rng.integers(-9, 9) for size in (2, 3, 4))
        rows = ModelRows.of(
            np.array([0, 2, 3]), np.array([0, 2, 3, 4]), np.array([0, 1, 1, 0]), np.full(4, 0.5), np.full(4, 0.5), state,
            choice, paid,
        )  # fmt: skip
        for kept in range(8):
            left = {
                name: EMPTY for i, name in enumerate(("state_reward", "choice_reward", "paid")) if not kept >> i & 1
            }
            some = rows._replace(**left)
            earned = [
                sum(
                    Fraction(float(part[place]))
                    for part, place in ((some.state_reward, s), (some.choice_reward, c), (some.paid, t))
                    if part.size
                )
                for t, (s, c) in enumerate(((0, 0), (0, 0), (0, 1), (1, 2)))
            ]
            least, most = span(some)
            size = sum(
                float(np.abs(part).max(initial=0.0)) for part in (some.state_reward, some.choice_reward, some.paid)
            )
            assert 0 <= min(earned) - Fraction(least) <= Fraction(1e-14 * size)
            assert 0 <= Fraction(most) - max(earned) <= Fraction(1e-14 * size)


def test_a_total_with_cuts_is_bounded_from_above_where_nature_maximises() -> None:
    """State 0 earns 1 and stays with probability up to 1/2, so that the total is 2 at most; from below there is no theorem."""
    lower, upper = np.array([0.0, 0.5, 1.0]), np.array([0.5, 1.0, 1.0])
    ptr, earned = np.array([0, 2, 3]), np.array([1.0, 0.0])
    rows = ModelRows.of(np.arange(3), ptr, np.array([0, 1, 1]), lower, upper, earned, EMPTY, EMPTY)
    none, choice, trap = np.zeros(2, np.bool_), np.arange(2), np.full(2, -1)
    for nature_max in (True, False):
        asked = JudgedQuestion(True, True, none, ~none, nature_max, False, False, 0.0)
        for low, high, left in (
            (0.0, 2.000001, (0, 0)),
            (0.0, 1.999999, (0, 1)),
            (1.0, 3.0, (1, 0)),
            (0.0, np.inf, (0, 0)),
        ):
            marks = np.zeros(2, np.bool_), np.zeros(2, np.bool_)
            vectors = (TwoPart(np.array([value, 0.0]), np.zeros(2)) for value in (low, high))
            found = examine(rows, asked, *vectors, choice, trap, *marks)
            assert found == (left if nature_max else (left[0], 2))  # what nature cuts may be what pays
