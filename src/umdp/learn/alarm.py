"""Alarms: what a learner noticed that it had not been told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from umdp.statements import DiagnosticCode, Statement, say

__all__ = ["SHOWN", "Alarm", "Changed", "Contradicted", "Misfit", "in_lines"]

SHOWN = 3  # alarms that are told one by one, the newest first


@dataclass(frozen=True)
class Alarm:
    """What was noticed at a choice, and when.

    Attributes
    ----------
    place : where, such as "state (3,4), action east"
    samples : how many samples the choice had given when it was noticed
    steps : how many steps there had been in all
    fresh : whether it was raised by the newest data
    """

    place: str
    samples: int
    steps: int
    fresh: bool

    code: ClassVar[DiagnosticCode]

    @property
    def said(self) -> Statement:
        """The alarm as a statement."""
        return say(self.code, **{name: value for name, value in asdict(self).items() if name != "fresh"})

    def __str__(self) -> str:
        return str(self.said)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, code and text, for JSON."""
        return {**asdict(self), **self.said.as_dict()}


@dataclass(frozen=True)
class Changed(Alarm):
    """The distribution of a choice has changed, and what is learned of it started anew.

    Attributes
    ----------
    after : how many samples it had given before it changed, about
    times : how many alarms this choice has raised so far, this one included

    Examples
    --------
    >>> print(Changed("state a, action b", 1024, 4321, True, 1000, 1))
    alarm: state a, action b changed after about 1,000 of its samples; noticed after 1,024, 4,321 steps in all, and restarted
    """

    code = DiagnosticCode.CHANGED
    after: int
    times: int


@dataclass(frozen=True)
class Misfit(Alarm):
    """A choice does not share the distribution of its class.

    Attributes
    ----------
    of : the name of the class

    Examples
    --------
    >>> print(Misfit("state a, action b", 1024, 4321, True, "coin"))
    alarm: state a, action b is not like the other choices of class coin; noticed after 1,024, 4,321 steps in all
    """

    code = DiagnosticCode.MISFIT
    of: str


@dataclass(frozen=True)
class Contradicted(Alarm):
    """No values of its parameters make a program fit what was seen of a class, and of the others.

    Attributes
    ----------
    of : the program

    Examples
    --------
    >>> print(Contradicted("class p | 1 - p", 1024, 4321, True, "brp.prism"))
    alarm: class p | 1 - p does not fit brp.prism, whatever its parameters; noticed after 1,024, 4,321 steps in all
    """

    code = DiagnosticCode.CONTRADICTED
    of: str


def in_lines(alarms: Sequence[Alarm]) -> list[Statement]:
    """Return the newest alarms as text, a line each, and how many more there were.

    Examples
    --------
    >>> many = [Changed(f"state {s}, action a", 100, 1000 + s, False, 90, 1) for s in range(9)]
    >>> in_lines(many)[0][:14], in_lines(many)[-1]
    ('alarm: state 8', 'and 6 more alarms before')
    """
    newest = sorted(alarms, key=lambda alarm: -alarm.steps)
    more = len(newest) - SHOWN
    told = [alarm.said for alarm in newest[:SHOWN]]
    return told if more <= 0 else [*told, say(DiagnosticCode.MORE_ALARMS, more=more)]
