"""Episodes that were cut off say nothing of what has no end; intervals are rounded outwards; exported memories are whole."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import umdp
from umdp import MDP, Policy, Rewards, evaluate, simulate, solve
from umdp.io import write_policy
from umdp.io.policy_files import read_remembered
from umdp.solver.temporal import recalled
from umdp.source import Gymnasium

FORMULAS = (
    'Pmin=? [ G F "a" ]',
    'Pmax=? [ G F "a" ]',
    'Pmax=? [ (G F "a") & (G F "b") ]',
    'Pmax=? [ F G "a" ]',
    'Pmax=? [ (F "a") & (F "b") ]',
    'Pmin=? [ F ("a" & (X "b")) ]',
    'Pmax=? [ ("a" U "b") | (G F "a") ]',
)


def random_model(seed: int) -> MDP:
    rng = np.random.default_rng(seed)
    states = int(rng.integers(3, 7))
    state_ptr, choice_ptr, successor, probability = [0], [0], list[int](), list[float]()
    for _ in range(states):
        for _ in range(int(rng.integers(1, 4))):
            size = int(rng.integers(1, 4))
            successor += np.sort(rng.choice(states, size, replace=False)).tolist()
            probability += rng.dirichlet(np.ones(size)).tolist()
            choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    labels = {name: np.flatnonzero(rng.random(states) < 0.4) for name in "ab"}
    return MDP(state_ptr, choice_ptr, successor, probability, labels=labels)


@pytest.mark.parametrize("question", FORMULAS)
def test_on_a_model_what_has_no_end_is_decided_by_its_graph(question: str) -> None:
    misses = 0
    for seed in range(8):
        model = random_model(seed)
        found = solve(model, question)
        played = simulate(found.policy, model, question, episodes=300, seed=seed)
        assert played.cut == 0
        misses += not played.lower - 1e-6 <= found.value <= played.upper + 1e-6
    assert misses <= 2  # at 95 %


def test_what_was_cut_off_counts_neither_way() -> None:
    # It goes round until it leaves, with probability 0.01 a step, for ever; a holds on the way round alone.
    round_and_out = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.99, 0.01, 1.0], labels={"a": [0], "out": [1]})
    policy = solve(round_and_out, 'Pmin=? [ G F "a" ]').policy
    for question, true in (('Pmin=? [ G F "a" ]', 0.0), ('Pmax=? [ F G !"a" ]', 1.0)):
        policy = solve(round_and_out, question).policy
        played = simulate(policy, round_and_out, question, episodes=200, horizon=100)
        assert 40 < played.cut < 110  # 0.99 ** 100 is 0.37
        assert played.lower <= true <= played.upper
        assert played.mean == true
        assert played.upper - played.lower > 0.25
        assert (
            f"{played.cut} ended or were cut off before the property was decided: the interval allows for both"
            in str(played)
        )
    plain = simulate(solve(round_and_out, 'Pmax=? [ F "out" ]').policy, round_and_out, 'Pmax=? [ F "out" ]', horizon=1)
    assert plain.cut > 900
    assert plain.upper == 1.0
    assert plain.lower < 0.05


def test_where_nothing_is_decided_there_is_no_mean() -> None:
    ring = MDP([0, 1, 2], [0, 1, 3], [1, 0, 1], [1.0, 1 - 1e-9, 1e-9], labels={"a": [0]})
    question = 'Pmax=? [ F (!"a" & (X !"a")) ]'
    played = simulate(solve(ring, question).policy, ring, question, episodes=20, horizon=10)
    assert math.isnan(played.mean)
    assert (played.lower, played.upper, played.cut) == (0.0, 1.0, 20)
    assert played.kept is None
    assert "probability  undecided, 95 % interval 0.0000 .. 1.0000" in str(played)
    assert json.loads(json.dumps(played.as_dict()))["mean"] is None


def test_an_environment_that_cuts_its_episodes() -> None:
    gym = pytest.importorskip("gymnasium")
    env = gym.make("FrozenLake-v1", is_slippery=True, max_episode_steps=20)
    source: Any = Gymnasium(env)
    question = 'Pmax=? [ F "goal" ]'
    found = solve(source.truth, question)
    played = simulate(Policy(source.graph, found.policy.choice), source, question, episodes=300)
    assert played.cut > 100
    assert played.lower <= found.value <= played.upper
    bounded = simulate(Policy(source.graph, found.policy.choice), source, 'Pmax=? [ F<=20 "goal" ]', episodes=300)
    assert bounded.cut == 0
    assert bounded.upper - bounded.lower < 0.15


@pytest.mark.parametrize("discount", [1e-4, 0.3, 0.9, 0.99])
def test_equal_rewards_give_an_interval_that_holds_the_value(discount: float) -> None:
    paid = MDP([0, 1], [0, 1], [0], [1.0], rewards={"r": Rewards(state=[0.3])})
    question = f'R{{"r"}}max=? [ Cdiscount={discount} ]'
    played = simulate(Policy(paid, [0]), paid, question, episodes=50)
    assert played.lower <= 0.3 / (1 - discount) <= played.upper
    sums = simulate(Policy(paid, [0]), paid, 'R{"r"}max=? [ C<=10 ]', episodes=50)
    assert sums.lower <= 3.0 <= sums.upper
    assert sums.upper - sums.lower < 1e-12


# -- policies with memory, in files ---------------------------------------------------------------------------


@pytest.mark.parametrize("question", FORMULAS)
def test_every_pair_that_is_reached_has_a_decision(question: str, tmp_path: Path) -> None:
    settled = 0
    for seed in range(6):
        model, file = random_model(seed), tmp_path / f"{seed}.json"
        found = solve(model, question)
        write_policy(found.policy, file)
        content = json.loads(file.read_text())
        memory, table = content["memory"], {(d["number"], d["memory"]): d for d in content["decisions"]}
        assert len(table) == len(content["decisions"])
        start = (model.initial, memory["after"][memory["initial"]][memory["reads"][model.initial]])
        reached, to_do = {start}, [start]
        while to_do:
            state, now = to_do.pop()
            decision = table[state, now]
            choice = int(model.state_ptr[state]) + decision["choice"]
            for target in model.successor[model.choice_ptr[choice] : model.choice_ptr[choice + 1]].tolist():
                pair = (target, memory["after"][decision["becomes"]][memory["reads"][target]])
                if pair not in reached:
                    reached.add(pair)
                    to_do.append(pair)
        settled += len(table) - found.model.states
        again = read_remembered(file)
        assert again is not None
        policy = recalled(model, umdp.Spec.parse(again.asked), again.decisions, after=again.after)
        assert evaluate(model, question, policy).value == pytest.approx(found.value, abs=1e-5)
    assert settled > 0 or question != FORMULAS[4]  # of which all is settled once both were seen


def test_a_pair_that_settles_nothing_is_refused(tmp_path: Path) -> None:
    model = random_model(0)
    found = solve(model, FORMULAS[4])
    write_policy(found.policy, tmp_path / "p.json")
    again = read_remembered(tmp_path / "p.json")
    assert again is not None
    with pytest.raises(umdp.ModelError, match="what the model does not offer there"):
        recalled(model, umdp.Spec.parse(again.asked), [*again.decisions, (0, 99, 0, 99)], after=again.after)
