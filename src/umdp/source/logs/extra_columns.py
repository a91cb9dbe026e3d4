"""Columns of a log besides states and actions: labels and rewards, gathered for every state or transition."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError, ModelError
from umdp.source.logs.decimals import DecimalSign, finite
from umdp.source.logs.trajectory_ends import flag
from umdp.source.observed_graph import label_members
from umdp.statements import Code, DiagnosticCode, Statement, say

__all__ = ["LabelColumn", "RewardColumn", "RewardOf", "Triple", "per_state", "read_reward", "split"]

Triple = tuple[str, str, str]
RewardOf = str | float | Mapping[str, float]
MEAN = "mean:"
NUMBER = r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*"
ENTRY, LEAST = re.compile(f"(.+):{NUMBER}"), re.compile(f"(.+)>={NUMBER}")


def read_reward(
    name: str, given: RewardOf, header: Sequence[str] | None = None, decimal: str | None = None
) -> RewardColumn | float | Mapping[str, float]:
    """Return what a reward of a name is: what a column says, so much everywhere, or in some states.

    Decimals of a column stand behind `decimal`, or that is found out; those that are given, behind a point.

    It is given as a number, ``COLUMN``, ``COLUMN>=NUMBER``, ``mean:COLUMN``, ``STATE:NUMBER,...``, or a mapping.

    Examples
    --------
    >>> read_reward("cost", "downtime").column, read_reward("cost", "mean:downtime").mean, read_reward("cost", "1")
    ('downtime', True, 1.0)
    >>> read_reward("cost", "worn:1,(0,1):2.5")
    {'worn': 1.0, '(0,1)': 2.5}
    >>> read_reward("cost", "pay>=-20").column, read_reward("cost", "pay>=-20").least
    ('pay', -20.0)
    """
    if not isinstance(given, str):
        return given
    text = given.strip()
    if header is not None and text in header:
        return RewardColumn(name, text, decimal=decimal)
    if text.startswith(MEAN):
        return RewardColumn(name, text.removeprefix(MEAN), mean=True, decimal=decimal)
    number = finite(text)
    if number is not None:
        return number
    bounded = LEAST.fullmatch(text)
    if bounded is not None:
        return RewardColumn(name, bounded[1].strip(), least=finite(bounded[2]), decimal=decimal)
    entries = [ENTRY.fullmatch(part) for part in split(text)]
    if entries and all(entries):
        found = ((entry[1].strip(), finite(entry[2])) for entry in entries if entry is not None)
        return {state: value for state, value in found if value is not None}
    return RewardColumn(name, text, decimal=decimal)


def split(text: str) -> list[str]:
    """Return the parts of a list; commas inside brackets belong to names.

    Examples
    --------
    >>> split("a, (0,1),b*")
    ['a', '(0,1)', 'b*']
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}" and depth > 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def per_state(name: str, given: Mapping[str, float], states: Sequence[Any]) -> NDArray[np.float64]:
    """Return a reward for every state, shape (S,); states are given by name or pattern, and by one of them at most."""
    paid = np.zeros(len(states))
    done = np.zeros(len(states), dtype=np.bool_)
    for state, value in given.items():
        members = label_members(name, [state], states, what="reward")
        if (done & members).any():
            twice = states[int(np.argmax(done & members))]
            raise ModelError(f'reward "{name}": the state {twice!r} is given twice; give it once')
        done |= members
        paid[members] = value
    return paid


class _Column:
    """A column that is gathered: its values that could not be read, how many and the first."""

    def __init__(self, column: str) -> None:
        self.column, self._unread, self._first = column, 0, ""

    def _reject(self, value: Any) -> None:
        """Take note of a value that cannot be read."""
        self._first = self._first if self._unread else str(value)[:60]
        self._unread += 1

    def notes(self) -> list[Statement]:
        """Return that some values were passed over."""
        if not self._unread:
            return []
        return [say(DiagnosticCode.UNREADABLE, values=self._unread, column=self.column, first=self._first)]


class LabelColumn(_Column):
    """A column that says yes or no of a state: of that in which a row starts (0), or of that to which it leads (2)."""

    def __init__(self, label: str, column: str, *, of: int) -> None:
        super().__init__(column)
        self.label, self._of = label, of
        self._said: dict[str, tuple[Any, bool]] = {}
        self._clash = ""

    def take(self, triple: Triple, value: Any) -> None:
        """Take in what a row says."""
        state = triple[self._of]
        before = self._said.get(state)
        if before is not None and before[0] == value:
            return
        said = flag(value)
        if said is None:
            self._reject(value)
        elif before is None:
            self._said[state] = (value, said)
        elif before[1] != said and not self._clash:
            self._clash = state

    def check(self, name: str, *, strict: bool) -> None:
        """Raise `FormatError` if the column does not say the same of a state whenever it is there."""
        if self._unread and strict:
            raise FormatError(
                f'label "{self.label}": the column "{self.column}" holds {self._first!r}; it must say true or '
                "false, 1 or 0",
                path=name,
            )
        if self._clash:
            raise FormatError(
                f'label "{self.label}": the column "{self.column}" says both yes and no of the state {self._clash!r}; a label '
                "holds in a state always or never, so make what the column says part of the state's name",
                path=name,
            )

    @property
    def assumed(self) -> Statement:
        """What must be true for any promise."""
        return say(Code.LABEL, label=self.label)

    @property
    def members(self) -> list[str]:
        """The states of which the column says yes."""
        return [state for state, (_, said) in self._said.items() if said]


class RewardColumn(_Column):
    """A column of numbers: what is paid on a transition, the same whenever it is taken; or its mean."""

    def __init__(
        self, reward: str, column: str, *, mean: bool = False, least: float | None = None, decimal: str | None = None
    ) -> None:
        super().__init__(column)
        self.written = DecimalSign(decimal)
        self.reward, self.mean, self._least = reward, mean, least
        self._values: dict[Triple, tuple[Any, float]] = {}
        self._sums: dict[Triple, tuple[float, int]] = {}
        self._missing: set[Triple] = set()
        self._clash: tuple[Triple, float, float] | None = None

    def take(self, triple: Triple, value: Any) -> None:
        """Take in what a row says."""
        before = self._values.get(triple)
        if before is not None and before[0] == value and not self.mean:
            return
        number = self.written.number(value)
        if number is None:
            self._reject(value)
            self._missing.add(triple)
        elif self.mean:
            total, count = self._sums.get(triple, (0.0, 0))
            self._sums[triple] = total + number, count + 1
        elif before is None:
            self._values[triple] = (value, number)
        elif before[1] != number and self._clash is None:
            self._clash = triple, before[1], number

    def check(self, name: str, *, strict: bool) -> None:
        """Raise `FormatError` if the column has no number, or not always the same, for a transition."""
        self.decimal = self.written.sign(name, self.column)
        if self.mean:
            self._values = {triple: ("", total / count) for triple, (total, count) in self._sums.items()}
        missing = [triple for triple in self._missing if triple not in self._values]
        if self._unread and (strict or missing):
            raise FormatError(
                f'reward "{self.reward}": the column "{self.column}" holds {self._first!r}; it must hold numbers, with '
                f'"{self.decimal}" before decimals',
                path=name,
            )
        if self._clash is not None:
            (state, action, successor), one, other = self._clash
            raise FormatError(
                f'reward "{self.reward}": the column "{self.column}" is {one:g} and {other:g} for the same transition, state '
                f"{state}, action {action}, to {successor}; a reward is known and always the same. Correct it, make it part of "
                f'the state, or take the mean of what was seen, about which nothing is promised: "{MEAN}{self.column}"',
                path=name,
            )

        lowest = min((value for _, value in self._values.values()), default=0.0)
        if self._least is not None and lowest < self._least:
            raise FormatError(
                f'reward "{self.reward}": the column "{self.column}" holds {lowest:g}, though no step is said to pay less than '
                f"{self._least:g}; say what a step pays at least",
                path=name,
            )

    def notes(self) -> list[Statement]:
        """Return that it has decimal commas, where nobody said so, and that some values were passed over."""
        first = self.written.first[","]
        found = (
            [say(DiagnosticCode.DECIMAL, column=self.column, first=first)] if first and not self.written.given else []
        )
        return [*found, *super().notes()]

    @property
    def least(self) -> float:
        """What a step pays at least: what was said, otherwise the least that was seen, or nothing."""
        seen = min((value for _, value in self._values.values()), default=0.0)
        return min(seen, 0.0) if self._least is None else self._least

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What must be true, or stands against it, where this reward is asked for."""
        if self.mean:
            return (say(Code.MEAN, reward=self.reward),)
        if self._unread:
            bad = {"values": self._unread, "first": self._first}
            return (say(Code.UNREAD, reward=self.reward, column=self.column, **bad),)
        shown = say(Code.REWARD, reward=self.reward)
        if self._least is None and self.least < 0:
            return shown, say(Code.NO_LEAST, reward=self.reward, column=self.column)
        return shown, say(Code.LEAST, reward=self.reward, least=self.least)

    def knows(self, triple: Sequence[Any]) -> bool:
        """Whether a transition was seen with a number."""
        return tuple(triple) in self._values

    def value(self, triple: Sequence[Any]) -> float:
        """Return what is paid on a transition."""
        state, action, successor = triple
        return self._values[state, action, successor][1]
