"""What seeds do to an environment: whether they repeat an episode, change it, and are all that its noise comes from."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from umdp.source.environments.findings import Finding, FindingKind, Seen
from umdp.source.environments.protocol import Move, Protocol, random_episode
from umdp.source.random_streams import EpisodeSeeds, RandomStream, generator
from umdp.statements import DiagnosticCode, say

__all__ = ["Repeats", "global_generators", "shared"]

SEEDS = 3  # that must repeat themselves
EPISODES = 64  # at most, with the same actions, of which one should differ
LENGTH = 100  # steps of these


@dataclass(frozen=True)
class Repeats:
    """Plays the same actions again, after resets with equal seeds, with different ones, and without any.

    Attributes
    ----------
    protocol, tried, state_of : the environment, the actions, and what makes a state of an observation
    seen : what random episodes showed, from which it is judged what chance would hardly repeat
    seed : of everything that is drawn here
    steps : the most steps for each question
    level : the probability that chance makes episodes alike, and they are said to be
    """

    protocol: Protocol
    tried: Sequence[Any]
    state_of: Callable[[Any], Hashable] | None
    seen: Seen
    seed: int
    steps: int
    level: float

    @cached_property
    def _seeds(self) -> EpisodeSeeds:
        return EpisodeSeeds(self.seed, RandomStream.REPEAT_EPISODES)

    def findings(self) -> Iterator[Finding]:
        """Yield what seeds do not do."""
        if (differs := self._unrepeated()) is not None:
            yield Finding(FindingKind.SEED, say(DiagnosticCode.NOT_REPEATED, seed=differs), fatal=False)
        if (count := self._alike([self._seeds[number] for number in range(EPISODES)])) is not None:
            yield Finding(FindingKind.ALIKE, say(DiagnosticCode.SEEDS_ALIKE, episodes=count))
        elif (count := self._alike([None] * EPISODES)) is not None:
            yield Finding(FindingKind.UNSEEDED, say(DiagnosticCode.UNSEEDED_ALIKE, episodes=count), fatal=False)

    def _unrepeated(self) -> int | None:
        """Return a seed after which the same actions led elsewhere the second time; None if there is none."""
        for number in range(SEEDS):
            seed = self._seeds[number]
            if self._run(seed) != self._run(seed):
                return seed
        return None

    def _run(self, seed: int) -> list[Hashable]:
        """Return the states of a run, on through the ends of episodes: a short one may well repeat itself by chance."""
        rng = generator(self.seed, RandomStream.REPEAT_ACTIONS)
        moves = self._moves(rng, seed, left := self.steps // (2 * SEEDS) + 1)
        run = [move.successor for move in moves]
        while (step := moves[-1].step) is not None and step.last:
            left -= len(moves) - 1
            moves = self._moves(rng, None, left)
            run += [move.successor for move in moves]
        return run

    def _moves(self, rng: np.random.Generator, seed: int | None, longest: int) -> list[Move]:
        """Return the beginning of an episode and its steps."""
        return list(islice(random_episode(self.protocol, self.tried, rng, seed, self.state_of), longest + 1))

    def _alike(self, seeds: Sequence[int | None]) -> int | None:
        """Return after how many episodes with the same actions it is no chance that all were alike; None if it may be."""
        first, surprise, left = None, 0.0, self.steps
        for number, seed in enumerate(seeds):
            episode = self._episode(seed, min(LENGTH, left))
            left -= len(episode) - 1
            if first is None:
                first, each = episode, self._surprise(episode)
                if not each:
                    return None
            elif episode != first:
                return None
            else:
                surprise += each
            if surprise >= math.log(1 / self.level):
                return number + 1
            if left < len(first) - 1:
                return None
        return None

    def _episode(self, seed: int | None, longest: int) -> list[tuple[Any, Hashable]]:
        """Return the actions of an episode and the states they led to."""
        moves = self._moves(generator(self.seed, RandomStream.REPEAT_ACTIONS), seed, longest)
        return [(move.action, move.successor) for move in moves]

    def _surprise(self, episode: list[tuple[Any, Hashable]]) -> float:
        """Return how unlikely an episode is by what was seen, at least: minus the logarithm of its probability."""
        (_, state), *rest = episode
        surprise = _rare(self.seen.starts.get(state, 0), self.seen.episodes)
        for action, successor in rest:
            came: Mapping[Hashable, int] = self.seen.outcomes.get((state, action), {})
            surprise += _rare(came.get(successor, 0), sum(came.values()))
            state = successor
        return surprise


def _rare(times: int, of: int) -> float:
    """Return minus the logarithm of a bound on a probability, from how often something was seen."""
    bound = (times + 3 * math.sqrt(times) + 3) / max(of, 1)
    return -math.log(bound) if bound < 1 else 0.0


def global_generators() -> tuple[Any, Any]:
    """Return the states of the generators that a whole process shares, Python's and NumPy's, to be compared by `shared`."""
    _, keys, position, *_ = np.random.get_state()  # noqa: NPY002 - it is looked at, not drawn from
    return random.getstate(), (bytes(np.asarray(keys)), position)


def shared(before: tuple[Any, Any]) -> list[Finding]:
    """Return which of these an environment has drawn from or seeded since."""
    names = ("Python's (random.random and others)", "NumPy's (numpy.random.rand and others)")
    return [
        Finding(FindingKind.GLOBAL, say(DiagnosticCode.SHARED_GENERATOR, name=name), fatal=False)
        for name, then, now in zip(names, before, global_generators(), strict=True)
        if then != now
    ]
