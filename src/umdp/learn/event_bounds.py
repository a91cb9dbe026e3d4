"""What bounds of events say of outcomes and of transitions, and when they contradict each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.learn.binomial import ULP, Binomial, infeasible, tighten
from umdp.learn.learner import Learner
from umdp.learn.restarting_sequence import RestartingSequence
from umdp.model.events import Events

__all__ = ["Implied", "implied", "learns_events", "sighted"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Pair = tuple[Floats, Floats]


def learns_events(learner: Learner) -> bool:
    """Whether what a learner says of a probability rests on nothing but how often it was seen, and how often not.

    Then every event can have samples of its own. The others keep one state for all outcomes of a class, to which each sample
    adds one outcome (`LUI`, `MAP`, `PAC`, `UCRL2`), or by which all of them start anew together (`RestartingSequence`): they
    are fed where all outcomes are told apart.
    """
    return isinstance(learner, Binomial) and not isinstance(learner, RestartingSequence)


class Implied(NamedTuple):
    """Bounds of outcomes (O,) and of transitions (T,), and the classes (K,) whose bounds contradict each other."""

    outcomes: Pair
    transitions: Pair
    contradicted: Mask


def implied(events: Events, lower: Floats, upper: Floats) -> Implied:
    """Return what follows from bounds of events, of the entries (2E,), rounded outwards.

    An outcome has the bounds of its event, cut by what the others of its class leave. A transition has those of its event, no
    more than its outcomes add up to or than the other outcomes leave, cut by what the other transitions of its choice leave.
    Where no distribution fits, the classes are wrong or the promised event failed: there outcomes get the bounds of their
    events, widened until one fits, and transitions what these add up to.

    Examples
    --------
    The wall of `Events`: of "ahead", seen at the wall and elsewhere, more is known than of the others.

    >>> from umdp.model import Graph
    >>> from umdp.model.tying import Tying
    >>> graph = Graph([0, 1, 2, 3], [0, 2, 5, 6], [0, 1, 0, 1, 2, 2])
    >>> def step(state, action, successor):
    ...     if state != "2":
    ...         moved = {"-1": "back", "0": "stays", "1": "ahead"}[str(int(successor) - int(state))]
    ...         return "step", ["back", "stays"] if state == successor == "0" else moved
    >>> events = Events.of(Tying.of(graph, step))
    >>> low, high = np.array([0.1, 0.4, 0.1, 0.4, 0.45, 0.45]), np.array([0.6, 0.9, 0.6, 0.9, 0.55, 0.55])
    >>> found = implied(events, low, high)
    >>> [each.round(6).tolist() for each in found.transitions]
    [[0.45, 0.45, 0.1, 0.1, 0.45, 1.0], [0.55, 0.55, 0.45, 0.45, 0.55, 1.0]]
    """
    tying = events.tying
    sizes = np.diff(tying.outcome_ptr)
    single = events.outcome_entry
    known, only = single >= 0, np.repeat(sizes == 1, sizes)
    low = np.where(known, lower[single], np.where(only, 1.0, 0.0))
    high = np.where(known, upper[single], 1.0)
    wrong = infeasible(low, high, sizes)
    cut = tighten(low, high, sizes)
    found = _spread(events, *cut, lower, upper)
    wrong |= _impossible(events, *found)
    if wrong.any():
        within = np.repeat(wrong, sizes)
        loose = _loosened(low, high, sizes)
        cut = np.where(within, loose[0], cut[0]), np.where(within, loose[1], cut[1])
        aside = np.repeat(wrong[events.event_class], 2)
        found = _spread(events, *cut, np.where(aside, 0.0, lower), np.where(aside, 1.0, upper))
    graph = tying.graph
    return Implied(cut, tighten(*found, np.diff(graph.choice_ptr)), wrong)


def _spread(events: Events, low: Floats, high: Floats, lower: Floats, upper: Floats) -> Pair:
    """Return bounds of transitions: those of their events, of their outcomes together, and what the other outcomes leave."""
    begin, tying = events.event_ptr[:-1], events.tying
    least, most = (np.add.reduceat(each[events.event_outcome], begin) for each in (low, high))
    all_least, all_most = (np.add.reduceat(each, tying.outcome_ptr[:-1])[events.event_class] for each in (low, high))
    rounding = (np.diff(tying.outcome_ptr)[events.event_class] + 3.0) ** 2 * ULP
    ends = np.empty((2, 2 * events.size))
    for side, inside, outside in (
        (0, (least, most), (all_least - least, all_most - most)),
        (1, (all_least - least, all_most - most), (least, most)),
    ):
        ends[0, side::2] = np.maximum(lower[side::2], np.maximum(inside[0], 1 - outside[1]) - rounding)
        ends[1, side::2] = np.minimum(upper[side::2], np.minimum(inside[1], 1 - outside[0]) + rounding)
    several = events.entry >= 0
    return np.where(several, ends[0][events.entry], 1.0), np.where(several, ends[1][events.entry], 1.0)


def _impossible(events: Events, lower: Floats, upper: Floats) -> Mask:
    """Return the classes (K,) with a choice whose bounds no distribution fits."""
    wrong = infeasible(lower, upper, np.diff(events.tying.graph.choice_ptr))
    return np.bincount(events.tying.choice_class, wrong, events.tying.classes) > 0


def _loosened(low: Floats, high: Floats, sizes: Ints) -> Pair:
    """Return bounds that hold the given ones and the distribution of their middles."""
    start = np.cumsum(sizes) - sizes
    low, high = np.minimum(low, high), np.maximum(low, high)
    middle = (low + high) / 2
    total = np.add.reduceat(middle, start)
    even = np.repeat(total <= 0, sizes)
    share = np.where(even, 1 / np.repeat(sizes, sizes), middle / np.repeat(np.where(total > 0, total, 1.0), sizes))
    return np.maximum(np.minimum(low, share - ULP), 0.0), np.minimum(np.maximum(high, share + ULP), 1.0)


def sighted(events: Events, counts: Ints) -> Ints:
    """Return how often each transition (T,) would have been seen in as many samples as there are of all events of its choice."""
    pooled = events.pool(counts)
    samples = np.repeat(pooled[::2] + pooled[1::2], 2)
    graph, several = events.tying.graph, events.entry >= 0
    hits, behind = pooled[events.entry], np.where(several, samples[events.entry], np.iinfo(np.int64).max)
    fewest = np.repeat(np.minimum.reduceat(behind, graph.choice_ptr[:-1]), np.diff(graph.choice_ptr))
    scaled = np.rint(hits / np.maximum(behind, 1) * fewest).astype(np.int64)
    found: Ints = np.maximum(counts, np.where(several, np.maximum(scaled, np.minimum(hits, 1)), counts))
    return found
