"""Tying: choices that are known to share one distribution over outcomes, such as the same command in many places."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model.process import REST, Graph
from umdp.model.structure import frozen, held, owned, owner

__all__ = ["Outcome", "StateName", "Tie", "Tying"]

Ints = NDArray[np.int64]
Tie = Callable[..., Any]
Outcome = Callable[[str, str, str], Any]
Row = dict[str, int]  # the outcomes of a choice, and the transition along which each of them leads


class StateName(str):
    """A state's name, which also has the values of its variables as attributes.

    Examples
    --------
    >>> from umdp import benchmark
    >>> name = StateName.of(benchmark.grid(), 13)
    >>> name, name.x, name.y
    ('(3,1)', 3, 1)
    """

    @classmethod
    def of(cls, graph: Graph, state: int) -> StateName:
        """Return the name of a state of a graph."""
        place = cls(graph.state_name(state))
        for name, values in graph.variables.items():
            setattr(place, name, values[state].item())
        return place


@dataclass(frozen=True, eq=False, repr=False)
class Tying:
    """Classes of choices that share one distribution over outcomes.

    Every choice belongs to one class; those that are not tied have one of their own, and their transitions are its outcomes.
    Where several outcomes lead to the same successor, as at a wall, nobody can tell which of them it was: such choices feed
    what they tell apart, the `Events`, and no more. A class in which no choice tells all outcomes apart is divided into
    classes of choices that tell the same ones apart.

    Attributes
    ----------
    graph : the graph
    names : (K,) of the classes
    outcome_ptr : (K+1,) class k has the outcomes ``outcome_ptr[k] .. outcome_ptr[k+1]``
    outcome_names : (O,)
    choice_class : (C,) the class of every choice
    transition_ptr : (T+1,) and `transition_outcome`: the outcomes that lead along each transition
    feeds : (C,) whether every outcome of a choice has a successor of its own

    Examples
    --------
    Two coins that are alike; the second is tossed where both sides lead to the same.

    >>> graph = Graph([0, 1, 2, 3, 4], [0, 2, 3, 4, 5], [1, 2, 3, 3, 3], actions=["toss", "toss", "go", "stay"])
    >>> def coin(state, action, successor):
    ...     if action == "toss":
    ...         return "coin", ["heads", "tails"] if state == "1" else {"1": "heads", "2": "tails"}[successor]
    >>> tying = Tying.of(graph, coin)
    >>> tying
    Tying of 4 choices: 1 class of several (coin: 2 choices, 2 outcomes), 2 choices alone
    >>> tying.feeds.tolist()
    [True, False, True, True]
    """

    graph: Graph
    names: tuple[str, ...]
    outcome_ptr: Ints
    outcome_names: tuple[str, ...]
    choice_class: Ints
    transition_ptr: Ints
    transition_outcome: Ints

    def __post_init__(self) -> None:
        for name in ("outcome_ptr", "choice_class", "transition_ptr", "transition_outcome"):
            object.__setattr__(self, name, owned(np.asarray(getattr(self, name))))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: frozen(value) for name, value in state.items()})

    @classmethod
    def of(cls, graph: Graph, tie: Tie, outcome: Outcome | None = None) -> Tying:
        """Return the classes that functions describe; they are given names, of states with their variables as attributes.

        Parameters
        ----------
        graph : Graph
        tie : function of (state, action)
            Returns the name of the class of a choice, or None where it is not tied. Without `outcome` it is a function of
            (state, action, successor) that returns both: ``(class, outcome)``, or None.
        outcome : function of (state, action, successor)
            Returns the name of the outcome that leads there, or several where several do.
        """
        if graph.rest is not None:
            raise ModelError(
                "choices can be tied where a graph lists all that can happen; this one was observed, and has the outcome "
                f'"{REST}"; give the graph of the process'
            )
        places = [StateName.of(graph, state) for state in range(graph.states)]
        rows: dict[int, Row] = {}
        classes: dict[str, list[int]] = {}
        for choice in range(graph.choices):
            found = _row(graph, places, choice, tie, outcome)
            if found is not None:
                rows[choice] = found[1]
                classes.setdefault(found[0], []).append(choice)
        groups: list[tuple[str, list[int]]] = []
        for name, members in classes.items():
            _check_outcomes(graph, name, members, rows)
            groups += _divided(name, members, rows)
        return cls._assembled(graph.graph, groups, rows)

    @classmethod
    def _assembled(cls, graph: Graph, groups: list[tuple[str, list[int]]], rows: dict[int, Row]) -> Tying:
        tied = {choice for _, members in groups for choice in members}
        names: list[str] = []
        outcomes: list[str] = []
        pointers = [0]
        choice_class = np.empty(graph.choices, np.int64)
        along: list[list[int]] = [[] for _ in range(graph.transitions)]
        for name, members in groups:
            begin = len(outcomes)
            listed = list(rows[members[0]])
            for choice in members:
                choice_class[choice] = len(names)
                for place, each in enumerate(listed):
                    along[rows[choice][each]].append(begin + place)
            outcomes += listed
            names.append(name)
            pointers.append(len(outcomes))
        for choice in (each for each in range(graph.choices) if each not in tied):
            choice_class[choice] = len(names)
            for t in range(int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1])):
                along[t].append(len(outcomes))
                outcomes.append(graph.state_name(int(graph.successor[t])))
            names.append(f"{graph.state_name(int(graph.choice_state[choice]))}, {graph.action_name(choice)}")
            pointers.append(len(outcomes))
        sizes = np.array([len(each) for each in along], np.int64)
        return cls(
            graph, tuple(names), held(np.array(pointers, np.int64)), tuple(outcomes), held(choice_class),
            held(np.concatenate(([0], np.cumsum(sizes)))),
            held(np.array([each for some in along for each in some], np.int64)),
        )  # fmt: skip

    @classmethod
    def untied(cls, graph: Graph) -> Tying:
        """Return the classes of choices of which none is like another: each has its own."""
        return cls._assembled(graph, [], {})

    @property
    def classes(self) -> int:
        """The number of classes, choices alone included."""
        return len(self.names)

    @property
    def outcomes(self) -> int:
        """The number of outcomes of all classes."""
        return len(self.outcome_names)

    @cached_property
    def feeds(self) -> NDArray[np.bool_]:
        """Whether every outcome of a choice has a successor of its own, so that its counts are those of its class, (C,)."""
        return held(np.diff(self.outcome_ptr)[self.choice_class] == np.diff(self.graph.choice_ptr))

    @cached_property
    def fed(self) -> NDArray[np.bool_]:
        """Transitions of choices that feed their class, (T,)."""
        return held(np.repeat(self.feeds, np.diff(self.graph.choice_ptr)))

    @cached_property
    def sizes(self) -> Ints:
        """The number of choices of every class, (K,)."""
        return held(np.bincount(self.choice_class, minlength=self.classes))

    def pool(self, counts: NDArray[np.int64]) -> Ints:
        """Return how often each outcome (O,) was seen, from counts of transitions (T,), where it could be told."""
        pooled = np.zeros(self.outcomes, np.int64)
        fed = np.flatnonzero(self.fed & (counts > 0))
        np.add.at(pooled, self.transition_outcome[self.transition_ptr[fed]], counts[fed])
        return pooled

    def along(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sums of values of outcomes (O,) over those that lead along each transition, (T,)."""
        return np.add.reduceat(values[self.transition_outcome], self.transition_ptr[:-1])

    @cached_property
    def class_graph(self) -> Graph:
        """A graph with one choice for each class, and one transition for each of its outcomes.

        Its states mean nothing: what a learner needs of a graph is which transitions belong to one choice.
        """
        sizes, rest = np.diff(self.outcome_ptr), self.graph.rest
        states = int(max(self.classes, sizes.max(initial=1))) + (rest is not None)
        spare = states - self.classes
        place = np.arange(self.outcomes) - self.outcome_ptr[owner(self.outcome_ptr)]
        if rest is not None:  # what nobody has listed is that of classes, too
            place[self.transition_outcome[self.transition_ptr[:-1][self.graph.successor == rest]]] = states - 1
        return Graph(
            np.arange(states + 1),
            np.concatenate((self.outcome_ptr, self.outcomes + 1 + np.arange(spare))),
            np.concatenate((place, np.arange(self.classes, states))),
            actions=["outcome"] * states,
            state_names=[*self.names, *(f"({number})" for number in range(spare))],
            labels={} if rest is None else {REST: np.arange(states) == states - 1},
        )

    def __repr__(self) -> str:
        several = np.flatnonzero(self.sizes > 1)
        shown = "; ".join(
            f"{self.names[k]}: {self.sizes[k]} choices, {int(np.diff(self.outcome_ptr)[k])} outcomes"
            for k in several[:4]
        )
        more = f"; {several.size - 4} more" if several.size > 4 else ""
        noun = "class" if several.size == 1 else "classes"
        alone = self.classes - several.size
        return (
            f"Tying of {self.graph.choices} choices: {several.size} {noun} of several ({shown}{more}), "
            f"{alone} {'choice' if alone == 1 else 'choices'} alone"
        )


def _row(
    graph: Graph, places: list[StateName], choice: int, tie: Tie, outcome: Outcome | None
) -> tuple[str, Row] | None:
    """Return the class of a choice and along which transition each of its outcomes leads; None where it is not tied."""
    state, action = places[int(graph.choice_state[choice])], graph.action_name(choice)
    where = f"state {state}, action {action}"
    own = range(int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1]))
    successors = [places[int(graph.successor[t])] for t in own]
    if outcome is None:
        pairs = [_called(tie, where, state, action, successor) for successor in successors]
        if all(pair is None for pair in pairs):
            return None
        for pair in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ModelError(
                    f"{where}: tie returned {pair!r} for one successor; for each it must return a class and an outcome, or None"
                )
        named = {str(pair[0]) for pair in pairs}
        if len(named) > 1:
            raise ModelError(f"{where}: tie names the classes {' and '.join(sorted(named))}; a choice is in one class")
        name, given = named.pop(), [pair[1] for pair in pairs]
    else:
        found = _called(tie, where, state, action)
        if found is None:
            return None
        name, given = str(found), [_called(outcome, where, state, action, successor) for successor in successors]
    row: Row = {}
    for t, successor, some in zip(own, successors, given, strict=True):
        for each in [some] if isinstance(some, str) or not isinstance(some, Iterable) else list(some):
            if each is None:
                raise ModelError(f"{where}: the outcome that leads to {successor} has no name; give it one")
            if str(each) in row:
                raise ModelError(f"{where}: the outcome {each} leads to two successors; it must lead to one")
            row[str(each)] = t
        if t not in row.values():
            raise ModelError(f"{where}: no outcome leads to {successor}; name the one that does")
    return name, row


def _called(function: Callable[..., Any], where: str, *names: str) -> Any:
    try:
        return function(*names)
    except ModelError:
        raise
    except Exception as error:
        called = getattr(function, "__name__", "the function")
        raise ModelError(f"{where}: {called}{names} fails: {type(error).__name__}: {error}") from error


def _check_outcomes(graph: Graph, name: str, members: list[int], rows: dict[int, Row]) -> None:
    """Refuse a class whose choices have different outcomes."""
    first = members[0]
    for choice in members[1:]:
        if set(rows[choice]) != set(rows[first]):
            missing = sorted(set(rows[choice]) ^ set(rows[first]))[0]
            with_it, without = (choice, first) if missing in rows[choice] else (first, choice)
            raise ModelError(
                f"class {name}: the outcome {missing} is listed in {_place(graph, with_it)}, not in {_place(graph, without)}; "
                "choices that are tied have the same outcomes, and where several lead to one successor all are named there"
            )


def _place(graph: Graph, choice: int) -> str:
    return f"state {graph.state_name(int(graph.choice_state[choice]))}, action {graph.action_name(choice)}"


def _divided(name: str, members: list[int], rows: dict[int, Row]) -> list[tuple[str, list[int]]]:
    """Return a class as it is, if some choice tells all of its outcomes apart; otherwise by what choices tell apart."""
    if any(len(set(rows[choice].values())) == len(rows[choice]) for choice in members):
        return [(name, members)]
    found: dict[frozenset[str], list[int]] = {}
    for choice in members:
        together: dict[int, list[str]] = {}
        for each, t in rows[choice].items():
            together.setdefault(t, []).append(each)
        rows[choice] = {" or ".join(sorted(some)): t for t, some in together.items()}
        found.setdefault(frozenset(rows[choice]), []).append(choice)
    return [(f"{name}, {' | '.join(sorted(parts))}", some) for parts, some in found.items()]
