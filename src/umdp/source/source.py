"""Where trajectories come from: the contract of all sources, and sources that wrap others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, REST, Graph
from umdp.model.part import part_of
from umdp.statements import Code, Statement, Unlisted, say
from umdp.statements.conditions import GraphKind

if TYPE_CHECKING:
    from umdp.automata.product import Product

__all__ = [
    "MARKOV",
    "Batch",
    "ClosedWorldSource",
    "ProductTracker",
    "Provenance",
    "RowFollower",
    "SamplingRequest",
    "Source",
    "SourceWrapper",
    "listed",
    "process_of",
    "without_rest",
]

MARKOV = say(Code.MARKOV)


class RowFollower(Protocol):
    """Accounts for recorded rows in their order."""

    def take(self, transition: NDArray[Any], begins: NDArray[np.bool_], *, named: bool) -> None:
        """Account for rows: the transition of each, -1 for none, whether a trajectory begins, and whether they are named."""

    def state(self) -> list[int]:
        """Return what a continued run needs."""

    def restore(self, state: list[int]) -> None:
        """Go on from a saved state."""


class ProductTracker:
    """Follows trajectories of a process through a product, transition by transition.

    Parameters
    ----------
    product : Product
    listed : (T,) for each transition of the process the one of the product's model, -1 where it has none; optional, where
        they are the same

    Attributes
    ----------
    product : the product
    graph : its graph
    origin : (C,) the choice of the process that each choice stands for, -1 where only the memory changes
    over : (S,) where nothing is remembered that could still change
    state : (S,) the state of the process

    Examples
    --------
    >>> from umdp import MDP, solve
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 0, 0], [0.5, 0.5, 1, 1], labels={"heads": [1], "tails": [2]})
    >>> walk = ProductTracker(solve(coin, 'Pmax=? [ (F "heads") & (F "tails") ]').product)
    >>> first = walk.along(0, 0)  # heads, by the first choice
    >>> walk.graph.state_name(int(walk.graph.successor[first]))
    '(state=1,memory=1)'
    """

    def __init__(self, product: Product, listed: NDArray[np.int64] | None = None) -> None:
        self.product, self.graph = product, product.model.graph
        self.origin: list[int] = product.origin.tolist()
        self.over = product.reading.automaton.sinks[product.memory]
        self.state: list[int] = product.state.tolist()
        self._listed = None if listed is None else listed.tolist()
        self._shift: list[int] = (
            self.graph.choice_ptr[:-1] - product.base.choice_ptr[np.maximum(product.origin, 0)]
        ).tolist()

    def along(self, choice: int, transition: int) -> int:
        """Return the transition of the product's choice that one of the process stands for, -1 where it has none."""
        own = transition if self._listed is None else self._listed[transition]
        return -1 if own < 0 else own + self._shift[choice]


@dataclass(frozen=True, eq=False)
class SamplingRequest:
    """The order for a batch: what to collect next.

    Attributes
    ----------
    weight : (C,) how to explore: the probability of every choice within its state; for a `stepwise` source, and a `Simulator`,
        also (K, C), one row for each of the first steps, of which the last is for all that follow
    halt : (S,) states at which a trajectory ends, because their value is known
    horizon : steps after which a trajectory ends in any case
    quota : (C,) the batch ends after the trajectory in which some choice has been taken this often; negative: never
    trajectories : the most trajectories to collect, at least 1
    tracker : for an environment: the product with an automaton that reads along; all of these, and the counts of the batch, are
        then the product's. None without
    """

    weight: NDArray[np.float64]
    halt: NDArray[np.bool_]
    horizon: int
    quota: NDArray[np.int64]
    trajectories: int
    tracker: ProductTracker | None = None


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of trajectories: how often each transition was seen in them.

    Attributes
    ----------
    counts : (T,) how often each transition was seen
    trajectories, steps : how many; trajectories count when they begin
    ended : no more will come; a batch that is empty and not the last means that nothing has come yet
    """

    counts: NDArray[np.int64]
    trajectories: int
    steps: int
    ended: bool = False


@dataclass(frozen=True)
class Provenance:
    """Data provenance: what a source knows of its data, and what must be true of it for anything to be promised.

    By default everything is given and clean, as with a simulator.

    Attributes
    ----------
    graph : whether the graph was given by somebody who knows, or gathered from data
    rest : whether every choice that was observed has the outcome "anything else" (``graph.rest`` is its state), on which steps
        that the graph does not list are counted
    unlisted : steps or rows that the graph does not list and that were dropped: they count nowhere
    rejected : rows that are malformed or contradict each other, and were skipped
    rows : rows or steps looked at in all
    changes : whether the process is known to change
    passive : whether others collected the data, as with a log
    assumptions : what must be true for any promise, a statement each (`umdp.statements`)
    findings : what tests on the data found against them, a statement each
    rewards : what must be true, or stands against it, where a reward is asked for; by the name of the reward

    Examples
    --------
    >>> Provenance().graph, Provenance(graph="observed", rest=True).rest
    ('given', True)
    """

    graph: Literal["given", "observed"] = "given"
    rest: bool = False
    unlisted: int = 0
    rejected: int = 0
    rows: int = 0
    changes: bool = False
    passive: bool = False
    assumptions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    rewards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def graph_kind(self) -> GraphKind:
        """Who says what can happen."""
        if self.rest:
            return GraphKind.OBSERVED
        return GraphKind.GIVEN if self.graph == "given" else GraphKind.CLOSED


class Source(ABC):
    """A source of trajectories through one graph, in batches of whole trajectories.

    Attributes
    ----------
    graph : what is known of the process
    interactive : whether it follows the exploration policy; a log does not
    eager : whether to learn from every batch at once, as from a stream, and not only when counts have doubled
    graph_known : whether the graph was fixed before the data came; an observed one that is made of the same data was not
    whole : whether it decides itself how much comes at once, so that an order must not be cut into smaller ones by the clock
    stepwise : whether the exploration policy of an order may depend on the step
    pace : how many steps take as long as a solve, for every transition of the graph; 0 where steps cost nothing
    simulates : whether it draws from its `truth`: all trajectories are alike, and end nowhere but where they are told to
    closed : whether steps to "anything else" are left out
    draws_start : whether trajectories begin in different states, to each of which a first step leads
    explored : how many steps were taken to find the graph; None where nobody had to
    env : the object with `reset` and `step` that is played; None where none is
    name : what it is called in messages
    product : of what it is told in terms; None for those of the process itself
    """

    graph: Graph
    interactive: ClassVar[bool] = True
    eager: bool = False
    graph_known: bool = False
    whole: bool = False
    stepwise: bool = False
    pace: float = 0.0
    simulates: ClassVar[bool] = False
    closed: bool = False
    draws_start: bool = False
    explored: int | None = None
    name: str = ""
    product: Product | None = None

    @property
    def env(self) -> Any:
        """The object with `reset` and `step` that is played; None where none is."""
        return None

    @property
    def truth(self) -> MDP | None:
        """The process itself where it is known, as it is now; to measure by, never to learn from."""
        return None

    @property
    def stages(self) -> tuple[MDP, ...]:
        """The process where it is known, and what it becomes, if it changes."""
        return () if self.truth is None else (self.truth,)

    def follow(self, behaviour: RowFollower | None) -> bool:
        """Have rows that others recorded accounted for while they are read; return whether there are such."""
        return False

    def along(self, product: Product) -> Source | None:
        """Return a source of the product of its graph with an automaton; None where nobody says where trajectories went."""
        if self.interactive and process_of(self).env is None:
            return None
        from umdp.source.product_source import ProductSource

        return ProductSource(self, product)

    @abstractmethod
    def begin(self, seed: int) -> None:
        """Start from the beginning; equal seeds give equal batches."""

    @abstractmethod
    def collect(self, order: SamplingRequest) -> Batch:
        """Collect trajectories until the order is met or nothing more comes."""

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on from here: numbers, text, lists and arrays."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:  # noqa: B027 - a source without state has nothing to do
        """Go on from a state; the source must have begun."""

    def provenance(self) -> Provenance:
        """Return what is known of the data so far; what is promised depends on it."""
        return Provenance()

    def report(self) -> list[str]:
        """Return what the user should know about the data so far, a line each: statements (`umdp.statements`), or plain text."""
        return []

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of files and environments."""


class SourceWrapper(Source):
    """Passes on what another source is, knows and keeps; its own are the graph and what is collected.

    Attributes
    ----------
    inner : the other source
    """

    def __init__(self, source: Source) -> None:
        self.inner = source
        self.interactive = source.interactive  # type: ignore[misc]
        self.eager, self.pace, self.whole = source.eager, source.pace, source.whole
        self.graph_known, self.stepwise, self.closed = source.graph_known, source.stepwise, source.closed

    def begin(self, seed: int) -> None:
        """Start from the beginning."""
        self.inner.begin(seed)

    def provenance(self) -> Provenance:
        """Return what the source knows."""
        return self.inner.provenance()

    def state(self) -> dict[str, Any]:
        """Return the state of the source."""
        return self.inner.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.inner.restore(state)

    def report(self) -> list[str]:
        """Return what the source reports."""
        return self.inner.report()

    def close(self) -> None:
        """Let go of what the source holds."""
        self.inner.close()


def process_of(source: Source) -> Source:
    """Return the source itself, without what was put around it."""
    while isinstance(source, SourceWrapper):
        source = source.inner
    return source


class ClosedWorldSource(SourceWrapper):
    """Gives the trajectories of another source, steps to "anything else" left out of counts and graph.

    For learners that promise nothing, whose bounds on what was never seen would be made up. States and choices stay; a choice
    that leads nowhere else still leads there, to a state like others.

    Attributes
    ----------
    kept : (T,) which of its transitions are left

    Examples
    --------
    >>> from umdp.model import REST
    >>> listed(Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 2, 2], labels={REST: [2]}))[0].successor
    array([1, 2, 2], dtype=int32)
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.graph, self.kept = listed(source.graph)
        self.closed = True

    def collect(self, order: SamplingRequest) -> Batch:
        """Collect what the source collects."""
        batch = self.inner.collect(order)
        return replace(batch, counts=batch.counts[self.kept])

    def report(self) -> list[str]:
        """Return what the source reports, and that steps to "anything else" are left out where they would be counted."""
        return [_left_out(line) for line in self.inner.report()]


def _left_out(line: str) -> str:
    """Return what is reported of steps that a graph does not list as it is where these are left out."""
    if not isinstance(line, Statement) or line.data.get("unlisted") is not Unlisted.COUNTED:
        return line
    data = {**line.data, "unlisted": Unlisted.LEFT_OUT}
    about = data.pop("about", None)
    said = say(line.code, **data)
    return said if about is None else said.about(about)


def without_rest(source: Source) -> Source:
    """Return a source that gives what is listed and nothing else."""
    return source if source.graph.rest is None else ClosedWorldSource(source)


def listed(graph: Graph) -> tuple[Graph, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return a graph without transitions to "anything else", and which of its transitions (T,) are left."""
    sizes = np.diff(graph.choice_ptr)
    kept = (graph.successor != graph.rest) | np.repeat(sizes == 1, sizes)
    left = np.add.reduceat(kept.astype(np.int64), graph.choice_ptr[:-1])
    labels = {name: members for name, members in graph.labels.items() if name != REST}
    found = part_of(graph.graph, kept, left, labels=labels)
    return found.with_interface(graph.interface), kept
