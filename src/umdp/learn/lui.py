"""Linearly updating intervals: the paper's learner."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.learn.learner import Learner
from umdp.learn.learner_settings import as_pair, check, place, spread
from umdp.model.structure import ROUNDING
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

__all__ = ["LUI"]


class LUI(Learner):
    r"""Intervals that move linearly from a prior towards the data (Definition 3 of the paper).

    After a batch in which a choice was sampled N times and its successor i seen :math:`k_i` times, each bound moves to

    .. math:: \underline P_i' = \frac{n \underline P_i + k_i}{n + N}, \qquad \overline P_i' = \frac{n \overline P_i + k_i}{n + N},

    where n is the upper strength while prior and data agree and the lower strength where they are in conflict. Lower bounds
    are in conflict if :math:`k_j / N < \underline P_j` for **some** successor j of the choice, upper bounds if
    :math:`k_j / N > \overline P_j` for some j. Then N is added to both strengths, up to `strength_bound`. Choices that were not
    sampled are left alone. The result depends on how data are cut into batches.

    Lower bounds stay positive and every choice keeps a distribution (Theorems 1 and 2). The intervals are **not** confidence
    intervals: their width falls like 1/N, the error of the data like :math:`1/\sqrt N`. Hence the label "none".

    Parameters
    ----------
    prior : pair of float or of array_like, shape (T,)
        The bounds before any data, 0 < lower <= upper <= 1. Entries of transitions that are the only one of their choice
        are not looked at: those are [1, 1].
    strength : pair of float or of array_like, shape (T,)
        On how many samples the prior is based, 1 <= lower <= upper. The lower strengths of one choice must be equal:
        under conflict, successors that move at different speeds can leave bounds that no distribution fits.
    strength_bound : pair of float, optional
        The strengths grow no further than this, so that a process that changes is followed (section "Learning under
        changing environments"). None: no bound.

    Attributes
    ----------
    strength_lower, strength_upper : (T,) the strengths by now

    Examples
    --------
    >>> from umdp import Graph
    >>> coin = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> learner = LUI(prior=(0.2, 0.6), strength=(5, 10)).bind(coin).learn([4, 6, 0])
    >>> learner.lower, learner.upper
    (array([0.3, 0.4, 1. ]), array([0.5, 0.6, 1. ]))
    >>> LUI(strength_bound=(20, 30))
    LUI(prior=(0.0001, 0.9999), strength=(5, 10), strength_bound=(20, 30)): no guarantee: ...
    """

    name: ClassVar[str] = "lui"
    kept: ClassVar[tuple[str, ...]] = ("strength_lower", "strength_upper")
    strength_lower: NDArray[np.float64]
    strength_upper: NDArray[np.float64]

    def __init__(self, prior: Any = (1e-4, 1 - 1e-4), strength: Any = (5.0, 10.0), strength_bound: Any = None) -> None:
        self.prior = as_pair(prior, "prior")
        check(
            np.greater(self.prior[0], 0), "a lower bound of the prior is not positive; use a small number such as 1e-4"
        )
        check(np.less_equal(self.prior[1], 1), "an upper bound of the prior is above 1; probabilities go up to 1")
        self.strength = as_pair(strength, "strength")
        check(np.greater_equal(self.strength[0], 1), "a lower strength is below 1; a prior counts at least one sample")
        check(np.isfinite(self.strength[1]), "an upper strength is not finite; the data would never count")
        self.strength_bound = None if strength_bound is None else as_pair(strength_bound, "strength_bound")
        if self.strength_bound is not None:
            for end, bound, own in zip(("lower", "upper"), self.strength_bound, self.strength, strict=True):
                check(isinstance(bound, float), "strength_bound is one pair of numbers for all transitions")
                check(
                    np.less_equal(own, bound),
                    f"the {end} strength is above its bound {bound:g}; raise the bound or lower the strength",
                )

    @property
    def claim(self) -> Guarantee:
        """None: the intervals are not confidence intervals."""
        return Guarantee("none", reasons=(say(Code.NOT_CONFIDENCE),))

    def begin(self) -> None:
        """Set the bounds to the prior, and the strengths to its strength."""
        lower, upper = (spread(end, "the prior", self.graph) for end in self.prior)
        self.lower, self.upper = np.where(self.uncertain, lower, 1.0), np.where(self.uncertain, upper, 1.0)
        self.strength_lower, self.strength_upper = (spread(end, "the strength", self.graph) for end in self.strength)
        self._check_feasible()
        first = self.per_transition(self.strength_lower[self.graph.choice_ptr[:-1]])
        uneven = np.flatnonzero(self.per_choice(self.uncertain & (self.strength_lower != first)))
        if uneven.size:
            raise ModelError(
                f"{place(self.graph, int(uneven[0]))}: the lower strengths of its successors differ; under conflict the "
                "bounds could then fit no distribution; give them one lower strength (upper strengths may differ)"
            )

    def update(self, counts: NDArray[np.int64]) -> None:
        """Move the bounds of every choice that was sampled, by its own conflict or agreement."""
        from umdp.learn.updates import move_intervals

        bounds = self.lower.copy(), self.upper.copy()
        strengths = self.strength_lower.copy(), self.strength_upper.copy()
        most: Any = self.strength_bound or (np.inf, np.inf)
        move_intervals(self.graph.choice_ptr, counts, bounds, strengths, most)
        self.lower, self.upper = bounds
        self.strength_lower, self.strength_upper = strengths

    def _check_feasible(self) -> None:
        low, high = self.per_choice(self.lower), self.per_choice(self.upper)
        for sums, bad, end, remedy in (
            (low, low > 1 + ROUNDING, "lower", "more than 1; lower them to at most"),
            (high, high < 1 - ROUNDING, "upper", "less than 1; raise them to at least"),
        ):
            if bad.any():
                choice = int(np.flatnonzero(bad)[0])
                raise ModelError(
                    f"{place(self.graph, choice)}: the {end} bounds of the prior of its {self.sizes[choice]} successors sum to "
                    f"{sums[choice]:.6g}, {remedy} {1 / self.sizes[choice]:.3g} each, for example"
                )
