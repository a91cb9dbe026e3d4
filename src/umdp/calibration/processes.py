"""Many runs, one after another or in several processes."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.calibration.course import Judge, follow
from umdp.errors import ModelError, UmdpError
from umdp.learning.procedure import LearningRun

__all__ = ["courses"]

Columns = dict[str, NDArray[Any]]
MakeRun = Callable[[int], LearningRun]
AHEAD = 4  # runs handed out to every process


def courses(make: MakeRun, seeds: Sequence[int], times: NDArray[np.int64], jobs: int) -> Iterator[tuple[int, Columns]]:
    """Yield the runs as they are done."""
    if jobs == 1 or len(seeds) == 1:
        for seed in seeds:
            yield _course(make, seed, times)
        return
    try:
        sent = pickle.dumps((make, times))
    except Exception as error:
        raise ModelError(
            f"this cannot travel to other processes ({error}): give a learner or a function of a module, or jobs=1"
        ) from None
    pool = ProcessPoolExecutor(
        min(jobs, len(seeds)), mp_context=get_context("spawn"), initializer=_receive, initargs=(sent,)
    )
    waiting, running = iter(seeds), set[Future[tuple[int, Columns]]]()
    try:
        while True:
            running |= {pool.submit(_work, each) for each in islice(waiting, AHEAD * jobs - len(running))}
            if not running:
                return
            ready, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                yield future.result()
    except BrokenProcessPool:
        raise ModelError("a worker process died, perhaps for want of memory; try with fewer jobs") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_SENT: list[Any] = []  # what a worker process was given


def _receive(sent: bytes) -> None:
    """Take over what is to be run; Ctrl-C is left to the process that hands out the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _SENT[:] = pickle.loads(sent)


def _work(seed: int) -> tuple[int, Columns]:
    make, times = _SENT
    return _course(make, seed, times)


def _course(make: MakeRun, seed: int, times: NDArray[np.int64]) -> tuple[int, Columns]:
    try:
        run = make(seed)
        return seed, follow(run, Judge.of(run), times)
    except UmdpError as error:
        raise ModelError(f"seed {seed}: {error}") from error
