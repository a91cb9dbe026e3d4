"""Whether the choices of a class have one distribution, as somebody said: a test that holds at all times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.learn.binomial import ULP
from umdp.learn.two_samples import contradiction
from umdp.model.events import Events
from umdp.model.tying import Tying

__all__ = ["compared", "misfits"]

Mask = NDArray[np.bool_]


def compared(tying: Tying, matters: Mask | None = None) -> Mask:
    """Return the transitions (T,) whose counts are compared with those of the other choices of their class.

    They are those of choices with several successors that matter, where others of the class tell the same event apart; of two
    successors the first alone, since they mirror each other.

    Examples
    --------
    >>> from umdp import benchmark
    >>> from umdp.benchmark.known_ties import tie_grid
    >>> grid = benchmark.grid()
    >>> int(compared(tie_grid(grid)).sum()), grid.transitions
    (1376, 1450)
    """
    events, sizes = Events.of(tying), np.diff(tying.graph.choice_ptr)
    found = np.repeat(np.ones(sizes.size, np.bool_) if matters is None else matters, sizes)
    told = np.bincount(events.seen_event, minlength=events.size)
    several = events.entry >= 0
    found[~several] = False
    found[several] &= told[events.entry[several] // 2] > 1
    found[tying.graph.choice_ptr[:-1][sizes == 2] + 1] = False
    return found


def misfits(
    tying: Tying,
    counts: NDArray[np.int64],
    false_alarms: float,
    matters: Mask | None = None,
    share: NDArray[Any] | float = 1.0,
) -> Mask:
    r"""Return the choices (C,) that contradict that they have the distribution of the others of their class.

    Each transition of a choice is compared with the pooled counts of all *other* choices of its class that tell its event apart
    (`Events`): how often the choice took the transition, and how often the others had one of the outcomes that lead along
    it. So choices that merge outcomes, as at a wall, are tested by the sums that they show. The test is
    `two_samples.contradiction`, at the same level for all transitions that are `compared`, which together have `false_alarms`.

    *Why this holds at all times.* Say all choices of a class have one distribution. Then each sample of the choice takes the
    transition, and each of the others has one of its outcomes, with one and the same probability, whatever was seen before and
    whichever choice is taken next. For each transition that is what `contradiction` needs, for all times at once; and by the sum
    of all levels there is ever an alarm at any of them with probability `false_alarms` at most.

    Parameters
    ----------
    tying : Tying
    counts : (T,)
        How often each transition was seen in all.
    false_alarms : float
        The probability with which there may ever be an alarm although all classes are right.
    matters : (C,), optional
        Choices whose probabilities matter; the others are not tested.
    share : float or (K,)
        The part of its level that each class may spend. Counts of the r-th epoch of a class that starts anew, because
        it changed, have :math:`6/(\pi^2 r^2)`.

    Examples
    --------
    >>> from umdp import Graph
    >>> graph = Graph([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], actions=["a", "b", "stay", "stay"])
    >>> coins = Tying.of(graph, lambda state, action: "coin" if state == "0" else None, lambda *where: f"side {where[2]}")
    >>> misfits(coins, np.array([500, 500, 480, 520, 0, 0]), 0.01).tolist()
    [False, False, False, False]
    >>> misfits(coins, np.array([500, 500, 800, 200, 0, 0]), 0.01).tolist()
    [True, True, False, False]
    """
    chosen = np.flatnonzero(compared(tying, matters))
    found = np.zeros(tying.graph.choices, np.bool_)
    if not chosen.size:
        return found
    sizes = np.diff(tying.graph.choice_ptr)
    choice = np.repeat(np.arange(sizes.size), sizes)[chosen]
    events = Events.of(tying)
    pooled, entry = events.pool(counts), events.entry[chosen]
    own, taken = counts[chosen], np.add.reduceat(counts, tying.graph.choice_ptr[:-1])[choice]
    others, samples = pooled[entry] - own, pooled[entry] + pooled[entry ^ 1] - taken
    level = false_alarms / chosen.size * (1 - ULP) * np.broadcast_to(share, tying.classes)[tying.choice_class[choice]]
    excess = contradiction(
        own.astype(np.float64), (taken - own).astype(np.float64),
        others.astype(np.float64), (samples - others).astype(np.float64), level,
    )  # fmt: skip
    found[choice[excess >= 0]] = True
    return found
