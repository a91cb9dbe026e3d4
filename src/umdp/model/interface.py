"""How a process is talked to: which state an observation stands for, and what it is given for a choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError, UmdpError, UnhashableState
from umdp.model.rewards import TERMINATED

__all__ = ["END", "Interface", "brief", "freeze"]

END = "end"  # what a state is called that stands for all in which episodes end, where these are alike


class NamedStates(Protocol):
    """States and choices that have names."""

    @property
    def states(self) -> int:
        """The number of states."""

    @property
    def choices(self) -> int:
        """The number of choices."""

    @property
    def labels(self) -> Mapping[str, NDArray[np.bool_]]:
        """Sets of states (S,)."""

    @property
    def state_names(self) -> Sequence[str] | None:
        """The names that states were given."""

    def action_name(self, choice: int) -> str:
        """Return the name of a choice."""

    def find_state(self, name: str) -> int:
        """Return the number of the state of a name, -1 where there is none."""


@dataclass(frozen=True, eq=False)
class Interface:
    """The interface of a process whose graph is known: observations and actions as it has them.

    Attributes
    ----------
    actions : (C,) what the process is given for every choice; None for a choice that nobody takes
    entry : whether the initial state is one before the process starts, whose choice is the reset
    state_of : turns an observation into a hashable state
    number : the state of every observation; otherwise states go by their names
    ended : turns the last observation and its reward into what `number` has for it
    paid : what is made of a reward of the process, where the graph's rewards are made of them; otherwise None

    Examples
    --------
    >>> from umdp.model import Graph
    >>> graph = Graph([0, 1, 2], [0, 1, 2], [1, 1], state_names=["(0, 1)", "home"], actions=["2", "stay"])
    >>> talk = Interface.by_name(graph)
    >>> talk.actions, talk.state(graph, (np.int64(0), 1)), talk.state(graph, "street")
    ((2, 'stay'), 0, -1)
    """

    actions: tuple[Any, ...]
    entry: bool = False
    state_of: Callable[[Any], Hashable] | None = None
    number: Mapping[Hashable, int] | None = None
    ended: Callable[[Hashable, float], Hashable] | None = None
    paid: Callable[[float], float] | None = None

    @staticmethod
    def by_name(graph: NamedStates) -> Interface:
        """Return the interface of a graph of which nothing else is known: names, and numbers where they are names."""
        names = [graph.action_name(c) for c in range(graph.choices)]
        return Interface(tuple(int(name) if name.isdigit() else name for name in names))

    def state(self, graph: NamedStates, observation: Any) -> int:
        """Return the state an observation stands for, -1 where it is none of the graph's."""
        key = freeze(observation, self.state_of, "observations")
        return self.number.get(key, -1) if self.number is not None else _by_name(graph, key)

    def last(self, graph: NamedStates, observation: Any, reward: float) -> int:
        """Return the state in which an episode ended, -1 where it is none of the graph's."""
        key = freeze(observation, self.state_of, "observations")
        if self.number is not None and self.ended is not None:
            return self.number.get(self.ended(key, reward), -1)
        kind = "goal" if reward > 0 else "fail"
        ends = graph.labels.get(TERMINATED)
        for name in (f"{of}{more}" for of in (key, END) for more in (f" {kind} {reward:g}", f" {kind}", "")):
            found = graph.find_state(name)
            if found >= 0 and (ends is None or ends[found]):
                return found
        return -1


def _by_name(graph: NamedStates, key: Hashable) -> int:
    found = graph.find_state(str(key).strip())
    if found >= 0:
        return found
    named = graph.state_names is not None and any(name.isdigit() for name in graph.state_names)
    whole = isinstance(key, int) and not isinstance(key, bool)
    return key if whole and not named and 0 <= key < graph.states else -1  # type: ignore[operator,return-value]


def freeze(observation: Any, state_of: Callable[[Any], Hashable] | None, where: str) -> Hashable:
    """Return the state an observation stands for, as a plain hashable value.

    Examples
    --------
    >>> import numpy as np
    >>> freeze((np.int64(3), True), None, "here")
    (3, True)
    >>> freeze(np.array([1, 2]), lambda o: tuple(o.tolist()), "here")
    (1, 2)
    """
    if type(observation) is int and state_of is None:
        return observation
    try:
        value: Hashable = _plain(observation if state_of is None else state_of(observation))
    except UmdpError:
        raise
    except Exception as error:
        raise ModelError(
            f"{where}: state_of raised {type(error).__name__}: {error}, for {brief(observation)}"
        ) from error
    if _undefined(value):
        raise ModelError(
            f"{where}: {brief(value)} is not a number and cannot be a state, since it does not equal itself"
        )
    try:
        hash(value)
    except TypeError:
        wanted = "state_of must return" if state_of is not None else "give state_of, a function that turns it into"
        raise UnhashableState(
            f"{where}: {brief(value)} is not hashable and cannot be a state; {wanted} a number, text or tuple, such as "
            "lambda o: tuple(o.tolist())"
        ) from None
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value


def _undefined(value: Any) -> bool:
    """Whether a value is not a number, or has a part that is not."""
    return any(map(_undefined, value)) if isinstance(value, tuple) else isinstance(value, float) and math.isnan(value)


def brief(value: Any) -> str:
    """Return a value as text of at most a line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."
