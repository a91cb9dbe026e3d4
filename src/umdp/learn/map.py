"""Point estimates: the mode of a Dirichlet posterior."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from umdp.learn.dirichlet import Dirichlet
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

__all__ = ["MAP"]


class MAP(Dirichlet):
    r"""Maximum a-posteriori estimates, without any interval around them (appendix "MAP-estimation").

    After :math:`k_i` sightings of successor i and with prior parameters :math:`\alpha_i`, both bounds are

    .. math:: \tilde P_i = \frac{\alpha_i + k_i - 1}{\sum_j (\alpha_j + k_j) - m}.

    Parameters
    ----------
    prior : float or array_like, shape (T,)
        The parameters of the Dirichlet prior, above 1.
    strength_bound : float, optional
        The most that the parameters of a choice may sum to; beyond it old data are forgotten, so that a process that changes
        is followed. The paper says "similarly bound"; `Dirichlet` says how it is read here. Of a pair the upper end counts.

    Attributes
    ----------
    excess : (T,) the parameters of the posterior, less 1
    samples : (C,) the number of samples behind it, no more than the bound

    Examples
    --------
    >>> from umdp import Graph
    >>> coin = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> learner = MAP().bind(coin).learn([1, 1, 0]).learn([0, 20, 0])  # 9 + 1 of 40, 9 + 21 of 40
    >>> learner.lower, learner.upper
    (array([0.25, 0.75, 1.  ]), array([0.25, 0.75, 1.  ]))
    >>> MAP(strength_bound=30)
    MAP(prior=10, strength_bound=30): no guarantee: an estimate without bounds is almost surely not the truth
    """

    name: ClassVar[str] = "map"

    @property
    def claim(self) -> Guarantee:
        """None: an estimate without bounds is almost surely not the truth."""
        return Guarantee("none", reasons=(say(Code.NO_BOUNDS),))

    @property
    def half_width(self) -> NDArray[np.float64]:
        """No width: both bounds are the mode of the posterior."""
        return np.zeros(self.graph.choices)
