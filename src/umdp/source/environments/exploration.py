"""Exploratory episodes: the observed graph of an environment that does not tell its own."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import Graph
from umdp.model.interface import END
from umdp.model.reward_units import reward_structures
from umdp.source.environments.protocol import Move, Protocol, name_of, random_episode
from umdp.source.observed_graph import LabelOf, ObservedGraph, label_members
from umdp.source.random_streams import EpisodeSeeds, RandomStream, generator
from umdp.statements import DiagnosticCode, Statement, Unlisted, say

__all__ = ["RESET", "Ended", "Observed", "observe"]

RESET = "reset"
EPISODES = 1000  # to begin with, where nobody says how many
ENOUGH = 100_000  # steps after which there are no more episodes then
NEW = 0.01  # the share of what was seen that must be new in the last half for another round
FEW = 50  # different rewards, or observations, at the end of episodes, up to which ends are told apart by them


@dataclass(frozen=True)
class Entry:
    """The state before an episode, where episodes start in different states."""


@dataclass(frozen=True)
class Ended:
    """A state in which an episode terminated, with a positive reward or without; such states are never left.

    Where an end pays one of a few rewards, as in a game that is won, drawn or lost, there is a state for each. If there are many
    observations besides, and no label tells them apart, the reward is all there is to say of an end: it has no `observation`.
    """

    observation: Hashable
    goal: bool
    reward: float | None = None


@dataclass(frozen=True, eq=False)
class Observed:
    """What exploratory episodes showed.

    Attributes
    ----------
    graph : the transitions seen, and for every choice one to "anything else"
    actions : (C,) what to give to `step` for every choice, None where nothing can be done
    number : the state of every observation, and of every `Ended`
    entry : whether the initial state is an extra one, whose choice is the reset, where episodes start in different states or
        may start elsewhere
    notes : what was assumed
    paid : (T,) the lowest reward seen on each transition, 0 on the way to "anything else"
    ended : returns the end of an episode that its last observation and reward stand for
    steps : how many were taken
    """

    graph: Graph
    actions: Sequence[Any]
    number: Mapping[Hashable, int]
    entry: bool
    notes: tuple[Statement, ...]
    paid: NDArray[np.float64]
    ended: Callable[[Hashable, float], Ended]
    steps: int


def observe(
    env: Any,
    episodes: int | None = None,
    seed: int = 0,
    *,
    actions: Sequence[Any] | None = None,
    horizon: int = 1000,
    state_of: Callable[[Any], Hashable] | None = None,
    labels: Mapping[str, LabelOf] | None = None,
    rest: bool = True,
    reward_of: Callable[[float], float] | None = None,
    most_steps: int | None = None,
    seconds: float | None = None,
    tell: Callable[[str], None] | None = None,
) -> Observed:
    """Return the graph of what is seen in some episodes with actions chosen at random.

    Whatever can happen but did not is the outcome "anything else" of its choice; a state that was reached but never left, and
    in which no episode terminated, leads nowhere else. An episode that terminates ends in a state of its own, apart from
    a state with the same observation in which episodes go on; where ends pay few different rewards, in one for each reward, and
    where they have many observations and no labels are given, for all of these together. Of other rewards that differ for the
    same transition the lowest seen counts, and a note says so. Labels: ``terminated``, ``goal`` (terminated with positive
    reward), ``fail`` (terminated without), ``unexplored`` (reached, but never left), and those given.

    Parameters
    ----------
    env : object
        Follows Gymnasium's rules.
    episodes : int, optional
        How many episodes. Otherwise a thousand, and as many again until those show little that is new, or some hundred thousand
        steps have been taken.
    seed, horizon : int
        From which seed, and of how many steps at most.
    actions : sequence, optional
        The actions to try; otherwise all of a discrete `action_space`. Where ``info["action_mask"]`` forbids one, it is
        not tried.
    state_of : function, optional
        Turns an observation into a hashable state.
    labels : mapping, optional
        Functions of a state, or lists of states.
    rest : bool
        Whether choices have the outcome "anything else". Without it, whatever was not seen is missing from the graph, a state
        that was never left is taken to be absorbing, and nothing can be promised.
    reward_of : function, optional
        Turns rewards into others.
    most_steps, seconds : optional
        After so many steps, or so long, exploration ends with what it has seen, also within an episode, and a note says so. What
        is seen in a time differs from day to day; `Observed.steps` as `most_steps` repeats it.
    tell : function, optional
        Is told, in a line, that exploration begins.

    Examples
    --------
    >>> class Coin:
    ...     def reset(self, seed=None):
    ...         return "toss", {}
    ...     def step(self, action):
    ...         return ("heads", 1.0, True, False, {}) if action == "cheat" else ("toss", 0.0, False, False, {})
    >>> seen = observe(Coin(), 20, actions=["throw", "cheat"])
    >>> seen.graph
    Graph with 4 states, 5 choices, 8 transitions; initial state start; labels ...; rewards "reward"
    >>> observe(Coin(), 20, actions=["throw", "cheat"], rest=False).graph
    Graph with 2 states, 3 choices, 3 transitions; initial state toss; labels ...; rewards "reward"
    """
    protocol, rng = Protocol(env), generator(seed, RandomStream.OBSERVE_ACTIONS)
    seeds, tried = EpisodeSeeds(seed, RandomStream.OBSERVE_EPISODES), protocol.actions() if actions is None else actions

    def episode(number: int) -> Iterator[Move]:
        return random_episode(protocol, tried, rng, seeds[number], state_of, masked=actions is None)

    def begins() -> None:
        if tell is not None:
            most = "" if seconds is None else f", for at most {seconds:.3g} s"
            tell(f"exploring {name_of(env)} with random actions, since no table says what can happen{most}")

    played = _explore(episode, episodes, horizon, most_steps, seconds, begins)
    met, starts = played.met, played.starts
    change = reward_of or float
    apart = len({reward for *_, reward, terminated in met if terminated}) <= FEW
    alike = apart and not labels and len({key for _, _, key, _, terminated in met if terminated}) > FEW

    def ended(key: Hashable, reward: float) -> Ended:
        return Ended(None if alike else key, reward > 0, float(change(reward)) if apart else None)

    seen = ObservedGraph()
    for state, action, key, reward, terminated in met:
        seen.add(state, action, ended(key, reward) if terminated else key, float(change(reward)), end=terminated)
    entry = rest or len(starts) > 1
    for start in starts if entry else ():
        seen.add(Entry(), RESET, start)
    rows = seen.transitions(rest=rest)
    moves = [each for own in rows for each in own]
    least = np.array([each.reward for each in moves])
    ending = np.array([isinstance(each.successor, Ended) and each.action is not None for each in moves])
    beyond = np.array([each.successor is None for each in moves])
    rewards, note = reward_structures(least, ending, beyond)
    graph = seen.graph(
        Entry() if entry else next(iter(starts)),
        labels=_labels(seen, labels or {}),
        rewards=rewards,
        names=_namer(seen),
        rest=rest,
    )
    unlisted = Unlisted.COUNTED if rest else Unlisted.MISSING
    sizes = {"states": graph.states, "transitions": graph.transitions, "unlisted": unlisted}
    origin = say(DiagnosticCode.EPISODES_GRAPH, episodes=played.episodes, steps=played.steps, **sizes)
    given = [None if own[0].action == RESET else own[0].action for own in rows]
    short = say(DiagnosticCode.CUT_SHORT, steps=played.steps) if played.cut else None
    varies = say(DiagnosticCode.REWARDS_VARY) if seen.varies else None
    notes = tuple(each for each in (origin, short, note, varies) if each is not None)
    return Observed(graph, given, dict(seen.number), entry, notes, least, ended, played.steps)


@dataclass
class _Explored:
    """What exploratory episodes have shown: steps that differ and states in which episodes began, in order of appearance."""

    met: dict[tuple[Any, Any, Any, float, bool], None] = field(default_factory=dict)
    starts: dict[Hashable, None] = field(default_factory=dict)
    episodes: int = 0
    steps: int = 0
    cut: bool = False


def _explore(
    episode: Callable[[int], Iterator[Move]],
    episodes: int | None,
    horizon: int,
    most_steps: int | None,
    seconds: float | None,
    tell: Callable[[], None],
) -> _Explored:
    """Play episodes by their numbers; without a number of them, until the last half of them shows little that is new."""
    seen, until, known = _Explored(), EPISODES if episodes is None else episodes, 0
    deadline = np.inf if seconds is None else time.monotonic() + seconds
    most = np.inf if most_steps is None else most_steps

    def enough() -> bool:
        return seen.steps > 0 and (seen.steps >= most or time.monotonic() >= deadline)

    while seen.episodes < until and not seen.cut:
        for state, action, key, step, _ in islice(episode(seen.episodes), horizon + 1):
            if step is None:
                seen.starts.setdefault(key)
                if seen.episodes == 0:
                    tell()
                continue
            seen.met.setdefault((state, action, key, step.reward, step.terminated))
            seen.steps += 1
            if not step.last and enough():
                seen.cut = True
                break
        seen.episodes += 1
        if episodes is None and (seen.episodes == until or seen.steps >= ENOUGH):
            # The last half of the episodes showed what is new since `known`.
            new = len(seen.met) - known
            until = seen.episodes if new <= len(seen.met) * NEW or seen.steps >= ENOUGH else 2 * seen.episodes
            known = len(seen.met)
        seen.cut = seen.cut or (seen.episodes < until and enough())
    if not seen.steps:
        raise ModelError("no step was observed; give at least one episode and a horizon of at least 1")
    return seen


def _labels(seen: ObservedGraph, given: Mapping[str, LabelOf]) -> dict[str, NDArray[np.bool_]]:
    states = list(seen.number)
    ended = np.array([isinstance(state, Ended) for state in states])
    goal = np.array([isinstance(state, Ended) and state.goal for state in states])
    inner = [state.observation if isinstance(state, Ended) else state for state in states]
    within = np.array([not isinstance(state, Entry) for state in states])
    marked = {"terminated": ended, "goal": goal, "fail": ended & ~goal, "unexplored": seen.unexplored}
    for name, each in given.items():
        members = np.zeros(len(states), dtype=np.bool_)
        members[within] = label_members(name, each, [state for state, own in zip(inner, within, strict=True) if own])
        marked[name] = members
    return marked


def _namer(seen: ObservedGraph) -> Callable[[Any], str]:
    def plain(state: Any) -> str:
        if isinstance(state, Entry):
            return "start"
        if isinstance(state, Ended):
            return END if state.observation is None else str(state.observation)
        return str(state)

    def brief(state: Any) -> str:
        return f"{plain(state)} {'goal' if state.goal else 'fail'}" if isinstance(state, Ended) else plain(state)

    times, shared = Counter(map(plain, seen.number)), Counter(map(brief, seen.number))

    def name(state: Any) -> str:
        if not isinstance(state, Ended) or times[plain(state)] == 1:
            return plain(state)
        return brief(state) if shared[brief(state)] == 1 else f"{brief(state)} {state.reward:g}"

    return name
