"""Alarms: what a learner noticed that it had not been told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from umdp.plural import nouns

__all__ = ["SHOWN", "Alarm", "in_lines"]

SHOWN = 3  # alarms that are told one by one, the newest first


@dataclass(frozen=True)
class Alarm:
    """The distribution of a choice has changed: where, when, and when it was noticed.

    Attributes
    ----------
    place : where, such as "state (3,4), action east"
    after : of how many samples of the choice it had given before it changed, about
    samples : how many it had given when that was noticed
    steps : how many steps there had been in all
    times : how many alarms this choice has raised so far, this one included
    fresh : whether it was raised by the newest data

    Examples
    --------
    >>> print(Alarm("state a, action b", 1000, 1024, 4321, 1, True))
    alarm: state a, action b changed after about 1,000 of its samples; noticed after 1,024, 4,321 steps in all, and restarted
    """

    place: str
    after: int
    samples: int
    steps: int
    times: int
    fresh: bool

    def __str__(self) -> str:
        again = "" if self.times == 1 else f" (its alarm number {self.times})"
        return (
            f"alarm: {self.place} changed after about {self.after:,} of its samples; noticed after {self.samples:,}, "
            f"{self.steps:,} {nouns(self.steps, 'step')} in all, and restarted{again}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, and the text, for JSON."""
        return {**asdict(self), "text": str(self)}


def in_lines(alarms: Sequence[Alarm]) -> list[str]:
    """Return the newest alarms as text, a line each, and how many more there were.

    Examples
    --------
    >>> many = [Alarm(f"state {s}, action a", 90, 100, 1000 + s, 1, False) for s in range(9)]
    >>> in_lines(many)[0][:14], in_lines(many)[-1]
    ('alarm: state 8', 'and alarms at 6 more choices before')
    """
    newest = sorted(alarms, key=lambda alarm: -alarm.steps)
    more = len(newest) - SHOWN
    told = [str(alarm) for alarm in newest[:SHOWN]]
    return told if more <= 0 else [*told, f"and alarms at {more:,} more {nouns(more, 'choice')} before"]
