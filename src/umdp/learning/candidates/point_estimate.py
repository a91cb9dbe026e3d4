"""A hunch of what a policy is worth, from the data so far: it decides what is played, never what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import UmdpError
from umdp.learn import Learner
from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver import evaluate
from umdp.spec import Spec

__all__ = ["PointEstimate"]

Array = NDArray[Any]
DOUBT = 2.0  # samples that might have been anything, of every choice


@dataclass(frozen=True, eq=False)
class PointEstimate:
    """Bounds that are likely rather than certain: of each choice the learner's, or what its counts suggest, if that is narrower.

    Attributes
    ----------
    model : the bounds
    middle : the probabilities in their middle
    spec : what is asked for, in the worst case
    """

    model: IntervalMDP
    middle: MDP
    spec: Spec

    @classmethod
    def of(cls, learner: Learner, counts: Array, spec: Spec) -> PointEstimate:
        """Return what a learner and counts (T,) suggest.

        Examples
        --------
        >>> from umdp import ConfidenceSequence, Graph
        >>> coin = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], labels={"heads": [1]})
        >>> counts = np.array([5, 3, 0, 0])
        >>> learner = ConfidenceSequence().bind(coin).learn(counts)
        >>> found = PointEstimate.of(learner, counts, Spec.parse('Pmax=? [ F "heads" ]'))
        >>> found.model.lower[:2], found.middle.probability[:2]
        (array([0.5, 0.3]), array([0.6, 0.4]))
        """
        graph, sizes = learner.graph, np.diff(learner.graph.choice_ptr)
        seen = np.repeat(np.add.reduceat(counts, graph.choice_ptr[:-1]), sizes)
        one = np.repeat(sizes == 1, sizes)
        lower = np.where(one, 1.0, counts / (seen + DOUBT))
        upper = np.where(one, 1.0, (counts + DOUBT) / (seen + DOUBT))
        start = graph.choice_ptr[:-1]
        own = np.add.reduceat(learner.upper - learner.lower, start) < np.add.reduceat(upper - lower, start)
        taken = np.repeat(own, sizes)
        lower, upper = np.where(taken, learner.lower, lower), np.where(taken, learner.upper, upper)
        middle = (lower + upper) / 2
        middle = middle / np.repeat(np.add.reduceat(middle, start), sizes)
        return cls(graph.with_bounds(lower, upper), graph.with_probability(middle), spec)

    def values(self, policy: Policy) -> tuple[float, float]:
        """Return what a policy may be worth: with bad luck, and in the middle."""
        try:
            bad = evaluate(self.model, self.spec.robust(), policy).bracket
            likely = evaluate(self.middle, self.spec, policy).bracket
        except UmdpError:  # nobody can say
            return float("nan"), float("nan")
        return (bad.lower + bad.upper) / 2, (likely.lower + likely.upper) / 2
