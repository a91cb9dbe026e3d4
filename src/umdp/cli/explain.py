"""`umdp explain`: what holds a promise back, how much more a target would take, and how the error was spent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from umdp.cli.live import short as rounded
from umdp.cli.options import JSON, argument, flag, option, whole
from umdp.cli.terminal import say
from umdp.errors import ModelError
from umdp.statements.text import nouns

if TYPE_CHECKING:
    from umdp.analysis.error_ledger import Ledger
    from umdp.analysis.explanation import Explanation

__all__ = ["Explain"]

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
LEFT = ("state", "action", "successor", "interval", "binds", "class", "outcome", "parameter", "on")  # where they stand


@dataclass(frozen=True)
class Explain:
    """Say what holds a promise back: the transitions, choices and classes whose bounds matter most, ranked.

    A bound holds back as much as the policy visits its choice in the worst case, times the difference in value that it makes,
    times the width of its interval. With --target it is estimated how much more would have to be seen. With --ledger: on which
    bounds the error rate was spent. Nothing in a run is executed or changed.
    """

    subject: Annotated[
        str,
        argument("RUN|MODEL", "A file written by umdp learn --out; or a model with intervals, with a property."),
    ]
    property: Annotated[
        str | None,
        argument("[PROPERTY]", 'For a model: both players, such as Pmaxmin=? \\[ F "goal" ]; a run has its own.'),
    ] = None
    target: Annotated[
        str | None,
        option(
            '">=0.3"',
            "Estimate how much more would have to be seen for this; by default what the run was to reach.",
        ),
    ] = None
    top: Annotated[int, whole("N", "How many to list of each.")] = 10
    ledger: Annotated[bool, flag("Show on which bounds the error rate was spent instead.", "--ledger")] = False
    json: JSON = False

    def run(self) -> int:
        """Print what holds the promise back, or the ledger."""
        from umdp.analysis.explainer import explain, ledger

        if self.ledger:
            if self.property is not None or self.target is not None:
                raise ModelError("--ledger is about all bounds of a run; leave out PROPERTY and --target")
            spent = ledger(self.subject)
            if self.json:
                say(json.dumps({"run": self.subject, **spent.as_dict()}))
            else:
                say(*_ledger(self.subject, spent, self.top))
            return 0
        found = explain(self.subject, self.property, target=self.target, top=self.top)
        if self.json:
            say(json.dumps({"model": self.subject, **found.as_dict()}))
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
    for head, rows in (_parameters(found), _classes(found), _transitions(found), _choices(found)):
        if rows:
            yield ""
            yield from _table(head, rows)
    if found.forecast is not None:
        yield ""
        yield f"  {_forecast(found)}"


def _parameters(found: Explanation) -> Table:
    return ("holds back", "parameter", "interval", "samples"), [
        (_number(e.holds_back), e.name, _interval(e), f"{e.samples:,}") for e in found.parameters
    ]


def _classes(found: Explanation) -> Table:
    return ("holds back", "class", "outcome", "interval", "choices", "samples", "gain"), [
        (_number(e.holds_back), e.name, e.outcome, _interval(e), f"{e.choices:,}", f"{e.samples:,}", _number(e.gain))
        for e in found.classes
    ]


def _transitions(found: Explanation) -> Table:
    return ("holds back", "state", "action", "successor", "interval", "binds", "samples", "visits", "difference"), [
        (_number(e.holds_back), e.state, e.action, e.successor, _interval(e), e.bound, _count(e.samples),
         _number(e.visits), _number(e.difference))
        for e in found.transitions
    ]  # fmt: skip


def _choices(found: Explanation) -> Table:
    whole = abs(found.estimate - found.promise)
    known = 0 < whole < math.inf
    return ("share", "state", "action", "samples", "visits"), [
        (
            f"{100 * e.holds_back / whole:.1f} %" if known else "",
            e.state,
            e.action,
            _count(e.samples),
            _number(e.visits),
        )
        for e in found.choices
    ]


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


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield aligned columns; numbers stand to the right."""
    right = [i for i, name in enumerate(head) if name not in LEFT]
    widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]
    for line in (head, *rows):
        cells = [f"{text:>{widths[i]}}" if i in right else f"{text:<{widths[i]}}" for i, text in enumerate(line)]
        yield ("  " + "  ".join(cells)).rstrip()


def _number(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.4g}"


def _bound(found: Explanation) -> str:
    """Return the promise, rounded to the safe side."""
    if math.isinf(found.promise):
        return "infinity"
    return f"{'at least' if found.rises else 'at most'} {rounded(found.promise, down=found.rises)}"


def _interval(entry: Any) -> str:
    return f"[{entry.lower:.4f}, {entry.upper:.4f}]"


def _count(samples: int | None) -> str:
    return "" if samples is None else f"{samples:,}"


def _about(number: int) -> str:
    """Return a number with two digits: an estimate has no more."""
    if number < 100:
        return str(number)
    scale = 10 ** (len(str(number)) - 2)
    return f"{round(number / scale) * scale:,}"
