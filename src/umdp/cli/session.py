"""A run that goes on: shown, kept, ended by its limits or by whoever asks, and saved as far as it can be where it fails."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING

from umdp.cli import INTERRUPTED, TRACEBACK
from umdp.cli.terminal import SIGNALS
from umdp.errors import ModelError, UmdpError

if TYPE_CHECKING:
    from umdp.learning.procedure import LearningRun
    from umdp.learning.snapshot import Snapshot
    from umdp.run import Config, Store

__all__ = ["Session"]


@dataclass(frozen=True)
class Session:
    """How a run is shown and kept.

    Attributes
    ----------
    json, quiet : what is printed
    certificate : the file for a proof of what it ends with
    path : the file that it is said to be kept in
    spent : seconds that went by before it begins, of those it has
    """

    json: bool = False
    quiet: bool = False
    certificate: str | None = None
    path: str | None = None
    spent: float = 0.0

    def go(self, run: LearningRun, config: Config, store: Store | None = None) -> int:
        """Go through a run, keep and show its snapshots, and say what it is kept in; return the exit status."""
        from umdp.cli.live import display
        from umdp.learning.loop import proceed
        from umdp.learning.snapshot import diagnostics_of
        from umdp.run.writer import RunWriter

        writer = None if store is None else RunWriter(store)

        def keep(snapshot: Snapshot) -> None:
            if writer is not None:
                notes = (*config.notes, *diagnostics_of(run.source, run.spec, snapshot))
                writer.keep(snapshot, run.checkpoint(), notes)

        def stopped() -> bool:
            if writer is not None:
                writer.write_if_due()  # while an iteration goes on for long, nothing waits to be written
            return signals.is_set()

        limits = config.limits()
        if limits.seconds is not None:
            limits = replace(limits, seconds=limits.seconds - self.spent)
        snapshot, failure = None, None
        try:
            with _signals() as signals, display(run, config, json=self.json, quiet=self.quiet) as screen:
                try:
                    for snapshot in proceed(run, limits, stopped, keep):
                        screen.show(snapshot)
                except BrokenPipeError:
                    if writer is not None:
                        writer.flush()
                    raise
                except Exception as error:
                    if TRACEBACK in os.environ:
                        raise
                    failure, snapshot = error, _save(run, snapshot, keep, error)
                    if snapshot is not None:
                        screen.show(snapshot)
            if snapshot is not None:
                screen.result(snapshot, self.path)
                sys.stdout.flush()
                if self.certificate is not None and failure is None:
                    from umdp.cli.verify import write_certificate

                    write_certificate(snapshot.certificate(), self.certificate)
        finally:
            run.source.close()
        if failure is not None:
            raise _said(failure, config)
        return INTERRUPTED if signals.is_set() else 0


def _save(
    run: LearningRun, last: Snapshot | None, keep: Callable[[Snapshot], None], failure: Exception
) -> Snapshot | None:
    """Keep what was learned before something failed, as far as that can still be done, and return it.

    Where nothing can be said of what was read last, nothing is promised: it may be what the failure is about.
    """
    from umdp.run import WriteError
    from umdp.statements import Code, say
    from umdp.statements.guarantee import Guarantee

    now: Snapshot | None
    try:
        now = replace(run.snapshot(), reason="something failed")
        if not isinstance(failure, WriteError):
            keep(now)
    except Exception:  # what was shown last is then all there is
        if last is None:
            return None
        now = replace(last, reason="something failed", guarantee=Guarantee("none", reasons=(say(Code.FAILED),)))
        if not isinstance(failure, WriteError):
            with suppress(Exception):
                keep(now)
    return now if now is not None and now.trajectories else None


def _said(failure: Exception, config: Config) -> UmdpError:
    """Return what failed in one message."""
    from umdp.source.resolve import where

    if isinstance(failure, UmdpError):
        return failure
    if isinstance(failure, MemoryError):
        return ModelError("there is not enough memory to go on")
    return ModelError(
        f"the run of {config.learner} on {config.model} failed: {where(failure)}; set {TRACEBACK}=1 to see where"
    )


class _Signals:
    """Remembers that someone asked to stop; whoever asks twice is not kept waiting."""

    def __init__(self) -> None:
        self.asked = False

    def is_set(self) -> bool:
        return self.asked

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            sys.stderr.write("\n")
            os._exit(INTERRUPTED)
        self.asked = True


@contextmanager
def _signals() -> Iterator[_Signals]:
    """While entered, Ctrl-C, SIGTERM and the loss of the terminal ask to stop; what is ignored stays ignored, as under nohup."""
    handler = _Signals()
    asked = [signal.SIGINT, *(number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN)]
    before = {number: signal.signal(number, handler) for number in asked}
    try:
        yield handler
    finally:
        for number, old in before.items():
            signal.signal(number, old)
