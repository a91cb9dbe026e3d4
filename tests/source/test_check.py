"""What is found about environments that are unfit, and nothing about those that are fit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umdp import Graph
from umdp.errors import UnhashableState
from umdp.model.interface import freeze
from umdp.source import check_environment
from umdp.source.environments.findings import FindingKind, dependence
from umdp.statements import DiagnosticCode

from .test_environment import GRAPH, Stray, Walk


def kinds(env: Any, graph: Graph | None = None, **options: Any) -> list[str]:
    options = {"actions": ["right", "left"], "steps": 4000, **options}
    return [finding.kind for finding in check_environment(env, graph, **options).findings]


def test_nothing_is_found_about_a_walk() -> None:
    report = check_environment(Walk(), GRAPH, actions=["right", "left"], steps=4000)
    assert report.fit
    assert report.findings == ()
    assert str(report).startswith("Walk: fit (")
    assert report.states == 5


def test_successors_the_graph_does_not_list_are_named() -> None:
    report = check_environment(Stray(), GRAPH, actions=["right", "left"], steps=4000)
    assert not report.fit
    found = [finding for finding in report.findings if finding.kind is FindingKind.SUCCESSORS]
    assert {finding.code for finding in found} <= {DiagnosticCode.NOT_LISTED, DiagnosticCode.MORE_LIKE_THESE}
    said = [finding.text.data["why"] for finding in found if finding.code == DiagnosticCode.NOT_LISTED]  # type: ignore[attr-defined]
    assert sum("there is no state 'nowhere'" in why for why in said) == 1  # a stranger is introduced once
    assert "state 2, action right: the graph does not list the successor 0" in said


def test_of_many_findings_the_first_few_are_shown() -> None:
    class Doubtful(Walk):
        def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            at, *rest = super().step(action)
            return (at, self.random.randrange(30)) if self.random.random() < 0.2 else at, *rest

    found = check_environment(Doubtful(), GRAPH, actions=["right", "left"], steps=4000).findings
    assert [each.code for each in found[:6]] == [DiagnosticCode.NOT_LISTED] * 5 + [DiagnosticCode.MORE_LIKE_THESE]
    assert found[5].kind is FindingKind.SUCCESSORS


def test_a_start_the_graph_does_not_know() -> None:
    class Late(Walk):
        def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
            super().reset(seed)
            self.at = 2
            return self.at, {}

    assert "start" in kinds(Late(), GRAPH)


def test_probabilities_that_drift() -> None:
    class Wearing(Walk):
        total = 0

        def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.total += 1
            slips = action == "right" and self.total > 2000 and self.random.random() < 0.4
            return super().step("left" if slips and self.at == 0 else action)

    report = check_environment(Wearing(), actions=["right", "left"], steps=4000)
    assert {finding.kind for finding in report.findings} == {"drift"}
    assert report.findings[0].code == DiagnosticCode.DRIFTS
    data = report.findings[0].text.data  # type: ignore[attr-defined]
    assert (data["state"], data["action"]) == (0, "right")


def test_successors_that_depend_on_history() -> None:
    class Momentum(Walk):
        last = 0

        def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            before = self.at
            if self.last > 0 and action == "right" and self.random.random() < 0.6:
                action = "right"
                self.at = min(self.at + 1, 3)
            result = super().step(action)
            self.last = self.at - before
            return result

    assert "history" in kinds(Momentum(), steps=10_000)


def test_actions_that_depend_on_history() -> None:
    class Masked(Walk):
        def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            at, reward, terminated, truncated, _ = super().step(action)
            return at, reward, terminated, truncated, {"action_mask": [1, int(self.steps % 3 > 0)]}

    report = check_environment(Masked(), actions=["right", "left"], steps=4000)
    masked = [each for each in report.findings if each.code == DiagnosticCode.MASK_VARIES]
    assert masked
    assert masked[0].text.data["masks"] == 2  # type: ignore[attr-defined]
    assert not report.fit


def test_states_in_which_some_episodes_end() -> None:
    class Tired(Walk):
        def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            at, reward, terminated, truncated, info = super().step(action)
            return at, reward, terminated or self.random.random() < 0.05, truncated, info

    assert "termination" in kinds(Tired(), GRAPH)
    assert "termination" not in kinds(Tired())  # what is observed tells the two apart by itself


def test_rewards_of_both_signs_are_a_note() -> None:
    class Paid(Walk):
        def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            at, _, terminated, truncated, info = super().step(action)
            return at, 20.0 if terminated else -1.0, terminated, truncated, info

    report = check_environment(Paid(), actions=["right", "left"], steps=2000)
    assert [finding.kind for finding in report.findings] == ["rewards"]
    assert report.fit
    data = report.findings[0].text.data  # type: ignore[attr-defined]
    assert data["gain"] == (20, 3, "right")
    assert data["loss"][:2] == (-1, 0)
    assert (data["gains"], data["losses"]) == (False, True)


def test_states_that_are_not_hashable_or_never_recur() -> None:
    class Arrays(Walk):
        def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
            return np.array([super().reset(seed)[0]]), {}

    report = check_environment(Arrays(), actions=["right"])
    assert [finding.kind for finding in report.findings] == ["states"]
    assert report.findings[0].code == DiagnosticCode.UNHASHABLE
    with pytest.raises(UnhashableState, match="give state_of, a function that turns it into"):
        freeze(np.array([0]), None, "here")

    class Continuous(Walk):
        def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            at, *rest = super().step(action)
            return at + self.random.random(), *rest

    report = check_environment(Continuous(), actions=["right", "left"], steps=2000)
    assert "states" in [finding.kind for finding in report.findings]
    assert DiagnosticCode.NEVER_RECURS in [finding.code for finding in report.findings]


def test_rules_that_are_broken_and_seeds_without_effect() -> None:
    class Old(Walk):
        def step(self, action: str) -> Any:
            return super().step(action)[:4]

    assert kinds(Old()) == ["rules"]
    assert kinds(object()) == ["rules"]
    assert kinds(Walk(), actions=None) == ["rules"]

    seeds = itertools.count()

    class Careless(Walk):
        def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
            return super().reset(next(seeds))

    report = check_environment(Careless(), actions=["right", "left"], steps=2000)
    assert [finding.kind for finding in report.findings] == ["seed"]
    assert report.fit


def test_environments_of_gymnasium() -> None:
    pytest.importorskip("gymnasium")
    assert check_environment("gym:FrozenLake-v1", steps=5000).findings == ()
    assert check_environment("gym:CliffWalking-v1", steps=5000).findings == ()
    taxi = check_environment("gym:Taxi-v4", steps=5000)
    assert taxi.fit
    assert [finding.kind for finding in taxi.findings] in ([], ["rewards"])
    assert not check_environment("gym:CartPole-v1").fit


@pytest.mark.slow
def test_fit_environments_are_hardly_ever_called_unfit() -> None:
    pytest.importorskip("gymnasium")
    for seed in range(100):
        assert check_environment("gym:FrozenLake-v1", seed=seed).findings == ()


# -- the test of independence --------------------------------------------------------------------------------


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32), sizes=st.tuples(st.integers(2, 5), st.integers(2, 5)))
def test_independent_pairs_give_p_values_that_are_not_tiny(seed: int, sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.choice(sizes[0], 300, p=rng.dirichlet(np.ones(sizes[0])))
    columns = rng.choice(sizes[1], 300, p=rng.dirichlet(np.ones(sizes[1])))
    value = dependence(list(zip(rows.tolist(), columns.tolist(), strict=True)))
    assert value is None or value > 1e-9


def test_p_values_are_those_of_scipy() -> None:
    from scipy.stats import chi2_contingency

    table = np.array([[30, 45, 25], [50, 20, 30]])
    pairs = [(r, c) for r in range(2) for c in range(3) for _ in range(table[r, c])]
    expected = chi2_contingency(table, correction=False)
    assert dependence(pairs) == pytest.approx(float(expected.pvalue))
    rare = [*pairs, ("odd", 0), (0, "odd")]  # too rare to be judged by themselves
    found = dependence(rare)
    assert found is not None
    assert found == pytest.approx(float(expected.pvalue), rel=1.0)
