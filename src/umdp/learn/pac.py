"""Intervals from Hoeffding's inequality, around one of two estimates."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.learn.dirichlet import EPSILON, Dirichlet
from umdp.learn.learner_settings import as_rate, check
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

__all__ = ["PAC"]


class PAC(Dirichlet):
    r"""Intervals of Hoeffding's width; a guarantee for one look, but only around the mean.

    After N samples of a choice, the paper's section "Learning PAC Intervals" (with its corrected formula) takes

    .. math:: [\max(\varepsilon, \tilde P_i - \delta), \min(\tilde P_i + \delta, 1)], \qquad
              \delta = \sqrt{\log(2 / \gamma_P) / 2 N},

    with :math:`\varepsilon = 10^{-4}` and the error rate :math:`\gamma` split evenly, :math:`\gamma_P = \gamma / n`, over the n
    transitions of the model that are uncertain. Before the first sample the interval is :math:`[\varepsilon, 1]`.

    ``around="map"`` is the paper's: :math:`\tilde P` is the mode of a Dirichlet posterior. It carries the label "none", because
    the paper's proposition does not hold for it: Hoeffding's inequality is about the mean of the samples, and the prior pulls the
    mode away from it. (One choice with 4 successors and 50 samples: an interval that may miss with probability 0.0025 never
    holds a true p of 0.96; also where the error rate is split hundredfold, it misses hundreds of times too often.) Moreover
    :math:`\varepsilon` may exceed the truth.

    ``around="mean"`` puts the same width around the mean :math:`k_i / N`, and clips to [0, 1]: what is clipped is impossible, so
    nothing true is lost. Transitions of choices that do not matter for the property are not paid for (``spend="relevant"``), and
    stay [0, 1]. All others hold at once with probability :math:`1 - \gamma`, **if the bounds are looked at once**, after numbers
    of samples fixed before.

    Parameters
    ----------
    error_rate : float
        The probability with which something may be wrong.
    prior : float or array_like, shape (T,)
        The parameters of the Dirichlet prior, above 1; used around the mode only.
    around : {"map", "mean"}
        The estimate in the middle.
    spend : {"all", "relevant"}, optional
        What the error rate is split over: all uncertain transitions, or those of choices that matter for the property. By
        default all around the mode, as in the paper, and the relevant ones around the mean.

    Attributes
    ----------
    excess : (T,) the parameters of the posterior, less 1; around the mean, the counts
    samples : (C,) the number of samples

    Examples
    --------
    >>> from umdp import Graph
    >>> coin = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> PAC(around="mean").bind(coin).learn([400, 600, 0]).lower.round(4)  # 0.4 - 0.0547, 0.6 - 0.0547
    array([0.3453, 0.5453, 1.    ])
    >>> PAC(around="mean")
    PAC(error_rate=0.01, prior=10, around='mean', spend='relevant'): with probability 99 %, if you look once, ...
    >>> PAC()
    PAC(error_rate=0.01, prior=10, around='map', spend='all'): no guarantee: ...
    """

    name: ClassVar[str] = "pac"

    def __init__(
        self,
        error_rate: float = 0.01,
        prior: Any = 10.0,
        around: Literal["map", "mean"] = "map",
        spend: Literal["all", "relevant"] | None = None,
    ) -> None:
        super().__init__(prior)
        self.error_rate = as_rate(error_rate)
        check(around in ("map", "mean"), f'around is {around!r}; give "map" or "mean"')
        self.around = around
        self.floor = EPSILON if around == "map" else 0.0
        check(spend in ("all", "relevant", None), f'spend is {spend!r}; give "all" or "relevant"')
        self.spend = spend or ("all" if around == "map" else "relevant")

    @property
    def claim(self) -> Guarantee:
        """None around the mode; one look after fixed numbers of samples around the mean."""
        if self.around == "map":
            return Guarantee("none", reasons=(say(Code.BIASED),))
        return Guarantee("fixed-N", 1 - self.error_rate)

    @property
    def level(self) -> float:
        """The share of the error rate that each transition gets."""
        paid = self.uncertain if self.spend == "all" else self.uncertain & self.per_transition(self.matters)
        return self.error_rate / max(int(np.count_nonzero(paid)), 1)

    def begin(self) -> None:
        """Set all bounds to what is known before any sample."""
        self._scale = float(np.log(2 / self.level)) / 2
        super().begin()
        if self.around == "mean":
            self.excess = np.zeros(self.graph.transitions)
            self.set_bounds()

    @property
    def half_width(self) -> NDArray[np.float64]:
        """Hoeffding's width, shape (C,); 1 where nothing is known, or nothing is paid for."""
        known = self.samples > 0
        if self.around == "mean" and self.spend == "relevant":
            known &= self.matters
        return np.where(known, np.sqrt(self._scale / np.maximum(self.samples, 1)), 1.0)
