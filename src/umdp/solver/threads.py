"""Several threads at work on ranges of states, none of which sees what another writes: answers do not depend on their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

__all__ = ["at_once", "ranges"]

T = TypeVar("T")
SHARE = 20_000  # states a thread should have to be worth its while


def ranges(begin: int, end: int, threads: int) -> list[tuple[int, int]]:
    """Return the range from `begin` to `end` in parts, one for each thread that is worth its while."""
    parts = max(min(threads, (end - begin) // SHARE), 1)
    cuts = [begin + (end - begin) * part // parts for part in range(parts + 1)]
    return list(pairwise(cuts))


def at_once(jobs: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Return what some jobs give, done by so many threads at once."""
    if threads == 1 or len(jobs) == 1:
        return [job() for job in jobs]
    with ThreadPoolExecutor(min(threads, len(jobs))) as pool:
        return [done.result() for done in [pool.submit(job) for job in jobs]]
