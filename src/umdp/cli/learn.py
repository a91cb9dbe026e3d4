"""`umdp learn` and `umdp resume`: learn, show how the guarantee improves, stop whenever it is good enough."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from umdp.errors import FormatError

if TYPE_CHECKING:
    from umdp.anytime import Anytime
    from umdp.run import Config, Store

__all__ = ["Learn", "Resume"]

INTERRUPTED = 130


@dataclass(frozen=True)
class Learn:
    """One call of `umdp learn`, as typed."""

    config: Config
    out: str | None = None
    json: bool = False
    quiet: bool = False

    def run(self) -> int:
        """Learn until something ends it; return the exit status."""
        from umdp.run import Store

        limits = self.config.limits()
        run = self.config.build()
        if self.out is None:
            return _learn(run, self.config, None, json=self.json, quiet=self.quiet)
        assert limits is not None
        config = self.config.signed(run)
        with Store.create(self.out, _plain(config)) as store:
            return _learn(run, config, store, json=self.json, quiet=self.quiet)


@dataclass(frozen=True)
class Resume:
    """One call of `umdp resume`, as typed."""

    path: str
    json: bool = False
    quiet: bool = False

    def run(self) -> int:
        """Go on with a run where it was when it ended, however it ended."""
        from umdp.run import Store

        with Store.open(self.path) as store:
            config = configuration(store)
            run = config.build()
            state = store.state()
            if state is not None:
                run.restore(state)
            return _learn(run, config, store, json=self.json, quiet=self.quiet)


def configuration(store: Store) -> Config:
    """Return the configuration a run was made with."""
    import msgspec

    from umdp.run import Config

    try:
        return msgspec.convert(store.config, Config)
    except msgspec.ValidationError as error:
        raise FormatError(f"the configuration of this run cannot be read ({error})", path=store.path) from None


def _plain(config: Config) -> dict[str, object]:
    import msgspec

    plain: dict[str, object] = msgspec.to_builtins(config)
    return plain


def _learn(run: Anytime, config: Config, store: Store | None, *, json: bool, quiet: bool) -> int:
    """Go through a run, keep and show its snapshots; return the exit status."""
    from umdp.anytime import proceed
    from umdp.cli.kernels import announce
    from umdp.cli.live import display
    from umdp.snapshot import Snapshot

    announce()

    def keep(snapshot: Snapshot) -> None:
        if store is not None:
            store.keep(snapshot, run.state())

    snapshot = None
    with _signals() as signals, display(run, config, json=json, quiet=quiet) as screen:
        try:
            for snapshot in proceed(run, config.limits(), signals.is_set, keep):
                screen.show(snapshot)
        finally:
            run.source.close()
    if snapshot is not None:
        screen.result(snapshot, str(store.path) if store is not None else None)
    return INTERRUPTED if signals.is_set() else 0


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
    """While entered, Ctrl-C and SIGTERM ask to stop."""
    handler = _Signals()
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield handler
    finally:
        for number, old in before.items():
            signal.signal(number, old)
