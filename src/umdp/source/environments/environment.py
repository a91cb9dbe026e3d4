"""A Python object with `reset` and `step` as a source of trajectories."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError, UmdpError
from umdp.model import MDP, Graph
from umdp.model.interface import Interface, freeze
from umdp.source.environments.episode import Episode
from umdp.source.environments.protocol import Protocol, Step, name_of
from umdp.source.logs.rejected import OnError
from umdp.source.lookup import Lookup
from umdp.source.markov import MarkovTest
from umdp.source.random_streams import EpisodeSeeds, RandomStream, bit_generator
from umdp.source.source import MARKOV, Batch, Provenance, SamplingRequest, Source
from umdp.statements import Code, DiagnosticCode, Statement, Unlisted, say

__all__ = ["Environment"]

SHOWN = 5
MANY = 512  # steps after which they are tested in any case
LEAST = say(Code.LEAST_SEEN)


class Environment(Source):
    """An environment that follows Gymnasium's rules: ``reset(seed=...)`` and ``step(action)``.

    A trajectory ends where the environment terminates or truncates, in a state of ``order.halt`` or after ``order.horizon``
    steps. The step with which the environment truncates is counted like any other; what follows it, a reset, is not a transition.

    Every trajectory starts with a reset to a seed of its own, made of the seed of the run and the number of the trajectory. So a
    run that is resumed goes on as it would have, whatever state the environment was in. Actions are drawn from another stream
    (`umdp.source.random_streams`).

    Parameters
    ----------
    env : object
        Has `reset` and `step`. Observations, or what `state_of` makes of them, are hashable.
    graph : Graph
        What is known of the process. Its states are found by name (the observation as text) or by number.
    state_of : function, optional
        Turns an observation into a state: its name, its number, or a value whose text is its name.
    actions : sequence, shape (C,), optional
        What to give to `step` for every choice; None for a choice that cannot be taken. Otherwise the action's name,
        or where all names are numbers, the number.
    entry : bool
        The initial state of the graph is not one of the environment's: its only choice stands for the reset, its
        successors are the states in which an episode can start.
    truth : MDP, optional
        The process itself, where it is known, to measure by.
    on_error : {"fail", "skip"}
        Whether a step to where the graph has no transition is an error, or ends its trajectory and is reported, not counted.
        Where the choice can lead to the graph's state "anything else", such a step is counted there, and is no error.

    Examples
    --------
    >>> import random
    >>> from umdp.source import SamplingRequest
    >>> class Coin:
    ...     def reset(self, seed=None):
    ...         self.random = random.Random(seed) if seed is not None else self.random
    ...         return "toss", {}
    ...     def step(self, action):
    ...         return self.random.choice(["heads", "tails"]), 0.0, True, False, {}
    >>> names = ["toss", "heads", "tails"]
    >>> graph = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], state_names=names, actions=["throw", "stay", "stay"])
    >>> source = Environment(Coin(), graph)
    >>> source.begin(seed=1)
    >>> batch = source.collect(SamplingRequest(np.ones(3), np.zeros(3, bool), 10, np.full(3, -1), 100))
    >>> batch.trajectories, batch.steps, int(batch.counts[:2].sum())
    (100, 100, 100)
    """

    pace = 0.5
    graph_known = stepwise = True
    _graph_from: Literal["given", "observed"] = "given"

    def __init__(
        self,
        env: Any,
        graph: Graph,
        *,
        state_of: Callable[[Any], Hashable] | None = None,
        actions: Sequence[Any] | None = None,
        entry: bool = False,
        truth: MDP | None = None,
        on_error: OnError = "fail",
    ) -> None:
        if on_error not in ("fail", "skip"):
            raise UmdpError(f'on_error is "fail" or "skip", not {on_error!r}')
        self.graph = graph.graph
        own = tuple(_named(self.graph) if actions is None else actions)
        if len(own) != self.graph.choices:
            raise ModelError(f"{len(own)} actions were given for {self.graph.choices} choices")
        first, last = self.graph.state_ptr[self.graph.initial], self.graph.state_ptr[self.graph.initial + 1]
        if entry and last - first != 1:
            raise ModelError(f"the initial state must have one choice, the reset, but has {last - first}")
        self._interface = Interface(own, entry, state_of)
        if entry or state_of is not None or actions is not None:
            self._attach(self._interface)
        self._protocol = Protocol(env)
        self._lookup = Lookup(self.graph)
        self._truth, self._fatal = truth, on_error == "fail"
        self._takeable = np.array([action is not None for action in own])
        self.name = name_of(env)
        self._where = f"observations of {name_of(env)}"
        self._states: dict[Hashable, int] = {}
        self._memo: dict[tuple[int, int], int] = {}
        self._least: list[float] | None = None
        self._markov = MarkovTest(self.graph)
        self.begin(0)

    def _attach(self, interface: Interface) -> None:
        """Have the graph say how the environment is talked to."""
        self._interface, self.graph = interface, self.graph.with_interface(interface)

    def _expect(self, least: NDArray[np.float64], reward_of: Callable[[float], float]) -> None:
        """Hold rewards to what was seen: no transition (T,) pays less than this, and none that is not listed less than all."""
        beyond = self.graph.successor == (-1 if self.graph.rest is None else self.graph.rest)
        self._least = np.where(beyond, least.min(initial=0.0), least).tolist()
        self._changed = reward_of

    @property
    def env(self) -> Any:
        """The environment itself."""
        return self._protocol.env

    @property
    def truth(self) -> MDP | None:
        """The process itself, where it is known."""
        return self._truth

    def begin(self, seed: int) -> None:
        """Start from the beginning."""
        self._generator = bit_generator(seed, RandomStream.EXPLORE_ACTIONS)
        self._seed, self._seeds = seed, EpisodeSeeds(seed, RandomStream.EXPLORE_EPISODES)
        self._done = {"trajectories": 0, "steps": 0, "truncated": 0, "rest": 0, "unlisted": 0, "lower": 0}
        self._first: list[str] = []
        self._markov.begin()
        self._rows: list[int] = []  # transitions that are not tested yet, and the places at which episodes begin
        self._begins: list[int] = []
        self._kept = self._state()

    def collect(self, order: SamplingRequest) -> Batch:
        """Play episodes until the order is met."""
        try:
            return self._collect(order)
        except BaseException:
            self._restore(self._kept)  # a batch that was interrupted did not happen
            raise

    def _collect(self, order: SamplingRequest) -> Batch:
        rng = np.random.Generator(self._generator)
        episode = Episode(self.graph, self._takeable, order, rng.random)
        counts = np.zeros(episode.graph.transitions, dtype=np.int64)
        taken: dict[int, int] = {}
        full, played, steps = False, 0, 0
        rows: list[int] = []
        begins: list[int] = []
        while played < order.trajectories and not full:
            self._protocol.episode = self._done["trajectories"] + played
            begins.append(len(rows))
            walked = self._episode(self._seeds[self._done["trajectories"] + played], episode, rows)
            played, steps = played + 1, steps + walked
            for transition, choice in zip(episode.path, episode.choices, strict=True):
                counts[transition] += 1
                taken[choice] = taken.get(choice, 0) + 1
                full = full or taken[choice] == order.quota[choice]
        self._done["trajectories"] += played
        self._done["steps"] += steps
        self._kept = self._state()
        self._begins += [len(self._rows) + each for each in begins]
        self._rows += rows
        if len(self._rows) >= MANY:
            self._tested()
        return Batch(counts, played, steps)

    def _tested(self) -> MarkovTest:
        """Return the test of whether steps depend on more than state and action, with all of them taken in."""
        if self._rows:
            first = np.zeros(len(self._rows) + 1, dtype=np.bool_)
            first[self._begins] = True
            self._markov.take(np.array(self._rows, dtype=np.int64), first[:-1])
            self._rows, self._begins = [], []
        return self._markov

    def _episode(self, seed: int, episode: Episode, rows: list[int]) -> int:
        """Play an episode from a seed, add the transitions of the environment to `rows`, and return its steps."""
        observation, _ = self._protocol.reset(seed)
        graph, interface, state, steps = self.graph, self._interface, self.graph.initial, 0
        episode.begin()
        start = self._locate(observation, None)
        if interface.entry:
            transition, listed = self._follow(int(graph.state_ptr[state]), start, observation)
            rows.append(transition)
            steps += episode.go(int(episode.graph.state_ptr[episode.place]), transition)
            if not listed:
                return steps
        elif start != state:
            raise ModelError(
                f"reset led to {observation!r}, but the initial state of the graph is {graph.state_name(state)}; where an "
                "episode can start in several states, add an initial state whose one choice leads to them, and give entry=True"
            )
        while (choice := episode.choose()) >= 0:
            own = episode.of_process(choice)
            step = self._protocol.step(interface.actions[own])
            successor = self._locate(step.observation, step)
            transition, listed = self._follow(own, successor, step.observation)
            rows.append(transition)
            steps += episode.go(choice, transition)
            if self._least is not None and transition >= 0 and self._changed(step.reward) < self._least[transition]:
                self._done["lower"] += 1
            if not listed:
                return steps
            if step.last:
                self._done["truncated"] += not step.terminated
                if step.terminated:
                    episode.stay()
                return steps
        return steps

    def _locate(self, observation: Any, step: Step | None) -> int:
        """Return the state that an observation stands for, -1 if it is not in the graph; `step` is None after a reset."""
        interface, key = self._interface, freeze(observation, self._interface.state_of, self._where)
        if interface.number is not None:
            if step is not None and step.terminated and interface.ended is not None:
                key = interface.ended(key, step.reward)
            return interface.number.get(key, -1)
        found = self._states.get(key)
        if found is None:
            found = self._lookup.state(key)
            if found >= 0:
                self._states[key] = found
        return found

    def _follow(self, choice: int, successor: int, observation: Any) -> tuple[int, bool]:
        """Return the transition of a choice to a state, and whether the graph lists it.

        Where it does not, the step is counted as "anything else", if the choice has that outcome; otherwise it is an error, or
        noted, and counted nowhere (-1).
        """
        pair = (choice, successor)
        transition = self._memo.get(pair)
        if transition is None:
            transition = self._lookup.transition(choice, successor) if successor >= 0 else -1
            self._memo[pair] = transition
        if transition >= 0:
            return transition, True
        if (beyond := self._lookup.beyond(choice)) >= 0:
            self._done["rest"] += 1
            return beyond, False
        if successor >= 0:
            reason = self._lookup.unlisted(choice, successor)
        else:
            state = self.graph.state_name(int(self.graph.choice_state[choice]))
            reason = (
                f"state {state}, action {self.graph.action_name(choice)}: the step led to {observation!r}, which is no state of "
                "the graph"
            )
        if self._fatal:
            raise ModelError(f'{reason}; add it to the graph, or end such trajectories with on_error="skip"')
        self._done["unlisted"] += 1
        if len(self._first) < SHOWN:
            self._first.append(reason)
        return -1, False

    # -- going on --------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the random numbers to come, and what is reported, as they were after the last batch."""
        return {**self._kept, **self._tested().state()}

    def _state(self) -> dict[str, Any]:
        numbers = self._generator.state["state"]
        random = f"{numbers['state']} {numbers['inc']}"
        return {"random": random, "seed": str(self._seed), **self._done, "first": list(self._first)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with the trajectory that comes next."""
        self._restore({name: value for name, value in state.items() if not name.startswith("markov_")})
        self._markov.restore(state)
        self._rows, self._begins = [], []

    def _restore(self, state: Mapping[str, Any]) -> None:
        numbers, increment = map(int, state["random"].split())
        self._generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": numbers, "inc": increment},
            "has_uint32": 0,
            "uinteger": 0,
        }
        self._seed = int(state.get("seed", self._seed))
        self._seeds = EpisodeSeeds(self._seed, RandomStream.EXPLORE_EPISODES)
        self._done = {name: int(state.get(name, 0)) for name in self._done}
        self._first = list(state["first"])
        self._kept = dict(state)

    def provenance(self) -> Provenance:
        """Return how many steps were taken, and how many of them the graph does not list."""
        unlisted, lower = self._done["unlisted"], self._done["lower"]
        findings: list[Statement] = [say(Code.PAID_LESS, steps=lower)] if lower else []
        if (past := self._tested().finding) is not None:
            findings.append(past.said)
        return Provenance(
            graph=self._graph_from,
            rest=self.graph.rest is not None,
            unlisted=unlisted,
            rows=self._done["steps"] + unlisted,
            assumptions=() if self._truth is not None else (MARKOV,) if self._least is None else (MARKOV, LEAST),
            findings=tuple(findings),
        )

    def report(self) -> list[str]:
        """Return what was cut off, what led out of the graph, what is not Markov, and whether a run can be repeated."""
        notes: list[str] = []
        done = self._done
        if done["truncated"]:
            cut, of = done["truncated"], done["trajectories"]
            notes.append(say(DiagnosticCode.TRUNCATED, truncated=cut, trajectories=of))
        if done["rest"]:
            beyond = {"beyond": done["rest"], "steps": done["steps"]}
            notes.append(say(DiagnosticCode.BEYOND_GRAPH, **beyond, unlisted=Unlisted.COUNTED))
        if done["unlisted"]:
            notes.append(say(DiagnosticCode.NOT_COUNTED, steps=done["unlisted"]))
            notes += [say(DiagnosticCode.STEP_NOT_COUNTED, why=reason) for reason in self._first]
        if done["lower"]:
            notes.append(say(DiagnosticCode.PAID_BELOW, below=done["lower"], steps=done["steps"]))
        if (past := self._tested().finding) is not None:
            notes.append(past.said.about(self.name))
        if not self._protocol.seeded:
            notes.append(say(DiagnosticCode.NO_SEED))
        return notes

    def close(self) -> None:
        """Close the environment."""
        self._protocol.close()


def _named(graph: Graph) -> list[Any]:
    names = [graph.action_name(c) for c in range(graph.choices)]
    return [int(name) for name in names] if all(name.isdigit() for name in names) else list(names)
