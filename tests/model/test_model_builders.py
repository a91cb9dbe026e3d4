"""Models from sparse matrices, from functions and from Gymnasium's tables."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from umdp import MDP, IntervalMDP, ModelError, solve
from umdp.model import Units

# -- sparse matrices -----------------------------------------------------------------------------------------


def test_a_chain_from_a_matrix() -> None:
    chain = MDP.from_matrix(csr_array([[0.5, 0.5], [0.0, 1.0]]), labels={"goal": [1]})
    assert chain.is_chain
    assert chain.successor.tolist() == [0, 1, 1]
    assert chain.probability.tolist() == [0.5, 0.5, 1.0]
    assert chain.labels["goal"].tolist() == [False, True]


def test_a_matrix_with_several_rows_per_state() -> None:
    matrix = csr_matrix([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
    mdp = MDP.from_matrix(matrix, [0, 2, 3], actions=["a", "b", "c"])
    assert (mdp.states, mdp.choices) == (2, 3)
    assert mdp.action_name(1) == "b"
    with pytest.raises(ModelError, match="2 columns but 3 states"):
        MDP.from_matrix(matrix)


def test_duplicate_entries_of_a_matrix_add_up() -> None:
    matrix = coo_array(([0.25, 0.25, 0.5, 1.0], ([0, 0, 0, 1], [1, 1, 0, 1])), shape=(2, 2))
    assert MDP.from_matrix(matrix).probability.tolist() == [0.5, 0.5, 1.0]


def test_intervals_from_two_matrices() -> None:
    lower = csr_array([[0.0, 0.2, 0.3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    upper = csr_array([[0.4, 0.6, 0.7], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    model = IntervalMDP.from_matrices(lower, upper)
    assert model.successor.tolist() == [0, 1, 2, 1, 2]
    assert model.lower.tolist() == [0, 0.2, 0.3, 1, 1]
    assert model.upper.tolist() == [0.4, 0.6, 0.7, 1, 1]


def test_matrices_that_do_not_match() -> None:
    upper = csr_array([[0.5, 0.5], [0.0, 1.0]])
    with pytest.raises(ModelError, match="row 1, column 0: a lower bound is given but no upper bound"):
        IntervalMDP.from_matrices(csr_array([[0.5, 0.5], [0.1, 0.9]]), upper)
    with pytest.raises(ModelError, match="different shapes"):
        IntervalMDP.from_matrices(csr_array([[1.0]]), upper)
    with pytest.raises(ModelError, match="no upper bound"):
        IntervalMDP.from_matrices(csr_array([[0.5, 0.5], [0.0, 1.0]]), csr_array((2, 2)))


def test_random_matrices_come_back_as_they_were() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        states = int(rng.integers(2, 7))
        sizes = rng.integers(1, 4, states)
        raw = rng.random((sizes.sum(), states)) * (rng.random((sizes.sum(), states)) < 0.5)
        raw[np.arange(sizes.sum()), rng.integers(0, states, sizes.sum())] += 0.2
        p = raw / raw.sum(axis=1, keepdims=True)
        low, high = p * 0.5, np.minimum(1, p * 1.5)
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        model = IntervalMDP.from_matrices(csr_array(low), csr_array(high), ptr)
        dense = csr_array((model.lower, model.successor, model.choice_ptr), shape=p.shape).toarray()
        np.testing.assert_array_equal(dense, low)
        assert model.contains(MDP.from_matrix(csr_array(p), ptr))


# -- functions -----------------------------------------------------------------------------------------------


def test_exploration_is_breadth_first_and_names_what_it_finds() -> None:
    tree = {"root": ["left", "right"], "left": ["ll"], "right": ["rr"], "ll": ["ll"], "rr": ["rr"]}
    mdp = MDP.from_function("root", lambda s: {f"to {t}": {t: 1.0} for t in tree[s]})
    assert mdp.state_names == ("root", "left", "right", "ll", "rr")
    assert mdp.action_name(0) == "to left"
    assert mdp.initial == 0
    assert mdp.choice_state.tolist() == [0, 0, 1, 2, 3, 4]


def test_pairs_serve_as_well_as_dicts_and_equal_successors_merge() -> None:
    mdp = MDP.from_function(0, lambda s: [("go", [(1, 0.25), (1, 0.25), (0, 0.5)])] if s == 0 else [("stay", [(1, 1)])])
    assert mdp.successor.tolist() == [1, 0, 1]
    assert mdp.probability.tolist() == [0.5, 0.5, 1.0]


def test_labels_and_rewards_as_functions_of_what_was_explored() -> None:
    model = IntervalMDP.from_function(
        (0, 0),
        lambda p: {"right": {(min(p[0] + 1, 2), 0): (0.5, 0.9), p: (0.1, 0.5)}} if p[0] < 2 else {"stay": {p: 1}},
        labels={"end": lambda p: p[0] == 2, "start": [(0, 0)]},
        rewards={
            "at": lambda p: p[0],
            "cost": lambda p, a: 2.0 if a == "right" else 0.0,
            "given": {"state": [1, 2, 3]},
        },
    )
    assert model.state_names == ("(0, 0)", "(1, 0)", "(2, 0)")
    assert model.labels["end"].tolist() == [False, False, True]
    assert model.labels["start"].tolist() == [True, False, False]
    assert model.rewards["at"].state.tolist() == [0, 1, 2]
    assert model.rewards["cost"].choice.tolist() == [2, 2, 0]
    assert model.rewards["given"].state.tolist() == [1, 2, 3]
    assert model.lower.tolist() == [0.5, 0.1, 0.5, 0.1, 1]


def test_a_state_without_actions_is_refused() -> None:
    with pytest.raises(ModelError, match="state 1 has no actions; give it one that stays there"):
        MDP.from_function(0, lambda s: {"go": {1: 1.0}} if s == 0 else {})


def test_an_infeasible_row_of_a_function_names_its_state_and_action() -> None:
    with pytest.raises(ModelError, match=r"state a, action go: probabilities sum to 0\.9"):
        MDP.from_function("a", lambda s: {"go": {"a": 0.4, "b": 0.5}} if s == "a" else {"stay": {"b": 1}})


def test_a_long_line_is_explored_without_recursion() -> None:
    n = 20_000
    mdp = MDP.from_function(0, lambda s: {"go": {min(s + 1, n): 1.0}})
    assert mdp.states == n + 1


# -- Gymnasium -----------------------------------------------------------------------------------------------

gymnasium = pytest.importorskip("gymnasium")


def table_of(name: str, **options: Any) -> Any:
    """Return the table of an environment, in the newest version there is."""
    newest = max((each for each in gymnasium.registry.values() if each.name == name), key=lambda each: each.version)
    return gymnasium.make(newest.id, **options).unwrapped.P


def test_frozen_lake_merges_what_slips_into_the_same_place() -> None:
    table = table_of("FrozenLake", map_name="4x4", is_slippery=True)
    mdp = MDP.from_gymnasium(table)
    assert (mdp.states, mdp.choices) == (16, 64)
    holes = {5, 7, 11, 12}
    assert set(np.flatnonzero(mdp.labels["fail"]).tolist()) == holes
    assert np.flatnonzero(mdp.labels["goal"]).tolist() == [15]
    assert set(np.flatnonzero(mdp.labels["terminated"]).tolist()) == holes | {15}
    # In the corner, left and up both stay: two of three outcomes are one transition.
    own = slice(mdp.choice_ptr[0], mdp.choice_ptr[1])
    assert dict(zip(mdp.successor[own].tolist(), mdp.probability[own].tolist(), strict=True)) == pytest.approx(
        {0: 2 / 3, 4: 1 / 3}
    )
    listed = sum(len(outcomes) for row in table.values() for outcomes in row.values())
    merged = sum(len({o[1] for o in outcomes}) for row in table.values() for outcomes in row.values())
    assert mdp.transitions == merged < listed
    for c in range(mdp.choices):
        row = mdp.successor[mdp.choice_ptr[c] : mdp.choice_ptr[c + 1]].tolist()
        assert len(row) == len(set(row))
    solution = solve(mdp, 'Pmax=? [ F "goal" ]')
    assert solution.value == pytest.approx(14 / 17, rel=1e-6)
    assert mdp.rewards["reward"].transition.max() == pytest.approx(1.0)
    assert solve(mdp, 'R{"reward"}max=? [ C<=100 ]').value == pytest.approx(solution.value, abs=0.1)


def test_cliff_walking_counts_steps_as_a_cost() -> None:
    mdp = MDP.from_gymnasium(table_of("CliffWalking"), initial=36)
    assert (mdp.states, mdp.choices) == (48, 192)
    assert list(mdp.rewards) == ["cost"]
    assert np.flatnonzero(mdp.labels["terminated"]).tolist() == [47]
    solution = solve(mdp, 'R{"cost"}min=? [ F "terminated" ]')
    assert solution.value == pytest.approx(13.0)


def test_taxi_has_rewards_of_both_signs_and_counts_down_from_the_largest() -> None:
    mdp = MDP.from_gymnasium(table_of("Taxi"), initial=328)
    assert list(mdp.rewards) == ["cost"]
    assert mdp.rewards["cost"].units == Units(sign=-1, once=20.0)
    paid = mdp.rewards["cost"].transition
    # 0: the end, and staying there. 21: from states that no episode sees, into the end for a step that pays -1.
    assert sorted(set(paid.tolist())) == [0.0, 1.0, 10.0, 21.0]


def test_taxi_with_its_rewards_made_costs() -> None:
    table = {
        s: {a: [(p, t, min(r, 0), end) for p, t, r, end in outcomes] for a, outcomes in row.items()}
        for s, row in table_of("Taxi").items()
    }
    mdp = MDP.from_gymnasium(table, initial=328)
    assert mdp.states == 500
    assert not mdp.labels["terminated"][328]
    distance = fewest_steps(mdp)
    solution = solve(mdp, 'R{"cost"}min=? [ F "terminated" ]')
    # Every step costs 1 but the last, and no detour is worth a fine of 10.
    assert solution.value == pytest.approx(distance - 1)


def fewest_steps(mdp: MDP) -> int:
    """Return the length of a shortest way from the initial state to a terminated one, by breadth-first search."""
    seen, queue = {mdp.initial: 0}, deque([mdp.initial])
    while queue:
        s = queue.popleft()
        if mdp.labels["terminated"][s]:
            return seen[s]
        for t in range(mdp.choice_ptr[mdp.state_ptr[s]], mdp.choice_ptr[mdp.state_ptr[s + 1]]):
            target = int(mdp.successor[t])
            if target not in seen:
                seen[target] = seen[s] + 1
                queue.append(target)
    raise AssertionError("no way to a terminated state")


def test_tables_of_a_wrong_form() -> None:
    with pytest.raises(ModelError, match="states 0 to 1"):
        MDP.from_gymnasium({0: {0: [(1.0, 0, 0, False)]}, 2: {0: [(1.0, 0, 0, False)]}})
    with pytest.raises(ModelError, match=r"state 0, action 0: an outcome is \(probability"):
        MDP.from_gymnasium({0: {0: [(1.0, 0, 0)]}})


def test_a_terminated_state_stays_though_its_table_goes_on() -> None:
    table = {0: {0: [(1.0, 1, 1.0, True)]}, 1: {0: [(1.0, 0, 5.0, False)]}}
    mdp = MDP.from_gymnasium(table, labels={"start": [0]}, state_names=["a", "b"])
    assert mdp.successor.tolist() == [1, 1]
    assert mdp.rewards["reward"].transition.tolist() == [1, 0]
    assert set(mdp.labels) == {"terminated", "goal", "fail", "start"}
    assert mdp.state_name(1) == "b"
