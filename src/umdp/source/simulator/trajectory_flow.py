"""Many trajectories at once: how many of them take each transition, with the law of one trajectory after another.

A policy that does not change is a Markov chain. Unrolled into a graph without cycles (a node for each state where the chain
has none, else for each state and step), m trajectories are a flow: m enter, and how those that visit a node go on are
independent draws from one distribution, whichever way they came. So the numbers that leave a node by its edges are multinomial
given the number that enters, and drawing them node by node, each after all that lead to it, gives all counts their joint law.
That is `flow`.

Which of the m trajectories is the first, the second and so on is not decided by that. Given the counts, all ways to match those
that enter a node with those that leave it are equally likely, independently for each node, because the draws behind them
are exchangeable. So the first k of m trajectories are k marks on those that enter, which leave a node like draws without
replacement: hypergeometric numbers, node by node. That is `split`; with k = 1, again and again, it is a walk through urns
(`walk`).

Exploration that stops with the trajectory in which some choice has been taken often enough is therefore drawn as follows: a
flow of m trajectories, whatever m is, as long as it does not depend on them. If no choice has been taken often enough in all of
them, none was on the way, and they count. Otherwise the first half is split off: if it contains the end, the other half is
forgotten, which nobody has seen and on which nothing depends; if not, it counts, and the end is in the other half. In the
end the walk finds it (`narrow`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.source.simulator.draws import binomial, hypergeometric, uniform
from umdp.source.simulator.trajectory_kernels import Process, TrajectoryEnd, TransitionCounts

__all__ = ["Net", "adopt", "cost", "expected", "flow", "narrow", "reached", "room", "split", "unroll", "walk"]

Array = NDArray[Any]
WALKED = 16  # steps per entry up to which a walk is cheaper than another split
SINGLE, MANY = 2.5, 15.0  # what one trajectory at a node takes, drawn for itself, and a binomial number, in steps
LARGEST = 2**40  # trajectories of one flow


class Sites(NamedTuple):
    """The Markov chain of a policy: of each site, in the order in which they were found, the first slot of its way on.

    Of each slot: its transition and its choice, its probability given that none before it in the site is taken, the rest of that,
    the probability of all up to it, and the site it leads to, -1 where the trajectory ends.
    """

    first: Array
    edge: Array
    choice: Array
    take: Array
    rest: Array
    below: Array
    onward: Array


class Net(NamedTuple):
    """A chain without cycles, for sites that are numbered along it or stand for several nodes.

    Of each node its site and its first entry; of each entry the node it leads to, -1 for the end. Entries of a node are the
    slots of its site, in order.
    """

    site: Array
    begin: Array
    to: Array
    sites: Sites


@kernel
def unroll(process: Process, weight: Array, until: TrajectoryEnd, most: int) -> Net:
    """Return the chain of a policy, unrolled; with no nodes where it has more than `most` entries or nothing to do.

    `weight` (C,) are probabilities of choices within their states.
    """
    sites = _sites(process, weight, until, most)
    order, depth = _along(sites)
    found = sites.first.size - 1
    if found > 0 and order.size == found and depth < until.horizon:
        return _by_site(sites, order)
    return _by_step(sites, until.horizon, min(most, sites.edge.size * until.horizon))


@kernel
def _sites(process: Process, weight: Array, until: TrajectoryEnd, most: int) -> Sites:
    """Return the chain of a policy, as far as it can come before it ends; no sites where there are more than `most` slots."""
    state_ptr, choice_ptr, successor = process.state_ptr, process.choice_ptr, process.successor
    halt, initial, states, limit = until.halt, process.initial, until.halt.size, min(most, process.successor.size)
    index, order = np.full(states, -1, np.int64), np.empty(states, np.int64)
    first, edge, choice = np.zeros(states + 1, np.int64), np.empty(limit, np.int64), np.empty(limit, np.int64)
    take, rest, below, onward = np.empty(limit), np.empty(limit), np.empty(limit), np.empty(limit, np.int64)
    found, slots, i = 0, 0, 0
    if not halt[initial] and until.horizon > 0:
        order[0], index[initial], found = initial, 0, 1
    while i < found:
        s = order[i]
        for c in range(state_ptr[s], state_ptr[s + 1]):
            for t in range(choice_ptr[c], choice_ptr[c + 1]):
                share = weight[c] * process.probability[t]
                if share <= 0.0:
                    continue
                if slots == limit:
                    return Sites(first[:1], edge[:0], choice[:0], take[:0], rest[:0], below[:0], onward[:0])
                ahead = successor[t]
                if not halt[ahead] and index[ahead] < 0:
                    index[ahead], order[found] = found, ahead
                    found += 1
                edge[slots], choice[slots], take[slots] = t, c, share
                onward[slots] = -1 if halt[ahead] else index[ahead]
                slots += 1
        i += 1
        first[i] = slots
        later = 0.0  # sums from the back, so that what is left after a large share keeps its digits
        for j in range(slots - 1, first[i - 1] - 1, -1):
            total = later + take[j]
            rest[j], take[j], below[j] = later / total, take[j] / total, later
            later = total
        for j in range(first[i - 1], slots):
            below[j] = 1.0 - below[j] / later if j < slots - 1 else 2.0  # above any number drawn
    return Sites(
        first[: found + 1], edge[:slots], choice[:slots], take[:slots], rest[:slots], below[:slots], onward[:slots]
    )


@kernel
def _along(sites: Sites) -> tuple[Array, int]:
    """Return sites in an order in which all that lead to one come before it, up to the first cycle; and the longest way."""
    first, onward = sites.first, sites.onward
    found = first.size - 1
    degree, depth, queue = np.zeros(found, np.int64), np.zeros(found, np.int64), np.empty(found, np.int64)
    ready, deepest, i = 0, 0, 0
    for j in range(onward.size):
        if onward[j] >= 0:
            degree[onward[j]] += 1
    if found > 0 and degree[0] == 0:
        queue[0], ready = 0, 1
    while i < ready:
        s = queue[i]
        deepest = max(deepest, depth[s])
        for j in range(first[s], first[s + 1]):
            ahead = onward[j]
            if ahead >= 0:
                depth[ahead] = max(depth[ahead], depth[s] + 1)
                degree[ahead] -= 1
                if degree[ahead] == 0:
                    queue[ready] = ahead
                    ready += 1
        i += 1
    return queue[:ready], deepest


@kernel
def _by_site(sites: Sites, order: Array) -> Net:
    """Return a chain without cycles, with a node for each site, in an order along it."""
    first, onward = sites.first, sites.onward
    begin, to, place = np.empty(order.size, np.int64), np.empty(onward.size, np.int64), np.empty(order.size, np.int64)
    entries = 0
    for v in range(order.size):
        place[order[v]] = v
    for v in range(order.size):
        begin[v] = entries
        for j in range(first[order[v]], first[order[v] + 1]):
            to[entries] = -1 if onward[j] < 0 else place[onward[j]]
            entries += 1
    return Net(order, begin, to, sites)


@kernel
def _by_step(sites: Sites, horizon: int, most: int) -> Net:
    """Return a chain with a node for each site and step at which it can be visited; no nodes where there are too many entries."""
    first, onward, found = sites.first, sites.onward, sites.first.size - 1
    site, begin, to = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64), np.empty(most, np.int64)
    stamp, place = np.full(found, -1, np.int64), np.empty(found, np.int64)
    nodes, entries, start, step = min(found, 1), 0, 0, 0
    site[0] = 0
    while start < nodes and step < horizon:
        end = nodes
        for v in range(start, end):
            s = site[v]
            if entries + first[s + 1] - first[s] > most:
                return Net(site[:0], begin[:0], to[:0], sites)
            begin[v] = entries
            for j in range(first[s], first[s + 1]):
                ahead = -1 if step + 1 == horizon else onward[j]
                if ahead >= 0:
                    if stamp[ahead] != step:
                        stamp[ahead], place[ahead], site[nodes] = step, nodes, ahead
                        nodes += 1
                    ahead = place[ahead]
                to[entries] = ahead
                entries += 1
        start, step = end, step + 1
    return Net(site[:nodes], begin[:nodes], to[:entries], sites)


@kernel(allocates=False)
def expected(net: Net, visits: Array, mass: Array) -> float:
    """Write how often a trajectory is expected to take each choice (C,) and visit each node (V,); return its expected length."""
    site, begin, to, sites = net.site, net.begin, net.to, net.sites
    first, choice, take, rest = sites.first, sites.choice, sites.take, sites.rest
    length = 0.0
    visits[:] = 0.0
    mass[:] = 0.0
    mass[0] = 1.0
    for v in range(site.size):
        left = mass[v]
        length += left
        for j in range(first[site[v]], first[site[v] + 1]):
            share, left = left * take[j], left * rest[j]
            visits[choice[j]] += share
            ahead = to[begin[v] + j - first[site[v]]]
            if ahead >= 0:
                mass[ahead] += share
    return length


@kernel(allocates=False)
def room(visits: Array, quota: Array, taken: Array) -> int:
    """Return how many trajectories will most likely not quite reach a quota, at least 1; `visits` are those expected of each."""
    least = float(LARGEST)
    for c in range(visits.size):
        if visits[c] > 0.0 and quota[c] > taken[c]:
            left = float(quota[c] - taken[c])
            safe = max(left - 3 * math.sqrt(left * max(visits[c], 1.0)), left / 2)
            least = min(least, safe / visits[c])
    return max(int(least), 1)


@kernel(allocates=False)
def cost(net: Net, mass: Array, trajectories: int) -> float:
    """Return how many steps of single trajectories take about as long as a flow; `mass` (V,) are visits expected of each."""
    site, first = net.site, net.sites.first
    total = 0.25 * net.to.size
    for v in range(site.size):
        total += min(SINGLE * trajectories * mass[v], MANY * (first[site[v] + 1] - first[site[v]] - 1) + 1)
    return float(total)


@kernel(allocates=False)
def flow(net: Net, trajectories: int, random: Array, passing: Array, count: Array) -> None:
    """Draw how many of so many trajectories visit every node, `passing` (V,), and take every entry, `count` (E,)."""
    site, begin, to, sites = net.site, net.begin, net.to, net.sites
    first, take, rest, below = sites.first, sites.take, sites.rest, sites.below
    passing[:] = 0
    count[:] = 0
    passing[0] = trajectories
    for v in range(site.size):
        left = passing[v]
        if left == 0:
            continue
        j, e = first[site[v]], begin[v]
        others = first[site[v] + 1] - j - 1
        if left * SINGLE < others * MANY:  # each for itself
            for _ in range(left):
                u, k = uniform(random), j
                while u >= below[k]:
                    k += 1
                count[e + k - j] += 1
                if to[e + k - j] >= 0:
                    passing[to[e + k - j]] += 1
            continue
        while left > 0:
            some = binomial(left, take[j], rest[j], random)
            count[e] = some
            if to[e] >= 0:
                passing[to[e]] += some
            left -= some
            j += 1
            e += 1


@kernel(allocates=False)
def split(net: Net, marked: int, random: Array, passing: Array, count: Array, marks: Array, part: Array) -> None:
    """Draw how many of the first `marked` of the trajectories counted visit every node, `marks`, and take every entry, `part`."""
    site, begin, to, first = net.site, net.begin, net.to, net.sites.first
    marks[:] = 0
    part[:] = 0
    marks[0] = marked
    for v in range(site.size):
        left, wanted, e = passing[v], marks[v], begin[v]
        end = e + first[site[v] + 1] - first[site[v]]
        while wanted > 0 and e < end:
            some = hypergeometric(count[e], left - count[e], wanted, random)
            part[e] = some
            if to[e] >= 0:
                marks[to[e]] += some
            left -= count[e]
            wanted -= some
            e += 1


@kernel
def reached(net: Net, count: Array, quota: Array, taken: Array) -> bool:
    """Whether some choice will have been taken as often as its quota says, after what is counted."""
    site, begin, sites = net.site, net.begin, net.sites
    first, choice = sites.first, sites.choice
    more = np.zeros(quota.size, np.int64)
    for v in range(site.size):
        shift = begin[v] - first[site[v]]
        for j in range(first[site[v]], first[site[v] + 1]):
            more[choice[j]] += count[shift + j]
    for j in range(choice.size):
        c = choice[j]
        if more[c] > 0 and quota[c] >= 0 and taken[c] + more[c] >= quota[c]:
            return True
    return False


@kernel(allocates=False)
def adopt(net: Net, count: Array, tally: TransitionCounts) -> int:
    """Add what was counted to a tally; return the number of steps."""
    counts, taken = tally.counts, tally.taken
    site, begin, sites = net.site, net.begin, net.sites
    first, edge, choice = sites.first, sites.edge, sites.choice
    steps = 0
    for v in range(site.size):
        shift = begin[v] - first[site[v]]
        for j in range(first[site[v]], first[site[v] + 1]):
            some = count[shift + j]
            counts[edge[j]] += some
            taken[choice[j]] += some
            steps += some
    return steps


@kernel(allocates=False)
def walk(
    net: Net, random: Array, passing: Array, count: Array, quota: Array, tally: TransitionCounts
) -> tuple[int, int]:
    """Take trajectories from those counted until one reaches a quota; return how many, and their steps."""
    counts, taken = tally.counts, tally.taken
    site, begin, to, sites = net.site, net.begin, net.to, net.sites
    first, edge, choice = sites.first, sites.edge, sites.choice
    drawn, steps, full = 0, 0, False
    while passing[0] > 0 and not full:
        v = 0
        while v >= 0:
            e, j = begin[v], first[site[v]]
            which = int(uniform(random) * passing[v])
            while which >= count[e]:
                which -= count[e]
                e += 1
                j += 1
            count[e] -= 1
            passing[v] -= 1
            counts[edge[j]] += 1
            taken[choice[j]] += 1
            full = full or taken[choice[j]] == quota[choice[j]]
            steps += 1
            v = to[e]
        drawn += 1
    return drawn, steps


@kernel
def narrow(
    net: Net, length: float, random: Array, passing: Array, count: Array, quota: Array, tally: TransitionCounts
) -> tuple[int, int]:
    """Count the trajectories up to the one that reaches a quota, of those that do together; return how many, and their steps."""
    marks, part = np.empty_like(passing), np.empty_like(count)
    drawn, steps = 0, 0
    while passing[0] > 1 and passing[0] * length > WALKED * count.size:
        half = passing[0] // 2
        split(net, half, random, passing, count, marks, part)
        if reached(net, part, quota, tally.taken):
            passing, marks, count, part = marks, passing, part, count
        else:
            steps += adopt(net, part, tally)
            drawn += half
            passing -= marks
            count -= part
    some, walked = walk(net, random, passing, count, quota, tally)
    return drawn + some, steps + walked
