"""Counts of a certificate: whether one sequence of samples can have them, all outcomes at all times together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise

__all__ = ["one_sequence"]

Point = tuple[int, int]  # so many samples, and so many hits among them


def one_sequence(known: Sequence[Sequence[Point]]) -> bool:
    """Whether one sequence of samples, each of which hits exactly one outcome, has all these counts.

    Each outcome is known at some numbers of samples. Between two of them its hits are a demand, which the samples in between must
    meet. Samples are handed out in the order of time, first to the demand whose end is next: if any way meets all demands, this
    one does. Samples that no demand is left for are hits of an outcome after its last point; where there is none yet, the counts
    leave them nowhere.

    Examples
    --------
    >>> one_sequence([[(10, 3)], [(10, 7)]]), one_sequence([[(10, 3)], [(10, 6)]])
    (True, False)
    >>> one_sequence([[(10, 3), (20, 4)], [(20, 16)]]), one_sequence([[(10, 3), (20, 4)], [(20, 15)]])
    (True, False)
    >>> one_sequence([[(10000, 1000)], [(10001, 1000)], [(10002, 1000)]])  # 7000 samples are nowhere
    False
    """
    points = [sorted({(0, 0), *each}) for each in known]
    times = sorted({samples for each in points for samples, _ in each})
    begin: dict[int, list[Point]] = defaultdict(list)  # where demands begin: their ends, and how large they are
    for each in points:
        for (start, before), (end, after) in pairwise(each):
            if not 0 <= after - before <= end - start:
                return False
            if after > before:
                begin[start].append((end, after - before))
    loose = min(each[-1][0] for each in points)  # from here on some outcome may have any number of hits
    waiting: list[Point] = []
    for now, then in pairwise(times):
        for demand in begin[now]:
            heappush(waiting, demand)
        left = then - now
        while left and waiting:
            end, size = heappop(waiting)
            served = min(left, size)
            left -= served
            if size > served:
                heappush(waiting, (end, size - served))
        if (left and now < loose) or (waiting and waiting[0][0] <= then):
            return False
    return not waiting
