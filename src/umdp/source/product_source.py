"""A source whose trajectories are read by an automaton: what is seen of the process is seen of its product."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from umdp.automata.product import Product
from umdp.model import MDP
from umdp.solver.temporal import probability_in
from umdp.source.source import (
    Batch,
    ClosedWorldSource,
    ProductTracker,
    SamplingRequest,
    Source,
    SourceWrapper,
    process_of,
)

__all__ = ["ProductSource"]


class ProductSource(SourceWrapper):
    """Gives what another source gives, in terms of the product of its graph with an automaton.

    An environment is played by a policy of the product: the automaton reads along. What was recorded is counted as what it is,
    transitions of the process, each with one of the memories that the product knows it with. A choice of the process has the
    same distribution with every memory, so that whoever learns for one of them learns for all (`product_ties`), and
    what was remembered while a log was written need not be known.

    Parameters
    ----------
    source : Source
        That does not follow orders, or plays an environment.
    product : Product
        Of the source's graph.
    """

    def __init__(self, source: Source, product: Product) -> None:
        super().__init__(source)
        self.product: Product = product
        self.graph = product.model.graph
        self._truth: MDP | None = None
        if source.truth is not None:
            self._truth = self.graph.with_probability(probability_in(product, source.truth))
        process = process_of(source)
        listed = None
        if isinstance(source, ClosedWorldSource):
            listed = np.where(source.kept, np.cumsum(source.kept) - 1, -1)
        self._tracker = ProductTracker(product, listed)
        self._played = None if process.env is None else process
        # Of each transition of the process that the product has, the first there; and the same of choices.
        moves = np.flatnonzero(product.along >= 0)
        self._own, first = np.unique(product.along[moves], return_index=True)
        self._first = moves[first]
        starts = np.flatnonzero(product.along[self.graph.choice_ptr[:-1]] >= 0)
        self._own_choice, first = np.unique(product.origin[starts], return_index=True)
        self._first_choice = starts[first]

    @property
    def truth(self) -> MDP | None:
        """The product of the process itself, where it is known."""
        return self._truth

    def collect(self, order: SamplingRequest) -> Batch:
        """Play the product's policy, or count what was recorded."""
        if self._played is not None:
            return self._played.collect(replace(order, tracker=self._tracker))
        base = self.product.base
        quota = np.full(base.choices, -1, dtype=np.int64)
        quota[self._own_choice] = order.quota[self._first_choice]
        none = np.zeros(base.states, dtype=np.bool_)
        batch = self.inner.collect(replace(order, weight=np.ones(base.choices), halt=none, quota=quota))
        counts = np.zeros(self.graph.transitions, dtype=np.int64)
        counts[self._first] = batch.counts[self._own]
        return replace(batch, counts=counts)
