"""States and actions by name or by number, and never by mistake."""

from __future__ import annotations

import pytest

from umdp import Graph, ModelError, Rewards
from umdp.source.lookup import Lookup, Memo

from .recordings import small_graph


def test_names_and_numbers_find_the_same_transitions() -> None:
    graph = small_graph()
    lookup = Lookup(graph)
    for c in range(graph.choices):
        s = int(graph.choice_state[c])
        for t in range(graph.choice_ptr[c], graph.choice_ptr[c + 1]):
            target = int(graph.successor[t])
            by_name = lookup.place(graph.state_name(s), graph.action_name(c), graph.state_name(target))
            by_number = lookup.place(s, c - int(graph.state_ptr[s]), str(target))
            assert by_name == by_number == (t, s, target, "", False)


def test_a_number_is_never_taken_for_another_state_that_has_a_number_for_a_name() -> None:
    # States explored in the order 0, 5, 3: the state called 3 is number 2, and there is no state called 1.
    graph = Graph([0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 0], state_names=["0", "5", "3"], actions=["7", "8", "9"])
    lookup = Lookup(graph)
    assert [lookup.state(given) for given in (0, "5", 3, 1, 2)] == [0, 1, 2, -1, -1]
    assert lookup.choice(0, 7) == 0
    assert lookup.choice(0, 0) == -1
    assert "there is no state '1'; give a name such as '0'" in lookup.place(1, 7, 5).reason


def test_unnamed_states_go_by_number_and_variables_by_valuation() -> None:
    plain = Lookup(Graph([0, 1, 2], [0, 1, 2], [1, 1]))
    assert plain.state(" 1 ") == 1
    assert plain.state(2) == plain.state("-1") == plain.state("one") == -1
    assert plain.place("7", 0, 0).reason == "there is no state '7'; states are numbered 0 to 1"
    valued = Lookup(Graph([0, 1, 2], [0, 1, 2], [1, 1], variables={"x": [4, 5]}))
    assert valued.state("(x=5)") == valued.state("1") == 1


def test_shared_names_must_be_given_as_numbers() -> None:
    graph = Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], state_names=["same", "same"], actions=["go", "go", "stay"])
    lookup = Lookup(graph)
    assert lookup.place("same", "go", 1).reason == "several states are named 'same'; give the state's number"
    assert "several actions are named 'go'; give the action's number" in lookup.place(0, "go", 1).reason
    assert lookup.place(0, "stay", 1).reason == "state same has no action 'stay'; it has go, go"


def test_transitions_that_data_cannot_tell_apart_are_refused() -> None:
    graph = Graph([0, 1], [0, 2], [0, 0], rewards={"r": Rewards(transition=[1, 2])}, actions=["go"])
    assert graph.transitions == 2
    with pytest.raises(ModelError, match="state 0, action go: the successor 0 is listed more than once"):
        Lookup(graph)


def test_what_fails_is_not_remembered() -> None:
    memo = Memo(Lookup(small_graph()))
    assert memo["a", "on", "b"] == 0
    assert [memo["a", "on", "zz"], memo["a", "no", "b"]] == [-1, -2]
    assert list(memo) == [("a", "on", "b")]
    assert [place.reason for place in memo.failed] == [
        "there is no state 'zz'; give a name such as 'a', or its number, 0 to 3",
        "state a has no action 'no'; it has on, back",
    ]
