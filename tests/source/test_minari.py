"""Minari data sets: an episode is a trajectory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from umdp import FormatError, MissingExtra
from umdp.source import Log, graph_of_log
from umdp.statements import DiagnosticCode, codes_of

from .recordings import count_plainly, exhaust, order, small_graph

GRAPH = small_graph()
NAMES = {name: number for number, name in enumerate("abcd")}


@dataclass
class Episode:
    observations: Any
    actions: Any


class DataSet:
    """What of a Minari data set is used."""

    def __init__(self, episodes: list[Episode]) -> None:
        self.episodes, self.total_episodes = episodes, len(episodes)

    def iterate_episodes(self, indices: list[int]) -> Iterator[Episode]:
        return (self.episodes[i] for i in indices)


def data_set() -> DataSet:
    return DataSet(
        [
            Episode(np.array([0, 1, 2]), np.array([0, 0])),
            Episode(np.array([1]), np.array([], dtype=np.int64)),
            Episode(np.array([0, 1, 1, 0]), np.array([0, 1, 0])),
            Episode(np.array([3, 0]), np.array([0])),
        ]
    )


EXPECTED = [
    ("0", "a", "on", "b"),
    ("0", "b", "on", "c"),
    ("2", "a", "on", "b"),
    ("2", "b", "wait", "b"),
    ("2", "b", "on", "a"),
    ("3", "d", "on", "a"),
]


def test_episodes_are_trajectories() -> None:
    log = Log(data_set(), GRAPH)
    log.begin()
    counts, trajectories, steps, batches = exhaust(log, order(GRAPH, 1))
    assert counts.tolist() == count_plainly(EXPECTED, GRAPH).array(GRAPH).tolist()  # type: ignore[arg-type]
    assert (trajectories, steps) == (3, 6)
    assert [batch.steps for batch in batches] == [2, 3, 1, 0]


def test_a_data_set_goes_on_where_it_was() -> None:
    for cut in range(4):
        log = Log(data_set(), GRAPH)
        log._longest = 2
        log.begin()
        before = sum((log.collect(order(GRAPH, 1)).counts for _ in range(cut)), np.zeros(GRAPH.transitions, np.int64))
        other = Log(data_set(), GRAPH)
        other._longest = 2
        other.begin()
        other.restore(log.state())
        after = exhaust(other, order(GRAPH, 1))[0]
        assert (before + after).tolist() == count_plainly(EXPECTED, GRAPH).array(GRAPH).tolist()  # type: ignore[arg-type]
    shorter = Log(DataSet(data_set().episodes[:2]), GRAPH)
    shorter.begin()
    with pytest.raises(FormatError, match="the data set has 2 episodes; it had 4 when the run began"):
        shorter.restore(log.state())


def test_observations_need_not_be_numbers() -> None:
    grid = DataSet([Episode(np.array([[0, 0], [0, 1]]), np.array([0]))])
    log = Log(grid, GRAPH, state_of=lambda o: "ab"[o[1]])
    log.begin()
    assert exhaust(log, order(GRAPH))[2] == 1
    graph = graph_of_log(grid, state_of=lambda o: tuple(o.tolist()))
    assert graph.state_names == ("(0, 0)", "(0, 1)", "anything else")


def test_bad_steps_and_bad_episodes() -> None:
    log = Log(DataSet([Episode([0, 1, 9], [0, 0])]), GRAPH, on_error="skip")
    log.begin()
    assert exhaust(log, order(GRAPH))[2] == 1
    assert codes_of(log.report())[1] is DiagnosticCode.REJECTED_ROW
    odd = Log(DataSet([Episode([0, 1], [0, 0])]), GRAPH)
    odd.begin()
    with pytest.raises(FormatError, match="episode 0 has 2 actions and 2 observations; there must be one more"):
        odd.collect(order(GRAPH))


def test_without_minari_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingExtra, match=r"reading Minari data sets needs the extra \"gym\""):
        Log("minari:frozen/random-v0", GRAPH)


def test_a_real_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari")
    pytest.importorskip("h5py")
    gymnasium = pytest.importorskip("gymnasium")
    from umdp.source import Gymnasium
    from umdp.source.lookup import Lookup

    monkeypatch.setitem(os.environ, "MINARI_DATASETS_PATH", str(tmp_path))
    env = gymnasium.make("FrozenLake-v1")
    graph = Gymnasium("FrozenLake-v1").graph
    lookup, expected = Lookup(graph), np.zeros(graph.transitions, dtype=np.int64)
    rng = np.random.default_rng(0)
    episodes = []
    for seed in range(20):
        episode = minari.data_collector.EpisodeBuffer(id=seed, seed=seed, observations=[], actions=[])
        state, over = env.reset(seed=seed)[0], False
        episode.observations.append(state)
        while not over:
            action = int(rng.integers(4))
            successor, reward, terminated, truncated, _ = env.step(action)
            expected[lookup.place(state, action, successor).transition] += 1
            state, over = successor, terminated or truncated
            episode.observations.append(state)
            episode.actions.append(action)
            episode.rewards.append(reward)
            episode.terminations.append(terminated)
            episode.truncations.append(truncated)
        episodes.append(episode)
    minari.create_dataset_from_buffers("frozen/random-v0", episodes, env=env)
    log = Log("minari:frozen/random-v0", graph)
    log.begin()
    counts, trajectories, _, _ = exhaust(log, order(graph, 3))
    assert counts.tolist() == expected.tolist()
    assert trajectories == 20
    with pytest.raises(FormatError, match="download it with: minari download no/such-v0"):
        Log("minari:no/such-v0", graph)
