"""Many runs at once, on this machine or a cluster; a sweep that was interrupted goes on where it was."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from umdp.errors import MissingExtra, ModelError, UmdpError
from umdp.paper.experiments.archive import Archive
from umdp.paper.experiments.trial import Trial, work

__all__ = ["cluster", "processes", "sweep"]

AHEAD = 64  # trials handed out before their turn, so that no worker waits; few enough that an interruption cancels most
RESTARTS = 3  # how often in a row workers may die without a single result in between

Progress = Callable[[int, int], None]


def sweep(
    trials: Iterable[Trial], archive: Archive, executor: Executor, progress: Progress | None = None, ahead: int = AHEAD
) -> int:
    """Do all trials that are not in the archive yet, and keep each there as soon as it is done.

    Parameters
    ----------
    trials : iterable of Trial
    archive : Archive
    executor : concurrent.futures.Executor
        Anything with `submit`: a pool of processes or threads, or a cluster's.
    progress : callable, optional
        Called with how many are done and how many there are, of this sweep.
    ahead : int
        How many trials to hand out at a time.

    Returns
    -------
    int
        How many were done now.
    """
    done = archive.keys()
    open_trials = {trial.key: trial for trial in trials if trial.key not in done}
    waiting = iter(open_trials.values())
    running: dict[Future[dict[str, Any]], Trial] = {}
    finished = 0
    if progress is not None:
        progress(0, len(open_trials))
    try:
        while True:
            while len(running) < ahead and (trial := next(waiting, None)) is not None:
                running[executor.submit(work, trial)] = trial
            if not running:
                return finished
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                trial = running.pop(future)
                archive.keep(trial.key, _result(future, trial))
                finished += 1
                if progress is not None:
                    progress(finished, len(open_trials))
    finally:
        for future in running:
            future.cancel()


def _result(future: Future[dict[str, Any]], trial: Trial) -> dict[str, Any]:
    try:
        return future.result()
    except (BrokenProcessPool, CancelledError):
        raise
    except Exception as error:
        where = f"{trial.cell.learner} on {trial.cell.environment}, seed {trial.number}"
        what = str(error) if isinstance(error, UmdpError) else f"{type(error).__name__}: {error}"
        raise ModelError(f"{where}: {what}") from error


def processes(
    trials: Iterable[Trial], archive: Archive, jobs: int | None = None, progress: Progress | None = None
) -> int:
    """Do all open trials in `jobs` processes of this machine (1: in this one); processes that die are replaced."""
    todo = list(trials)
    jobs = jobs or usable_cores()
    if jobs == 1:
        return sweep(todo, archive, _Here(), progress, ahead=1)
    done, failures = 0, 0
    while True:
        before = len(archive.keys())
        try:
            with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_ignore) as pool:
                return done + sweep(todo, archive, pool, progress)
        except BrokenProcessPool:
            gained = len(archive.keys()) - before
            done, failures = done + gained, 1 if gained else failures + 1
            if failures > RESTARTS:
                raise ModelError(
                    "the worker processes die again and again, perhaps for want of memory; what is done is kept: try with fewer "
                    "--jobs"
                ) from None


@contextmanager
def cluster(address: str, timeout: float = 30) -> Iterator[Executor]:
    """Connect to a Dask cluster by its scheduler's address; what a worker that dies was doing is done by another."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise MissingExtra("cluster", "a sweep on a cluster") from None
    try:
        client = distributed.Client(address, timeout=timeout)
    except (OSError, ValueError) as error:
        raise ModelError(f"no scheduler answers at {address} ({error}); start one with: dask scheduler") from None
    with client, client.get_executor(retries=RESTARTS) as executor:
        yield executor


def usable_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ignore() -> None:
    """Leave Ctrl-C to the process that hands out the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Here(Executor):
    """Does everything at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
