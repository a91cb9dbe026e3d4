"""Policies: which choice to take in which state (and at which step)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model.interface import Interface, brief
from umdp.model.part import annotations_of, part_of
from umdp.model.process import MDP, Graph, IntervalMDP
from umdp.model.rewards import Rewards
from umdp.model.structure import entries_of, frozen, held, mask_of, owned, owner, row_sums
from umdp.statements.text import nouns

__all__ = ["Policy", "taken_choices"]

M = TypeVar("M", MDP, IntervalMDP)
FEW = 10  # decisions that a notebook shows


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """A policy of a model: deterministic, step-dependent or randomised.

    Parameters
    ----------
    graph : Graph
        The graph (or model) the policy belongs to.
    choice : array_like of int, shape (S,) or (K, S), optional
        The choice (numbered over the whole model) taken in every state; with K rows, row `k` is for step `k`.
    weight : array_like of float, shape (C,), optional
        The probability of every choice within its state; instead of `choice`.

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], actions=["try", "go", "stay"])
    >>> policy = Policy(graph, [1, 2])
    >>> policy[0]
    'go'
    >>> Policy.uniform(graph)[0]
    {'try': 0.5, 'go': 0.5}
    """

    graph: Graph
    choice: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        graph = self.graph.graph
        object.__setattr__(self, "graph", graph)
        if (self.choice is None) == (self.weight is None):
            raise ModelError("a policy has either a choice per state or a weight per choice")
        if self.choice is not None:
            choice = np.asarray(self.choice)
            choice = owned(choice.astype(np.int64 if choice.ndim == 1 else np.int32, copy=False))
            if choice.shape[-1:] != (graph.states,) or choice.ndim > 2 or choice.shape[0] == 0:
                raise ModelError(f"choice has shape {choice.shape}, but the graph has {graph.states} states")
            wrong = np.argwhere((choice < graph.state_ptr[:-1]) | (choice >= graph.state_ptr[1:]))
            if wrong.size:
                state = int(wrong[0][-1])
                raise ModelError(
                    f"choice {choice[tuple(wrong[0])]} is not one of state {graph.state_name(state)}: it has "
                    f"choices {graph.state_ptr[state]} to {graph.state_ptr[state + 1] - 1}"
                )
            object.__setattr__(self, "choice", choice)
        else:
            weight = owned(np.asarray(self.weight, dtype=np.float64))
            if weight.shape != (graph.choices,):
                raise ModelError(f"weight has shape {weight.shape}, but the graph has {graph.choices} choices")
            sums = row_sums(graph.state_ptr, weight)
            off = np.flatnonzero(~(np.abs(sums - 1) <= 1e-9))
            if not (weight >= 0).all() or off.size:
                where = int(off[0]) if off.size else int(graph.choice_state[np.flatnonzero(~(weight >= 0))[0]])
                raise ModelError(
                    f"state {graph.state_name(where)}: weights must be at least 0 and sum to 1, not {sums[where]:.9g}"
                )
            object.__setattr__(self, "weight", weight)

    @classmethod
    def trusted(cls, graph: Graph, choice: NDArray[np.int64]) -> Policy:
        """Return a policy without looking at its choices (S,) again: a solver's own."""
        policy = object.__new__(cls)
        policy.__dict__.update(graph=graph.graph, choice=held(choice), weight=None)
        return policy

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: frozen(value) for name, value in state.items()})

    @classmethod
    def uniform(cls, graph: Graph) -> Policy:
        """Return the policy that takes every choice of a state with the same probability."""
        return cls(graph, weight=np.repeat(1.0 / np.diff(graph.state_ptr), np.diff(graph.state_ptr)))

    @classmethod
    def from_actions(cls, graph: Graph, actions: Mapping[Any, str]) -> Policy:
        """Return the policy that takes the named action in each named state, the first choice elsewhere."""
        choice = np.array(graph.state_ptr[:-1])
        for name, action in actions.items():
            choice[graph.state_index(name)] = find_choice(graph, graph.state_index(name), action)
        return cls(graph, choice)

    @property
    def is_deterministic(self) -> bool:
        """Whether one choice is taken in every state (at every step)."""
        return self.choice is not None

    @property
    def steps(self) -> int | None:
        """The number of steps a step-dependent policy is for, otherwise None."""
        return None if self.choice is None or self.choice.ndim == 1 else int(self.choice.shape[0])

    def weights(self) -> NDArray[np.float64]:
        """Return the probability of every choice, shape (C,) or (K, C)."""
        if self.weight is not None:
            return self.weight
        assert self.choice is not None
        dense = np.zeros((*self.choice.shape[:-1], self.graph.choices))
        np.put_along_axis(dense, self.choice, 1.0, axis=-1)
        return dense

    def __getitem__(self, state: str | int | tuple[str | int, int]) -> str | dict[str, float]:
        """Return the action in a state (by name or number), or at (state, step); a dict if randomised."""
        step = 0
        if isinstance(state, tuple):
            state, step = state
        s = self.graph.state_index(state)
        if self.weight is not None:
            own = range(int(self.graph.state_ptr[s]), int(self.graph.state_ptr[s + 1]))
            shares: dict[str, float] = {}
            for c in own:
                if self.weight[c] > 0:
                    name = self.graph.action_name(c)
                    shares[name] = shares.get(name, 0.0) + float(self.weight[c])
            return shares
        return self.graph.action_name(self.choose(s, step))

    def act(self, observation: Any, step: int | None = None, *, rng: np.random.Generator | None = None) -> Any:
        """Return what to give to the environment's `step` when it shows this observation.

        The policy of a run, or one that was found for the graph of an environment, knows which state an observation stands for
        and what its actions are called. Others go by names: the state named like the observation, the action's name, as a number
        where it is one.

        Parameters
        ----------
        observation : object
            What the environment's `reset` or `step` returned.
        step : int, optional
            How many steps the environment has made in this episode; for a policy that depends on the step.
        rng : numpy.random.Generator, optional
            What a randomised policy draws from.

        Raises
        ------
        ModelError
            Where the policy has nothing to say: in a state that was never seen, or in which episodes end.

        Examples
        --------
        >>> graph = Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], actions=["0", "1", "0"])
        >>> Policy(graph, [1, 2]).act(np.int64(0))
        1
        """
        interface = self.graph.interface or Interface.by_name(self.graph)
        state = interface.state(self.graph, observation)
        if state < 0:
            raise ModelError(
                f"the policy has nothing for {brief(observation)}: no such state was seen or listed; take an action of your own "
                "there, such as one at random, or learn for longer"
            )
        if self.steps is not None:
            last = self.steps - 1 - interface.entry  # the reset is no step of the environment's own
            if step is None:
                raise ModelError(f"the policy depends on the step; give step, from 0 to {last}")
            if not 0 <= step <= last:
                raise ModelError(f"the policy is for the steps 0 to {last} of the environment, not for step {step}")
        action = interface.actions[self.choose(state, (step or 0) + interface.entry, rng)]
        if action is None:
            raise ModelError(
                f"state {self.graph.state_name(state)}: the policy has no action there, since episodes end there or nothing was "
                "seen to follow it"
            )
        return action

    def choose(self, state: int, step: int = 0, rng: np.random.Generator | None = None) -> int:
        """Return the choice taken in a state (by number) at a step of the model; a randomised policy draws one."""
        if self.weight is not None:
            first, last = int(self.graph.state_ptr[state]), int(self.graph.state_ptr[state + 1])
            edges = np.cumsum(self.weight[first:last])
            drawn = (rng or np.random.default_rng()).random() * edges[-1]
            return first + min(int(np.searchsorted(edges, drawn, side="right")), last - first - 1)
        assert self.choice is not None
        if self.choice.ndim == 1:
            return int(self.choice[state])
        if not 0 <= step < len(self.choice):
            raise ModelError(f"the policy is for the steps 0 to {len(self.choice) - 1}, not for step {step}")
        return int(self.choice[step, state])

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Yield (first step, last step, choice), state by state, for every choice that is taken, in runs of equal decisions.

        Examples
        --------
        >>> graph = Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], actions=["try", "go", "stay"])
        >>> list(Policy(graph, [[0, 2], [0, 2], [1, 2]]).spans())
        [(0, 1, 0), (2, 2, 1), (0, 2, 2)]
        """
        if self.choice is None:
            yield from ((0, 0, choice) for choice in np.flatnonzero(self.weights() > 0).tolist())
            return
        for column in np.atleast_2d(self.choice).T:
            ends = [*np.flatnonzero(np.diff(column)).tolist(), column.size - 1]
            for first, last in zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True):
                yield first, last, int(column[first])

    def rows(self) -> Iterator[tuple[int, int, str, str, float]]:
        """Yield (step, state number, state name, action name, weight) for every decision of positive weight."""
        for step in range(self.steps or 1):
            for s in range(self.graph.states):
                taken = self[s, step]
                for action, weight in taken.items() if isinstance(taken, dict) else [(taken, 1.0)]:
                    yield step, s, self.graph.state_name(s), action, weight

    def induced(self, model: M) -> M:
        """Return the (interval) Markov chain the policy makes of `model`.

        A randomised policy on an interval MDP leads through one extra state per choice taken, named
        ``state/action``, because nature picks the probabilities of each choice separately.
        """
        if not np.array_equal(model.state_ptr, self.graph.state_ptr):
            raise ModelError("the policy is for a model with other states and choices")
        if self.steps is not None:
            raise ModelError("a step-dependent policy has no induced chain over the same states; evaluate it instead")
        if self.choice is not None:
            return _select(model, self.choice)
        assert self.weight is not None
        return _mix(model, self.weight) if isinstance(model, MDP) else _split(model, self.weight)

    def __repr__(self) -> str:
        kind = "randomised" if self.choice is None else "deterministic" if self.steps is None else f"{self.steps}-step"
        return f"{kind.capitalize()} policy for {self.graph.states:,} {nouns(self.graph.states, 'state')}"

    def _repr_html_(self) -> str:
        from umdp.model.sketch import sketch
        from umdp.statements.text import facts_html

        drawing = sketch(self)
        facts = [] if drawing else [(self.graph.state_name(s), _shown(self[s])) for s in self._first()]
        if not drawing and self.graph.states > len(facts):
            facts.append(("…", f"and {self.graph.states - len(facts):,} more states"))
        return facts_html(repr(self) + (", its first step" if self.steps is not None else ""), facts, drawing=drawing)

    def _first(self) -> list[int]:
        """Return a few states to show: the initial one, and the first of those that have a choice."""
        several = np.flatnonzero(np.diff(self.graph.state_ptr) > 1)
        rest = [
            s for s in (several if several.size else np.arange(self.graph.states)).tolist() if s != self.graph.initial
        ]
        return [self.graph.initial, *rest[: FEW - 1]]


def _shown(taken: str | dict[str, float]) -> str:
    """Return a decision in words."""
    if isinstance(taken, str):
        return taken
    return ", ".join(f"{action} {weight:.3g}" for action, weight in taken.items())


def find_choice(graph: Graph, state: int, action: str) -> int:
    """Return the choice of `state` with that action name (or number, where actions have no names)."""
    own = range(int(graph.state_ptr[state]), int(graph.state_ptr[state + 1]))
    for c in own:
        if graph.action_name(c) == action:
            return c
    offered = ", ".join(graph.action_name(c) for c in own)
    raise ModelError(f"state {graph.state_name(state)} has no action {action!r}; it offers {offered}")


def taken_choices(policy: Policy) -> NDArray[np.bool_]:
    """Return the choices (C,) that a policy takes at all, at whatever step."""
    return policy.weights() > 0.0 if policy.choice is None else mask_of(policy.choice, policy.graph.choices)


def _select(model: M, choice: NDArray[np.int64]) -> M:
    entries, own = entries_of(model.choice_ptr, choice), np.arange(model.states + 1)
    return part_of(model, entries, model.sizes[choice], state_ptr=own, choice=choice)


def _mix(model: MDP, weight: NDArray[np.float64]) -> MDP:
    p = model.probability * weight[owner(model.choice_ptr)]
    rewards = {
        name: replace(each, choice=None if each.choice is None else row_sums(model.state_ptr, each.choice * weight))
        for name, each in model.rewards.items()
    }
    more = annotations_of(model, actions=None, rewards=rewards)
    return MDP(np.arange(model.states + 1), model.choice_ptr[model.state_ptr], model.successor, p, **more)


def _split(model: IntervalMDP, weight: NDArray[np.float64]) -> IntervalMDP:
    taken = np.flatnonzero(weight > 0)
    states, parents = model.states, model.choice_state[taken]
    entries = entries_of(model.choice_ptr, taken)
    sizes = np.concatenate([np.bincount(parents, minlength=states), model.sizes[taken]])
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    successor = np.concatenate([states + np.arange(taken.size), model.successor[entries]])
    rewards = {}
    for name, r in model.rewards.items():
        on_choice = np.zeros(states + taken.size)
        on_choice[states:] = 0.0 if r.choice is None else r.choice[taken]
        on_state = np.zeros(states + taken.size)
        on_state[:states] = 0.0 if r.state is None else r.state
        on_transition = np.zeros(successor.size)
        on_transition[taken.size :] = 0.0 if r.transition is None else r.transition[entries]
        rewards[name] = Rewards(on_state, on_choice, on_transition, units=r.units)
    names = [model.state_name(s) for s in range(states)]
    names += [f"{names[model.choice_state[c]]}/{model.action_name(int(c))}" for c in taken]
    more = annotations_of(model, actions=None, state_names=names, rewards=rewards)
    for part in ("labels", "variables"):
        more[part] = {name: np.concatenate([values, values[parents]]) for name, values in more[part].items()}
    bounds = (np.concatenate([weight[taken], each[entries]]) for each in model.numbers)
    return IntervalMDP(np.arange(states + taken.size + 1), ptr, successor, *bounds, **more)
