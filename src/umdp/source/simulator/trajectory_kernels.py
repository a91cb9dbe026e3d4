"""The compiled simulator: xoshiro256++ and a walk, in one loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.source.simulator.draws import uniform

__all__ = [
    "Behaviour",
    "Process",
    "TrajectoryEnd",
    "TransitionCounts",
    "cumulative",
    "follow",
    "simulate",
    "simulate_by_step",
]

Array = NDArray[Any]
NARROW = 4  # successors of a choice that are compared without a branch


class Process(NamedTuple):
    """What is drawn from: a graph, the probabilities (T,), and their sums within each choice, the last above 1 (T,)."""

    state_ptr: Array
    choice_ptr: Array
    successor: Array
    probability: Array
    edges: Array
    initial: int


class Behaviour(NamedTuple):
    """How choices are made: their probabilities within their states (C,), and what `follow` makes of them.

    These are their sums, the last above 1 (C,), and the choice that a state takes for sure, -1 where it draws one (S,).
    """

    weight: Array
    share: Array
    only: Array


class TrajectoryEnd(NamedTuple):
    """When a trajectory ends, in states (S,) or after so many steps; and how often choices are taken at most (C,)."""

    halt: Array
    horizon: int
    quota: Array


class TransitionCounts(NamedTuple):
    """How often transitions (T,) were seen and choices (C,) taken; added to."""

    counts: Array
    taken: Array


@kernel(allocates=False)
def cumulative(ptr: Array, values: Array, out: Array) -> None:
    """Write the cumulative distribution of every range of `ptr` into `out`, each for itself.

    Sums are compensated (Neumaier) and divided by their range's total, so that an entry's share is right to about 1e-16
    wherever it stands; that of the last positive entry ends at 1, and the last entry of a range is above any number drawn.
    """
    for row in range(ptr.size - 1):
        total, lost = 0.0, 0.0
        for i in range(ptr[row], ptr[row + 1]):
            value = values[i]
            next_total = total + value
            if total >= value:
                lost += (total - next_total) + value
            else:
                lost += (value - next_total) + total
            total = next_total
            out[i] = total + lost
        whole = total + lost
        for i in range(ptr[row], ptr[row + 1]):
            out[i] /= whole
        out[ptr[row + 1] - 1] = 2.0


@kernel(allocates=False)
def follow(state_ptr: Array, weight: Array, share: Array, only: Array) -> None:
    """Write how to choose: cumulative weights (C,), and the choice that a state (S,) takes for sure, -1 where it draws one."""
    cumulative(state_ptr, weight, share)
    for s in range(only.size):
        only[s] = -1
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if weight[c] >= 1.0:
                only[s] = c


@kernel(allocates=False)
def simulate(
    process: Process,
    behaviour: Behaviour,
    until: TrajectoryEnd,
    trajectories: int,
    random: Array,
    tally: TransitionCounts,
) -> tuple[int, int, bool]:
    """Draw trajectories until `trajectories` or a quota is reached; return (how many, steps, whether a quota was).

    `random` (4,) is the state of the generator.
    """
    state_ptr, choice_ptr, successor, edges = process.state_ptr, process.choice_ptr, process.successor, process.edges
    share, only = behaviour.share, behaviour.only
    narrow = trajectories * until.horizon > 4 * only.size
    for s in range(only.size):
        narrow = narrow and only[s] >= 0 and choice_ptr[only[s] + 1] - choice_ptr[only[s]] <= NARROW
    if narrow:
        return _simulate_narrow(process, only, until, trajectories, random, tally)
    halt, horizon, quota = until.halt, until.horizon, until.quota
    counts, taken = tally.counts, tally.taken
    drawn, steps, full = 0, 0, False
    while drawn < trajectories and not full:
        s = process.initial
        length = 0
        while length < horizon and not halt[s]:
            choice = only[s]
            if choice < 0:
                u = uniform(random)
                choice = state_ptr[s]
                while u >= share[choice]:
                    choice += 1
            u = uniform(random)
            i = choice_ptr[choice]
            while u >= edges[i]:
                i += 1
            counts[i] += 1
            taken[choice] += 1
            if taken[choice] == quota[choice]:
                full = True
            s = successor[i]
            length += 1
        steps += length
        drawn += 1
    return drawn, steps, full


@kernel
def _simulate_narrow(
    process: Process, only: Array, until: TrajectoryEnd, trajectories: int, random: Array, tally: TransitionCounts
) -> tuple[int, int, bool]:
    """Do what `simulate` does where every state has one choice to take, of at most `NARROW` successors.

    Which of them comes next is a sum of comparisons, without a branch that nobody can predict: half the time a step takes.
    """
    choice_ptr, successor, edges = process.choice_ptr, process.successor, process.edges
    halt, horizon, quota = until.halt, until.horizon, until.quota
    counts, taken = tally.counts, tally.taken
    states = only.size
    edge, to = np.empty(NARROW * states), np.empty(NARROW * states, np.int64)
    hits, visits, goal = np.zeros(NARROW * states, np.int64), np.empty(states, np.int64), np.empty(states, np.int64)
    for s in range(states):
        choice = only[s]
        visits[s], goal[s] = taken[choice], quota[choice]
        first, size = choice_ptr[choice], choice_ptr[choice + 1] - choice_ptr[choice]
        for k in range(NARROW):
            edge[NARROW * s + k], to[NARROW * s + k] = 2.0, -1
            if k < size:
                t = first + k
                edge[NARROW * s + k] = edges[t]
                to[NARROW * s + k] = -1 if halt[successor[t]] else successor[t]
    drawn, steps, full = 0, 0, False
    start = -1 if halt[process.initial] else process.initial
    while drawn < trajectories and not full:
        s, length = start, 0
        while s >= 0 and length < horizon:
            u = uniform(random)
            at = NARROW * s
            k = at + int(u >= edge[at]) + int(u >= edge[at + 1]) + int(u >= edge[at + 2])
            hits[k] += 1
            visits[s] += 1
            if visits[s] == goal[s]:
                full = True
            s = to[k]
            length += 1
        steps += length
        drawn += 1
    for s in range(states):
        choice = only[s]
        taken[choice] = visits[s]
        for k in range(choice_ptr[choice + 1] - choice_ptr[choice]):
            counts[choice_ptr[choice] + k] += hits[NARROW * s + k]
    return drawn, steps, full


@kernel(allocates=False)
def simulate_by_step(
    process: Process, weight: Array, until: TrajectoryEnd, trajectories: int, random: Array, tally: TransitionCounts
) -> tuple[int, int, bool]:
    """Do what `simulate` does with a policy that depends on the step.

    `weight` (K, C) is the probability of every choice within its state at each of the first steps; the last row is for all that
    follow. Two numbers are drawn for every step.
    """
    state_ptr, choice_ptr, successor, edges = process.state_ptr, process.choice_ptr, process.successor, process.edges
    halt, horizon, quota = until.halt, until.horizon, until.quota
    counts, taken = tally.counts, tally.taken
    drawn, steps, full = 0, 0, False
    while drawn < trajectories and not full:
        s, length = process.initial, 0
        while length < horizon and not halt[s]:
            row = weight[min(length, weight.shape[0] - 1)]
            choice, last = state_ptr[s], state_ptr[s + 1] - 1
            while last > choice and row[last] <= 0.0:  # rounding must not lead to a choice that is not taken
                last -= 1
            u = uniform(random) - row[choice]
            while u >= 0.0 and choice < last:
                choice += 1
                u -= row[choice]
            u = uniform(random)
            i = choice_ptr[choice]
            while u >= edges[i]:
                i += 1
            counts[i] += 1
            taken[choice] += 1
            if taken[choice] == quota[choice]:
                full = True
            s = successor[i]
            length += 1
        steps += length
        drawn += 1
    return drawn, steps, full
