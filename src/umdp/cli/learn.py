"""`umdp learn` and `umdp resume`: learn, show how the guarantee improves, stop whenever it is good enough."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from umdp.cli import TRACEBACK
from umdp.cli.afterwards import Afterwards
from umdp.cli.terminal import SIGNALS, say
from umdp.errors import FormatError, ModelError, UmdpError

if TYPE_CHECKING:
    from umdp.learning.procedure import LearningRun
    from umdp.learning.snapshot import Snapshot
    from umdp.run import Config, Store

__all__ = ["Learn", "Resume", "configuration"]

INTERRUPTED = 130
EXPLORE, SHARE = 60.0, 0.2  # seconds for exploratory episodes; where a time is given, this much of it


@dataclass(frozen=True)
class Learn:
    """One call of `umdp learn`, as typed."""

    config: Config
    out: str | None = None
    json: bool = False
    quiet: bool = False
    certificate: str | None = None
    afterwards: Afterwards = field(default_factory=Afterwards)
    free: bool = False  # nobody asked for a learner
    force: bool = False

    def run(self) -> int:
        """Learn until something ends it; return the exit status."""
        from umdp.cli.kernels import announce
        from umdp.cli.used import check_certificate
        from umdp.run import Store
        from umdp.run.fingerprint import fingerprint

        self.config.limits()
        config = self.config.for_observed() if self.free and self.config.shows_graph else self.config
        if self.certificate is not None:
            check_certificate(self.certificate, config)
        self.afterwards.check()
        self._check_outputs()
        config = config.signed()
        announce()
        run, config, spent = self._built(config)
        how: dict[str, Any] = {
            "json": self.json, "quiet": self.quiet, "certificate": self.certificate, "spent": spent,
        }  # fmt: skip
        with self.afterwards.kept(self.out) as file:
            if file is None:
                return _learn(run, config, None, **how)
            truth = None if run.source.truth is None or config.switch is not None else run.source.truth.probability
            more = {"property": str(run.spec), "fingerprint": fingerprint(config, run), "truth": truth}
            with Store.create(file, _plain(config), run.source.graph, **more) as store:
                status = _learn(run, config, store, path=self.out, **how)
            self.afterwards.write(file, aloud=not self.json)
            return status

    def _built(self, config: Config) -> tuple[LearningRun, Config, float]:
        """Return the run, and its configuration with what was found out: how it was explored, and which learner fits.

        The last is how long exploration took.
        """
        import msgspec

        from umdp.source import Gymnasium

        def tell(line: str) -> None:
            if not (self.quiet or self.json):
                say(line, err=True, flush=True)

        config.check()
        given = EXPLORE if config.seconds is None else SHARE * config.seconds
        begun, spent = time.monotonic(), 0.0
        source, spec, horizon = config.build_source(given, tell)
        if isinstance(source, Gymnasium) and source.explored is not None:
            config, spent = msgspec.structs.replace(config, explored=source.explored), time.monotonic() - begun
        if self.free and not config.chosen and source.knowledge().graph == "observed":
            config = config.for_observed()
        return config.assemble(source, spec, horizon), config, min(spent, given)

    def _check_outputs(self) -> None:
        from umdp.cli.outputs import check_outputs, files_read

        after, aside = self.afterwards, self.config.data.aside
        files = [("--out", self.out), ("--policy", after.policy), ("--plot", after.plot)]
        files += [("--certificate", self.certificate), ("--aside", aside)]
        check_outputs(files, files_read(self.config), force=self.force)


@dataclass(frozen=True)
class Resume:
    """One call of `umdp resume`, as typed."""

    path: str
    json: bool = False
    quiet: bool = False
    trust: bool = False
    limits: dict[str, Any] = field(default_factory=dict)

    def run(self) -> int:
        """Go on with a run where it was when it ended, however it ended; with other limits, beyond its end."""
        from umdp.cli.kernels import announce
        from umdp.run import Store
        from umdp.run.fingerprint import compare, fingerprint
        from umdp.run.trust import require

        with Store.resume(self.path) as store:
            before = configuration(store)
            config = before.with_limits(**self.limits)
            config.limits()
            require(config, self.path, trusted=self.trust, writes=True)
            _tell_version(config)
            announce()
            run = config.build()
            now = fingerprint(config, run)
            found = store.fingerprint()
            if found is None:
                config = config.signed()
                store.upgrade(_plain(config), run.source.graph, property=str(run.spec), fingerprint=now)
            else:
                compare(found, now, self.path)
            state = store.state()
            if state is not None:
                _restore(run, state, store)
            if config != before:
                run.state.ended = False  # a log may have grown since
                store.amend(_plain(config))
            return _learn(run, config, store, json=self.json, quiet=self.quiet, path=self.path)


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


def _restore(run: LearningRun, state: dict[str, Any], store: Store) -> None:
    try:
        run.restore(state)
    except UmdpError as error:
        raise FormatError(f"this run cannot go on: {error}", path=store.path) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(
            f"the state of this run does not fit it ({type(error).__name__}: {error})", path=store.path
        ) from None


def _tell_version(config: Config) -> None:
    from umdp import __version__

    made = config.versions.get("umdp")
    if made != __version__:
        say(f"note: this run was made by umdp {made or 'of an unknown version'}; this is {__version__}", err=True)


def _learn(
    run: LearningRun,
    config: Config,
    store: Store | None,
    *,
    json: bool,
    quiet: bool,
    certificate: str | None = None,
    path: str | None = None,
    spent: float = 0.0,
) -> int:
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
        limits = replace(limits, seconds=limits.seconds - spent)
    snapshot, failure = None, None
    try:
        with _signals() as signals, display(run, config, json=json, quiet=quiet) as screen:
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
            screen.result(snapshot, path)
            sys.stdout.flush()
            if certificate is not None and failure is None:
                from umdp.cli.verify import write_certificate

                write_certificate(snapshot.certificate(), certificate)
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
