"""The options that say how a log is to be read, for every command that reads one, and the file that may say it instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import typer

from umdp.run.log_settings import LogSettings, beside, read_description
from umdp.run.trust import require_description
from umdp.source.resolve import resolve

__all__ = ["LogOptions"]


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """How a log is to be read.

    Options
    -------
    columns : ROLE=NAME
        Columns of a log: state=unit,next=after; roles: trajectory, state, action, next, end, terminated, truncated.
    label : NAME=STATES
        A label: failed=failed, failed=fail*,broken, hot=column:alarm, failed=next:end.
    reward : NAME=COLUMN
        A reward: cost=downtime, gain=pay>=-20, cost=mean:downtime, steps=1, cost=worn:1,failed:10.
    initial : STATE
        The initial state of a log; observed: the states in which trajectories begin.
    terminal : STATES
        States of a log that end trajectories, though it does not say so.
    graph : MODEL
        What can happen, if not what the log shows: a model, FILE.py:NAME, or a CSV of it.
    describe : FILE
        A TOML file that says all this; machine.toml beside machine.csv is found by itself.
    encoding : NAME
        The encoding of a log, such as cp1252 or utf-16. Default: what its bytes tell.
    decimal : SIGN
        What stands before decimals in a log: , or . as in --decimal , (default: what its numbers tell).
    trust
        Execute the code and write the files that a description names.
    """

    columns: list[str] | None = None
    label: list[str] | None = None
    reward: list[str] | None = None
    initial: str | None = None
    terminal: str | None = None
    graph: str | None = None
    describe: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    trust: bool = False

    def settings(
        self,
        name: str | None,
        tell: Callable[[str], None],
        *,
        aside: str | None = None,
        known: str | None = None,
        writes: bool = True,
    ) -> tuple[LogSettings, dict[str, str]]:
        """Return what was typed, completed by the file that describes the log; and what else that file says.

        Parameters
        ----------
        name : of the log; None without
        tell : is told which file describes it, where nobody named one
        aside : a file for rows that are rejected
        known : the model that says what can happen, where that is not said here
        writes : whether rows that are rejected may be written to a file
        """
        typed = self._typed(aside)
        found = self.describe if self.describe is not None else None if name is None else beside(name)
        if found is None:
            return typed, {}
        settings, more = read_description(found)
        unused = {"graph": known is not None, "aside": not writes}
        settings = msgspec.structs.replace(settings, **{key: None for key, is_unused in unused.items() if is_unused})
        require_description(typed, settings, Path(found), trusted=self.trust)
        graph = known or typed.graph or settings.graph
        if graph is not None and not resolve(graph).recorded:
            settings = settings.unlabelled()  # a model has labels and rewards of its own
        if self.describe is None:
            tell(f"{name} is described by {found}")
        return typed.over(settings), more

    def _typed(self, aside: str | None) -> LogSettings:
        from umdp.source.logs.extra_columns import split

        parts = (part for text in self.columns or () for part in split(text))
        labels: dict[str, list[str]] = {}
        for label, states in _pairs("--label", self.label or (), "failed=failed"):
            labels.setdefault(label, []).extend(split(states))
        return LogSettings(
            columns=dict(_pairs("--columns", parts, "state=unit")),
            labels=labels,
            rewards=dict(_pairs("--reward", self.reward or (), "cost=downtime")),
            initial=self.initial,
            terminal=[] if self.terminal is None else split(self.terminal),
            aside=aside,
            graph=self.graph,
            encoding=self.encoding,
            decimal=self.decimal,
        )


def _pairs(option: str, texts: Iterable[str], example: str) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise typer.BadParameter(f'{option} "{text}": write NAME=VALUE, such as {example}')
        yield name.strip(), value.strip()
