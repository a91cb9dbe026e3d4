"""The edge to the terminal: whatever is shown passes here, also what is going on, and nothing in it controls the terminal.

Names, paths, properties and messages of others' code are whatever somebody wrote. `say` prints lines, each of which stays one
line; the streams that are put in the place of standard output and error catch what is printed in any other way. Only what rich
draws goes around them, and is made of text that was cleaned before.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from umdp.statements.text import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.text import Text

__all__ = [
    "SIGNALS", "OutputLost", "Progress", "announce", "as_text", "complain", "complete", "console", "count_runs",
    "drawn", "guarded", "hush", "say", "stoppable",
]  # fmt: skip

CLOSED = "it is closed"
DELAY = 1.0  # seconds before it is shown what is going on
EVERY = 15.0  # seconds between lines about it where nobody watches
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class OutputLost(BrokenPipeError):
    """What is printed has nowhere to go: a disk is full, or standard output is closed."""


class _Shown:
    """A stream on which only printable characters arrive.

    Parameters
    ----------
    stream : text stream or None
        Where to; nowhere if it is closed.
    needed : bool
        Whether it is an error that something cannot be written; there is nobody to tell where it is standard error.
    """

    def __init__(self, stream: Any, *, needed: bool) -> None:
        self.stream, self.needed = stream, needed
        self.lost = False

    def write(self, text: str) -> int:
        if self.stream is None:
            self.lost = self.lost or bool(text.strip())
        else:
            with self._failing():
                self.stream.write(printable(text))
        return len(text)

    def flush(self) -> None:
        if self.stream is not None:
            with self._failing():
                self.stream.flush()

    def isatty(self) -> bool:
        return self.stream is not None and bool(self.stream.isatty())

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: it was closed meanwhile
            stream, self.stream = self.stream, None
            with contextlib.suppress(OSError, ValueError, AttributeError):
                # What is left in the buffer has nowhere to go either: without this Python complains at exit.
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if not self.needed:
                return
            if isinstance(error, BrokenPipeError):
                raise
            raise OutputLost(getattr(error, "strerror", None) or CLOSED) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream if self.stream is not None else sys.__stdin__, name)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """While entered, nothing but printable characters arrives on standard output and standard error."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Shown(sys.stdout, needed=True), _Shown(sys.stderr, needed=False)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def complete() -> None:
    """Raise `OutputLost` if something was printed to standard output while it was closed."""
    sys.stdout.flush()
    if getattr(sys.stdout, "lost", False):
        raise OutputLost(CLOSED)


def say(*lines: object, err: bool = False, flush: bool = False) -> None:
    r"""Print lines, each of which stays one line, whatever is in it.

    Examples
    --------
    >>> say("state a\x1b[2J\nerror: forged")
    state a\u001b[2J\u000aerror: forged
    """
    for line in lines or ("",):
        print(one_line(str(line)), file=sys.stderr if err else sys.stdout, flush=flush)


def complain(message: str) -> None:
    """Print an error; what follows its first line is indented, so that a name with lines in it looks like no other message."""
    first, *more = message.split("\n")
    say(f"error: {first}", *(line if line.startswith(" ") or not line else f"  {line}" for line in more), err=True)


def console(*, err: bool = False, **options: Any) -> Console:
    """Return what rich draws on; only for text that was cleaned (`as_text`), since colours are control characters."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    options = {"highlight": False, "markup": False, "emoji": False, **options}
    return Console(file=stream.stream if isinstance(stream, _Shown) else stream, stderr=err, **options)


def drawn(text: str) -> None:
    """Write what rich has drawn to standard output."""
    stream: Any = sys.stdout
    if not isinstance(stream, _Shown) or stream.stream is None:
        stream.write(text)
    else:
        with stream._failing():
            stream.stream.write(text)


def as_text(text: object, **options: Any) -> Text:
    """Return a line for rich in which nothing is markup or controls the terminal."""
    from rich.text import Text

    return Text(one_line(str(text)), **options)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """While entered, being asked to end (SIGTERM) and losing the terminal (SIGHUP) interrupt as Ctrl-C does.

    What is ignored, as under nohup, stays ignored; processes that are made meanwhile end as they would without.
    """
    own = os.getpid()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if os.getpid() != own:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in SIGNALS}
    taken = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])


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


def announce() -> None:
    """Have kernels compiled in the background once this command would compile, if it would, and have it said."""
    from umdp.kernel import on_compile

    def tell() -> None:
        from umdp.cli.compiling import compile_with_another_process

        where = " in the background" if compile_with_another_process() else ""
        say(f"compiling kernels once{where}; later runs start at once", err=True, flush=True)

    on_compile(tell)


def hush() -> None:
    """Say nothing of what is compiled after this command."""
    if "umdp.kernel" in sys.modules:
        from umdp.kernel import on_compile

        on_compile(None)
