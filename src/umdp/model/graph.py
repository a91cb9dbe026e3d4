"""The graph of a Markov decision process: everything about it but its probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.model.display import as_html, as_text
from umdp.model.rewards import Rewards
from umdp.model.structure import Compaction, compact, frozen, held, owned, owner, pointer

if TYPE_CHECKING:
    from umdp.model.interface import Interface
    from umdp.model.interval import IntervalMDP
    from umdp.model.mdp import MDP

__all__ = ["REST", "Graph"]

REST = "anything else"  # the label of the state that stands for whatever a graph does not list

G = TypeVar("G", bound="Graph")


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
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
        The initial state.
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
        self._check_structure()
        self._check_annotations()
        self._compact(None, self._transition_rewards())

    # -- sizes -----------------------------------------------------------------------------------------------

    @property
    def states(self) -> int:
        """The number of states."""
        return self.state_ptr.size - 1

    @property
    def choices(self) -> int:
        """The number of choices (state-action pairs)."""
        return self.choice_ptr.size - 1

    @property
    def transitions(self) -> int:
        """The number of transitions."""
        return self.successor.size

    @property
    def is_chain(self) -> bool:
        """Whether every state has exactly one choice."""
        return self.choices == self.states

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of successors of every choice, shape (C,)."""
        return held(np.diff(self.choice_ptr))

    @cached_property
    def choice_state(self) -> NDArray[np.int64]:
        """The state each choice belongs to, shape (C,)."""
        return held(owner(self.state_ptr))

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

    # -- names -----------------------------------------------------------------------------------------------

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
        codes, names = self.actions
        return str(names[codes[choice]])

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
        if name not in self._state_index:
            raise ModelError(f"there is no state named {name!r}; one of the names is {self.state_name(0)!r}")
        return self._state_index[name]

    # -- how the process is talked to --------------------------------------------------------------------------

    @property
    def interface(self) -> Interface | None:
        """Which states observations stand for, and what actions are called, where the graph is that of an environment."""
        return self.graph.__dict__.get("_interface")

    def with_interface(self, interface: Interface | None) -> Graph:
        """Return the graph alone with another interface; it is not part of copies and pickles, which may hold no functions."""
        graph = self._derive(Graph)
        graph.__dict__["_interface"] = interface
        return graph

    # -- derived models --------------------------------------------------------------------------------------

    @cached_property
    def graph(self) -> Graph:
        """The graph alone; models made from one graph share it."""
        return self if type(self) is Graph else self._derive(Graph)

    def with_probability(self, probability: ArrayLike) -> MDP:
        """Return the MDP with this graph and these probabilities, shape (T,)."""
        from umdp.model.mdp import MDP

        mdp = self._derive(MDP, probability=probability)
        mdp._check_probability(compacting=False)
        return mdp

    def with_bounds(self, lower: ArrayLike, upper: ArrayLike) -> IntervalMDP:
        """Return the interval MDP with this graph and these bounds, each of shape (T,)."""
        from umdp.model.interval import IntervalMDP

        model = self._derive(IntervalMDP, lower=lower, upper=upper)
        model._check_bounds(compacting=False)
        return model

    def with_trusted(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> IntervalMDP:
        """Return what `with_bounds` does, for bounds that were looked at and belong to nobody else."""
        from umdp.model.interval import IntervalMDP

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

    # -- pickles and copies ----------------------------------------------------------------------------------

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

    # -- validation ------------------------------------------------------------------------------------------

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_structure(self) -> None:
        successor = np.asarray(self.successor)
        if successor.ndim != 1 or (successor.size and successor.dtype.kind not in "iu"):
            raise ModelError("successor must be a one-dimensional integer array")
        own = owned(successor) if successor.dtype == np.int32 else held(successor.astype(np.int32))
        choice_ptr = pointer(self.choice_ptr, "choice_ptr", successor.size)
        state_ptr = pointer(self.state_ptr, "state_ptr", choice_ptr.size - 1)
        states = state_ptr.size - 1
        if states == 0:
            raise ModelError("a model needs at least one state")
        if states > np.iinfo(np.int32).max:
            raise ModelError(f"{states} states are too many; at most {np.iinfo(np.int32).max} are supported")
        empty = np.flatnonzero(state_ptr[1:] == state_ptr[:-1])
        if empty.size:
            raise ModelError(
                f"state {empty[0]} has no choices ({empty.size} such states); give each a choice that stays there"
            )
        empty = np.flatnonzero(choice_ptr[1:] == choice_ptr[:-1])
        if empty.size:
            raise ModelError(f"choice {empty[0]} has no transitions; a choice needs at least one successor")
        if successor.size and not 0 <= successor.min() <= successor.max() < states:
            outside = np.flatnonzero((successor < 0) | (successor >= states))
            raise ModelError(
                f"transition {outside[0]} leads to state {successor[outside[0]]}; states are numbered 0 to {states - 1}"
            )
        self._set("state_ptr", state_ptr)
        self._set("choice_ptr", choice_ptr)
        self._set("successor", own)

    def _check_annotations(self) -> None:
        states, choices = self.states, self.choices
        if not 0 <= self.initial < states:
            raise ModelError(f"the initial state is {self.initial}; states are numbered 0 to {states - 1}")
        self._set("initial", int(self.initial))
        self._set("labels", MappingProxyType({n: _label(n, v, states) for n, v in self.labels.items()}))
        rewards = {name: Rewards.of(given) for name, given in self.rewards.items()}
        for name, each in rewards.items():
            each.check(name, states, choices, self.transitions)
        self._set("rewards", MappingProxyType(rewards))
        if self.actions is not None:
            self._set("actions", _factorize(self.actions, choices))
        if self.state_names is not None:
            if len(self.state_names) != states:
                raise ModelError(f"{len(self.state_names)} state names were given for {states} states")
            self._set("state_names", tuple(map(str, self.state_names)))
        variables = {name: owned(np.asarray(values)) for name, values in self.variables.items()}
        for name, values in variables.items():
            if values.shape != (states,):
                raise ModelError(f"variable {name} has shape {values.shape}, but there are {states} states")
        self._set("variables", MappingProxyType(variables))
        self._set("constants", MappingProxyType(dict(self.constants)))
        self._set("formulas", MappingProxyType(dict(self.formulas)))

    def _transition_rewards(self) -> list[NDArray[np.float64]]:
        return [r.transition for r in self.rewards.values() if r.transition is not None]

    def _compact(
        self, keep: NDArray[np.bool_] | None, distinct: Sequence[NDArray[np.float64]] = ()
    ) -> Compaction | None:
        change = compact(self.choice_ptr, self.successor, self.states, keep, distinct)
        if change is not None:
            self._set("choice_ptr", held(change.choice_ptr))
            self._set("successor", held(change.successor))
            self._set("rewards", MappingProxyType({n: self._merged(r, change) for n, r in self.rewards.items()}))
        return change

    def _merged(self, reward: Rewards, change: Compaction) -> Rewards:
        return reward if reward.transition is None else reward.with_transition(reward.transition[change.first])

    # -- display ---------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _plain(value: Any) -> str:
    return str(value.item()).lower() if isinstance(value, np.bool_) else str(value)


def _label(name: str, given: ArrayLike, states: int) -> NDArray[np.bool_]:
    array = np.asarray(given)
    if array.dtype == np.bool_:
        if array.shape != (states,):
            raise ModelError(f'label "{name}" has shape {array.shape}, but there are {states} states')
        return owned(array)
    members = np.zeros(states, dtype=np.bool_)
    if array.size:
        if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= states:
            raise ModelError(f'label "{name}" must be a boolean array or list states from 0 to {states - 1}')
        members[array] = True
    return held(members)


def _factorize(given: Any, choices: int) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], np.ndarray):
        codes, names = owned(given[0]), tuple(map(str, given[1]))
    else:
        index: dict[str, int] = {}
        codes = np.array([index.setdefault(str(name), len(index)) for name in given], dtype=np.int32)
        names = tuple(index)
    if codes.shape != (choices,):
        raise ModelError(f"{codes.size} action names were given for {choices} choices")
    if choices and (codes.min() < 0 or codes.max() >= len(names)):
        raise ModelError(f"action codes must lie between 0 and {len(names) - 1}")
    return held(codes.astype(np.int32, copy=False)), names
