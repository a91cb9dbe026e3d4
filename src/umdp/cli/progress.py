"""A line on the terminal about what is going on, for what takes longer than a second."""

from __future__ import annotations

import math
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live
    from rich.spinner import Spinner

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
    ...     print(progress.line(seconds=3))
    solving: value iteration, relative width 0.01, 3 s
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._what, self._width = "", math.nan
        self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._timer: threading.Timer | None = None
        self._over = False

    def tell(self, what: str, width: float) -> None:
        """Note what the solver is doing and how wide the bracket is now."""
        self._what, self._width = what, width

    def line(self, seconds: float) -> str:
        """Return the text to show."""
        text = f"{self.title}: {self._what}" if self._what else self.title
        if math.isfinite(self._width):
            text += f", relative width {self._width:.1g}"
        return f"{text}, {seconds:.0f} s"

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._timer = threading.Timer(DELAY, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._over = True
            if self._live is not None:
                self._live.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        spinner = Spinner("line", style="cyan")

        def render() -> Spinner:
            spinner.update(text=self.line(time.monotonic() - self._begun))
            return spinner

        with self._lock:
            if not self._over:
                self._live = Live(
                    get_renderable=render,
                    console=Console(stderr=True),
                    transient=True,
                    refresh_per_second=5,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._live.start()
