"""Exploration policies and the doubling schedule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from umdp import LUI, ConfidenceSequence, Graph, ModelError, Policy, anytime, benchmark
from umdp.explore import Explorer, Follow, Optimism, Uniform, View, doubling, reaches
from umdp.explore.policies import best, even
from umdp.model import Rewards
from umdp.source import Environment, Gymnasium

GRAPH = Graph([0, 3, 4, 6], [0, 2, 4, 5, 6, 8, 9], [0, 1, 1, 2, 2, 1, 0, 2, 2])


@given(st.floats(0, 1), st.integers(0, 2), st.integers(4, 5))
def test_optimism_spreads_what_is_left_over_the_others(xi: float, first: int, last: int) -> None:
    weight = Optimism(xi).weight(View.before(GRAPH, np.array([first, 3, last])))
    np.testing.assert_allclose(np.add.reduceat(weight, GRAPH.state_ptr[:-1]), 1.0)
    assert weight[first] == xi
    assert weight[3] == 1.0
    others = [c for c in range(3) if c != first]
    np.testing.assert_allclose(weight[others], (1 - xi) / 2)


def test_uniform_is_uniform() -> None:
    np.testing.assert_allclose(Uniform().weight(View.before(GRAPH)), [1 / 3, 1 / 3, 1 / 3, 1, 1 / 2, 1 / 2])


def test_a_policy_is_followed_as_it_is() -> None:
    weight = np.array([0.2, 0.3, 0.5, 1, 0.25, 0.75])
    np.testing.assert_allclose(Follow(Policy(GRAPH, weight=weight)).weight(View.before(GRAPH)), weight)
    with pytest.raises(ModelError, match="other states"):
        Follow(Policy(GRAPH, weight=weight)).weight(View.before(benchmark.chain().graph))
    with pytest.raises(ModelError, match="depends on the step"):
        Follow(Policy(GRAPH, [[0, 3, 4], [1, 3, 5]])).weight(View.before(GRAPH))


@pytest.mark.parametrize("xi", [-0.1, 1.1, float("nan")])
def test_xi_is_a_probability(xi: float) -> None:
    with pytest.raises(ModelError, match="between 0 and 1"):
        Optimism(xi)


@given(st.lists(st.integers(0, 50), min_size=9, max_size=9))
def test_an_iteration_takes_a_choice_as_often_as_ever_before(counts: list[int]) -> None:
    quota = doubling(GRAPH, np.array(counts))
    seen = np.add.reduceat(counts, GRAPH.choice_ptr[:-1])
    several = np.diff(GRAPH.choice_ptr) > 1
    assert (quota[~several] == -1).all()
    assert (quota[several] == np.maximum(seen, 1)[several]).all()


class LeastVisited(Explorer):
    """Take what has been taken least."""

    def weight(self, view: View) -> np.ndarray:
        return even(view.graph, view.visits <= -best(view.graph, -view.visits))


def test_another_explorer_takes_a_few_lines() -> None:
    mdp = benchmark.bandit()
    *_, last = anytime(mdp, benchmark.BENCHMARKS["bandit"].spec, LUI(), explorer=LeastVisited(), trajectories=990)
    seen = np.unique(last.model.upper[mdp.choice_ptr[: mdp.state_ptr[1]]])
    assert last.model_error < 0.5
    assert (last.model.upper < 1 - 1e-4 - 1e-12).mean() > 0.6, seen  # every arm has been tried


def test_what_can_be_reached_within_the_horizon() -> None:
    chain = Graph([0, 1, 2, 3, 4], [0, 1, 2, 4, 5], [1, 2, 2, 3, 3])
    wanted, nowhere = np.diff(chain.choice_ptr) > 1, np.zeros(4, bool)
    assert [reaches(chain, np.ones(4), wanted, nowhere, horizon) for horizon in (1, 2, 3)] == [False, False, True]
    assert not reaches(chain, np.ones(4), wanted, np.array([False, True, False, False]), 9)


def test_the_least_tried_of_equally_good_choices_take_turns() -> None:
    before = View.before(GRAPH, np.array([0, 3, 4]))
    tied = np.array([True, True, False, True, True, True])
    counts = np.array([8, 0, 3, 0, 50, 0, 0, 0, 5])  # visits 8, 3, 50, 0, 0, 5
    view = View(GRAPH, counts, before.lower, before.upper, before.matters, before.optimistic, tied)
    np.testing.assert_allclose(Optimism().weight(view), [0, 1, 0, 1, 1, 0])
    np.testing.assert_allclose(Optimism(0.4).weight(view), [0.2, 0.6, 0.2, 1, 0.7, 0.3])
    assert Optimism().spreads_ties(environment=True)
    assert not Optimism().spreads_ties(environment=False)  # the paper's rule: the first
    assert not Optimism(spread=False).spreads_ties(environment=True)
    assert not Uniform().spreads_ties(environment=True)


class Fair:
    """A stall: who prepares sells for 3 the day after, who does not for 1."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        return "plain", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        return ("ready" if action == "prepare" else "plain"), 0.0, False, False, {}


def test_where_the_best_choice_depends_on_the_step_exploration_does() -> None:
    actions = ["prepare", "sell"]
    graph = Graph(
        [0, 2, 4],
        [0, 2, 4, 6, 8],
        [0, 1] * 4,
        actions=actions * 2,
        state_names=["plain", "ready"],
        rewards={"reward": Rewards(choice=np.array([0.0, 1.0, 0.0, 3.0]))},
    )
    source = Environment(Fair(), graph, actions=actions * 2)
    taken = dict[int, NDArray[np.int64]]()
    for steps in (1, 2):
        *_, last = anytime(source, f'R{{"reward"}}max=? [ C<={steps} ]', LUI(), trajectories=1000)
        assert last.counts is not None
        taken[steps] = np.add.reduceat(last.counts, graph.choice_ptr[:-1])
    assert taken[1][:2].tolist() == [0, 1000]
    assert taken[2][0] > 900  # prepared on the first day
    assert taken[2][3] > 900  # and sold on the second
    assert taken[2][2] == 0


def test_what_can_be_reached_depends_on_what_is_done_in_which_step() -> None:
    graph = Graph([0, 2, 4, 5], [0, 1, 2, 3, 5, 6], [0, 1, 0, 1, 2, 2])  # 0: stay, go on; 1: back, try; 2 is the end
    wanted, halt = np.diff(graph.choice_ptr) > 1, np.zeros(3, np.bool_)
    stay, go, gamble = (np.array(each, float) for each in ([1, 0, 1, 0, 1], [0, 1, 1, 0, 1], [1, 0, 0, 1, 1]))
    assert not reaches(graph, stay, wanted, halt, 100)
    assert not reaches(graph, np.array([go, go]), wanted, halt, 100)
    assert reaches(graph, np.array([go, gamble]), wanted, halt, 2)
    assert not reaches(graph, np.array([go, gamble]), wanted, halt, 1)
    assert reaches(graph, np.array([stay, stay, go, gamble]), wanted, halt, 4)
    assert not reaches(graph, np.array([stay, stay, go, stay]), wanted, halt, 100)


def test_a_best_case_that_is_the_same_everywhere_is_explored_everywhere() -> None:
    """The large lake with a guarantee: whoever takes the first of all tied actions leaves most of it unseen."""
    lake = pytest.importorskip("gymnasium").make("FrozenLake8x8-v1", disable_env_checker=True)
    tried = {}
    for spread in (True, False):
        source = Gymnasium(lake)
        source.stepwise = False  # where the choice depends on the step, it changes often enough
        *_, last = anytime(
            source, 'Pmax=? [ F<=200 "goal" ]', ConfidenceSequence(), explorer=Optimism(spread=spread), trajectories=400
        )
        assert last.counts is not None
        tried[spread] = int(np.count_nonzero(np.add.reduceat(last.counts, source.graph.choice_ptr[:-1])))
    assert tried[True] > 1.5 * tried[False]
