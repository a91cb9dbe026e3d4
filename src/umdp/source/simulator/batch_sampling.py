"""Sampling: many trajectories at once as counts, always or where that is cheaper than one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.source.simulator.trajectory_flow import adopt, cost, expected, flow, narrow, reached, room, unroll
from umdp.source.simulator.trajectory_kernels import simulate

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
    how: int,
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    edges: Array,
    probability: Array,
    initial: int,
    weight: Array,
    only: Array,
    share: Array,
    halt: Array,
    horizon: int,
    quota: Array,
    trajectories: int,
    patience: int,
    random: Array,
    course: Array,
    counts: Array,
    taken: Array,
) -> tuple[int, int, bool]:
    """Draw trajectories until `trajectories`, a quota or `patience` is reached; return (how many, steps, whether a quota was).

    What is drawn has the law of `simulate`, with the same arguments and `probability` (T,) and `weight` (C,) as they are.
    `course` (5,) remembers trajectories and steps since a quota was reached, steps up to the one before, the steps before
    which unrolling is not tried again, and whether flows are over: there is less and less room, and what does not
    pay for some does not for fewer. What is done next depends on that and the order alone, so that to stop after `patience`
    steps of single trajectories and to go on changes nothing.
    """
    drawn, steps, stepped, full = 0, 0, 0, False
    empty, nothing = np.empty(0, np.int64), np.empty(0)
    net = (empty, empty, empty, empty, empty, empty, nothing, nothing, nothing)
    visits, mass, length = np.empty(taken.size), nothing, 0.0
    passing, count = np.empty(0, np.int64), np.empty(0, np.int64)
    while drawn < trajectories and not full and stepped < patience:
        seen = max(course[1], course[2])
        asked = how == COUNTS or (course[4] != OVER and seen >= max(course[3], 1))
        if asked and net[0].size == 0 and course[3] < NEVER:
            most = MOST if how == COUNTS else min(seen // BUILT, MOST)
            net = unroll(state_ptr, choice_ptr, successor, probability, weight, initial, halt, horizon, most)
            if net[0].size > 0:
                mass = np.empty(net[0].size)
                length = expected(net, visits, mass)
                passing, count = np.empty(net[0].size, np.int64), np.empty(net[2].size, np.int64)
            else:
                course[3] = 2 * seen if most < MOST else NEVER
        if net[0].size > 0 and course[4] != OVER:
            space = room(visits, quota, taken)
            some = min(space, trajectories - drawn)
            if how == COUNTS or some * length >= PAYS * cost(net, mass, some):
                flow(net, some, random, passing, count)
                if reached(net, count, quota, taken):
                    some, walked = narrow(net, length, random, passing, count, quota, counts, taken)
                    full = True
                else:
                    walked = adopt(net, count, counts, taken)
                drawn, steps, stepped = drawn + some, steps + walked, stepped + count.size
                course[0], course[1] = course[0] + some, course[1] + walked
                continue
            if some == space:
                course[4] = OVER
        known = course[4] == OVER or net[0].size > 0  # that steps are cheaper for all that is left of the order
        some = min(trajectories - drawn, max(PIECE // horizon, 1), NEVER if known else max(course[0], FIRST))
        some, walked, full = simulate(
            state_ptr, choice_ptr, successor, edges, initial, only, share, halt, horizon, quota, some, random, counts, taken
        )  # fmt: skip
        drawn, steps, stepped = drawn + some, steps + walked, stepped + walked
        course[0], course[1] = course[0] + some, course[1] + walked
    if full:
        course[0], course[1], course[2], course[4] = 0, 0, course[1], 0
    return drawn, steps, full
