"""A run that goes on: shown, kept, ended by its limits or by whoever asks, and saved as far as it can be where it fails.

It is shown live on a terminal, as plain lines elsewhere, as JSON lines for programs, or only its result.
"""

from __future__ import annotations

import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from types import FrameType
from typing import Any

from umdp.cli.terminal import INTERRUPTED, SIGNALS, TRACEBACK, say, say_json
from umdp.cli.verify import write_certificate
from umdp.errors import ModelError, UmdpError
from umdp.learn.learner import in_lines
from umdp.learning.loop import LearningRun, proceed
from umdp.learning.snapshot import Snapshot, diagnostics_of
from umdp.run import Config, Store, WriteError
from umdp.run.writer import RunWriter
from umdp.source.resolve import where
from umdp.statements import Code, Statement, with_codes
from umdp.statements import say as statement
from umdp.statements.guarantee import Guarantee
from umdp.statements.text import nouns

__all__ = ["Screen", "Session", "amount", "answer", "beside", "bounded", "in_words", "returned", "seen", "short"]


@dataclass(frozen=True)
class Session:
    """How a run is shown and kept.

    Attributes
    ----------
    json, quiet : what is printed
    certificate : the file for a proof of what it ends with
    path : the file that it is said to be kept in
    spent : seconds that went by before it begins, of those it has
    """

    json: bool = False
    quiet: bool = False
    certificate: str | None = None
    path: str | None = None
    spent: float = 0.0

    def go(self, run: LearningRun, config: Config, store: Store | None = None) -> int:
        """Go through a run, keep and show its snapshots, and say what it is kept in; return the exit status."""
        writer = None if store is None else RunWriter(store)

        def keep(snapshot: Snapshot) -> None:
            if writer is not None:
                notes = (*config.notes, *diagnostics_of(run.source, run.spec, snapshot))
                writer.keep(snapshot, run.checkpoint(), notes)

        def stopped() -> bool:
            if writer is not None:
                writer.write_if_due()  # while an iteration goes on for long, nothing waits to be written
            return stop.asked

        limits = config.limits()
        if limits.seconds is not None:
            limits = replace(limits, seconds=limits.seconds - self.spent)
        snapshot, failure = None, None
        try:
            with _signals() as stop, self._display(run, config) as screen:
                try:
                    for snapshot in proceed(run, limits, stopped, keep):
                        screen.show(snapshot)
                except BrokenPipeError:
                    if writer is not None:
                        writer.flush()
                    raise
                except Exception as error:
                    if TRACEBACK in os.environ:
                        raise
                    failure, snapshot = error, _save(run, snapshot, keep, error)
                    if snapshot is not None:
                        screen.show(snapshot)
            if snapshot is not None:
                screen.result(snapshot, self.path)
                sys.stdout.flush()
                if self.certificate is not None and failure is None:
                    write_certificate(snapshot.certificate(), self.certificate)
        finally:
            run.source.close()
        if failure is not None:
            raise _said(failure, config)
        return INTERRUPTED if stop.asked else 0

    @contextmanager
    def _display(self, run: LearningRun, config: Config) -> Iterator[Screen]:
        """Give the screen that fits: JSON, quiet, live on a terminal, lines elsewhere."""
        kind: type[Screen]
        if self.json:
            kind = _LastJson if self.quiet else _Json
        elif self.quiet:
            kind = Screen
        elif sys.stderr.isatty() and sys.stdout.isatty():
            from umdp.cli.live import Live

            kind = Live
        else:
            kind = _Lines
        screen = kind(run, config)
        try:
            yield screen
        finally:
            screen.stop()


def _save(
    run: LearningRun, last: Snapshot | None, keep: Callable[[Snapshot], None], failure: Exception
) -> Snapshot | None:
    """Keep what was learned before something failed, as far as that can still be done, and return it.

    Where nothing can be said of what was read last, nothing is promised: it may be what the failure is about.
    """
    now: Snapshot | None
    try:
        now = replace(run.snapshot(), reason="something failed")
        if not isinstance(failure, WriteError):
            keep(now)
    except Exception:  # what was shown last is then all there is
        if last is None:
            return None
        now = replace(last, reason="something failed", guarantee=Guarantee("none", reasons=(statement(Code.FAILED),)))
        if not isinstance(failure, WriteError):
            with suppress(Exception):
                keep(now)
    return now if now is not None and now.trajectories else None


def _said(failure: Exception, config: Config) -> UmdpError:
    """Return what failed in one message."""
    if isinstance(failure, UmdpError):
        return failure
    if isinstance(failure, MemoryError):
        return ModelError("there is not enough memory to go on")
    return ModelError(
        f"the run of {config.learner} on {config.model} failed: {where(failure)}; set {TRACEBACK}=1 to see where"
    )


class _Signals:
    """Remembers that someone asked to stop; whoever asks twice is not kept waiting."""

    asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            sys.stderr.write("\n")
            os._exit(INTERRUPTED)
        self.asked = True


@contextmanager
def _signals() -> Iterator[_Signals]:
    """While entered, Ctrl-C, SIGTERM and the loss of the terminal ask to stop; what is ignored stays ignored, as under nohup."""
    handler = _Signals()
    asked = [signal.SIGINT, *(number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN)]
    before = {number: signal.signal(number, handler) for number in asked}
    try:
        yield handler
    finally:
        for number, old in before.items():
            signal.signal(number, old)


# -- how it is shown -----------------------------------------------------------------------------------------


class Screen:
    """Where snapshots go; this one shows the last of them only."""

    def __init__(self, run: LearningRun, config: Config) -> None:
        self.run, self.config = run, config
        self.begun = time.monotonic()

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot in."""

    def stop(self) -> None:
        """Let go of the terminal."""

    def notes(self, snapshot: Snapshot) -> list[Statement]:
        """Return what there is to say besides numbers, a statement each."""
        return [*self.config.notes, *diagnostics_of(self.run.source, self.run.spec, snapshot)]

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        """Say how it ended."""
        say(in_words(snapshot))
        if snapshot.evidence is not None:
            say(f"  {beside(snapshot)}")
        say(f"  after {amount(snapshot)}{', the last iteration incomplete' if snapshot.partial else ''}")
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


class _Json(Screen):
    """A line for every snapshot."""

    def show(self, snapshot: Snapshot, **more: Any) -> None:
        notes = self.notes(snapshot)
        say_json({**snapshot.row(), **more, "notes": notes, "diagnostics": with_codes(notes)}, flush=True)

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        """Say nothing more."""


class _LastJson(_Json):
    """A line for the last snapshot, with all that the learner noticed in the run."""

    def show(self, snapshot: Snapshot, **more: Any) -> None:
        """Wait for the last."""

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        alarms = [alarm.as_dict() for alarm in snapshot.alarms]
        super().show(snapshot, **({"alarms": alarms} if alarms else {}))


class _Lines(Screen):
    """Plain lines, fewer and fewer as the run goes on."""

    next = 0.0

    def show(self, snapshot: Snapshot) -> None:
        now = time.monotonic() - self.begun
        if now >= self.next or snapshot.reason is not None:
            self.next = max(now * 1.25, now + 0.5)
            say(f"{amount(snapshot)}: {in_words(snapshot)}", flush=True)
        for line in in_lines([alarm for alarm in snapshot.alarms if alarm.fresh]):
            say(f"{amount(snapshot)}: {line}", flush=True)


# -- in words ------------------------------------------------------------------------------------------------


def in_words(snapshot: Snapshot) -> str:
    """Return the value and what stands behind it, such as ``at least 0.301 with probability 99 %, whenever you stop``.

    With evidence it is the promise, by the model or by playing, where there is one.
    """
    promise = snapshot.promise
    if promise is not None and promise.by == "evidence":
        return f"{bounded(promise.bound, at_least=promise.at_least)} {promise.how}"
    if not math.isfinite(snapshot.bound):
        return "no finite bound yet"
    behind = f"{snapshot.guarantee}" if snapshot.guarantee.holds else f"on the learned model, {snapshot.guarantee}"
    return f"{bounded(snapshot.bound, at_least=snapshot.rises)} {behind}"


def beside(snapshot: Snapshot) -> str:
    """Return what stands beside the promise of a run with evidence: what the model says, or what playing has shown so far."""
    played, promise = snapshot.evidence, snapshot.promise
    assert played is not None
    if promise is not None and promise.by == "evidence":
        known = math.isfinite(snapshot.bound)
        said = bounded(snapshot.bound, at_least=snapshot.rises) if known else "no bound yet"
        return f"the learned model says {said}, {snapshot.guarantee}"
    if not played.guarantee.holds:
        return f"playing candidates promises nothing: {played.guarantee}"
    if not played.plays:
        return "no candidate has been played yet"
    shown = bounded(played.bound, at_least=played.at_least)
    return f"playing a candidate {played.plays:,} {nouns(played.plays, 'time')} shows {shown}"


def bounded(bound: float, *, at_least: bool) -> str:
    """Return a bound on a value with the side it is on.

    Examples
    --------
    >>> bounded(0.30157, at_least=True)
    'at least 0.3015'
    """
    return f"{'at least' if at_least else 'at most'} {short(bound, down=at_least)}"


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


def amount(snapshot: Snapshot) -> str:
    """Return how much a run has seen, in words."""
    return seen(snapshot.trajectories, snapshot.steps)


def seen(trajectories: int, steps: int) -> str:
    """Return how much was seen, in words."""
    return f"{trajectories:,} {nouns(trajectories, 'trajectory')}, {steps:,} {nouns(steps, 'step')}"


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
