"""What ends a run: a threshold, a budget, or nothing left to learn."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from umdp.errors import ModelError
from umdp.source.source import ClosedWorldSource, Source
from umdp.spec import Threshold
from umdp.statements.text import nouns

if TYPE_CHECKING:
    from umdp.learning.snapshot import Snapshot

__all__ = ["Prospects", "StoppingCriteria", "closed", "default_horizon", "reached", "reason_to_end", "threshold"]


@dataclass(frozen=True)
class StoppingCriteria:
    """What ends a run: a threshold that is reached, or a budget.

    Attributes
    ----------
    until : the threshold
    trajectories, steps : the most of them, over the whole run; the last trajectory is never cut
    seconds : of this sitting, from the first answer on: what is compiled for it does not count
    exhaust : whether to use up the budget even where nothing more can be learned, so that curves have equal lengths
    gap : how far the promise may be from the best case
    """

    until: Threshold | None = None
    trajectories: int | None = None
    steps: int | None = None
    seconds: float | None = None
    exhaust: bool = False
    gap: float | None = None

    def most(self, trajectories: int, steps: int, horizon: int) -> int:
        """Return how many more trajectories cannot pass a budget, at least 1.

        That depends on what has been seen alone, so that a run ends with the same trajectory however it was cut into pieces.

        Examples
        --------
        >>> StoppingCriteria(trajectories=10).most(4, 0, 100), StoppingCriteria(steps=1000).most(4, 10, 100)
        (6, 9)
        >>> StoppingCriteria(steps=50).most(4, 10, 100)
        1
        """
        left = 2**40
        if self.trajectories is not None:
            left = min(left, self.trajectories - trajectories)
        if self.steps is not None:
            left = min(left, (self.steps - steps) // horizon)
        return max(left, 1)

    def spent(self, trajectories: int, steps: int) -> str | None:
        """Return which budget is used up, in words; None if there is some left."""
        if self.trajectories is not None and trajectories >= self.trajectories:
            return f"{self.trajectories} {nouns(self.trajectories, 'trajectory')} {_have(self.trajectories)} been seen"
        if self.steps is not None and steps >= self.steps:
            return f"{self.steps} {nouns(self.steps, 'step')} {_have(self.steps)} been seen"
        return None


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


class Prospects(NamedTuple):
    """What may still come of a run.

    Attributes
    ----------
    decided : whether the graph decides the value
    ended : whether there is no more data
    source : where data come from
    can_learn : returns whether exploration can reach something from which more is learned
    gap : returns how far the promise is from the best case
    """

    decided: bool
    ended: bool
    source: Source
    can_learn: Callable[[], bool]
    gap: Callable[[], float]


def reason_to_end(
    snapshot: Snapshot, criteria: StoppingCriteria, wanted: Threshold | None, prospects: Prospects, over: str | None
) -> str | None:
    """Return why a run ends with a snapshot, None if it does not.

    `wanted` is the property's own threshold; `over` is what was said from outside.
    """
    reason = None
    if prospects.decided and not _unread(prospects.source, prospects.ended):
        reason = "the graph decides the value: there is nothing to learn"
    elif prospects.ended:
        reason = "there is no more data"
    else:
        reason = criteria.spent(snapshot.trajectories, snapshot.steps) or over
        if reason is None and not criteria.exhaust and not prospects.can_learn():
            reason = "exploration reaches nothing from which more could be learned"
    # Within an iteration a threshold ends nothing, so that where a run was interrupted does not decide how it goes on.
    if reason is None and snapshot.partial:
        return reason
    return reached(snapshot, criteria.until or wanted) or closed(snapshot, criteria.gap, prospects.gap) or reason


def reached(snapshot: Snapshot, wanted: Threshold | None) -> str | None:
    """Return that a threshold is reached, in words; None if it is not, or there is none."""
    if wanted is None:
        return None
    promise = snapshot.promise
    if promise is not None and promise.by == "evidence":
        ends = (promise.bound, math.inf) if promise.at_least else (-math.inf, promise.bound)
        if wanted.holds(*ends):
            return f"{wanted.operator} {wanted.value:g} is certified by playing the policy"
    # Where playing candidates is to prove something, what is not proved ends nothing.
    if snapshot.evidence is not None and snapshot.evidence.guarantee.holds and not snapshot.guarantee.holds:
        return None
    if not wanted.holds(snapshot.bracket.lower, snapshot.bracket.upper):
        return None
    proved = "is certified" if snapshot.guarantee.holds else "is reached on the learned model"
    return f"{wanted.operator} {wanted.value:g} {proved}"


def closed(snapshot: Snapshot, tolerance: float | None, gap: Callable[[], float]) -> str | None:
    """Return that the promise is as close to the best case as was asked for, in words; None if it is not known to be.

    The best case that exploration follows has no proof: it may say that the gap is too wide, and never that it is not.
    """
    if tolerance is None or snapshot.partial:
        return None
    rough, ends = snapshot.optimistic, snapshot.promised
    if rough is not None and not any(abs(rough - end) <= 2 * tolerance for end in (ends.lower, ends.upper)):
        return None
    if not gap() <= tolerance:
        return None
    proved = "is certified to be" if snapshot.guarantee.holds else "is, on the learned model,"
    return f"the policy {proved} within {tolerance:g} of the optimum"


def _unread(source: Source, ended: bool) -> bool:
    """Whether a log that decides the value was not read to its end: how much stands behind it, and what is wrong with it."""
    if source.interactive or ended:
        return False
    return isinstance(source, ClosedWorldSource) or source.knowledge().graph == "observed"


def default_horizon(states: int) -> int:
    """Return how long trajectories may be where nobody says: some times as long as a walk through all states."""
    return min(max(10 * states, 100), 10_000)


def threshold(text: str) -> Threshold:
    """Return the threshold a text such as ``>=0.3`` stands for.

    Examples
    --------
    >>> threshold(">= 0.3")
    Threshold(operator='>=', value=0.3)
    """
    match = re.fullmatch(r"\s*(<=|>=|<|>)\s*(\S+)\s*", text)
    try:
        if match is None:
            raise ValueError
        value = float(match[2])
        if not math.isfinite(value):
            raise ValueError
        return Threshold(match[1], value)  # type: ignore[arg-type]
    except ValueError:
        raise ModelError(f"{text!r} is not a threshold; write one such as >=0.3 or <=20") from None
