"""The environments of the installed Gymnasium, as they are."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from umdp import LUI, MissingExtra, ModelError, anytime, solve
from umdp.model import Units
from umdp.source import Environment, Gymnasium, SamplingRequest, observe
from umdp.source.lookup import Lookup
from umdp.source.source import without_rest
from umdp.statements import DiagnosticCode, Unlisted, codes_of, say, stated

gymnasium = pytest.importorskip("gymnasium")


def newest(name: str) -> str:
    found = max((each for each in gymnasium.registry.values() if each.name == name), key=lambda each: each.version)
    return f"gym:{found.id}"


def uniform(source: Environment, trajectories: int, horizon: int = 200) -> SamplingRequest:
    graph = source.graph
    sizes = np.diff(graph.state_ptr)
    halt = np.zeros(graph.states, np.bool_)
    return SamplingRequest(np.repeat(1 / sizes, sizes), halt, horizon, np.full(graph.choices, -1), trajectories)


def frequencies_fit(source: Environment, counts: Any, deviations: float = 5.0) -> bool:
    """Whether counts lie within so many standard deviations of what the truth makes likely."""
    truth = source.truth
    assert truth is not None
    visits = np.repeat(np.add.reduceat(counts, truth.choice_ptr[:-1]), np.diff(truth.choice_ptr))
    mean, p = visits * truth.probability, truth.probability
    return bool((np.abs(counts - mean) <= deviations * np.sqrt(visits * p * (1 - p)) + 2).all())


def test_frozen_lake_is_what_its_table_says() -> None:
    source = Gymnasium(newest("FrozenLake"), labels={"corner": lambda s: s in (0, 3), "edge": [1, 2]})
    graph = source.graph
    assert (graph.states, graph.choices, graph.initial) == (16, 64, 0)
    assert set(graph.labels) == {"terminated", "goal", "fail", "corner", "edge"}
    assert np.flatnonzero(graph.labels["goal"]).tolist() == [15]
    assert np.flatnonzero(graph.labels["corner"] | graph.labels["edge"]).tolist() == [0, 1, 2, 3]
    assert list(graph.rewards) == ["reward"]
    source.begin(0)
    batch = source.collect(uniform(source, 2000))
    assert batch.trajectories == 2000
    assert frequencies_fit(source, batch.counts)
    own = np.flatnonzero(graph.labels["terminated"])
    for s in own:  # nobody steps on in a terminated state
        begin, end = graph.choice_ptr[graph.state_ptr[s]], graph.choice_ptr[graph.state_ptr[s + 1]]
        assert batch.counts[begin:end].sum() == 0
    source.close()


def test_cliff_walking_has_costs_and_a_single_start() -> None:
    source = Gymnasium(newest("CliffWalking"))
    assert source.graph.states == 48
    assert source.graph.initial == 36
    assert list(source.graph.rewards) == ["cost"]
    assert source.truth is not None
    assert solve(source.truth, 'R{"cost"}min=? [ F "terminated" ]').value == pytest.approx(13.0)
    source.begin(0)
    batch = source.collect(uniform(source, 20))
    assert frequencies_fit(source, batch.counts)
    assert source.report() == []


def test_taxi_starts_in_many_states_and_its_return_is_20_minus_its_cost() -> None:
    source = Gymnasium(newest("Taxi"))
    graph = source.graph
    assert (graph.states, graph.initial, graph.state_name(500)) == (501, 500, "start")
    assert graph.action_name(int(graph.state_ptr[500])) == "reset"
    assert np.diff(graph.choice_ptr)[-1] == 300
    assert graph.rewards["cost"].units == Units(sign=-1, once=20.0)
    shifted = stated(source.report()[0])
    assert (shifted.code, shifted.data["most"]) == (DiagnosticCode.COST_TO_MOST, 20)
    source.begin(3)
    batch = source.collect(uniform(source, 400, horizon=20))
    assert batch.counts[-300:].sum() == batch.trajectories == 400
    assert batch.steps <= 400 * 20
    assert frequencies_fit(source, batch.counts)
    assert source.truth is not None
    assert solve(source.truth, 'Pmax=? [ F "goal" ]').value == pytest.approx(1.0)


def test_taxi_with_its_rewards_made_costs() -> None:
    source = Gymnasium(newest("Taxi"), reward_of=lambda r: min(r, 0))
    assert list(source.graph.rewards) == ["cost"]
    assert np.flatnonzero(source.graph.labels["goal"]).size == 4  # goal goes by the rewards as they are
    assert source.report() == []
    assert source.truth is not None
    value = solve(source.truth, 'R{"cost"}min=? [ F "terminated" ]').value
    assert 5 < value < 20


@pytest.mark.parametrize("name", ["FrozenLake", "CliffWalking", "Taxi"])
def test_runs_repeat_and_go_on(name: str) -> None:
    whole, parts, resumed = (Gymnasium(newest(name)) for _ in range(3))
    whole.begin(5)
    expected = whole.collect(uniform(whole, 20, 50)).counts
    parts.begin(5)
    before = parts.collect(uniform(parts, 7, 50)).counts
    resumed.begin(5)
    resumed.restore(parts.state())
    after = resumed.collect(uniform(resumed, 13, 50)).counts
    assert (before + after).tolist() == expected.tolist()


def test_the_time_limit_is_not_a_transition() -> None:
    source = Gymnasium("FrozenLake-v1", max_episode_steps=3)
    source.begin(0)
    batch = source.collect(uniform(source, 100))
    assert batch.steps <= 300
    assert frequencies_fit(source, batch.counts)
    assert codes_of(source.report())[0] is DiagnosticCode.TRUNCATED


def test_autoreset_changes_nothing() -> None:
    plain = Gymnasium("FrozenLake-v1")
    wrapped = Gymnasium(gymnasium.wrappers.Autoreset(gymnasium.make("FrozenLake-v1")))
    counts = []
    for source in (plain, wrapped):
        source.begin(1)
        counts.append(source.collect(uniform(source, 300)).counts.tolist())
    assert counts[0] == counts[1]


def test_vector_environments_are_refused() -> None:
    with pytest.raises(ModelError, match="steps 3 environments at once; give a single one"):
        observe(gymnasium.make_vec("FrozenLake-v1", num_envs=3), 1)


def test_a_graph_that_is_given_takes_the_place_of_the_table() -> None:
    table = Gymnasium("FrozenLake-v1").graph
    given = Gymnasium("FrozenLake-v1", table)
    assert given.graph is table
    assert given.truth is None
    given.begin(0)
    assert given.collect(uniform(given, 10)).trajectories == 10
    dry = Gymnasium("FrozenLake-v1", is_slippery=False).graph
    wrong = Gymnasium("FrozenLake-v1", dry)
    wrong.begin(0)
    with pytest.raises(ModelError, match="the graph does not list the successor"):
        wrong.collect(uniform(wrong, 100))
    with pytest.raises(ModelError, match="labels are for a graph made from the environment"):
        Gymnasium("FrozenLake-v1", table, labels={"x": [0]})


def test_blackjack_has_no_table_and_is_observed() -> None:
    source = Gymnasium("gym:Blackjack-v1", episodes=3000)
    graph = source.graph
    assert source.truth is None
    assert graph.state_name(graph.initial) == "start"
    origin = stated(source.report()[0])
    assert (origin.code, origin.data["episodes"]) == (DiagnosticCode.EPISODES_GRAPH, 3000)
    assert origin.startswith("Blackjack-v1: ")
    assert stated(without_rest(source).report()[0]).data == {**origin.data, "unlisted": Unlisted.LEFT_OUT}
    # Sticking ends an episode with the observation it was in: the end must not be the state itself.
    left = {int(s) for s in graph.choice_state if graph.action_name(int(graph.state_ptr[s])) not in ("stay", "unknown")}
    assert not left & set(np.flatnonzero(graph.labels["terminated"]).tolist())
    # Hundreds of hands end an episode; won, drawn or lost is all that matters then.
    assert (graph.labels["goal"].sum(), graph.labels["fail"].sum()) == (1, 2)
    source.begin(0)
    batch = source.collect(uniform(source, 500))
    assert batch.trajectories == 500
    assert batch.counts.sum() == batch.steps > 500
    known = source.provenance()
    assert (known.graph, known.rest, known.unlisted, known.rows) == ("observed", True, 0, batch.steps)
    beyond = int(batch.counts[graph.successor == graph.rest].sum())
    assert beyond > 10  # each step is counted: those that were never observed as anything else
    assert (
        say(DiagnosticCode.BEYOND_GRAPH, beyond=beyond, steps=batch.steps, unlisted=Unlisted.COUNTED) in source.report()
    )
    careless = Gymnasium("gym:Blackjack-v1", episodes=3000, rest=False)
    careless.begin(0)
    careless.collect(uniform(careless, 500))
    assert careless.provenance().unlisted > 10
    assert not careless.provenance().rest
    assert DiagnosticCode.NOT_COUNTED in codes_of(careless.report())
    strict = Gymnasium("gym:Blackjack-v1", episodes=50, on_error="fail", rest=False)
    strict.begin(0)
    with pytest.raises(ModelError, match="add it to the graph"):
        strict.collect(uniform(strict, 500))


def test_an_observed_lake_is_a_part_of_the_table() -> None:
    table = Lookup(Gymnasium("FrozenLake-v1").graph)
    seen = observe(gymnasium.make("FrozenLake-v1"), 2000)
    graph = seen.graph
    for c in range(graph.choices):
        action = graph.action_name(c)
        if action in ("stay", "reset"):
            continue
        for t in graph.successor[graph.choice_ptr[c] : graph.choice_ptr[c + 1] - 1]:
            place = table.place(graph.state_name(int(graph.choice_state[c])), action, graph.state_name(int(t)))
            assert place.transition >= 0
    assert graph.states == 18
    assert list(graph.rewards) == ["reward"]


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        ("gym:NoSuchLake-v1", {}, "gym:NoSuchLake-v1: Environment `NoSuchLake` doesn't exist"),
        ("gym:FrozenLake-v1", {"colour": 3}, "gym:FrozenLake-v1: the environment does not take these options"),
        (object(), {"colour": 3}, r"options \(colour\) are for an environment that is given by its id"),
        ("gym:CartPole-v1", {}, "observations of CartPoleEnv: .* is not hashable"),
        ("gym:Pendulum-v1", {}, "the action space of PendulumEnv is Box.*not discrete"),
    ],
)
def test_environments_that_cannot_be_played(env: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Gymnasium(env, **options)


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtra, match=r"needs the extra \"gym\"; install it with: pip install 'umdp\[gym\]'"):
        Gymnasium("gym:FrozenLake-v1")


def test_a_lake_is_learned() -> None:
    source = Gymnasium("FrozenLake-v1", is_slippery=False)
    for snapshot in anytime(source, 'Pmax=? [ F "goal" ]', LUI(), trajectories=300):
        last = snapshot
    assert last.performance == pytest.approx(1.0)
    assert last.trajectories <= 300
