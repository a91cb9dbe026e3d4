"""`umdp explain`: what holds a promise back, how much more a target would take, and how the error was spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from umdp.analysis.error_ledger import Ledger
from umdp.analysis.explanation import Explanation
from umdp.cli.session import bounded
from umdp.cli.terminal import aligned, say, say_json
from umdp.errors import ModelError
from umdp.statements.text import nouns

__all__ = ["Explain"]

LEFT = ("state", "action", "successor", "interval", "binds", "class", "outcome", "parameter", "on")  # where they stand


@dataclass(frozen=True)
class Explain:
    """Say what holds a promise back: the transitions, choices and classes whose bounds matter most, ranked.

    A bound holds back as much as the policy visits its choice in the worst case, times the difference in value that it makes,
    times the width of its interval. With --target it is estimated how much more would have to be seen. With --ledger: on which
    bounds the error rate was spent. Nothing in a run is executed or changed.

    Arguments
    ---------
    subject : RUN|MODEL
        A file written by umdp learn --out; or a model with intervals, with a property.
    property : [PROPERTY]
        For a model: both players, such as Pmaxmin=? [ F "goal" ]; a run has its own.

    Options
    -------
    target : ">=0.3"
        Estimate how much more would have to be seen for this; by default what the run was to reach.
    top : N
        How many to list of each.
    ledger
        Show on which bounds the error rate was spent instead.
    json
        As one JSON object.

    Examples
    --------
    # what holds the bound of a run back
    umdp explain grid.run --top 3
    # and how much more a target takes
    umdp explain grid.run --target '>=0.3' --json
    # of a model with intervals
    umdp explain examples/rover.tra 'Pmaxmin=? [ F "base" ]'
    """

    subject: str
    property: str | None = None
    target: str | None = None
    top: int = 10
    ledger: bool = False
    json: bool = False

    def run(self) -> int:
        """Print what holds the promise back, or the ledger."""
        from umdp.analysis.explainer import explain, ledger

        if self.ledger:
            if self.property is not None or self.target is not None:
                raise ModelError("--ledger is about all bounds of a run; leave out PROPERTY and --target")
            spent = ledger(self.subject)
            if self.json:
                say_json({"run": self.subject, **spent.as_dict()})
            else:
                say(*_ledger(self.subject, spent, self.top))
            return 0
        found = explain(self.subject, self.property, target=self.target, top=self.top)
        if self.json:
            say_json({"model": self.subject, **found.as_dict()})
        else:
            say(*_lines(self.subject, found))
        return 0


def _lines(name: str, found: Explanation) -> Iterator[str]:
    yield f"{name}: {found.spec}"
    rests = "" if found.guarantee is None else f", {found.guarantee.text}"
    yield f"  {'promise' if found.promised else 'worst case':<12}{_bound(found)}{rests}"
    if found.played is not None:
        yield f"  {'played':<12}{found.played}: the answer of the run; what follows is about the learned model"
    suggests = "with the middle of every interval" if found.guarantee is None else "if things are as the data suggest"
    yield f"  {'estimate':<12}{_number(found.estimate)}, what the policy is worth {suggests}"
    yield f"  {found.sentence}"
    for names, entries in _rankings(found):
        if entries:
            yield ""
            yield from _table(names, [[COLUMNS[name](each) for name in names] for each in entries])
    if found.forecast is not None:
        yield ""
        yield f"  {_forecast(found)}"


def _rankings(found: Explanation) -> Iterator[tuple[tuple[str, ...], Sequence[Any]]]:
    """Yield what is ranked, with the columns that are shown of it."""
    yield ("holds back", "parameter", "interval", "samples"), found.parameters
    yield ("holds back", "class", "outcome", "interval", "choices", "samples", "gain"), found.classes
    columns = ("holds back", "state", "action", "successor", "interval", "binds", "samples", "visits", "difference")
    yield columns, found.transitions
    between = abs(found.estimate - found.promise)
    known = 0 < between < math.inf
    yield (
        ("share", "state", "action", "samples", "visits"),
        [replace(each, holds_back=each.holds_back / between if known else math.nan) for each in found.choices],
    )


def _forecast(found: Explanation) -> str:
    wanted = found.forecast
    assert wanted is not None
    if wanted.reached:
        return f"{wanted.target} is reached"
    if wanted.trajectories is None and wanted.samples is None:
        most = _number(wanted.limit)
        return f"{wanted.target}: no number of samples is enough if things are as the data suggest; then {most} is all there is"
    parts = []
    if wanted.trajectories is not None:
        parts.append(f"{_about(wanted.trajectories)} more {nouns(wanted.trajectories, 'trajectory')} like those so far")
    if wanted.samples is not None:
        parts.append(f"{_about(wanted.samples)} more {nouns(wanted.samples, 'sample')} taken where they count")
    return f"{wanted.target} takes about {', or '.join(parts)}: an estimate, not a promise"


def _ledger(name: str, spent: Ledger, top: int) -> Iterator[str]:
    yield f"{name}: {spent.method}, error rate {spent.error_rate:g}"
    on = f"{spent.bounds:,} {nouns(spent.bounds, 'bound')}"
    yield f"  spent     {_number(float(spent.spent))} on {on}; summed exactly, it is no more than the error rate"
    yield f"  free      {spent.free:,} whose probabilities cannot matter, or that have one outcome"
    entries = sorted(spent.entries, key=lambda entry: -entry.spent)
    if entries:
        yield ""
        rows = [(_number(float(e.spent)), f"{e.bounds:,}", _number(e.level), e.name) for e in entries[:top]]
        yield from _table(("spent", "bounds", "level", "on"), rows)
    if len(entries) > top:
        rest = sum((entry.spent for entry in entries[top:]), start=0 * spent.spent)
        yield f"  and {_number(float(rest))} on {len(entries) - top:,} more"


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield from (f"  {line}".rstrip() for line in aligned(names, rows, [name for name in names if name not in LEFT]))


def _number(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.4g}"


def _bound(found: Explanation) -> str:
    """Return the promise, rounded to the safe side."""
    return "infinity" if math.isinf(found.promise) else bounded(found.promise, at_least=found.rises)


def _about(number: int) -> str:
    """Return a number with two digits: an estimate has no more."""
    if number < 100:
        return str(number)
    scale = 10 ** (len(str(number)) - 2)
    return f"{round(number / scale) * scale:,}"


COLUMNS: Mapping[str, Callable[[Any], str]] = {
    "holds back": lambda each: _number(each.holds_back),
    "share": lambda each: "" if math.isnan(each.holds_back) else f"{100 * each.holds_back:.1f} %",
    "parameter": attrgetter("name"),
    "class": attrgetter("name"),
    "outcome": attrgetter("outcome"),
    "state": attrgetter("state"),
    "action": attrgetter("action"),
    "successor": attrgetter("successor"),
    "interval": lambda each: f"[{each.lower:.4f}, {each.upper:.4f}]",
    "binds": attrgetter("bound"),
    "choices": lambda each: f"{each.choices:,}",
    "samples": lambda each: "" if each.samples is None else f"{each.samples:,}",
    "visits": lambda each: _number(each.visits),
    "difference": lambda each: _number(each.difference),
    "gain": lambda each: _number(each.gain),
}
