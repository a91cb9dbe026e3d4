"""Metrics of learning runs: the column, its name on an axis, and the scale it is drawn on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from umdp.plot.axis import Kind, ValueAxis, fit
from umdp.plot.curves import Band, Run, band

__all__ = ["ESTIMATION_ERROR", "METRICS", "MODEL_ERROR", "PERFORMANCE", "Metric"]


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes
    ----------
    column : of a run
    title : for people
    signed : whether values have both signs, and zero is what they are compared with
    within : the smallest and the largest possible value, if curves are to be seen above the first
    """

    column: str
    title: str
    signed: bool = False
    within: tuple[float, float] | None = None

    def kind(self, logarithmic: bool) -> Kind:
        """Return the kind of axis."""
        return "linear" if not logarithmic else "symmetric" if self.signed else "logarithmic"

    def bands(
        self,
        runs: Mapping[str, Sequence[Run]],
        at: ArrayLike,
        *,
        logarithmic: bool = False,
        optimum: float | None = None,
    ) -> dict[str, Band]:
        """Return the band of every label; means are taken on the scale of the axis."""
        near = linear_up_to(optimum) if logarithmic and self.signed else None
        return {
            label: band(some, self.column, at, logarithmic=logarithmic, threshold=near) for label, some in runs.items()
        }

    def axis(
        self,
        bands: Iterable[Band],
        *,
        logarithmic: bool = False,
        optimum: float | None = None,
        show: Sequence[float] = (),
    ) -> ValueAxis:
        """Return the axis that some bands can be read on, `show` included."""
        near = linear_up_to(optimum) if self.signed else 1.0
        inside = [0.0, *show] if self.signed or (self.within is not None and not logarithmic) else show
        least, usual = (1e-3 * near, near) if self.signed else (0.0, 0.0)
        kind = self.kind(logarithmic)
        return fit(bands, kind, show=inside, threshold=near, within=self.within, least=least, usual=usual)


PERFORMANCE = Metric("performance", "performance")
ESTIMATION_ERROR = Metric("estimation_error", "estimation error", signed=True)
MODEL_ERROR = Metric("model_error", "model error", within=(0.0, 1.0))
METRICS = (PERFORMANCE, ESTIMATION_ERROR, MODEL_ERROR)


def linear_up_to(optimum: float | None) -> float:
    """Return up to which size an error is drawn linearly: the power of ten near a hundredth of the optimum.

    Examples
    --------
    >>> linear_up_to(73.2), linear_up_to(0.3), linear_up_to(None)
    (1.0, 0.01, 1.0)
    """
    if not optimum or not np.isfinite(optimum):
        return 1.0
    return float(10.0 ** np.ceil(np.log10(abs(optimum)) - 2))
