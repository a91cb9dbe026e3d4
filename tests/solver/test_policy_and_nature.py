"""The policy and the nature that come with an answer are witnesses of it; given policies are evaluated right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from properties.bridge import to_model
from properties.generate import random_model
from umdp import MDP, IntervalMDP, ModelError, Policy, Rewards, Solution, evaluate, solve
from umdp.solver.result import Bracket

GOAL = '[ F "goal" ]'
PLAYERS = ["maxmax", "maxmin", "minmax", "minmin"]
UNBOUNDED = [f'P{p}=? [ "left" U "goal" ]' for p in PLAYERS] + [f"R{p}=? {GOAL}" for p in PLAYERS]
UNBOUNDED += [f'P{p}=? [ G "safe" ]' for p in PLAYERS]
STEPPED = [f'P{p}=? [ "left" U<=4 "goal" ]' for p in PLAYERS] + [f"R{p}=? [ C<=4 ]" for p in PLAYERS]


def drawn(seed: int, *, zero_lower: bool = False) -> IntervalMDP:
    return to_model(random_model(np.random.default_rng([23, seed]), zero_lower=zero_lower))


def overlap(one: Bracket, other: Bracket) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


def widened(bracket: Bracket, by: float = 1e-9) -> Bracket:
    return Bracket(bracket.lower * (1 - by), bracket.upper * (1 + by))


def plain(spec: str) -> str:
    """Leave nature out: on the MDP that nature chose there is nothing left for it to choose."""
    return spec[:4] + spec[7:]


def random_policy(model: MDP | IntervalMDP, rng: np.random.Generator, *, randomised: bool) -> Policy:
    sizes = np.diff(model.state_ptr)
    if not randomised:
        return Policy(model, model.state_ptr[:-1] + rng.integers(0, sizes))
    raw = rng.integers(0, 4, model.choices).astype(float)
    raw[model.state_ptr[:-1]] += 1
    return Policy(model, weight=raw / np.repeat(np.add.reduceat(raw, model.state_ptr[:-1]), sizes))


# -- the policy that comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", UNBOUNDED)
def test_the_policy_earns_what_its_bracket_says(spec: str) -> None:
    for seed in range(60):
        model = drawn(seed, zero_lower=seed % 3 == 2)
        solution = solve(model, spec)
        own = evaluate(model, spec, solution.policy)
        assert overlap(own.bracket, solution.policy_bracket)
        assert own.bracket.relative_width <= 1e-6
        assert solution.policy_bracket.relative_width <= 1e-6
        if solution.status.is_precise:
            assert overlap(own.bracket, solution.bracket)
        # No policy does better than the optimum, and the one returned is no exception.
        better = (
            own.bracket.lower > solution.bracket.upper
            if spec[1:4] == "max"
            else own.bracket.upper < solution.bracket.lower
        )
        assert not better


@pytest.mark.parametrize("spec", STEPPED)
def test_a_step_dependent_policy_earns_the_value(spec: str) -> None:
    for seed in range(40):
        model = drawn(seed, zero_lower=seed % 3 == 2)
        solution = solve(model, spec)
        assert solution.policy.steps == 4
        own = evaluate(model, spec, solution.policy)
        assert overlap(own.bracket, solution.bracket)
        assert ((own.lower <= solution.upper) & (solution.lower <= own.upper)).all()


@pytest.mark.parametrize("spec", [*UNBOUNDED, *STEPPED])
def test_no_given_policy_beats_the_optimum(spec: str) -> None:
    for seed in range(40):
        model = drawn(seed, zero_lower=seed % 3 == 2)
        rng = np.random.default_rng(seed)
        best = solve(model, spec)
        for randomised in (False, True):
            own = evaluate(model, spec, random_policy(model, rng, randomised=randomised))
            if spec[1:4] == "max":
                assert (own.lower <= best.upper).all()
            else:
                assert (own.upper >= best.lower).all()


# -- nature --------------------------------------------------------------------------------------------------


def value_on(nature: MDP, spec: str, policy: Policy) -> Bracket:
    return evaluate(nature, plain(spec), Policy(nature, policy.choice)).bracket


@pytest.mark.parametrize("spec", UNBOUNDED)
def test_nature_is_the_worst_case_of_the_policy(spec: str) -> None:
    for seed in range(60):
        model = drawn(seed)
        solution = solve(model, spec)
        nature = solution.nature
        assert isinstance(nature, MDP)
        assert model.contains(nature, tolerance=1e-9)
        # The policy earns the value on it.
        assert overlap(value_on(nature, spec, solution.policy), widened(solution.bracket))
        # And where nature is against the agent, no other policy earns more on it: it is a best answer to all at once.
        if spec[1:4] != spec[4:7]:
            assert overlap(solve(nature, plain(spec)).bracket, widened(solution.bracket))


@pytest.mark.parametrize("spec", UNBOUNDED)
def test_nature_of_an_evaluated_policy(spec: str) -> None:
    for seed in range(40):
        model = drawn(seed)
        policy = random_policy(model, np.random.default_rng(seed), randomised=False)
        solution = evaluate(model, spec, policy)
        assert model.contains(solution.nature, tolerance=1e-9)
        assert overlap(value_on(solution.nature, spec, policy), widened(solution.bracket))


@pytest.mark.parametrize("path", ['F "goal"', "C<=1"])
@pytest.mark.parametrize("order", [[1, 2], [2, 1]])
def test_nature_weighs_transition_rewards(path: str, order: list[int]) -> None:
    # Both successors are goals; only what the way there pays tells them apart.
    paid = [10.0 if s == 1 else 0.0 for s in order] + [0.0, 0.0]
    model = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [*order, 1, 2], [0.2, 0.2, 1, 1], [0.8, 0.8, 1, 1], labels={"goal": [1, 2]},
        rewards={"r": Rewards(transition=paid)},
    )  # fmt: skip
    policy = Policy(model, [0, 1, 2])
    for nature, value in (("max", 8.0), ("min", 2.0)):
        spec = f"Rmin{nature}=? [ {path} ]"
        for solution in (solve(model, spec), evaluate(model, spec, policy)):
            assert solution.value == pytest.approx(value)
            assert evaluate(solution.nature, plain(spec), policy).value == pytest.approx(value)


def test_nature_keeps_the_annotations_of_the_model() -> None:
    model = IntervalMDP.from_function(
        "start",
        lambda s: {"go": {"end": (0.2, 0.6), "pit": (0.4, 0.8)}} if s == "start" else {"stay": {s: 1.0}},
        labels={"goal": ["end"]},
        rewards={"r": lambda s: float(s == "start")},
    )
    nature = solve(model, f"Pmaxmin=? {GOAL}").nature
    assert nature.state_names == model.state_names
    assert nature.action_names == model.action_names
    assert list(nature.labels) == ["goal"]
    assert list(nature.rewards) == ["r"]
    assert nature.probability[:2] == pytest.approx([0.2, 0.8])


def test_nature_of_an_mdp_is_the_mdp() -> None:
    mdp = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], labels={"goal": [1]})
    solution = solve(mdp, f"P=? {GOAL}")
    assert solution.nature is mdp
    assert solve(mdp, 'P=? [ F<=2 "goal" ]').nature is mdp


@pytest.mark.parametrize("spec", [f'P{p}=? [ X "goal" ]' for p in PLAYERS])
def test_nature_of_one_step_is_the_worst_case(spec: str) -> None:
    for seed in range(30):
        model = drawn(seed)
        solution = solve(model, spec)
        assert model.contains(solution.nature, tolerance=1e-9)
        first = Policy(solution.nature, solution.policy.choice[0])
        assert overlap(evaluate(solution.nature, plain(spec), first).bracket, widened(solution.bracket))


# -- given policies ------------------------------------------------------------------------------------------


@pytest.fixture
def coin() -> IntervalMDP:
    """Two coins to toss until the goal or the pit comes up; 0 has an action for each."""
    return IntervalMDP.from_function(
        0,
        lambda s: (
            {"a": {1: (0.2, 0.4), 2: (0.6, 0.8)}, "b": {1: (0.5, 0.6), 2: (0.1, 0.2), 0: (0.2, 0.4)}}
            if s == 0
            else {"stay": {s: 1.0}}
        ),
        labels={"goal": [1], "end": [1, 2]},
        rewards={"tosses": lambda s: float(s == 0)},
    )


def test_a_randomised_policy_against_nature(coin: IntervalMDP) -> None:
    policy = Policy(coin, weight=[0.5, 0.5, 1, 1])
    # Nature answers each action separately: a to the goal 0.2; b 0.5, and back to 0 with 0.4 or 0.3 (pit 0.1 or 0.2).
    worst = min((0.1 + 0.25) / (1 - 0.5 * back) for back in (0.3, 0.4))
    assert evaluate(coin, f"Pmaxmin=? {GOAL}", policy).value == pytest.approx(worst)
    best = max((0.2 + 0.5 * p) / (1 - 0.5 * back) for p, back in ((0.6, 0.3), (0.6, 0.2), (0.5, 0.4)))
    assert evaluate(coin, f"Pmaxmax=? {GOAL}", policy).value == pytest.approx(best)
    assert evaluate(coin, 'Rminmax=? [ F "end" ]', policy).value == pytest.approx(1 / (1 - 0.5 * 0.4))
    assert evaluate(coin, 'Pmaxmin=? [ F<=1 "goal" ]', policy).value == pytest.approx(0.35)
    with pytest.raises(ModelError, match="induced chain"):
        _ = evaluate(coin, f"Pmaxmin=? {GOAL}", policy).nature


def test_a_deterministic_policy_as_weights_is_the_same(coin: IntervalMDP) -> None:
    for seed in range(20):
        model = drawn(seed)
        policy = random_policy(model, np.random.default_rng(seed), randomised=False)
        for spec in UNBOUNDED[:8]:
            one, other = evaluate(model, spec, policy), evaluate(model, spec, Policy(model, weight=policy.weights()))
            assert ((one.lower <= other.upper) & (other.lower <= one.upper)).all()


def test_a_policy_on_the_true_mdp(coin: IntervalMDP) -> None:
    truth = coin.graph.with_probability([0.3, 0.7, 0.5, 0.2, 0.3, 1, 1])
    assert coin.contains(truth)
    robust = solve(coin, f"Pmaxmin=? {GOAL}").policy
    assert robust[0] == "b"
    assert evaluate(truth, f"Pmax=? {GOAL}", robust).value == pytest.approx(0.5 / 0.7)
    assert evaluate(truth, f"P=? {GOAL}", robust).value == pytest.approx(0.5 / 0.7)
    assert evaluate(truth, f"Pmaxmin=? {GOAL}", Policy.uniform(truth)).value == pytest.approx(0.4 / 0.85)


def test_a_step_dependent_policy_by_hand(coin: IntervalMDP) -> None:
    a, b = 0, 1
    rest = [2, 3]
    policy = Policy(coin, [[b, *rest], [a, *rest]])
    # b first: goal 0.5 and back 0.3 (pit 0.2) or 0.4 (pit 0.1), then a: 0.2.
    assert evaluate(coin, 'Pmaxmin=? [ F<=2 "goal" ]', policy).value == pytest.approx(0.5 + 0.3 * 0.2)
    assert evaluate(coin, 'Pmaxmin=? [ F<=1 "goal" ]', policy).value == pytest.approx(0.5)
    assert evaluate(coin, "Rmaxmax=? [ C<=2 ]", policy).value == pytest.approx(1.4)
    with pytest.raises(ModelError, match="2 steps"):
        evaluate(coin, 'Pmaxmin=? [ F<=3 "goal" ]', policy)
    with pytest.raises(ModelError, match="step-bounded"):
        evaluate(coin, f"Pmaxmin=? {GOAL}", policy)


def test_a_policy_that_never_arrives_costs_infinitely_much() -> None:
    mdp = MDP([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1], labels={"goal": [1]}, rewards={"r": Rewards(state=[1, 0])})
    assert evaluate(mdp, f"Rmin=? {GOAL}", Policy(mdp, [0, 2])).bracket == Bracket(math.inf, math.inf)
    assert 1.0 in evaluate(mdp, f"Rmin=? {GOAL}", Policy(mdp, [1, 2])).bracket
    assert evaluate(mdp, f"Pmax=? {GOAL}", Policy(mdp, [0, 2])).bracket == Bracket(0.0, 0.0)


def test_a_policy_of_another_model_is_refused(coin: IntervalMDP) -> None:
    with pytest.raises(ModelError, match="other states and choices"):
        evaluate(coin, f"Pmaxmin=? {GOAL}", random_policy(drawn(1), np.random.default_rng(1), randomised=False))


def test_evaluation_names_natures_direction(coin: IntervalMDP) -> None:
    policy = Policy(coin, [0, 2, 3])
    brackets = {n: evaluate(coin, f"Pmax{n}=? {GOAL}", policy).bracket for n in ("min", "max")}
    assert brackets["min"].value == pytest.approx(0.2)
    assert brackets["max"].value == pytest.approx(0.4)
    for agent in ("max", "min"):  # the agent's direction does not matter any more
        assert evaluate(coin, f"P{agent}min=? {GOAL}", policy).bracket == brackets["min"]
    solution: Solution = evaluate(coin, f"Pmaxmin>=0.3 {GOAL}", policy)
    assert solution.satisfied is False
