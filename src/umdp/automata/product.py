"""Products: a model that carries the state of an automaton along, built as far as it can be reached, and its ties."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.automata.labelled_automaton import LabelledAutomaton
from umdp.errors import ModelError
from umdp.model import MDP, REST, Graph, IntervalMDP, Rewards
from umdp.model.structure import owner
from umdp.model.tying import Tying
from umdp.spec import Spec

__all__ = ["ACCEPTING", "Product", "Skeleton", "carried", "multiply", "product_of", "product_ties"]

Array = NDArray[Any]
ACCEPTING = "accepting"
"""The label of the states of a product in which the agent can surely have its automaton accept."""
JUMP = "change memory"
NAMED = 100_000  # states up to which each has a name of its own
DENSE = 2**26  # pairs of states for which a table is kept; its pages cost nothing until they are used


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The arrays of a product, before anyone knows which of its states accept.

    Attributes
    ----------
    base : the model
    reading : the automaton and what it reads
    state, memory : (P,) the state of the model and of the automaton
    origin : (C,) the choice of the model that each choice stands for, -1 for jumps of the automaton
    state_ptr, choice_ptr, successor, numbers : as in a model
    """

    base: MDP | IntervalMDP
    reading: LabelledAutomaton
    state: NDArray[np.int32]
    memory: NDArray[np.int32]
    origin: NDArray[np.int64]
    state_ptr: NDArray[np.int64]
    choice_ptr: NDArray[np.int64]
    successor: NDArray[np.int32]
    numbers: tuple[NDArray[np.float64], ...]


def multiply(model: MDP | IntervalMDP, reading: LabelledAutomaton) -> Skeleton:
    """Return the product of a model and an automaton, as far as it can be reached from the initial state.

    A state of the model with a state of the automaton goes where the model goes, with the same bounds, and reads the letter of
    where it arrives. A jump of the automaton is a choice of one transition, to the same state of the model.
    """
    from umdp.automata.product_kernels import Machine, Moves, explore, fill

    automaton, code = reading.automaton, reading.code
    jump_ptr = np.concatenate([[0], np.cumsum([len(each) for each in automaton.jumps])]).astype(np.int64)
    jump_to = np.array([jump for each in automaton.jumps for jump in each], dtype=np.int32)
    memory = int(automaton.step[automaton.initial, code[model.initial]])
    every = automaton.states * model.states
    dense = np.zeros(every if every <= DENSE else 0, dtype=np.int32)
    moves = Moves(model.state_ptr, model.choice_ptr, model.successor, reading.along(model.successor))
    machine = Machine(automaton.step, jump_ptr, jump_to, automaton.sinks)
    state, memories, successor = explore(moves, machine, model.initial, memory, dense)
    lower, upper = (*model.numbers, np.empty(0))[:2]
    state_ptr, choice_ptr, origin, *numbers = fill(moves, machine, lower, upper, state, memories, successor.size)
    return Skeleton(
        model, reading, state, memories, origin, state_ptr, choice_ptr, successor, tuple(numbers[: len(model.numbers)])
    )


def _naming(skeleton: Skeleton) -> dict[str, Any]:
    """Return names and variables of a product's states: those of the model, and the memory."""
    base, state, memory = skeleton.base, skeleton.state, skeleton.memory
    variables = {name: values[state] for name, values in base.variables.items()} or {"state": state}
    own = "memory" if "memory" not in variables else "automaton"
    names = None
    if base.state_names is not None and state.size <= NAMED:
        names = [f"{base.state_names[s]}, memory {q}" for s, q in zip(state.tolist(), memory.tolist(), strict=True)]
    return {"variables": {**variables, own: memory}, "state_names": names}


def carried(skeleton: Skeleton, rewards: Rewards) -> Rewards:
    """Return what a reward of the model pays in the product; where the automaton rests, nothing."""
    base, origin = skeleton.base, np.maximum(skeleton.origin, 0)
    rests = skeleton.reading.automaton.sinks[skeleton.memory]
    moves = (skeleton.origin >= 0) & ~rests[owner(skeleton.state_ptr)]
    row = owner(skeleton.choice_ptr)
    source = np.where(moves, base.choice_ptr[origin] - skeleton.choice_ptr[:-1], 0)[row] + np.arange(row.size)
    state, choice, transition = rewards.state, rewards.choice, rewards.transition
    if state is not None:
        state = np.where(rests, 0.0, state[skeleton.state])
    if choice is not None:
        choice = np.where(moves, choice[origin], 0.0)
    if transition is not None:
        transition = np.where(moves[row], transition[np.where(moves[row], source, 0)], 0.0)
    return Rewards(state, choice, transition, units=rewards.units)


@dataclass(frozen=True, eq=False)
class Product:
    """A model that remembers what matters of the past: states of the model with states of an automaton.

    Attributes
    ----------
    asked : the property that was asked of the model
    spec : the same as a property of the product: to reach, or to avoid, the states labelled "accepting"
    model : the product, an `MDP` or `IntervalMDP`
    base : the graph of the model
    reading : the automaton and what it reads in each state of the model
    state, memory : (P,) the state of the model and of the automaton in each state of the product
    origin : (C,) the choice of the model that each choice of the product stands for, -1 where the memory changes alone
    stay : (P,) in accepting states the choice by which the automaton accepts, -1 elsewhere
    witness : what the judge is shown of the accepting states (`umdp.solver.judge.lift`): pairs (P,) and ranks (P,) of those
        inside, levels (K, P) of those outside; None where there is no such thing, or it is not kept
    """

    asked: Spec
    spec: Spec
    model: MDP | IntervalMDP
    base: Graph
    reading: LabelledAutomaton
    state: NDArray[np.int32]
    memory: NDArray[np.int32]
    origin: NDArray[np.int64]
    stay: NDArray[np.int64]
    witness: tuple[Array, Array, Array] | None = field(default=None, repr=False)

    @staticmethod
    def of(
        skeleton: Skeleton,
        asked: Spec,
        spec: Spec,
        accepting: NDArray[np.bool_],
        stay: Array,
        rewards: dict[str, Rewards] | None = None,
        witness: tuple[Array, Array, Array] | None = None,
    ) -> Product:
        """Return the product in which it is known where the automaton accepts, and how to stay there."""
        base = skeleton.base
        jumps = skeleton.origin < 0
        codes, names = base.action_codes, base.action_names
        if codes is None:  # numbers within a state
            within = np.arange(base.choices) - base.state_ptr[base.choice_state]
            names = tuple(map(str, range(int(within.max()) + 1)))
            codes = within.astype(np.int32)
        shown = np.where(jumps, len(names), codes[np.maximum(skeleton.origin, 0)]).astype(np.int32)
        if jumps.any():
            names = (*names, JUMP)
        labels = {ACCEPTING: accepting}
        if skeleton.reading.rest is not None:
            labels[REST] = skeleton.state == skeleton.reading.rest
        rows = skeleton.state_ptr, skeleton.choice_ptr, skeleton.successor
        more = {"labels": labels, "actions": (shown, names), "rewards": rewards or {}, **_naming(skeleton)}
        graph = Graph(*rows, **more)
        model: MDP | IntervalMDP
        if graph.transitions != skeleton.successor.size:  # successors that only a reward had kept apart
            model = type(base)(*rows, *skeleton.numbers, **more)
        elif isinstance(base, MDP):
            model = graph.with_probability(*skeleton.numbers)
        else:
            model = graph.with_trusted(*skeleton.numbers)
        return Product(
            asked, spec, model, base.graph, skeleton.reading, skeleton.state, skeleton.memory, skeleton.origin,
            np.asarray(stay), witness,
        )  # fmt: skip

    @cached_property
    def along(self) -> NDArray[np.int64]:
        """The transition of the model that each transition of the product stands for, (T,); -1 where only the memory changes.

        Where the memory will never change again the product stays where it is, whatever the model does: -1, too.
        """
        graph, base, origin = self.model, self.base, np.maximum(self.origin, 0)
        sizes = np.diff(graph.choice_ptr)
        moves = (self.origin >= 0) & ~self.reading.automaton.sinks[self.memory][graph.choice_state]
        if (sizes != np.diff(base.choice_ptr)[origin])[moves].any():
            raise ModelError(
                "a choice of the model leads to one state by several transitions, which only a reward tells apart: give the "
                "model without that reward"
            )
        within = np.arange(graph.transitions) - np.repeat(graph.choice_ptr[:-1], sizes)
        found: NDArray[np.int64] = np.where(
            np.repeat(moves, sizes), np.repeat(base.choice_ptr[origin], sizes) + within, -1
        )
        return found

    def of_process(self, model: IntervalMDP) -> IntervalMDP:
        """Return the process's own model, from a model with the graph of this product; of what it does not have, anything."""
        own = self.base.with_any()
        lower, upper = own.lower.copy(), own.upper.copy()
        known = self.along >= 0
        lower[self.along[known]], upper[self.along[known]] = model.lower[known], model.upper[known]
        return self.base.with_bounds(lower, upper)

    @cached_property
    def _sorted(self) -> tuple[Array, Array]:
        key = self.state.astype(np.int64) * self.reading.automaton.states + self.memory
        order = np.argsort(key)
        return key[order], order

    def index(self, state: int, memory: int) -> int:
        """Return the number of a state of the product, -1 where it cannot be reached."""
        keys, order = self._sorted
        key = state * self.reading.automaton.states + memory
        at = int(np.searchsorted(keys, key))
        return int(order[at]) if at < keys.size and keys[at] == key else -1

    def first(self, state: int) -> int:
        """Return the memory of a run that begins in a state."""
        automaton = self.reading.automaton
        return int(automaton.step[automaton.initial, self.reading.code[state]])

    def next(self, memory: int, state: int, choice: int = -1) -> int:
        """Return the memory after going to a state, by a choice of the model where the automaton reads transitions."""
        reading = self.reading
        column = reading.code[state]
        if reading.arrival is not None:
            first, end = self.base.choice_ptr[choice], self.base.choice_ptr[choice + 1]
            columns = np.unique(reading.arrival[first:end][self.base.successor[first:end] == state])
            if choice < 0 or columns.size != 1:
                raise ModelError(
                    "what was earned on the way cannot be told from where it led, so that nobody can play along"
                )
            column = columns[0]
        return int(reading.automaton.step[memory, column])

    def name(self, memory: int) -> str:
        """Return what a memory stands for: what the run still has to do."""
        names = self.reading.names
        return names[memory] if names else str(memory)

    def __repr__(self) -> str:
        return f"Product of {self.base.states:,} states and {self.reading.automaton!r}: {self.model!r}"

    def attached(self) -> Product:
        """Return this product, which `product_of` finds from now on by the graph of its model."""
        self.model.graph.__dict__["_product"] = self
        return self


def product_of(graph: Graph) -> Product | None:
    """Return the product whose graph this is; None where none is known."""
    found: Product | None = graph.graph.__dict__.get("_product")
    return found


def product_ties(product: Product, tying: Tying | None = None) -> Tying:
    """Return the classes of a product's choices: one for each choice of the model, or for each class of those.

    Examples
    --------
    >>> from umdp import MDP, solve
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 0, 0], [0.5, 0.5, 1, 1], labels={"heads": [1], "tails": [2]})
    >>> product_ties(solve(coin, 'Pmax=? [ (F "heads") & (F "tails") ]').product)
    Tying of 7 choices: 1 class of several (0, 0: 3 choices, 2 outcomes), 4 choices alone
    """
    base, graph = product.base, product.model.graph
    if tying is None:
        tying = Tying.untied(base)
    elif not all(np.array_equal(getattr(tying.graph, n), getattr(base, n)) for n in ("choice_ptr", "successor")):
        raise ModelError("the classes are those of another graph; make them for the one that is learned")
    source = product.along  # jumps and sinks have one transition, which is no news
    moves = source[graph.choice_ptr[:-1]] >= 0
    used = np.unique(tying.choice_class[product.origin[moves]])
    sizes = np.diff(tying.outcome_ptr)
    number = np.full(tying.classes, -1, dtype=np.int64)
    number[used] = np.arange(used.size)
    begin = np.concatenate([[0], np.cumsum(sizes[used])]).astype(np.int64)
    kind = owner(tying.outcome_ptr)
    shift = begin[number[kind]] + np.arange(tying.outcomes) - tying.outcome_ptr[kind]  # where a class is used
    still = np.flatnonzero(~moves)
    choice_class = np.empty(graph.choices, dtype=np.int64)
    choice_class[moves] = number[tying.choice_class[product.origin[moves]]]
    choice_class[still] = used.size + np.arange(still.size)
    known = source >= 0
    counts = np.ones(graph.transitions, dtype=np.int64)
    counts[known] = np.diff(tying.transition_ptr)[source[known]]
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    along = np.empty(int(pointers[-1]), dtype=np.int64)
    along[pointers[:-1][~known]] = int(begin[-1]) + np.arange(int((~known).sum()))
    entry = np.repeat(np.arange(graph.transitions), counts)
    place = np.arange(along.size) - pointers[entry]
    of_known = known[entry]
    along[of_known] = shift[tying.transition_outcome[tying.transition_ptr[source[entry[of_known]]] + place[of_known]]]
    names = (*(tying.names[old] for old in used.tolist()), *(f"memory {choice}" for choice in still.tolist()))
    outcomes = [tying.outcome_names[k] for k in np.flatnonzero(np.isin(kind, used)).tolist()]
    outcome_ptr = np.concatenate([begin, begin[-1] + 1 + np.arange(still.size)])
    return Tying(graph, names, outcome_ptr, (*outcomes, *["stays"] * still.size), choice_class, pointers, along)
