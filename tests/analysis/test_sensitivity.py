"""What tighter bounds are worth, against solving again with bounds that are a little tighter; and sums that must be exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from umdp import IntervalMDP, Spec, solve
from umdp.analysis.sensitivity import visits_of
from umdp.analysis.worst_case import WorstCase, suggested
from umdp.solver import relevant
from umdp.spec import Direction

SPECS = [
    'Pmaxmin=? [ F "goal" ]', 'Pminmax=? [ F "goal" ]', 'R{"cost"}minmax=? [ F "end" ]', 'R{"cost"}maxmin=? [ F "end" ]',
    'Pmaxmin=? [ F<=4 "goal" ]', 'Pmaxmin=? [ F[2,4] "goal" ]',
    'Pminmax=? [ !"end" U[1,3] "goal" ]', 'R{"cost"}minmax=? [ C<=3 ]',
]  # fmt: skip
STEP = 1e-5


def drawn(seed: int, floor: float = 0.02) -> IntervalMDP:
    """Return a model of five states, two choices each, and two ends; every row leads to three or two successors."""
    random = np.random.default_rng(seed)
    state_ptr, choice_ptr, successor, lower, upper = [0], [0], [], [], []
    for state in range(7):
        for _ in range(2 if state < 5 else 1):
            ahead = random.choice(7, int(random.integers(2, 4)), replace=False) if state < 5 else [state]
            if state < 5:
                ahead = np.union1d(ahead, random.integers(5, 7, 1))
            weight = random.dirichlet(np.ones(len(ahead)) * 2)
            share = floor + (1 - floor * len(ahead)) * weight
            down, up = random.uniform(0.3, 0.95, 2)
            successor += list(ahead)
            lower += list(share * down) if state < 5 else [1.0]
            upper += list(np.minimum(share * (1 + up), 1.0)) if state < 5 else [1.0]
            choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    earned = random.uniform(0, 2, len(successor))
    return IntervalMDP(
        state_ptr, choice_ptr, successor, lower, upper, labels={"goal": [5], "end": [5, 6]},
        rewards={"cost": {"state": random.uniform(0.1, 1, 7), "choice": random.uniform(0, 1, 12), "transition": earned}},
    )  # fmt: skip


def value(model: IntervalMDP, spec: Spec) -> float:
    return solve(model, spec, precision=1e-11).value


@pytest.mark.parametrize("asked", SPECS)
@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_gains_are_what_finite_differences_say(asked: str, seed: int) -> None:
    model, spec = drawn(seed), Spec.parse(asked)
    worst = WorstCase.of(model, spec)
    about = worst.sensitivity
    random = np.random.default_rng(seed)
    before = value(model, spec)
    better = -1.0 if spec.agent is Direction.MIN else 1.0
    for t in random.choice(model.transitions, 4, replace=False):
        if model.upper[t] - model.lower[t] < 1e-2:
            continue
        for side, gain in (("lower", about.lower[t]), ("upper", about.upper[t])):

            def moved(by: float, side: str = side, t: int = t) -> float:
                lower, upper = model.lower.copy(), model.upper.copy()
                (lower if side == "lower" else upper)[t] += by if side == "lower" else -by
                return better * (value(model.graph.with_bounds(lower, upper), spec) - before) / by

            ptr = model.choice_ptr
            c = int(np.searchsorted(ptr, t, side="right")) - 1
            row = slice(int(ptr[c]), int(ptr[c + 1]))
            assume(model.lower[row].sum() < 1 - 2 * STEP)
            assume(model.upper[row].sum() > 1 + 2 * STEP)
            whole, half = moved(STEP), moved(STEP / 2)
            assert whole >= -1e-4  # tighter is never worse
            if abs(whole - half) < 1e-3 * max(abs(whole), 1.0):  # otherwise a policy or an order changes on the way
                assert whole == pytest.approx(gain, rel=5e-3, abs=5e-3)


@pytest.mark.parametrize("asked", SPECS)
@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_the_losses_of_choices_sum_to_what_lies_between_promise_and_estimate(asked: str, seed: int) -> None:
    model = drawn(seed)
    worst = WorstCase.of(model, Spec.parse(asked))
    assert worst.loss.sum() == pytest.approx(abs(worst.estimate - worst.promise), rel=1e-6, abs=1e-9)
    assert (worst.loss >= -1e-9).all()
    if worst.solution.policy.steps is not None:
        return
    # The estimate, by a dense system of equations for the policy alone.
    choice = worst.solution.policy.choice
    assert choice is not None
    step, paid = np.zeros((7, 7)), np.zeros(7)
    rewards = model.rewards["cost"]
    for s, c in enumerate(choice.tolist()):
        for t in range(int(model.choice_ptr[c]), int(model.choice_ptr[c + 1])):
            step[s, model.successor[t]] += worst.guess[t]
            paid[s] += worst.guess[t] * rewards.transition[t]  # type: ignore[index]
        paid[s] += rewards.state[s] + rewards.choice[c]  # type: ignore[index]
    if asked.startswith("P"):
        exact = np.linalg.solve(np.eye(5) - step[:5, :5], step[:5, 5])
    else:
        exact = np.linalg.solve(np.eye(5) - step[:5, :5], paid[:5])
    assert worst.estimate == pytest.approx(exact[0], rel=1e-5)
    stop = relevant(model.graph, Spec.parse(asked)).decided[:5]
    going = np.where(stop[:, None], 0.0, step[:5, :5])
    visits = np.where(stop, 0.0, np.linalg.solve(np.eye(5) - going.T, np.eye(5)[0]))
    np.testing.assert_allclose(worst.visits[choice[:5]], visits, rtol=1e-8)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 40), min_size=60, max_size=60))
def test_what_counts_suggest_lies_within_the_bounds(seed: int, counts: list[int]) -> None:
    model = drawn(seed)
    for given_counts in (None, np.array(counts[: model.transitions])):
        if given_counts is not None and given_counts.size < model.transitions:
            continue
        guess = suggested(model, given_counts)
        np.testing.assert_allclose(np.add.reduceat(guess, model.choice_ptr[:-1]), 1.0)
        assert (guess >= model.lower - 1e-9).all()
        assert (guess <= model.upper + 1e-9).all()


def test_what_can_never_stop_is_not_counted() -> None:
    """Half of the time the walk is caught in state 1: visits before that are counted, and none of those after."""
    model = IntervalMDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], [0.5, 0.5, 1, 1])
    prob, stop = np.array([0.5, 0.5, 1, 1]), np.array([False, False, True])
    assert visits_of(model, prob, np.arange(3), stop).tolist() == [1.0, 0.0, 0.0]
    assert visits_of(model, np.array([1.0, 0, 1, 1]), np.arange(3), stop).tolist() == [0.0, 0.0, 0.0]
