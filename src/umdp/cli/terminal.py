"""The edge to the terminal: from words to an exit status; whatever is shown passes here, and nothing in it controls the terminal.

Names, paths, properties and messages of others' code are whatever somebody wrote. `say` prints lines, each of which stays one
line; the streams that are put in the place of standard output and error catch what is printed in any other way. Only what rich
draws goes around them, and is made of text that was cleaned before.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from umdp.errors import UmdpError
from umdp.statements.text import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "INTERRUPTED", "SIGNALS", "TRACEBACK", "OutputLost", "aligned", "announce", "as_text", "complain", "console", "drawn", "main",
    "plain", "run", "say", "say_json",
]  # fmt: skip

INTERRUPTED = 130
BROKEN_PIPE = 141
FIRST = 3  # the first descriptor that is not one of the three streams
TRACEBACK = "UMDP_TRACEBACK"  # set in the environment, unexpected errors come with their traceback
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


def say(*lines: object, err: bool = False, flush: bool = False) -> None:
    r"""Print lines, each of which stays one line, whatever is in it.

    Examples
    --------
    >>> say("state a\x1b[2J\nerror: forged")
    state a\u001b[2J\u000aerror: forged
    """
    for line in lines:
        print(one_line(str(line)), file=sys.stderr if err else sys.stdout, flush=flush)


def say_json(record: Any, *, flush: bool = False) -> None:
    """Print what programs read, as JSON in one line.

    Examples
    --------
    >>> say_json({"upper": math.inf, "level": None})
    {"upper": "inf", "level": null}
    """
    say(json.dumps(plain(record)), flush=flush)


def plain(value: Any) -> Any:
    """Return what JSON can hold: infinity as text, nothing for what is not a number."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str]) -> list[str]:
    """Return a table as lines, its head first; what stands under `numbers` stands to the right.

    Examples
    --------
    >>> aligned(("state", "visits"), [("a", "1,000"), ("b", "7")], ["visits"])
    ['state  visits', 'a       1,000', 'b           7']
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    sides = [">" if name in numbers else "<" for name in head]
    table = (
        [f"{text:{side}{width}}" for text, side, width in zip(line, sides, widths, strict=True)]
        for line in (head, *rows)
    )
    return ["  ".join(cells).rstrip() for cells in table]


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


# -- a command line, from its words to its exit status ------------------------------------------------------


def main() -> None:
    """Run the command line of this process and exit with its status."""
    # Where a stream is closed its number must not become that of a file, which others then would write to.
    while (number := os.open(os.devnull, os.O_RDWR)) < FIRST:
        pass
    os.close(number)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name outside the terminal's alphabet must not end the program
            stream.reconfigure(errors="backslashreplace")
    with stoppable():
        code = run(sys.argv[1:])
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status.

    Returns
    -------
    int
        0 answered, 1 a threshold does not hold, 2 bad input or usage (one message on standard error), 130
        interrupted, 141 nobody reads the output any more.

    Examples
    --------
    >>> run(["--version"])
    umdp 0.1.0
    0
    """
    with warnings.catch_warnings(), guarded():
        warnings.showwarning = _note  # in a line, without the place in somebody's code
        try:
            code = _answered(arguments)
            sys.stdout.flush()
            if getattr(sys.stdout, "lost", False):
                raise OutputLost(CLOSED)
            return code
        except KeyboardInterrupt as interrupt:
            say(f"interrupted{f': {interrupt}' if str(interrupt) else ''}", err=True)
            return INTERRUPTED
        except OutputLost as error:
            return _fail(f"standard output cannot be written: {error}")
        except BrokenPipeError:
            return BROKEN_PIPE
        finally:
            hush()


def _note(message: Warning | str, *place: Any, **more: Any) -> None:
    say(f"note: {' '.join(str(message).split())}", err=True)


def _answered(arguments: Sequence[str]) -> int:
    """Do what was asked for, and return the exit status; what is wrong with it is said."""
    from umdp.cli.app import UsageError, parse

    try:
        request = parse(arguments)
        return request if isinstance(request, int) else request.run()
    except UsageError as error:
        command = getattr(getattr(error, "ctx", None), "command_path", "umdp")
        message = error.format_message().replace("Value error, ", "").rstrip(" .")
        return _fail(f"{message[:1].lower()}{message[1:]} (see {command} --help)")
    except UmdpError as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("there is not enough memory for this")
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"{_short(str(error.filename or ''))}: {error.strerror or error}".removeprefix(": "))
    except Exception as error:
        if TRACEBACK in os.environ:
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return _fail(f"this is a bug in umdp, please report it ({_short(said)}); set {TRACEBACK}=1 to see where")


def _fail(message: str) -> int:
    # Sources speak to Python; here the same is an option.
    complain(message.replace('on_error="skip"', "--on-error skip"))
    return 2


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."
