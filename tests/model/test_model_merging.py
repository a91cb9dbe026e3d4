"""Compiled merging of successors, against sorting."""

from __future__ import annotations

import numpy as np
import pytest

from umdp import MDP, ModelError, Rewards
from umdp.model import structure
from umdp.model.structure import compact


def merge_from(monkeypatch, transitions):
    for name in ("MANY", "SOME"):
        monkeypatch.setattr(structure, name, transitions)


def graph(rng: np.random.Generator, widest: int, states: int) -> tuple[np.ndarray, np.ndarray]:
    sizes = rng.integers(1, widest, 60)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    rows = [rng.choice(states, n, replace=bool(rng.integers(2)) or n > states) for n in sizes]
    return ptr, np.concatenate(rows).astype(np.int32)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("widest", [4, 30])
def test_merging_is_that_of_sorting(monkeypatch, seed, widest):
    rng = np.random.default_rng(seed)
    states = 40
    ptr, successor = graph(rng, widest, states)
    for keep in (None, np.ones(successor.size, np.bool_), rng.random(successor.size) < 0.8):
        found = []
        for many in (2**60, 0):
            merge_from(monkeypatch, many)
            found.append(compact(ptr, successor, states, keep))
        assert (found[0] is None) == (found[1] is None)
        if found[0] is not None:
            for name in ("choice_ptr", "successor", "group", "first"):
                assert np.array_equal(getattr(found[0], name), getattr(found[1], name)), name


def test_nothing_to_merge(monkeypatch):
    merge_from(monkeypatch, 0)
    ptr = np.array([0, 3, 15, 17])
    successor = np.array([2, 1, 0, *range(11, -1, -1), 1, 0], dtype=np.int32)
    assert compact(ptr, successor, 12, None) is None


def test_models_with_many_transitions(monkeypatch):
    merge_from(monkeypatch, 0)
    model = MDP(
        [0, 1, 2],
        [0, 4, 5],
        [1, 0, 1, 0, 1],
        [0.25, 0.5, 0.25, 0, 1],
        rewards={"r": Rewards(transition=[1, 2, 3, 4, 0])},
    )
    assert model.successor.tolist() == [1, 0, 1]
    assert model.probability.tolist() == [0.5, 0.5, 1]
    assert model.rewards["r"].transition.tolist() == [2, 2, 0]


@pytest.mark.parametrize("wrong", [np.nan, -0.5, 1.5])
def test_what_is_no_probability_is_named(wrong):
    with pytest.raises(ModelError, match=r"state 0, action 0: .* is not a probability"):
        MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, wrong, 1])


@pytest.mark.parametrize(("successor", "named"), [([0, 2, 1], 1), ([-1, 0, 1], 0)])
def test_a_successor_that_is_no_state_is_named(successor, named):
    with pytest.raises(ModelError, match=f"transition {named} leads to state"):
        MDP([0, 1, 2], [0, 2, 3], successor, [0.5, 0.5, 1])
