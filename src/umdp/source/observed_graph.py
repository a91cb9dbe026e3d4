"""The observed graph: made of what data show, for want of one that is known."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import REST, Graph, Rewards

__all__ = ["STAY", "UNKNOWN", "LabelOf", "ObservedGraph", "Transition", "label_members"]

LabelOf = Callable[[Any], bool] | Collection[Hashable]
WILD = "*?["
STAY = "stay"
UNKNOWN = "unknown"


class Transition(NamedTuple):
    """A transition of an observed graph, with the lowest reward seen on it.

    None stands for what nobody took, `stay` and `unknown`, and for "anything else".
    """

    state: Any
    action: Any
    successor: Any
    reward: float


class ObservedGraph:
    """The observed graph: transitions that were seen, gathered.

    The graph lists what was seen, and for every choice one more outcome, to the absorbing state "anything else": whatever can
    happen but did not. A state of which the data say that it ends trajectories has one choice, `stay`. Of any other state that
    was reached and never left nothing is known: its one choice, `unknown`, leads to "anything else".

    Without `rest`, there is no such state, whatever was not seen is missing, and a state that was never left is taken to be
    absorbing.

    Attributes
    ----------
    number : the number of every state, in order of appearance
    varies : whether a transition was seen with different rewards
    believed : whether the end of a trajectory says that its last state is terminal, and not only that its recording ended

    Examples
    --------
    >>> seen = ObservedGraph()
    >>> seen.add("a", "go", "b", end=True); seen.add("a", "go", "a")
    >>> graph = seen.graph("a", labels={"goal": lambda state: state == "b"})
    >>> graph
    Graph with 3 states, 3 choices, 5 transitions; initial state a; labels "goal", "anything else"
    >>> graph.state_name(graph.rest)
    'anything else'
    >>> seen.graph("a", rest=False)
    Graph with 2 states, 2 choices, 3 transitions; initial state a
    """

    def __init__(self) -> None:
        self.number: dict[Hashable, int] = {}
        self.varies = False
        self._seen: dict[int, dict[Hashable, dict[int, float]]] = {}
        self._ended: set[int] = set()
        self._open: set[int] = set()
        self._told: set[int] = set()
        self.believed = True

    def add(
        self, state: Hashable, action: Hashable, successor: Hashable, reward: float = 0.0, *, end: bool = False
    ) -> None:
        """Take note of a transition, of whether its reward is always the same, and of whether it ended a trajectory."""
        source = self.number.setdefault(state, len(self.number))
        target = self.number.setdefault(successor, len(self.number))
        outcomes = self._seen.setdefault(source, {}).setdefault(action, {})
        before = outcomes.setdefault(target, reward)
        if reward != before:
            self.varies = True
            outcomes[target] = min(before, reward)
        (self._ended if end else self._open).add(target)

    def without(self, states: Collection[Hashable]) -> ObservedGraph:
        """Return the same without some states, none of which was left, and whatever led to them."""
        kept, names = ObservedGraph(), list(self.number)
        for source, choices in self._seen.items():
            for action, outcomes in choices.items():
                for target, reward in outcomes.items():
                    if names[target] not in states:
                        kept.add(names[source], action, names[target], reward)
        kept.varies, kept.believed = self.varies, self.believed
        pairs = (self._ended, kept._ended), (self._open, kept._open), (self._told, kept._told)
        for mine, theirs in pairs:
            theirs.clear()
            theirs.update(kept.number[names[s]] for s in mine if names[s] in kept.number)
        return kept

    def make_terminal(self, given: LabelOf) -> None:
        """Believe that some states end trajectories; those that were left are refused."""
        for number in np.flatnonzero(label_members("", given, list(self.number), what="terminal")).tolist():
            if number in self._seen:
                state = list(self.number)[number]
                raise ModelError(
                    f"terminal: the state {state!r} was left, so it is not terminal; leave it out, or correct the row"
                )
            self._told.add(number)

    @property
    def ending(self) -> NDArray[np.bool_]:
        """Which states were never left, and are said to be terminal, or every step into them was the last, shape (S,)."""
        return self._among((self._ended - self._open | self._told) - self._seen.keys())

    @property
    def terminal(self) -> NDArray[np.bool_]:
        """Which of these are terminal, shape (S,): those that somebody said are, and where ends are believed, all."""
        return self.ending & (self._among(self._told) | self.believed)

    @property
    def unexplored(self) -> NDArray[np.bool_]:
        """Which states were never left, though nothing says that they are terminal, shape (S,)."""
        return ~self._among(self._seen) & ~self.terminal

    def _among(self, numbers: Collection[int]) -> NDArray[np.bool_]:
        return np.array([s in numbers for s in range(len(self.number))], dtype=np.bool_)

    def graph(
        self,
        initial: Hashable,
        *,
        labels: Mapping[str, LabelOf | NDArray[np.bool_]] | None = None,
        rewards: Mapping[str, Rewards] | None = None,
        names: Callable[[Any], str] = str,
        rest: bool = True,
    ) -> Graph:
        """Return the graph; labels are arrays over the observed states, functions of a state or collections of states."""
        states, named = list(self.number), [names(state) for state in self.number]
        if initial not in self.number:
            weights = isinstance(initial, str) and re.fullmatch(r".+:\s*[\d.]+(\s*,.+:\s*[\d.]+)*", initial)
            if weights:
                raise ModelError(
                    f"initial is one state, not {initial!r}: weights cannot be given. With observed, how often trajectories "
                    "begin in which state is learned from the log"
                )
            raise ModelError(f"the initial state {initial!r} was not observed; {_nearest(initial, states)}")
        marked = {name: label_members(name, given, states) for name, given in (labels or {}).items()}
        if rest:
            if REST in marked or REST in named:
                raise ModelError(
                    f'"{REST}" is the name of what was not observed; rename the label or state, or say rest=False'
                )
            marked = {name: np.append(members, False) for name, members in marked.items()}
            marked[REST] = np.arange(len(states) + 1) == len(states)
            named.append(REST)
        rows = self._rows(rest)
        sizes = [len(outcomes) for choices in rows for outcomes in choices.values()]
        return Graph(
            np.cumsum([0, *map(len, rows)]),
            np.cumsum([0, *sizes]),
            np.array([t for choices in rows for outcomes in choices.values() for t in outcomes], dtype=np.int32),
            initial=self.number[initial],
            labels=marked,
            rewards=rewards or {},
            actions=[str(action) for choices in rows for action in choices],
            state_names=named,
        )

    def transitions(self, *, rest: bool = True) -> list[list[Transition]]:
        """Return the transitions of every choice of the graph."""
        states: list[Any] = [*self.number, None]
        return [
            [Transition(states[s], action if s in self._seen else None, states[t], r) for t, r in outcomes.items()]
            for s, choices in enumerate(self._rows(rest))
            for action, outcomes in choices.items()
        ]

    def _rows(self, rest: bool) -> list[dict[Hashable, dict[int, float]]]:
        """Return, for every state, the outcomes of its choices and their rewards."""
        beyond, terminal = len(self.number), self.terminal
        rows: list[dict[Hashable, dict[int, float]]] = []
        for s in range(beyond):
            if s in self._seen:
                more = {beyond: 0.0} if rest else {}
                rows.append({action: outcomes | more for action, outcomes in self._seen[s].items()})
            else:
                rows.append({UNKNOWN: {beyond: 0.0}} if rest and not terminal[s] else {STAY: {s: 0.0}})
        return [*rows, {STAY: {beyond: 0.0}}] if rest else rows


def label_members(
    name: str, given: LabelOf | NDArray[np.bool_], states: Sequence[Any], *, what: str = "label"
) -> NDArray[np.bool_]:
    """Return which of some states a label marks, shape (S,); a state that is not one of them is an error.

    A name with ``*``, ``?`` or ``[`` that is not a state's is a pattern, as for files.

    Examples
    --------
    >>> label_members("goal", ["b"], ["a", "b"])
    array([False,  True])
    >>> label_members("goal", ["b*"], ["a", "b1", "b2"])
    array([False,  True,  True])
    >>> label_members("goal", ["hoem"], ["street", "home"])
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: label "goal": there is no state 'hoem'; the nearest is 'home'
    """
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        return given
    if callable(given):
        return np.array([bool(given(state)) for state in states], dtype=np.bool_)
    if isinstance(given, str):
        raise ModelError(f'label "{name}" is {given!r}; give a list of states, such as [{given!r}], or a function')
    place = f'{what} "{name}"' if name else what
    wanted, present = set(given), set(states)
    for state in given:
        if state in present:
            continue
        found: list[Any] = []
        if isinstance(state, str) and any(sign in state for sign in WILD):
            found = [each for each in states if fnmatch.fnmatchcase(str(each), state)]
            if not found:
                raise ModelError(f"{place}: no state fits the pattern {state!r}; {_nearest(state, states)}")
        if not found:
            raise ModelError(f"{place}: there is no state {state!r}; {_nearest(state, states)}")
        wanted.update(found)
    return np.array([state in wanted for state in states], dtype=np.bool_)


def _nearest(given: Any, states: Sequence[Any]) -> str:
    names = {str(state): state for state in states}
    close = difflib.get_close_matches(str(given), list(names)[:100_000], 1, 0.5)
    if close:
        return f"the nearest is {names[close[0]]!r}"
    return f"some of the states are {', '.join(map(repr, list(names.values())[:5]))}"
