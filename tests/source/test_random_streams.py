"""Streams of random numbers: those of different uses have nothing in common, and none is an environment's."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from umdp.source.random_streams import EPISODES, EpisodeSeeds, RandomStream, generator

ACTIONS = tuple(each for each in RandomStream if each not in EPISODES)


def test_no_stream_is_that_of_another_use_or_of_an_environment() -> None:
    for seed in (0, 1, 2**31 - 1):
        own = [generator(seed, stream).bytes(64) for stream in ACTIONS]
        spawned = np.random.SeedSequence(seed).spawn(20)
        theirs = [np.random.default_rng(each).bytes(64) for each in (seed, *spawned)]
        assert len({*own, *theirs}) == len(own) + len(theirs)
        assert own == [generator(seed, stream).bytes(64) for stream in ACTIONS]


@pytest.mark.parametrize("seed", [0, 7])
def test_no_two_episodes_begin_with_one_seed_whatever_they_are_for(seed: int) -> None:
    found = {stream: {EpisodeSeeds(seed, stream)[number] for number in range(20_000)} for stream in EPISODES}
    for stream, numbers in found.items():
        assert len(numbers) == 20_000, stream
        assert min(numbers) >= 0
        assert max(numbers) < 2**31
    assert all(one.isdisjoint(other) for one, other in combinations(found.values(), 2))


def test_seeds_of_episodes_are_spread_evenly() -> None:
    seeds = EpisodeSeeds(3, RandomStream.EXPLORE_EPISODES)
    drawn = np.array([np.random.default_rng(seeds[number]).random() for number in range(4000)])
    assert abs(drawn.mean() - 0.5) < 4 / np.sqrt(12 * 4000)
    low = np.bincount(np.array([seeds[number] for number in range(4000)]) & 7, minlength=8)
    assert ((low - 500) ** 2 / 500).sum() < 30  # chi-square with 7 degrees of freedom: 1e-4
