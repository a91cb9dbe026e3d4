"""A graph made of what has been observed, for want of one that is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import Graph, Rewards

__all__ = ["LabelOf", "ObservedGraph", "label_members", "reward_structure"]

LabelOf = Callable[[Any], bool] | Collection[Hashable]
STAY = "stay"


class ObservedGraph:
    """Transitions that were seen, gathered into a graph.

    The graph lists what was seen and nothing else. A state that was never left has one choice, `stay`.

    Attributes
    ----------
    number : the number of every state, in order of appearance
    varies : whether a transition was seen with different rewards

    Examples
    --------
    >>> seen = ObservedGraph()
    >>> seen.add("a", "go", "b"); seen.add("a", "go", "a")
    >>> seen.graph("a", labels={"goal": lambda state: state == "b"})
    Graph with 2 states, 2 choices, 3 transitions; initial state a; labels "goal"
    """

    def __init__(self) -> None:
        self.number: dict[Hashable, int] = {}
        self.varies = False
        self._seen: dict[int, dict[Hashable, dict[int, float]]] = {}

    def add(self, state: Hashable, action: Hashable, successor: Hashable, reward: float = 0.0) -> None:
        """Take note of a transition, and of whether its reward is always the same."""
        source = self.number.setdefault(state, len(self.number))
        target = self.number.setdefault(successor, len(self.number))
        outcomes = self._seen.setdefault(source, {}).setdefault(action, {})
        self.varies |= outcomes.setdefault(target, reward) != reward

    @property
    def unleft(self) -> NDArray[np.bool_]:
        """Which states were never left, shape (S,)."""
        return np.array([s not in self._seen for s in range(len(self.number))], dtype=np.bool_)

    def actions(self) -> list[Hashable | None]:
        """Return the action of every choice of the graph; None for `stay`."""
        choices: list[Hashable | None] = []
        for s in range(len(self.number)):
            choices.extend(self._seen.get(s, {None: {}}))
        return choices

    def rewards(self) -> NDArray[np.float64]:
        """Return the reward of every transition of the graph, shape (T,)."""
        paid: list[float] = []
        for s in range(len(self.number)):
            for outcomes in self._seen.get(s, {None: {s: 0.0}}).values():
                paid.extend(outcomes.values())
        return np.array(paid, dtype=np.float64)

    def graph(
        self,
        initial: Hashable,
        *,
        labels: Mapping[str, LabelOf | NDArray[np.bool_]] | None = None,
        rewards: Mapping[str, Rewards] | None = None,
        names: Callable[[Any], str] = str,
    ) -> Graph:
        """Return the graph; labels are arrays over states, functions of a state or collections of states."""
        if initial not in self.number:
            known = ", ".join(names(state) for state in list(self.number)[:5])
            raise ModelError(f"the initial state {initial!r} was not observed; some that were: {known}")
        state_ptr, choice_ptr, successor = [0], [0], list[int]()
        for s in range(len(self.number)):
            for outcomes in self._seen.get(s, {None: {s: 0.0}}).values():
                successor.extend(outcomes)
                choice_ptr.append(len(successor))
            state_ptr.append(len(choice_ptr) - 1)
        states = list(self.number)
        return Graph(
            np.array(state_ptr),
            np.array(choice_ptr),
            np.array(successor, dtype=np.int32),
            initial=self.number[initial],
            labels={name: label_members(given, states) for name, given in (labels or {}).items()},
            rewards=rewards or {},
            actions=[STAY if action is None else str(action) for action in self.actions()],
            state_names=[names(state) for state in states],
        )


def reward_structure(paid: NDArray[np.float64], *, varies: bool = False) -> tuple[dict[str, Rewards], str]:
    """Return rewards on transitions as the structure `reward` or `cost`, or none and the reason.

    Examples
    --------
    >>> reward_structure(np.array([-1.0, 0.0]))[0]["cost"].transition
    array([1., 0.])
    >>> print(reward_structure(np.array([-1.0, 20.0]))[1])
    rewards range from -1 to 20 and make no reward structure: expected rewards need one sign. Shift or split them
    """
    if varies:
        return (
            {},
            "rewards differ for the same transition and make no reward structure: an expected reward needs known ones",
        )
    if (paid < 0).any() and (paid > 0).any():
        return {}, (
            f"rewards range from {paid.min():g} to {paid.max():g} and make no reward structure: expected rewards need one "
            "sign. Shift or split them"
        )
    if not paid.any():
        return {}, ""
    return (
        {"reward": Rewards(transition=paid)} if (paid > 0).any() else {"cost": Rewards(transition=np.abs(paid))}
    ), ""


def label_members(given: LabelOf | NDArray[np.bool_], states: Collection[Any]) -> NDArray[np.bool_]:
    """Return which of some states a label marks, shape (S,)."""
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        return given
    if callable(given):
        return np.array([bool(given(state)) for state in states], dtype=np.bool_)
    wanted = set(given)
    return np.array([state in wanted for state in states], dtype=np.bool_)
