"""Confidence sequences: bounds that hold at every time at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.learn.binomial import ULP, WITNESSES, Binomial, Floats, Ints, Level, infeasible, log_likelihood, lowest
from umdp.learn.learner_settings import as_setting, check
from umdp.model import Graph
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

__all__ = ["ConfidenceSequence"]


class ConfidenceSequence(Binomial):
    r"""Intervals that hold at all times at once, however often they are looked at and whenever one stops.

    After k sightings among n samples, at level a, the interval holds all p with

    .. math:: k \log p + (n - k) \log(1 - p) \ge \log \frac{B(b + k, b + n - k)}{B(b, b)} + \log a:

    those under which the data are not less likely, by more than the factor a, than under a Beta(b, b) mixture of all p. By
    Ville's inequality the true p is inside for all n with probability 1 - a, also when what is sampled depends on what was
    seen. Hence so is the intersection of all intervals up to now, which is what is kept; each bound is tightened by what the
    other successors leave.

    All claimed bounds hold at all times with probability 1 - `error_rate`, for one process that does not change. Should the
    intersection be empty for a choice, that event has failed or the process has changed: the newest intervals are kept, the
    choice is counted in `broken`, and the guarantee is withdrawn.

    Parameters
    ----------
    error_rate : float
        The probability with which something may ever be wrong.
    prior : float
        The parameter b > 0 of the mixture. It decides where intervals are narrow, not whether they hold.

    Attributes
    ----------
    counts : (T,) how often each transition was seen in all
    broken : (C,) how often the intersection was empty
    least, most : (T,) the intersection of all intervals, before they were tightened
    lower_hits, lower_samples, upper_hits, upper_samples : (T,) the counts from which its ends follow

    Examples
    --------
    >>> from umdp import Graph
    >>> coin = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> learner = ConfidenceSequence(0.05).bind(coin).learn([4, 6, 0])
    >>> learner.lower.round(4), learner.upper.round(4)
    (array([0.0689, 0.1784, 1.    ]), array([0.8216, 0.9311, 1.    ]))
    >>> learner
    ConfidenceSequence(error_rate=0.05, prior=0.5): with probability 95 %, whenever you stop
    """

    name: ClassVar[str] = "confidence-sequence"
    kept: ClassVar[tuple[str, ...]] = ("broken", "least", "most", *WITNESSES)
    discovers: ClassVar[bool] = True
    broken: NDArray[np.int64]
    least: Floats
    most: Floats
    lower_hits: Ints
    lower_samples: Ints
    upper_hits: Ints
    upper_samples: Ints

    def __init__(self, error_rate: float = 0.01, prior: float = 0.5) -> None:
        super().__init__(error_rate)
        given = as_setting(prior, "prior")
        check(
            isinstance(given, float) and 1e-6 <= given <= 1e6,
            f"prior is {prior}; give one number from 1e-6 to 1e6, the parameter of the Beta mixture, such as 0.5",
        )
        self.prior = float(given)
        self.broken = np.zeros(0, np.int64)

    @property
    def claim(self) -> Guarantee:
        """Every time at once, until it is known to have failed."""
        if self.broken.any():
            return Guarantee("none", reasons=(say(Code.BROKEN, choices=int(np.count_nonzero(self.broken))),))
        return Guarantee("any-time", 1 - self.error_rate)

    def bind(self, graph: Graph, matters: ArrayLike | None = None, *, graph_known: bool = False) -> Self:
        """Return a learner with these settings for a graph; with the outcome "anything else", it finds outcomes itself.

        Where the graph is known (`graph_known`), there is nothing to find: "anything else" is an outcome like any other.
        """
        from umdp.learn.observed_sequence import ObservedSequence

        if self.discovers and graph.rest is not None and not graph_known and not isinstance(self, ObservedSequence):
            return ObservedSequence(self.error_rate, self.prior).bind(graph, matters)  # type: ignore[return-value]
        return super().bind(graph, matters, graph_known=graph_known)

    def begin(self) -> None:
        """Claim nothing."""
        super().begin()
        self.broken = np.zeros(self.graph.choices, np.int64)
        self.least, self.most = self.lower.copy(), self.upper.copy()
        for name in WITNESSES:
            setattr(self, name, np.zeros(self.graph.transitions, np.int64))

    def end(self, hits: Floats, misses: Floats, level: Level) -> Floats:
        """Return the lowest p that the data do not rule out."""
        from scipy.special import betaln, gammaln

        samples = hits + misses
        mixture = gammaln(self.prior + hits) + gammaln(self.prior + misses) - gammaln(2 * self.prior + samples)
        # The logarithms of gamma functions are known to a few units in the last place, and much of them cancels.
        slack = 16 * ULP * (samples + self.prior) * np.log(samples + self.prior + 2)
        room = log_likelihood(hits, misses) - (mixture - betaln(self.prior, self.prior)) - np.log(level) + slack
        end: Floats = np.exp(lowest(hits, misses, room))
        return end

    def adopt(self, choice: Ints, transition: Ints, lower: Floats, upper: Floats) -> None:
        """Intersect with the bounds so far, where anything is left, and note which counts each end follows from."""
        hits, samples = self.counts[transition], self.per_transition(self.per_choice(self.counts))[transition]
        self.intersect(
            choice, transition, lower, upper, dict(zip(WITNESSES, (hits, samples, hits, samples), strict=True))
        )

    def intersect(
        self, choice: Ints, transition: Ints, lower: Floats, upper: Floats, witness: Mapping[str, NDArray[Any]]
    ) -> None:
        """Intersect what was not tightened; where nothing is left, keep the newest and say so; then tighten.

        The newest may count different samples for different outcomes (see `ObservedSequence`), and exclude each other
        themselves: nothing is believed of such a choice then.

        A witness of an end, by the name of the array in which it is kept, is taken over with the end.
        """
        sizes = self.sizes[choice]
        low, high = np.maximum(lower, self.least[transition]), np.minimum(upper, self.most[transition])
        empty = infeasible(low, high, sizes)
        newest = np.repeat(empty, sizes)
        if empty.any():
            hopeless = np.repeat(empty & infeasible(lower, upper, sizes), sizes)
            lower, upper = np.where(hopeless, 0.0, lower), np.where(hopeless, 1.0, upper)
        raised = newest | (lower > self.least[transition])
        lowered = newest | (upper < self.most[transition])
        self.broken[choice[empty]] += 1
        self.least[transition[raised]], self.most[transition[lowered]] = lower[raised], upper[lowered]
        for name, given in witness.items():
            moved = raised if name.startswith("lower") else lowered
            getattr(self, name)[transition[moved]] = given[moved]
        super().adopt(choice, transition, self.least[transition], self.most[transition])

    def witnesses(self) -> dict[str, Ints]:
        """Return the counts at the time when each end was adopted."""
        return {name: getattr(self, name) for name in WITNESSES}
