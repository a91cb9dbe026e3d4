"""Intervals of the width of UCRL2."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from umdp.learn.dirichlet import EPSILON, Dirichlet
from umdp.learn.learner_settings import as_rate
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

__all__ = ["UCRL2"]


class UCRL2(Dirichlet):
    r"""Intervals around the MAP estimate, as wide as UCRL2's balls (appendix "Comparison with UCRL2").

    After N samples of a choice in a state with \|A\| actions, and :math:`t_k` steps in all (at least 1), the bounds are

    .. math:: \tilde P_i \pm \sqrt{14 |S| \log(2 |A| t_k / \gamma) / \max(1, N)}, \qquad \text{clipped to } [\varepsilon, 1],

    with :math:`\varepsilon = 10^{-4}`. As :math:`t_k` grows with every step, so do the intervals of choices that are not sampled.

    It carries the label "none": the width is meant for the distance between whole distributions and their means, not for
    intervals around an estimate that the prior pulls away from the mean, and :math:`\varepsilon` may exceed the truth.

    Parameters
    ----------
    error_rate : float
        UCRL2's :math:`\gamma`.
    prior : float or array_like, shape (T,)
        The parameters of the Dirichlet prior, above 1.
    strength_bound : float, optional
        The most that the parameters of a choice may sum to, as for `MAP`; N grows no further either, so that with a bound the
        intervals do not shrink to a point.

    Attributes
    ----------
    excess : (T,) the parameters of the posterior, less 1
    samples : (C,) the number of samples behind it, no more than the bound
    steps : (1,) the number of all steps

    Examples
    --------
    >>> from umdp import Graph
    >>> coin = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> learner = UCRL2().bind(coin).learn([4000, 6000, 0])  # the half-width is sqrt(28 log(2e6) / 1e4) = 0.2016
    >>> learner.lower.round(4), learner.upper.round(4)
    (array([0.1986, 0.3983, 1.    ]), array([0.6017, 0.8014, 1.    ]))
    >>> UCRL2()
    UCRL2(error_rate=0.01, prior=10, strength_bound=None): no guarantee: ...
    """

    name: ClassVar[str] = "ucrl2"
    floor = EPSILON
    kept: ClassVar[tuple[str, ...]] = ("steps",)
    steps: NDArray[np.int64]

    def __init__(self, error_rate: float = 0.01, prior: Any = 10.0, strength_bound: Any = None) -> None:
        super().__init__(prior, strength_bound)
        self.error_rate = as_rate(error_rate)

    @property
    def claim(self) -> Guarantee:
        """None, as the intervals are not those that UCRL2's guarantee is about."""
        return Guarantee("none", reasons=(say(Code.NOT_UCRL2),))

    def begin(self) -> None:
        """Set all bounds to [epsilon, 1], which is what the formula gives before any step."""
        self.steps = np.zeros(1, np.int64)
        super().begin()

    def update(self, counts: NDArray[np.int64]) -> None:
        """Add counts, and set all bounds for the number of steps by now."""
        self.steps = self.steps + counts.sum()
        super().update(counts)

    @property
    def half_width(self) -> NDArray[np.float64]:
        """The radius of UCRL2's balls, shape (C,)."""
        actions = np.log(np.diff(self.graph.state_ptr))[self.graph.choice_state]
        spread = actions + math.log(2 * max(int(self.steps[0]), 1) / self.error_rate)
        radius: NDArray[np.float64] = np.sqrt(14 * self.graph.states * spread / np.maximum(self.samples, 1))
        return radius
