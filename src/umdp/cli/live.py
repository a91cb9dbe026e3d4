"""How a run appears: live on a terminal, plain lines elsewhere, JSON lines for programs, or only its result."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

    from umdp.anytime import Anytime
    from umdp.run import Config
    from umdp.snapshot import Snapshot

__all__ = ["Screen", "display", "in_words", "record"]

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 48  # columns of the curve


class Screen:
    """Where snapshots go."""

    def __init__(self, run: Anytime, config: Config) -> None:
        self.run, self.config = run, config
        self.begun = time.monotonic()
        self.before = (run.trajectories, run.steps)
        self.curve: list[tuple[int, float]] = []

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot in."""

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        """Say how it ended."""
        print(in_words(snapshot))
        print(f"  after {_amount(snapshot)}{', the last iteration incomplete' if snapshot.partial else ''}")
        if snapshot.performance is not None:
            print(f"  the policy is worth {snapshot.performance:.6g} on the process itself")
        for line in self.run.source.report():
            print(f"  {line}")
        for line in snapshot.guarantee.reasons[1:]:  # the first is part of the label
            print(f"  {'provided that' if snapshot.guarantee.holds else 'no guarantee:'} {line}")
        print(f"  ended because {snapshot.reason or 'it was left'}")
        if path is not None:
            print(f"  kept in {path}: umdp show {path}, umdp export {path} policy.json, umdp resume {path}")


class _Quiet(Screen):
    pass


class _Json(Screen):
    def show(self, snapshot: Snapshot) -> None:
        print(json.dumps(record(snapshot)), flush=True)

    def result(self, snapshot: Snapshot, path: str | None) -> None:
        return


class _Lines(Screen):
    """Plain lines, fewer and fewer as the run goes on."""

    next = 0.0

    def show(self, snapshot: Snapshot) -> None:
        now = time.monotonic() - self.begun
        if now >= self.next or snapshot.reason is not None:
            self.next = max(now * 1.25, now + 0.5)
            print(f"{_amount(snapshot)}: {in_words(snapshot)}", flush=True)


class _Live(Screen):
    """A few lines that renew themselves."""

    live: Live | None = None

    def show(self, snapshot: Snapshot) -> None:
        from rich.console import Console
        from rich.live import Live

        self.curve.append((max(snapshot.trajectories, 1), snapshot.bracket.value))
        if self.live is None:
            self.live = Live(console=Console(stderr=True), refresh_per_second=10, transient=True)
            self.live.start()
        self.live.update(self.picture(snapshot))

    def picture(self, snapshot: Snapshot) -> Group:
        """Return what to draw."""
        from rich.console import Group
        from rich.text import Text

        spent = max(time.monotonic() - self.begun, 1e-9)
        pace = (
            f"{(snapshot.trajectories - self.before[0]) / spent:,.0f} trajectories/s, "
            f"{(snapshot.steps - self.before[1]) / spent:,.0f} steps/s"
        )
        lines = [
            Text(f"{self.run.spec} with {self.config.learner} on {self.config.model}", style="bold"),
            Text(in_words(snapshot)),
            Text(f"{_amount(snapshot)}, iteration {snapshot.iteration}; {pace}"),
            Text(curve(self.curve), style="cyan"),
            Text(f"stops {stops(self.config)}", style="dim"),
        ]
        return Group(*lines)


@contextmanager
def display(run: Anytime, config: Config, *, json: bool, quiet: bool) -> Iterator[Screen]:
    """Give the screen that fits: JSON, quiet, live on a terminal, lines elsewhere."""
    kind = _Json if json else _Quiet if quiet else _Live if sys.stderr.isatty() and sys.stdout.isatty() else _Lines
    screen = kind(run, config)
    try:
        yield screen
    finally:
        live = getattr(screen, "live", None)
        if live is not None:
            live.stop()


def in_words(snapshot: Snapshot) -> str:
    """Return the value and what stands behind it, such as ``at least 0.301 with probability 99 %, whenever you stop``."""
    from umdp.spec import Direction

    bracket, spec = snapshot.bracket, snapshot.robust.spec
    rises = spec.deciding().agent is not Direction.MIN
    bound = bracket.lower if rises else bracket.upper
    side = "at least" if rises else "at most"
    if not math.isfinite(bound):
        return "no finite bound yet"
    behind = f"{snapshot.guarantee}" if snapshot.guarantee.holds else f"on the learned model, {snapshot.guarantee}"
    return f"{side} {short(bound, down=rises)} {behind}"


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


def _amount(snapshot: Snapshot) -> str:
    return f"{snapshot.trajectories:,} trajectories, {snapshot.steps:,} steps"


def curve(points: list[tuple[int, float]]) -> str:
    """Return a curve over the logarithm of trajectories, as one line of blocks.

    Examples
    --------
    >>> curve([(1, 0.0), (10, 0.5), (100, 1.0)])[-1]
    '█'
    """
    finite = [v for _, v in points if math.isfinite(v)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    last = math.log(points[-1][0]) or 1.0
    columns: list[str] = []
    at = 0
    for column in range(WIDTH):
        while at + 1 < len(points) and math.log(points[at + 1][0]) / last <= (column + 1) / WIDTH:
            at += 1
        value = points[at][1]
        share = (value - low) / (high - low) if high > low and math.isfinite(value) else 1.0
        columns.append(BARS[min(int(share * len(BARS)), len(BARS) - 1)] if math.isfinite(value) else " ")
    return "".join(columns)


def stops(config: Config) -> str:
    """Return what ends a run, in words."""
    given = [
        f"when {config.until} is reached" if config.until else "",
        f"after {config.trajectories:,} trajectories" if config.trajectories else "",
        f"after {config.steps:,} steps" if config.steps else "",
        f"after {config.seconds:g} s" if config.seconds else "",
    ]
    said = ", ".join(each for each in given if each)
    return f"{said}, or when you press Ctrl-C" if said else "when you press Ctrl-C"


def record(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot for a line of JSON; infinity as text."""
    return {key: plain(value) for key, value in snapshot.row().items()}


def plain(value: Any) -> Any:
    """Return a number JSON can hold: infinity as text, nothing for what is not a number."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
