"""Bounds of step-bounded properties, worked out by the judge itself: on coins of which every value is known."""

from __future__ import annotations

import numpy as np
import pytest

from umdp import IntervalMDP, Rewards, Spec
from umdp.solver.judge.horizons import bounds_of_steps
from umdp.solver.judge.question import rows_of
from umdp.solver.objective import objective_of, players

# State 0 tosses one of two coins, and again after tails; heads are the goal. State 2 leads to the goal at once.
COINS = IntervalMDP(
    [0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 0, 1, 0, 1, 1], [0.25, 0.5, 0.125, 0.25, 1, 1], [0.5, 0.75, 0.75, 0.875, 1, 1],
    labels={"goal": [1]},
    rewards={"paid": Rewards(np.array([1.0, 0.0, 4.0])), "lost": Rewards(np.array([-1.0, 0.0, 4.0]))},
)  # fmt: skip
FIRST, SECOND = np.array([0, 2, 3]), np.array([1, 2, 3])


def _bounds(text: str, choice: np.ndarray | None, *, given: bool, late: bool = False, weight: np.ndarray | None = None):
    spec = Spec.parse(text)
    asked = objective_of(COINS, spec)
    low, high = bounds_of_steps(
        rows_of(COINS, asked), asked, players(COINS, spec), (choice, weight), given, lambda: late
    )
    return low, high


def _around(bounds: tuple[np.ndarray, np.ndarray], low: float, high: float) -> bool:
    """Whether the bounds of state 0 enclose these two numbers closely."""
    return bounds[0][0] <= low <= bounds[0][0] + 1e-12 and bounds[1][0] - 1e-12 <= high <= bounds[1][0]


def test_the_agents_side_is_proved_by_its_policy() -> None:
    text = 'Pmaxmin=? [ F<=2 "goal" ]'
    best, other = 1 - 0.75**2, 1 - 0.875**2
    assert _around(_bounds(text, FIRST, given=False), best, best)
    assert _around(_bounds(text, SECOND, given=False), other, best)
    assert _around(_bounds(text, SECOND, given=True), other, other)
    assert _around(_bounds(text, np.array([SECOND, FIRST]), given=True), 1 - 0.75 * 0.875, 1 - 0.75 * 0.875)
    even = np.array([0.5, 0.5, 1.0, 1.0])
    assert _around(_bounds(text, None, given=True, weight=even), 1 - 0.8125**2, 1 - 0.8125**2)
    text = 'Pminmax=? [ F<=2 "goal" ]'
    best, other = 1 - 0.5**2, 1 - 0.25**2
    assert _around(_bounds(text, FIRST, given=False), best, best)
    assert _around(_bounds(text, SECOND, given=False), best, other)
    with pytest.raises(ValueError, match="policy"):
        _bounds(text, None, given=True)


def test_choices_belong_to_their_steps() -> None:
    first = _bounds('R{"paid"}maxmin=? [ C<=2 ]', np.array([FIRST, SECOND]), given=True)
    assert _around(first, 1 + 0.5, 1 + 0.5)  # the second toss decides nothing more
    second = _bounds('R{"paid"}maxmin=? [ C<=2 ]', np.array([SECOND, FIRST]), given=True)
    assert _around(second, 1 + 0.25, 1 + 0.25)
    assert _around(_bounds('R{"lost"}maxmin=? [ C<=2 ]', FIRST, given=True), -1.75, -1.75)


def test_what_cannot_be_missed_is_exactly_1() -> None:
    for text in ('Pmaxmin=? [ F<=3 "goal" ]', 'Pminmax=? [ F<=3 "goal" ]'):
        low, high = _bounds(text, FIRST, given=False)
        assert low[2] == high[2] == low[1] == high[1] == 1.0
        assert high[0] < 1.0
    low, high = _bounds('Pmaxmin=? [ G<=3 "goal" ]', FIRST, given=False)
    assert low[1] == high[1] == 1.0
    assert low[0] == high[0] == 0.0


def test_nothing_is_known_where_time_is_up() -> None:
    low, high = _bounds('Pmaxmin=? [ F<=40 "goal" ]', FIRST, given=False, late=True)
    assert (low[0], high[0]) == (0.0, 1.0)
    low, high = _bounds('R{"paid"}maxmin=? [ C<=40 ]', FIRST, given=False, late=True)
    assert (low[0], high[0]) == (0.0, np.inf)
    low, high = _bounds('R{"lost"}maxmin=? [ C<=40 ]', FIRST, given=False, late=True)
    assert (low[0], high[0]) == (-np.inf, np.inf)


def test_sums_beyond_all_numbers_are_bounded_by_what_there_is() -> None:
    for paid in (1.7e308, 1e308):
        rich = IntervalMDP(
            COINS.state_ptr, COINS.choice_ptr, COINS.successor, COINS.lower, COINS.upper,
            rewards={"paid": Rewards(np.array([1.0, paid, 0.0]), transition=np.array([paid, 0.0, 0.0, paid, 0.0, 0.0]))},
        )  # fmt: skip
        for text in ('R{"paid"}minmax=? [ C<=3 ]', 'R{"paid"}maxmin=? [ C<=3 ]', 'R{"paid"}minmin=? [ C<=1 ]'):
            spec = Spec.parse(text)
            asked = objective_of(rich, spec)
            for given in (False, True):
                low, high = bounds_of_steps(
                    rows_of(rich, asked), asked, players(rich, spec), (FIRST, None), given, lambda: False
                )
                assert np.isfinite(low).all()
                assert (low <= high).all()
                assert low[0] >= 0.0
                if "C<=1" not in text:
                    assert high[1] == np.inf  # two payments or more are beyond the largest number
