"""Sampling: many trajectories at once as counts, always or where that is cheaper than one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.source.simulator.trajectory_flow import Net, Sites, adopt, cost, expected, flow, narrow, reached, room, unroll
from umdp.source.simulator.trajectory_kernels import Behaviour, Process, TrajectoryEnd, TransitionCounts, simulate

__all__ = ["AUTO", "COUNTS", "sample"]

Array = NDArray[Any]
COUNTS, AUTO = 1, 2
PAYS = 2.0  # times as long as a flow: what single trajectories must take for it to be worth it
BUILT = 24  # steps per entry of what may be unrolled
MOST = 2**24  # entries of a chain that is unrolled
FIRST = 64  # trajectories of an iteration, before anybody asks whether counts would be cheaper
PIECE = 2**20  # the most steps between two such questions
NEVER = 2**62
OVER = 1


@kernel
def sample(
    how: int, process: Process, behaviour: Behaviour, until: TrajectoryEnd, trajectories: int, patience: int, random: Array,
    course: Array, tally: TransitionCounts,
) -> tuple[int, int, bool]:  # fmt: skip
    """Draw trajectories until `trajectories`, a quota or `patience` is reached; return (how many, steps, whether a quota was).

    What is drawn has the law of `simulate`.
    `course` (5,) remembers trajectories and steps since a quota was reached, steps up to the one before, the steps before
    which unrolling is not tried again, and whether flows are over: there is less and less room, and what does not
    pay for some does not for fewer. What is done next depends on that and the order alone, so that to stop after `patience`
    steps of single trajectories and to go on changes nothing.
    """
    drawn, steps, stepped, full = 0, 0, 0, False
    empty, nothing = np.empty(0, np.int64), np.empty(0)
    net = Net(empty, empty, empty, Sites(empty, empty, empty, nothing, nothing, nothing, empty))
    visits, mass, length = np.empty(tally.taken.size), nothing, 0.0
    passing, count = empty, empty
    while drawn < trajectories and not full and stepped < patience:
        seen = max(course[1], course[2])
        asked = how == COUNTS or (course[4] != OVER and seen >= max(course[3], 1))
        if asked and net.site.size == 0 and course[3] < NEVER:
            most = MOST if how == COUNTS else min(seen // BUILT, MOST)
            net = unroll(process, behaviour.weight, until, most)
            if net.site.size > 0:
                mass = np.empty(net.site.size)
                length = expected(net, visits, mass)
                passing, count = np.empty(net.site.size, np.int64), np.empty(net.to.size, np.int64)
            else:
                course[3] = 2 * seen if most < MOST else NEVER
        flows, some = False, 0
        if net.site.size > 0 and course[4] != OVER:
            space = room(visits, until.quota, tally.taken)
            some = min(space, trajectories - drawn)
            flows = how == COUNTS or some * length >= PAYS * cost(net, mass, some)
            if some == space and not flows:
                course[4] = OVER
        if flows:
            flow(net, some, random, passing, count)
            if reached(net, count, until.quota, tally.taken):
                some, walked = narrow(net, length, random, passing, count, until.quota, tally)
                full = True
            else:
                walked = adopt(net, count, tally)
            stepped += count.size
        else:
            known = course[4] == OVER or net.site.size > 0  # that steps are cheaper for all that is left of the order
            some = min(trajectories - drawn, max(PIECE // until.horizon, 1), NEVER if known else max(course[0], FIRST))
            some, walked, full = simulate(process, behaviour, until, some, random, tally)
            stepped += walked
        drawn, steps = drawn + some, steps + walked
        course[0], course[1] = course[0] + some, course[1] + walked
    if full:
        course[0], course[1], course[2], course[4] = 0, 0, course[1], 0
    return drawn, steps, full
