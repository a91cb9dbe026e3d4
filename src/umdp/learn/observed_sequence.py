"""Confidence sequences for a graph that is only observed: outcomes are found in the data, and whatever was not is bounded."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from umdp.learn.binomial import ULP, Floats, Ints
from umdp.learn.confidence_sequence import ConfidenceSequence
from umdp.model.structure import mask_of

__all__ = ["ObservedSequence"]

SHARE = 0.6079  # a little less than 6 / pi^2: the j-th of ever more bounds gets 6 / (pi^2 j^2) of what there is


class ObservedSequence(ConfidenceSequence):
    r"""Intervals that hold at all times at once, though the outcomes of a choice were found in the same data.

    `ConfidenceSequence` becomes this when it is bound to a graph with the outcome "anything else" (`Graph.rest`). A bound may
    only count what came after it was decided to keep it, and at which level; so

    - the j-th choice to be taken gets :math:`6/(\pi^2 j^2)` of the error rate, counted from the batch after its first;
    - half of that is for outcomes: the j-th to be found gets :math:`6/(\pi^2 j^2)` of it, and an interval that counts only
      the batches after the one in which it was found;
    - the other half is for all that was not found yet, together: an interval that counts every sample with such an outcome as
      a hit, and starts anew whenever one of them is found, the j-th time with :math:`6/(\pi^2 j^2)` of it. Every
      transition that was not found yet, and "anything else", has its upper end, and the lower end 0.

    Given what was seen when it starts, each interval fails with its level's probability at most (Ville's inequality, applied to
    the samples to come), and the levels sum to the error rate at most. So all of them hold, at all times at once, with
    probability 1 - `error_rate`, whatever the graph lists or leaves out. Who is to be believed is the data alone.

    Parameters
    ----------
    error_rate, prior : as for `ConfidenceSequence`

    Attributes
    ----------
    rank : (C,) the how-manieth choice to be taken it is, 0 before
    order : (T,) the how-manieth outcome of its choice to be found it is, 0 before
    hits, samples : (T,) how often a transition was seen, and its choice taken, since it was found
    restarts : (C,) how often the interval of what was not found started
    rest_hits, rest_samples : (C,) how often something not found was seen, and the choice taken, since it did

    Examples
    --------
    >>> from umdp import Graph
    >>> from umdp.model import REST
    >>> coin = Graph([0, 1, 2, 3, 4], [0, 3, 4, 5, 6], [1, 2, 3, 1, 2, 3], labels={REST: [3]})  # heads, tails, anything else
    >>> learner = ConfidenceSequence(0.05).bind(coin).learn([1, 1, 0, 0, 0, 0]).learn([50, 50, 0, 0, 0, 0])
    >>> learner.lower[:3].round(4), learner.upper[:3].round(4)
    (array([0.3167, 0.3012, 0.    ]), array([0.6833, 0.6833, 0.0728]))
    """

    kept: ClassVar[tuple[str, ...]] = (
        "rank", "order", "hits", "samples", "restarts", "rest_hits", "rest_samples", "lower_levels", "upper_levels",
    )  # fmt: skip
    rank: Ints
    order: Ints
    hits: Ints
    samples: Ints
    restarts: Ints
    rest_hits: Ints
    rest_samples: Ints
    lower_levels: Floats
    upper_levels: Floats

    def begin(self) -> None:
        """Claim nothing."""
        super().begin()
        choices, transitions = self.graph.choices, self.graph.transitions
        self.rank, self.restarts, self.rest_hits, self.rest_samples = np.zeros((4, choices), np.int64)
        self.order, self.hits, self.samples = np.zeros((3, transitions), np.int64)
        self.lower_levels, self.upper_levels = np.zeros((2, transitions))

    @property
    def claimed(self) -> NDArray[np.bool_]:
        """Transitions of choices that were taken, shape (T,)."""
        claimed: NDArray[np.bool_] = self.uncertain & self.per_transition(self.rank > 0)
        return claimed

    def update(self, counts: Ints) -> None:
        """Add counts to the intervals that are there, and then find outcomes, which get one from now on."""
        self.counts = self.counts + counts
        taken = self.per_choice(counts)
        # Every choice that is taken gets a rank, also one that does not matter: what matters may follow from later data.
        fresh = (taken > 0) & (self.sizes > 1)
        old = np.flatnonzero(fresh & (self.rank > 0))
        if old.size:
            self._bound(old, counts, taken)
        self._find(fresh, counts)

    def _bound(self, choice: Ints, counts: Ints, taken: Ints) -> None:
        """Bound anew the outcomes of some choices, by the intervals that were there before these counts came in."""
        sizes = self.sizes[choice]
        transition = np.flatnonzero(self.per_transition(mask_of(choice, self.graph.choices)))
        found = self.order[transition] > 0
        known = transition[found]
        start = np.cumsum(sizes) - sizes
        self.hits[known] += counts[known]
        self.samples[transition] += np.repeat(taken[choice], sizes) * found
        self.rest_hits[choice] += np.add.reduceat(np.where(found, 0, counts[transition]), start)
        self.rest_samples[choice] += taken[choice]

        half = self.error_rate * SHARE / self.rank[choice].astype(np.float64) ** 2 / 2
        rest_level = half * SHARE / self.restarts[choice].astype(np.float64) ** 2
        rest_misses = (self.rest_samples - self.rest_hits)[choice].astype(np.float64)
        rest = 1 - self.ends(rest_misses, self.rest_hits[choice].astype(np.float64), rest_level) + ULP
        level = np.repeat(half, sizes) * SHARE / np.maximum(self.order[transition], 1).astype(np.float64) ** 2
        hits = self.hits[transition].astype(np.float64)
        misses = (self.samples - self.hits)[transition].astype(np.float64)
        lower = np.where(found, self.ends(hits, misses, level), 0.0)
        upper = np.where(found, 1 - self.ends(misses, hits, level) + ULP, np.repeat(rest, sizes))
        seen = self.hits[transition], self.samples[transition]
        rested = (np.repeat(each[choice], sizes) for each in (self.rest_hits, self.rest_samples))
        upper_hits, upper_samples = (np.where(found, one, other) for one, other in zip(seen, rested, strict=True))
        witness = {
            "lower_hits": seen[0], "lower_samples": seen[1], "lower_levels": level,
            "upper_hits": upper_hits, "upper_samples": upper_samples,
            "upper_levels": np.where(found, level, np.repeat(rest_level, sizes)),
        }  # fmt: skip
        self.intersect(choice, transition, lower, np.minimum(upper, 1.0), witness)

    def _find(self, fresh: NDArray[np.bool_], counts: Ints) -> None:
        """Give ranks to choices taken for the first time, and to outcomes seen for the first time."""
        new = np.flatnonzero(fresh & (self.rank == 0))
        self.rank[new] = int(self.rank.max(initial=0)) + 1 + np.arange(new.size)
        first = (
            (counts > 0) & (self.order == 0) & self.per_transition(fresh) & (self.graph.successor != self.graph.rest)
        )
        if not first.any() and not new.size:
            return
        before = self.per_choice((self.order > 0).astype(np.int64))
        place = np.cumsum(first) - self.per_transition((np.cumsum(first) - first)[self.graph.choice_ptr[:-1]])
        self.order[first] = (self.per_transition(before) + place)[first]
        anew = self.per_choice(first) > 0
        anew[new] = True
        self.restarts[anew] += 1
        self.rest_hits[anew] = self.rest_samples[anew] = 0

    def ledger(self) -> dict[str, Any] | None:
        """Return how the error rate is spent, and the counts that the bounds follow from.

        The level of an end is that of the interval it follows from: with `SHARE` c, ``error_rate * c / rank**2 / 2 * c / j**2``,
        where j is the `order` of the transition; or, for an upper end, the number of a restart, if it is that of what was
        not found. Ranks are different for all choices, orders for all transitions of a choice; so all levels that can ever
        occur sum to the error rate at most.
        """
        found = super().ledger()
        if found is None:
            return None
        names = ("lower_levels", "upper_levels", "rank", "order", "restarts")
        levels = {name: getattr(self, name).copy() for name in names}
        return {**found, **levels, "graph": "observed", "levels": levels["upper_levels"]}
