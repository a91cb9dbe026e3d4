"""The loop of the paper's figure 1: explore, learn, solve; a generator of snapshots."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from umdp.learning.leap import Leaper
from umdp.learning.run import LearningRun
from umdp.learning.snapshot import Snapshot
from umdp.learning.stopping import StoppingCriteria, reason_to_end

__all__ = ["proceed"]


def proceed(
    run: LearningRun,
    limits: StoppingCriteria,
    stop: Callable[[], bool] | None = None,
    keep: Callable[[Snapshot], None] | None = None,
    leap: bool = False,
) -> Iterator[Snapshot]:
    """Yield snapshots of a run from where it is; `keep` is called with each before it is shown. With `leap` it may be ahead."""
    deadline, halted = np.inf, None
    if limits.seconds is not None:
        run.snapshot()  # its solves are kept for the first turn; what is compiled for them is not time spent
        deadline = time.monotonic() + limits.seconds

    def over() -> str | None:
        if time.monotonic() >= deadline:
            return "the time is up"
        return "stopped" if stop is not None and stop() else None

    leaper = Leaper.of(run, limits) if leap and type(run) is LearningRun and keep is None and stop is None else None
    while True:
        ahead = () if leaper is None else leaper.snapshots()  # many iterations at once, where nobody else looks
        for snapshot in ahead:
            yield snapshot
            if snapshot.reason is not None:
                return
        snapshot = run.snapshot()  # robust policy computation
        reason = reason_to_end(run, snapshot, limits, halted or over())  # good enough, or all there is?
        snapshot = snapshot if reason is None else replace(snapshot, reason=reason)
        if keep is not None:
            keep(snapshot)
        yield snapshot
        if reason is not None:
            return
        if run.playing is not None and run.playing.due(run):  # if not: let a candidate show what it is worth
            complete, halted = run.playing.play(run, limits, over)
        else:
            weight = run.direct()  # or where to look
            complete, halted = run.explore(weight, limits, over)  # sample from the process
        if complete:
            run.update()  # update the intervals
