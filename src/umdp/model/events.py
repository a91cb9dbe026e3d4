"""Events of classes: what choices that share a distribution tell apart, each of them its own part of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from umdp.model.process import Graph
from umdp.model.structure import held, owner
from umdp.model.tying import Tying

__all__ = ["Events", "canonical", "tells"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Events:
    """The sets of outcomes that some choice of a class sees as one transition, and the choices that tell each of them apart.

    An event and what is left without it are told apart together, and are one event here. It is told apart by a choice of the
    class if it is a union of the choice's transitions: there it happens with its probability, whatever was seen before, and
    every visit is a sample of it. Other outcomes may well be merged there. Which events there are depends on the graph alone.

    Everything about events comes in pairs: the entry 2e belongs to event e, the entry 2e + 1 to what is left without it.

    Attributes
    ----------
    tying : the classes
    event_class : (E,) the class of every event
    event_ptr : (E+1,) and `event_outcome`: the outcomes of every event
    entry : (T,) the entry of every transition; -1 for the only one of a choice
    hit_transition, hit_event : transitions that are (part of) an event, at choices that tell it apart
    seen_choice, seen_event : choices that tell an event apart

    Examples
    --------
    A step goes ahead, stays or goes back; at the wall, state 0, one cannot tell whether it stayed or went back.

    >>> graph = Graph([0, 1, 2, 3], [0, 2, 5, 6], [0, 1, 0, 1, 2, 2])
    >>> def step(state, action, successor):
    ...     if state != "2":
    ...         moved = {"-1": "back", "0": "stays", "1": "ahead"}[str(int(successor) - int(state))]
    ...         return "step", ["back", "stays"] if state == successor == "0" else moved
    >>> events = Events.of(Tying.of(graph, step))
    >>> events.sets()  # "back or stays" is what is left without "ahead"
    [('back',), ('stays',), ('ahead',)]
    >>> events.pool(np.array([6, 4, 2, 3, 5, 0])).tolist()  # "ahead" is seen at the wall, too
    [2, 8, 3, 7, 9, 11]
    """

    tying: Tying
    event_class: Ints
    event_ptr: Ints
    event_outcome: Ints
    entry: Ints
    hit_transition: Ints
    hit_event: Ints
    seen_choice: Ints
    seen_event: Ints

    @classmethod
    def of(cls, tying: Tying) -> Events:
        """Return the events of classes, which are worked out once."""
        known: Events | None = tying.__dict__.get("_events")
        if known is None:
            known = tying.__dict__["_events"] = cls._worked_out(tying)
        return known

    @classmethod
    def _worked_out(cls, tying: Tying) -> Events:
        graph = tying.graph
        sizes = np.diff(tying.outcome_ptr)
        merges = np.bincount(tying.choice_class, ~tying.feeds, tying.classes) > 0
        patterns = _patterns(tying, merges)
        masks = {k: _masks(each.values(), int(sizes[k])) for k, each in patterns.items()}
        events = np.where(sizes > 2, sizes, sizes - 1)  # of a class that merges nothing: its outcomes, one of two
        for k, some in masks.items():
            events[k] = len(some)
        base = np.concatenate(([0], np.cumsum(events)))
        event_class = np.repeat(np.arange(tying.classes), events)
        entry = np.full(graph.transitions, -1, np.int64)
        hits: list[Ints] = []
        seen: list[Ints] = []
        # Where nothing is merged, along each transition leads one outcome.
        plain = np.flatnonzero(~merges[tying.choice_class] & (np.diff(graph.choice_ptr) > 1))
        row = np.flatnonzero(np.isin(owner(graph.choice_ptr), plain))
        kind = tying.choice_class[owner(graph.choice_ptr)[row]]
        place = tying.transition_outcome[tying.transition_ptr[row]] - tying.outcome_ptr[kind]
        second = (sizes[kind] == 2) & (place == 1)  # what is left without the first
        entry[row] = 2 * (base[kind] + np.where(second, 0, place)) + second
        hits.append(np.column_stack((row[~second], entry[row[~second]] // 2)))
        seen.append(np.column_stack((owner(graph.choice_ptr)[row[~second]], entry[row[~second]] // 2)))
        for k, each in patterns.items():
            number = {mask: int(base[k]) + i for i, mask in enumerate(masks[k])}
            whole = (1 << int(sizes[k])) - 1
            for choices, blocks in each.values():
                first = graph.choice_ptr[choices]
                for j, block in enumerate(blocks):
                    found = canonical(block, whole)
                    if len(blocks) > 1:
                        entry[first + j] = 2 * number[found] + (found != block)
                for mask, e in number.items():
                    if not tells(blocks, mask):
                        continue
                    seen.append(np.column_stack((choices, np.full(choices.size, e))))
                    inside = np.flatnonzero([block & mask > 0 for block in blocks])
                    at = np.add.outer(first, inside).ravel()
                    hits.append(np.column_stack((at, np.full(at.size, e))))
        pointer, outcome = _listed(tying, event_class, base, masks)
        hit, told = np.concatenate(hits).astype(np.int64), np.concatenate(seen).astype(np.int64)
        return cls(
            tying, held(event_class), held(pointer),
            held(outcome), held(entry),
            held(hit[:, 0].copy()), held(hit[:, 1].copy()), held(told[:, 0].copy()), held(told[:, 1].copy()),
        )  # fmt: skip

    @property
    def size(self) -> int:
        """The number of events."""
        return self.event_class.size

    def sets(self) -> list[tuple[str, ...]]:
        """Return the names of the outcomes of every event."""
        return [
            tuple(self.tying.outcome_names[o] for o in self.event_outcome[self.event_ptr[e] : self.event_ptr[e + 1]])
            for e in range(self.size)
        ]

    @cached_property
    def outcome_entry(self) -> Ints:
        """The entry of every outcome, (O,); -1 where no choice sees it alone, or where it is the only one."""
        found = np.full(self.tying.outcomes, -1, np.int64)
        single = np.flatnonzero(np.diff(self.event_ptr) == 1)
        found[self.event_outcome[self.event_ptr[single]]] = 2 * single
        two = single[np.diff(self.tying.outcome_ptr)[self.event_class[single]] == 2]
        first = self.event_outcome[self.event_ptr[two]]
        start = self.tying.outcome_ptr[self.event_class[two]]
        found[2 * start + 1 - first] = 2 * two + 1
        return held(found)

    def samples(self, counts: Ints) -> Ints:
        """Return how often each event (E,) could have been seen, from counts of transitions (T,)."""
        visits = np.add.reduceat(counts, self.tying.graph.choice_ptr[:-1])
        found: Ints = np.bincount(self.seen_event, visits[self.seen_choice], self.size).astype(np.int64)
        return found

    def pool(self, counts: Ints) -> Ints:
        """Return how often each event was seen and how often it was not, (2E,), from counts of transitions (T,)."""
        found = np.empty(2 * self.size, np.int64)
        found[::2] = np.bincount(self.hit_event, counts[self.hit_transition], self.size)
        found[1::2] = self.samples(counts) - found[::2]
        return found

    def weights(self, matters: NDArray[np.bool_]) -> Floats:
        """Return the share of the bounds of its class that each event needs (E,): by how many choices see it as a transition.

        Only choices that matter are counted. A class has as many bounds as without merging: one for two outcomes, m for m.
        """
        owners = owner(self.tying.graph.choice_ptr)
        some = np.flatnonzero((self.entry >= 0) & matters[owners])
        pairs = np.unique(np.column_stack((owners[some], self.entry[some] // 2)), axis=0)
        shows = np.bincount(pairs[:, 1], minlength=self.size).astype(np.float64)
        total = np.bincount(self.event_class, shows, self.tying.classes)[self.event_class]
        outcomes = np.diff(self.tying.outcome_ptr)[self.event_class]
        return np.where(outcomes > 2, outcomes, 1) * shows / np.maximum(total, 1.0)

    @cached_property
    def graph(self) -> Graph:
        """A graph with one choice of two successors for each event: it happens, or not. Its states mean nothing."""
        states = max(self.size, 2)
        spare = states - self.size
        return Graph(
            np.arange(states + 1),
            np.concatenate((2 * np.arange(self.size + 1), 2 * self.size + 1 + np.arange(spare))),
            np.concatenate((np.tile([0, 1], self.size), np.arange(self.size, states))),
            actions=["event"] * states,
        )


def canonical(mask: int, whole: int) -> int:
    """Return which of an event and what is left without it stands for both: the smaller; of equals, that with the first outcome.

    Examples
    --------
    >>> canonical(0b110, 0b111), canonical(0b1100, 0b1111), canonical(0b10, 0b11)
    (1, 3, 1)
    """
    rest = whole ^ mask
    return min(mask, rest, key=lambda each: (each.bit_count(), not each & 1))


def tells(blocks: Sequence[int], mask: int) -> bool:
    """Whether an event is a union of blocks.

    Examples
    --------
    >>> tells([0b011, 0b100], 0b100), tells([0b011, 0b100], 0b101)
    (True, False)
    """
    return all(block & mask in (0, block) for block in blocks)


Patterns = dict[int, dict[tuple[bytes, bytes], tuple[Ints, list[int]]]]


def _patterns(tying: Tying, merges: NDArray[np.bool_]) -> Patterns:
    """Return, for every class that merges, its choices by what they merge, and the blocks of outcomes as bits of a number."""
    graph, found = tying.graph, dict[int, dict[tuple[bytes, bytes], list[int]]]()
    for choice in np.flatnonzero(merges[tying.choice_class]).tolist():
        first, last = int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1])
        along = tying.transition_ptr[first : last + 1]
        key = (along - along[0]).tobytes(), tying.transition_outcome[along[0] : along[-1]].tobytes()
        found.setdefault(int(tying.choice_class[choice]), {}).setdefault(key, []).append(choice)

    def blocks(k: int, choice: int) -> Iterator[int]:
        for t in range(int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1])):
            some = tying.transition_outcome[tying.transition_ptr[t] : tying.transition_ptr[t + 1]]
            yield sum(1 << int(o) for o in some - tying.outcome_ptr[k])

    return {
        k: {key: (np.array(some, np.int64), list(blocks(k, some[0]))) for key, some in each.items()}
        for k, each in found.items()
    }


def _masks(patterns: Iterable[tuple[Ints, list[int]]], outcomes: int) -> list[int]:
    """Return all blocks of some patterns that are not everything, each once, the smallest first."""
    whole = (1 << outcomes) - 1
    masks = {canonical(block, whole) for _, blocks in patterns for block in blocks if block != whole}
    return sorted(masks, key=lambda mask: (mask.bit_count(), mask))


def _listed(tying: Tying, event_class: Ints, base: Ints, masks: dict[int, list[int]]) -> tuple[Ints, Ints]:
    """Return the outcomes of every event, and the pointer to them."""
    sizes = np.ones(event_class.size, np.int64)
    for k, some in masks.items():
        sizes[base[k] : base[k + 1]] = [mask.bit_count() for mask in some]
    pointer = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    first = tying.outcome_ptr[event_class]
    outcome = np.repeat(first + np.arange(sizes.size) - base[event_class], sizes)  # right where nothing is merged
    for k, some in masks.items():
        listed = [i for mask in some for i in range(mask.bit_length()) if mask >> i & 1]
        outcome[pointer[base[k]] : pointer[base[k + 1]]] = tying.outcome_ptr[k] + np.array(listed, np.int64)
    return pointer, outcome
