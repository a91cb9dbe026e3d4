"""Streams of random numbers: one for each use of a seed, none of which an environment draws from."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

__all__ = ["EpisodeSeeds", "RandomStream", "bit_generator", "generator"]

OWN = 0x756D6470  # the first part of every key: an environment that spawns streams numbers them 0, 1, 2, ...
BITS = 28  # of a seed for `reset` that tell episodes apart; three more tell uses apart: 31 are what every environment takes
MASK = (1 << BITS) - 1
ROUNDS = 4


class RandomStream(IntEnum):
    """The table of uses; each has numbers of its own, whatever the seed.

    An environment seeds its own generator with the number it is given. If exploration did that with the same number, its actions
    would be the environment's noise. And if a policy was learned and then judged with one seed, it would be judged by what it was
    made from.
    """

    EXPLORE_ACTIONS = 1
    EXPLORE_EPISODES = 2
    OBSERVE_ACTIONS = 3
    OBSERVE_EPISODES = 4
    CHECK_ACTIONS = 5
    CHECK_EPISODES = 6
    REPEAT_ACTIONS = 7
    REPEAT_EPISODES = 8
    PLAY_ACTIONS = 9
    PLAY_EPISODES = 10
    CERTIFY_EPISODES = 11


EPISODES = tuple(each for each in RandomStream if each.name.endswith("_EPISODES"))


def bit_generator(seed: int, stream: RandomStream) -> np.random.PCG64:
    """Return the numbers that a use draws from a seed, as the generator whose state can be kept."""
    return np.random.PCG64(_sequence(seed, stream))


def generator(seed: int, stream: RandomStream) -> np.random.Generator:
    """Return the numbers that a use draws from a seed.

    Examples
    --------
    >>> mine, theirs = generator(0, RandomStream.EXPLORE_ACTIONS), np.random.default_rng(0)
    >>> mine.integers(2, size=20).tolist() == theirs.integers(2, size=20).tolist()
    False
    """
    return np.random.Generator(bit_generator(seed, stream))


class EpisodeSeeds:
    """The seeds with which episodes begin: a number of 31 bits for each of 268 million episodes, no two of them equal.

    It depends on the number of the episode alone, so that nothing needs to be kept to go on. Numbers are mixed by a bijection
    (multiplications by odd numbers and shifts), keyed by the seed and the use. Seeds of different uses differ, too.

    Examples
    --------
    >>> seeds = EpisodeSeeds(0, RandomStream.EXPLORE_EPISODES)
    >>> len({seeds[number] for number in range(10_000)})
    10000
    >>> seeds[0] == EpisodeSeeds(0, RandomStream.PLAY_EPISODES)[0]
    False
    """

    def __init__(self, seed: int, stream: RandomStream) -> None:
        words = _sequence(seed, stream).generate_state(2 * ROUNDS)
        self._rounds = [(int(add), int(times) | 1) for add, times in words.reshape(ROUNDS, 2)]
        self._use = EPISODES.index(stream) << BITS

    def __getitem__(self, number: int) -> int:
        mixed = number & MASK
        for add, times in self._rounds:
            mixed = (mixed + add) * times & MASK
            mixed ^= mixed >> 13
        return mixed | self._use


def _sequence(seed: int, stream: RandomStream) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(OWN, int(stream)))
