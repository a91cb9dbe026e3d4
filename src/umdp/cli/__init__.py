"""The command line: one file per command, shared output apart; `main` is the console script ``umdp``."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from umdp.errors import UmdpError

__all__ = ["main", "run"]

INTERRUPTED = 130
BROKEN_PIPE = 141
FIRST = 3  # the first descriptor that is not one of the three streams
TRACEBACK = "UMDP_TRACEBACK"  # set in the environment, unexpected errors come with their traceback


def main() -> None:
    """Run the command line of this process and exit with its status."""
    from umdp.cli.terminal import stoppable

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
    from umdp.cli.terminal import guarded, hush

    with warnings.catch_warnings(), guarded():
        warnings.showwarning = _note  # in a line, without the place in somebody's code
        try:
            return _run(arguments)
        finally:
            hush()


def _note(message: Warning | str, *place: Any, **more: Any) -> None:
    from umdp.cli.terminal import say

    say(f"note: {' '.join(str(message).split())}", err=True)


def _run(arguments: Sequence[str]) -> int:
    from umdp.cli.terminal import OutputLost, complete, say

    try:
        code = _answered(arguments)
        complete()
    except KeyboardInterrupt as interrupt:
        say(f"interrupted{f': {interrupt}' if str(interrupt) else ''}", err=True)
        return INTERRUPTED
    except OutputLost as error:
        return _fail(f"standard output cannot be written: {error}")
    except BrokenPipeError:
        return BROKEN_PIPE
    return code


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
    from umdp.cli.terminal import complain

    # Sources speak to Python; here the same is an option.
    complain(message.replace('on_error="skip"', "--on-error skip"))
    return 2


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."
