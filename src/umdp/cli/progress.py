"""What goes on meanwhile, on standard error: how far the solver is, and how many runs are done."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from umdp.cli.terminal import console, say
from umdp.statements.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["Progress", "count_runs"]

DELAY = 1.0  # seconds before it is shown what is going on
EVERY = 15.0  # seconds between lines about it where nobody watches


class Progress:
    """While it is entered, and after a second, show what is going on; nothing unless standard error is a terminal.

    Parameters
    ----------
    title : str
        What the whole is, such as "property 2 of 3".

    Examples
    --------
    >>> with Progress("solving") as progress:
    ...     progress.tell("value iteration", 0.01)
    ...     print(progress.line())
    solving: value iteration, relative width 0.01
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._what, self._width = "", math.nan
        self._bar: Bar | None = None
        self._timer: threading.Timer | None = None

    def tell(self, what: str, width: float) -> None:
        """Note what the solver is doing and how wide the bracket is now."""
        self._what, self._width = what, width
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=one_line(self.line()))

    def line(self) -> str:
        """Return the text to show, before the time."""
        text = f"{self.title}: {self._what}" if self._what else self.title
        return f"{text}, relative width {self._width:.1g}" if math.isfinite(self._width) else text

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.progress import Progress as Bar
            from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self._bar = Bar(
                *columns, console=console(err=True), transient=True, redirect_stdout=False, redirect_stderr=False
            )
            self._bar.add_task(one_line(self.line()), total=None)
            self._timer = threading.Timer(DELAY, self._bar.start)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None and self._bar is not None:
            self._timer.cancel()
            self._timer.join()  # it may just be starting the line
            self._bar.stop()


@contextlib.contextmanager
def count_runs(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Give what shows how many runs are done, of how many: a bar on a terminal, a line now and then elsewhere."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Bar(*columns, console=console(err=True)) as bar:
            job = bar.add_task("runs", total=None)
            yield lambda done, total: bar.update(job, completed=done, total=total)
    else:
        begun = shown = time.monotonic()

        def line(done: int, total: int) -> None:
            nonlocal shown
            if done in (0, total) or time.monotonic() - shown >= EVERY:
                shown = time.monotonic()
                say(f"{done} of {total} runs, {shown - begun:.0f} s", err=True, flush=True)

        yield line
