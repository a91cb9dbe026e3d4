"""`solve` and `evaluate` as a caller sees them: arguments, statuses, starts, methods, thresholds, errors."""

from __future__ import annotations

import math
import time
from itertools import pairwise

import numpy as np
import pytest

from properties.bridge import to_model
from properties.generate import random_model
from umdp import (
    MDP,
    IntervalMDP,
    ModelError,
    Policy,
    Rewards,
    Solution,
    Spec,
    SpecError,
    Status,
    benchmark,
    evaluate,
    solve,
)
from umdp.solver.result import Bracket, Statistics

GOAL = '[ F "goal" ]'
PLAYERS = ["maxmax", "maxmin", "minmax", "minmin"]
UNBOUNDED = [f'P{p}=? [ "left" U "goal" ]' for p in PLAYERS] + [f"R{p}=? {GOAL}" for p in PLAYERS]
UNBOUNDED += ['Pmaxmin=? [ G "safe" ]', 'Pminmax=? [ G "safe" ]']


def drawn(seed: int, *, zero_lower: bool = False) -> IntervalMDP:
    return to_model(random_model(np.random.default_rng([11, seed]), zero_lower=zero_lower))


def overlap(one: Bracket, other: Bracket) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


def all_overlap(one: Solution, other: Solution) -> bool:
    return bool(((one.lower <= other.upper) & (other.lower <= one.upper)).all())


@pytest.fixture
def fork() -> IntervalMDP:
    """From 0, "safe" reaches the goal with 0.4 to 0.5 and "bold" with 0.2 to 0.8."""
    return IntervalMDP(
        [0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], [0.4, 0.5, 0.2, 0.2, 1, 1], [0.5, 0.6, 0.8, 0.8, 1, 1],
        labels={"goal": [1]}, actions=["safe", "bold", "stay", "stay"], rewards={"r": Rewards(choice=[1, 2, 0, 0])},
    )  # fmt: skip


def ring(n: int = 400, *, low: float = 0.4) -> IntervalMDP:
    """A walk on a ring, one large component, with a small chance of either exit in every state."""
    s = np.arange(n)
    successor = np.concatenate(
        [np.stack([(s - 1) % n, (s + 1) % n, np.full(n, n), np.full(n, n + 1)], 1).ravel(), [n, n + 1]]
    )
    lower = np.concatenate([np.tile([low, 0.3, 1e-5, 1e-5], n), [1, 1]])
    upper = np.concatenate([np.tile([0.7, 0.6, 1e-3, 1e-3], n), [1, 1]])
    upper[: 4 * n // 2 : 4] = 0.65
    lower[2 : 4 * n // 3 : 4] = 5e-4
    ptr = np.concatenate([4 * np.arange(n + 1), [4 * n + 1, 4 * n + 2]])
    return IntervalMDP(np.arange(n + 3), ptr, successor, lower, upper, labels={"goal": [n], "other": [n + 1]})


# -- what comes back -----------------------------------------------------------------------------------------


def test_the_parts_of_a_solution(fork: IntervalMDP) -> None:
    solution = solve(fork, f"Pmaxmin=? {GOAL}")
    assert solution.model is fork
    assert solution.spec == Spec.parse(f"Pmaxmin=? {GOAL}")
    assert solution.status is Status.CERTIFIED
    assert solution.status.is_precise
    assert 0.4 in solution.bracket
    assert solution.value == pytest.approx(0.4)
    assert solution.policy[0] == "safe"
    assert 0.4 in solution.policy_bracket
    assert solution.at(1) == Bracket(1.0, 1.0)
    assert solution.at("2") == Bracket(0.0, 0.0)
    assert solution.satisfied is None
    assert repr(solution).startswith("Solution of Pmaxmin=?")
    assert (solution.nature.probability[:2] == [0.4, 0.6]).all()
    with pytest.raises(ModelError, match="no state 7"):
        solution.at(7)


def test_both_players_pull_their_way(fork: IntervalMDP) -> None:
    values = {p: solve(fork, f"P{p}=? {GOAL}").value for p in PLAYERS}
    assert values == pytest.approx({"maxmax": 0.8, "maxmin": 0.4, "minmax": 0.5, "minmin": 0.2})
    actions = {p: solve(fork, f"P{p}=? {GOAL}").policy[0] for p in PLAYERS}
    assert actions == {"maxmax": "bold", "maxmin": "safe", "minmax": "safe", "minmin": "bold"}


def test_the_kinds_of_formula(fork: IntervalMDP) -> None:
    assert solve(fork, 'Pmaxmin=? [ X "goal" ]').value == pytest.approx(0.4)
    assert solve(fork, 'Pmaxmin=? [ F<=1 "goal" ]').value == pytest.approx(0.4)
    assert solve(fork, 'Pmaxmin=? [ F<=0 "goal" ]').bracket == Bracket(0.0, 0.0)
    assert solve(fork, 'Pmaxmin=? [ G<=3 !"goal" ]').value == pytest.approx(0.5)
    assert solve(fork, 'Pmaxmin=? [ G !"goal" ]').value == pytest.approx(0.5)
    assert solve(fork, 'Pmaxmin=? [ !"goal" U "goal" ]').value == pytest.approx(0.4)
    assert solve(fork, "Rmaxmin=? [ C<=4 ]").value == pytest.approx(2.0)
    assert solve(fork, "Rminmax=? [ C<=0 ]").bracket == Bracket(0.0, 0.0)
    assert solve(fork, 'R{"r"}minmax=? [ F true ]').bracket == Bracket(0.0, 0.0)
    assert solve(fork, f"Rminmax=? {GOAL}").bracket == Bracket(math.inf, math.inf)


def test_statistics(fork: IntervalMDP) -> None:
    small = solve(fork, f"Pmaxmin=? {GOAL}").statistics
    assert (small.undecided, small.components, small.largest) == (1, 1, 1)
    assert small.seconds >= 0
    large = solve(ring(), f"Pmin=? {GOAL}").statistics
    assert (large.undecided, large.components, large.largest) == (400, 1, 400)
    assert large.iterations > 0
    decided = solve(fork, "Pmaxmin=? [ F true ]").statistics
    assert (decided.undecided, decided.components) == (0, 0)
    assert solve(fork, 'Pmaxmin=? [ F<=7 "goal" ]').statistics.iterations == 7
    assert isinstance(small, Statistics)


@pytest.mark.parametrize("precision", [1e-2, 1e-6, 1e-10])
def test_precision_is_relative_and_met(precision: float) -> None:
    for model in (drawn(1), drawn(2), ring()):
        for spec in (f"Pmaxmin=? {GOAL}", f"Pmaxmax=? {GOAL}"):
            solution = solve(model, spec, precision=precision)
            assert solution.status is Status.CERTIFIED
            assert solution.bracket.relative_width <= precision


# -- thresholds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "satisfied"),
    [
        (f"Pmaxmin>=0.39 {GOAL}", True),
        (f"Pmaxmin>=0.41 {GOAL}", False),
        (f"Pmaxmin>0.41 {GOAL}", False),
        (f"Pminmax<=0.51 {GOAL}", True),
        (f"Pminmax<0.49 {GOAL}", False),
        (f"P>=0.19 {GOAL}", True),  # all policies, all natures
        (f"P>=0.21 {GOAL}", False),
        (f"P<=0.81 {GOAL}", True),
        (f"P<0.79 {GOAL}", False),
        ("R<=2 [ C<=1 ]", None),
        ("R<=2.1 [ C<=1 ]", True),
        (f"Rminmax<=1000000 {GOAL}", False),
        (f"Rmaxmax>=1000000 {GOAL}", True),
    ],
)
def test_thresholds(fork: IntervalMDP, spec: str, satisfied: bool | None) -> None:
    assert solve(fork, spec).satisfied is satisfied


def test_a_bracket_that_straddles_its_threshold_decides_nothing() -> None:
    model = MDP([0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2], [0.1, 0.3, 0.6, 1, 1], labels={"goal": [1]})
    third = solve(model, f"P>=0.33333333333333333 {GOAL}")
    assert third.satisfied is None
    assert third.bracket.width > 0


# -- Markov chains -------------------------------------------------------------------------------------------


def test_markov_chains_need_no_players() -> None:
    chain = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.25, 0.75, 1, 1], labels={"goal": [1]})
    for players in ("", "max", "min", "maxmin", "minmax"):
        assert 0.25 in solve(chain, f"P{players}=? {GOAL}").bracket


def test_on_an_interval_chain_the_one_direction_is_natures() -> None:
    chain = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.25, 0.5, 1, 1], [0.5, 0.75, 1, 1], labels={"goal": [1]}
    )
    assert 0.25 in solve(chain, f"Pmin=? {GOAL}").bracket
    assert 0.5 in solve(chain, f"Pmax=? {GOAL}").bracket
    assert 0.25 in solve(chain, f"Pmaxmin=? {GOAL}").bracket
    assert 0.5 in solve(chain, f"Pminmax=? {GOAL}").bracket
    with pytest.raises(SpecError, match="nature"):
        solve(chain, f"P=? {GOAL}")


def test_random_interval_chains_agree_with_their_joint_objectives() -> None:
    for seed in range(30):
        model = drawn(seed)
        chain = Policy(model, model.state_ptr[:-1]).induced(model)
        for agent, nature in (("max", "min"), ("min", "max")):
            alone, both = solve(chain, f"P{nature}=? {GOAL}"), solve(chain, f"P{agent}{nature}=? {GOAL}")
            assert all_overlap(alone, both)
            assert alone.bracket.relative_width <= 1e-6


# -- plain MDPs ----------------------------------------------------------------------------------------------


def test_an_mdp_is_the_interval_mdp_whose_bounds_coincide() -> None:
    for seed in range(30):
        model = drawn(seed)
        mdp = solve(model, f"Pmaxmin=? {GOAL}").nature
        for kind, agent in (("P", "max"), ("P", "min"), ("R", "min"), ("R", "max")):
            plain = solve(mdp, f"{kind}{agent}=? {GOAL}")
            assert all_overlap(plain, solve(mdp.as_intervals(), f"{kind}{agent}max=? {GOAL}"))
            assert all_overlap(plain, solve(mdp, f"{kind}{agent}min=? {GOAL}"))
            assert plain.nature is mdp


# -- starts and methods --------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", UNBOUNDED)
def test_a_warm_start_changes_nothing_but_the_time(spec: str) -> None:
    for seed in range(40):
        model = drawn(seed)
        cold = solve(model, spec)
        again = solve(model, spec, start=cold)
        np.testing.assert_array_equal(again.policy.choice, cold.policy.choice)
        assert all_overlap(again, cold)
        assert again.status is cold.status is Status.CERTIFIED
        # From another objective's policy, and from another model with the same graph.
        opposite = solve(model, "Pminmax" + spec[7:] if spec[0] == "P" else "Rmaxmin" + spec[7:])
        narrowed = model.graph.with_bounds(
            0.75 * model.lower + 0.25 * model.upper * (model.upper <= 0.4), np.minimum(1, 1.1 * model.upper)
        ) if feasible(model) else model  # fmt: skip
        for other in (opposite, solve(narrowed, spec)):
            warm = solve(model, spec, start=other)
            assert warm.status is Status.CERTIFIED
            assert all_overlap(warm, cold)
            own = evaluate(model, spec, warm.policy)
            assert overlap(own.bracket, cold.bracket)


def feasible(model: IntervalMDP) -> bool:
    low = 0.75 * model.lower + 0.25 * model.upper * (model.upper <= 0.4)
    high = np.minimum(1, 1.1 * model.upper)
    sums = np.add.reduceat(low, model.choice_ptr[:-1])
    return bool((sums <= 1).all() and (np.add.reduceat(high, model.choice_ptr[:-1]) >= 1).all() and (low <= high).all())


def test_a_warm_start_on_a_large_component() -> None:
    one, other = ring(), ring(low=0.35)
    for players in ("min", "max"):
        first = solve(one, f"P{players}=? {GOAL}")
        warm, cold = solve(other, f"P{players}=? {GOAL}", start=first), solve(other, f"P{players}=? {GOAL}")
        assert warm.status is cold.status is Status.CERTIFIED
        assert all_overlap(warm, cold)


def test_a_warm_start_with_zero_lower_bounds_stays_sound() -> None:
    for seed in range(30):
        model = drawn(seed, zero_lower=True)
        for spec in UNBOUNDED[:8:3]:
            cold = solve(model, spec)
            assert all_overlap(solve(model, spec, start=cold), cold)


def test_a_start_from_another_graph_is_refused(fork: IntervalMDP) -> None:
    with pytest.raises(ModelError, match="other states and choices"):
        solve(fork, f"Pmaxmin=? {GOAL}", start=solve(ring(), f"Pmin=? {GOAL}"))


@pytest.mark.parametrize("spec", UNBOUNDED)
def test_methods_agree(spec: str) -> None:
    for seed in range(30):
        model = drawn(seed)
        auto, policy, value = (solve(model, spec, method=m) for m in ("auto", "policy", "value"))
        assert all_overlap(auto, policy)
        assert all_overlap(auto, value)
        assert auto.status is policy.status is Status.CERTIFIED
        for solution in (policy, value):
            assert overlap(evaluate(model, spec, solution.policy).bracket, solution.policy_bracket)


def test_methods_agree_on_a_large_component() -> None:
    model = ring(120)
    for players in ("min", "max"):
        solutions = [solve(model, f"P{players}=? {GOAL}", method=m) for m in ("auto", "policy", "value")]
        assert all(s.status is Status.CERTIFIED for s in solutions)
        assert all(all_overlap(solutions[0], s) for s in solutions[1:])


# -- limits and progress -------------------------------------------------------------------------------------


def wide_grid(side: int = 120) -> IntervalMDP:
    """A torus with two actions and two exits, each hard to hit from anywhere: one component."""
    n = side * side
    x, y = np.divmod(np.arange(n), side)
    goal, other = np.full(n, n), np.full(n, n + 1)
    across = np.stack([((x + 1) % side) * side + y, ((x - 1) % side) * side + y, goal, other], 1)
    along = np.stack([x * side + (y + 1) % side, x * side + (y - 1) % side, goal, other], 1)
    lower, upper = np.tile([0.3, 0.3, 1e-4, 1e-4], (n, 2)), np.tile([0.6, 0.7, 2e-3, 2e-3], (n, 2))
    upper[x < side // 3, 2] = 2e-4  # the goal is far from some places, the other exit from others
    upper[y > side // 2, 7] = 3e-4
    lower[(x + y) % 17 == 0, 2] = 1e-4 + 5e-5
    return IntervalMDP(
        np.concatenate([2 * np.arange(n + 1), [2 * n + 1, 2 * n + 2]]),
        np.concatenate([4 * np.arange(2 * n + 1), [8 * n + 1, 8 * n + 2]]),
        np.concatenate([np.hstack([across, along]).ravel(), [n, n + 1]]),
        np.concatenate([lower.ravel(), [1, 1]]),
        np.concatenate([upper.ravel(), [1, 1]]),
        labels={"goal": [n]},
    )


def test_progress_is_told_on_large_models() -> None:
    heard: list[tuple[str, float]] = []
    solution = solve(wide_grid(40), f"Pmaxmin=? {GOAL}", progress=lambda what, width: heard.append((what, width)))
    assert solution.status is Status.CERTIFIED
    assert heard
    assert all(isinstance(what, str) and width >= 0 for what, width in heard)


def test_a_time_limit_stops_soundly() -> None:
    model = wide_grid()
    full = solve(model, f"Pmaxmin=? {GOAL}")
    assert full.status is Status.CERTIFIED
    begun = time.monotonic()
    stopped = solve(model, f"Pmaxmin=? {GOAL}", time_limit=0.0)
    assert time.monotonic() - begun < max(2.0, full.statistics.seconds)
    assert stopped.status is Status.STOPPED
    assert not stopped.status.is_precise
    assert all_overlap(stopped, full)
    assert stopped.bracket.lower <= full.bracket.lower
    assert stopped.bracket.upper >= full.bracket.upper


def test_an_exception_in_progress_reaches_the_caller() -> None:
    def stop(what: str, width: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(wide_grid(40), f"Pmaxmin=? {GOAL}", progress=stop)


# -- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (f"Pmax=? {GOAL}", "Pmaxmin"),
        (f"Rmin=? {GOAL}", "Rminmax"),
        (f"P=? {GOAL}", "both the policy and nature"),
        ('Pmaxmin=? [ F "gaol" ]', "goal"),
        (f'R{{"q"}}minmax=? {GOAL}', "r"),
        ("Pmaxmin=? [ F x>2 ]", "x"),
    ],
)
def test_a_property_that_does_not_fit_is_refused(fork: IntervalMDP, spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        solve(fork, spec)


def test_bare_properties_of_mdps_are_refused(fork: IntervalMDP) -> None:
    mdp = solve(fork, f"Pmaxmin=? {GOAL}").nature
    with pytest.raises(SpecError, match="the policy"):
        solve(mdp, f"P=? {GOAL}")


def test_negative_rewards_are_refused() -> None:
    model = MDP([0, 1, 2], [0, 1, 2], [1, 1], [1, 1], labels={"goal": [1]}, rewards={"r": Rewards(state=[-1, 0])})
    with pytest.raises(SpecError, match="turn the sign"):
        solve(model, f"R=? {GOAL}")


def test_a_model_without_rewards_has_none_to_ask_for() -> None:
    with pytest.raises(SpecError, match="no rewards"):
        solve(ring(8), f"Rmin=? {GOAL}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": 0.0}, "precision"),
        ({"precision": 1.0}, "precision"),
        ({"precision": math.nan}, "precision"),
        ({"method": "magic"}, "method"),
    ],
)
def test_options_are_checked(fork: IntervalMDP, options: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        solve(fork, f"Pmaxmin=? {GOAL}", **options)  # type: ignore[arg-type]


def test_a_time_limit_ends_the_search_of_a_game_and_is_named() -> None:
    grid = benchmark.grid(25, 25)
    p = grid.probability
    lower, upper = np.where(p < 1, np.maximum(p - 0.16, 0), 1), np.where(p < 1, np.minimum(p + 0.16, 1), 1)
    model, spec = grid.graph.with_bounds(lower, upper), 'Pmaxmin=? [ !"trap" U "goal" ]'
    whole, cut = solve(model, spec), solve(model, spec, time_limit=1e-6)
    assert whole.status is Status.CERTIFIED
    assert cut.status is Status.STOPPED
    assert cut.bracket.lower <= whole.bracket.lower
    assert whole.bracket.upper <= cut.bracket.upper


@pytest.mark.parametrize("method", ["auto", "policy"])
def test_asking_for_more_digits_never_gives_fewer(method: str) -> None:
    grid = benchmark.grid()
    p = grid.probability
    lower, upper = np.where(p < 1, np.maximum(p - 0.11, 0), 1), np.where(p < 1, np.minimum(p + 0.11, 1), 1)
    model, spec = grid.graph.with_bounds(lower, upper), 'Pmaxmin=? [ !"trap" U "goal" ]'
    asked = [solve(model, spec, precision=10.0**-digits, method=method) for digits in (9, 11, 12, 13, 15)]
    assert asked[0].status is Status.CERTIFIED
    for coarse, fine in pairwise(asked):
        assert overlap(coarse.bracket, fine.bracket)
        assert fine.bracket.relative_width <= max(coarse.bracket.relative_width, 1e-11)
        assert overlap(fine.bracket, fine.policy_bracket)
