"""Several threads at work on ranges of states, and one that says when time is up.

No thread sees what another writes: answers do not depend on their number.

Compiled kernels do not ask for the time. They look at a flag (`umdp.solver.kernels.clock`), which one thread of the process
raises at the deadline: kernels let other threads run. Looks can be counted instead, so that tests stop at the same place on every
machine.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNLIMITED", "Watch", "at_once", "ranges"]

T = TypeVar("T")
LONGEST = 3600.0  # seconds that the thread sleeps at most
SHARE = 20_000  # states a thread should have to be worth its while


def ranges(begin: int, end: int, threads: int) -> list[tuple[int, int]]:
    """Return the range from `begin` to `end` in parts, one for each thread that is worth its while."""
    parts = max(min(threads, (end - begin) // SHARE), 1)
    cuts = [begin + (end - begin) * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(cuts))


def at_once(jobs: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Return what some jobs give, done by so many threads at once."""
    if threads == 1 or len(jobs) == 1:
        return [job() for job in jobs]
    with ThreadPoolExecutor(min(threads, len(jobs))) as pool:
        return [done.result() for done in [pool.submit(job) for job in jobs]]


class Watch:
    """Says whether time is up, in Python and in kernels.

    Parameters
    ----------
    deadline : float
        When time is up, by `time.monotonic`.
    looks : int
        How many looks find that it is not, 0 for any number: a clock for tests.

    Attributes
    ----------
    flag : (2,) int64, whether time is up, and how many looks are left (0: they do not count)

    Examples
    --------
    >>> watch = Watch(looks=2)
    >>> watch.is_up(), watch.is_up(), watch.is_up()
    (False, True, True)
    >>> Watch().is_up()
    False
    """

    def __init__(self, deadline: float = np.inf, looks: int = 0) -> None:
        self.deadline = deadline
        self.flag: NDArray[np.int64] = np.array([0, looks], dtype=np.int64)
        if deadline < np.inf:
            _ALARM.add(deadline, self.flag)

    def is_up(self) -> bool:
        """Return whether time is up."""
        if self.flag[1] > 0:
            self.flag[1] -= 1
            self.flag[0] |= self.flag[1] == 0
        if time.monotonic() > self.deadline:
            self.flag[0] = 1
        return bool(self.flag[0])

    @property
    def left(self) -> float:
        """The seconds left."""
        return max(self.deadline - time.monotonic(), 0.0)


class _Alarm:
    """One thread that raises flags when their time has come; flags that nobody holds any more are forgotten."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._due: list[tuple[float, weakref.ref[NDArray[np.int64]]]] = []
        self._thread: threading.Thread | None = None

    def add(self, deadline: float, flag: NDArray[np.int64]) -> None:
        """Have a flag raised at a time."""
        with self._condition:
            self._due = [each for each in self._due if each[1]() is not None]
            self._due.append((deadline, weakref.ref(flag)))
            if self._thread is None or not self._thread.is_alive():  # a forked process has none
                self._thread = threading.Thread(target=self._wait, name="umdp time limits", daemon=True)
                self._thread.start()
            self._condition.notify()

    def _wait(self) -> None:
        with self._condition:
            while True:
                now = time.monotonic()
                for deadline, held in self._due:
                    if deadline <= now and (flag := held()) is not None:
                        flag[0] = 1
                    flag = None
                self._due = [each for each in self._due if each[0] > now]
                nearest = min((deadline for deadline, _ in self._due), default=np.inf)
                self._condition.wait(min(nearest - now, LONGEST))


_ALARM = _Alarm()
UNLIMITED = Watch()
