"""Random models, and what it means for two of them to be the same."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from umdp import MDP, IntervalMDP, Rewards

PARTS = ("state", "choice", "transition")
WORDS = st.text(alphabet="abcXYZ_09", min_size=1, max_size=5)


@st.composite
def models(draw, *, interval=None, on_transitions=True, both=True, words=WORDS):
    """Small models with labels, rewards, actions, variables, names, constants and formulas."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    states = draw(st.integers(1, 7))
    per_state = rng.integers(1, 2 if draw(st.booleans()) else 4, size=states)
    choices = int(per_state.sum())
    rows = [rng.permutation(states)[: rng.integers(1, states + 1)] for _ in range(choices)]
    sizes = [row.size for row in rows]
    successor = np.concatenate(rows)
    p = np.concatenate([rng.dirichlet(np.ones(n)) for n in sizes])
    p = np.where(p <= 0, 1e-300, p)
    names = draw(st.lists(words.filter(lambda w: w != "init"), unique=True, max_size=3))
    labels = {name: rng.random(states) < rng.choice([0, 0.5]) for name in names}
    rewards = {}
    for name in draw(st.lists(words | st.just(""), unique=True, max_size=3)):
        chosen = [part for part in PARTS if rng.random() < 0.5]
        if "transition" in chosen and not on_transitions:
            chosen.remove("transition")
        if {"choice", "transition"} <= set(chosen) and not both:
            chosen.remove("choice")
        shape = dict(zip(PARTS, (states, choices, successor.size), strict=True))
        values = {part: rng.exponential(size=shape[part]) * rng.integers(0, 2, shape[part]) for part in chosen}
        rewards[name] = Rewards(**(values or {"state": np.ones(states)}))
    actions = None
    if draw(st.booleans()):
        offered = draw(st.lists(words, unique=True, min_size=1, max_size=3))
        actions = [offered[i] for i in rng.integers(0, len(offered), choices)]
        if rng.random() < 0.3:
            actions = [name if rng.random() < 0.5 else "" for name in actions]
            actions[0] = offered[0]
    variables = {}
    if draw(st.booleans()):
        high = int(rng.choice([2, 300, 2**40]))
        variables = {
            "x": rng.integers(-high, high, states),
            "b": rng.random(states) < 0.5,
            "f": rng.normal(size=states),
        }
    annotations = {
        "initial": int(rng.integers(states)),
        "labels": labels,
        "rewards": rewards,
        "actions": actions,
        "variables": variables,
        "state_names": [f"({i},ä {i})" for i in range(states)] if draw(st.booleans()) else None,
        "constants": {"K": 2, "err": 0.1, "flag": True} if draw(st.booleans()) else {},
        "formulas": {"done": 'x=K & "y"'} if draw(st.booleans()) else {},
    }
    pointers = np.append(0, np.cumsum(per_state)), np.append(0, np.cumsum(sizes))
    if interval if interval is not None else draw(st.booleans()):
        lower = np.maximum(p - rng.random(p.size) * 0.3, rng.choice([0.0, 1e-9]))
        upper = np.minimum(p + rng.random(p.size) * 0.3, 1.0)
        return IntervalMDP(*pointers, successor, np.minimum(lower, p), upper, **annotations)
    return MDP(*pointers, successor, p, **annotations)


def assert_same(left, right, *, ignore=()):
    """Assert that two models agree in everything but the annotations to ignore."""
    assert type(left) is type(right)
    numbers = ("lower", "upper") if isinstance(left, IntervalMDP) else ("probability",)
    for name in ("state_ptr", "choice_ptr", "successor", *numbers):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    assert left.initial == right.initial
    assert list(left.labels) == list(right.labels)
    for name, members in left.labels.items():
        np.testing.assert_array_equal(members, right.labels[name])
    assert list(left.rewards) == list(right.rewards)
    for name, reward in left.rewards.items():
        for part in PARTS:
            ours, theirs = getattr(reward, part), getattr(right.rewards[name], part)
            assert (ours is None) == (theirs is None), (name, part)
            if ours is not None:
                np.testing.assert_array_equal(ours, theirs)
    assert (left.actions is None) == (right.actions is None)
    assert [left.action_name(c) for c in range(left.choices)] == [right.action_name(c) for c in range(right.choices)]
    assert list(left.variables) == list(right.variables)
    for name, values in left.variables.items():
        assert values.dtype == right.variables[name].dtype
        np.testing.assert_array_equal(values, right.variables[name])
    for name in {"state_names", "constants", "formulas"} - set(ignore):
        assert getattr(left, name) == getattr(right, name), name
