"""Models, policies, rewards and ties hold arrays that nobody else can change, whatever happens to those they were given."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from umdp import MDP, Graph, IntervalMDP, Policy, Rewards, evaluate, solve
from umdp.model.structure import held, owned
from umdp.model.tying import Tying

GOAL = 'Pmaxmin=? [ F "goal" ]'
COST = 'R{"cost"}minmax=? [ F "goal" ]'


def arguments() -> dict[str, Any]:
    """Return arrays for all there is to say of a process of three states, made anew."""
    return {
        "state_ptr": np.array([0, 2, 3, 4]),
        "choice_ptr": np.array([0, 2, 4, 5, 6]),
        "successor": np.array([0, 1, 1, 2, 1, 2], dtype=np.int32),
        "labels": {"goal": np.array([False, True, False])},
        "rewards": {"cost": Rewards(np.array([1.0, 0, 0]), np.array([1.0, 2, 0, 0]), np.array([1.0, 0, 0, 2, 0, 0]))},
        "actions": (np.array([0, 1, 2, 2], dtype=np.int32), ["try", "go", "stay"]),
        "state_names": ["here", "there", "lost"],
        "variables": {"x": np.array([3, 4, 5])},
        "constants": {"K": 2},
        "formulas": {"far": "x>4"},
    }


BOUNDS = {"lower": [0.5, 0.1, 0.7, 0.1, 1, 1], "upper": [0.9, 0.5, 0.9, 0.3, 1, 1]}
PROBABILITY = {"probability": [0.6, 0.4, 0.8, 0.2, 1, 1]}
KINDS: dict[type[Graph], dict[str, Any]] = {Graph: {}, MDP: PROBABILITY, IntervalMDP: BOUNDS}


def made(kind: type[Graph], given: dict[str, Any]) -> Graph:
    given.update({name: np.array(values, dtype=np.float64) for name, values in KINDS[kind].items()})
    return kind(**given)


def arrays(value: Any) -> Iterator[np.ndarray]:
    """Yield all arrays in what was given, or in a model."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict) or hasattr(value, "items"):
        for each in value.values():
            yield from arrays(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from arrays(each)
    elif isinstance(value, Rewards | Graph | Policy | Tying):
        for each in vars(value).values():
            yield from arrays(each)


def spoil(given: dict[str, Any]) -> None:
    """Change everything that was handed over, in place."""
    for array in arrays({name: value for name, value in given.items() if name != "rewards"}):
        array.flags.writeable = True
        array[...] = True if array.dtype == np.bool_ else 77
    for values in given.values():
        if isinstance(values, dict):
            values.clear()
        elif isinstance(values, list):
            values.reverse()
    given["actions"][1].reverse()


def facts(model: Graph) -> Any:
    """Return everything that a model says, as plain data."""
    plain = {
        name: [each.tolist() for each in arrays(getattr(model, name))]
        for name in ("state_ptr", "choice_ptr", "successor", "labels", "rewards", "variables", "sizes", "choice_state")
    }
    plain |= {name: getattr(model, name).tolist() for name in KINDS[type(model)]}
    names = [model.action_name(c) for c in range(4)], model.state_names, dict(model.constants), dict(model.formulas)
    return plain, names


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_given_may_change_afterwards(kind):
    given = arguments()
    model = made(kind, given)
    spoil(given)
    fresh = made(kind, arguments())
    assert facts(model) == facts(fresh)
    if isinstance(model, MDP | IntervalMDP) and isinstance(fresh, MDP | IntervalMDP):
        for text in (GOAL, COST):
            assert solve(model, text).bracket == solve(fresh, text).bracket


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["state_ptr", "choice_ptr", "successor", "probability", "lower", "upper"])
def test_protection_that_can_be_lifted_is_none(kind, name):
    """Write-protected by the caller, or a view of what the caller has: both are copied."""
    given = arguments()
    made(kind, given)
    if name not in given:
        pytest.skip("not an argument of this kind")
    mine = given[name].copy()
    view = mine.view()
    for protected in (mine, view):
        protected.flags.writeable = False
    for handed in (mine, view):
        model = kind(**{**given, name: handed})
        mine.flags.writeable = True
        before = mine.copy()
        mine[...] = 0
        assert np.array_equal(getattr(model, name), before)
        mine[...] = before
        mine.flags.writeable = False


@pytest.mark.parametrize("part", ["state", "choice", "transition"])
def test_rewards_are_their_own(part):
    mine = np.array([1.0, 2.0])
    rewards = Rewards(**{part: mine})
    mine[0] = -1
    assert getattr(rewards, part).tolist() == [1, 2]


def policies() -> list[tuple[np.ndarray, Callable[[np.ndarray, Graph], Policy]]]:
    return [
        (np.array([1, 2, 3]), lambda mine, graph: Policy(graph, mine)),
        (np.array([[1, 2, 3], [0, 2, 3]], dtype=np.int32), lambda mine, graph: Policy(graph, mine)),
        (np.array([0.25, 0.75, 1, 1]), lambda mine, graph: Policy(graph, weight=mine)),
    ]


@pytest.mark.parametrize("number", range(3))
def test_policies_are_their_own(number):
    mine, make = policies()[number]
    model = made(IntervalMDP, arguments())
    assert isinstance(model, IntervalMDP)
    policy = make(mine, model)
    spec = GOAL if number != 1 else 'Pmaxmin=? [ F<=2 "goal" ]'
    before = evaluate(model, spec, policy).bracket
    mine[...] = mine[..., ::-1].copy() if mine.dtype.kind == "f" else 10**6
    assert evaluate(model, spec, policy).bracket == before


def test_ties_are_their_own():
    graph = made(Graph, arguments())
    tying = Tying.of(graph, lambda state, action, successor: ("one", "stays") if action == "stay" else None)
    assert tying.sizes.max() == 2
    given = [np.array(each) for each in (tying.outcome_ptr, tying.choice_class)]
    again = Tying(
        graph,
        tying.names,
        given[0],
        tying.outcome_names,
        given[1],
        tying.transition_ptr,
        tying.transition_outcome,
    )
    for each in given:
        each[...] = 9
    assert np.array_equal(again.choice_class, tying.choice_class)
    assert np.array_equal(again.outcome_ptr, tying.outcome_ptr)
    assert again.sizes.tolist() == tying.sizes.tolist()


def holders() -> dict[str, Any]:
    model = made(IntervalMDP, arguments())
    assert isinstance(model, IntervalMDP)
    model.sizes, model.choice_state  # noqa: B018 - worked out once, and shown to everybody
    tying = Tying.of(model, lambda state, action, successor: None)
    tying.sizes, tying.feeds, tying.fed  # noqa: B018
    solution = solve(model, GOAL)
    return {
        **{kind.__name__: made(kind, arguments()) for kind in KINDS},
        "used": model,
        "policy": Policy(model, [1, 2, 3]),
        "found": solution.policy,
        "nature": solution.nature,
        "weights": Policy.uniform(model),
        "rewards": model.rewards["cost"],
        "tying": tying,
        "bounds": (solution.lower, solution.upper),
    }


WAYS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda given: given,
    "pickle": lambda given: pickle.loads(pickle.dumps(given)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", sorted(holders()))
def test_arrays_that_are_shown_cannot_be_made_writable(name, way):
    if name == "bounds" and way != "itself":
        pytest.skip("plain arrays")
    found = list(arrays(WAYS[way](holders()[name])))
    assert found
    for array in found:
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
        with pytest.raises(ValueError, match="WRITEABLE"):
            array[:1].flags.writeable = True


def test_buffers_of_a_pickle_stay_the_callers():
    """With protocol 5 arrays may lie in buffers that somebody else has."""
    model = made(MDP, arguments())
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    rooms = [bytearray(each.raw()) for each in buffers]
    again = pickle.loads(data, buffers=rooms)
    for room in rooms:
        room[:] = bytes(len(room))
    assert facts(again) == facts(model)


def test_what_nobody_can_change_is_shared():
    model = made(MDP, arguments())
    assert isinstance(model, MDP)
    other = MDP(model.state_ptr, model.choice_ptr, model.successor, model.probability, labels=model.labels)
    assert other.successor is model.successor
    assert other.labels["goal"] is model.labels["goal"]
    assert other.probability is model.probability


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.float64, "U3", object])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (40_000,)])
@pytest.mark.parametrize("take", [owned, held])
def test_arrays_of_every_kind_are_owned(take, shape, dtype):
    given = np.ones(shape, dtype=dtype)
    before = given.copy()
    kept = take(given)
    assert kept.dtype == given.dtype
    assert kept.shape == given.shape
    assert np.array_equal(kept, before)
    with pytest.raises(ValueError, match="WRITEABLE"):
        kept.flags.writeable = True


def test_parts_and_turned_arrays_are_owned():
    given = np.arange(12.0).reshape(3, 4)
    kept = owned(given)
    assert owned(kept[1]) is not None
    assert owned(kept[1]).base is kept
    turned = owned(kept.T)
    assert turned.flags.c_contiguous
    assert np.array_equal(turned, given.T)
