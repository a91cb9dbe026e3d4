"""What can be typed about a log: its columns, labels, rewards, initial state; or a file that says it all."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from umdp.cli.terminal import say

if TYPE_CHECKING:
    from umdp.run.log_settings import LogSettings

__all__ = [
    "ASIDE",
    "COLUMNS",
    "DESCRIBE",
    "GRAPH",
    "INITIAL",
    "LABEL",
    "ON_ERROR",
    "REWARD",
    "TERMINAL",
    "TRUST",
    "LogOptions",
    "OnError",
    "log_options",
]


class OnError(enum.StrEnum):
    """What to do with a row that is malformed or contradicts the model."""

    FAIL = "fail"
    SKIP = "skip"
    CHANCE = "chance"


def _option(name: str, metavar: str, text: str) -> Any:
    return typer.Option(name, metavar=metavar, help=text, show_default=False, rich_help_panel="Logs")


COLUMNS = Annotated[
    list[str] | None,
    _option(
        "--columns",
        "ROLE=NAME",
        "Columns of a log: state=unit,next=after; roles: trajectory, state, action, next, end, terminated, truncated.",
    ),
]
LABEL = Annotated[
    list[str] | None,
    _option(
        "--label", "NAME=STATES", "A label: failed=failed, failed=fail*,broken, hot=column:alarm, failed=next:end."
    ),
]
REWARD = Annotated[
    list[str] | None,
    _option(
        "--reward",
        "NAME=COLUMN",
        "A reward: cost=downtime, gain=pay>=-20, cost=mean:downtime, steps=1, cost=worn:1,failed:10.",
    ),
]
INITIAL = Annotated[
    str | None,
    _option("--initial", "STATE", "The initial state of a log; observed: the states in which trajectories begin."),
]
TERMINAL = Annotated[
    str | None, _option("--terminal", "STATES", "States of a log that end trajectories, though it does not say so.")
]
ASIDE = Annotated[str | None, _option("--aside", "FILE", "Write rows of a log that are rejected to this file.")]
GRAPH = Annotated[
    str | None,
    _option("--graph", "MODEL", "What can happen, if not what the log shows: a model, FILE.py:NAME, or a CSV of it."),
]
DESCRIBE = Annotated[
    str | None,
    _option(
        "--describe", "FILE", "A TOML file that says all this; machine.toml beside machine.csv is found by itself."
    ),
]
TRUST = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Execute the code and write the files that a description names.",
        rich_help_panel="Logs",
    ),
]
ON_ERROR = Annotated[
    OnError | None,
    typer.Option(
        help="A row that does not fit: fail stops, skip rejects it and goes on, chance takes it that rows were spoilt by chance, "
        "so that the promise stands. Default: skip where the log is the model, otherwise fail.",
        show_default=False,
        rich_help_panel="Logs",
    ),
]


class LogOptions(NamedTuple):
    """How a log is to be read, the property if its description has one, and what to do with rows that do not fit."""

    settings: LogSettings
    question: str | None
    on_error: str


def log_options(
    model: str,
    log: str | None,
    question: str | None,
    on_error: OnError | None,
    described: str | None,
    given: Mapping[str, Any],
    *,
    quiet: bool,
    trust: bool,
) -> LogOptions:
    """Return how a log is to be read, from what was typed and from the file that describes it."""
    from umdp.run.log_settings import LogSettings, beside, read_description
    from umdp.run.trust import require_description
    from umdp.source.logs.extra_columns import split
    from umdp.source.resolve import resolve

    terminal = given["terminal"]
    typed = LogSettings(
        columns=dict(
            _pairs("--columns", (part for text in given["columns"] or () for part in split(text)), "state=unit")
        ),
        labels=_labels(given["label"] or ()),
        rewards=dict(_pairs("--reward", given["reward"] or (), "cost=downtime")),
        initial=given["initial"],
        terminal=[] if terminal is None else split(terminal),
        aside=given["aside"],
        graph=given["graph"],
    )
    name = log if log is not None else model if resolve(model).recorded else None
    found = described if described is not None else None if name is None else beside(name)
    more: dict[str, str] = {}
    if found is not None:
        settings, more = read_description(found)
        if log is not None:
            settings = settings.with_graph(None)
        require_description(typed, settings, Path(found), trusted=trust)
        known = model if log is not None else typed.graph or settings.graph
        if known is not None and not resolve(known).recorded:
            settings = settings.unlabelled()  # a model has labels and rewards of its own
        typed = typed.over(settings)
        if described is None and not quiet:
            say(f"{name} is described by {found}", err=True)
    observed = log is None and typed.graph is None and name is not None
    chosen = on_error.value if on_error is not None else more.get("on-error", "skip" if observed else "fail")
    return LogOptions(typed, more.get("property") if question is None else question, chosen)


def _pairs(option: str, texts: Iterable[str], example: str) -> Iterable[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise typer.BadParameter(f'{option} "{text}": write NAME=VALUE, such as {example}')
        yield name.strip(), value.strip()


def _labels(texts: Iterable[str]) -> dict[str, list[str]]:
    from umdp.source.logs.extra_columns import split

    labels: dict[str, list[str]] = {}
    for name, states in _pairs("--label", texts, "failed=failed"):
        labels.setdefault(name, []).extend(split(states))
    return labels
