"""The live picture of a run: the bound and the optimistic value over trajectories, as a chart made of characters."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umdp.benchmark.cells import short
from umdp.cli.session import Screen, amount, beside, in_words
from umdp.cli.terminal import as_text, console, say
from umdp.learn.learner import in_lines
from umdp.learning.loop import LearningRun
from umdp.learning.snapshot import Snapshot, parameters_in_words
from umdp.run import Config
from umdp.statements.text import nouns

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live as Display

__all__ = ["Live", "Point", "chart", "remaining", "stops"]

POINTS = 4000  # of a curve, above which every second is left out
WIDTH = 72  # columns of the picture, where there are so many
BARS = " ▁▂▃▄▅▆▇█"
HEIGHT = 6  # lines
SPREAD = 100  # how many times larger than the last value others must be for a logarithmic scale
DECADES = 6  # above the last value, on such a scale


class Live(Screen):
    """A few lines that renew themselves; in the end, the policy as a drawing where its states have a place."""

    live: Display | None = None
    last: Snapshot | None = None

    def __init__(self, run: LearningRun, config: Config) -> None:
        super().__init__(run, config)
        self.before = (run.trajectories, run.steps)
        self.points: list[Point] = []
        self.console = console(err=True)

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot in, for the next picture."""
        from rich.live import Live as Display

        # With evidence it is what is promised, not what the model says.
        bound = snapshot.bound if snapshot.evidence is None else (snapshot.promise or snapshot.evidence).bound
        if len(self.points) >= POINTS:
            self.points = [*self.points[:-1:2], self.points[-1]]
        self.points.append(Point(max(snapshot.trajectories, 1), bound, snapshot.optimistic))
        self.last = snapshot
        if self.live is None:
            # What is shown is asked for anew, so that the time goes on while a snapshot takes long.
            self.live = Display(
                console=console(err=True), get_renderable=self.picture, refresh_per_second=8, transient=True
            )
            self.live.start()

    def stop(self) -> None:
        """Let go of the terminal."""
        if self.live is not None:
            self.live.stop()

    def picture(self) -> Group:
        """Return what to draw."""
        from rich.console import Group

        snapshot = self.last
        assert snapshot is not None
        width = min(self.console.width - 1, WIDTH)
        spent = max(time.monotonic() - self.begun, 1e-9)
        pace = (
            f"{(snapshot.trajectories - self.before[0]) / spent:,.0f} trajectories/s, "
            f"{(snapshot.steps - self.before[1]) / spent:,.0f} steps/s"
        )
        points = list(self.points)
        drawn = chart(points, width)
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
        lines.append(as_text(f"{amount(snapshot)}, iteration {snapshot.iteration}; {pace}"))
        lines += [as_text(line, style="red") for line in in_lines(snapshot.alarms)]
        bar = self.progress(snapshot, spent, width)
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
        """Say how it ended, and draw the policy."""
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


# -- the chart -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """What is known after some trajectories: the bound and, where there is one, the optimistic value."""

    trajectories: int
    bound: float
    optimistic: float | None = None


def chart(points: Sequence[Point], width: int, height: int = HEIGHT) -> list[str]:
    """Return the lines of a chart: blocks up to the bound, dots at the optimistic value; none without a finite bound.

    The number of trajectories is on a logarithmic scale, and values that differ a hundredfold are, too.

    Examples
    --------
    >>> for line in chart([Point(1, 0.0, 1.0), Point(10, 0.5, 1.0), Point(100, 0.75, 0.8)], 34, 4):
    ...     print(line)
       1 ┤···························
         │                           ▃
         │             ▅▅▅▅▅▅▅▅▅▅▅▅▅▅█
       0 ┤▁▁▁▁▁▁▁▁▁▁▁▁▁███████████████
         └┴─────────────┴────────────┴
          1             10
    """
    known = [value for each in points for value in (each.bound, each.optimistic) if value is not None]
    finite = [value for value in known if math.isfinite(value)]
    if not finite or not any(math.isfinite(each.bound) for each in points):
        return []
    low, high, logarithmic = _scale(points, finite)
    labels = [_label(low, high, line / (height - 1), logarithmic) for line in range(height)]
    margin = max(map(len, labels)) + 1
    columns = max(width - margin - 2, 8)
    heights: list[float] = []
    dots: list[int | None] = []
    for each in _spread_out(points, columns):
        heights.append(_share(each.bound, low, high, logarithmic) * (height - 1))
        dots.append(
            None if each.optimistic is None else round(_share(each.optimistic, low, high, logarithmic) * (height - 1))
        )
    lines = []
    for line in range(height - 1, -1, -1):
        marked = line in (0, height - 1) or (height > 4 and line == height // 2)
        cells = [
            "·" if dot == line and _block(top, line) == " " else _block(top, line)
            for top, dot in zip(heights, dots, strict=True)
        ]
        lines.append(f"{labels[line] if marked else '':>{margin}} {'┤' if marked else '│'}{''.join(cells)}".rstrip())
    return [*lines, *_below(points[-1].trajectories, columns, margin)]


def remaining(
    done: tuple[int, int], before: tuple[int, int], spent: float, limits: tuple[int | None, int | None, float | None]
) -> tuple[float, float | None] | None:
    """Return how much of a budget is used up, 0 to 1, and the seconds left; None without a budget.

    Parameters
    ----------
    done, before : trajectories and steps now, and when this sitting began
    spent : seconds since then
    limits : on trajectories, steps and seconds

    Examples
    --------
    >>> remaining((50, 0), (0, 0), 10.0, (200, None, None))
    (0.25, 30.0)
    >>> remaining((50, 0), (0, 0), 10.0, (200, None, 20.0))
    (0.5, 10.0)
    """
    found: list[tuple[float, float | None]] = []
    for now, first, limit in zip(done, before, limits[:2], strict=True):
        if limit is not None:
            pace = (now - first) / spent if spent > 0 else 0.0
            found.append((min(now / limit, 1.0), max(limit - now, 0) / pace if pace > 0 else None))
    seconds = limits[2]
    if seconds is not None:
        found.append((min(spent / seconds, 1.0), max(seconds - spent, 0.0)))
    if not found:
        return None
    return min(found, key=lambda each: (math.inf if each[1] is None else each[1], -each[0]))


def _scale(points: Sequence[Point], finite: Sequence[float]) -> tuple[float, float, bool]:
    """Return the ends of the scale of values, and whether it is logarithmic."""
    last = next(each.bound for each in reversed(points) if math.isfinite(each.bound))
    usual = abs(last)
    if min(finite) > 0 and usual > 0 and max(finite) > SPREAD * max(usual, 1.0):
        low = 10.0 ** math.floor(math.log10(max(min(finite), usual * 10.0**-DECADES)))
        return low, 10.0 ** math.ceil(math.log10(min(max(finite), usual * 10.0**DECADES))), True
    low, high = min(0.0, *finite), max(finite)
    return low, high if high > low else low + 1.0, False


def _share(value: float, low: float, high: float, logarithmic: bool) -> float:
    if not math.isfinite(value):
        return 1.0 if value > 0 else 0.0
    if logarithmic:
        value, low, high = math.log10(max(value, low)), math.log10(low), math.log10(high)
    return min(max((value - low) / (high - low), 0.0), 1.0)


def _label(low: float, high: float, share: float, logarithmic: bool) -> str:
    value = low * (high / low) ** share if logarithmic else low + share * (high - low)
    return short(value)


def _spread_out(points: Sequence[Point], columns: int) -> list[Point]:
    """Return the point that each column shows: the last one not later than it."""
    last = math.log(max(points[-1].trajectories, 2))
    shown, at = [], 0
    for column in range(columns):
        while at + 1 < len(points) and math.log(max(points[at + 1].trajectories, 1)) / last <= (column + 1) / columns:
            at += 1
        shown.append(points[at])
    return shown


def _block(top: float, line: int) -> str:
    """Return the character of a line that a bar of this height fills; the lowest line is never empty."""
    filled = min(max(top - line + (1 / 8), 0.0), 1.0)
    return BARS[int(filled * 8)]


def _below(trajectories: int, columns: int, margin: int) -> list[str]:
    """Return the axis of trajectories and its numbers, powers of ten."""
    last = math.log(max(trajectories, 2))
    axis, text = ["─"] * columns, [" "] * (columns + 6)
    free = 0
    for power in range(int(math.log10(max(trajectories, 1))) + 1):
        column = min(int(math.log(10**power) / last * columns), columns - 1)
        label = short(10.0**power)
        axis[column] = "┴"
        if column >= free and column + len(label) <= columns:
            text[column : column + len(label)] = label
            free = column + len(label) + 1
    numbers = "".join(text).rstrip()
    pad = " " * (margin + 1)
    return [f"{pad}└{''.join(axis)}", f"{pad} {numbers}"]
