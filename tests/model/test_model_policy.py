"""Policies: what they say in a state, what they make of a model, what is refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from umdp import MDP, IntervalMDP, ModelError, Policy, Rewards, evaluate, solve

PTR = ([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2])
NAMES = {"state_names": ["start", "end", "pit"], "actions": ["walk", "run", "stay", "stay"]}
REWARDS = {"r": Rewards(state=[1, 0, 0], choice=[2, 4, 0, 0], transition=[1, 0, 0, 8, 0, 0])}
GOAL = '[ F "goal" ]'


@pytest.fixture
def mdp() -> MDP:
    return MDP(*PTR, [0.5, 0.5, 0.75, 0.25, 1, 1], labels={"goal": [1], "over": [1, 2]}, rewards=REWARDS, **NAMES)


@pytest.fixture
def model() -> IntervalMDP:
    return IntervalMDP(
        *PTR, [0.4, 0.5, 0.2, 0.2, 1, 1], [0.5, 0.6, 0.8, 0.8, 1, 1], labels={"goal": [1], "over": [1, 2]}, rewards=REWARDS,
        variables={"x": [0, 1, 2]}, constants={"N": 3}, formulas={"far": "x>1"}, **NAMES,
    )  # fmt: skip


# -- saying what to do ---------------------------------------------------------------------------------------


def test_a_deterministic_policy(mdp: MDP) -> None:
    policy = Policy(mdp, [1, 2, 3])
    assert policy["start"] == policy[0] == "run"
    assert policy.is_deterministic
    assert policy.steps is None
    assert policy.weights().tolist() == [0, 1, 1, 1]
    assert next(policy.rows()) == (0, 0, "start", "run", 1.0)
    assert repr(policy) == "Deterministic policy for 3 states"


def test_a_randomised_policy(mdp: MDP) -> None:
    policy = Policy(mdp, weight=[0.25, 0.75, 1, 1])
    assert policy[0] == {"walk": 0.25, "run": 0.75}
    assert policy[1] == {"stay": 1.0}
    assert not policy.is_deterministic
    assert Policy.uniform(mdp)[0] == {"walk": 0.5, "run": 0.5}
    assert "Randomised" in repr(policy)


def test_choices_of_weight_0_are_not_named(mdp: MDP) -> None:
    assert Policy(mdp, weight=[0, 1, 1, 1])[0] == {"run": 1.0}


def test_a_step_dependent_policy(mdp: MDP) -> None:
    policy = Policy(mdp, [[0, 2, 3], [1, 2, 3]])
    assert policy.steps == 2
    assert policy[0] == policy["start", 0] == "walk"
    assert policy["start", 1] == "run"
    assert policy.weights().shape == (2, 4)
    assert [r[3] for r in policy.rows() if r[1] == 0] == ["walk", "run"]
    with pytest.raises(ModelError, match="steps 0 to 1, not for step 2"):
        _ = policy[0, 2]
    with pytest.raises(ModelError, match="step-dependent"):
        policy.induced(mdp)


def test_a_policy_from_action_names(mdp: MDP) -> None:
    assert Policy.from_actions(mdp, {"start": "run"}).choice.tolist() == [1, 2, 3]
    assert Policy.from_actions(mdp, {}).choice.tolist() == [0, 2, 3]
    with pytest.raises(ModelError, match="state start has no action 'fly'; it offers walk, run"):
        Policy.from_actions(mdp, {"start": "fly"})


def test_choices_that_share_an_action_name_share_its_weight() -> None:
    graph = MDP([0, 3, 4], [0, 1, 2, 3, 4], [0, 1, 1, 1], [1, 1, 1, 1], actions=["go", "go", "wait", "stay"])
    policy = Policy(graph, weight=[0.25, 0.5, 0.25, 1])
    assert policy[0] == {"go": 0.75, "wait": 0.25}
    assert sum(policy[0].values()) == 1.0
    assert sum(weight for _, s, _, _, weight in policy.rows() if s == 0) == 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "either a choice per state or a weight per choice"),
        ({"choice": [0, 2, 3], "weight": [1, 0, 1, 1]}, "either a choice per state or a weight"),
        ({"choice": [0, 2]}, r"choice has shape \(2,\), but the graph has 3 states"),
        ({"choice": np.zeros((0, 3), int)}, "choice has shape"),
        ({"choice": [2, 2, 3]}, "choice 2 is not one of state start: it has choices 0 to 1"),
        ({"choice": [[0, 2, 3], [0, 3, 3]]}, "choice 3 is not one of state end"),
        ({"weight": [1, 0, 1]}, r"weight has shape \(3,\), but the graph has 4 choices"),
        ({"weight": [0.5, 0.4, 1, 1]}, "state start: weights .* sum to 1, not 0.9"),
        ({"weight": [1.5, -0.5, 1, 1]}, "state start: weights must"),
        ({"weight": [np.nan, 1, 1, 1]}, "state start"),
    ],
)
def test_what_is_no_policy(mdp: MDP, given: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Policy(mdp, **given)  # type: ignore[arg-type]


def test_policies_cannot_be_changed(mdp: MDP) -> None:
    policy = Policy(mdp, [1, 2, 3])
    with pytest.raises(ValueError, match="read-only"):
        policy.choice[0] = 0
    with pytest.raises(FrozenInstanceError):
        policy.choice = None  # type: ignore[misc]
    assert policy.graph is mdp.graph


# -- induced chains ------------------------------------------------------------------------------------------


def test_a_deterministic_policy_selects_rows(mdp: MDP, model: IntervalMDP) -> None:
    for given in (mdp, model):
        chain = Policy(given, [1, 2, 3]).induced(given)
        assert type(chain) is type(given)
        assert chain.is_chain
        assert chain.successor.tolist() == [1, 2, 1, 2]
        assert [chain.action_name(c) for c in range(3)] == ["run", "stay", "stay"]
        assert chain.rewards["r"].choice.tolist() == [4, 0, 0]
        assert chain.rewards["r"].transition.tolist() == [0, 8, 0, 0]
        assert chain.rewards["r"].state.tolist() == [1, 0, 0]
        assert list(chain.labels) == ["goal", "over"]
        assert chain.state_names == given.state_names
    assert Policy(mdp, [1, 2, 3]).induced(mdp).probability.tolist() == [0.75, 0.25, 1, 1]
    assert Policy(model, [0, 2, 3]).induced(model).upper.tolist() == [0.5, 0.6, 1, 1]


def test_a_randomised_policy_mixes_the_rows_of_an_mdp(mdp: MDP) -> None:
    policy = Policy(mdp, weight=[0.5, 0.5, 1, 1])
    chain = policy.induced(mdp)
    assert chain.is_chain
    assert chain.states == 3
    assert chain.successor.tolist() == [1, 2, 1, 2]
    assert chain.probability.tolist() == [0.625, 0.375, 1, 1]
    # walk earns 1 + 2 + 0.5, run 1 + 4 + 2.
    assert solve(chain, 'R=? [ F "over" ]').value == pytest.approx((3.5 + 7) / 2)
    assert evaluate(mdp, 'Rmin=? [ F "over" ]', policy).value == pytest.approx((3.5 + 7) / 2)


def test_a_randomised_policy_on_intervals_leads_through_a_state_per_choice(model: IntervalMDP) -> None:
    policy = Policy(model, weight=[0.25, 0.75, 1, 1])
    chain = policy.induced(model)
    assert chain.is_chain
    assert chain.states == 3 + 4
    assert chain.state_names[:3] == ("start", "end", "pit")
    assert chain.state_names[3:5] == ("start/walk", "start/run")
    assert chain.labels["goal"].tolist() == [False, True, False, False, False, True, False]
    assert chain.variables["x"].tolist() == [0, 1, 2, 0, 0, 1, 2]
    assert dict(chain.constants) == {"N": 3}
    assert dict(chain.formulas) == {"far": "x>1"}
    assert solve(chain, f"Pmin=? {GOAL}").value == pytest.approx(0.25 * 0.4 + 0.75 * 0.2)
    assert evaluate(model, f"Pmaxmin=? {GOAL}", policy).value == pytest.approx(0.25)
    assert evaluate(model, f"Pmaxmax=? {GOAL}", policy).value == pytest.approx(0.25 * 0.5 + 0.75 * 0.8)
    # walk earns 3 + p, run 5 + 8 (1 - p), each p nature's own.
    worst = 0.25 * (3 + 0.5) + 0.75 * (5 + 8 * 0.8)
    assert solve(chain, 'Rmax=? [ F "over" ]').value == pytest.approx(worst)


def test_choices_of_weight_0_take_no_part_in_the_chain(model: IntervalMDP) -> None:
    chain = Policy(model, weight=[1, 0, 1, 1]).induced(model)
    assert chain.states == 3 + 3
    assert "start/run" not in chain.state_names
    assert solve(chain, f"Pmin=? {GOAL}").value == pytest.approx(0.4)


def test_a_policy_applies_to_any_model_with_the_same_choices(mdp: MDP, model: IntervalMDP) -> None:
    policy = solve(model, f"Pmaxmin=? {GOAL}").policy
    assert policy.induced(mdp).probability.tolist() == [0.5, 0.5, 1, 1]
    other = MDP([0, 1], [0, 1], [0], [1.0])
    with pytest.raises(ModelError, match="other states and choices"):
        policy.induced(other)


def test_induced_chains_of_random_models_evaluate_alike() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        n = int(rng.integers(3, 7))
        ptr = np.arange(0, 2 * n + 1, 2)
        rows = [np.sort(rng.choice(n, size=int(rng.integers(1, 4)), replace=False)) for _ in range(2 * n)]
        raw = [rng.random(r.size) + 0.1 for r in rows]
        p = np.concatenate([w / w.sum() for w in raw])
        mdp = MDP(
            ptr, np.concatenate([[0], np.cumsum([r.size for r in rows])]), np.concatenate(rows), p, labels={"goal": [n - 1]},
            rewards={"r": Rewards(state=rng.random(n), choice=rng.random(2 * n), transition=rng.random(p.size))},
        )  # fmt: skip
        weight = rng.random(n)
        policy = Policy(mdp, weight=np.stack([weight, 1 - weight], 1).ravel())
        chain = policy.induced(mdp)
        for spec in (f"P=? {GOAL}", f"R=? {GOAL}", "R=? [ C<=5 ]", 'P=? [ F<=5 "goal" ]'):
            one, other = solve(chain, spec), evaluate(mdp.as_intervals(), spec.replace("=?", "maxmin=?", 1), policy)
            np.testing.assert_allclose(one.lower, other.lower, rtol=1e-9)
