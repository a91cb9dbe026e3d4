"""Decisions for the states of a graph: found by names, and by numbers where names are missing or shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError, ModelError
from umdp.model import REST, Graph, Policy

__all__ = ["UNDONE", "Decision", "Fitted", "decisions_of", "fit", "fit_policy", "starts_before"]

# What graphs made from data call a choice where there is nothing to decide: before an episode, after it, and where nobody knows.
ENTRY, RESET = "start", "reset"
NOBODYS = (RESET, "stay", "unknown")
UNDONE = (RESET, "begin", "unknown")  # those that no process takes


class Decision(msgspec.Struct, omit_defaults=True):
    """One line of a policy: in `state` (at `step`) take `action` with probability `weight`.

    `number` is the state's number and `choice` the number of the action within its state; they decide where names
    are missing or shared. In a policy with memory, `memory` is what is remembered, and `becomes` what it becomes when the action
    is taken; the letter of the next state changes it further.
    """

    state: str | None = None
    action: str | None = None
    number: int | None = None
    choice: int | None = None
    step: int | None = None
    weight: float = 1.0
    memory: int | None = None
    becomes: int | None = None


class Fitted(NamedTuple):
    """A policy for a graph, and the states (S,) in which it has no decision, though there is something to decide."""

    policy: Policy
    unknown: NDArray[np.bool_]


def decisions_of(policy: Policy) -> Iterator[Decision]:
    """Yield every decision of a policy, with names and numbers."""
    graph = policy.graph
    owner, first = graph.choice_state.tolist(), graph.state_ptr.tolist()
    names = [graph.state_name(s) for s in range(graph.states)]
    made: Iterable[tuple[int | None, int, float]]
    if policy.choice is None:
        made = ((None, choice, weight) for choice, weight in enumerate(policy.weights().tolist()) if weight > 0)
    else:
        rows = enumerate(np.atleast_2d(policy.choice).tolist())
        made = ((None if policy.steps is None else step, choice, 1.0) for step, row in rows for choice in row)
    for step, choice, weight in made:
        s = owner[choice]
        yield Decision(names[s], graph.action_name(choice), s, choice - first[s], step, weight)


def fit_policy(policy: Policy, graph: Graph, *, partly: bool = False) -> Fitted:
    """Return a policy for another graph with states and actions of the same names.

    States of data ("anything else", the one before an episode) need no counterpart, and states with one choice no decision. With
    `partly`, other states may be unknown to the policy, too.

    Raises
    ------
    ModelError
        If a state has no counterpart, or does not offer the action.

    Examples
    --------
    >>> small = Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], state_names=["a", "b"], actions=["wait", "go", "stay"])
    >>> other = Graph([0, 1, 3], [0, 1, 2, 3], [0, 0, 1], state_names=["b", "a"], actions=["stay", "go", "wait"])
    >>> fit_policy(Policy(small, [1, 2]), other).policy["a"]
    'go'
    """
    own = policy.graph
    if np.array_equal(own.state_ptr, graph.state_ptr) and _alike(own, graph):
        return Fitted(Policy(graph, policy.choice, weight=policy.weight), np.zeros(graph.states, dtype=np.bool_))
    placed = [("the policy", each) for each in decisions_of(policy)]
    try:
        return fit(placed, graph, policy.steps, policy.weight is not None, states=own.states, partly=partly)
    except FormatError as error:
        raise ModelError(str(error)) from None


def fit(
    placed: Iterable[tuple[str, Decision]],
    graph: Graph,
    steps: int | None,
    randomised: bool,
    path: object = None,
    *,
    states: int | None = None,
    partly: bool = False,
) -> Fitted:
    """Return the policy for a graph that decisions make, each with its place in the file `path`; `states` is for how many.

    Raises
    ------
    FormatError
        If a decision does not fit, or one is missing and not `partly` welcome.
    """
    placed, index = list(placed), _Index(graph, path)
    if randomised and steps is not None:
        raise FormatError("a policy cannot be both randomised and step-dependent", path=path)
    if states not in (None, graph.states) and all(each.state is None for _, each in placed):
        raise FormatError(f"the policy is for {states} states, but the model has {graph.states}", path=path)
    shift = _shift(placed, graph) if steps is not None else 0
    if steps is not None and steps + shift < 1:
        raise FormatError("the policy is for the reset alone, which this model does not have", path=path)
    kept = None if steps is None else steps + shift
    weight = np.zeros(graph.choices)
    chosen = np.full((kept or 1, graph.states), -1, dtype=np.int64)
    for place, decision in placed:
        state = index.state(decision, place, partly=partly, numbered=states in (None, graph.states))
        choice = -1 if state < 0 else index.choice(decision, state, place, partly=partly)
        step = (decision.step or 0) + shift
        if not shift <= step < (kept or 1):
            index.fail(place, f"step {decision.step or 0} is outside the policy's {steps or 1} steps")
        if choice < 0 or step < 0:
            continue
        if not randomised and chosen[step, state] >= 0 and decision.weight > 0:
            index.fail(place, f"state {graph.state_name(state)} has a second decision at step {step}")
        chosen[step, state] = choice
        weight[choice] += decision.weight
    if shift > 0:
        chosen[0] = chosen[1]  # the reset is all that happens then
    alone = np.flatnonzero((np.diff(graph.state_ptr) == 1) & (weight[graph.state_ptr[:-1]] == 0))
    chosen[:, alone] = graph.state_ptr[alone]
    weight[graph.state_ptr[alone]] = 1.0
    unknown: NDArray[np.bool_] = np.logical_or.reduce(chosen < 0, axis=0)
    if unknown.any() and not partly:
        step, state = (int(i) for i in np.argwhere(chosen < 0)[0])
        at = "" if kept is None else f" at step {step}"
        count = int(np.count_nonzero(chosen < 0))
        raise FormatError(f"state {graph.state_name(state)} has no decision{at} ({count} missing)", path=path)
    missing = np.flatnonzero(unknown)
    chosen[:, missing] = graph.state_ptr[missing]
    weight[graph.state_ptr[missing]] = 1.0
    try:
        if randomised:
            return Fitted(Policy(graph, weight=weight), unknown)
        return Fitted(Policy(graph, chosen if kept is not None else chosen[0]), unknown)
    except ModelError as error:
        raise FormatError(str(error), path=path) from None


class _Index:
    """Finds states and choices by name, or by number where names are missing or shared."""

    def __init__(self, graph: Graph, path: object) -> None:
        self.graph, self.path = graph, path
        names = [graph.state_name(s) for s in range(graph.states)]
        shared = Counter(names)
        self.index = {name: s for s, name in enumerate(names) if shared[name] == 1}
        self.shared = {name for name, count in shared.items() if count > 1}
        self.named = _named(graph)

    def fail(self, place: str, message: str) -> NoReturn:
        raise FormatError(f"{place}: {message}", path=self.path)

    def state(self, decision: Decision, place: str, *, partly: bool, numbered: bool) -> int:
        """Return the state of a decision; -1 where it is one that needs no counterpart."""
        if decision.state is not None and decision.state in self.index:
            return self.index[decision.state]
        known = decision.number is not None and 0 <= decision.number < self.graph.states
        if (
            decision.state is not None
            and decision.state not in self.shared
            and not (known and numbered and not self.named)
        ):
            if partly or decision.state == REST or (decision.state, decision.action) == (ENTRY, RESET):
                return -1
            shown = next(iter(self.index), "0")
            self.fail(place, f'there is no state "{decision.state}"; one of the names is "{shown}"')
        if decision.number is None or not known:
            self.fail(place, f"the state needs a number from 0 to {self.graph.states - 1}")
        return decision.number

    def choice(self, decision: Decision, state: int, place: str, *, partly: bool) -> int:
        """Return the choice of a decision; -1 where none was made."""
        own = range(int(self.graph.state_ptr[state]), int(self.graph.state_ptr[state + 1]))
        named = [c for c in own if decision.action is not None and self.graph.action_name(c) == decision.action]
        if len(named) == 1:
            return named[0]
        numbered = own[decision.choice] if decision.choice is not None and 0 <= decision.choice < len(own) else None
        if numbered is not None and (decision.action is None or numbered in named):
            return numbered
        idle = partly and len(own) == 1 and self.graph.action_name(own[0]) in NOBODYS
        if idle or (decision.action in NOBODYS and not named):
            return -1
        name = self.graph.state_name(state)
        if named:
            self.fail(place, f'state {name} has {len(named)} actions "{decision.action}"; add the choice')
        offered = ", ".join(self.graph.action_name(c) or f"(unnamed, choice {c - own[0]})" for c in own)
        wanted = f'"{decision.action}"' if decision.action is not None else f"number {decision.choice}"
        return self.fail(place, f"state {name} has no action {wanted}; it offers {offered}")


def _shift(placed: Iterable[tuple[str, Decision]], graph: Graph) -> int:
    """Return how many steps later the same decision is made: one state may be before an episode, with the reset as a step."""
    theirs = any((each.state, each.action) == (ENTRY, RESET) for _, each in placed)
    first, last = int(graph.state_ptr[graph.initial]), int(graph.state_ptr[graph.initial + 1])
    here = last - first == 1 and (graph.state_name(graph.initial), graph.action_name(first)) == (ENTRY, RESET)
    return int(here) - int(theirs)


def starts_before(graph: Graph) -> bool:
    """Whether the initial state is one before the process starts, so that its first step is none of the process."""
    first, last = int(graph.state_ptr[graph.initial]), int(graph.state_ptr[graph.initial + 1])
    return last - first == 1 and graph.action_name(first) in UNDONE


def _named(graph: Graph) -> bool:
    """Whether states have names that are more than their numbers."""
    return any(graph.state_name(s) != str(s) for s in range(graph.states))


def _alike(one: Graph, other: Graph) -> bool:
    """Whether states and choices, of which there are as many, have the same names in the same order, where both have names."""
    if _named(one) and _named(other) and any(one.state_name(s) != other.state_name(s) for s in range(one.states)):
        return False
    if one.actions is None or other.actions is None:
        return True
    return all(one.action_name(c) == other.action_name(c) for c in range(one.choices))
