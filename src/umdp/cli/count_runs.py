"""How many runs are done, for what does many of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from umdp.cli.terminal import console, say

__all__ = ["count_runs"]

EVERY = 15.0  # seconds between lines where nobody watches


@contextmanager
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
