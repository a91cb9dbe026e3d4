"""`umdp resume`: go on with a run where it was when it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from umdp import __version__
from umdp.cli.run_options import Limits
from umdp.cli.session import Session
from umdp.cli.terminal import announce, say
from umdp.errors import FormatError, UmdpError
from umdp.learning.loop import LearningRun
from umdp.run import Config, Store
from umdp.run.fingerprint import compare, fingerprint
from umdp.run.opened import configuration
from umdp.run.trust import require

__all__ = ["Resume"]


@dataclass(frozen=True, kw_only=True)
class Resume(Limits):
    """Go on with a run where it was when it ended, however it ended.

    Limits that are given replace all there were, so that a run goes on beyond its end. A run with code of somebody's own
    (FILE.py:NAME, gym:MODULE:ID) executes it: what that is is said, and done with --trust.

    Options
    -------
    trust
        Execute the code and write the files that the run names.
    json
        Print one JSON object per snapshot and line.

    Examples
    --------
    # where it was when it ended
    umdp resume grid.run
    # beyond its end
    umdp resume grid.run --trajectories 3000
    """

    path: str
    trust: bool = False
    json: bool = False
    quiet: bool = False

    def run(self) -> int:
        """Go on with a run where it was when it ended, however it ended; with other limits, beyond its end."""
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
                store.upgrade(config.plain(), run.source.graph, property=str(run.spec), fingerprint=now)
            else:
                compare(found, now, self.path)
            state = store.state()
            if state is not None:
                _restore(run, state, store)
            if config != before:
                run.state.ended = False  # a log may have grown since
                store.amend(config.plain())
            before_now = (run.state.trajectories, run.state.steps)
            status = Session(self.json, self.quiet, path=self.path).go(run, config, store)
            if status == 0 and before_now == (run.state.trajectories, run.state.steps) and not self.json:
                say(f"  {_how_to_go_on(run, config)}")
            return status


def _how_to_go_on(run: LearningRun, config: Config) -> str:
    """Return what to add to a run that had ended before it was resumed, so that it goes on."""
    if run.settings.decided:
        return "nothing was added: no data change this answer"
    more = f"--trajectories {max(2 * run.state.trajectories, 1)}, or another end, which replaces the one it has reached"
    if run.state.ended:
        return f"nothing was added: where there are more rows in {config.read_from} by now, read them with {more}"
    return f"nothing was added: to go on, add {more}"


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
    made = config.versions.get("umdp")
    if made != __version__:
        say(f"note: this run was made by umdp {made or 'of an unknown version'}; this is {__version__}", err=True)
