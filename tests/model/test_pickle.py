"""Models, policies, solutions, snapshots and learners can be pickled and copied, and stay as immutable as they were."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

from umdp import (
    MDP,
    Graph,
    IntervalMDP,
    ModelError,
    Policy,
    Rewards,
    Snapshot,
    Solution,
    Spec,
    anytime,
    evaluate,
    solve,
)
from umdp.benchmark import chain, grid
from umdp.learn import LEARNERS, LUI

GOAL = 'Pmaxmin=? [ F "goal" ]'
WAYS: dict[str, Callable[[Any], Any]] = {
    **{f"protocol {n}": lambda given, n=n: pickle.loads(pickle.dumps(given, n)) for n in range(2, 6)},
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
APART = [name for name in WAYS if name != "copy"]  # a copy of a learner that is not deep shares its arrays
every_way = pytest.mark.parametrize("again", WAYS.values(), ids=WAYS)


def full() -> dict[str, Any]:
    """Return annotations of every kind for two states, three choices and five transitions."""
    return {
        "initial": 1,
        "labels": {"goal": [1], "none": []},
        "rewards": {"cost": Rewards([1, 2], [1, 0, 3], [0, 1, 0, 0, 0.5]), "": Rewards(state=[1, 1])},
        "actions": ["try", "go", "try"],
        "state_names": ["here", "there"],
        "variables": {"x": np.array([1, 2**40]), "b": np.array([True, False]), "f": np.array([0.5, -0.0])},
        "constants": {"K": 2, "p": 0.1, "flag": True},
        "formulas": {"done": "x=K"},
    }


ROWS = [0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1]
MODELS = [
    Graph(*ROWS, **full()),
    MDP(*ROWS, [0.3, 0.7, 0.1, 0.9, 1], **full()),
    IntervalMDP(*ROWS, [0.3, 0.6, 0, 0.9, 1], [0.4, 0.7, 0.1, 1, 1], **full()),
    IntervalMDP([0, 1], [0, 1], [0], [1], [1]),
    Graph(*ROWS, **full()).with_probability([0.3, 0.7, 0.1, 0.9, 1]),
    grid().with_intervals(0.1),
]


def assert_same(given: Any, other: Any) -> None:
    """Assert that two things hold the same, arrays read-only and mappings immutable."""
    assert type(given) is type(other)
    if isinstance(given, np.ndarray):
        assert (given.dtype, given.shape) == (other.dtype, other.shape)
        assert given.tobytes() == other.tobytes()
        assert not other.flags.writeable
    elif isinstance(given, Mapping):
        assert list(given) == list(other)
        for name, value in given.items():
            assert_same(value, other[name])
        with pytest.raises(TypeError):
            other["new"] = 1
    elif isinstance(given, Graph | Rewards | Policy):
        for name in given.__dataclass_fields__:
            assert_same(getattr(given, name), getattr(other, name))
        with pytest.raises(AttributeError):
            other.initial = 0  # type: ignore[union-attr]
    elif isinstance(given, tuple):
        assert len(given) == len(other)
        for one, two in zip(given, other, strict=True):
            assert_same(one, two)
    else:
        assert given == other


@every_way
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models(model: Graph, again: Callable[[Any], Any]) -> None:
    copied = again(model)
    assert_same(model, copied)
    assert repr(copied) == repr(model)
    assert [copied.state_index(copied.state_name(s)) for s in range(model.states)] == list(range(model.states))
    np.testing.assert_array_equal(copied.choice_state, model.choice_state)
    with pytest.raises(ValueError, match="read-only"):
        copied.successor[0] = 0


def test_a_copy_is_a_copy() -> None:
    model = grid()
    for name in APART:
        other = WAYS[name](model)
        assert not np.shares_memory(other.successor, model.successor)
        assert not np.shares_memory(other.labels["goal"], model.labels["goal"])


@every_way
def test_rewards_policies_and_properties(again: Callable[[Any], Any]) -> None:
    mdp = grid()
    rng = np.random.default_rng(1)
    policies = [
        Policy(mdp, rng.integers(mdp.state_ptr[:-1], mdp.state_ptr[1:])),
        Policy(mdp, np.array([mdp.state_ptr[:-1]] * 3)),
        Policy.uniform(mdp),
    ]
    for policy in policies:
        assert_same(policy, again(policy))
        assert again(policy)["(3,2)"] == policy["(3,2)"]
    assert_same(Rewards([1, -0.0], None, [3]), again(Rewards([1, -0.0], None, [3])))
    for text in (GOAL, 'R{"steps"}min<=3 [ F x=1 & !(y>2) ]', 'P>=0.5 [ "a" U<=K "b" ]', "Pmax=? [ G !(x>1) ]"):
        spec = Spec.parse(text)
        assert again(spec) == spec
        assert str(again(spec)) == str(spec)


@every_way
def test_what_shares_a_graph_shares_it_still(again: Callable[[Any], Any]) -> None:
    mdp = grid()
    model = mdp.with_intervals(0.1)
    first, second, policy = again((mdp, model, Policy.uniform(model)))
    assert first.graph is second.graph is policy.graph
    assert second.successor is second.graph.successor


@every_way
def test_what_solvers_keep_with_a_graph_is_left_behind(again: Callable[[Any], Any]) -> None:
    model = grid().with_intervals(0.1)
    before = len(pickle.dumps(model))
    solve(model, GOAL)
    model.state_index("(0,0)")
    graph = model.graph
    assert set(vars(graph)) > set(graph.__dataclass_fields__)  # something is kept
    copied = again(model)
    assert set(vars(copied)) == {*model.__dataclass_fields__, "graph"}
    if again is copy.copy:
        assert copied.graph is graph
    else:
        assert set(vars(copied.graph)) == set(graph.__dataclass_fields__)
        assert len(pickle.dumps(model)) == before


QUESTIONS = [
    (grid().with_intervals(0.1), 'Pmaxmin=? [ !"trap" U "goal" ]'),
    (grid().with_intervals(0.1), 'Pminmax=? [ G !"trap" ]'),
    (grid().with_intervals(0.1), 'Pmaxmin=? [ F<=7 "goal" ]'),
    (grid(4, 3, traps=[]).with_intervals(0.9), GOAL),  # nature may cut transitions
    (grid(), 'Pmax=? [ !"trap" U "goal" ]'),
    (chain(), 'Rmin=? [ F "goal" ]'),
    (chain(), "Rmax=? [ C<=9 ]"),
]


def assert_same_solution(given: Solution, other: Solution) -> None:
    assert (given.bracket, given.policy_bracket, given.status) == (other.bracket, other.policy_bracket, other.status)
    assert given.statistics == other.statistics
    assert given.spec == other.spec
    assert repr(given) == repr(other)
    for name in ("lower", "upper", "model", "policy", "nature"):
        assert_same(getattr(given, name), getattr(other, name))
    assert other.at(1) == given.at(1)
    assert other.satisfied == given.satisfied


@every_way
@pytest.mark.parametrize(("model", "question"), QUESTIONS, ids=[text for _, text in QUESTIONS])
def test_solutions(model: MDP | IntervalMDP, question: str, again: Callable[[Any], Any]) -> None:
    solution = solve(model, question)
    copied = again(solution)
    assert_same_solution(solution, copied)
    assert_same_solution(solution, again(copied))
    assert copied.policy.graph is copied.model.graph
    answer = solve(again(model), question)
    assert (answer.bracket, answer.status) == (solution.bracket, solution.status)
    np.testing.assert_array_equal(answer.lower, solution.lower)


@every_way
def test_a_solution_without_nature(again: Callable[[Any], Any]) -> None:
    model = grid(3, 2).with_intervals(0.1)
    solution = evaluate(model, GOAL, Policy.uniform(model))
    copied = again(solution)
    assert copied.bracket == solution.bracket
    np.testing.assert_array_equal(copied.upper, solution.upper)
    for each in (solution, copied, again(copied)):
        with pytest.raises(ModelError, match="randomised policy"):
            _ = each.nature


@every_way
def test_snapshots(again: Callable[[Any], Any]) -> None:
    *_, last = anytime(grid(4, 3, traps=[(2, 0)]), 'Pmax=? [ !"trap" U "goal" ]', LUI(), trajectories=50)
    copied: Snapshot = again(last)
    assert_same_solution(last.robust, copied.robust)
    assert repr(copied) == repr(last)
    assert (copied.steps, copied.optimistic, copied.guarantee) == (last.steps, last.optimistic, last.guarantee)
    assert (copied.performance, copied.model_error) == (last.performance, last.model_error)
    assert copied.reason == last.reason == "50 trajectories have been seen"


@pytest.mark.parametrize("way", APART)
@pytest.mark.parametrize("kind", LEARNERS.values(), ids=LEARNERS)
def test_learners(kind: type[Any], way: str) -> None:
    again = WAYS[way]
    assert repr(again(kind())) == repr(kind())
    graph = chain(3).graph
    rng = np.random.default_rng(3)
    learner = kind().bind(graph).learn(rng.integers(0, 9, graph.transitions))
    copied = again(learner)
    more = rng.integers(0, 9, graph.transitions)
    learner.learn(more)
    copied.learn(more)
    for name, array in learner.state().items():
        np.testing.assert_array_equal(array, copied.state()[name])
    assert_same(learner.model, copied.model)
    assert repr(copied.bind(graph)) == repr(learner)


def test_worker_processes_take_models_and_return_solutions() -> None:
    mdp = grid()
    asked = [(mdp.with_intervals(width), 'Pmaxmin=? [ !"trap" U "goal" ]') for width in (0.05, 0.1)]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = [pool.submit(solve, *each) for each in asked]
        for (model, question), future in zip(asked, found, strict=True):
            here, there = solve(model, question), future.result()
            assert (here.bracket, here.status) == (there.bracket, there.status)
            assert_same(here.policy.choice, there.policy.choice)
            assert_same(here.lower, there.lower)
            assert_same(here.model, there.model)
            assert_same(here.nature, there.nature)
