"""What was measured when a policy was played, with its interval, beside what was promised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.plural import nouns, were

__all__ = ["LEVEL", "Simulation", "clopper_pearson", "student"]

LEVEL = 0.95
ROUNDING = 2.0**-52  # relative error of an addition, and more than that


@dataclass(frozen=True)
class Simulation:
    """What came of playing a policy for some episodes.

    Attributes
    ----------
    episodes, steps : how many, in all
    quantity : "probability": how often the property held; "return": what was earned, in the process's own units; "reward": what
        the model's reward structure adds up to; "average": what a step earned, or the share of time
    mean, lower, upper : the mean, and its 95 % interval: Clopper and Pearson's, which is exact, for a probability; Student's t,
        which is approximate, for the others. Of a probability, the mean is over the episodes in which the property was decided,
        nan where there is none, and the interval holds however the others would have gone on
    promised : the bound that was promised, in the same units; None where nothing was
    at_least : whether that is a lower bound
    cut : episodes that ended, or were cut off by a time limit, before the property was decided; what they had earned until then
        counts
    unseen : episodes that met a state the policy knows nothing of: of a probability they count as the worst, otherwise an action
        was taken at random there
    about : what is measured, where that is not quite what was asked for

    Examples
    --------
    >>> print(Simulation(1000, 13080, "return", 7.91, 7.75, 8.07, promised=7.9))
    return    7.910, 95 % interval 7.750 .. 8.070 (Student's t, approximate)
    promised  at least 7.900
    played    1,000 episodes of 13.1 steps
    """

    episodes: int
    steps: int
    quantity: Literal["probability", "return", "reward", "average"]
    mean: float
    lower: float
    upper: float
    promised: float | None = None
    at_least: bool = True
    cut: int = 0
    unseen: int = 0
    about: str = ""

    @property
    def kept(self) -> bool | None:
        """Whether what was measured agrees with the promise: False if the whole interval is on the wrong side of it."""
        if self.promised is None or math.isnan(self.mean):
            return None
        return self.upper >= self.promised if self.at_least else self.lower <= self.promised

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        return {
            "episodes": self.episodes, "steps": self.steps, "quantity": self.quantity,
            "mean": None if math.isnan(self.mean) else self.mean, "lower": self.lower, "upper": self.upper,
            "promised": self.promised, "cut": self.cut, "unseen": self.unseen, "about": self.about,
        }  # fmt: skip

    def lines(self, promise: str = "", *, holds: bool = True) -> list[str]:
        """Return what was measured in lines; `promise` is what stands behind the bound, in words, if it `holds` at all."""
        digits, width = (4, 11) if self.quantity == "probability" else (3, 8)
        by = "Clopper and Pearson, exact" if self.quantity == "probability" else "Student's t, approximate"
        interval = f"{self.lower:.{digits}f} .. {self.upper:.{digits}f}"
        mean = "undecided" if math.isnan(self.mean) else f"{self.mean:.{digits}f}"
        said = [f"{self.quantity:<{width}}  {mean}, 95 % interval {interval} ({by})"]
        if self.promised is not None:
            side = "at least" if self.at_least else "at most"
            behind = f", {promise}" if promise else ""
            said.append(f"{'promised' if holds else 'learned':<{width}}  {side} {self._safe(digits)}{behind}")
        if self.kept is False:
            said.append(f"{'':<{width}}  the measured interval lies on the wrong side of it")
        said.append(
            f"{'played':<{width}}  {self.episodes:,} {nouns(self.episodes, 'episode')} of "
            f"{self.steps / max(self.episodes, 1):.1f} steps"
        )
        if self.about:
            said.append(f"{'':<{width}}  {self.about}")
        if self.cut:
            so = ": the interval allows for both" if self.quantity == "probability" else ""
            said.append(
                f"{'':<{width}}  {self.cut:,} ended or {were(self.cut)} cut off before the property was decided{so}"
            )
        if self.unseen:
            then = "which counts as the worst" if self.quantity == "probability" else "where it acted at random"
            said.append(f"{'':<{width}}  {self.unseen:,} met a state the policy knows nothing of, {then}")
        return said

    def _safe(self, digits: int) -> str:
        """Return the bound that was promised, rounded to the side on which less is promised."""
        if self.promised is None or not math.isfinite(self.promised):
            return f"{self.promised}"
        scale = 10**digits
        near = (math.floor if self.at_least else math.ceil)(self.promised * scale)
        return f"{near / scale:.{digits}f}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def clopper_pearson(hits: int, tries: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a probability.

    Examples
    --------
    >>> lower, upper = clopper_pearson(0, 100)
    >>> lower, round(upper, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    tail = (1 - LEVEL) / 2
    lower = 0.0 if hits == 0 else float(betaincinv(hits, tries - hits + 1, tail))
    upper = 1.0 if hits == tries else float(betaincinv(hits + 1, tries - hits, 1 - tail))
    return lower, upper


def student(values: NDArray[np.float64], beyond: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
    """Return the 95 % interval of a mean by Student's t, rounded outwards; all there is to say of one value is nothing.

    `beyond` is the least and the most that each value leaves out.

    Examples
    --------
    >>> [round(end, 3) for end in student(np.array([1.0, 2.0, 3.0]))]
    [-0.484, 4.484]
    """
    from scipy.special import stdtrit

    if values.size < 2:
        return -math.inf, math.inf
    mean = float(values.mean())
    half = float(stdtrit(values.size - 1, 1 - (1 - LEVEL) / 2)) * float(values.std(ddof=1)) / math.sqrt(values.size)
    slack = ROUNDING * (values.size + 1) * float(np.abs(values).max())
    return mean - half - slack + beyond[0], mean + half + slack + beyond[1]
