"""Playing a policy in an environment, episode by episode, as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.analysis.episode_account import Account, Played
from umdp.automata.product import product_of
from umdp.errors import ModelError
from umdp.model import Graph, Policy
from umdp.model.interface import Interface
from umdp.source import Source
from umdp.source.environments.gymnasium import make
from umdp.source.environments.protocol import Protocol, Step
from umdp.source.random_streams import EpisodeSeeds, RandomStream, generator
from umdp.statements.text import nouns

__all__ = ["play_environment"]


def play_environment(
    policy: Policy,
    process: Any,
    account: Account,
    episodes: int,
    seed: int,
    longest: int,
    *,
    watch: Callable[[str], None] | None = None,
    unknown: NDArray[np.bool_] | None = None,
    starts: Sequence[int] | None = None,
) -> Played:
    """Return what episodes in an environment count for; `watch` is given the lines of the first.

    In the states that are `unknown`, shape (S,), the policy has nothing to say. `starts` are the seeds with which episodes begin,
    where they are not made of the seed.
    """
    product = product_of(policy.graph)
    known = policy.graph if product is None else product.base
    if isinstance(process, Source) and process.env is not None:
        env, own = process.env, process.graph
    else:
        env, own = make(process)[0], known
    interface = own.interface or Interface.by_name(own)
    if len(interface.actions) != known.choices:
        raise ModelError(
            f"the policy is for another environment: it has {known.choices:,} choices, this one {own.choices:,}"
        )
    kind = _Player if product is None else _RememberingPlayer
    player = kind(Protocol(env), policy, interface, account, generator(seed, RandomStream.PLAY_ACTIONS), unknown)
    seeds = EpisodeSeeds(seed, RandomStream.PLAY_EPISODES) if starts is None else starts
    values, (undecided, strange) = np.empty(episodes), np.zeros((2, episodes), dtype=np.bool_)
    for number in range(episodes):
        values[number] = player.episode(seeds[number], longest, watch if number == 0 else None)
        undecided[number], strange[number] = player.undecided, player.strange
    if not player.known:
        raise ModelError(
            f"the policy is for another environment: it knows nothing of any state that {episodes:,} "
            f"{nouns(episodes, 'episode')} of this one led to"
        )
    return Played(account.quantity(raw=player.raw), values, player.steps, undecided, strange)


class _Player:
    """Plays episodes and keeps the account of each.

    A *place* is a state of the policy's graph.
    """

    def __init__(
        self,
        protocol: Protocol,
        policy: Policy,
        interface: Interface,
        account: Account,
        rng: np.random.Generator,
        unknown: NDArray[np.bool_] | None,
    ) -> None:
        self.protocol, self.policy, self.interface, self.account, self.rng = protocol, policy, interface, account, rng
        self.raw = account.paid is not None and account.units is not None and interface.paid is not None
        self.graph = policy.graph  # of the environment
        self.steps = 0
        self.known = False
        self.undecided = self.strange = False  # of the last episode
        self._unknown = unknown
        self._others: list[Any] | None = None

    def episode(self, seed: int, longest: int, watch: Callable[[str], None] | None) -> float:
        """Play an episode from a seed; return 1 or 0 for a probability, otherwise what it earned."""
        self.undecided = False
        account, graph, interface = self.account, self.graph, self.interface
        observation, _ = self.protocol.reset(seed)
        first = self.policy.graph.initial
        start, at, earned, strange = interface.state(graph, observation), 0, 0.0, False
        if interface.entry:  # the reset is the model's first step
            place = self._ahead(first, start)
            at, earned = 1, 0.0 if self.raw else self._paid(int(self.policy.graph.state_ptr[first]), place)
        else:
            place = self._begun(start)
        if watch is not None:
            watch(_shown(self.protocol.env, f"start in {observation}"))
        last: Step | None = None
        made = 0
        while True:
            self.known |= place >= 0
            if last is not None and last.terminated:
                place = self._ended(place)
            if place >= 0:
                decided = bool(account.over(place, at))
            else:
                strange = True
                decided = account.objective.steps is not None and at >= account.objective.steps
                if account.paid is None:  # nobody knows what holds there
                    break
            ended = last is not None and last.terminated
            if decided or ended or (last is not None and last.truncated) or made >= longest:
                # What has ended stays where it is; a sum over steps is complete with it, one until a goal is not.
                complete = account.paid is None or account.objective.steps is not None or account.endless
                enough = made >= longest and account.objective.aim in ("discounted", "average")
                self.undecided = not decided and not (ended and complete) and not enough
                break
            place, choice = self._choice(place, at)
            strange |= choice < 0
            if strange and account.paid is None:
                break
            action = self._action(choice)
            last = self.protocol.step(action)
            made, at = made + 1, at + 1
            to = (interface.last if last.terminated else self._next)(graph, last.observation, last.reward)
            reached = self._ahead(place, to)
            if self.raw:
                assert interface.paid is not None
                earned += account.objective.discount ** (at - 1) * float(interface.paid(last.reward))
            elif account.paid is not None and choice >= 0:
                earned += account.objective.discount ** (at - 1) * self._paid(choice, reached)
            place = reached
            if watch is not None:
                watch(_shown(self.protocol.env, f"{made}: {action} -> {last.observation}, reward {last.reward:g}"))
        self.steps += made
        self.strange = strange
        terminated = last is not None and last.terminated
        if account.objective.aim == "average":  # what has ended earns nothing for the rest of the time
            return self._average(earned, longest if terminated else made)
        if account.paid is not None:
            return earned
        return self._outcome(place, np.inf if terminated and not decided else at)

    def _average(self, earned: float, steps: int) -> float:
        """Return what a step earned, in the units of the process."""
        units = self.account.units
        return (units.sign if self.raw and units is not None else 1) * earned / max(steps, 1)

    def _outcome(self, place: int, step: float) -> float:
        """Return what an episode of a probability, or of what counts at one time only, is worth that has come to a place."""
        account = self.account
        if account.final is not None:
            return float(account.final[place]) if place >= 0 else 0.0
        # Where the policy has nothing to say, anything may happen: it counts as the worst.
        return float(not account.maximises) if self.strange else float(account.holds(place, step))

    def _next(self, graph: Graph, observation: Any, _: float) -> int:
        return self.interface.state(graph, observation)

    # -- places: a state of the environment is one -----------------------------------------------------------

    def _begun(self, start: int) -> int:
        """Return the place in which an episode begins, -1 where it is none of the graph's."""
        return start

    def _ahead(self, place: int, state: int) -> int:
        """Return the place after a step to a state, -1 where it is none of the graph's."""
        return state

    def _ended(self, place: int) -> int:
        """Return the place in which nothing happens any more."""
        return place

    def _own(self, choice: int) -> int:
        """Return the choice of the environment's graph that one of the policy's stands for."""
        return choice

    def _choice(self, place: int, at: int) -> tuple[int, int]:
        """Return the place from which the policy acts, and its choice, -1 where it has none that can be taken."""
        if (
            place < 0
            or (self._unknown is not None and self._unknown[place])
            or (self.policy.steps is not None and at >= self.policy.steps)
        ):
            return place, -1
        choice = self.policy.choose(place, at, self.rng)
        return place, -1 if self.interface.actions[choice] is None else choice

    def _action(self, choice: int) -> Any:
        if choice >= 0:
            return self.interface.actions[self._own(choice)]
        if self._others is None:
            try:
                self._others = self.protocol.actions()
            except ModelError:
                self._others = list(dict.fromkeys(a for a in self.interface.actions if a is not None))
        return self._others[int(self.rng.integers(len(self._others)))]

    def _paid(self, choice: int, successor: int) -> float:
        """Return what the reward structure pays on a transition, nothing where the graph does not list it."""
        graph, paid = self.policy.graph, self.account.paid
        if paid is None or successor < 0:
            return 0.0
        first, end = int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1])
        found = np.flatnonzero(graph.successor[first:end] == successor)
        return float(paid[first + int(found[0])]) if found.size else 0.0


class _RememberingPlayer(_Player):
    """Plays a policy of a product: an automaton reads every state that the environment comes to."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        product = product_of(self.policy.graph)
        assert product is not None
        self.product, self.graph = product, product.base
        self._sinks = product.reading.automaton.sinks

    def _begun(self, start: int) -> int:
        return self.policy.graph.initial if start == self.graph.initial else -1

    def _ahead(self, place: int, state: int) -> int:
        if place < 0 or state < 0:
            return -1
        memory = int(self.product.memory[place])
        if self._sinks[memory]:  # all is settled
            return place
        return self.product.index(state, self.product.next(memory, state))

    def _ended(self, place: int) -> int:
        """Have the automaton read the last state until that changes nothing any more."""
        seen = set[int]()
        while place >= 0 and place not in seen and not self.account.over(place, 0):
            seen.add(place)
            place = self._ahead(self._acts(place)[0], int(self.product.state[place]))
        return place

    def _acts(self, place: int) -> tuple[int, int]:
        """Return the choice of a place, and the place from which it is taken: the memory may change before."""
        while True:
            choice = self.policy.choose(place, 0, self.rng)
            if self.product.origin[choice] >= 0:
                return place, choice
            place = int(self.policy.graph.successor[self.policy.graph.choice_ptr[choice]])

    def _own(self, choice: int) -> int:
        return int(self.product.origin[choice])

    def _choice(self, place: int, at: int) -> tuple[int, int]:
        if place < 0:
            return place, -1
        place, choice = self._acts(place)
        return place, -1 if self.interface.actions[self._own(choice)] is None else choice


def _shown(env: Any, line: str) -> str:
    """Return a line of an episode, with the picture of the environment where it draws one in text."""
    if getattr(env, "render_mode", None) != "ansi":
        return line
    return f"{line}\n{str(env.render()).rstrip()}\n"
