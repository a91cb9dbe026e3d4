"""Cached systems, renewed for bounds that come one after another: right by the oracle, also where nature may cut transitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from properties.bridge import OBJECTIVES, exact_policy, exact_value, outside, to_model, to_spec, too_wide
from properties.generate import random_model
from umdp import Status, prepare, solve
from umdp.benchmark import BENCHMARKS
from umdp.learn import LEARNERS
from umdp.model import IntervalMDP
from umdp.solver.system import CachedSystem

OPTIONS: dict[str, Any] = {"precision": 1e-6, "method": "policy"}


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Return how often systems were solved: as they are, with rows that leak, or not at all."""
    counts = {"plain": 0, "leaking": 0, "other": 0}
    own = CachedSystem._judged

    def counted(self: CachedSystem, *given: Any) -> Any:
        found = own(self, *given)
        counts["other" if found is None else "leaking" if found.leaking else "plain"] += 1
        return found

    monkeypatch.setattr(CachedSystem, "_judged", counted)
    return counts


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_the_value_of_every_state_is_that_of_the_oracle(objective: Any, ways: dict[str, int]) -> None:
    for number in range(40):
        drawn = random_model(np.random.default_rng([31, number]), zero_lower=number % 3 > 0, states=(3, 8))
        model, spec = to_model(drawn), to_spec(objective)
        assert isinstance(model, IntervalMDP)
        found = prepare(model.graph, spec).solve_model(model, **OPTIONS)
        exact = exact_value(drawn, objective)
        for s, (low, high) in enumerate(zip(found.lower, found.upper, strict=True)):
            assert not outside(low, exact[s], high), (number, s)
        earned = exact_policy(drawn, objective, found.policy)[model.initial]
        assert not outside(found.policy_bracket.lower, earned, found.policy_bracket.upper), number
        if found.status is Status.CERTIFIED:
            assert not too_wide(found.bracket.lower, found.bracket.upper)
    assert sum(ways.values()) > 0


def test_rows_that_leak_are_what_solves_a_largest_probability(ways: dict[str, int]) -> None:
    objective = next(each for each in OBJECTIVES if str(to_spec(each)).startswith("Pmaxmin"))
    for number in range(150):
        drawn = random_model(np.random.default_rng([32, number]), zero_lower=True, states=(3, 9))
        model = to_model(drawn)
        found = prepare(model.graph, to_spec(objective)).solve_model(model, **OPTIONS)
        exact = exact_value(drawn, objective)
        for s, (low, high) in enumerate(zip(found.lower, found.upper, strict=True)):
            assert not outside(low, exact[s], high), (number, s)
        assert model.contains(found.nature, tolerance=1e-12)
    assert ways["leaking"] > 10


@pytest.mark.parametrize("learner", ["confidence-sequence", "clopper-pearson"])
@pytest.mark.parametrize("name", ["grid", "aircraft"])
def test_a_learned_model_is_solved_as_from_nothing(name: str, learner: str, ways: dict[str, int]) -> None:
    bench, rng = BENCHMARKS[name], np.random.default_rng(5)
    truth = bench.build()
    own, spec = LEARNERS[learner]().bind(truth.graph), bench.spec.robust()
    solver, start, before = prepare(truth.graph, spec), None, None
    for _ in range(12):
        counts = np.zeros(truth.transitions, np.int64)
        for c in np.flatnonzero(rng.random(truth.choices) < 0.4):
            part = slice(*truth.choice_ptr[c : c + 2])
            counts[part] = rng.multinomial(40, truth.probability[part])
        own.update(counts)
        found = solver.solve_model(own.model, start=start, before=before, **OPTIONS)
        fresh = solve(truth.graph.with_bounds(own.lower.copy(), own.upper.copy()), spec)
        assert found.status is Status.CERTIFIED
        assert (found.lower <= fresh.upper).all()
        assert (found.upper >= fresh.lower).all()
        start, before = found.policy.choice, found.unknowns
    assert ways["leaking"] > 5
    assert ways["other"] == 0
