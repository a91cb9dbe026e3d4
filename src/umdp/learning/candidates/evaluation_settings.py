"""How much of a run goes into direct evidence, and which part of the error rate."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

from umdp.errors import ModelError
from umdp.learn import Learner

__all__ = ["ERROR_RATE", "Budget", "CandidateEvaluation", "as_evidence", "divide", "set_aside"]

SHARE, ERROR_RATE = 0.5, 0.01


@dataclass(frozen=True)
class CandidateEvaluation:
    """That a share of the trajectories is played by a candidate policy, as evidence of its value.

    Attributes
    ----------
    share : the share of trajectories, strictly between 0 and 1
    error_rate : the probability with which a bound from playing may ever be wrong. None: half of the learner's, which is left
        with the other half, so that both together are as sure as the learner alone was to be; and 0.01 where the learner
        promises nothing. Given, it is added to the learner's
    most : the most that a trajectory can earn or cost, for an expected reward: without it one that was never seen might be
        worth anything

    Examples
    --------
    >>> CandidateEvaluation().share, CandidateEvaluation(0.25, most=100).most
    (0.5, 100)
    >>> CandidateEvaluation(1.5)
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: evidence is the share of trajectories that candidates play, between 0 and 1, such as 0.5, not 1.5
    """

    share: float = SHARE
    error_rate: float | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        if not _between(self.share):
            raise ModelError(
                f"evidence is the share of trajectories that candidates play, between 0 and 1, such as 0.5, not {self.share}"
            )
        if self.error_rate is not None and not _between(self.error_rate):
            raise ModelError(
                f"the error rate of evidence is a probability between 0 and 1, such as 0.01, not {self.error_rate}"
            )
        if self.most is not None and not (_is_number(self.most) and 0 < self.most < math.inf):
            raise ModelError(
                f"most is what a trajectory earns or costs at most, a number above 0, such as 100, not {self.most}"
            )


def as_evidence(given: CandidateEvaluation | float | bool | None) -> CandidateEvaluation | None:
    """Return what a share, or yes or no, stands for.

    Examples
    --------
    >>> as_evidence(0.25)
    CandidateEvaluation(share=0.25, error_rate=None, most=None)
    >>> as_evidence(True).share, as_evidence(None)
    (0.5, None)
    """
    if given is None or given is False:
        return None
    if isinstance(given, CandidateEvaluation):
        return given
    return CandidateEvaluation() if given is True else CandidateEvaluation(given)


@dataclass(frozen=True)
class Budget:
    """Who may err how often.

    Attributes
    ----------
    settings : what was asked for
    rate : what bounds from playing may, all together
    level : the probability with which these and what the learner promises hold, all together
    """

    settings: CandidateEvaluation
    rate: float
    level: float


def divide(learner: Learner, evidence: CandidateEvaluation) -> tuple[Learner, Budget]:
    """Return the learner with what is left to it of the error rate, and what evidence has of it.

    Examples
    --------
    >>> from umdp import LUI, ConfidenceSequence
    >>> learner, budget = divide(ConfidenceSequence(0.02), CandidateEvaluation())
    >>> learner.error_rate, budget.rate, budget.level
    (0.01, 0.01, 0.98)
    >>> divide(LUI(), CandidateEvaluation(error_rate=0.05))[1].level
    0.95
    """
    claim = learner.claim
    if not claim.holds or claim.level is None:
        rate = ERROR_RATE if evidence.error_rate is None else evidence.error_rate
        return learner, Budget(evidence, rate, 1 - rate)
    if evidence.error_rate is None:
        less = set_aside(learner, 0.5)
        if less is not None:
            return less[0], Budget(evidence, less[1], claim.level)
    rate = ERROR_RATE if evidence.error_rate is None else evidence.error_rate
    both = math.nextafter(1 - claim.level + rate, 1.0)
    if both >= 1:
        raise ModelError(
            "the error rates of the learner and of evidence add up to 1 or more: nothing would be promised"
        )
    return learner, Budget(evidence, rate, 1 - both)


def _own(learner: Any) -> float:
    """Return the error rate of a learner, or of the one that it is around; not a number where there is none."""
    inner = getattr(learner, "inner", None)
    return _own(inner) if isinstance(inner, Learner) else float(getattr(learner, "error_rate", math.nan))


def set_aside(learner: Learner, share: float) -> tuple[Learner, float] | None:
    """Return the learner without a share, at most half, of its error rate, and that share; None where its claim is set otherwise.

    Examples
    --------
    >>> from umdp import ConfidenceSequence
    >>> less, rate = set_aside(ConfidenceSequence(0.5), 0.25)
    >>> less.error_rate, rate
    (0.375, 0.125)
    """
    inner, made, rate = getattr(learner, "inner", None), copy.copy(learner), 0.0
    if isinstance(inner, Learner):
        less = set_aside(inner, share)
        if less is None:
            return None
        made.inner, rate = less  # type: ignore[attr-defined]
    else:
        own = _own(learner)
        if not _between(own):
            return None
        made.error_rate = own * (1 - share)  # type: ignore[attr-defined]
        rate = own - _own(made)  # without rounding, since that is at least half of it
    level = made.claim.level
    return (made, rate) if level is not None and level >= 1 - _own(made) else None


def _between(value: Any) -> bool:
    return _is_number(value) and 0 < value < 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
