"""What trajectories count for: compared with what each of them did, remembered step by step."""

from __future__ import annotations

import numpy as np
import pytest
from tests.learning.candidates.processes import Remembering, random_mdp

from umdp import Policy, Spec, evaluate
from umdp.errors import ModelError
from umdp.learning.candidates.tally import Tally
from umdp.source import Simulator

PROPERTIES = [
    'Pmax=? [ F "goal" ]', 'Pmin=? [ F "goal" ]', 'Pmax=? [ !"bad" U "goal" ]', 'Pmax=? [ G !"bad" ]', 'Pmin=? [ G !"bad" ]',
    'Pmax=? [ F<=4 "goal" ]', 'Pmin=? [ F<=4 "goal" ]', 'Pmax=? [ G<=3 !"bad" ]', 'Pmin=? [ G<=3 !"bad" ]',
    'Pmax=? [ X "goal" ]', 'Pmin=? [ X "goal" ]', 'R{"r"}min=? [ F "end" ]', 'R{"r"}max=? [ F "end" ]',
    'R{"r"}max=? [ C<=5 ]', 'R{"r"}min=? [ C<=5 ]',
]  # fmt: skip
MOST = 400.0


def best_end(spec: Spec, mdp, states, taken, horizon) -> float:
    """Return what a trajectory counts for at most: from its states, by the meaning of the property."""
    goal = (
        next(i for i, name in enumerate(("goal", "bad", "end")) if f'"{name}"' in str(spec)) if spec.kind == "P" else 2
    )
    target = mdp.labels[("goal", "bad", "end")[goal]]
    text, steps = str(spec), spec.steps(mdp)
    rises = text.startswith(("Pmax", 'R{"r"}max'))
    if spec.kind == "R":
        earned = sum(float(mdp.rewards["r"].choice[c]) for c in taken)
        if rises:
            return min(earned / MOST, 1.0)
        over = bool(target[states[-1]]) or (steps is not None and len(taken) == steps)
        return 1 - earned / MOST if over else 0.0
    if "U" in text:
        target = mdp.labels["goal"]
        bad = np.flatnonzero(mdp.labels["bad"])[0]
        reached = any(target[s] and bad not in states[:i] for i, s in enumerate(states))
    elif "X" in text:
        reached = len(states) > 1 and bool(target[states[1]])
    else:
        reached = any(target[s] for s in states[: None if steps is None else steps + 1])
    wants = rises != ("G" in text)
    if wants:
        return float(reached)
    # Whoever is to keep away has done so where it can no longer get there, or no step is left.
    over = mdp.labels["end"][states[-1]] or (steps is not None and len(taken) >= min(steps, horizon) == steps)
    return float(over and not reached)


@pytest.mark.parametrize("text", PROPERTIES)
@pytest.mark.parametrize("cut", [0.0, 0.2])
def test_no_trajectory_counts_for_more_than_it_did(text, cut):
    for seed in range(4):
        mdp, spec = random_mdp(seed), Spec.parse(text)
        source, rng = Remembering(mdp, cut), np.random.default_rng(seed)
        source.begin(seed)
        tally = Tally(source, spec, 200, MOST if spec.kind == "R" else None)
        steps = spec.steps(mdp)
        for _ in range(3):
            shape = (mdp.states,) if steps is None else (steps, mdp.states)
            choice = rng.integers(mdp.state_ptr[:-1], mdp.state_ptr[1:], shape)
            role = tally.role(Policy(mdp.graph, choice))
            source.paths.clear()
            size = 1 if tally.one_by_one else 40
            worth = [tally.play(source, role, size)[1] for _ in range(40 // size)]
            each = [best_end(spec, mdp, states, taken, tally.horizon) for states, taken in source.paths]
            if size == 1:
                assert all(found <= true + 1e-12 for found, true in zip(worth, each, strict=True))
            assert sum(worth) <= sum(each) + 1e-9
            if not cut:  # nothing is lost either
                assert sum(worth) == pytest.approx(sum(each), abs=1e-9)


@pytest.mark.parametrize("text", PROPERTIES)
def test_the_mean_of_many_is_the_value_of_the_policy(text):
    mdp, spec = random_mdp(11), Spec.parse(text)
    rng, steps = np.random.default_rng(1), spec.steps(mdp)
    choice = rng.integers(
        mdp.state_ptr[:-1], mdp.state_ptr[1:], (mdp.states,) if steps is None else (steps, mdp.states)
    )
    policy = Policy(mdp.graph, choice)
    source = Simulator(mdp)
    source.begin(3)
    tally = Tally(source, spec, 1000, MOST if spec.kind == "R" else None)
    role, size = tally.role(policy), 1 if tally.one_by_one else 4000
    hits = sum(tally.play(source, role, size)[1] for _ in range(4000 // size))
    true = evaluate(mdp, spec, policy).value
    if np.isfinite(true):
        assert tally.share(true) == pytest.approx(hits / 4000, abs=0.04)
        assert tally.value(tally.share(true)) == pytest.approx(true, abs=1e-9)


def test_a_trajectory_that_costs_more_than_the_most_is_noticed():
    mdp, spec = random_mdp(0), Spec.parse('R{"r"}min=? [ F "end" ]')
    source = Simulator(mdp)
    source.begin(0)
    tally = Tally(source, spec, 1000, 0.5)
    role = tally.role(Policy(mdp.graph, mdp.state_ptr[1:] - 1))
    assert any(np.isnan(tally.play(source, role, 1)[1]) for _ in range(200))


def test_a_reward_needs_the_most_and_a_probability_has_it():
    with pytest.raises(ModelError, match="--most"):
        Tally(Simulator(random_mdp(0)), Spec.parse('R{"r"}min=? [ F "end" ]'), 100, None)
    with pytest.raises(ModelError, match="at most 1 anyway"):
        Tally(Simulator(random_mdp(0)), Spec.parse('Pmax=? [ F "goal" ]'), 100, 3.0)
