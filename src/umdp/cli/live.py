"""How a run appears: live on a terminal, plain lines elsewhere, JSON lines for programs, or only its result."""

from __future__ import annotations

import json
import math
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from umdp.cli.chart import Point, chart, remaining
from umdp.cli.terminal import as_text, console, say
from umdp.learn.learner import in_lines
from umdp.learning.snapshot import diagnostics_of, parameters_in_words
from umdp.statements import with_codes
from umdp.statements.text import nouns

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.live import Live

    from umdp.learning.procedure import LearningRun
    from umdp.learning.snapshot import Snapshot
    from umdp.run import Config
    from umdp.statements import Statement

__all__ = ["Screen", "answer", "beside", "display", "in_words", "record", "returned", "seen"]

POINTS = 4000  # of a curve, above which every second is left out
WIDTH = 72  # columns of the picture, where there are so many


class Screen:
    """Where snapshots go."""

    def __init__(self, run: LearningRun, config: Config) -> None:
        self.run, self.config = run, config
        self.begun = time.monotonic()
        self.before = (run.trajectories, run.steps)
        self.points: list[Point] = []

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot in."""

    def notes(self, snapshot: Snapshot) -> list[Statement]:
        """Return what there is to say besides numbers, a statement each."""
        return [*self.config.notes, *diagnostics_of(self.run.source, self.run.spec, snapshot)]

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        """Say how it ended."""
        say(in_words(snapshot))
        if snapshot.evidence is not None:
            say(f"  {beside(snapshot)}")
        say(f"  after {_amount(snapshot)}{', the last iteration incomplete' if snapshot.partial else ''}")
        if snapshot.returns is not None:
            say(f"  return   {returned(*snapshot.returns)}")
        if snapshot.performance is not None:
            say(f"  the policy is worth {snapshot.performance:.6g} on the process itself")
        for note in self.notes(snapshot):
            say(f"  {note}")
        guarantee = snapshot.guarantee if snapshot.promise is None else snapshot.promise.guarantee
        for line in guarantee.reasons[1:]:  # the first is part of the label
            say(f"  {'provided that' if guarantee.holds else 'no guarantee:'} {line}")
        say(f"  ended because {snapshot.reason or 'it was left'}")
        if path is not None:
            name = shlex.quote(path)
            say(f"  kept in {path}: umdp show {name}, umdp export {name} policy.json, umdp resume {name}")


class _Quiet(Screen):
    pass


class _Json(Screen):
    def show(self, snapshot: Snapshot) -> None:
        self._print(snapshot)

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        return

    def _print(self, snapshot: Snapshot, *, whole: bool = False) -> None:
        more = {"alarms": [alarm.as_dict() for alarm in snapshot.alarms]} if whole and snapshot.alarms else {}
        notes = self.notes(snapshot)
        said = {"notes": notes, "diagnostics": with_codes(notes)}
        say(json.dumps({**record(snapshot), **more, **said}), flush=True)


class _LastJson(_Json):
    """The last object only."""

    def show(self, snapshot: Snapshot) -> None:
        return

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        self._print(snapshot, whole=True)


class _Lines(Screen):
    """Plain lines, fewer and fewer as the run goes on."""

    next = 0.0

    def show(self, snapshot: Snapshot) -> None:
        now = time.monotonic() - self.begun
        if now >= self.next or snapshot.reason is not None:
            self.next = max(now * 1.25, now + 0.5)
            say(f"{_amount(snapshot)}: {in_words(snapshot)}", flush=True)
        for line in in_lines([alarm for alarm in snapshot.alarms if alarm.fresh]):
            say(f"{_amount(snapshot)}: {line}", flush=True)


class _Live(Screen):
    """A few lines that renew themselves; in the end, the policy as a drawing where its states have a place."""

    live: Live | None = None
    console: Console | None = None
    last: Snapshot | None = None

    def show(self, snapshot: Snapshot) -> None:
        from rich.live import Live

        bound = snapshot.bracket.lower if _rises(snapshot) else snapshot.bracket.upper
        if snapshot.evidence is not None:  # what is promised, not what the model says
            bound = (snapshot.promise or snapshot.evidence).bound
        if len(self.points) >= POINTS:
            self.points = [*self.points[:-1:2], self.points[-1]]
        self.points.append(Point(max(snapshot.trajectories, 1), bound, snapshot.optimistic))
        self.last = snapshot
        if self.live is None:
            screen = self.console = console(err=True)
            # What is shown is asked for anew, so that the time goes on while a snapshot takes long.
            self.live = Live(console=screen, get_renderable=self.picture, refresh_per_second=8, transient=True)
            self.live.start()

    def picture(self) -> Group:
        """Return what to draw."""
        from rich.console import Group

        snapshot = self.last
        assert snapshot is not None
        assert self.console is not None
        width = self.console.width
        spent = max(time.monotonic() - self.begun, 1e-9)
        pace = (
            f"{(snapshot.trajectories - self.before[0]) / spent:,.0f} trajectories/s, "
            f"{(snapshot.steps - self.before[1]) / spent:,.0f} steps/s"
        )
        points = list(self.points)
        drawn = chart(points, min(width - 1, WIDTH))
        lines = [
            as_text(f"{self.run.spec} with {self.config.learner} on {self.config.model}", style="bold"),
            as_text(in_words(snapshot)),
            *map(as_text, parameters_in_words(snapshot.parameters or {})),
            *([] if snapshot.evidence is None else [as_text(beside(snapshot), style="dim")]),
            *(as_text(line, style="cyan", no_wrap=True, overflow="crop") for line in drawn),
        ]
        if drawn:
            hopeful = any(each.optimistic is not None for each in points)
            bound = "█ bound" if snapshot.evidence is None else "█ promised"
            what = f"{bound}, · optimistic value, over trajectories" if hopeful else f"{bound}, over trajectories"
            lines.append(as_text(what, style="dim"))
        lines.append(as_text(f"{_amount(snapshot)}, iteration {snapshot.iteration}; {pace}"))
        lines += [as_text(line, style="red") for line in in_lines(snapshot.alarms)]
        bar = self.progress(snapshot, spent, min(width - 1, WIDTH))
        if bar:
            lines.append(as_text(bar, style="green", no_wrap=True, overflow="crop"))
        lines.append(as_text(f"stops {stops(self.config)}", style="dim"))
        return Group(*lines)

    def progress(self, snapshot: Snapshot, spent: float, width: int) -> str:
        """Return a bar of how much of the budget is used up, and the time left; nothing without a budget."""
        config = self.config
        done = (snapshot.trajectories, snapshot.steps)
        limits = (config.trajectories, config.steps, config.seconds)
        found = remaining(done, self.before, spent, limits)
        if found is None:
            return ""
        share, left = found
        text = f" {100 * share:3.0f} %" + ("" if left is None else f", {_duration(left)} left")
        room = max(width - len(text) - 1, 6)
        full = int(share * room)
        return f"{'━' * full}{'╌' * (room - full)}{text}"

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        from umdp.model.sketch import BAD, GOOD

        super().result(snapshot, path)
        drawing = self.drawing(snapshot)
        if drawing:
            say("", f"the policy ({GOOD} goal, {BAD} to be avoided, [ ] start):", *drawing.split("\n"))

    def drawing(self, snapshot: Snapshot) -> str:
        """Return the policy as text, where its states have a place."""
        from umdp.model.sketch import sketch
        from umdp.plot.subject import subject

        one = subject(snapshot)
        return sketch(snapshot.policy, marks=one.marks, chance=one.chance, width=shutil.get_terminal_size().columns - 1)


@contextmanager
def display(run: LearningRun, config: Config, *, json: bool, quiet: bool) -> Iterator[Screen]:
    """Give the screen that fits: JSON, quiet, live on a terminal, lines elsewhere."""
    silent = _LastJson if json else _Quiet
    kind = silent if quiet else _Json if json else _Live if sys.stderr.isatty() and sys.stdout.isatty() else _Lines
    screen = kind(run, config)
    try:
        yield screen
    finally:
        live = getattr(screen, "live", None)
        if live is not None:
            live.stop()


def in_words(snapshot: Snapshot) -> str:
    """Return the value and what stands behind it, such as ``at least 0.301 with probability 99 %, whenever you stop``.

    With evidence it is the promise, by the model or by playing, where there is one.
    """
    if snapshot.evidence is not None and snapshot.promise is not None and snapshot.promise.by == "evidence":
        promise = snapshot.promise
        side = "at least" if promise.at_least else "at most"
        return f"{side} {short(promise.bound, down=promise.at_least)} {promise.how}"
    bracket, rises = snapshot.bracket, _rises(snapshot)
    bound = bracket.lower if rises else bracket.upper
    side = "at least" if rises else "at most"
    if not math.isfinite(bound):
        return "no finite bound yet"
    behind = f"{snapshot.guarantee}" if snapshot.guarantee.holds else f"on the learned model, {snapshot.guarantee}"
    return f"{side} {short(bound, down=rises)} {behind}"


def beside(snapshot: Snapshot) -> str:
    """Return what stands beside the promise of a run with evidence: what the model says, or what playing has shown so far."""
    played, promise = snapshot.evidence, snapshot.promise
    assert played is not None
    if promise is not None and promise.by == "evidence":
        rises = _rises(snapshot)
        bound = snapshot.bracket.lower if rises else snapshot.bracket.upper
        said = (
            f"{'at least' if rises else 'at most'} {short(bound, down=rises)}"
            if math.isfinite(bound)
            else "no bound yet"
        )
        return f"the learned model says {said}, {snapshot.guarantee}"
    if not played.guarantee.holds:
        return f"playing candidates promises nothing: {played.guarantee}"
    if not played.plays:
        return "no candidate has been played yet"
    shown = f"{'at least' if played.at_least else 'at most'} {short(played.bound, down=played.at_least)}"
    return f"playing a candidate {played.plays:,} {nouns(played.plays, 'time')} shows {shown}"


def _rises(snapshot: Snapshot) -> bool:
    """Whether larger values are better."""
    from umdp.spec import Direction

    return snapshot.robust.spec.deciding().agent is not Direction.MIN


def short(value: float, *, down: bool) -> str:
    """Return a number with four digits, rounded to the safe side.

    Examples
    --------
    >>> short(0.30157, down=True), short(73.1798, down=False), short(0.0, down=True)
    ('0.3015', '73.18', '0')
    """
    if value == 0:
        return "0"
    exact = Decimal(repr(value))
    unit = Decimal(1).scaleb(exact.adjusted() - 3)
    rounded = exact.quantize(unit, rounding=ROUND_FLOOR if down else ROUND_CEILING)
    return f"{float(rounded):.4g}"


def returned(lower: float, upper: float) -> str:
    """Return bounds on the return as text, rounded outwards.

    Examples
    --------
    >>> returned(7.93012, 7.93029), returned(7.0, 7.0)
    ('7.930 .. 7.931', '7')
    """
    if lower == upper and lower == round(lower):
        return f"{lower:.0f}"
    digits = 3 if max(abs(lower), abs(upper)) < 1000 or not math.isfinite(lower + upper) else 0
    scale = 10**digits
    ends = (math.floor(lower * scale) / scale if math.isfinite(lower) else lower,
            math.ceil(upper * scale) / scale if math.isfinite(upper) else upper)  # fmt: skip
    return " .. ".join(f"{end:.{digits}f}" for end in ends)


def _amount(snapshot: Snapshot) -> str:
    return seen(snapshot.trajectories, snapshot.steps)


def seen(trajectories: int, steps: int) -> str:
    """Return how much was seen, in words."""
    return f"{trajectories:,} {nouns(trajectories, 'trajectory')}, {steps:,} {nouns(steps, 'step')}"


def _duration(seconds: float) -> str:
    """Return a time in words, rounded as people do.

    Examples
    --------
    >>> _duration(3.2), _duration(75), _duration(7300), _duration(1e9)
    ('4 s', '1 min 15 s', '2 h 1 min', 'days')
    """
    whole = math.ceil(min(seconds, 1e9))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min" if whole < 2 * 86_400 else "days"


def stops(config: Config) -> str:
    """Return what ends a run, in words."""
    given = [
        f"when {config.until} is reached" if config.until else "",
        f"after {config.trajectories:,} {nouns(config.trajectories, 'trajectory')}" if config.trajectories else "",
        f"after {config.steps:,} {nouns(config.steps, 'step')}" if config.steps else "",
        f"after {config.seconds:g} s" if config.seconds else "",
    ]
    said = ", ".join(each for each in given if each)
    return f"{said}, or when you press Ctrl-C" if said else "when you press Ctrl-C"


def record(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot for a line of JSON; infinity as text."""
    return {key: _nested(value) for key, value in snapshot.row().items()}


def _nested(value: Any) -> Any:
    return {key: plain(each) for key, each in value.items()} if isinstance(value, dict) else plain(value)


def plain(value: Any) -> Any:
    """Return a number JSON can hold: infinity as text, nothing for what is not a number."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def answer(about: Mapping[str, Any]) -> tuple[tuple[float, float], dict[str, Any] | None]:
    """Return the bounds that a row, or what a file says, promises of its policy, and how sure they are.

    Examples
    --------
    >>> played = {"by": "evidence", "bound": 0.3, "side": "at least", "guarantee": {"kind": "any-time"}, "text": "by playing"}
    >>> answer({"lower": 0.1, "upper": 0.2, "guarantee": {}, "promise": played})
    ((0.3, inf), {'kind': 'any-time', 'text': 'by playing'})
    """
    promise = about.get("promise")
    if isinstance(promise, dict) and promise.get("by") == "evidence" and isinstance(promise.get("guarantee"), dict):
        bound = promise.get("bound")
        if isinstance(bound, int | float):
            ends = (float(bound), math.inf) if promise.get("side") == "at least" else (-math.inf, float(bound))
            return ends, {**promise["guarantee"], "text": str(promise.get("text", ""))}
    return (float(about["lower"]), float(about["upper"])), about.get("guarantee")
