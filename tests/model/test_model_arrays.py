"""Models from arrays: validation, merging, immutability, names, display."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from umdp import MDP, Graph, InfeasibleChoice, IntervalMDP, ModelError, Rewards
from umdp.model import REST

PTR = ([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2])
LOWER, UPPER = [0.4, 0.5, 0.2, 0.2, 1, 1], [0.5, 0.6, 0.8, 0.8, 1, 1]


def fork(**more: object) -> IntervalMDP:
    """Return a model with two actions in state 0."""
    return IntervalMDP(*PTR, LOWER, UPPER, **more)  # type: ignore[arg-type]


# -- structure -----------------------------------------------------------------------------------------------


def test_sizes_and_owners() -> None:
    model = fork()
    assert (model.states, model.choices, model.transitions) == (3, 4, 6)
    assert model.choice_state.tolist() == [0, 0, 1, 2]
    assert not model.is_chain
    assert MDP([0, 1], [0, 1], [0], [1.0]).is_chain
    assert model.state_ptr.dtype == model.choice_ptr.dtype == np.int64
    assert model.successor.dtype == np.int32
    assert model.lower.dtype == model.upper.dtype == np.float64


def test_models_from_one_graph_share_it() -> None:
    graph = Graph(*PTR, labels={"goal": [1]})
    one, other = graph.with_bounds(LOWER, UPPER), graph.with_probability([0.5, 0.5, 0.5, 0.5, 1, 1])
    assert one.graph is graph
    assert other.graph is graph
    assert one.successor is other.successor
    assert graph.graph is graph
    assert type(fork().graph) is Graph
    assert fork().graph.labels == {}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0], [0], []), "at least one state"),
        (([], [0, 1], [0]), "state_ptr must be a one-dimensional integer array"),
        (([0, 1], [0.0, 1.0], [0]), "choice_ptr must be a one-dimensional integer array"),
        (([1, 1], [0, 1], [0]), "state_ptr must start at 0, not at 1"),
        (([0, 2, 1], [0, 1], [0]), "state_ptr falls from 2 to 1 at entry 2"),
        (([0, 2], [0, 1], [0]), "state_ptr ends at 2, but there are 1 entries"),
        (([0, 1], [0, 2], [0]), "choice_ptr ends at 2, but there are 1 entries"),
        (([0, 1, 1], [0, 1], [0]), "state 1 has no choices"),
        (([0, 2], [0, 1, 1], [0]), "choice 1 has no transitions"),
        (([0, 1], [0, 1], [3]), "transition 0 leads to state 3; states are numbered 0 to 0"),
        (([0, 1], [0, 1], [-1]), "transition 0 leads to state -1"),
        (([0, 1], [0, 1], [0.5]), "successor must be a one-dimensional integer array"),
        (([0, 1], [0, 1], [[0]]), "successor must be a one-dimensional integer array"),
    ],
)
def test_arrays_that_do_not_fit_together(arrays: tuple[list[int], ...], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Graph(*arrays)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"initial": 3}, "the initial state is 3; states are numbered 0 to 2"),
        ({"initial": -1}, "the initial state is -1"),
        ({"labels": {"goal": [True, False]}}, r'label "goal" has shape \(2,\), but there are 3 states'),
        ({"labels": {"goal": [3]}}, 'label "goal" must be a boolean array or list states from 0 to 2'),
        ({"labels": {"goal": [0.5]}}, 'label "goal" must be a boolean array'),
        ({"rewards": {"r": {"state": [1, 2]}}}, r'reward "r" on states has shape \(2,\), but the model has 3 states'),
        ({"rewards": {"r": {"choice": [1, 2]}}}, 'reward "r" on choices.* 4 choices'),
        ({"rewards": {"r": {"transition": [1, 2]}}}, 'reward "r" on transitions.* 6 transitions'),
        ({"rewards": {"r": {"state": [1, np.nan, 0]}}}, 'reward "r" of state 1 is nan; rewards must be finite'),
        ({"rewards": {"r": {"state": [1, 0, np.inf]}}}, 'reward "r" of state 2 is inf'),
        ({"rewards": {"r": {"states": [1, 2, 3]}}}, "not on states"),
        ({"actions": ["a", "b"]}, "2 action names were given for 4 choices"),
        ({"actions": (np.array([0, 1, 2, 0]), ("a", "b"))}, "action codes must lie between 0 and 1"),
        ({"state_names": ["a"]}, "1 state names were given for 3 states"),
        ({"variables": {"x": [1, 2]}}, r"variable x has shape \(2,\), but there are 3 states"),
    ],
)
def test_annotations_that_do_not_fit(more: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        fork(**more)


# -- probabilities -------------------------------------------------------------------------------------------

NAMES = {"state_names": ["start", "end", "pit"], "actions": ["walk", "run", "stay", "stay"]}


def test_probabilities_that_do_not_sum_to_1_name_the_place() -> None:
    with pytest.raises(ModelError, match=r"state start, action run: probabilities sum to 0\.9, not to 1"):
        MDP(*PTR, [0.5, 0.5, 0.5, 0.4, 1, 1], **NAMES)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="state 0, action 1: probabilities sum"):
        MDP(*PTR, [0.5, 0.5, 0.5, 0.4, 1, 1])


@pytest.mark.parametrize("p", [-0.1, 1.5, np.nan])
def test_numbers_that_are_no_probabilities(p: float) -> None:
    with pytest.raises(ModelError, match=r"state start, action walk: .* is not a probability"):
        MDP(*PTR, [p, 1 - p, 0.5, 0.5, 1, 1], **NAMES)  # type: ignore[arg-type]


def test_probabilities_may_miss_1_by_rounding() -> None:
    MDP(*PTR, [0.1 + 0.2, 0.7, 1 / 3, 2 / 3 + 1e-10, 1, 1])


def test_bounds_that_admit_no_distribution_name_the_place_and_the_sums() -> None:
    with pytest.raises(InfeasibleChoice) as caught:
        IntervalMDP(*PTR, [0.4, 0.5, 0.6, 0.5, 1, 1], [0.5, 0.6, 0.8, 0.8, 1, 1], **NAMES)  # type: ignore[arg-type]
    assert (caught.value.state, caught.value.action) == ("start", "run")
    assert caught.value.lower_sum == pytest.approx(1.1)
    assert caught.value.upper_sum == pytest.approx(1.6)
    assert "state start, action run" in str(caught.value)
    assert "1.1" in str(caught.value)
    with pytest.raises(InfeasibleChoice, match=r"upper bounds to 0\.9\b"):
        IntervalMDP(*PTR, [0.1, 0.1, 0.2, 0.2, 1, 1], [0.4, 0.5, 0.8, 0.8, 1, 1])


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.4), (-0.1, 0.5), (0.2, 1.1), (np.nan, 0.5), (0.1, np.nan)])
def test_bounds_that_are_no_interval(low: float, high: float) -> None:
    with pytest.raises(ModelError, match=r"state start, action walk, successor end: .* is not an interval"):
        IntervalMDP(*PTR, [low, 0.5, 0.2, 0.2, 1, 1], [high, 0.6, 0.8, 0.8, 1, 1], **NAMES)  # type: ignore[arg-type]


def test_bounds_may_miss_1_by_rounding() -> None:
    model = IntervalMDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5 + 1e-10, 0.5, 1], [0.5 + 1e-10, 0.5, 1 + 1e-10])
    assert model.upper[2] == 1.0
    with pytest.raises(InfeasibleChoice):
        IntervalMDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5 + 1e-8, 0.5, 1], [0.5 + 1e-8, 0.5, 1])


@pytest.mark.parametrize("build", [lambda g: g.with_probability([1.0]), lambda g: g.with_bounds([1.0], [1.0])])
def test_shapes_of_bounds_are_checked(build: Callable[[Graph], object]) -> None:
    with pytest.raises(ModelError, match=r"shape \(1,\), but there are 6 transitions"):
        build(Graph(*PTR))


def test_a_graphs_transitions_must_be_possible() -> None:
    graph = Graph(*PTR)
    with pytest.raises(ModelError, match="probability 0"):
        graph.with_probability([0, 1, 0.5, 0.5, 1, 1])
    with pytest.raises(ModelError, match="upper bound 0"):
        graph.with_bounds([0, 1, 0.2, 0.2, 1, 1], [0, 1, 0.8, 0.8, 1, 1])


# -- merging -------------------------------------------------------------------------------------------------


def test_equal_successors_are_merged() -> None:
    mdp = MDP([0, 2, 3], [0, 3, 5, 6], [1, 0, 1, 0, 0, 1], [0.25, 0.5, 0.25, 0.75, 0.25, 1.0])
    assert mdp.choice_ptr.tolist() == [0, 2, 3, 4]
    assert mdp.successor.tolist() == [1, 0, 0, 1]
    assert mdp.probability.tolist() == [0.5, 0.5, 1.0, 1.0]
    graph = Graph([0, 1, 2], [0, 3, 4], [1, 0, 1, 1])
    assert graph.successor.tolist() == [1, 0, 1]
    model = IntervalMDP([0, 1, 2], [0, 3, 4], [1, 0, 1, 1], [0.1, 0.2, 0.2, 1], [0.3, 0.5, 0.4, 1])
    assert model.lower.tolist() == pytest.approx([0.3, 0.2, 1])
    assert model.upper.tolist() == pytest.approx([0.7, 0.5, 1])


def test_impossible_transitions_are_dropped() -> None:
    mdp = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.0, 1.0, 1.0])
    assert mdp.transitions == 2
    model = IntervalMDP(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], [0, 1, 1], [0, 1, 1], rewards={"r": Rewards(transition=[1, 2, 3])}
    )
    assert model.successor.tolist() == [1, 1]
    assert model.rewards["r"].transition.tolist() == [2, 3]


def test_transition_rewards_of_merged_transitions_are_averaged_in_an_mdp() -> None:
    mdp = MDP(
        [0, 1, 2], [0, 3, 4], [1, 0, 1, 1], [0.25, 0.25, 0.5, 1.0],
        rewards={"r": Rewards(transition=[3.0, 0.1, 6.0, 0.0]), "s": Rewards(state=[1, 0])},
    )  # fmt: skip
    assert mdp.probability.tolist() == [0.75, 0.25, 1.0]
    assert mdp.rewards["r"].transition.tolist() == [5.0, 0.1, 0.0]
    assert mdp.rewards["s"].state.tolist() == [1, 0]


def test_transitions_with_different_rewards_stay_apart_under_intervals() -> None:
    # Nature chooses between them, so that their average is not known.
    def model(rewards: list[float]) -> IntervalMDP:
        return IntervalMDP(
            [0, 1, 2], [0, 3, 4], [1, 0, 1, 1], [0.1, 0.2, 0.2, 1], [0.3, 0.5, 0.4, 1],
            rewards={"r": Rewards(transition=rewards)},
        )  # fmt: skip

    apart, together = model([3, 0, 6, 0]), model([3, 0, 3, 0])
    assert apart.successor.tolist() == [1, 0, 1, 1]
    assert apart.rewards["r"].transition.tolist() == [3, 0, 6, 0]
    assert together.successor.tolist() == [1, 0, 1]
    assert together.rewards["r"].transition.tolist() == [3, 0, 0]
    assert together.lower.tolist() == pytest.approx([0.3, 0.2, 1])


def test_a_graph_whose_transitions_pay_differently_keeps_them() -> None:
    graph = Graph([0, 1, 2], [0, 2, 3], [1, 1, 1], rewards={"r": Rewards(transition=[1, 2, 0])})
    assert graph.transitions == 3


def test_merging_leaves_sums_and_other_rows_as_they_were() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        states = int(rng.integers(2, 6))
        sizes = rng.integers(1, 7, states)
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        successor = rng.integers(0, states, ptr[-1])
        raw = rng.random(ptr[-1]) * (rng.random(ptr[-1]) < 0.8)
        raw[ptr[:-1]] += 0.1
        p = raw / np.repeat(np.add.reduceat(raw, ptr[:-1]), sizes)
        mdp = MDP(np.arange(states + 1), ptr, successor, p)
        for s in range(states):
            own = slice(ptr[s], ptr[s + 1])
            new = slice(mdp.choice_ptr[s], mdp.choice_ptr[s + 1])
            dense = np.zeros(states)
            np.add.at(dense, successor[own], p[own])
            assert len(set(mdp.successor[new].tolist())) == mdp.successor[new].size
            assert set(mdp.successor[new].tolist()) == set(np.flatnonzero(dense).tolist())
            np.testing.assert_allclose(mdp.probability[new], dense[mdp.successor[new]], rtol=1e-15)


# -- immutability --------------------------------------------------------------------------------------------


def test_models_cannot_be_changed() -> None:
    model = fork(labels={"goal": [1]}, rewards={"r": Rewards(state=[1, 0, 0])}, variables={"x": [1, 2, 3]})
    for each in fields(model):
        value = getattr(model, each.name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, each.name
            with pytest.raises(ValueError, match="read-only"):
                value[0] = 1
    for array in (model.labels["goal"], model.variables["x"], model.rewards["r"].state, model.choice_state):
        assert not array.flags.writeable
    for mapping in (model.labels, model.rewards, model.variables, model.constants, model.formulas):
        with pytest.raises(TypeError):
            mapping["new"] = 1  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        model.initial = 1  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        model.rewards["r"].state = None  # type: ignore[misc]


def test_the_callers_arrays_stay_writable() -> None:
    lower, upper = np.array(LOWER, dtype=float), np.array(UPPER, dtype=float)
    IntervalMDP(*PTR, lower, upper)  # type: ignore[arg-type]
    lower[0] = upper[0] = 0.45
    successor = np.array(PTR[2], dtype=np.int32)
    Graph(PTR[0], PTR[1], successor)  # type: ignore[arg-type]
    successor[0] = 0


# -- names ---------------------------------------------------------------------------------------------------


def test_names_of_states_and_actions() -> None:
    model = fork(**NAMES)
    assert [model.action_name(c) for c in range(4)] == ["walk", "run", "stay", "stay"]
    assert model.action_names == ("walk", "run", "stay")
    assert model.action_codes.tolist() == [0, 1, 2, 2]
    assert model.state_name(2) == "pit"
    assert model.state_index("end") == model.state_index(1) == model.state_index(np.int64(1)) == 1
    with pytest.raises(ModelError, match="no state named 'middle'"):
        model.state_index("middle")
    with pytest.raises(ModelError, match="no state 9"):
        model.state_index(9)


def test_without_names_numbers_serve() -> None:
    model = fork()
    assert [model.action_name(c) for c in range(4)] == ["0", "1", "0", "0"]
    assert model.action_names == ()
    assert model.action_codes is None
    assert model.state_name(2) == "2"
    assert model.state_index("2") == 2


def test_valuations_name_states() -> None:
    model = fork(variables={"x": [0, 1, 2], "ok": [True, False, True], "f": [0.5, 1.5, 2.5]}, constants={"N": 2})
    assert model.state_name(1) == "(x=1,ok=false,f=1.5)"
    assert model.state_index("(x=2,ok=true,f=2.5)") == 2
    assert model.constants["N"] == 2


def test_labels_as_lists_and_masks() -> None:
    model = fork(labels={"a": [1, 2], "b": [False, True, False], "none": []})
    assert model.labels["a"].tolist() == [False, True, True]
    assert model.labels["b"].tolist() == [False, True, False]
    assert not model.labels["none"].any()


# -- display -------------------------------------------------------------------------------------------------


def test_repr_is_one_line_of_facts() -> None:
    model = fork(labels={"goal": [1]}, rewards={"r": Rewards(state=[1, 0, 0])}, state_names=["a", "b", "c"])
    assert repr(model) == (
        'IntervalMDP with 3 states, 4 choices, 6 transitions, 4 uncertain; initial state a; labels "goal"; rewards "r"'
    )
    many = fork(labels={f"l{i}": [0] for i in range(12)})
    assert "and 4 more" in repr(many)
    assert "\n" not in repr(many)


def test_html_is_a_table_with_names_escaped() -> None:
    model = fork(labels={"<goal>": [1]}, rewards={"r": Rewards(state=[1, 0, 0], choice=[0, 0, 0, 1])})
    html = model._repr_html_()
    assert html.startswith("<table>")
    assert "IntervalMDP" in html
    assert "&lt;goal&gt;" in html
    assert "<goal>" not in html
    assert "on states and choices" in html
    assert ">1 state<" in html


# -- intervals -----------------------------------------------------------------------------------------------


def test_with_intervals_is_centred_clipped_and_certain_where_the_mdp_is() -> None:
    mdp = MDP(*PTR, [0.05, 0.95, 0.5, 0.5, 1, 1], labels={"goal": [1]})
    model = mdp.with_intervals(0.2)
    assert model.lower.tolist() == pytest.approx([0, 0.85, 0.4, 0.4, 1, 1])
    assert model.upper.tolist() == pytest.approx([0.15, 1, 0.6, 0.6, 1, 1])
    assert model.graph is mdp.graph
    assert model.contains(mdp)
    floored = mdp.with_intervals(0.2, floor=0.01)
    assert floored.lower[0] == 0.01
    assert mdp.with_intervals(0.2, floor=0.5).lower[0] == 0.05  # never above the probability itself
    for width in (-0.1, 2.1, np.nan):
        with pytest.raises(ModelError, match="width"):
            mdp.with_intervals(width)
    exact = mdp.as_intervals()
    assert exact.contains(mdp)
    assert (exact.lower == exact.upper).all()


def test_contains_compares_probabilities_whatever_the_order_of_successors() -> None:
    model = fork()
    inside, outside = [0.45, 0.55, 0.8, 0.2, 1, 1], [0.35, 0.65, 0.8, 0.2, 1, 1]
    assert model.contains(MDP(*PTR, inside))
    assert not model.contains(MDP(*PTR, outside))
    assert model.contains(MDP(*PTR, outside), tolerance=0.06)
    turned = MDP(PTR[0], PTR[1], [2, 1, 2, 1, 1, 2], [0.55, 0.45, 0.2, 0.8, 1, 1])  # type: ignore[arg-type]
    assert model.contains(turned)
    assert not model.contains(MDP(PTR[0], PTR[1], [2, 1, 2, 1, 1, 2], [0.45, 0.55, 0.2, 0.8, 1, 1]))  # type: ignore[arg-type]


def test_contains_is_about_the_same_transitions() -> None:
    model = fork()
    assert not model.contains(MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.45, 0.55, 1, 1]))
    assert not model.contains(MDP(PTR[0], [0, 2, 3, 4, 5], [1, 2, 1, 1, 2], [0.45, 0.55, 1, 1, 1]))  # type: ignore[arg-type]
    assert not model.contains(MDP(PTR[0], PTR[1], [0, 2, 1, 2, 1, 2], [0.45, 0.55, 0.8, 0.2, 1, 1]))  # type: ignore[arg-type]


# -- size ----------------------------------------------------------------------------------------------------


def test_a_million_transitions() -> None:
    states, branching = 100_000, 5
    choices = 2 * states
    rng = np.random.default_rng(0)
    successor = (np.arange(choices)[:, None] + np.sort(rng.choice(1000, branching, replace=False))) % states
    successor.sort(axis=1)
    raw = rng.random((choices, branching)) + 0.1
    p = (raw / raw.sum(axis=1, keepdims=True)).ravel()
    mdp = MDP(
        np.arange(0, choices + 1, 2), np.arange(0, choices * branching + 1, branching), successor.ravel(), p,
        labels={"goal": [states - 1]},
    )  # fmt: skip
    assert mdp.transitions == 1_000_000
    model = mdp.with_intervals(0.05, floor=1e-4)
    assert model.contains(mdp)
    assert "1,000,000 transitions" in repr(model)


def test_the_state_that_stands_for_anything_else() -> None:
    assert Graph([0, 1], [0, 1], [0]).rest is None
    assert Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={REST: [1]}).rest == 1
    assert Graph([0, 1], [0, 1], [0], labels={REST: []}).rest is None
    for members in ([0], [0, 1]):
        with pytest.raises(
            ModelError, match='the label "anything else" is reserved for one state, which is never left'
        ):
            _ = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={REST: members}).rest
