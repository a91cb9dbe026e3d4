"""What learners around the mode of a Dirichlet posterior share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.learn.learner import Learner
from umdp.learn.learner_settings import Setting, as_setting, check, place, spread

__all__ = ["EPSILON", "Dirichlet"]

EPSILON = 1e-4  # the paper's smallest lower bound
TINY = 1e-300


class Dirichlet(Learner):
    r"""Keeps a Dirichlet posterior per choice, and its mode as the estimate (appendix "MAP-estimation").

    The mode of parameters :math:`\alpha_1, \dots, \alpha_m` is :math:`(\alpha_i - 1) / (\sum_j \alpha_j - m)`. With a bound, a
    posterior whose parameters sum to more is weakened: all :math:`\alpha_i - 1` are scaled so that the sum is the bound. That
    leaves the mode where it is, as bounding the strength leaves the intervals of LUI; only later data count for more.

    Attributes
    ----------
    prior : the parameters before any data: one for all, or an array (T,)
    excess : (T,) the parameters of the posterior, less 1
    samples : (C,) the number of samples behind it, no more than the bound
    floor : the smallest lower bound
    """

    floor: float = 0.0
    kept: ClassVar[tuple[str, ...]] = ("excess", "samples")
    excess: NDArray[np.float64]
    samples: NDArray[np.float64]

    def __init__(self, prior: Any = 10.0, strength_bound: Any = None) -> None:
        self.prior: Setting = as_setting(prior, "prior")
        check(
            np.greater(self.prior, 1) & np.isfinite(self.prior),
            "a Dirichlet parameter of the prior is not above 1; give at least a little more, so that no estimate is 0",
        )
        self.strength_bound: float | None = None
        if strength_bound is not None:
            self.strength_bound = float(np.max(as_setting(strength_bound, "strength_bound")))
            check(
                self.strength_bound > 0,
                f"strength_bound is {strength_bound}; give at least the sum of the parameters of a choice's prior",
            )

    @property
    @abstractmethod
    def half_width(self) -> NDArray[np.float64]:
        """How far bounds are from the estimate, shape (C,)."""

    def begin(self) -> None:
        """Set the posterior to the prior, and the bounds to what it says."""
        self.excess = spread(self.prior, "the prior", self.graph) - 1
        self.samples = np.zeros(self.graph.choices)
        if self.strength_bound is not None:
            strength = np.where(self.sizes > 1, self.per_choice(self.excess) + self.sizes, 0)
            above = np.flatnonzero(strength > self.strength_bound)
            if above.size:
                raise ModelError(
                    f"{place(self.graph, int(above[0]))}: the parameters of its prior sum to {strength[above[0]]:g}, more than "
                    f"the strength bound {self.strength_bound:g}; raise the bound or lower the prior"
                )
        widest = int(np.argmax(self.sizes))
        if self.sizes[widest] * self.floor > 1:
            raise ModelError(
                f"{place(self.graph, widest)}: lower bounds of {EPSILON:g} on its {self.sizes[widest]} successors sum to more "
                "than 1; use a learner without a smallest lower bound, such as ConfidenceSequence"
            )
        self.set_bounds()

    def update(self, counts: NDArray[np.int64]) -> None:
        """Add counts to the posterior, and set the bounds to what it says."""
        self.add(counts)
        self.set_bounds()

    def add(self, counts: NDArray[np.int64]) -> None:
        """Add counts to the posterior, and weaken it where it is above the bound."""
        from umdp.learn.updates import add_counts

        excess, samples = self.excess.copy(), self.samples.copy()
        add_counts(self.graph.choice_ptr, counts, excess, samples, self.strength_bound or np.inf)
        self.excess, self.samples = excess, samples

    @property
    def estimate(self) -> NDArray[np.float64]:
        """The mode of the posterior, shape (T,)."""
        mode: NDArray[np.float64] = self.excess / self.per_transition(np.maximum(self.per_choice(self.excess), TINY))
        return mode

    def set_bounds(self) -> None:
        """Set the bounds to the estimate, more or less the half-width, clipped to [floor, 1].

        Where so many estimates are below the floor that raising them to it would leave no distribution, their
        lower bound is the estimate itself.
        """
        from umdp.learn.updates import bounds_around_mode

        self.lower, self.upper = np.empty((2, self.graph.transitions))
        bounds_around_mode(self.graph.choice_ptr, self.excess, self.half_width, self.floor, self.lower, self.upper)
