"""Seeds and streams, in environments of Gymnasium: exploration shares nothing with them, and what seeds do not do is found."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import numpy as np
import pytest

from umdp import LUI, anytime, simulate, solve
from umdp.analysis.monte_carlo import certify
from umdp.source import Gymnasium, check_environment, observe
from umdp.source.source import SamplingRequest
from umdp.statements import DiagnosticCode

gym = pytest.importorskip("gymnasium")


class Coin(gym.Env):
    """A guess and a toss: one state follows when they agree, another when they do not."""

    observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        won = int(self.np_random.integers(2)) == action
        return (1 if won else 2), float(won), True, False, {}


class Steps(Coin):
    """A walk on a ring of five, up or down by chance, of twenty steps."""

    observation_space = gym.spaces.Discrete(5)
    at = made = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = self.made = 0
        return 0, {}

    def noise(self) -> float:
        return float(self.np_random.random())

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.made += 1
        self.at = (self.at + (1 if self.noise() < (0.7, 0.4)[action] else -1)) % 5
        return self.at, 0.0, False, self.made == 20, {}


class Alike(Steps):
    """Has the same noise in every episode."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        return super().reset(seed=0)


class Forgetful(Steps):
    """Starts its noise again where no seed is given."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        return super().reset(seed=0 if seed is None else seed)


class Own(Steps):
    """Has a generator of its own, which no seed reaches."""

    own = np.random.default_rng(0)

    def noise(self) -> float:
        return float(self.own.random())


class Global(Steps):
    """Draws from NumPy's global generator."""

    def noise(self) -> float:
        return float(np.random.random())  # noqa: NPY002


class Seeding(Global):
    """Does so, too, and seeds it."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002
        return super().reset(seed=seed)


class Plain(Steps):
    """Draws from Python's global generator."""

    def noise(self) -> float:
        return random.random()


def test_exploration_does_not_draw_the_noise_of_the_environment() -> None:
    for seed in range(5):
        report = check_environment(Coin(), steps=2000, seed=seed)
        assert report.states == 3, report
        assert report.findings == ()
        seen = observe(Coin(), 200, seed)
        assert {str(seen.graph.state_name(s)) for s in range(seen.graph.states)} >= {"0", "1", "2"}
        shares = [0.0, 0.0]
        source = Gymnasium(Coin())
        source.begin(seed)
        choices = source.graph.choices
        batch = source.collect(
            SamplingRequest(np.ones(choices), np.zeros(source.graph.states, bool), 10, np.full(choices, -1), 2000)
        )
        for number, action in enumerate("01"):
            (choice,) = (c for c in range(choices) if source.graph.action_name(c) == action)
            own = batch.counts[source.graph.choice_ptr[choice] : source.graph.choice_ptr[choice + 1]]
            shares[number] = float(own.max() / own.sum())
        assert max(shares) < 0.5 + 4 * 0.5 / 1000**0.5


def test_learning_and_playing_with_one_seed_meet_different_episodes() -> None:
    class Recorded(Coin):
        seeds: ClassVar[list[int | None]] = []

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
            self.seeds.append(seed)
            return super().reset(seed=seed)

    env = Recorded()
    source = Gymnasium(env, episodes=50)
    explored = [env.seeds.copy()]
    env.seeds.clear()
    *_, last = anytime(source, 'Pmax=? [ F "goal" ]', LUI(), trajectories=100, seed=0)
    explored.append(env.seeds.copy())
    env.seeds.clear()
    played = simulate(last.policy, source, 'Pmax=? [ F "goal" ]', episodes=100, seed=0)
    explored.append(env.seeds.copy())
    env.seeds.clear()
    proved = certify(last.policy, source, 'Pmax=? [ F "goal" ]', episodes=1000, seed=0)
    explored.append(env.seeds.copy())
    assert [len(set(seeds)) for seeds in explored] == [50, 100, 100, 1000]
    assert len(set().union(*explored)) == 1250
    assert proved.bound < 0.5
    assert played.lower < 0.5 < played.upper


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Coin, []),
        (Steps, []),
        (Alike, ["alike"]),
        (Forgetful, ["unseeded"]),
        (Own, ["seed"]),
        (Global, ["seed", "global"]),
        (Seeding, ["global"]),
        (Plain, ["seed", "global"]),
    ],
)
def test_what_seeds_do_not_do_is_found(kind: type[Steps], expected: list[str]) -> None:
    report = check_environment(kind(), steps=4000)
    found = [finding.kind for finding in report.findings if finding.kind not in ("history", "clock", "drift")]
    assert found == expected, report
    if kind is not Alike:
        assert report.fit
        assert len(report.findings) == len(expected)
    else:
        assert not report.fit
        assert DiagnosticCode.SEEDS_ALIKE in [finding.code for finding in report.findings]


def test_nothing_is_said_of_environments_without_noise() -> None:
    assert check_environment(gym.make("FrozenLake-v1", is_slippery=False), steps=3000).findings == ()
    assert check_environment(gym.make("CliffWalking-v1"), steps=3000).findings == ()


def test_rare_noise_is_not_taken_for_none() -> None:
    class Rare(Steps):
        def noise(self) -> float:
            return 0.5 if self.np_random.random() < 0.998 else float(self.np_random.random())

    for seed in range(5):
        assert check_environment(Rare(), steps=4000, seed=seed).findings == ()


def test_a_policy_is_the_best_against_the_noise_that_there_is() -> None:
    source = Gymnasium("gym:FrozenLake-v1")
    question = 'Pmax=? [ F<=100 "goal" ]'
    assert source.truth is not None
    best = solve(source.truth, question)
    for seed in range(3):
        played = simulate(best.policy, source, question, episodes=1000, seed=seed)
        assert abs(played.mean - best.value) < 4 * (best.value * (1 - best.value) / 1000) ** 0.5
