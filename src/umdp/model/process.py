"""Markov decision processes as arrays: what is known (`Graph`), with probabilities (`MDP`), or intervals (`IntervalMDP`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.model import structure
from umdp.model.build import Builders, IntervalBuilders
from umdp.model.display import as_html, as_text
from umdp.model.interface import Interface
from umdp.model.rewards import Rewards
from umdp.model.structure import Compaction, CompressedRows, compact, frozen, held, owned, owner

__all__ = ["MDP", "REST", "Graph", "IntervalMDP"]

REST = "anything else"  # the label of the state that stands for whatever a graph does not list

G = TypeVar("G", bound="Graph")


@dataclass(frozen=True, eq=False, repr=False)
class Graph(CompressedRows):
    """States, choices and possible transitions, with what is known about them; immutable.

    State `s` owns the choices ``state_ptr[s] .. state_ptr[s+1]``, choice `c` the transitions
    ``choice_ptr[c] .. choice_ptr[c+1]``, and transition `t` leads to ``successor[t]``. A listed transition has positive
    probability in the true process. Equal successors of one choice are merged.

    Parameters
    ----------
    state_ptr : array_like of int, shape (S+1,)
    choice_ptr : array_like of int, shape (C+1,)
    successor : array_like of int, shape (T,)
    initial : int
        The initial state; where there are several, the first, and the label "init" marks them all.
    labels : mapping of str to array_like
        Sets of states, as boolean arrays over states or as lists of states.
    rewards : mapping of str to Rewards
    actions : sequence of str, shape (C,), optional
        The name of each choice; or a pair of integer codes (C,) and the names they stand for.
    state_names : sequence of str, shape (S,), optional
    variables : mapping of str to array_like, shape (S,)
        The value of each of the model's variables in every state.
    constants : mapping of str to number
    formulas : mapping of str to str
        Named expressions over variables and constants, for use in properties.

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], labels={"goal": [1]}, actions=["try", "go", "stay"])
    >>> graph
    Graph with 2 states, 3 choices, 4 transitions; initial state 0; labels "goal"
    >>> graph.labels["goal"]
    array([False,  True])
    """

    state_ptr: NDArray[np.int64]
    choice_ptr: NDArray[np.int64]
    successor: NDArray[np.int32]
    _: KW_ONLY
    initial: int = 0
    labels: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    rewards: Mapping[str, Rewards] = field(default_factory=dict)
    actions: Any = None
    state_names: Sequence[str] | None = None
    variables: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    constants: Mapping[str, int | float | bool] = field(default_factory=dict)
    formulas: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check()
        self._check_numbers(compacting=True)

    @cached_property
    def rest(self) -> int | None:
        """The absorbing state labelled "anything else", which stands for whatever the graph does not list; None without."""
        members = self.labels.get(REST)
        if members is None or not members.any():
            return None
        found = np.flatnonzero(members)
        state = int(found[0])
        choices = slice(self.state_ptr[state], self.state_ptr[state + 1] + 1)
        first, last = self.choice_ptr[choices][0], self.choice_ptr[choices][-1]
        if found.size > 1 or (self.successor[first:last] != state).any():
            raise ModelError(f'the label "{REST}" is reserved for one state, which is never left')
        return state

    @property
    def action_codes(self) -> NDArray[np.int32] | None:
        """For each choice the index of its name in `action_names`, shape (C,); None without names."""
        return None if self.actions is None else self.actions[0]

    @property
    def action_names(self) -> tuple[str, ...]:
        """The different action names, in order of appearance."""
        return () if self.actions is None else self.actions[1]

    def action_name(self, choice: int) -> str:
        """Return the name of a choice; without names, its number within its state."""
        if self.actions is None:
            return str(choice - int(self.state_ptr[np.searchsorted(self.state_ptr, choice, side="right") - 1]))
        return str(self.actions[1][self.actions[0][choice]])

    def state_name(self, state: int) -> str:
        """Return a state's name: the given one, its valuation such as ``(x=1,y=2)``, or its number."""
        if self.state_names is not None:
            return self.state_names[state]
        if self.variables:
            return "(" + ",".join(f"{n}={_plain(v[state])}" for n, v in self.variables.items()) + ")"
        return str(state)

    @cached_property
    def _state_index(self) -> dict[str, int]:
        return {self.state_name(s): s for s in range(self.states)}

    def state_index(self, name: str | int) -> int:
        """Return the number of a state given by name or by number."""
        if isinstance(name, int | np.integer):
            if not 0 <= name < self.states:
                raise ModelError(f"there is no state {name}; states are numbered 0 to {self.states - 1}")
            return int(name)
        found = self.find_state(name)
        if found < 0:
            raise ModelError(f"there is no state named {name!r}; one of the names is {self.state_name(0)!r}")
        return found

    def find_state(self, name: str) -> int:
        """Return the number of the state of a name, -1 where there is none."""
        return self._state_index.get(name, -1)

    def names_of(self, transition: int) -> tuple[str, str, str]:
        """Return what the state, the action and the successor of a transition are called."""
        choice = int(np.searchsorted(self.choice_ptr, transition, side="right")) - 1
        state, successor = int(self.choice_state[choice]), int(self.successor[transition])
        return self.state_name(state), self.action_name(choice), self.state_name(successor)

    @property
    def numbers(self) -> tuple[NDArray[np.float64], ...]:
        """What is known of each transition, (T,) each: its probability, or its lower and its upper bound."""
        return tuple(getattr(self, each.name) for each in fields(self) if each.name not in Graph.__dataclass_fields__)

    @property
    def interface(self) -> Interface | None:
        """Which states observations stand for, and what actions are called, where the graph is that of an environment."""
        return self.graph.__dict__.get("_interface")

    def with_interface(self, interface: Interface | None) -> Graph:
        """Return the graph alone with another interface; it is not part of copies and pickles, which may hold no functions."""
        graph = self._derive(Graph)
        graph.__dict__["_interface"] = interface
        return graph

    @cached_property
    def graph(self) -> Graph:
        """The graph alone; models made from one graph share it."""
        return self if type(self) is Graph else self._derive(Graph)

    def with_probability(self, probability: ArrayLike) -> MDP:
        """Return the MDP with this graph and these probabilities, shape (T,)."""
        mdp = self._derive(MDP, probability=probability)
        mdp._check_numbers(compacting=False)
        return mdp

    def with_bounds(self, lower: ArrayLike, upper: ArrayLike) -> IntervalMDP:
        """Return the interval MDP with this graph and these bounds, each of shape (T,)."""
        model = self._derive(IntervalMDP, lower=lower, upper=upper)
        model._check_numbers(compacting=False)
        return model

    def with_trusted(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> IntervalMDP:
        """Return what `with_bounds` does, for bounds that were looked at and belong to nobody else."""
        return self._derive(IntervalMDP, lower=held(lower), upper=held(upper))

    def with_any(self) -> IntervalMDP:
        """Return the interval MDP of all processes with this graph."""
        sure = np.repeat(self.sizes == 1, self.sizes).astype(np.float64)
        return self.with_trusted(sure, np.ones(self.transitions))

    def _derive(self, kind: type[G], **own: Any) -> G:
        # The graph has been checked already, so only what is new is looked at again.
        model = object.__new__(kind)
        known = self.__dict__
        model.__dict__.update({name: known[name] for name in Graph.__dataclass_fields__}, **own)
        if kind is not Graph:
            model.__dict__["graph"] = self.graph
        return model

    def __getstate__(self) -> dict[str, Any]:
        # What is worked out from the fields, such as what a solver keeps with a graph, is not carried along.
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        if type(self) is not Graph and "graph" in self.__dict__:
            state["graph"] = self.graph
        return {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        graph = state.get("graph")  # what shares a graph shares its arrays
        shared = {} if graph is None else {name: graph.__dict__[name] for name in Graph.__dataclass_fields__}
        self.__dict__.update({name: frozen(value) for name, value in state.items() if name not in shared}, **shared)

    def _check(self) -> None:
        """Check all that is given but bounds and probabilities, and make arrays and mappings such that nobody can change them."""
        rows = structure.check_rows(self.state_ptr, self.choice_ptr, self.successor)
        self.__dict__.update(zip(("state_ptr", "choice_ptr", "successor"), rows, strict=True))
        states, choices = self.states, self.choices
        if not 0 <= self.initial < states:
            raise ModelError(f"the initial state is {self.initial}; states are numbered 0 to {states - 1}")
        rewards = {name: Rewards.of(given) for name, given in self.rewards.items()}
        for name, each in rewards.items():
            each.check(name, states, choices, self.transitions)
        if self.state_names is not None and len(self.state_names) != states:
            raise ModelError(f"{len(self.state_names)} state names were given for {states} states")
        variables = {name: owned(np.asarray(values)) for name, values in self.variables.items()}
        for name, values in variables.items():
            if values.shape != (states,):
                raise ModelError(f"variable {name} has shape {values.shape}, but there are {states} states")
        self.__dict__.update(
            initial=int(self.initial),
            labels=MappingProxyType(
                {name: structure.members_of(name, given, states) for name, given in self.labels.items()}
            ),
            rewards=MappingProxyType(rewards),
            actions=None if self.actions is None else structure.coded(self.actions, choices),
            state_names=None if self.state_names is None else tuple(map(str, self.state_names)),
            variables=MappingProxyType(variables),
            constants=MappingProxyType(dict(self.constants)),
            formulas=MappingProxyType(dict(self.formulas)),
        )

    def _check_numbers(self, *, compacting: bool) -> None:
        """Check probabilities or bounds, where there are any, and make the transitions `compact`."""
        self._compact(None)

    def _compact(self, keep: NDArray[np.bool_] | None, *, by_reward: bool = True) -> Compaction | None:
        """Drop transitions and merge equal successors, `by_reward` only those whose rewards are equal, too."""
        distinct = (
            [each.transition for each in self.rewards.values() if each.transition is not None] if by_reward else []
        )
        change = compact(self.choice_ptr, self.successor, self.states, keep, distinct)
        if change is not None:
            rewards = MappingProxyType({name: self._merged(each, change) for name, each in self.rewards.items()})
            self.__dict__.update(choice_ptr=held(change.choice_ptr), successor=held(change.successor), rewards=rewards)
        return change

    def _merged(self, reward: Rewards, change: Compaction) -> Rewards:
        return reward if reward.transition is None else reward.with_transition(reward.transition[change.first])

    def _facts(self) -> list[tuple[str, str]]:
        """Return what is shown of its size."""
        return [(name, f"{getattr(self, name):,}") for name in ("states", "choices", "transitions")]

    def __repr__(self) -> str:
        return as_text(type(self).__name__, self._facts(), self.state_name(self.initial), self.labels, self.rewards)

    def _repr_html_(self) -> str:
        return as_html(type(self).__name__, self._facts(), self.state_name(self.initial), self.labels, self.rewards)


@final
@dataclass(frozen=True, eq=False, repr=False)
class MDP(Builders, Graph):
    """A Markov decision process, immutable and validated; a Markov chain if every state has one choice.

    Transitions of probability 0 are dropped and equal successors of a choice merged (their rewards averaged by
    probability). Probabilities of a choice must sum to 1 up to rounding (1e-9).

    Parameters
    ----------
    state_ptr, choice_ptr, successor
        As for `Graph`.
    probability : array_like of float, shape (T,)
    **annotations
        As for `Graph`: initial, labels, rewards, actions, state_names, variables, constants, formulas.

    Examples
    --------
    >>> mdp = MDP([0, 2, 3], [0, 2, 3, 4], [0, 1, 0, 1], [0.5, 0.5, 1, 1], labels={"goal": [1]})
    >>> mdp
    MDP with 2 states, 3 choices, 4 transitions; initial state 0; labels "goal"
    >>> mdp.with_intervals(0.2).lower
    array([0.4, 0.4, 1. , 1. ])
    """

    probability: NDArray[np.float64]

    def _check_numbers(self, *, compacting: bool) -> None:
        p = owned(np.asarray(self.probability, dtype=np.float64))
        structure.check_probability(self.choice_ptr, p, self.names_of)
        self.__dict__["probability"] = p  # which the rewards of merged transitions go by
        if compacting:
            change = self._compact(p > 0, by_reward=False)
            if change is not None:
                p = change.sums(p)
        elif not (p > 0).all():
            raise ModelError("a transition of the graph has probability 0; build the MDP from its own graph instead")
        self.__dict__["probability"] = structure.at_most_one(p)

    def _merged(self, reward: Rewards, change: Compaction) -> Rewards:
        return reward.merged(change, self.probability)

    def with_intervals(self, width: float, *, floor: float = 0.0) -> IntervalMDP:
        """Return the interval MDP whose bounds lie half of `width` around every probability.

        Bounds are clipped to [0, 1]; certain transitions stay certain. A lower bound is at least `floor`, or the
        probability itself where that is smaller: a positive floor keeps nature from cutting transitions.
        """
        if not 0 <= width <= 2:
            raise ModelError(f"width must lie between 0 and 2, not {width}")
        p = self.probability
        lower = np.maximum(p - width / 2, np.minimum(p, floor))
        upper = np.minimum(p + width / 2, 1.0)
        certain = p >= 1.0
        return self.graph.with_bounds(np.where(certain, 1.0, lower), np.where(certain, 1.0, upper))

    def as_intervals(self) -> IntervalMDP:
        """Return this MDP as the interval MDP whose bounds coincide."""
        return self.graph.with_bounds(self.probability, self.probability)


@final
@dataclass(frozen=True, eq=False, repr=False)
class IntervalMDP(IntervalBuilders, Graph):
    """An uncertain MDP (Definition 2 of the paper) with intervals, immutable and validated.

    Nature picks, for every choice, a distribution with ``lower <= p <= upper``. A choice whose bounds admit none
    beyond rounding (1e-9) raises `InfeasibleChoice`. Transitions with upper bound 0 are dropped; equal successors
    of a choice are merged (unless their transition rewards differ, where nature's choice between them matters).

    A lower bound of 0 means positive, but not bounded away from 0.

    Parameters
    ----------
    state_ptr, choice_ptr, successor
        As for `Graph`.
    lower, upper : array_like of float, shape (T,)
    **annotations
        As for `Graph`: initial, labels, rewards, actions, state_names, variables, constants, formulas.

    Examples
    --------
    >>> model = IntervalMDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1],
    ...                     labels={"goal": [1]})
    >>> model
    IntervalMDP with 3 states, 3 choices, 4 transitions, 2 uncertain; initial state 0; labels "goal"
    >>> IntervalMDP([0, 1], [0, 1], [0], [0.2], [0.5])
    Traceback (most recent call last):
    ...
    umdp.errors.InfeasibleChoice: state 0, action 0: no distribution fits the bounds ...
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def _check_numbers(self, *, compacting: bool) -> None:
        lower, upper = (owned(np.asarray(each, dtype=np.float64)) for each in self.numbers)
        if not compacting and lower.shape == upper.shape == (self.transitions,):
            from umdp.model.row_kernels import are_feasible

            if are_feasible(self.choice_ptr, lower, upper, structure.ROUNDING):
                self.__dict__.update(lower=lower, upper=upper)
                return
        structure.check_bounds(self.choice_ptr, lower, upper, self.names_of)
        if compacting:
            change = self._compact(upper > 0)
            if change is not None:
                lower, upper = change.sums(lower), change.sums(upper)
        elif not (upper > 0).all():
            raise ModelError("a transition of the graph has upper bound 0; build the model from its own graph instead")
        self.__dict__.update(lower=structure.at_most_one(lower), upper=structure.at_most_one(upper))

    def _facts(self) -> list[tuple[str, str]]:
        return [*super()._facts(), ("uncertain", f"{int(np.count_nonzero(self.lower < self.upper)):,}")]

    def contains(self, mdp: MDP, *, tolerance: float = 0.0) -> bool:
        """Whether `mdp` is one of the MDPs this model stands for: probabilities within bounds, no other transitions.

        A transition whose lower bound is 0 may be missing.
        """
        if not np.array_equal(self.state_ptr, mdp.state_ptr):
            return False
        here, there = (owner(model.choice_ptr) * model.states + model.successor for model in (self, mdp))
        order = np.argsort(here, kind="stable")
        place = np.searchsorted(here, there, sorter=order)
        if (place == here.size).any() or not np.array_equal(here[order[place]], there):
            return False
        p = np.zeros(self.transitions)
        p[order[place]] = mdp.probability
        return bool(((p >= self.lower - tolerance) & (p <= self.upper + tolerance)).all())


def _plain(value: Any) -> str:
    return str(value.item()).lower() if isinstance(value, np.bool_) else str(value)
