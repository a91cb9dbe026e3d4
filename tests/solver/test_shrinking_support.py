"""Lower bounds of 0 where it matters what can be kept for ever: brackets hold against all policies and vertices, listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from oracles.exact import Model
from oracles.infinite_horizon import listed
from properties.bridge import PLAYERS, to_model
from properties.test_infinite_horizon import drawn
from umdp import IntervalMDP, Rewards, Status, evaluate, solve
from umdp.solver.result import Bracket, DraftBounds, Solution
from umdp.solver.support import harsher, milder
from umdp.solver.task import cut_rows


def samples(count: int, what: str) -> Iterator[tuple[int, IntervalMDP, Model]]:
    """Give models of which nature may cut something."""
    for number in range(1000):
        instance = drawn(51, number, signed=what == "S", zero_lower=True, small=True)
        model = to_model(instance)
        if cut_rows(model).any():
            yield number, model, instance.model
            count -= 1
        if count == 0:
            return
    raise AssertionError("too few")


@pytest.mark.parametrize("what", ["S", "C"])
def test_the_value_lies_between_the_harsher_and_the_milder_model(what: str) -> None:
    for number, model, oracle in samples(40, what):
        for agent, nature in PLAYERS:
            solution = solve(model, f"R{agent}{nature}=? [ {what} ]")
            for s, exact in enumerate(listed(oracle, agent, nature, what)):  # type: ignore[arg-type]
                low, high = solution.lower[s], solution.upper[s]
                assert low <= exact if np.isinf(low) else Fraction(float(low)) <= exact, (number, agent, nature, s)
                assert exact <= high if np.isinf(high) else exact <= Fraction(float(high)), (number, agent, nature, s)


def test_the_policy_keeps_its_side() -> None:
    for number, model, _ in samples(25, "S"):
        for agent, nature in PLAYERS:
            spec = f"R{agent}{nature}=? [ S ]"
            solution = solve(model, spec)
            own = evaluate(model, spec, solution.policy).bracket
            if agent == "max":
                assert own.upper >= solution.bracket.lower - 1e-6, (number, spec)
            else:
                assert own.lower <= solution.bracket.upper + 1e-6, (number, spec)


def machine(low: float) -> IntervalMDP:
    """Up pays 1 and breaks with probability `low` to 0.5; a repair that nature may put off for ever."""
    return IntervalMDP(
        [0, 2, 3], [0, 2, 3, 5], [0, 1, 0, 0, 1], [0.5, low, 1, 0, 0], [1 - low, 0.5, 1, 1, 1],
        rewards={"r": Rewards(choice=[1.0, 0.25, 0.0])},
    )  # fmt: skip


def test_the_agent_stays_away_from_what_nature_may_cut() -> None:
    solution = solve(machine(0.1), "Rmaxmin=? [ S ]")
    assert solution.bracket.lower == pytest.approx(0.25, abs=1e-9)  # the second choice stays up for ever
    assert solution.policy.choice.tolist()[0] == 1
    assert solution.status is Status.OPEN_ENDS or solution.bracket.upper == pytest.approx(0.25, abs=1e-6)


def test_the_milder_model_is_a_part_of_the_model_and_has_nothing_to_cut() -> None:
    for _, model, _ in samples(25, "S"):
        paid = next(iter(model.rewards.values()))
        mild, (hard, _) = milder(model, paid, "r"), harsher(model, paid, 0.0, "r")
        assert not cut_rows(mild).any()
        assert not cut_rows(hard).any()
        assert (mild.lower >= model.lower).all()
        assert (mild.upper <= model.upper).all()


def test_a_bound_from_above_that_nobody_confirmed_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nature stays where 1 is earned in every step. A draft that overlooks it is refused, again and again."""
    import umdp.solver.unbounded as road

    model = IntervalMDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0, 0, 1], [1, 1, 1], rewards={"r": Rewards(state=[1.0, 0.0])})
    true = road._draft
    assert solve(model, "Rminmax=? [ C ]").bracket.upper == np.inf

    def wrong(*given: object) -> Solution:
        found, nothing = true(*given), np.zeros(2)  # type: ignore[arg-type]
        bounds = DraftBounds((nothing, nothing), (nothing, nothing), False)
        return replace(
            found,
            bracket=Bracket(0.0, 0.0),
            status=Status.CERTIFIED,
            _bounds=lambda: (nothing, nothing),
            _candidate=lambda: bounds,
        )

    monkeypatch.setattr(road, "_draft", wrong)
    solution = solve(model, "Rminmax=? [ C ]")
    assert solution.upper.tolist() == [np.inf, 0.0]
    assert not solution.status.is_precise


def test_nature_cuts_transitions_of_a_model_that_lists_some_which_nobody_can_use() -> None:
    model = IntervalMDP(
        [0, 1, 2, 3, 4], [0, 3, 5, 6, 7], [0, 1, 2, 2, 3, 2, 3], [0, 0.5, 0.5, 0, 0, 1, 1], [0.3, 0.5, 0.5, 1, 1, 1, 1],
        labels={"goal": [2]},
    )  # fmt: skip
    solution = solve(model, 'Pminmin=? [ F "goal" ]')
    assert solution.value == pytest.approx(0.5)
    assert solution.nature.successor.tolist() == [1, 2, 3, 2, 3]
    assert solution.nature.labels["goal"].tolist() == [False, False, True, False]
