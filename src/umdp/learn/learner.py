"""What all learners share: bounds over the transitions of one graph, which counts move; and alarms, what a learner noticed."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.learn.learner_settings import describe
from umdp.model import Graph, IntervalMDP
from umdp.statements import DiagnosticCode, Statement, say
from umdp.statements.guarantee import Guarantee
from umdp.statements.text import facts_html

if TYPE_CHECKING:
    from umdp.automata.product import Product

__all__ = ["SHOWN", "Alarm", "Changed", "Contradicted", "Guarantee", "Learner", "Misfit", "in_lines"]

SHOWN = 3  # alarms that are told one by one, the newest first


@dataclass(frozen=True)
class Alarm:
    """What was noticed at a choice, and when.

    Attributes
    ----------
    place : where, such as "state (3,4), action east"
    samples : how many samples the choice had given when it was noticed
    steps : how many steps there had been in all
    fresh : whether it was raised by the newest data
    """

    place: str
    samples: int
    steps: int
    fresh: bool

    code: ClassVar[DiagnosticCode]

    @property
    def said(self) -> Statement:
        """The alarm as a statement."""
        return say(self.code, **{name: value for name, value in asdict(self).items() if name != "fresh"})

    def __str__(self) -> str:
        return str(self.said)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, code and text, for JSON."""
        return {**asdict(self), **self.said.as_dict()}


@dataclass(frozen=True)
class Changed(Alarm):
    """The distribution of a choice has changed, and what is learned of it started anew.

    Attributes
    ----------
    after : how many samples it had given before it changed, about
    times : how many alarms this choice has raised so far, this one included

    Examples
    --------
    >>> print(Changed("state a, action b", 1024, 4321, True, 1000, 1))
    alarm: state a, action b changed after about 1,000 of its samples; noticed after 1,024, 4,321 steps in all, and restarted
    """

    code = DiagnosticCode.CHANGED
    after: int
    times: int


@dataclass(frozen=True)
class Misfit(Alarm):
    """A choice does not share the distribution of its class.

    Attributes
    ----------
    of : the name of the class

    Examples
    --------
    >>> print(Misfit("state a, action b", 1024, 4321, True, "coin"))
    alarm: state a, action b is not like the other choices of class coin; noticed after 1,024, 4,321 steps in all
    """

    code = DiagnosticCode.MISFIT
    of: str


@dataclass(frozen=True)
class Contradicted(Alarm):
    """No values of its parameters make a program fit what was seen of a class, and of the others.

    Attributes
    ----------
    of : the program

    Examples
    --------
    >>> print(Contradicted("class p | 1 - p", 1024, 4321, True, "brp.prism"))
    alarm: class p | 1 - p does not fit brp.prism, whatever its parameters; noticed after 1,024, 4,321 steps in all
    """

    code = DiagnosticCode.CONTRADICTED
    of: str


def in_lines(alarms: Sequence[Alarm]) -> list[Statement]:
    """Return the newest alarms as text, a line each, and how many more there were.

    Examples
    --------
    >>> many = [Changed(f"state {s}, action a", 100, 1000 + s, False, 90, 1) for s in range(9)]
    >>> in_lines(many)[0][:14], in_lines(many)[-1]
    ('alarm: state 8', 'and 6 more alarms before')
    """
    newest = sorted(alarms, key=lambda alarm: -alarm.steps)
    more = len(newest) - SHOWN
    told = [alarm.said for alarm in newest[:SHOWN]]
    return told if more <= 0 else [*told, say(DiagnosticCode.MORE_ALARMS, more=more)]


Array = NDArray[Any]


@cache
def _declared(kind: type) -> tuple[str, ...]:
    """Return the names of the arrays that a class of learners and its bases declare."""
    return tuple(sorted({"lower", "upper", *(name for each in kind.__mro__ for name in each.__dict__.get("kept", ()))}))


class Learner(ABC):
    """Learns bounds on the probabilities of a graph from counts.

    A learner is made with its settings, which it keeps as attributes of the same names, and bound to a graph before it is used.
    To write one, set `name`, define `claim`, name
    in `kept` the arrays it learns besides `lower` and `upper`, set them up in `begin` and move them in `update`. What is kept
    is what `bind` starts without, and what `state`, `restore` and `clone` carry.

    Attributes
    ----------
    kept : the names of the arrays that are learned besides the bounds; those of base classes need not be repeated
    discovers : whether the claim also holds on a graph that was found in the data, with the outcome "anything else"
    watches : whether it notices changes of the process, and its claim says since when there must not have been any
    graph_known : whether a graph with the outcome "anything else" was fixed before the data
    growth : an iteration ends when some choice was taken this many times as often as ever before
    graph : the graph it is bound to
    matters : (C,) whether the probabilities of a choice can matter for the specification
    lower, upper : (T,) the bounds; [1, 1] on the only transition of a choice
    """

    name: ClassVar[str]
    kept: ClassVar[tuple[str, ...]] = ()
    discovers: ClassVar[bool] = False
    watches: bool = False
    growth: ClassVar[float] = 1.0
    graph: Graph
    graph_known: bool = False
    matters: NDArray[np.bool_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    @abstractmethod
    def claim(self) -> Guarantee:
        """What the bounds would promise if nothing were wrong with the data.

        What they do promise is said by `statements.guarantee.guarantee_of`. "any-time" stands for every number of samples at
        once: how many there are of a choice when somebody looks depends on the data, so that a union over looks is not enough.
        """

    @abstractmethod
    def begin(self) -> None:
        """Set `lower`, `upper` and whatever else is kept to what is believed before any data."""

    @abstractmethod
    def update(self, counts: NDArray[np.int64]) -> None:
        """Take in how often each transition was seen since the last update, shape (T,)."""

    # -- binding ---------------------------------------------------------------------------------------------

    def bind(self, graph: Graph, matters: ArrayLike | None = None, *, graph_known: bool = False) -> Self:
        """Return a learner with these settings, at its beginning, for a graph.

        `graph_known` says that a graph with the outcome "anything else" was fixed before the data to come, not found in them.
        """
        fresh = copy.copy(self)
        for name in (*fresh.own_arrays(), "sizes", "uncertain"):
            fresh.__dict__.pop(name, None)
        fresh.graph, fresh.graph_known = graph.graph, graph_known
        given = np.ones(graph.choices, np.bool_) if matters is None else np.asarray(matters, dtype=np.bool_)
        if given.shape != (graph.choices,):
            raise ModelError(f"matters has shape {given.shape}, but there are {graph.choices} choices")
        fresh.matters = given
        before = set(fresh.__dict__)
        fresh.begin()
        fresh._check_declared(before)
        return fresh

    def _check_declared(self, before: set[str]) -> None:
        """Refuse a learner that keeps what it does not declare: a continued run would lose it."""
        made = {n for n, v in self.__dict__.items() if isinstance(v, np.ndarray)} - before - {"sizes", "uncertain"}
        forgotten = sorted(made - set(self.own_arrays()))
        missing = [name for name in self.own_arrays() if not isinstance(self.__dict__.get(name), np.ndarray)]
        if forgotten or missing:
            kind, name = type(self).__name__, (forgotten or missing)[0]
            raise ModelError(
                f"{kind} makes the array {name!r} without declaring it; add it to `kept` of the class"
                if forgotten
                else f"{kind} declares the array {name!r} and does not make it; do so in `begin`"
            )

    def learn(self, counts: ArrayLike) -> Self:
        """Check counts, take them in, and return this learner."""
        array = np.asarray(counts)
        if array.shape != (self.graph.transitions,) or array.dtype.kind not in "iu":
            raise ModelError(f"counts must be whole numbers of shape ({self.graph.transitions},), not {array.shape}")
        if (array < 0).any():
            raise ModelError(f"transition {int(np.flatnonzero(array < 0)[0])} has a negative count")
        self.update(array.astype(np.int64, copy=False))
        return self

    # -- helpers over the graph ------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of successors of each choice, shape (C,)."""
        return np.diff(self.graph.choice_ptr)

    @cached_property
    def uncertain(self) -> NDArray[np.bool_]:
        """Which transitions are one of several of their choice, shape (T,)."""
        return np.repeat(self.sizes > 1, self.sizes)

    def sightings(self, counts: Array) -> Array:
        """Return how often there is reason to think that a transition can happen, from how often each was seen, shape (T,)."""
        return counts

    def per_choice(self, values: Array) -> Array:
        """Return the sums over each choice, shape (C,)."""
        return np.add.reduceat(values, self.graph.choice_ptr[:-1])

    def per_transition(self, values: Array) -> Array:
        """Repeat a value per choice for each of its transitions, shape (T,)."""
        return np.repeat(values, self.sizes)

    # -- what is kept ----------------------------------------------------------------------------------------

    @property
    def model(self) -> IntervalMDP:
        """The learned interval MDP."""
        return self.graph.with_bounds(self.lower, self.upper)

    def own_arrays(self) -> list[str]:
        """Return the names of the arrays that this object itself has of what has been learned."""
        return list(_declared(type(self)))

    def arrays(self) -> list[str]:
        """Return the names of the arrays that make up what has been learned."""
        return self.own_arrays()

    def alarms(self) -> tuple[Alarm, ...]:
        """Return what was noticed that nobody had said, the last alarm of every place; empty where nothing is watched."""
        return ()

    def remembered(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts (T,) that some choice must show again for an iteration to end: all, unless some were forgotten."""
        return counts

    def parameters(self) -> dict[str, dict[str, Any]] | None:
        """Return what is known of every parameter; None for learners without."""
        return None

    def structure(self) -> list[Any]:
        """Return which choices and outcomes it takes for the same, as a run that goes on must find it."""
        return []

    def along(self, product: Product) -> Learner:
        """Return a learner for a product with an automaton, where a choice has one distribution with every memory."""
        from umdp.automata.product import product_ties
        from umdp.learn.tied import Tied

        return Tied(self, product_ties(product), assumed=False)

    def ledger(self) -> dict[str, Any] | None:
        """Return what a stranger needs to compute the bounds again; None where nothing is claimed, or it cannot be checked.

        What the checker can compute again is listed in `umdp.verify.learning`; without a ledger, a claim has no certificate.
        """
        return None

    def state(self) -> dict[str, Array]:
        """Return copies of everything learned, to be given to `restore`."""
        return {name: self.__dict__[name].copy() for name in self.own_arrays()}

    def restore(self, state: Mapping[str, Array]) -> Self:
        """Go back to a state; the learner must be bound to the same graph."""
        if set(state) != set(self.arrays()):
            raise ModelError(f"the state has {sorted(state)}, the learner {self.arrays()}")
        for name in self.own_arrays():
            value = state[name]
            if value.shape != self.__dict__[name].shape:
                raise ModelError(f"{name} has shape {value.shape}, but the learner's has {self.__dict__[name].shape}")
            self.__dict__[name] = np.array(value, dtype=self.__dict__[name].dtype)
        return self

    def _repr_html_(self) -> str:
        facts = [("settings", repr(self).partition("): ")[0] + ")"), ("claim", str(self.claim))]
        if "graph" in self.__dict__:
            width = self.upper - self.lower
            facts.append(("bound to", repr(self.graph)))
            facts.append(("uncertain", f"{int(np.count_nonzero(width > 0)):,} transitions, widest {width.max():.4g}"))
        return facts_html(type(self).__name__, facts)

    def clone(self) -> Self:
        """Return a copy that goes its own way."""
        other = object.__new__(type(self))
        known = other.__dict__
        known.update(self.__dict__)
        for name in self.own_arrays():
            known[name] = known[name].copy()
        return other

    def __repr__(self) -> str:
        return describe(self)
