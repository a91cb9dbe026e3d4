"""Parametric Markov decision processes: a graph, and every probability a function of unknown parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.model import MDP, Graph, IntervalMDP
from umdp.model.structure import frozen, held, owned, owner
from umdp.model.tying import Tying
from umdp.parametric.contraction import constrained, contract
from umdp.parametric.function import Function, Polynomial
from umdp.parametric.ranges import above, below, ends_of
from umdp.parametric.tabulated import Tables

__all__ = ["ParametricMDP"]

Floats = NDArray[np.float64]
SHOWN = 4  # functions of a class in its name


@dataclass(frozen=True, eq=False, repr=False)
class ParametricMDP:
    """A graph whose probabilities are known functions of unknown parameters; `umdp.read_parametric` reads one from a program.

    The graph is the same for all values: every listed transition has a positive probability at the true ones.

    Attributes
    ----------
    graph : the graph
    names : (K,) of the parameters
    functions : (F,) the different functions
    function_of : (T,) which of them is the probability of each transition
    lower, upper : (K,) the box in which the parameters lie: what was given, less what makes something no probability
    origin : where it is from, in messages

    Examples
    --------
    A coin whose bias is not known, tossed until it shows heads.

    >>> from umdp.parametric.function import Polynomial
    >>> p, one = Polynomial.parameter(0, 1), Polynomial.constant(1, 1)
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"heads": [1]})
    >>> coin = ParametricMDP.of(graph, ["p"], [Function.of(one - p), Function.of(p), Function.of(one)])
    >>> coin
    ParametricMDP with 2 states, 2 choices, 3 transitions; p in [0, 1]; classes 1 - p | p, 1
    >>> coin.at(p=0.75).probability
    array([0.25, 0.75, 1.  ])
    >>> coin.within([0.5], [0.75]).lower
    array([0.25, 0.5 , 1.  ])
    """

    graph: Graph
    names: tuple[str, ...]
    functions: tuple[Function, ...]
    function_of: NDArray[np.int64]
    lower: Floats
    upper: Floats
    origin: str = "the program"

    def __post_init__(self) -> None:
        for name in ("function_of", "lower", "upper"):
            object.__setattr__(self, name, owned(np.asarray(getattr(self, name))))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: frozen(value) for name, value in state.items()})

    @classmethod
    def of(
        cls,
        graph: Graph,
        names: Sequence[str],
        functions: Sequence[Function],
        prior: Mapping[str, tuple[float, float]] | None = None,
        origin: str = "the program",
    ) -> ParametricMDP:
        """Return the model with a function for each transition, (T,), in the order of the graph.

        Parameters
        ----------
        graph : Graph
        names : of the parameters, in the order of the functions' own
        functions : one for each transition
        prior : optional
            Ends of parameters; [0, 1] unless given.
        origin : str
        """
        if len(functions) != graph.transitions:
            raise ModelError(f"there are {graph.transitions} transitions, but {len(functions)} functions")
        index: dict[Function, int] = {}
        which = np.array([index.setdefault(each, len(index)) for each in functions], np.int64)
        _check_sums(graph, list(index), which, names)
        ends = [(prior or {}).get(name, (0.0, 1.0)) for name in names]
        box = np.array([low for low, _ in ends], np.float64), np.array([high for _, high in ends], np.float64)
        asked = constrained(box, *((each, 0.0, 1.0) for each in index if not each.is_constant))
        found = contract(box, asked)
        if found.box is None:
            culprit = asked.function(found.culprit or 0).text(names)
            raise ModelError(f"{culprit} is no probability anywhere in the box of the parameters; give another box")
        lower, upper = map(held, found.box)
        return cls(graph.graph, tuple(names), tuple(index), held(which), lower, upper, origin)

    # -- at values, and over boxes ---------------------------------------------------------------------------

    def at(self, values: Mapping[str, float] | None = None, **more: float) -> MDP:
        """Return the process for values of all parameters.

        Raises
        ------
        ModelError
            If a value is missing, lies outside of the box, or makes a listed transition impossible.
        """
        point = self.point({**(values or {}), **more})
        numbers = [each.at(point) for each in self.functions]
        for number, function in enumerate(self.functions):
            if not 0 < numbers[number] <= 1:
                raise ModelError(
                    f"{self._values(point)}: {self._place(number)} has the probability {float(numbers[number]):g} "
                    f"({function.text(self.names)}); what the graph lists must be possible, so give values inside the box"
                )
        return self.graph.with_probability(np.array([float(each) for each in numbers])[self.function_of])

    def point(self, values: Mapping[str, float]) -> list[Fraction]:
        """Return values of all parameters in their order, checked."""
        for name in values:
            if name not in self.names:
                raise ModelError(f"there is no parameter {name}; there are {', '.join(self.names)}")
        missing = [name for name in self.names if name not in values]
        if missing:
            shown = ",".join(f"{name}=VALUE" for name in missing)
            raise ModelError(f"the parameter {missing[0]} has no value; give {shown}")
        point = [Fraction(float(values[name])) for name in self.names]
        for name, value, low, high in zip(self.names, point, self.lower, self.upper, strict=True):
            if not low <= value <= high:
                raise ModelError(f"{name} = {float(value):g} lies outside of its box, {low:g} to {high:g}")
        return point

    def ranges(self, lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
        """Return bounds (F,) on every function over a box, rounded outwards; a probability is in [0, 1] anyhow."""
        fixed, (least, most) = self.numbers, self.tables.bounds(lower, upper)
        return (
            np.where(self.known, fixed[0], np.clip(least, 0.0, 1.0)),
            np.where(self.known, fixed[1], np.clip(most, 0.0, 1.0)),
        )

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether a function is a number, (F,)."""
        return np.array([each.is_constant for each in self.functions], np.bool_)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats]:
        """Functions that are numbers, rounded outwards; [0, 1] for the others, (F,) each."""
        fixed = [each.at([Fraction(0)] * len(self.names)) if each.is_constant else None for each in self.functions]
        return (
            np.array([0.0 if each is None else below(each) for each in fixed]),
            np.array([1.0 if each is None else above(each) for each in fixed]),
        )

    def within(self, lower: ArrayLike, upper: ArrayLike) -> IntervalMDP:
        """Return the interval MDP of all processes whose parameters lie in a box; and of more, as functions vary together."""
        low, high = self.ranges(lower, upper)
        return self.graph.with_bounds(low[self.function_of], high[self.function_of])

    def along(self, graph: Graph, transition: NDArray[np.int64]) -> ParametricMDP:
        """Return the model of another graph, each of whose transitions (T,) is one of this graph's, or is certain (-1)."""
        certain = Function.of(Polynomial.constant(1, len(self.names)))
        functions = self.functions if certain in self.functions else (*self.functions, certain)
        which = np.where(transition < 0, functions.index(certain), self.function_of[np.maximum(transition, 0)])
        return replace(self, graph=graph, functions=functions, function_of=held(which))

    @cached_property
    def tables(self) -> Tables:
        """The functions, prepared for constraints and ranges."""
        return Tables(self.functions, ends_of(self.lower, self.upper))

    # -- classes ---------------------------------------------------------------------------------------------

    @cached_property
    def tying(self) -> Tying:
        """The classes: choices with the same functions, in whatever order; the successor tells the outcome."""
        graph, which = self.graph, self.function_of
        choice_of = owner(graph.choice_ptr)
        order = np.lexsort((np.arange(which.size), which, choice_of))  # within a choice, by function
        classes: dict[bytes, int] = {}
        firsts: list[int] = []
        choice_class = np.empty(graph.choices, np.int64)
        for choice in range(graph.choices):
            row = which[order[graph.choice_ptr[choice] : graph.choice_ptr[choice + 1]]]
            key = row.tobytes()
            if key not in classes:
                classes[key] = len(classes)
                firsts.append(choice)
            choice_class[choice] = classes[key]
        rows = [which[order[graph.choice_ptr[c] : graph.choice_ptr[c + 1]]] for c in firsts]
        outcome_ptr = np.concatenate(([0], np.cumsum([row.size for row in rows]))).astype(np.int64)
        outcome = np.empty(graph.transitions, np.int64)
        place = np.arange(graph.transitions) - graph.choice_ptr[choice_of]
        outcome[order] = outcome_ptr[choice_class[choice_of]] + place
        texts = [function.text(self.names) for function in self.functions]
        return Tying(
            graph, tuple(_class_name([texts[f] for f in row]) for row in rows), held(outcome_ptr),
            tuple(texts[f] for row in rows for f in row), held(choice_class),
            held(np.arange(graph.transitions + 1)), held(outcome),
        )  # fmt: skip

    @cached_property
    def outcome_function(self) -> NDArray[np.int64]:
        """The function of every outcome of the classes, (O,)."""
        found = np.empty(self.tying.outcomes, np.int64)
        found[self.tying.transition_outcome] = self.function_of
        return held(found)

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Whether a class has no unknown probability, (K,): all of its functions are numbers."""
        return np.logical_and.reduceat(self.known[self.outcome_function], self.tying.outcome_ptr[:-1])

    # -- display ---------------------------------------------------------------------------------------------

    def _place(self, function: int) -> str:
        transition = int(np.flatnonzero(self.function_of == function)[0])
        state, action, successor = self.graph.names_of(transition)
        return f"state {state}, action {action}, successor {successor}"

    def _values(self, point: Sequence[Fraction]) -> str:
        return ", ".join(f"{name} = {float(value):g}" for name, value in zip(self.names, point, strict=True))

    def __repr__(self) -> str:
        sizes = f"{self.graph.states} states, {self.graph.choices} choices, {self.graph.transitions} transitions"
        box = ", ".join(
            f"{name} in [{low:g}, {high:g}]" for name, low, high in zip(self.names, self.lower, self.upper, strict=True)
        )
        classes = self.tying.names
        more = f" and {len(classes) - SHOWN} more" if len(classes) > SHOWN else ""
        return f"ParametricMDP with {sizes}; {box}; classes {', '.join(classes[:SHOWN])}{more}"


def _class_name(texts: Sequence[str]) -> str:
    more = f" | {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return " | ".join(texts[:SHOWN]) + more


def _check_sums(graph: Graph, functions: Sequence[Function], which: NDArray[np.int64], names: Sequence[str]) -> None:
    """Refuse choices whose functions do not sum to 1, whatever the values."""
    known: set[bytes] = set()
    for choice in range(graph.choices):
        row = np.sort(which[graph.choice_ptr[choice] : graph.choice_ptr[choice + 1]])
        if row.tobytes() in known:
            continue
        total = functions[row[0]]
        for each in row[1:]:
            total = total + functions[each]
        if total.numerator != total.denominator:
            state = graph.state_name(int(graph.choice_state[choice]))
            raise ModelError(
                f"state {state}, action {graph.action_name(choice)}: the probabilities sum to {total.text(names)}, not to 1; "
                "write one of them as 1 less the others"
            )
        known.add(row.tobytes())
