"""A line on the terminal about what is going on, for what takes longer than a second."""

from __future__ import annotations

import math
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from umdp.cli.terminal import console
from umdp.statements.text import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["Progress"]

DELAY = 1.0


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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None and self._bar is not None:
            self._timer.cancel()
            self._timer.join()  # it may just be starting the line
            self._bar.stop()
