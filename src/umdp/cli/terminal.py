"""The edge to the terminal: whatever is shown passes here, and nothing in it controls the terminal.

Names, paths, properties and messages of others' code are whatever somebody wrote. `say` prints lines, each of which stays one
line; the streams that are put in the place of standard output and error catch what is printed in any other way. Only what rich
draws goes around them, and is made of text that was cleaned before.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from umdp.statements.text import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "SIGNALS",
    "OutputLost",
    "as_text",
    "complain",
    "complete",
    "console",
    "drawn",
    "guarded",
    "say",
    "stoppable",
]

CLOSED = "it is closed"
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
