"""Why an environment is unfit to be learned as an MDP, if it is."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from umdp.errors import ModelError, UnhashableState
from umdp.model import Graph
from umdp.source.environments.findings import (
    Finding,
    FindingKind,
    Seen,
    ambiguous,
    dependent,
    endless,
    masked,
    remembering,
    signs,
    unlisted,
)
from umdp.source.environments.gymnasium import environment_table, make
from umdp.source.environments.protocol import Protocol, random_episode
from umdp.source.environments.seeding import Repeats, global_generators, shared
from umdp.source.random_streams import EpisodeSeeds, RandomStream, generator
from umdp.statements import DiagnosticCode, say
from umdp.statements.text import nouns

__all__ = ["EnvironmentCheck", "check_environment"]

SHOWN = 5
REPEATED = 3000  # steps with the same actions again, for each question


@dataclass(frozen=True)
class EnvironmentCheck:
    """What was found about an environment.

    Attributes
    ----------
    name : the environment
    episodes, steps, states : how many were looked at
    findings : what was found, in the order of the checks

    Examples
    --------
    >>> found = Finding(FindingKind.SEED, "a run cannot be repeated", fatal=False)
    >>> print(EnvironmentCheck("Coin", 10, 10, 3, (found,)))
    Coin: fit (10 episodes, 10 steps, 3 states)
    note (seed): a run cannot be repeated
    """

    name: str
    episodes: int
    steps: int
    states: int
    findings: tuple[Finding, ...]

    @property
    def fit(self) -> bool:
        """Whether nothing was found that rules learning out."""
        return not any(finding.fatal for finding in self.findings)

    def __str__(self) -> str:
        verdict = "fit" if self.fit else "unfit"
        counts = (("episode", self.episodes), ("step", self.steps), ("state", self.states))
        looked = ", ".join(f"{count} {nouns(count, noun)}" for noun, count in counts)
        return "\n".join([f"{self.name}: {verdict} ({looked})", *map(str, self.findings)])


def check_environment(
    env: Any,
    graph: Graph | None = None,
    *,
    steps: int = 20_000,
    horizon: int = 1000,
    seed: int = 0,
    level: float = 1e-4,
    actions: Sequence[Any] | None = None,
    state_of: Callable[[Any], Hashable] | None = None,
    seconds: float | None = None,
) -> EnvironmentCheck:
    """Return why an environment is unfit, judged by random episodes; what is rare may stay unseen.

    Looked for are: rules of `reset` and `step` that are broken, states that are not hashable, successors the graph does not list,
    states in which some episodes end and others go on, probabilities that drift (first half of the visits of a state and action
    against the second), successors or available actions that depend on history or on the clock, rewards of both signs, states
    that never recur. With the same actions again: seeds that do not repeat an episode, and noise that is the same in every
    episode. And generators that all of the process shares.

    Every episode begins with a seed of its own, and actions are drawn from another stream (`umdp.source.random_streams`).

    Parameters
    ----------
    env : str or object
        The id of a Gymnasium environment, or an environment.
    graph : Graph, optional
        What the environment is held to; otherwise its table ``P``, if it has one.
    steps, horizon, seed : int
        How many steps to look at, of episodes of at most so many steps, from which seed.
    level : float
        The probability that a fit environment is said to drift, to depend on history or the clock, or to have the same noise in
        every episode, over all tests.
    actions, state_of
        As for `observe`.
    seconds : float, optional
        Look no longer than this, about; a finding says so.

    Examples
    --------
    >>> class Clock:
    ...     time = 0
    ...     def reset(self, seed=None):
    ...         return 0, {}
    ...     def step(self, action):
    ...         self.time += 1
    ...         return int((self.time % 3 == 0) == (self.time < 500)), 0.0, False, False, {}
    >>> print(check_environment(Clock(), steps=1000, actions=["tick"]))
    Clock: unfit (1 episode, 1000 steps, 2 states)
    unfit (drift): ...
    """
    env, name = make(env)
    seen = Seen()
    begun, generators = time.monotonic(), global_generators()
    try:
        protocol = Protocol(env)
        tried = protocol.actions() if actions is None else list(actions)
        _explore(
            protocol, tried, seen, steps, horizon, seed, state_of, np.inf if seconds is None else begun + 0.8 * seconds
        )
    except ModelError as error:
        return EnvironmentCheck(name, seen.episodes, seen.steps, len(seen.states), (_unplayable(error),))
    found: list[Finding] = []
    known = environment_table(env, state_of) if graph is None else (graph, None)
    if known is not None:
        found += _few(unlisted(seen, *known))
        found += _few(ambiguous(seen))
    found += _few(dependent(seen, level / 2))
    kinds = {finding.kind for finding in found}
    if FindingKind.DRIFT not in kinds:  # what drifts depends on everything
        found += [finding for finding in remembering(seen, level / 4) if finding.kind not in kinds]
    found += _few(masked(seen))
    found += signs(seen)
    found += endless(seen)
    repeated = REPEATED
    if seconds is not None:  # at the pace there was, each of three questions may take some of the time
        repeated = min(repeated, int(0.06 * seconds * seen.steps / max(time.monotonic() - begun, 1e-9)) + 1)
    found += Repeats(protocol, tried, state_of, seen, seed, repeated, level / 8).findings()
    found += shared(generators)
    if seen.steps < steps:
        found.append(
            Finding(FindingKind.TIME, say(DiagnosticCode.SHORT_OF_TIME, seen=seen.steps, steps=steps), fatal=False)
        )
    return EnvironmentCheck(name, seen.episodes, seen.steps, len(seen.states), tuple(found))


def _explore(
    protocol: Protocol,
    tried: Sequence[Any],
    seen: Seen,
    steps: int,
    horizon: int,
    seed: int,
    state_of: Callable[[Any], Hashable] | None,
    deadline: float,
) -> None:
    rng, seeds = generator(seed, RandomStream.CHECK_ACTIONS), EpisodeSeeds(seed, RandomStream.CHECK_EPISODES)
    met = set[Hashable]()
    while seen.steps < steps and (time.monotonic() < deadline or not seen.steps):
        before: Hashable = None
        for state, action, successor, step, info in islice(
            random_episode(protocol, tried, rng, seeds[seen.episodes], state_of), horizon + 1
        ):
            if step is None:
                seen.starts[successor] += 1
                seen.begins.append(len(seen.rows))
                seen.episodes += 1
                continue
            if "action_mask" in info:
                seen.masks[state].add(tuple(bool(open_to) for open_to in info["action_mask"]))
            seen.visits[state, action].append((before, successor))
            seen.rows.append((state, action, successor))
            seen.steps += 1
            seen.late += seen.steps > steps // 2 and successor not in met
            met.add(successor)
            if step.reward:
                sign = 1 if step.reward > 0 else -1
                seen.rewards.setdefault(sign, (state, action, step.reward))
                if not step.terminated:
                    seen.on_the_way.add(sign)
            if step.terminated:
                seen.ended.setdefault(successor)
            if seen.steps >= steps or time.monotonic() >= deadline:
                break
            before = state


def _unplayable(error: ModelError) -> Finding:
    """Return why an environment could not be played to the end."""
    if isinstance(error, UnhashableState):
        return Finding(FindingKind.STATES, say(DiagnosticCode.UNHASHABLE, why=str(error)))
    return Finding(FindingKind.RULES, say(DiagnosticCode.BROKEN_RULES, why=str(error)))


def _few(findings: Iterable[Finding]) -> list[Finding]:
    """Return the first few of each kind, and how many more there are."""
    groups: dict[FindingKind, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.kind].append(finding)
    shown: list[Finding] = []
    for kind, group in groups.items():
        shown += group[:SHOWN]
        if len(group) > SHOWN:
            shown.append(Finding(kind, say(DiagnosticCode.MORE_LIKE_THESE, more=len(group) - SHOWN)))
    return shown
