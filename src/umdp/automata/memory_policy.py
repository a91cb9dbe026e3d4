"""Policies with memory: what to do depends on the state and on what an automaton remembers of the past."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from umdp.automata.product import Product, product_of
from umdp.errors import ModelError
from umdp.model import Policy
from umdp.model.interface import Interface, brief
from umdp.statements.text import nouns

__all__ = ["MemoryPolicy", "Player"]


@dataclass(frozen=True, eq=False, repr=False)
class MemoryPolicy(Policy):
    """A policy of a product: a choice in each state of the model for each state of the automaton.

    As a `Policy` it is one of the product, whose graph is `graph`. `decide` speaks of the model itself, and `player` acts in it.

    Parameters
    ----------
    graph, choice, weight : as in `Policy`, for the product
    product : Product

    Examples
    --------
    >>> from umdp import MDP, solve
    >>> mdp = MDP([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 0], [1, 1, 1, 1], labels={"a": [1], "b": [2]},
    ...           actions=["left", "right", "back", "back"])
    >>> policy = solve(mdp, 'Pmax=? [ (G F "a") & (G F "b") ]').policy
    >>> player = policy.player()
    >>> [player.act(state) for state in (0, 1, 0, 2, 0)]
    ['left', 'back', 'right', 'back', 'left']
    """

    product: Product = field(kw_only=True)

    @staticmethod
    def knows(policy: Policy) -> bool:
        """Whether a policy was learned for a product with an automaton."""
        return product_of(policy.graph) is not None

    @staticmethod
    def of(policy: Policy) -> MemoryPolicy:
        """Return a policy that was learned for a product, as one that knows what its memory stands for."""
        product = product_of(policy.graph)
        if product is None:
            raise ModelError("this policy has no memory: it is for a model itself, not for a product with an automaton")
        choice = policy.choice
        if choice is not None:
            choice = np.where(product.stay >= 0, product.stay, choice)
        return MemoryPolicy(policy.graph, choice, policy.weight, product=product)

    def decide(self, state: int, memory: int, rng: np.random.Generator | None = None) -> tuple[int, int]:
        """Return the choice of the model taken in a state with a memory, and the memory, which may change before it is taken."""
        product = self.product
        at = product.index(state, memory)
        if at < 0 and product.reading.automaton.sinks[memory]:  # all is decided, and nothing matters any more
            return int(product.base.state_ptr[state]), memory
        if at < 0:
            raise ModelError(
                f"state {product.base.state_name(state)}: the policy has nothing for memory {memory} there, since it is never "
                "reached with that memory"
            )
        while True:
            choice = self.choose(at, 0, rng)
            if product.origin[choice] >= 0:
                return int(product.origin[choice]), int(product.memory[at])
            at = int(self.graph.successor[self.graph.choice_ptr[choice]])

    def player(self, *, rng: np.random.Generator | None = None) -> Player:
        """Return somebody who acts by this policy from the start of an episode on, and remembers."""
        return Player(self, rng)

    def act(self, observation: Any, step: int | None = None, *, rng: np.random.Generator | None = None) -> Any:
        """Raise `ModelError`: what to do depends on the past, which a `player` keeps."""
        raise ModelError(
            "the policy has a memory; make a player of it for each episode: player = policy.player(); player.act(...)"
        )

    def memories(self) -> tuple[str, ...]:
        """Return what each state of the memory stands for: what the run still has to do."""
        return tuple(self.product.name(q) for q in range(self.product.reading.automaton.states))

    def decisions(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (state, memory, choice of the model, memory with which it is taken) for all that can be reached.

        A product does not go on where all is settled, but whoever plays may: each such pair has a decision as well.
        """
        product = self.product
        sinks, known = product.reading.automaton.sinks, set[tuple[int, int]]()
        settled: list[tuple[int, int, int]] = []
        for at in range(self.graph.states):
            state, memory = int(product.state[at]), int(product.memory[at])
            choice, becomes = self.decide(state, memory)
            known.add((state, memory))
            if sinks[becomes]:
                settled.append((state, choice, becomes))
            yield state, memory, choice, becomes
        base = product.base
        while settled:
            _, choice, memory = settled.pop()
            for target in base.successor[base.choice_ptr[choice] : base.choice_ptr[choice + 1]].tolist():
                if (target, memory) not in known:
                    known.add((target, memory))
                    taken, becomes = self.decide(target, memory)
                    settled.append((target, taken, becomes))
                    yield target, memory, taken, becomes

    def __repr__(self) -> str:
        product = self.product
        size = int(np.unique(product.memory).size)
        return f"Policy with {size} {nouns(size, 'memory')} for {product.base.states:,} {nouns(product.base.states, 'state')}"


class Player:
    """Acts by a policy with memory, from the start of one episode to its end.

    Attributes
    ----------
    policy : MemoryPolicy
    memory : the state of the automaton, None before the first observation
    """

    def __init__(self, policy: MemoryPolicy, rng: np.random.Generator | None = None) -> None:
        self.policy = policy
        self.memory: int | None = None
        self._choice = -1
        self._rng = rng
        base = policy.product.base
        self._interface = base.interface or Interface.by_name(base)

    def see(self, state: int) -> int:
        """Take note of the state the model is in now, and return the choice of the model to take there."""
        product = self.policy.product
        memory = product.first(state) if self.memory is None else product.next(self.memory, state, self._choice)
        self._choice, self.memory = self.policy.decide(state, memory, self._rng)
        return self._choice

    def act(self, observation: Any) -> Any:
        """Return what to give to the environment's `step` when it shows this observation; each is to be shown once, in order."""
        base = self.policy.product.base
        if self.memory is None and self._interface.entry:
            self.see(base.initial)
        state = self._interface.state(base, observation)
        if state < 0:
            raise ModelError(f"the policy has nothing for {brief(observation)}: no such state was seen or listed")
        action = self._interface.actions[self.see(state)]
        if action is None:
            raise ModelError(
                f"state {base.state_name(state)}: the policy has no action there, since episodes end there"
            )
        return action
