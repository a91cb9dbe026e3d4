"""What is put to the judge, and what is made of its answer: on a coin with two choices, of which every value is known."""

from __future__ import annotations

import numpy as np

from umdp import IntervalMDP, Rewards, Spec
from umdp.solver.judge.question import (
    TwoPart,
    answer_of,
    case_of,
    consistent,
    one_minus,
    plausible,
    plausible_end,
    rounded_sum,
    rows_of,
)
from umdp.solver.judge.reachability import ends_of, examine
from umdp.solver.objective import objective_of, players

NOT = np.full(3, -1, np.int64)
STEP, ROOM = 1 / 16, 2.0**-40
TINY = 2.0**-80
# State 0 tosses one of two coins; heads lead to the goal, tails to a state that is never left.
COINS = IntervalMDP(
    [0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], [0.25, 0.5, 0.125, 0.25, 1, 1], [0.5, 0.75, 0.75, 0.875, 1, 1],
    labels={"goal": [1], "lost": [2]},
    rewards={
        "all": Rewards(np.array([1.0, 0.0, 0.0]), np.array([2.0, 4.0, 0.0, 0.0]), np.array([8.0, 0.0, 0.0, 8.0, 0.0, 0.0])),
        "some": Rewards(choice=np.array([2.0, 4.0, 0.0, 0.0])),
    },
)  # fmt: skip
VALUES = {  # the value in state 0, and the choice that is taken there
    'Pmaxmin=? [ F "goal" ]': (0.25, 0), 'Pmaxmax=? [ F "goal" ]': (0.75, 1), 'Pminmax=? [ F "goal" ]': (0.5, 0),
    'Pminmin=? [ F "goal" ]': (0.125, 1), 'Pmaxmin=? [ G !"goal" ]': (0.5, 0), 'Pmaxmax=? [ G !"goal" ]': (0.875, 1),
    'Pminmax=? [ G !"goal" ]': (0.75, 0), 'Pminmin=? [ G !"goal" ]': (0.25, 1),
    'Pmaxmax=? [ !"lost" U "goal" ]': (0.75, 1), 'Pmaxmax=? [ "goal" U "lost" ]': (0.0, 0),
    'R{"all"}maxmin=? [ F "goal"|"lost" ]': (7.0, 1), 'R{"all"}minmax=? [ F "goal"|"lost" ]': (7.0, 0),
    'R{"some"}maxmin=? [ F "goal"|"lost" ]': (4.0, 1), 'R{"some"}minmin=? [ C ]': (2.0, 0), 'R{"all"}maxmax=? [ C ]': (12.0, 1),
}  # fmt: skip


def _vector(case, value: float, more: float = 0.0) -> TwoPart:
    """Return a value of state 0 as the judge has it, of reaching (less 1 with `complement`), with something added to that."""
    asked = case.asked
    level = 0.0 if asked.reward else asked.top - 1.0
    reached = 1.0 - value if case.safety and not asked.reward else value
    base = np.array(
        [reached + level + more, asked.top if asked.goal[1] else level, asked.top if asked.goal[2] else level]
    )
    return TwoPart(base, np.zeros(3))


def _passes(case, low: TwoPart, high: TwoPart, taken: int) -> tuple[int, int]:
    choice, marks = np.array([taken, 2, 3]), (np.zeros(3, np.bool_), np.zeros(3, np.bool_))
    return examine(case.rows, case.asked, low, high, choice, NOT, *marks)


def test_the_question_is_the_one_that_was_asked() -> None:
    for text, (value, taken) in VALUES.items():
        spec = Spec.parse(text)
        asked = objective_of(COINS, spec)
        for complement in (False, True) if spec.kind == "P" else (False,):
            case = case_of(COINS, asked, *players(COINS, spec), complement=complement)
            under, over = (_vector(case, value, sign * ROOM) for sign in (-1, 1))
            assert _passes(case, under, over, taken) == (0, 0), text
            assert _passes(case, _vector(case, value, STEP), over, taken) == (1, 0), text
            if value > 0:
                assert _passes(case, under, _vector(case, value, -STEP), taken) == (0, 1), text
                # By the other choice, the agent's side is not proved.
                assert _passes(case, under, over, 1 - taken) == ((1, 0) if case.asked.all_above else (0, 1)), text


def test_the_answer_is_about_what_was_asked() -> None:
    for text, (value, _) in VALUES.items():
        spec = Spec.parse(text)
        asked = objective_of(COINS, spec)
        for complement in (False, True) if spec.kind == "P" else (False,):
            case = case_of(COINS, asked, *players(COINS, spec), complement=complement)
            assert case.complement == complement
            vector = _vector(case, value)
            sides = [TwoPart(vector.base, vector.offset + np.array([sign * TINY, 0, 0])) for sign in (-1, 1)]
            low, high = answer_of(case, sides[0], sides[1])
            assert low[0] <= value <= high[0], text
            assert high[0] - low[0] <= 2.0**-50 * max(value, 1.0), text
            if value > 0:
                assert low[0] < value < high[0], text  # the second parts are not forgotten
            one = answer_of(case, sides[0], sides[1], np.array([0]))
            assert [float(end[0]) for end in one] == [low[0], high[0]]


def test_rows_are_those_of_the_model() -> None:
    asked = objective_of(COINS, Spec.parse('R{"all"}maxmin=? [ F "goal" ]'))
    rows, paid = rows_of(COINS, asked), COINS.rewards["all"]
    assert rows.lower is COINS.lower
    assert rows.upper is COINS.upper
    assert rows.successor is COINS.successor
    for found, given in zip(rows[5:], (paid.state, paid.choice, paid.transition), strict=True):
        assert found is given
    assert [part.size for part in rows_of(COINS, objective_of(COINS, Spec.parse('Pmaxmin=? [ F "goal" ]')))[5:]] == [
        0,
        0,
        0,
    ]
    some = rows_of(COINS, objective_of(COINS, Spec.parse('R{"some"}maxmin=? [ F "goal" ]')))
    assert [part.size for part in some[5:]] == [0, 4, 0]


def test_sums_and_differences_are_rounded_outwards() -> None:
    base, offset = np.array([1.0, 1.0, 1.0, np.inf]), np.array([TINY, -TINY, 0.0, 0.0])
    below, above = rounded_sum(base, offset, up=False), rounded_sum(base, offset, up=True)
    assert below.tolist() == [1.0, np.nextafter(1.0, 0.0), 1.0, np.inf]
    assert above.tolist() == [np.nextafter(1.0, 2.0), 1.0, 1.0, np.inf]
    sides = TwoPart(base, offset), TwoPart(base, -offset)
    assert ends_of(*sides, 0, False) == (1.0, 1.0)
    assert ends_of(*sides, 1, False) == (np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0))
    assert ends_of(*sides, 1, True) == (-np.nextafter(1.0, 2.0), -np.nextafter(1.0, 0.0))
    assert ends_of(*sides, 2, True) == (-1.0, -1.0)
    low, high = one_minus(np.array([0.0, 0.25, 2.0**-60, 1.0]), np.array([0.0, 0.5, 2.0**-60, 1.0]))
    assert low[0] == high[0] == 1.0
    assert low[3] == high[3] == 0.0
    assert low[1] < 0.5
    assert high[1] > 0.75
    assert low[2] < 1.0 <= high[2]
    assert high[2] == 1.0


def test_bounds_stay_within_what_is_possible() -> None:
    low, high = plausible("P", np.array([-0.5, 0.25, 0.75, np.nan]), np.array([0.5, 1.5, 0.5, 0.5]))
    assert low.tolist() == [0.0, 0.25, 0.0, 0.0]
    assert high.tolist() == [0.5, 1.0, 1.0, 1.0]
    low, high = plausible("R", np.array([-0.5, 0.25, 0.75, 2.0]), np.array([0.5, 1.5, 0.5, np.inf]))
    assert low.tolist() == [0.0, 0.25, 0.0, 2.0]
    assert high.tolist() == [0.5, 1.5, np.inf, np.inf]
    assert plausible_end("P", -0.5, 1.5) == (0.0, 1.0)
    assert plausible_end("P", 0.75, 0.5) == (0.0, 1.0)
    assert plausible_end("R", 2.0, 3.0) == (2.0, 3.0)
    assert plausible_end("R", 3.0, 2.0) == (0.0, np.inf)
    assert plausible_end("P", np.nan, 0.5) == (0.0, 1.0)
    low, high = consistent(np.array([1.0, 2.0, np.nan]), np.array([1.0, 1.0, 1.0]))
    assert low.tolist() == [1.0, -np.inf, -np.inf]
    assert high.tolist() == [1.0, np.inf, np.inf]
