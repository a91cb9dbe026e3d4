"""Finding the states, choices and transitions of a graph by the names or numbers that stand in data."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import Graph
from umdp.model.structure import owner

__all__ = ["NOWHERE", "Lookup", "Memo", "Place"]

NOWHERE = "the row does not say where the step led"

MOST = 1_000_000  # triples remembered at a time, so that a log of a huge graph does not fill the memory


class Place(NamedTuple):
    """Where a row lies in the graph; what is not found is -1, and `reason` says why the transition is not.

    `nowhere` says that it is not because the row does not say where it led.
    """

    transition: int
    state: int
    successor: int
    reason: str = ""
    nowhere: bool = False


class Lookup:
    """An index of a graph by what data names: states by name or number, actions by name or by number within their state.

    A name comes first. A number counts only where no name looks like one, so that it is never taken for another state.

    Parameters
    ----------
    graph : Graph
        Lists every successor of a choice once; data could not tell two transitions to one state apart.

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], state_names=["here", "there"], actions=["try", "go", "stay"])
    >>> lookup = Lookup(graph)
    >>> lookup.place("here", "try", "there")
    Place(transition=1, state=0, successor=1, reason='', nowhere=False)
    >>> lookup.place("0", "1", "there").transition
    2
    >>> lookup.place("here", "go", "here").reason
    'state here, action go: the graph does not list the successor here'
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        key = self.choice_of * graph.states + graph.successor
        if np.unique(key).size < key.size:
            values, times = np.unique(key, return_counts=True)
            choice, target = divmod(int(values[np.argmax(times > 1)]), graph.states)
            raise ModelError(
                f"state {graph.state_name(int(graph.choice_state[choice]))}, action {graph.action_name(choice)}: the "
                f"successor {graph.state_name(target)} is listed more than once, with different rewards, and data "
                "cannot tell which was taken; list it once"
            )
        names = graph.state_names
        self._numbered_states = names is None or not any(map(_is_number, names))
        self._numbered_actions = graph.actions is None or not any(map(_is_number, graph.action_names))
        self._codes = {name: code for code, name in enumerate(graph.action_names)}

    @cached_property
    def choice_of(self) -> NDArray[np.int64]:
        """The choice of each transition, shape (T,)."""
        return owner(self.graph.choice_ptr)

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """The state in which each transition starts, shape (T,)."""
        return self.graph.choice_state[self.choice_of]

    @cached_property
    def _names(self) -> dict[str, int]:
        graph = self.graph
        if graph.state_names is None and not graph.variables:
            return {}
        names = [graph.state_name(s) for s in range(graph.states)]
        index = {name: s for s, name in enumerate(names)}
        if len(index) < len(names):
            index.update({name: -1 for name, times in Counter(names).items() if times > 1})
        return index

    def state(self, given: Any) -> int:
        """Return the number of the state that `given` names or numbers, -1 if there is none."""
        text = str(given).strip()
        if self._numbered_states and _is_number(text):
            number = int(text)
            return number if number < self.graph.states else -1
        return self._names.get(text, -1)

    def choice(self, state: int, given: Any) -> int:
        """Return the choice of a state that `given` names or numbers, -1 if there is none."""
        text = str(given).strip()
        begin, end = int(self.graph.state_ptr[state]), int(self.graph.state_ptr[state + 1])
        codes, code = self.graph.action_codes, self._codes.get(text)
        if codes is not None and code is not None:
            own = np.flatnonzero(codes[begin:end] == code)
            return begin + int(own[0]) if own.size == 1 else -1
        if self._numbered_actions and _is_number(text):
            number = int(text)
            return begin + number if number < end - begin else -1
        return -1

    def transition(self, choice: int, successor: int) -> int:
        """Return the transition of a choice to a state, -1 if the graph does not list it."""
        begin = int(self.graph.choice_ptr[choice])
        found = np.flatnonzero(self.graph.successor[begin : self.graph.choice_ptr[choice + 1]] == successor)
        return begin + int(found[0]) if found.size else -1

    def place(self, state: Any, action: Any, successor: Any) -> Place:
        """Return where a row lies in the graph, or why nowhere."""
        source, target = self.state(state), self.state(successor)
        if source < 0:
            return Place(-1, source, target, self._no_state(str(state)))
        choice = self.choice(source, action)
        if choice < 0 and target >= 0:
            return Place(-1, source, target, self._no_action(source, str(action)))
        transition = self.transition(choice, target) if choice >= 0 and target >= 0 else -1
        if transition < 0 and choice >= 0:
            transition = self.beyond(choice)
        if transition >= 0:
            return Place(transition, source, target)
        if not str(successor).strip():
            return Place(-1, source, target, NOWHERE, nowhere=True)
        reason = self._no_state(str(successor)) if target < 0 else self.unlisted(choice, target)
        return Place(-1, source, target, reason)

    def beyond(self, choice: int) -> int:
        """Return the transition of a choice to "anything else", -1 if it has none."""
        return -1 if self.graph.rest is None else self.transition(choice, self.graph.rest)

    # -- reasons ---------------------------------------------------------------------------------------------

    def unlisted(self, choice: int, successor: int) -> str:
        """Say that a choice led where the graph has no transition."""
        state = int(self.graph.choice_state[choice])
        return (
            f"state {self.graph.state_name(state)}, action {self.graph.action_name(choice)}: "
            f"the graph does not list the successor {self.graph.state_name(successor)}"
        )

    def _no_state(self, text: str) -> str:
        graph = self.graph
        if self._names.get(text) == -1:
            return f"several states are named {_shown(text)}; give the state's number"
        like = f", or its number, 0 to {graph.states - 1}" if self._numbered_states else ""
        if graph.state_names is None and not graph.variables:
            return f"there is no state {_shown(text)}; states are numbered 0 to {graph.states - 1}"
        return f"there is no state {_shown(text)}; give a name such as {_shown(graph.state_name(graph.initial))}{like}"

    def _no_action(self, state: int, text: str) -> str:
        graph = self.graph
        own = [graph.action_name(c) for c in range(graph.state_ptr[state], graph.state_ptr[state + 1])]
        if own.count(text) > 1:
            return (
                f"state {graph.state_name(state)}: several actions are named {_shown(text)}; give the action's number"
            )
        known = ", ".join(own[:8]) + (", ..." if len(own) > 8 else "")
        return f"state {graph.state_name(state)} has no action {_shown(text)}; it has {known}"


class Memo(dict[Any, int]):
    """A cache of look-ups, from (state, action, successor) to a transition, at the speed of a dictionary.

    What lies nowhere in the graph maps to ``-1 - i``, where `failed[i]` says why. It is looked at anew each time, so that bad
    data cannot fill the memory; whoever reads the codes empties `failed`.
    """

    def __init__(self, lookup: Lookup) -> None:
        super().__init__()
        self.lookup = lookup
        self.failed: list[Place] = []

    def __missing__(self, triple: tuple[Any, Any, Any]) -> int:
        place = self.lookup.place(*triple)
        if place.transition < 0:
            self.failed.append(place)
            return -len(self.failed)
        if len(self) >= MOST:
            self.clear()
        self[triple] = place.transition
        return place.transition


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
