"""`umdp look`: what is in a log, before anything is learned from it."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.cli.log_options import LogOptions
from umdp.cli.terminal import as_text, console, say, say_json
from umdp.errors import FormatError, ModelError
from umdp.run import Config
from umdp.run.log_settings import LogSettings
from umdp.source.resolve import STANDARD_INPUT, resolve
from umdp.statements import with_codes
from umdp.statements.text import nouns

if TYPE_CHECKING:
    from umdp.source.logs.overview import Overview
    from umdp.source.logs.reader import Reader

__all__ = ["Look"]

SHOWN = 20  # states or actions in a table
OWN = ("end", "unexplored")  # labels that every graph of a log has
NOT_IN_A_LABEL = re.compile(r"[,=*?\[\]:]")


@dataclass(frozen=True, kw_only=True)
class Look(LogOptions):
    """Look at a log before learning: rows, states, actions, what its columns are taken for, what would be assumed.

    It is read as umdp learn reads it, with the same options. Rows that do not fit are counted and shown. The last line is the
    command that comes next.

    Arguments
    ---------
    log : LOG
        As for learn: .csv .tsv .jsonl .xes, also .gz, .parquet, a folder or pattern of these, minari:NAME, or - for
        standard input.

    Examples
    --------
    # what is in it (python examples/machine.py machine.csv writes this one)
    umdp look machine.csv
    # with labels and what a column says is paid, for programs
    umdp look machine.csv --label failed=failed --reward cost=mean:downtime --json
    """

    log: str
    json: bool = False

    def run(self) -> int:
        """Read the log and say what is in it."""
        from umdp.source.logs.overview import overview
        from umdp.source.logs.recorded_data import Recorded

        if not resolve(self.log).recorded:
            raise ModelError(
                f"{self.log} is no log: give a .csv, .tsv, .jsonl, .xes or .parquet file, a folder or pattern, minari:NAME, or -"
            )
        settings, more = self.settings(self.log, self._tell, writes=False)
        config = Config(model=self.log, data=settings, on_error="skip")
        with self._readable(settings) as log:
            source = config.opened(log)
            assert isinstance(source, Recorded)
            try:
                seen = overview(source)
            finally:
                source.close()
        command = shlex.join(self._next(seen, settings, more))
        if self.json:
            say_json(_record(seen) | {"next": command})
        else:
            self._print(seen, _used(settings), command)
        return 0

    def _tell(self, line: str) -> None:
        if not self.json:
            say(line, err=True, flush=True)

    @contextmanager
    def _readable(self, settings: LogSettings) -> Iterator[str | Reader]:
        """Give what can be read twice, from the beginning: the log by its name, or a copy of standard input."""
        from umdp.source.logs.line_stream import FileFeed
        from umdp.source.logs.opening import told

        if self.log != STANDARD_INPUT:
            yield self.log
            return
        if sys.stdin is None or sys.stdin.closed:
            raise FormatError("standard input is closed; give a file, or let something be read there")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "log")
            with path.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
            feed = FileFeed(path)
            feed.name = "standard input"
            feed.first()
            yield told(feed, settings.encoding)(feed, settings.columns, None)
            feed.close()

    def _next(self, seen: Overview, settings: LogSettings, more: Mapping[str, str]) -> list[str]:
        """Return the command that learns from the log, with the options that were typed."""
        typed = []
        for field in fields(LogOptions):
            value = getattr(self, field.name)
            option = f"--{field.name}"
            typed += [option] if value is True else [word for each in _listed(value) for word in (option, each)]
        log = "log.csv" if self.log == STANDARD_INPUT and settings.graph is None else self.log  # where it is to be kept
        if "property" in more:
            return ["umdp", "learn", log, *typed]
        labels = dict.fromkeys(label for each in seen.states.values() for label in each.labels if label not in OWN)
        label = next(iter([*settings.labels, *labels]), None)
        if label is None:
            state = _goal(seen)
            label = state if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", state) else "goal"
            typed += ["--label", f"{label}={state}"]
        return ["umdp", "learn", log, f'Pmin=? [ F "{label}" ]', *typed]

    def _print(self, seen: Overview, used: Mapping[str, str], command: str) -> None:
        numbers = ((seen.rows, "row"), (seen.trajectories, "trajectory"), (len(seen.states), "state"))
        counted = ", ".join(f"{count:,} {nouns(count, noun)}" for count, noun in numbers)
        actions = len(seen.actions)
        say(f"{self.log}: {counted}, {actions:,} {nouns(actions, 'action')}; {_written(seen)}")
        _table(
            ("column", "taken for"),
            [
                *((name, role) for role, name in seen.columns.items()),
                *((name, used.get(name, "not looked at")) for name in seen.others),
            ],
        )
        _table(
            ("state", "rows", "reached", "actions", "labels"),
            [
                (name, f"{each.rows:,}", f"{each.reached:,}", ", ".join(each.actions), ", ".join(each.labels))
                for name, each in seen.states.items()
            ],
        )
        _table(("action", "rows"), [(name, f"{rows:,}") for name, rows in seen.actions.items()])
        same = None if seen.elsewhere is None else seen.trajectories - seen.elsewhere
        begun = (
            "" if same is None else f", as {same:,} of {seen.trajectories:,} {nouns(seen.trajectories, 'trajectory')}"
        )
        say("", f"it starts in state {seen.initial}{begun}")
        for title, statements in (
            ("", seen.notes),
            ("no guarantee: ", seen.against),
            ("provided that ", seen.conditions),
        ):
            say(*(f"  {title}{each}" for each in statements))
        say("", f"next: {command}")


def _used(settings: LogSettings) -> dict[str, str]:
    """Return what columns are taken for besides their roles."""
    from umdp.source.logs.extra_columns import RewardColumn, read_reward
    from umdp.source.logs.log_graph import COLUMN, NEXT

    rewards = {name: read_reward(name, given) for name, given in settings.rewards.items()}
    found = {each.column: f"reward {name}" for name, each in rewards.items() if isinstance(each, RewardColumn)}
    for label, given in settings.labels.items():
        found |= {each.partition(":")[2]: f"label {label}" for each in given if each.startswith((COLUMN, NEXT))}
    return found


def _listed(value: list[str] | str | bool | None) -> list[str]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _goal(seen: Overview) -> str:
    """Return a state to ask for: one that is never left, otherwise one that is seldom reached."""
    fit = {name: each for name, each in seen.states.items() if not NOT_IN_A_LABEL.search(name)} or dict(seen.states)
    return min(fit, key=lambda name: (fit[name].rows > 0, not fit[name].reached, fit[name].reached))


def _written(seen: Overview) -> str:
    """Return how the log is written, in words."""
    said = [] if seen.encoding is None else ["UTF-8" if seen.encoding == "utf-8" else seen.encoding]
    if seen.decimal is not None:
        said.append(f"decimal {'commas' if seen.decimal == ',' else 'points'}")
    return f"{', '.join([*said, ''])}{seen.rejected:,} {nouns(seen.rejected, 'row')} rejected"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw a table of names as somebody wrote them, of so many rows at most."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not rows:
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in head:
        table.add_column(name, justify="right" if name in ("rows", "reached") else "left", overflow="fold")
    for row in rows[:SHOWN]:
        table.add_row(*map(as_text, row))
    if len(rows) > SHOWN:
        table.add_row(as_text(f"... and {len(rows) - SHOWN:,} more"))
    say("")
    console().print(table)


def _record(seen: Overview) -> dict[str, Any]:
    """Return what `--json` prints."""
    return {
        "rows": seen.rows, "trajectories": seen.trajectories, "steps": seen.steps, "rejected": seen.rejected,
        "states": len(seen.states), "actions": len(seen.actions), "initial": seen.initial, "elsewhere": seen.elsewhere,
        "columns": dict(seen.columns), "other_columns": list(seen.others), "encoding": seen.encoding, "decimal": seen.decimal,
        "state_rows": {name: each.rows for name, each in seen.states.items()}, "action_rows": dict(seen.actions),
        "labels": _labels(seen), "diagnostics": with_codes(seen.notes), "conditions": with_codes(seen.conditions),
        "against": with_codes(seen.against),
    }  # fmt: skip


def _labels(seen: Overview) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, each in seen.states.items():
        for label in each.labels:
            found.setdefault(label, []).append(name)
    return found
