"""The value axis: linear, logarithmic, or logarithmic on both sides of zero, with limits that keep curves readable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.plot.curves import Band
from umdp.plot.trajectory import power

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ValueAxis", "fit"]

DECADES = 45  # a logarithmic axis shows no more on either side of the optimum; a wrong policy on chain takes 38
BOTH_SIDES = 8  # and a symmetric one no more beyond its threshold
OUTLIER = 1000  # a linear axis leaves out what is that many times larger than usual
MARGIN, BAND_MARGIN = 0.05, 0.15  # of the height: around the means, and at most for what bands need beyond that
FEW_TICKS = 7

Kind = Literal["linear", "logarithmic", "symmetric"]


@dataclass(frozen=True)
class ValueAxis:
    """The scale of the values and its limits.

    Attributes
    ----------
    kind : "symmetric" is arsinh(value / threshold): logarithmic on both sides of zero, linear near it.
    lower, upper : the limits
    threshold : where the symmetric scale turns from linear to logarithmic

    Examples
    --------
    >>> axis = ValueAxis("logarithmic", 1.0, 100.0)
    >>> axis.position([1.0, 10.0, 1e4]), axis.clip([1e120]).round(6)
    (array([0. , 0.5, 2. ]), array([251.188643]))
    """

    kind: Kind
    lower: float
    upper: float
    threshold: float = 1.0

    def position(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return where values are, 0 at the lower limit and 1 at the upper."""
        low, high = self._forward(np.array([self.lower, self.upper]))
        return np.asarray((self._forward(np.asarray(values, dtype=np.float64)) - low) / (high - low))

    def clip(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return values moved to just outside the picture where they are far outside, so that files hold no 1e120."""
        low, high = self._forward(np.array([self.lower, self.upper]))
        bounds = self._backward(np.array([low - 0.2 * (high - low), high + 0.2 * (high - low)]))
        return np.clip(np.asarray(values, dtype=np.float64), *bounds)

    def apply(self, ax: Axes) -> None:
        """Give a plot this scale, these limits, and ticks to go with them."""
        from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator, ScalarFormatter

        if self.kind == "logarithmic":
            ax.set_yscale("log")
        elif self.kind == "symmetric":
            ax.set_yscale("asinh", linear_width=self.threshold)
        ax.set_ylim(self.lower, self.upper)
        ticks = self._ticks()
        if ticks:
            ax.yaxis.set_major_locator(FixedLocator(ticks))
            round_only = all(tick == 0 or np.log10(abs(tick)) % 1 == 0 for tick in ticks)
            ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: power(value) if round_only else f"{value:g}"))
        else:
            ax.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
            ax.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))
        ax.yaxis.set_minor_locator(NullLocator())

    def _ticks(self) -> list[float]:
        """Return round values within the limits; none on a linear axis, or on one so short that it is nearly linear."""
        if self.kind == "linear":
            return []
        top = np.log10(max(abs(self.lower), abs(self.upper)))
        if self.kind == "symmetric":
            powers = np.arange(np.ceil(np.log10(self.threshold)), np.floor(top) + 1)
            for every in range(1, len(powers) + 2):
                sizes = 10.0 ** powers[::-1][::every][::-1]
                ticks = [float(tick) for tick in (*-sizes[::-1], 0.0, *sizes) if self.lower <= tick <= self.upper]
                if len(ticks) <= FEW_TICKS:
                    return ticks if len(ticks) > 2 else []
        low, high = np.ceil(np.log10(self.lower) - 1e-9), np.floor(top + 1e-9)
        if high - low < 1:
            factors = [1, 2, 3, 5] if np.log10(self.upper / self.lower) > 0.5 else []
            some = [factor * 10.0**power for power in np.arange(low - 1, high + 1) for factor in factors]
            return [tick for tick in some if self.lower <= tick <= self.upper]
        every = int(np.ceil((high - low + 1) / FEW_TICKS))
        return [float(tick) for tick in 10.0 ** np.arange(np.ceil(low / every) * every, high + 1, every)]

    def _forward(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "logarithmic":
                return np.log10(values)
            return np.arcsinh(values / self.threshold) if self.kind == "symmetric" else values

    def _backward(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.kind == "logarithmic":
            return np.asarray(10.0 ** np.clip(values, -307.0, 307.0))
        return np.sinh(values) * self.threshold if self.kind == "symmetric" else values


def fit(
    bands: Iterable[Band],
    kind: Kind = "linear",
    *,
    show: Sequence[float] = (),
    threshold: float = 1.0,
    within: tuple[float, float] | None = None,
    least: float = 0.0,
    usual: float = 0.0,
) -> ValueAxis:
    """Return an axis on which the curves can be read.

    All means are inside, as far as that does not spoil the view: a linear axis leaves out what is 1000 times larger than
    usual (than what is in `show`, than the last values), a logarithmic one shows 45 decades on either side of the first
    value of `show`, a symmetric one eight beyond the threshold. What is infinite never counts.

    Parameters
    ----------
    show : values that are inside in any case, the optimum for instance
    within : what values can be at all; a linear axis starts with the first of them and does not go beyond the second
    least : the least height of a linear axis: a smaller one would show rounding
    usual : a size that values may well have, even where most of them are smaller: what is up to 1000 times as large stays
    """
    drawn, shown = list(bands), np.asarray(show, dtype=np.float64)
    axis = ValueAxis(kind, 1.0, 10.0, threshold)
    ends = [each.mean[-1:] for each in drawn]
    means = _usual(
        axis, np.concatenate([shown, *(each.mean for each in drawn)]), np.concatenate([shown, *ends, [least, usual]])
    )
    if not len(means):
        return ValueAxis(kind, -threshold if kind == "symmetric" else 0.1 * threshold, threshold, threshold)
    low, high = float(means.min()), float(means.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):  # all the same: give it room
        room = 0.1 * (abs(high) if kind == "linear" and abs(high) > 1e-300 else 1.0)
        low, high = low - room, high + room
    if kind == "linear" and high - low < least:
        low, high = (low + high - least) / 2, (low + high + least) / 2
    height = high - low
    edges = axis._forward(np.concatenate([each for one in drawn for each in (one.lower, one.upper)] or [shown]))
    # Bands of few runs are wide; they do not take values that are all positive below zero.
    least = 0.0 if kind == "linear" and low >= 0 else -np.inf
    edges = np.clip(edges[np.isfinite(edges)], max(low - BAND_MARGIN * height, least), high + BAND_MARGIN * height)
    low, high = float(min([low, *edges])) - MARGIN * height, float(max([high, *edges])) + MARGIN * height
    if within is not None and kind == "linear":
        low, high = within[0], min(high, within[1] + MARGIN * height)
    lower, upper = axis._backward(np.array([low, high]))
    return ValueAxis(kind, float(lower), float(upper), threshold)


def _usual(axis: ValueAxis, values: NDArray[np.float64], anchors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, on the axis's scale, the values that its limits are made from; anchors are those that matter most."""
    values, anchors = values[np.isfinite(values)], anchors[np.isfinite(anchors)]
    if axis.kind == "linear":
        sizes = np.abs(anchors if len(anchors) else values)
        usual = OUTLIER * max([np.median(np.abs(values)), *sizes]) if len(values) else 0.0
        return values[np.abs(values) <= usual]
    if axis.kind == "symmetric":
        return axis._forward(np.clip(values, -axis.threshold * 10.0**BOTH_SIDES, axis.threshold * 10.0**BOTH_SIDES))
    values, anchors = values[values > 0], anchors[anchors > 0]
    middle = np.log10(anchors[0] if len(anchors) else np.median(values)) if len(values) else 0.0
    return np.clip(np.log10(values), middle - DECADES, middle + DECADES)
