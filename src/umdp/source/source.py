"""Where trajectories come from: the contract of all sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, Graph
from umdp.statements import Code, say
from umdp.statements.conditions import GraphKind

if TYPE_CHECKING:
    from umdp.source.walk import Walk

__all__ = ["MARKOV", "Batch", "Knowledge", "Order", "Source"]

MARKOV = say(Code.MARKOV)


@dataclass(frozen=True, eq=False)
class Order:
    """The order for a batch: what to collect next.

    Attributes
    ----------
    weight : (C,) how to explore: the probability of every choice within its state; for a `stepwise` source, and a `Simulator`,
        also (K, C), one row for each of the first steps, of which the last is for all that follow
    halt : (S,) states at which a trajectory ends, because their value is known
    horizon : steps after which a trajectory ends in any case
    quota : (C,) the batch ends after the trajectory in which some choice has been taken this often; negative: never
    trajectories : the most trajectories to collect, at least 1
    walk : for an environment: the product with an automaton that reads along; all of these, and the counts of the batch, are
        then the product's. None without
    """

    weight: NDArray[np.float64]
    halt: NDArray[np.bool_]
    horizon: int
    quota: NDArray[np.int64]
    trajectories: int
    walk: Walk | None = None


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
class Knowledge:
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
    >>> Knowledge().graph, Knowledge(graph="observed", rest=True).rest
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
    settled : whether the graph was fixed before the data came; an observed one that is made of the same data was not
    whole : whether it decides itself how much comes at once, so that an order must not be cut into smaller ones by the clock
    stepwise : whether the exploration policy of an order may depend on the step
    pace : how many steps take as long as a solve, for every transition of the graph; 0 where steps cost nothing
    """

    graph: Graph
    interactive: ClassVar[bool] = True
    eager: bool = False
    settled: bool = False
    whole: bool = False
    stepwise: bool = False
    pace: float = 0.0

    @property
    def truth(self) -> MDP | None:
        """The process itself where it is known, as it is now; to measure by, never to learn from."""
        return None

    @abstractmethod
    def begin(self, seed: int) -> None:
        """Start from the beginning; equal seeds give equal batches."""

    @abstractmethod
    def collect(self, order: Order) -> Batch:
        """Collect trajectories until the order is met or nothing more comes."""

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on from here: numbers, text, lists and arrays."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:  # noqa: B027 - a source without state has nothing to do
        """Go on from a state; the source must have begun."""

    def knowledge(self) -> Knowledge:
        """Return what is known of the data so far; what is promised depends on it."""
        return Knowledge()

    def report(self) -> list[str]:
        """Return what the user should know about the data so far, a line each: statements (`umdp.statements`), or plain text."""
        return []

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of files and environments."""
